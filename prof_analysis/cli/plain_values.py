"""Reads plain words of a command line: typer imports pydantic for each, which takes a tenth of the time of a small question."""

import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin


class _NotPlainError(Exception):
    """A word that typer must read: it may be wrong, or spelled in another way."""


def read_plainly(parameter: Any) -> None:
    """Let a parameter of a command read plain words itself, and leave all others to typer, which also says what is wrong."""
    descriptor = getattr(parameter, "type_descriptor", None)
    is_done = "process_value" in vars(parameter)
    if is_done or descriptor is None:  # Older versions of typer need no pydantic.
        return
    by_typer: Callable[[Any, Any], Any] = parameter.process_value
    least, most = descriptor.parameter_info.min, descriptor.parameter_info.max

    def process_value(context: Any, value: Any) -> Any:
        if most is not None or (parameter.required and not value):
            return by_typer(context, value)
        try:
            plain = _read(value, descriptor.annotation, least)
        except _NotPlainError:
            return by_typer(context, value)
        return plain if parameter.callback is None else parameter.callback(context, parameter, plain)

    vars(parameter)["process_value"] = process_value


def _read(value: Any, type_: Any, least: float | None) -> Any:
    """Return a word as its type. Raises _NotPlainError."""
    if get_origin(type_) is list:
        (type_of_one,) = get_args(type_)
        return () if value is None else [_read(one, type_of_one, least) for one in value]
    if value is None or (type_ in (str, bool) and type(value) is type_):
        return value
    if type_ is Path and isinstance(value, str):
        return Path(value)
    if isinstance(type_, type) and issubclass(type_, Enum) and any(value == one.value for one in type_):
        return type_(value)
    if type_ is int and re.fullmatch(r"-?[0-9]{1,18}", str(value)) and (least is None or int(value) >= least):
        return int(value)
    raise _NotPlainError
