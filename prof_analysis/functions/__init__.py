"""Python functions that the SQL of tables calls: they do what takes SQL a hundred times as long, or cannot be said in it."""

from collections.abc import Mapping

_TREE = "STRUCT(parents INTEGER[], names VARCHAR[], keys UBIGINT[])"
_CALLS = (
    "STRUCT(operations VARCHAR[], sizes BIGINT[], are_together BOOLEAN[], starts BIGINT[], ends BIGINT[], clock BIGINT[])[]"
)
_MATCHED = "STRUCT(base INTEGER, new INTEGER, how VARCHAR)[]"
_SUGGESTED = "STRUCT(base VARCHAR, new VARCHAR)[]"
_TURNS = 'STRUCT(place INTEGER, start BIGINT, "end" BIGINT)[]'
_SPANS = (
    "STRUCT(span_id BIGINT[], start_ns BIGINT[], end_ns BIGINT[], parent_id BIGINT[], parent_end_ns BIGINT[], "
    "is_crossing BOOLEAN[])"
)
_PARTS = (
    "STRUCT(key BIGINT[], start_ns BIGINT[], end_ns BIGINT[], "
    "state_1 BIGINT[], state_2 BIGINT[], state_3 BIGINT[], state_4 BIGINT[])"
)
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
# Those that get columns of many rows as arrays, each gathered into one list.
ARRAY_FUNCTIONS: Mapping[str, tuple[str, list[str], str]] = {
    "nested_spans": ("prof_analysis.functions.nesting.nested_spans", [*["BIGINT[]"] * 4, "BIGINT"], _SPANS),
    "states_in_phases": (
        "prof_analysis.functions.states.states_in_phases",
        [*["BIGINT[]"] * 4, "UTINYINT[]", *["BIGINT[]"] * 5],
        _PARTS,
    ),
}
