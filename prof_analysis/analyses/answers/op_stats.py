"""The analysis `op-stats`: which framework ops cost the time, on host and device?"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import STACKS, Analysis, Extra, Rows, flame
from prof_analysis.analyses.answer import Block, Facts, Sort, Source, heaviest_of, left_out_lines, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.tree import as_tree
from prof_analysis.analyses.words import duration, percent, several, source_line_of
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

_OF_MODULES = ("modules", "ops")
ANALYSIS = Analysis(
    "op-stats",
    "Which framework ops cost the time, on host and device?\n\n"
    "Shows ops by name and input shapes, with the time of the kernels that they launched.",
    "ops",
    {"op.statistic": "OpStatistic", "across.op_statistic": "OpStatisticAllRanks"},
    requires=(any_of("ops", "reported_ops"),),
    options=(INPUT, MODULES, MACHINE, "filter"),
    also=("kernels.duration", "across.op_total"),
    extras={
        "source-line": Extra(STACKS, {"stack.by_op": "OpSourceLine", "across.op_source_line": "OpSourceLineAllRanks"}),
        "by module": Extra(
            _OF_MODULES, {"module.host_time": "ModuleHostTime", "across.module_host_time": "ModuleHostTimeAllRanks"}
        ),
        "by phase": Extra(("ops", "kernels"), {"op.by_phase": "OpByPhase"}, ("across.op_by_phase",)),
    },
    pictures=flame("flame.op", "OpFlame", "ops", "kernels"),
    counted="op.by_shape",
    rows={
        "op": Rows("op.statistic", "across.op_statistic"),
        "source_line": Rows("stack.by_op", "across.op_source_line", requires=STACKS, extra="source-line"),
        "phase": Rows("op.by_phase", "across.op_by_phase", requires=("ops", "kernels"), extra="by phase", is_listed=True),
        "module": Rows("module.host_time", "across.module_host_time", requires=_OF_MODULES, extra="by module"),
    },
    place=2,
    examples={
        "Time of modules on the host, also without kernels": "result --by module",
        "Ops of one kind by all time inside them": "result --filter aten:: --sort 'device total'",
    },
    returns="""Return framework ops by name and input shapes, the heaviest on the device first.

    Records of a launch, such as aclnnMm, count as a part of the op around them. A call inside a call of the same row does
    not count again in the totals. With across_ranks a row covers all ranks. With by="source_line" a row is an op and the
    line of user code that called it. With by="module" a row is a module with its time on the host, the longest first.
    Raises InputError when no rank holds framework ops.
    """,
    keys=lambda: {
        "anyOf": [
            schema.answer(
                **schema.columns_of("across.op_total"),
                heaviest_ops=schema.rows(
                    "ops; with --by source-line each with a line that called it",
                    "across.op_statistic",
                    "across.op_source_line",
                ),
            ),
            schema.answer(
                own_host_ns=schema.amount("own time of all modules on host threads", "ns"),
                heaviest_modules=schema.rows(
                    "with --by module: modules with most time on the host", schema.of_module("across.module_host_time")
                ),
            ),
        ]
    },
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
_MODULE_COLUMNS: Mapping[str, Source] = {
    "module": ("tree", itemgetter("line")),
    "host": "host_ns",
    "own host": "own_host_ns",
    "share of modules": "own_share",
    "calls": "calls",
    "ops": "op_count",
    "launches": "launches",
    "device": "device_ns",
    "per step and rank": "host_per_step_ns",
}


def op_stats(profile: Tables, top: int, by: str = "op", sort: Sort = None) -> tuple[Facts, list[Block]]:
    """Return the heaviest framework ops, and the device and host time of all ops, over all ranks.

    With by="source_line" a row is an op and the line of user code that called it; with by="module" it is a module with its time
    on the host. Raises InputError where `sort` is no column.
    """
    if by == "module":
        return _modules(profile, top, sort)
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


def _modules(profile: Tables, top: int, sort: Sort) -> tuple[Facts, list[Block]]:
    """Return the modules with most time of their own on the host, as a tree with the modules around them."""
    table = "across.module_host_time"
    heaviest = [_with_path(row) for row in heaviest_of(profile, table, top, _MODULE_COLUMNS, sort)]
    known = [_with_path(row) for row in profile.rows(f"FROM {table}")]
    own_ns = sum(row["own_host_ns"] for row in known)
    facts: Facts = {
        **size_of(profile, "module.host_time", "op.by_shape"),
        "own_host_ns": own_ns,
        "heaviest_modules": heaviest,
    }
    columns = {
        header: column
        for header, column in _MODULE_COLUMNS.items()
        if not isinstance(column, str) or any(row[column] is not None for row in heaviest)
    }
    return facts, [
        table_of(table, as_tree(heaviest, known), columns),
        said(f"{several(len(known), 'module')} took {duration(own_ns)} on host threads; {several(facts['ranks'], 'rank')}"),
    ]


def _with_path(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a module with its whole path in one column."""
    path = "/".join(filter(None, (row["parent_module"], row["module"])))
    return {"module": path} | {name: value for name, value in row.items() if name not in ("parent_module", "module")}
