"""Reads the macros for what repeats in the SQL: sql/macros/, one file per topic. No macro hides a table.

A macro that gives rows reads only the CTEs whose names it is given, so a body still names all tables that it needs.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from weakref import WeakKeyDictionary

import duckdb

from prof_analysis.engine.statements import run, sql_folder

# The database that an instance has from its beginning.
INSTANCE = "memory.main"
_BEGIN = "CREATE MACRO IF NOT EXISTS "
_MACRO = re.compile(rf"^{_BEGIN}(\w+)\(.*?;$", re.MULTILINE | re.DOTALL)
# From the begin of a word alone, and whole: a name of 40,000 letters in a question would else be read from each of them, 10 s.
_CALL = re.compile(r"\b\w++(?=\s*\()")


# The macros that are there in the instance of a connection, which others used before and will use.
_shared: WeakKeyDictionary[duckdb.DuckDBPyConnection, set[str]] = WeakKeyDictionary()


def create_macros(connection: duckdb.DuckDBPyConnection, sql: str | None = None) -> None:
    """Create the macros that an SQL text calls, and the macros that these call; without a text, all macros.

    Creating all of them takes as long as opening a database, and most tables need few.
    """
    macros = _called_in(" ".join(f"{name}()" for name in _macros()) if sql is None else sql)
    shared = _shared.get(connection)
    if shared is None:
        run(connection, "\n".join(macros.values()))
        return
    for name, macro in macros.items():
        if name not in shared:
            run(connection, macro.replace(_BEGIN, f"{_BEGIN}{INSTANCE}.", 1))
            shared.add(name)


def share_macros(connection: duckdb.DuckDBPyConnection, made: set[str]) -> None:
    """Let a connection make its macros in the first database of its instance, where the next one finds them.

    `made` has the names of those that are there, and gets those that are made. Macros are a tenth of the work on a small rank.
    """
    _shared[connection] = made


def called_in(sql: str) -> str:
    """Return the statements that create the macros an SQL text calls, and those that these call."""
    return "\n".join(_called_in(sql).values())


@lru_cache(maxsize=256)  # The project's SQL repeats for each rank; queries of users must not be kept for ever.
def _called_in(sql: str) -> Mapping[str, str]:
    """Return these statements by the names of the macros, each after the macros that it calls itself."""
    macros, needed = _macros(), dict[str, str]()

    def add(calls: set[str]) -> None:
        for name in sorted(calls & macros.keys() - needed.keys()):
            add(set(_CALL.findall(macros[name])) - {name})
            needed[name] = macros[name]

    add(set(_CALL.findall(sql.lower())))
    return needed


@cache
def _macros() -> dict[str, str]:
    """Return the statement of each macro, by its name."""
    files = sorted((sql_folder() / "macros").glob("*.sql"))
    return {macro[1]: macro[0] for file in files for macro in _MACRO.finditer(file.read_text(encoding="utf-8"))}
