"""Columns of tables with secrets replaced: of texts, and of ids of processes and threads."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

import duckdb

from prof_analysis.anonymous.texts import Anonymous, Role, role_of
from prof_analysis.common.frames import unique
from prof_analysis.engine.quotes import quote, quote_text

# Functions for texts that were looked at, for ids, and for texts that were not.
_TEXT, _TEXTS, _ID, _ANY = "anonymous_text", "anonymous_texts", "anonymous_id", "anonymous_any"


def create_functions(connection: duckdb.DuckDBPyConnection, anonymous: Anonymous) -> None:
    """Give a connection the functions that replaced_columns() calls. They know only columns that it has looked at."""
    changed = anonymous.changed

    def text(role: Role, value: str) -> str:
        return changed.get((role, value), value)

    def texts(role: Role, values: list[str | None]) -> list[str | None]:
        return [None if value is None else changed.get((role, value), value) for value in values]

    connection.create_function(_TEXT, text, ["VARCHAR", "VARCHAR"], "VARCHAR")
    connection.create_function(_TEXTS, texts, ["VARCHAR", "VARCHAR[]"], "VARCHAR[]")

    def any_text(role: Role, value: str) -> str:
        anonymous.learn(value, role)
        anonymous.seen(role, [value])
        return text(role, value)

    connection.create_function(_ANY, any_text, ["VARCHAR", "VARCHAR"], "VARCHAR")
    connection.create_function(_ID, anonymous.number, ["VARCHAR", "BIGINT"], "BIGINT")


def replace_in(connection: duckdb.DuckDBPyConnection, tables: Iterable[str], anonymous: Anonymous) -> None:
    """Replace the secrets in tables of a database that holds nothing else to read."""
    create_functions(connection, anonymous)
    tables = list(tables)
    for table in tables:
        learn_from(connection, table, anonymous)
    for table in tables:
        if columns := replaced_columns(connection, table, anonymous):
            replaced = ", ".join(f"{made} AS {quote(name)}" for name, made in columns.items())
            connection.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * REPLACE ({replaced}) FROM {table}")
    remove_functions(connection)


def remove_functions(connection: duckdb.DuckDBPyConnection) -> None:
    """Remove these functions; where something else ended the connection there is nothing to remove."""
    for name in (_TEXT, _TEXTS, _ID, _ANY):
        with suppress(duckdb.Error):
            connection.remove_function(name)


def replaced_columns(connection: duckdb.DuckDBPyConnection, table: str, anonymous: Anonymous) -> Mapping[str, str]:
    """Return the columns of a table, or of a query in parentheses, that hold secrets, each with the SQL that replaces these.

    All texts are looked at in their order, so that the same profile always has the same replacements.
    """
    found: dict[str, str] = {}
    described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    texts = {name: type_ for name, type_, *_ in described if "VARCHAR" in type_}
    values = _texts(connection, table, texts)
    for name, type_ in texts.items():
        role = role_of(name)
        if anonymous.seen(role, values[name]):
            call, column = (_TEXTS, quote(name)) if type_ == "VARCHAR[]" else (_TEXT, quote(name))
            found[name] = f"{call}({quote_text(role)}, {column if type_ in ('VARCHAR', 'VARCHAR[]') else f'{column}::VARCHAR'})"
    for name, type_, *_ in described:
        if type_ == "BIGINT" and (kind := _kind_of_id(name)):
            rows = connection.execute(f"SELECT DISTINCT {quote(name)} AS id FROM {table} ORDER BY id NULLS LAST").fetchall()
            for (value,) in rows:
                if value is not None:
                    anonymous.number(kind, value)
            found[name] = f"{_ID}({quote_text(kind)}, {quote(name)})"
    return found


def learn_from(connection: duckdb.DuckDBPyConnection, table: str, anonymous: Anonymous) -> None:
    """Find names of users, hosts and groups in a table, to replace them in this and in all others."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {table}").fetchall()
    for name, values in _texts(connection, table, {name: type_ for name, type_, *_ in described if "VARCHAR" in type_}).items():
        for text in values:
            anonymous.learn(text, role_of(name))


def _texts(connection: duckdb.DuckDBPyConnection, table: str, columns: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the distinct texts of columns, given with their types, in their order."""
    values: dict[str, list[str]] = {}
    for name, type_ in columns.items():
        column = quote(name)
        each = column if type_ == "VARCHAR" else f"unnest({column})" if type_ == "VARCHAR[]" else f"{column}::VARCHAR"
        rows = connection.execute(f"SELECT DISTINCT {each} AS text FROM {table} ORDER BY text").fetchall()
        values[name] = [text for (text,) in rows if text is not None]
    return values


def replaced_rows(rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return rows, whatever they are made of, with the secrets in their texts replaced; lists and structs become texts."""
    cells = [
        f"{_ANY}({quote_text(role_of(name))}, #{place}::VARCHAR) AS {quote(name)}"
        if "VARCHAR" in str(type_) and str(type_) != "VARCHAR[]"
        else f"list_transform(#{place}, lambda one: {_ANY}({quote_text(role_of(name))}, one)) AS {quote(name)}"
        if str(type_) == "VARCHAR[]"
        else f"#{place} AS {quote(name)}"
        for place, (name, type_) in enumerate(zip(unique(rows.columns), rows.types, strict=True), 1)
    ]
    return rows.project(", ".join(cells))


def _kind_of_id(column: str) -> str | None:
    """Return the kind of a column of ids: a thread of a process, or a process."""
    if column == "tid" or column.endswith("_tid"):
        return "tid"
    return "pid" if column == "pid" else None
