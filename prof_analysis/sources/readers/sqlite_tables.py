"""Reads tables of an SQLite file whose columns nobody knows before, such as those of cluster_analysis.db."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.sources.readers.sqlite_cell import Cell
from prof_analysis.sources.readers.sqlite_file import SqliteFile, copy_table, open_sqlite, query


def columns_of_tables(path: Path, without_mark: str = "") -> dict[str, dict[str, str]]:
    """Return the tables of an SQLite file: the type in DuckDB of each column. Without those with a mark in their definition.

    Raises InputError when the file is not an SQLite database, is damaged, or is being written.
    """
    with open_sqlite(path, None) as file:
        return {name: _types(columns) for name, columns in _unmarked(file, without_mark).items()}


def copy_tables(connection: duckdb.DuckDBPyConnection, path: Path, schema: str, without_mark: str = "") -> list[str]:
    """Copy these tables into a schema, and return their names. Values of another type than their column's are NULL.

    Raises InputError as columns_of_tables() does.
    """
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    with open_sqlite(path, None) as file:
        tables = _unmarked(file, without_mark)
        for name, columns in tables.items():
            types = _types(columns)
            cells = [Cell(column, types[column], column, declared) for column, declared in columns.items()]
            copy_table(connection, file, f"{quote(name)} WHERE true", cells, f"{schema}.{quote(name)}")
    return list(tables)


def _unmarked(file: SqliteFile, mark: str) -> Mapping[str, Mapping[str, str]]:
    if not mark:
        return file.tables
    marked = query(file, f"SELECT name FROM sqlite_master WHERE type = 'table' AND instr(sql, {quote_text(mark)})")
    names = {name for (name,) in marked}
    return {name: columns for name, columns in file.tables.items() if name not in names}


def _types(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the types in DuckDB of declared types, by the rules of SQLite for them."""
    return {name: _type(declared) for name, declared in columns.items()}


def _type(declared: str) -> str:
    if "INT" in declared:
        return "BIGINT"
    is_number = any(word in declared for word in ("REAL", "FLOA", "DOUB", "NUM", "DEC"))
    return "DOUBLE" if is_number else "VARCHAR"
