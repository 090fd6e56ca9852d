"""Python functions that the SQL of tables calls: what takes SQL a hundred times as long, or cannot be said in it."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from prof_analysis.engine.macros import called_in


def _student_p() -> Callable[..., Any]:
    from prof_analysis.engine.functions.student import p_value

    return p_value


def _student_quantile() -> Callable[..., Any]:
    from prof_analysis.engine.functions.student import quantile

    return quantile


def _matched_nodes() -> Callable[..., Any]:
    from prof_analysis.engine.functions.suggestions import matched_nodes

    return matched_nodes


def _suggested_aliases() -> Callable[..., Any]:
    from prof_analysis.engine.functions.suggestions import suggested_aliases

    return suggested_aliases


def _lanes() -> Callable[..., Any]:
    from prof_analysis.engine.functions.lanes import lanes

    return lanes


def _paired_calls() -> Callable[..., Any]:
    from prof_analysis.engine.functions.pairing import paired_calls

    return paired_calls


_TREE = "STRUCT(parents INTEGER[], names VARCHAR[], keys UBIGINT[])"
_CALLS = (
    "STRUCT(operations VARCHAR[], sizes BIGINT[], are_together BOOLEAN[], starts BIGINT[], ends BIGINT[], clock BIGINT[])[]"
)
# Name -> what gives the function, the types of its arguments and of what it returns.
_FUNCTIONS: Mapping[str, tuple[Callable[[], Callable[..., Any]], list[str], str]] = {
    "matched_nodes": (_matched_nodes, [_TREE, _TREE, "VARCHAR[]"], "STRUCT(base INTEGER, new INTEGER, how VARCHAR)[]"),
    "suggested_aliases": (_suggested_aliases, [_TREE, _TREE, "VARCHAR[]"], "STRUCT(base VARCHAR, new VARCHAR)[]"),
    "lanes": (_lanes, ["BIGINT[]", "BIGINT[]"], "INTEGER[]"),
    "paired_calls": (_paired_calls, [_CALLS], "INTEGER[][]"),
    "student_p": (_student_p, ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "student_quantile": (_student_quantile, ["DOUBLE"], "DOUBLE"),
}
_CALL = re.compile(rf"\b({'|'.join(_FUNCTIONS)})\s*\(")


@contextmanager
def functions_for(connection: duckdb.DuckDBPyConnection, sql: str, through_macros: bool = True) -> Iterator[bool]:
    """Let a connection have the functions that an SQL text calls, itself or through macros; give whether it calls any.

    No table of one rank calls any through a macro: to look for these would take as long as to build a small table. Afterwards
    they are gone: a connection that ends with functions in it complains on the terminal.
    """
    calls = sorted(set(_CALL.findall(sql + called_in(sql) if through_macros else sql)))
    for name in calls:
        find, takes, gives = _FUNCTIONS[name]
        connection.create_function(name, find(), takes, gives)  # type: ignore[arg-type]
    try:
        yield bool(calls)
    finally:
        for name in calls:
            connection.remove_function(name)
