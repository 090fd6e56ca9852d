"""The tables of an answer as columns of a sheet: in units that people read, and the same in ns and bytes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prof_analysis.analyses.answer import Answer, Entry, ShownColumn, ShownTable
from prof_analysis.analyses.spoken import spoken
from prof_analysis.analyses.words import as_text
from prof_analysis.exports.sheets import FRACTION, NUMBER, PERCENT, Column, Sheet
from prof_analysis.languages import said

# Unit, the least of the largest value with which a column has it, and its size.
_TIMES = (("s", 10**10, 10**9), ("ms", 10**6, 10**6), ("us", 0, 10**3))
_SIZES = (("GiB", 2**30, 2**30), ("MiB", 2**20, 2**20), ("KiB", 0, 2**10))
# Format of an answer -> number format of its cells; all others are texts.
_NUMBERS = {"count": NUMBER, "number": FRACTION, "rate": "#,##0.0", "share": PERCENT}


@dataclass(frozen=True)
class Figures:
    """A column of a table as people read it: the header, the number format, and a value for each row."""

    column: Column
    values: Sequence[Any]


@dataclass(frozen=True)
class HumanTable:
    """A table of an answer: its columns, and those that repeat times in ns and sizes in bytes."""

    shown: tuple[Figures, ...]
    exact: tuple[Figures, ...]


def human_table(table: ShownTable) -> HumanTable:
    """Return a table with times in s, ms or us, and sizes in GiB, MiB or KiB."""
    columns = [(column, [row[position] for row in table.rows]) for position, column in enumerate(table.columns)]
    return HumanTable(
        tuple(one for column, values in columns for one in _shown(column, values)),
        tuple(one for column, values in columns for one in _exact(column, values)),
    )


def findings_of(answers: Mapping[str, Answer]) -> tuple[Sheet, Iterator[tuple[Any, ...]]] | None:
    """Return a sheet, and its rows, of what answers explain in words, to be printed; None where they explain nothing.

    `answers` are by the name of the run, which is empty where there is one.
    """
    of_runs = {run: spoken(answer) for run, answer in answers.items()}
    entries = [(run, block) for run, answer in of_runs.items() for block in answer.blocks if isinstance(block, Entry)]
    if not entries:
        return None
    # In the order of the entry that has most of them.
    by_size = sorted((entry for _, entry in entries), key=lambda entry: -len(entry.texts))
    labels = dict.fromkeys(label for entry in by_size for label, _ in entry.texts)
    of_run = ("Run",) if any(run for run, _ in entries) else ()
    columns = tuple(Column("", _capital(said(header))) for header in (*of_run, "finding", *labels))
    rows = (
        (None, *((run,) if of_run else ()), entry.heading, *(dict(entry.texts).get(label) for label in labels))
        for run, entry in entries
    )
    return Sheet("Findings", columns, said("One row is a finding in words, to be read on paper."), is_prose=True), rows


def _shown(column: ShownColumn, values: Sequence[Any]) -> Iterator[Figures]:
    """Yield a column in units that people read, and the shares of its values where it has some."""
    name = _capital(column.header)
    if column.format in ("time", "change"):
        yield _scaled(name, [time for time, _ in map(_with_share, values)], _TIMES)
        shares = [share for _, share in map(_with_share, values)]
        if any(share is not None for share in shares):
            yield Figures(Column("", f"{name}, share", PERCENT), shares)
    elif column.format == "size":
        yield _scaled(name, values, _SIZES)
    elif column.format in _NUMBERS:
        yield Figures(Column("", name, _NUMBERS[column.format]), values)
    else:
        yield Figures(Column("", name), [None if value is None else as_text(value, column.format) for value in values])


def _exact(column: ShownColumn, values: Sequence[Any]) -> Iterator[Figures]:
    """Yield a column of times in ns, or of sizes in bytes."""
    name = _capital(column.header)
    if column.format in ("time", "change"):
        times = [None if time is None else round(time) for time, _ in map(_with_share, values)]
        yield Figures(Column("", f"{name} (ns)", NUMBER), times)
    elif column.format == "size":
        yield Figures(Column("", f"{name} (bytes)", NUMBER), values)


def _with_share(value: Any) -> tuple[Any, float | None]:
    return value if isinstance(value, tuple) else (value, None)


def _scaled(name: str, values: Sequence[Any], units: Iterable[tuple[str, int, int]]) -> Figures:
    """Return numbers in the unit that fits the largest of them."""
    most = max((abs(value) for value in values if value is not None), default=0)
    unit, size = next((unit, size) for unit, least, size in units if most >= least)
    return Figures(Column("", f"{name} ({unit})", FRACTION), [None if value is None else value / size for value in values])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
