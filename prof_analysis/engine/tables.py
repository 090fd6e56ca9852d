"""The table registry: sql/ on disk becomes tables and their documentation.

A table is a file: `sql/module/statistic.sql` makes `module.statistic`. Its head documents the columns, its body is one SELECT
(table_file.py). DuckDB's parse tree says which tables a body needs. The files of `sql/trace/` are contracts: each source makes
those tables with `sql/sources/<source>/<name>.sql`; a body in the contract serves all sources that stage the same raw tables.
Tables over ranks see other tables as users see them, with texts in place of ids and the columns `profile` and `rank_id` in
front; tables over runs see `run` before these. own_tables.py reads users' own tables; they are passed along as `own`.
"""

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache

import duckdb

from prof_analysis.common.errors import QueryError
from prof_analysis.engine.gathering import gathered
from prof_analysis.engine.grains import grain_of
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.registry import Registry, with_others
from prof_analysis.engine.statements import run, sql_folder
from prof_analysis.engine.table_file import KNOWN, TEXT_ID, WARNING, Table, empty_select, read_table

ROW_ID = "row_id"


@cache
def documented_tables() -> Mapping[str, Table]:
    """Return all tables; trace tables are without the bodies that sources give them."""
    folder = sql_folder()
    schemas = sorted(schema for schema in folder.iterdir() if schema.is_dir() and schema.name != "macros")
    files = ((schema.name, file) for schema in schemas for file in sorted(one.name for one in os.scandir(schema)))
    names = (f"{schema}.{file[:-4]}" for schema, file in files if file.endswith(".sql") and not file.endswith((WARNING, KNOWN)))
    return gathered(Registry(names, lambda name: read_table(folder / f"{name.replace('.', '/')}.sql")))


def all_tables(own: tuple[Table, ...] = ()) -> Mapping[str, Table]:
    """Return the documented tables and the user's own."""
    return gathered(with_others(documented_tables(), {table.name: table for table in own})) if own else documented_tables()


def of_one_rank(tables: Mapping[str, Table]) -> Mapping[str, Table]:
    """Return tables for runs of one rank each: those that compare ranks need no others, and are empty."""

    def read(name: str) -> Table:
        table = tables[name]
        return table.without_rows() if table.compares_ranks else table

    return Registry(tables, read)


@lru_cache(maxsize=16)  # Sources are few; tables of users must not be kept for ever.
def source_tables(source: str, own: tuple[Table, ...] = (), raw_tables: frozenset[str] | None = None) -> Mapping[str, Table]:
    """Return all tables of a rank as one source makes them. A trace table without a body for this source is empty.

    A body for all sources is used only where it reads no other raw tables than `raw_tables`, which this source stages.
    """
    documented = all_tables(own)

    def read(name: str) -> Table:
        table = documented[name]
        schema, _, short_name = name.partition(".")
        if schema != "trace":
            return table
        file = sql_folder() / "sources" / source / f"{short_name}.sql"
        shared = table.body if table.body and _is_staged(table.needs, raw_tables) else empty_select(table.columns)
        return replace(table, body=file.read_text(encoding="utf-8") if file.exists() else shared)

    return Registry((name for name in documented if grain_of(name) == "rank"), read)


def _is_staged(needs: Iterable[str], raw_tables: frozenset[str] | None) -> bool:
    return raw_tables is None or all(need in raw_tables for need in needs if need.startswith("raw."))


def unknown_table(name: str, known: Iterable[str]) -> str:
    """Return the message about a table that does not exist: tables with similar names, and where all are listed."""
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


def shown_select(table: Table, is_empty: bool = False, is_in_order: bool = False) -> str:
    """Return the query that gives a built table as users see it: texts in place of their ids, rows in a fixed order.

    One that is known to be empty has no texts to look for and no rows to sort, which is half of the time for few rows. With
    `is_in_order`, the order of the rows is that of the table, which database.keeping_order() keeps.
    """
    if is_empty:
        nothing = {
            column.shown_name: "NULL::VARCHAR" if column.type == TEXT_ID else quote(column.name) for column in table.columns
        }
        return f"SELECT {', '.join(f'{cell} AS {quote(name)}' for name, cell in nothing.items())} FROM {table.name}"
    columns, joins = [], []
    for number, column in enumerate(table.columns):
        if column.type == TEXT_ID:
            columns.append(f"text_{number}.text AS {quote(column.shown_name)}")
            joins.append(f"LEFT JOIN trace.string AS text_{number} ON text_{number}.text_id = shown.{quote(column.name)}")
        else:
            columns.append(f"shown.{quote(column.name)}")
    if is_in_order:
        return f"SELECT {', '.join(columns)} FROM {table.name} AS shown {' '.join(joins)}"
    order = "shown.row_in_file" if table.is_ordered else ", ".join(f"shown.{quote(c.name)}" for c in table.columns)
    rows = f"(SELECT *, row_number() OVER () AS row_in_file FROM {table.name})" if table.is_ordered else table.name
    return f"SELECT {', '.join(columns)} FROM {rows} AS shown {' '.join(joins)} ORDER BY {order}"


def in_building_order(
    tables: Mapping[str, Table], wanted: Iterable[str], grains: Container[str] | None = None
) -> Iterator[str]:
    """Yield the wanted tables and all tables that they need, each after those that it needs; with `grains` only these."""
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> Iterator[str]:
        if name in path:
            raise ValueError(f"these tables need each other: {' -> '.join((*path, name))}")
        if name in done or name.startswith("raw."):
            return
        if name not in tables:
            raise QueryError(unknown_table(name, tables))
        if grains is not None and grain_of(name) not in grains:  # Nor what it needs, whose heads are not read then.
            return
        for need in sorted(tables[name].read):
            yield from visit(need, (*path, name))
        done.add(name)
        yield name

    for name in wanted:
        yield from visit(name, ())
        if grains is None and has_text_ids(tables[name]):
            yield from visit("trace.string", ())


def has_text_ids(table: Table) -> bool:
    """Return whether columns of a table hold ids of texts."""
    return any(column.type == TEXT_ID for column in table.columns)


def create_schemas(connection: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> None:
    """Create the schemas of these tables, and the schema `stored` of what store_view() shows."""
    for schema in sorted({"stored", *(table.partition(".")[0] for table in tables)}):
        run(connection, f"CREATE SCHEMA IF NOT EXISTS {schema}")
