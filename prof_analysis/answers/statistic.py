"""The answers of `kernel-stats`, `op-stats` and `communication-stats`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prof_analysis.answers.answer import Block, Facts, Source, heaviest_of, said, size_of, table_of
from prof_analysis.answers.words import duration, percent, several, source_line_of

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_SPREAD = {name: f"{name}_ns" for name in ("mean", "median", "p95", "min", "max")}


_TOTALS = {"total": "total_ns", "share of kind": "share", "kernels": "kernel_count"}
_QUARTILES = {
    "mean": "mean_ns",
    "deviation": "stddev_ns",
    "min": "min_ns",
    "1st quartile": "q1_ns",
    "median": "median_ns",
    "3rd quartile": "q3_ns",
    "max": "max_ns",
}
_OF_KERNEL = {"type": "type", "core": "core", "kind": "kind"}
# What a row is -> its table over all ranks, and the columns that are shown of it.
_KERNELS = {
    "type": ("across.kernel_statistic", {"type": "type", **_TOTALS, **_SPREAD, "core": "core", "kind": "kind"}),
    "name": ("across.kernel_by_name", {"kernel": "name", **_TOTALS, **_QUARTILES, **_OF_KERNEL}),
    "shapes": (
        "across.kernel_by_shapes",
        {"kernel": "name", "input shapes": "input_shapes", **_TOTALS, **_QUARTILES, **_OF_KERNEL, "input types": "input_types"},
    ),
    "cpu": (
        "across.kernel_on_cpu",
        {
            "kernel": "name",
            "op": "op_name",
            "module": "module",
            "total": "total_ns",
            "share of computing": "share",
            "kernels": "kernel_count",
            "type": "type",
            "inside": "parent_module",
        },
    ),
}
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
# What only some profiles record of the group of an operator, and of its bytes, with its header.
_GROUP = {"for": "group_label"}
_BYTES = {"bytes": "size_bytes", "GB/s": "algorithm_gb_s", "bus GB/s": "bus_gb_s", "ranks": "group_size"}


def kernel_stats(profile: "Profile", top: int, by: str = "type", sort: str | None = None) -> tuple[Facts, list[Block]]:
    """Return the heaviest types, or names, of kernels and the time of each kind, over all ranks.

    Raises InputError where `sort` is no column.
    """
    kinds = profile.rows("FROM across.kernel_kind")
    table, columns = _KERNELS[by]
    heaviest = heaviest_of(profile, table, top, columns, sort)
    left_out = sum(row["rows_left_out"] for row in kinds)
    share = next((row["types_from_names_share"] for row in kinds if row["kind"] == "compute"), None)
    facts: Facts = {
        **size_of(profile, "kernels.statistic", "kernels.duration"),
        "kinds": [{name: row[name] for name in ("kind", "kernel_count", "total_ns")} for row in kinds],
        "types_from_names_share": share,
        "rows_left_out": left_out,
        "heaviest_kernels": heaviest,
    }
    of_kinds = [f"{row['kind']} {duration(row['total_ns'])} in {several(row['kernel_count'], 'kernel')}" for row in kinds]
    lines = [f"{'; '.join(of_kinds)}; {several(facts['ranks'], 'rank')}"]
    if share:
        lines.append(
            f"for {percent(share)} of the compute time, types are not recorded but certain from the names of the kernels"
        )
    if by == "type":
        lines += _left_out(left_out, heaviest)
    elif by == "cpu":
        lines += [] if heaviest else ["none of the kernels ran on CPUs of the device"]
    else:
        (chosen,) = profile.rows(f"SELECT coalesce(sum(total_ns), 0)::BIGINT AS total_ns FROM {table}")
        all_ns = sum(row["total_ns"] for row in kinds)
        if left_out_ns := all_ns - chosen["total_ns"]:
            lines.append(f"--filter leaves out {percent(left_out_ns / all_ns)} of the time of all kernels")
    # The profiler writes shapes in quotes.
    shown = [{**row, "input_shapes": row["input_shapes"].strip('"')} if row.get("input_shapes") else row for row in heaviest]
    return facts, [table_of(table, shown, columns), said(*lines)]


def op_stats(profile: "Profile", top: int, sort: str | None = None, source_line: bool = False) -> tuple[Facts, list[Block]]:
    """Return the heaviest framework ops, and the device and host time of all ops, over all ranks.

    With `source_line` a row is an op and the line of user code that called it. Raises InputError where `sort` is no column.
    """
    table, columns = _SOURCE_LINES if source_line else ("across.op_statistic", _OP_COLUMNS)
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
    lines += [*_left_out(total["rows_left_out"], heaviest, share)]
    # Inputs that are no tensors have no shape; those behind the last tensor say nothing.
    shown = [{**row, "input_shapes": (row.get("input_shapes") or "").rstrip(";") or None} for row in heaviest]
    return facts, [table_of(table, shown, columns), said(*lines)]


def _left_out(rows: int, shown: list[dict[str, Any]], share: float | None = None) -> list[str]:
    """Return a line about the rows that --filter left out; no line if it left out none."""
    if not rows:
        return []
    if not shown:
        return [f"no name contains the text of --filter, which leaves out {several(rows, 'row')}"]
    of_time = "" if share is None else f", with {percent(share)} of the device time of all ops"
    return [f"--filter leaves out {several(rows, 'row')}{of_time}"]


def communication_stats(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
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
