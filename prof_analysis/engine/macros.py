"""Reads the macros for what repeats in the SQL: sql/macros/, one file per topic. No macro hides a table.

A macro that gives rows reads only the CTEs whose names it is given, so a body still names all tables that it needs.
"""

import re
from functools import cache, lru_cache

import duckdb

from prof_analysis.engine.statements import run, sql_folder

_MACRO = re.compile(r"^CREATE MACRO IF NOT EXISTS (\w+)\(.*?;$", re.MULTILINE | re.DOTALL)
_CALL = re.compile(r"\w+(?=\s*\()")


def create_macros(connection: duckdb.DuckDBPyConnection, sql: str | None = None) -> None:
    """Create the macros that an SQL text calls, and the macros that these call; without a text, all macros.

    Creating all of them takes as long as opening a database, and most tables need few.
    """
    run(connection, called_in(" ".join(f"{name}()" for name in _macros()) if sql is None else sql))


@lru_cache(maxsize=256)  # The project's SQL repeats for each rank; queries of users must not be kept for ever.
def called_in(sql: str) -> str:
    """Return the statements that create the macros an SQL text calls, each after the macros that it calls itself."""
    macros, needed = _macros(), dict[str, str]()

    def add(calls: set[str]) -> None:
        for name in sorted(calls & macros.keys() - needed.keys()):
            add(set(_CALL.findall(macros[name])) - {name})
            needed[name] = macros[name]

    add(set(_CALL.findall(sql.lower())))
    return "\n".join(needed.values())


@cache
def _macros() -> dict[str, str]:
    """Return the statement of each macro, by its name."""
    files = sorted((sql_folder() / "macros").glob("*.sql"))
    return {macro[1]: macro[0] for file in files for macro in _MACRO.finditer(file.read_text(encoding="utf-8"))}
