"""Builds one table from rows that are given for the tables that it reads: the way to test a table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import count
from types import MappingProxyType

import duckdb

from prof_analysis.common.answer_options import Variables
from prof_analysis.common.errors import InputError
from prof_analysis.engine.database import connect, set_variables
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import TEXT_ID, Column, Table, empty_select
from prof_analysis.engine.tables import ROW_ID, all_tables, create_schemas, shown_select, store_view, unknown_table

Row = Mapping[str, object]
TEXTS = "trace.string"
# The columns in front of a table of ranks or of a run where a table over these reads it.
_IN_FRONT = {
    ("rank", "job"): {"profile": "VARCHAR", "rank_id": "INTEGER"},
    ("rank", "runs"): {"run": "VARCHAR", "profile": "VARCHAR", "rank_id": "INTEGER"},
    ("job", "runs"): {"run": "VARCHAR"},
}


def rows_of(
    name: str,
    given: Mapping[str, Iterable[Row]],
    variables: Variables = MappingProxyType({}),
    own: tuple[Table, ...] = (),
    raw_columns: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    body: str | None = None,
) -> list[dict[str, object]]:
    """Return the rows of a table as users see them, made of given rows of the tables that it reads.

    `given` has rows by table, as users see them: a column that a row does not name is NULL, and a table that is read but not
    given has no rows. `variables` are the values of getvariable(). `own` has tables of users. `body` is the SELECT of a source
    for a table in trace, and `raw_columns` has the types of the raw tables that it reads.
    Raises InputError for an unknown table or column, for a value that is not of the column's type, and for rows of a table
    that is not read: they would change nothing.
    """
    tables = all_tables(own)
    if name not in tables:
        raise InputError(unknown_table(name, tables))
    table = tables[name] if body is None else replace(tables[name], body=body)
    reads = {need: _columns(need, tables, table, raw_columns) for need in sorted(table.read)}
    for unread in sorted(given.keys() - reads.keys() - {TEXTS}):
        raise InputError(f"{name} does not read {unread}; it reads {', '.join(reads) or 'no table'}")
    with _empty_database(variables) as connection:
        create_schemas(connection, [name, TEXTS, *reads])
        texts = _Texts(given.get(TEXTS, ()))
        for need, columns in reads.items():
            if need != TEXTS:
                _fill(connection, need, columns, list(given.get(need, ())), texts)
        _fill(connection, TEXTS, _of_heads(tables[TEXTS].columns), texts.rows, texts)
        is_empty = table.guard is not None and not connection.execute(f"SELECT 1 FROM {table.guard} LIMIT 1").fetchall()
        query = empty_select(table.columns) if is_empty else table.body
        with functions_for(connection, table.body):
            if table.grain == "rank":
                run(connection, f"CREATE TABLE {name} AS {query}")
                query = shown_select(table)
            found = connection.execute(query)
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@contextmanager
def _empty_database(variables: Variables) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database in which all that is made is gone afterwards: to open one takes longer than all that a case does."""
    connection = _opened()
    before = {name: connection.execute(f"SELECT getvariable({quote_text(name)})").fetchall()[0][0] for name in variables}
    connection.execute("BEGIN")
    try:
        set_variables(connection, variables)
        yield connection
    finally:
        connection.execute("ROLLBACK")
        set_variables(connection, before)


@cache
def _opened() -> duckdb.DuckDBPyConnection:
    return connect(threads=1)


class _Texts:
    """The texts of given rows, with an id for each."""

    def __init__(self, given: Iterable[Row]) -> None:
        self.rows = [dict(row) for row in given]
        self._ids = {row["text"]: row["text_id"] for row in self.rows}
        self._numbers = count(1_000_000)

    def id_of(self, text: object) -> object:
        if text is not None and text not in self._ids:
            self._ids[text] = next(self._numbers)
            self.rows.append({"text_id": self._ids[text], "text": text})
        return self._ids.get(text)


def _of_heads(columns: Iterable[Column]) -> dict[str, str]:
    return {column.name: column.type for column in columns}


def _columns(
    need: str, tables: Mapping[str, Table], reader: Table, raw_columns: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Return the columns of a table, with their types, as the body of the reader sees them."""
    if need in raw_columns:
        return dict(raw_columns[need])
    if reader.grain == tables[need].grain:
        return _of_heads(tables[need].columns)
    front = _IN_FRONT.get((tables[need].grain, reader.grain), {})
    return {**front, **{column.shown_name: column.shown_type for column in tables[need].columns}}


def _fill(
    connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, str], rows: Sequence[Row], texts: _Texts
) -> None:
    """Create a table with the columns that the rows name; the others are NULL."""
    shown = {column.removesuffix("_id") if type_ == TEXT_ID else column: column for column, type_ in columns.items()}
    named = list(dict.fromkeys(column for row in rows for column in row))
    for column in named:
        if shown.get(column, column) not in columns:
            raise InputError(f"{name} has no column {column}; it has {', '.join(shown)}")
    stored = {shown.get(column, column): column for column in named}
    types = {column: "BIGINT" if type_ == TEXT_ID else type_ for column, type_ in columns.items()}
    has_hidden = ROW_ID in columns and ROW_ID not in stored
    target, made = (f"stored.{quote(name)}", stored) if has_hidden else (name, columns)
    described = ", ".join(f"{quote(column)} {types[column]}" for column in made) or "nothing_given BOOLEAN"
    run(connection, f"CREATE TABLE {target} ({described})")
    cells = [texts.id_of(row.get(as_)) if column != as_ else row.get(as_) for row in rows for column, as_ in stored.items()]
    if cells:
        row_of_casts = f"({', '.join(f'CAST(? AS {types[column]})' for column in stored)})"
        try:
            filled = ", ".join(map(quote, stored))
            connection.execute(f"INSERT INTO {target} ({filled}) VALUES {', '.join([row_of_casts] * len(rows))}", cells)
        except duckdb.ConversionException as error:
            raise InputError(f"{name}: {str(error).splitlines()[0]}") from error
    if has_hidden:
        store_view(connection, name, types, stored)
