"""Gives DuckDB the Python functions that the SQL of tables calls."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pkgutil import resolve_name

import duckdb

from prof_analysis.engine.macros import called_in
from prof_analysis.functions import FUNCTIONS

_CALL = re.compile(rf"\b({'|'.join(FUNCTIONS)})\s*\(")


@contextmanager
def functions_for(connection: duckdb.DuckDBPyConnection, sql: str, through_macros: bool = True) -> Iterator[bool]:
    """Let a connection have the functions that an SQL text calls, itself or through macros; give whether it calls any.

    No table of one rank calls any through a macro: to look for these would take as long as to build a small table. Afterwards
    they are gone: a connection that ends with functions in it complains on the terminal.
    """
    calls = sorted(set(_CALL.findall(sql + called_in(sql) if through_macros else sql)))
    for name in calls:
        function, takes, gives = FUNCTIONS[name]
        connection.create_function(name, resolve_name(function), takes, gives)  # type: ignore[arg-type]
    try:
        yield bool(calls)
    finally:
        for name in calls:
            connection.remove_function(name)
