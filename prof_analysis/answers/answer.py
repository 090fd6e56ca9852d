"""What an answer consists of. The terminal, JSON and whatever shows answers besides read these objects alike."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from prof_analysis.engine.tables import documented_tables
from prof_analysis.engine.units import Format

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

# What a command finds out: values by name, lists of rows among them.
Facts = dict[str, Any]


@dataclass(frozen=True)
class ShownColumn:
    """A column as people see it: its header, and how its values are read."""

    header: str
    format: Format


@dataclass(frozen=True)
class ShownTable:
    """A table as people see it: numbers first, then texts. A time may be a pair: the time, and its part of another or None."""

    columns: tuple[ShownColumn, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Sentences:
    """What is to be said, a line each."""

    lines: tuple[str, ...]


Block = ShownTable | Sentences


@dataclass(frozen=True)
class Answer:
    """What a command answers: facts for programs, and the same for people in blocks, which follow each other."""

    command: str
    facts: Facts
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...]
    failures: tuple[str, ...]


# A column of a shown table: one of the rows, or a format and what makes the value of a row.
Source = str | tuple[Format, Callable[[Mapping[str, Any]], Any]]


def table_of(table: str, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Source]) -> ShownTable:
    """Return rows of a documented table as people see them: `columns` has the source of each by its header."""
    formats: dict[str, Format] = {"profile": "text"}  # It is in front of what heads document.
    formats |= {column.shown_name: column.format for column in documented_tables()[table].columns}
    made = [_format_and_getter(source, formats) for source in columns.values()]
    shown = tuple(ShownColumn(header, format_) for header, (format_, _) in zip(columns, made, strict=True))
    return ShownTable(shown, tuple(tuple(get(row) for _, get in made) for row in rows))


def _format_and_getter(source: Source, formats: Mapping[str, Format]) -> tuple[Format, Callable[[Mapping[str, Any]], Any]]:
    """Return the format of a column, and what takes its value from a row."""
    return (formats[source], itemgetter(source)) if isinstance(source, str) else source


def said(*lines: str) -> Sentences:
    """Return lines to be said."""
    return Sentences(lines)


def size_of(profile: "Profile", table: str) -> Facts:
    """Return how many ranks and rows a table has."""
    return profile.rows(f"SELECT count(DISTINCT profile) AS ranks, count(*) AS rows FROM {table}")[0]


def heaviest_of(profile: "Profile", table: str, top: int) -> list[dict[str, Any]]:
    """Return the first rows of a table that has the heaviest first."""
    return profile.rows(f"FROM {table} LIMIT {top:d}")
