"""Finds the SQL of the project and runs it: a statement that repeats is parsed once. A digest says which SQL and code it is."""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock

import duckdb

from prof_analysis.common.version import __version__

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


@cache
def code_digest() -> str:
    """Return a digest of the SQL and of the code that stages: where it differs, tables may differ.

    It is the same wherever and however this version is installed.
    """
    digest = sha256(f"{__version__} {duckdb.__version__}".encode())
    for folder, pattern in ((sql_folder(), "*.sql"), (Path(__file__).parent.parent, "*.py")):
        for name, file in sorted((file.relative_to(folder).as_posix(), file) for file in folder.rglob(pattern)):
            digest.update(f"{name} {file.stat().st_size} ".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


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
