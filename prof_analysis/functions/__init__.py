"""Python functions that the SQL of tables calls: they do what takes SQL a hundred times as long, or cannot be said in it."""

from collections.abc import Mapping

_TREE = "STRUCT(parents INTEGER[], names VARCHAR[], keys UBIGINT[])"
_CALLS = (
    "STRUCT(operations VARCHAR[], sizes BIGINT[], are_together BOOLEAN[], starts BIGINT[], ends BIGINT[], clock BIGINT[])[]"
)
_MATCHED = "STRUCT(base INTEGER, new INTEGER, how VARCHAR)[]"
_SUGGESTED = "STRUCT(base VARCHAR, new VARCHAR)[]"
_TURNS = 'STRUCT(place INTEGER, start BIGINT, "end" BIGINT)[]'
# Name in SQL -> the function, imported when a table calls it, the types of its arguments and of what it returns.
FUNCTIONS: Mapping[str, tuple[str, list[str], str]] = {
    "matched_nodes": ("prof_analysis.functions.suggestions.matched_nodes", [_TREE, _TREE, "VARCHAR[]"], _MATCHED),
    "suggested_aliases": ("prof_analysis.functions.suggestions.suggested_aliases", [_TREE, _TREE, "VARCHAR[]"], _SUGGESTED),
    "lanes": ("prof_analysis.functions.lanes.lanes", ["BIGINT[]", "BIGINT[]"], "INTEGER[]"),
    "paired_calls": ("prof_analysis.functions.pairing.paired_calls", [_CALLS], "INTEGER[][]"),
    "turns": ("prof_analysis.functions.turns.turns", ["BIGINT[]", "BIGINT[]"], _TURNS),
    "student_p": ("prof_analysis.functions.student.p_value", ["DOUBLE", "DOUBLE"], "DOUBLE"),
    "student_quantile": ("prof_analysis.functions.student.quantile", ["DOUBLE"], "DOUBLE"),
}
# Macro of sql/macros/ that gives rows -> the function that finds them in arrays, of the columns of each CTE that the macro is
# given, and the options of both, each with its value where a call does not name it.
PASSES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "covered_phases": ("prof_analysis.functions.stretches.covered_phases", {}),
    "list_stretches": ("prof_analysis.functions.stretches.list_stretches", {}),
    "parents": ("prof_analysis.functions.nesting.parents", {"within_ns": "getvariable('nesting_tolerance_ns')"}),
    "states": ("prof_analysis.functions.states.states", {}),
    "wrapping": ("prof_analysis.functions.wrapping.wrapping", {}),
}
