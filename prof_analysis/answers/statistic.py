"""The answers of `kernel-stats`, `op-stats` and `communication-stats`."""

from typing import TYPE_CHECKING

from prof_analysis.answers.answer import Block, Facts, heaviest_of, said, size_of, table_of
from prof_analysis.answers.words import duration, percent, several

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_SPREAD = {name: f"{name}_ns" for name in ("mean", "median", "p95", "min", "max")}


def kernel_stats(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the heaviest types of kernels and the time of each kind, over all ranks."""
    kinds = profile.rows("FROM across.kernel_kind")
    heaviest = heaviest_of(profile, "across.kernel_statistic", top)
    share = next((row["types_from_names_share"] for row in kinds if row["kind"] == "compute"), None)
    facts: Facts = {
        **size_of(profile, "kernels.statistic"),
        "kinds": [{name: row[name] for name in ("kind", "kernel_count", "total_ns")} for row in kinds],
        "types_from_names_share": share,
        "heaviest_kernels": heaviest,
    }
    columns = {
        "type": "type",
        "total": "total_ns",
        "share of kind": "share",
        "kernels": "kernel_count",
        **_SPREAD,
        "core": "core",
        "kind": "kind",
    }
    of_kinds = [f"{row['kind']} {duration(row['total_ns'])} in {several(row['kernel_count'], 'kernel')}" for row in kinds]
    lines = [f"{'; '.join(of_kinds)}; {several(facts['ranks'], 'rank')}"]
    if share:
        lines.append(
            f"for {percent(share)} of the compute time, types are not recorded but certain from the names of the kernels"
        )
    return facts, [table_of("across.kernel_statistic", heaviest, columns), said(*lines)]


def op_stats(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the heaviest framework ops, and the device and host time of all ops, over all ranks."""
    heaviest = heaviest_of(profile, "across.op_statistic", top)
    (total,) = profile.rows("FROM across.op_total")
    facts: Facts = {**size_of(profile, "op.statistic"), **total, "heaviest_ops": heaviest}
    columns = {
        "share": "share",
        "device self": "device_self_ns",
        "device total": "device_total_ns",
        "kernels": "kernel_count",
        "host self": "host_self_ns",
        "host total": "host_total_ns",
        "calls": "calls",
        "op": "name",
        "input shapes": "input_shapes",
    }
    kernels = "kernels" if total["kernel_count"] is None else several(total["kernel_count"], "kernel")
    line = (
        f"{several(total['calls'], 'call')} took {duration(total['host_self_ns'])} on the host and launched "
        f"{kernels} of {duration(total['device_self_ns'])}"
    )
    if total["all_kernels_ns"] and total["kernel_count"] is not None and total["device_self_ns"] is not None:
        line += f"; {percent(1 - total['device_self_ns'] / total['all_kernels_ns'])} of all kernel time is linked to no op"
    return facts, [
        table_of("across.op_statistic", heaviest, columns),
        said(f"{line}; {several(facts['ranks'], 'rank')}"),
    ]


def communication_stats(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the heaviest types and groups of communication and the time of all operators, over all ranks."""
    heaviest = heaviest_of(profile, "across.communication_statistic", top)
    (total,) = profile.rows("FROM across.communication_total")
    facts: Facts = {**size_of(profile, "communication.statistic"), **total, "heaviest_communication": heaviest}
    columns = {
        "type": "type",
        "group": "group_name",
        "total": "total_ns",
        "share of communication": "share",
        "operators": "op_count",
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
