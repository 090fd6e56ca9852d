"""The table registry: sql/ on disk becomes tables and their documentation.

A table is a file: `sql/module/statistic.sql` makes `module.statistic`. Its head documents the columns, its body is one SELECT.
DuckDB's parse tree says which tables a body needs. The files of `sql/trace/` are contracts: each source makes those tables
with `sql/sources/<source>/<name>.sql`; a body in the contract serves all sources that stage the same raw tables. The folder of
a table declares its grain (`_GRAINS`): one rank, the ranks of a run, all runs, or logs. Tables over ranks see other tables as
users see them, with texts in place of ids and the columns `profile` and `rank_id` in front; tables over runs see `run` before
these. own_tables.py reads users' own tables; they are passed along as `own`.

A table of a part of what another table has needs no body of its own: `Made as timeline.gap, with timeline.usual_free_gap for
free.gap.` in its head.

Columns that another table documents word for word are not documented twice: the line `flops to mfu as in mfu.by_level` of a
head inherits the columns from the first to the last. Tables over ranks inherit what users see, texts in place of ids.

Warnings about the figures of a table are in a file next to it: `sql/step/overlap_audit.warning.sql` is one SELECT on the table
as users see it, and each of its rows is a warning: `profile` (NULL for all ranks together), `severity` ('warning': figures are
missing or may be wrong; 'note': they are right, but say less than they could) and `sentence`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

import duckdb

from prof_analysis.engine.database import quote
from prof_analysis.engine.parsing import needs_and_order
from prof_analysis.engine.statements import run, sql_folder
from prof_analysis.engine.units import Format, format_of, unit_of
from prof_analysis.errors import QueryError

TEXT_ID = "TEXT_ID"
ROW_ID = "row_id"
WARNING = ".warning.sql"
# What a table is about: one rank, the ranks of one run, all runs, or logs.
Grain = Literal["rank", "job", "runs", "log"]
# The folders whose tables are not about one rank.
_GRAINS: Mapping[str, Grain] = {"across": "job", "runs": "runs", "vllm": "log"}
_KEPT = re.compile(r"Kept for other questions(?:,\s+with\s+(all columns|\w+(?:,\s+\w+)*))?\.")
_GUARD = re.compile(r"Only when (\w+\.\w+) has rows\.")
_COLUMN = re.compile(r"(\w+) +((?:[A-Z_]+|(?:ENUM|STRUCT)\([^)]*\))(?:\[\])?) +(.+)")
_INHERITED = re.compile(r"(\w+) to (\w+) as in (\w+\.\w+)")
_MADE_AS = re.compile(r"Made as (\w+\.\w+), with (\w+\.\w+) for (\w+\.\w+)\.")


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
    for other questions, with the columns `kept_with` in any case.
    """

    name: str
    summary: str
    columns: tuple[Column, ...]
    body: str
    guard: str | None = None
    warning: str | None = None
    is_kept: bool = False
    kept_with: tuple[str, ...] = ()

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


@cache
def documented_tables() -> Mapping[str, Table]:
    """Return all tables; trace tables are without the bodies that sources give them."""
    folder = sql_folder()
    files = sorted(file for file in folder.glob("*/*.sql") if file.parent.name != "macros" and not file.match(f"*{WARNING}"))
    return {table.name: table for table in map(read_table, files)}


def all_tables(own: tuple[Table, ...] = ()) -> Mapping[str, Table]:
    """Return the documented tables and the user's own."""
    return {**documented_tables(), **{table.name: table for table in own}}


@lru_cache(maxsize=16)  # Sources are few; tables of users must not be kept for ever.
def source_tables(source: str, own: tuple[Table, ...] = (), raw_tables: frozenset[str] | None = None) -> Mapping[str, Table]:
    """Return all tables of a rank as one source makes them. A trace table without a body for this source is empty.

    A body for all sources is used only where it reads no other raw tables than `raw_tables`, which this source stages.
    """
    tables = {name: table for name, table in all_tables(own).items() if table.grain == "rank"}
    for name, table in tables.items():
        schema, _, short_name = name.partition(".")
        if schema == "trace":
            file = sql_folder() / "sources" / source / f"{short_name}.sql"
            shared = table.body if table.body and _is_staged(table.needs, raw_tables) else empty_select(table.columns)
            body = file.read_text(encoding="utf-8") if file.exists() else shared
            tables[name] = replace(table, body=body)
    return tables


def _is_staged(needs: Iterable[str], raw_tables: frozenset[str] | None) -> bool:
    return raw_tables is None or all(need in raw_tables for need in needs if need.startswith("raw."))


def unknown_table(name: str, known: Iterable[str]) -> str:
    """Return what to say of a table that does not exist: which ones have a similar name, and where all are listed."""
    from difflib import get_close_matches  # Only errors need it.

    by_last: dict[str, list[str]] = {}
    for table in sorted(known):
        by_last.setdefault(table.partition(".")[2], []).append(table)
    names, last = [table for tables in by_last.values() for table in tables], name.rpartition(".")[2].lower()
    near = [table for one in get_close_matches(last, by_last, 2, 0.8) for table in by_last[one]]
    meant = by_last.get(last) or get_close_matches(name.lower(), names, 3, 0.85) or near
    hint = f": did you mean {' or '.join(meant[:6])}?" if meant else ";"
    return f"there is no table {name}{hint} `prof-analysis tables` lists all"


def log_tables() -> list[Table]:
    """Return the tables about logs, in building order."""
    tables = {name: table for name, table in documented_tables().items() if table.grain == "log"}
    return [tables[name] for name in in_building_order(tables, tables)]


def store_view(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, str], kept: Iterable[str]) -> None:
    """Create the view `name` on the columns that were kept in stored.<name>; its other columns are NULL.

    So a body can name every documented column, and only columns that are read take time and memory. ROW_ID is never kept: it
    is DuckDB's number of the row.
    """
    hidden = {column: f"NULL::{type_}" for column, type_ in columns.items()} | {ROW_ID: "rowid"}
    kept = set(kept)
    shown = ", ".join(quote(column) if column in kept else f"{hidden[column]} AS {quote(column)}" for column in columns)
    run(connection, f"CREATE OR REPLACE VIEW {name} AS SELECT {shown} FROM stored.{quote(name)}")


def shown_select(table: Table) -> str:
    """Return the query that gives a built table as users see it: texts in place of their ids, rows in a fixed order."""
    columns, joins = [], []
    for number, column in enumerate(table.columns):
        if column.type == TEXT_ID:
            columns.append(f"text_{number}.text AS {quote(column.shown_name)}")
            joins.append(f"LEFT JOIN trace.string AS text_{number} ON text_{number}.text_id = shown.{quote(column.name)}")
        else:
            columns.append(f"shown.{quote(column.name)}")
    order = "shown.row_in_file" if table.is_ordered else ", ".join(f"shown.{quote(c.name)}" for c in table.columns)
    rows = f"(SELECT *, row_number() OVER () AS row_in_file FROM {table.name})" if table.is_ordered else table.name
    return f"SELECT {', '.join(columns)} FROM {rows} AS shown {' '.join(joins)} ORDER BY {order}"


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
    if made_as := _MADE_AS.search(" ".join(head.split())):
        body = _made_as(*made_as.groups())
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
        name, " ".join(summary.split()), tuple(columns), body.strip(), guard and guard[1], warning, kept is not None, kept_with
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


def in_building_order(tables: Mapping[str, Table], wanted: Iterable[str]) -> Iterator[str]:
    """Yield the wanted tables and all tables that they need, each after those that it needs."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> Iterator[str]:
        if name in path:
            raise ValueError(f"these tables need each other: {' -> '.join((*path, name))}")
        if name in done or name.startswith("raw."):
            return
        if name not in tables:
            raise QueryError(unknown_table(name, tables))
        for need in sorted(tables[name].read):
            yield from visit(need, (*path, name))
        done.add(name)
        yield name

    for name in wanted:
        yield from visit(name, ())
        if has_text_ids(tables[name]):
            yield from visit("trace.string", ())


def has_text_ids(table: Table) -> bool:
    """Return whether columns of a table hold ids of texts."""
    return any(column.type == TEXT_ID for column in table.columns)


def create_schemas(connection: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> None:
    """Create the schemas of these tables, and the schema `stored` of what store_view() shows."""
    for schema in sorted({"stored", *(table.partition(".")[0] for table in tables)}):
        run(connection, f"CREATE SCHEMA IF NOT EXISTS {schema}")
