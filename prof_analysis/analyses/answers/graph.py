"""The answer of `graph-overhead`: the phases of each compiled graph, and whether they add up to its calls."""

from collections.abc import Mapping
from typing import Any

from prof_analysis.analyses.answers.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.answers.words import several
from prof_analysis.analyses.asked import Tables

_PHASES = {
    "torchair_python": "  Python", "creation": "    tensors from scalars and lists", "contiguous": "    contiguous",
    "clone": "    clone", "other_op": "    other aten ops", "torchair_cpp": "  C++", "before_lookup": "  before the look-up",
    "lookup": "  look-up of Dynamo", "call": "whole call", "front_end": "front end", "torchair": "TorchAir",
    "ge_to_end": "GE to the end of the inference", "ge_to_first_kernel": "GE to the first kernel",
}  # fmt: skip


def graph_overhead(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the phases of the graphs that take most time, the number of calls, and the reasons why some values are unknown."""
    phases = profile.rows(f"SELECT * EXCLUDE (graph_number) FROM across.graph_phase WHERE graph_number <= {top:d}")
    (total,) = profile.rows("FROM across.graph_total")
    unknown = profile.rows("FROM across.graph_unknown")
    facts: Facts = {**size_of(profile, "graph.call"), **total, "phases": phases, "unknown": unknown}
    columns: dict[str, Source] = {
        "phase": ("text", lambda row: _PHASES[row["phase"]]),
        "share of call": "share",
        "mean": "mean_ns",
        "median": "median_ns",
        "p95": "p95_ns",
        "max": "max_ns",
        "calls": "call_count",
        "kind": ("text", lambda row: "compiling" if row["is_compiling"] else "replay"),
        "graph": ("text", _graph),
        "profile": "profile",
    }
    return facts, [
        table_of("across.graph_phase", phases, columns),
        said(
            f"{several(total['calls'], 'call')}, {total['compiling_calls']:,} compiling; {several(facts['ranks'], 'rank')}",
            f"front end + TorchAir + GE to the end of the inference = the whole call in {total['adding_up']:,} of "
            f"{several(total['whole_calls'], 'call')} with a known entry; GE to the first kernel is not part of this sum",
            *(f"in {row['calls']:,} of {several(total['calls'], 'call')}: {row['reason']}" for row in unknown),
        ),
    ]


def _graph(row: Mapping[str, Any]) -> str:
    region = "" if row["region"] is None else f", {row['region']}"
    return f"{row['name']}{region}"
