"""The state of the profiler, and record_function."""

from types import SimpleNamespace
from typing import Any

ranges: list[tuple[str, str]] = []


class record_function:  # noqa: N801 - the name in torch
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "record_function":
        ranges.append(("begin", self.name))
        return self

    def __exit__(self, *_: Any) -> None:
        ranges.append(("end", self.name))


profiler = SimpleNamespace(_is_profiler_enabled=True, record_function=record_function)
