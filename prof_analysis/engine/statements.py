"""Finds the SQL of the project and runs it: a statement that repeats is parsed once."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Lock

import duckdb

# A rank takes some 500 statements. Statements of users' questions must not be kept for ever.
_MOST_KEPT = 4096
_parsed: dict[str, list[duckdb.Statement]] = {}
_lock = Lock()


@cache
def sql_folder() -> Path:
    """Return the folder of the SQL: inside an installed package, next to it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "sql"
    return inside if inside.is_dir() else package.parent / "sql"


def run(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object] | None = None
) -> duckdb.DuckDBPyConnection:
    """Execute SQL that repeats for each rank. For a small rank, parsing would take a sixth of the time."""
    for statement in _parsed.get(sql) or _parse(connection, sql):
        connection.execute(statement, parameters)
    return connection


def _parse(connection: duckdb.DuckDBPyConnection, sql: str) -> list[duckdb.Statement]:
    statements = connection.extract_statements(sql)
    with _lock:
        while len(_parsed) >= _MOST_KEPT:  # The oldest goes first.
            del _parsed[next(iter(_parsed))]
        _parsed[sql] = statements
    return statements
