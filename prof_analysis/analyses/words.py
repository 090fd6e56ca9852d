"""Values as people read them, in sentences and in tables: one way for each format."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

from prof_analysis.engine.units import Format

# As people see it, a module in a tree is its depth and name.
ShownFormat = Format | Literal["tree"]
_SIZES = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_UNITS = (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000))


def duration(time_ns: float | None) -> str:
    """Return a time in the largest unit in which it is at least 1; a dash where it is unknown."""
    if time_ns is None:
        return "-"
    time_ns = round(time_ns)
    for unit, size in _UNITS:
        if time_ns >= size:
            return f"{time_ns / size:,.2f} {unit}"
    return f"{time_ns} ns"


def change(time_ns: float | None) -> str:
    """Return by how much a time changed, with its sign; a dash where it is unknown."""
    if time_ns is None:
        return "-"
    return duration(0) if round(time_ns) == 0 else f"{'-' if time_ns < 0 else '+'}{duration(abs(time_ns))}"


def count(number: int | None) -> str:
    """Return a whole number; a dash where it is unknown."""
    return "-" if number is None else f"{number:,}"


def percent(share: float | None) -> str:
    """Return a share in percent; a dash where it is unknown."""
    return "-" if share is None else f"{share:.1%}"


def size(number: float | None) -> str:
    """Return an amount of bytes in the largest binary unit in which it is at least 1; a dash where it is unknown."""
    if number is None:
        return "-"
    for unit, bytes_ in _SIZES:
        if abs(number) >= bytes_:
            return f"{number / bytes_:,.2f} {unit}"
    return f"{round(number)} B"


def several(number: int | None, one: str, plural: str = "s") -> str:
    """Return a number with the noun in singular or plural; a dash where the number is unknown."""
    return f"{count(number)} {one}{plural * (number != 1)}"


def steps_of(row: Mapping[str, Any]) -> str:
    """Return how many steps there are, as users count them, and on how many ranks where these are several."""
    on_ranks = "" if row["rank_count"] == 1 else f" on {several(row['rank_count'], 'rank')}"
    return f"{several(row['step_count'], 'step')}{on_ranks}"


def rank_name(row: Mapping[str, Any]) -> str:
    """Return the id of the rank of a row; its folder where the files name none."""
    return str(row["profile"] if row["rank_id"] is None else row["rank_id"])


def source_line_of(row: Mapping[str, Any]) -> str:
    """Return the line of user code of a row without the folders of its file; where none is known, the reason in parentheses."""
    line = row["source_line"]
    return f"({row['reason']})" if line is None else re.sub(r"^.*[/\\](?=[^/\\]*\(\d+\): )", "", line)


def as_text(value: Any, format_: ShownFormat) -> str:
    """Return a value of a table as people read it; a dash where it is unknown."""
    return "-" if value is None else _WAYS[format_](value)


def _time(value: float | tuple[int, float | None]) -> str:
    time_ns, share = value if isinstance(value, tuple) else (value, None)
    return duration(time_ns) if share is None else f"{duration(time_ns)} ({percent(share)})"


def _text(value: object) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _branch(value: tuple[int, str]) -> str:
    depth, name = value
    return f"{'  ' * depth}{name}"


_WAYS: Mapping[ShownFormat, Callable[[Any], str]] = {
    "text": _text,
    "tree": _branch,
    "count": count,
    "number": "{:,.2f}".format,
    "rate": lambda value: f"{value:,.1f}" if abs(value) >= 1 or value == 0 else f"{value:.2g}",
    "share": percent,
    "time": _time,
    "size": size,
    "change": change,
    "moment": str,
}
