"""What is said of an option, and what it refuses."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from prof_analysis.common.errors import InputError

# The groups of options in the help of a command.
INPUT, ANSWER, MODULES = "What to read", "What to answer", "What counts as a module"
COMPARE = "How to compare runs"
SHOW, RESULT, MACHINE = "How to show it", "What to write", "Machine and cache"


@dataclass(frozen=True)
class Doc:
    """The documentation of an option: its meaning, its section in the command's help, and the smallest number that it takes.

    `spelled` is an example value for the command line, given where it is written in another form than in Python, and `value`
    what the help calls it. `is_rare`: only --help-all shows it.
    """

    meaning: str
    section: str | None = None
    at_least: int | None = None
    spelled: str | None = None
    value: str | None = None
    is_rare: bool = False


_documented: dict[type, Mapping[str, tuple[Any, Doc]]] = {}


def documented(options: type) -> Mapping[str, tuple[Any, Doc]]:
    """Return the type and the documentation of each option, in the order of their declaration."""
    if options not in _documented:
        hints = get_type_hints(options, include_extras=True)
        _documented[options] = {name: get_args(hint)[:2] for name, hint in hints.items()}
    return _documented[options]


def check(option: str, value: object, is_right: bool, expected: str) -> None:
    """Raise an InputError that names an option, its value and the values that it takes, unless the value is right."""
    if not is_right:
        raise InputError(f"{option}={value!r}: give {expected}")


def check_path(option: str, path: object) -> None:
    """Raise an InputError for an empty text in place of a path: it would mean the current folder."""
    check(option, path, path != "", "a folder or file, not an empty text")


def one_of(option: str, value: object, choices: Iterable[str]) -> None:
    """Raise an InputError unless the value of an option is one of the choices."""
    *others, last = choices
    check(option, value, value in (*others, last), f"{', '.join(others)} or {last}")
