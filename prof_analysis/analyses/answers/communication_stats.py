"""The analysis `communication-stats`: which kinds of communication cost the time?"""

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import COMMUNICATION, Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, heaviest_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, several

ANALYSIS = Analysis(
    "communication-stats",
    "Which kinds of communication cost the time?\n\n"
    "Shows communication operators by type and group: how many there are and how long they take. Why they take so "
    "long: communication-time.",
    "communication operators",
    {
        "communication.statistic": "CommunicationStatistic",
        "across.communication_statistic": "CommunicationStatisticAllRanks",
        "across.communication_group": "CommunicationGroup",
    },
    section="communication",
    captions=("Types of operators",),
    requires=(COMMUNICATION,),
    also=("across.communication_total",),
    extras={
        "by phase": Extra(("kernels",), {"communication.by_phase": "CommunicationByPhase"}, ("across.communication_by_phase",))
    },
    rows={
        "type": Rows("communication.statistic", "across.communication_statistic"),
        "phase": Rows(
            "communication.by_phase",
            "across.communication_by_phase",
            requires=("kernels", "communication"),
            extra="by phase",
            is_listed=True,
        ),
    },
    place=5,
    examples={"All columns, however wide": "result --columns all"},
    returns="""Return communication operators by type and group, the heaviest first; median and p95 as in kernel_stats().

    With across_ranks a row covers all ranks.
    Raises InputError when no rank holds communication operators.
    """,
    keys=lambda: schema.answer(
        **schema.columns_of("across.communication_total"),
        heaviest_communication=schema.rows("operators by type and group", "across.communication_statistic"),
    ),
)

_SPREAD = {name: f"{name}_ns" for name in ("mean", "median", "p95", "min", "max")}
# What only some profiles record of the group of an operator, and of its bytes, with its header.
_GROUP = {"for": "group_label"}
_BYTES = {"bytes": "size_bytes", "GB/s": "algorithm_gb_s", "bus GB/s": "bus_gb_s", "ranks": "group_size"}


def communication_stats(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the heaviest types and groups of communication and the time of all operators, over all ranks."""
    heaviest = heaviest_of(profile, "across.communication_statistic", top)
    (total,) = profile.rows("FROM across.communication_total")
    facts: Facts = {**size_of(profile, "communication.statistic"), **total, "heaviest_communication": heaviest}
    recorded = {name for row in heaviest for name, value in row.items() if value is not None}
    columns = {
        "type": "type",
        "group": "group_name",
        **{header: name for header, name in _GROUP.items() if name in recorded},
        "total": "total_ns",
        "share of communication": "share",
        "operators": "op_count",
        **{header: name for header, name in _BYTES.items() if name in recorded},
        **_SPREAD,
    }
    operators = f"{several(total['op_count'], 'operator')} of {several(total['group_count'], 'group')}"
    lines = [f"communication {duration(total['total_ns'])} in {operators}; {several(facts['ranks'], 'rank')}"]
    if without_group := total["operators_without_group"]:
        lines.append(f"operators whose group is not recorded: {without_group:,}")
    if of_profiler := total["operators_of_profiler"]:
        lines.append(
            f"{several(of_profiler, 'operator')} of {several(total['ranks_of_profiler'], 'rank')} without kernels: "
            "the times are those that the profiler reported"
        )
    return facts, [table_of("across.communication_statistic", heaviest, columns), said(*lines)]
