"""The analysis `free-time`: why is the device idle?"""

from collections.abc import Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import TIMELINE, WHY, Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.input_sentences import inputs_of, of_inputs
from prof_analysis.analyses.words import duration, percent, several

ANALYSIS = Analysis(
    "free-time",
    "Why is the device idle?\n\nShows the idle time of the device by cause, and the longest gaps with the ops around them.",
    "kernels",
    {"free.cause": "FreeTime", "free.longest_gap": "FreeGap", "free.unknown_cause": "FreeUnknownCause"},
    section="timeline",
    requires=("kernels",),
    also=(
        "step.overlap",
        "step.time",
        "step.reported_audit",
        "module.lost_launch",
        "trace.set_aside_call",
        "across.free_cause",
        "across.free_unknown_cause",
        "step.input",
    ),
    pictures=TIMELINE,
    counted="step.time",
    extras={
        "length": Extra((), {"free.length": "FreeLength"}, ("across.free_length",)),
        "by phase": Extra((), {"free.by_phase": "FreeByPhase"}, ("across.free_by_phase",)),
        "by kernel": Extra((), {"free.between": "FreeBetween"}, ("across.free_between",)),
    },
    rows={
        "cause": Rows("free.cause"),
        "gap": Rows("free.longest_gap", is_listed=True),
        "length": Rows("free.length", "across.free_length", extra="length", is_listed=True),
        "phase": Rows("free.by_phase", "across.free_by_phase", extra="by phase", is_listed=True),
        "kernel": Rows("free.between", "across.free_between", extra="by kernel", is_listed=True),
    },
    place=11,
    heading=WHY,
    examples={
        "Many short gaps, or few long ones, and before what": "result --by length",
        "Between which kernels, as in a captured graph": "result --by kernel",
    },
    returns="""Return causes of idle time within steps by the activity of the host: the causes in each step, the longest first.

    The causes of a step add up to its free_ns in step_time(). With by="gap" a row is one of the 100 longest gaps of a rank,
    with by="length" a length of gaps, by powers of ten, and what follows them; with by="kernel" the types of the
    kernels before and after.
    Raises InputError when no rank holds kernels and ops.
    """,
    keys=lambda: schema.answer(
        causes=schema.rows("idle time by cause", "across.free_cause"),
        longest_gaps=schema.rows("gaps", "free.longest_gap"),
        inputs=schema.rows("pipelines that feed devices with data", "step.input"),
        unknown_causes=schema.rows("causes that this recording cannot show", "across.free_unknown_cause"),
    ),
)


def free_time(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the causes of the idle time of all steps, the longest gaps, and the causes that nothing recorded can show."""
    causes = profile.rows("FROM across.free_cause")
    gaps = profile.rows(f"FROM free.longest_gap ORDER BY duration_ns DESC, profile, start_ns LIMIT {top:d}")
    unknown = profile.rows("FROM across.free_unknown_cause")
    facts: Facts = {
        **size_of(profile, "free.cause"),
        "ranks": size_of(profile, "step.time")["ranks"],
        "causes": causes,
        "longest_gaps": gaps,
        "unknown_causes": unknown,
        "inputs": inputs_of(profile),
    }
    columns: dict[str, Source] = {
        "main cause": "cause",
        "gap": "duration_ns",
        "share of gap": ("share", lambda row: None if row["cause_ns"] is None else row["cause_ns"] / row["duration_ns"]),
        **_neighbours(gaps),
        "longest host call": ("text", _host_call),
        "step": ("text", lambda row: row["step_id"]),
        "profile": "profile",
    }
    return facts, [
        table_of("free.longest_gap", gaps, columns),
        said(
            f"free {duration(sum(row['total_ns'] for row in causes))}; {several(facts['ranks'], 'rank')}",
            *(f"{percent(row['share'])} {row['cause']}, {duration(row['total_ns'])}{_gaps(row)}" for row in causes),
            *of_inputs(facts["inputs"]),
            *(f"not known: {row['cause']}: {row['reason']}" for row in unknown),
        ),
    ]


def _neighbours(gaps: list[dict[str, Any]]) -> dict[str, Source]:
    """Return the columns for the ops before and after gaps, or for the kernels if no op is known."""
    if gaps and all(row["op_before"] is None and row["op_after"] is None for row in gaps):
        return {"kernel before": "kernel_before", "kernel after": "kernel_after"}
    return {"op before": "op_before", "op after": "op_after"}


def _host_call(row: Mapping[str, Any]) -> str | None:
    return None if row["host_call"] is None else f"{row['host_call']} ({duration(row['host_call_ns'])})"


def _gaps(row: Mapping[str, Any]) -> str:
    return "" if row["gap_count"] is None else f" in {several(row['gap_count'], 'gap')}"
