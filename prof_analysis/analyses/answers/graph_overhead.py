"""The analysis `graph-overhead`: what do calls of compiled graphs cost on the host?"""

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import several
from prof_analysis.common.capabilities import CAPABILITIES
from prof_analysis.common.option_docs import MACHINE

ANALYSIS = Analysis(
    "graph-overhead",
    "What do calls of compiled graphs cost on the host?\n\n"
    "Shows the host time of calls of TorchAir graphs by phase: front end, TorchAir, graph engine.",
    CAPABILITIES["graph_calls"],
    {"graph.statistic": "GraphOverhead", "graph.call": "GraphCall"},
    requires=("ops", "graph_calls"),
    options=("source", MACHINE),
    also=("op.host", "trace.set_aside_call", "across.graph_phase", "across.graph_total", "across.graph_unknown"),
    counts_kernels=False,
    rows={"phase": Rows("graph.statistic"), "call": Rows("graph.call", is_listed=True)},
    place=20,
    heading=WHY,
    examples={"The 20 graphs that cost most": "result --top 20"},
    returns="""Return the cost of calls of compiled graphs on the host, by graph and phase; compiling calls apart from replays.

    The phases front_end, torchair_python, torchair_cpp and ge_to_end add up to call; ge_to_first_kernel ends at the first
    kernel on the device. With by="call" a row is a call.
    Raises InputError when no rank holds calls of compiled graphs.
    """,
    keys=lambda: schema.answer(
        **schema.columns_of("across.graph_total"),
        phases=schema.rows("phases of the graphs", schema.row("across.graph_phase", without=("graph_number",))),
        unknown=schema.rows("why values are unknown", "across.graph_unknown"),
    ),
)

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
        "graph": ("text", lambda row: ", ".join(filter(None, (row["name"], row["region"])))),
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
