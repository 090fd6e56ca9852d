"""The analysis `op-stats`: which framework ops cost the time, on host and device?"""

from collections.abc import Mapping

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import STACKS, Analysis, Extra, Rows, flame
from prof_analysis.analyses.answer import Block, Facts, Sort, Source, heaviest_of, left_out_lines, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, several, source_line_of
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE

ANALYSIS = Analysis(
    "op-stats",
    "Which framework ops cost the time, on host and device?\n\n"
    "Shows ops by name and input shapes, with the time of the kernels that they launched.",
    "ops",
    {"op.statistic": "OpStatistic", "across.op_statistic": "OpStatisticAllRanks"},
    requires=(any_of("ops", "reported_ops"),),
    options=(INPUT, MACHINE, "filter"),
    also=("kernels.duration", "across.op_total"),
    extras={"source-line": Extra(STACKS, {"stack.by_op": "OpSourceLine", "across.op_source_line": "OpSourceLineAllRanks"})},
    pictures=flame("flame.op", "OpFlame", "ops", "kernels"),
    counted="op.by_shape",
    rows={
        "op": Rows("op.statistic", "across.op_statistic"),
        "source_line": Rows("stack.by_op", "across.op_source_line", requires=STACKS, extra="source-line"),
    },
    place=2,
    examples={
        "The ops of one step": "result --step-id 10 --top 20",
        "Ops of one kind by all time inside them": "result --filter aten:: --sort 'device total'",
    },
    returns="""Return framework ops by name and input shapes, the heaviest on the device first.

    Records of a launch, such as aclnnMm, count as a part of the op around them. A call inside a call of the same row does
    not count again in the totals. With across_ranks a row covers all ranks. With by="source_line" a row is an op and the
    line of user code that called it.
    Raises InputError when no rank holds framework ops.
    """,
    keys=lambda: schema.answer(
        **schema.columns_of("across.op_total"),
        heaviest_ops=schema.rows(
            "ops; with --by source-line each with a line that called it", "across.op_statistic", "across.op_source_line"
        ),
    ),
)
_OP_COLUMNS: Mapping[str, Source] = {
    "op": "name",
    "input shapes": "input_shapes",
    "device self": "device_self_ns",
    "device total": "device_total_ns",
    "share of ops": "share",
    "calls": "calls",
    "kernels": "kernel_count",
    "host self": "host_self_ns",
    "host total": "host_total_ns",
    "launches": "launches",
}
_SOURCE_LINES: tuple[str, Mapping[str, Source]] = (
    "across.op_source_line",
    {
        "op": "name",
        "source line": ("text", source_line_of),
        "device self": "device_self_ns",
        "share of ops": "share",
        "calls": "calls",
        "kernels": "kernel_count",
        "host self": "host_self_ns",
    },
)


def op_stats(profile: Tables, top: int, by: str = "op", sort: Sort = None) -> tuple[Facts, list[Block]]:
    """Return the heaviest framework ops, and the device and host time of all ops, over all ranks.

    With by="source_line" a row is an op and the line of user code that called it. Raises InputError where `sort` is no column.
    """
    table, columns = _SOURCE_LINES if by == "source_line" else ("across.op_statistic", _OP_COLUMNS)
    heaviest = heaviest_of(profile, table, top, columns, sort)
    (total,) = profile.rows("FROM across.op_total")
    facts: Facts = {**size_of(profile, "op.statistic", "op.by_shape"), **total, "heaviest_ops": heaviest}
    kernels = "kernels" if total["kernel_count"] is None else several(total["kernel_count"], "kernel")
    line = (
        f"{several(total['calls'], 'call')} took {duration(total['host_self_ns'])} on the host and launched "
        f"{kernels} of {duration(total['device_self_ns'])}"
    )
    if total["all_kernels_ns"] and total["kernel_count"] is not None and total["device_self_ns"] is not None:
        line += f"; {percent(1 - total['device_self_ns'] / total['all_kernels_ns'])} of all kernel time is linked to no op"
    share = total["left_out_ns"] / total["device_self_ns"] if total["device_self_ns"] else None
    lines = [f"{line}; {several(facts['ranks'], 'rank')}"]
    if total["kernel_count"] is None and total["calls"]:
        lines.append("where only operator_details.csv has the ops, operators that an op launched have rows of their own")
    lines += [*left_out_lines(total["rows_left_out"], heaviest, share)]
    # Inputs that are no tensors have no shape; those behind the last tensor say nothing.
    shown = [{**row, "input_shapes": (row.get("input_shapes") or "").rstrip(";") or None} for row in heaviest]
    return facts, [table_of(table, shown, columns), said(*lines)]
