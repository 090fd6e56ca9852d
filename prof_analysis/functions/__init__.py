"""Python functions that the SQL of tables calls: they do what takes SQL a hundred times as long, or cannot be said in it."""

from collections.abc import Callable, Mapping
from typing import Any


def _student_p() -> Callable[..., Any]:
    from prof_analysis.functions.student import p_value

    return p_value


def _student_quantile() -> Callable[..., Any]:
    from prof_analysis.functions.student import quantile

    return quantile


def _matched_nodes() -> Callable[..., Any]:
    from prof_analysis.functions.suggestions import matched_nodes

    return matched_nodes


def _suggested_aliases() -> Callable[..., Any]:
    from prof_analysis.functions.suggestions import suggested_aliases

    return suggested_aliases


def _lanes() -> Callable[..., Any]:
    from prof_analysis.functions.lanes import lanes

    return lanes


def _paired_calls() -> Callable[..., Any]:
    from prof_analysis.functions.pairing import paired_calls

    return paired_calls


_TREE = "STRUCT(parents INTEGER[], names VARCHAR[], keys UBIGINT[])"
_CALLS = (
    "STRUCT(operations VARCHAR[], sizes BIGINT[], are_together BOOLEAN[], starts BIGINT[], ends BIGINT[], clock BIGINT[])[]"
)
# Name -> what gives the function, the types of its arguments and of what it returns.
FUNCTIONS: Mapping[str, tuple[Callable[[], Callable[..., Any]], list[str], str]] = {
    "matched_nodes": (_matched_nodes, [_TREE, _TREE, "VARCHAR[]"], "STRUCT(base INTEGER, new INTEGER, how VARCHAR)[]"),
    "suggested_aliases": (_suggested_aliases, [_TREE, _TREE, "VARCHAR[]"], "STRUCT(base VARCHAR, new VARCHAR)[]"),
    "lanes": (_lanes, ["BIGINT[]", "BIGINT[]"], "INTEGER[]"),
    "paired_calls": (_paired_calls, [_CALLS], "INTEGER[][]"),
    "student_p": (_student_p, ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "student_quantile": (_student_quantile, ["DOUBLE"], "DOUBLE"),
}
