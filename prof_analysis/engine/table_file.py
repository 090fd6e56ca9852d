"""Reads the file of a table: its head, which documents the table and its columns, and its SELECT.

The folder of a table declares its grain (`_GRAINS`): one rank, the ranks of a run, all runs, or logs.

A table of a part of what another table has needs no body of its own: `Made as timeline.gap, with timeline.usual_free_gap for
free.gap.` in its head. Neither does one that gathers others: `Made of all tables of advice with these columns, their names in
rule.` gives it the rows of all tables in that folder, also of users' own, that have all its columns but `rule`.

Columns that another table documents word for word are not documented twice: the line `flops to mfu as in mfu.by_level` of a
head inherits the columns from the first to the last. Tables over ranks inherit what users see, texts in place of ids.

Warnings about the figures of a table are in a file next to it: `sql/step/overlap_audit.warning.sql` is one SELECT on the table
as users see it, and each of its rows is a warning: `profile` (NULL for all ranks together), `severity` ('warning': figures are
missing or may be wrong; 'note': they are right, but say less than they could) and `sentence`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from prof_analysis.engine.parsing import needs_and_order
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.units import Format, format_of, unit_of

TEXT_ID = "TEXT_ID"
WARNING = ".warning.sql"
# What a table is about: one rank, the ranks of one run, all runs, or logs.
Grain = Literal["rank", "job", "runs", "log"]
# The folders whose tables are not about one rank.
_GRAINS: Mapping[str, Grain] = {"across": "job", "advice": "job", "runs": "runs", "vllm": "log"}
_KEPT = re.compile(r"Kept for other questions(?:,\s+with\s+(all columns|\w+(?:,\s+\w+)*))?\.")
_GUARD = re.compile(r"Only when (\w+\.\w+) has rows\.")
_COLUMN = re.compile(r"(\w+) +((?:[A-Z_]+|(?:ENUM|STRUCT)\([^)]*\))(?:\[\])?) +(.+)")
_INHERITED = re.compile(r"(\w+) to (\w+) as in (\w+\.\w+)")
_MADE_AS = re.compile(r"Made as (\w+\.\w+), with (\w+\.\w+) for (\w+\.\w+)\.")
_GATHERS = re.compile(r"Made of all tables of \w+ with these columns, their names in \w+\.")
_REQUIRES = re.compile(r"Requires (\w+(?: or \w+)*(?:, \w+(?: or \w+)*)*)\.")


@dataclass(frozen=True)
class Column:
    """A documented column. A TEXT_ID is a BIGINT inside the engine; users see a text, and its name without `_id`."""

    name: str
    type: str
    meaning: str

    @property
    def stored_type(self) -> str:
        """The type inside the engine."""
        return "BIGINT" if self.type == TEXT_ID else self.type

    @property
    def shown_name(self) -> str:
        """The name that users see."""
        return self.name.removesuffix("_id") if self.type == TEXT_ID else self.name

    @property
    def shown_type(self) -> str:
        """The type that users see."""
        return "VARCHAR" if self.type == TEXT_ID else self.type

    @property
    def unit(self) -> str | None:
        """The unit of its values; None for texts and plain numbers."""
        return unit_of(self.shown_name)

    @property
    def format(self) -> Format:
        """The format in which people read its values."""
        return format_of(self.shown_name, self.shown_type, self.meaning)


@dataclass(frozen=True)
class Table:
    """A table: its name, its head, and the SELECT that makes it.

    `guard` is a table: where that has no rows, this one stays empty, and what only it needs is not built. `warning` is a SELECT
    on it that gives warnings about its figures, in the columns profile, severity and sentence. `is_kept`: the cache keeps it
    for other questions, with the columns `kept_with` in any case. `gathers`: its rows are those of all tables of its folder
    that have its columns but the first one, which has their names. `requires`: what a rank must have recorded so that its rows
    can be judged: one of each of these.
    """

    name: str
    summary: str
    columns: tuple[Column, ...]
    body: str
    guard: str | None = None
    warning: str | None = None
    is_kept: bool = False
    kept_with: tuple[str, ...] = ()
    gathers: bool = False
    requires: tuple[tuple[str, ...], ...] = ()

    @property
    def needs(self) -> frozenset[str]:
        """The tables that its body reads."""
        return needs_and_order(self.body)[0]

    @property
    def read(self) -> frozenset[str]:
        """The tables that are read to make it: those that its body reads, and its guard."""
        return self.needs | {self.guard} if self.guard else self.needs

    @property
    def is_ordered(self) -> bool:
        """Whether its body orders the rows."""
        return needs_and_order(self.body)[1]

    @property
    def grain(self) -> Grain:
        """The grain that its folder declares."""
        return _GRAINS.get(self.name.partition(".")[0], "rank")


def read_table(file: Path) -> Table:
    """Read a table from its file. Raises ValueError for a head that cannot be read."""
    text = file.read_text(encoding="utf-8-sig")  # Some editors put a mark in front.
    head, body = _split_head(text)
    summary, _, column_lines = head.partition("\n\n")
    columns: list[Column] = []
    for line in column_lines.split("\n\n")[0].splitlines():
        if line.startswith("  "):
            last = columns.pop()
            columns.append(Column(last.name, last.type, f"{last.meaning} {line.strip()}"))
        elif match := _COLUMN.fullmatch(line):
            columns.append(Column(*match.groups()))
        elif match := _INHERITED.fullmatch(line):
            columns += _inherited(file, *match.groups())
        else:
            raise ValueError(f"{file}: this line of the head documents no column: {line}")
    sentences = " ".join(head.split())
    if made_as := _MADE_AS.search(sentences):
        body = _made_as(*made_as.groups())
    gathers = _GATHERS.search(sentences)
    requires = _REQUIRES.search(sentences)
    guard = _GUARD.search(head)
    name = f"{file.parent.name}.{file.stem}"
    beside = file.with_suffix(WARNING)
    warning = _split_head(beside.read_text(encoding="utf-8-sig"))[1].strip() if beside.exists() else None
    kept = _KEPT.search(head)
    names = tuple(column.name for column in columns)
    kept_with = names if kept and kept[1] == "all columns" else tuple(re.findall(r"\w+", kept[1] or "")) if kept else ()
    if unknown := set(kept_with) - set(names):
        raise ValueError(f"{file}: the head keeps columns that it does not document: {', '.join(sorted(unknown))}")
    return Table(
        name,
        " ".join(summary.split()),
        tuple(columns),
        body.strip(),
        guard=guard and guard[1],
        warning=warning,
        is_kept=kept is not None,
        kept_with=kept_with,
        gathers=gathers is not None,
        requires=tuple(tuple(one.split(" or ")) for one in requires[1].split(", ")) if requires else (),
    )


def _inherited(file: Path, first: str, last: str, table: str) -> Sequence[Column]:
    """Return the columns from the first to the last named one of another table, as the table in `file` sees them."""
    schema, _, short_name = table.partition(".")
    beside = file.parents[1] / schema / f"{short_name}.sql"
    columns = read_table(beside if beside.exists() else sql_folder() / schema / f"{short_name}.sql").columns
    if _GRAINS.get(file.parent.name) in ("job", "runs") and _GRAINS.get(schema) not in ("job", "runs"):
        columns = tuple(Column(column.shown_name, column.shown_type, column.meaning) for column in columns)
    names = [column.name for column in columns]
    if first not in names or last not in names[names.index(first) + 1 :]:
        raise ValueError(
            f"{file}: the head inherits {first} to {last} of {table}, which does not have these columns in this order"
        )
    return columns[names.index(first) : names.index(last) + 1]


def _made_as(name: str, new: str, old: str) -> str:
    """Return the body of a table, in which a table stands for another one under the name that this has there."""
    schema, _, short_name = name.partition(".")
    _, body = _split_head((sql_folder() / schema / f"{short_name}.sql").read_text(encoding="utf-8"))
    return re.sub(rf"\b{re.escape(old)}\b(\s+AS\b)?", lambda found: new + (found[1] or f" AS {old.partition('.')[2]}"), body)


def _split_head(text: str) -> tuple[str, str]:
    lines = text.splitlines()
    length = next((number for number, line in enumerate(lines) if not line.startswith("--")), len(lines))
    head = "\n".join(line.removeprefix("--").removeprefix(" ") for line in lines[:length])
    return head, "\n".join(lines[length:])


def empty_select(columns: Iterable[Column]) -> str:
    """Return the query that gives these columns and no row."""
    return "SELECT " + ", ".join(f"NULL::{c.stored_type} AS {quote(c.name)}" for c in columns) + " WHERE false"
