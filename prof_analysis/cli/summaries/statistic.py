"""What `kernel-stats`, `op-stats` and `communication-stats` print."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import (
    TIMES,
    cells,
    count_or_dash,
    duration,
    duration_or_dash,
    grid_of,
    heaviest_of,
    percent,
    print_statistic,
    rank_count,
    share_and_times,
    size_of,
)

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


def kernel_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest types of kernels and the time of each kind, over all ranks."""
    kinds = profile.rows(
        """
        SELECT kind, sum(kernel_count)::BIGINT AS kernel_count, sum(total_ns)::BIGINT AS total_ns
        FROM across.kernel_statistic
        GROUP BY kind
        ORDER BY total_ns DESC, kind
        """
    )
    of_names = profile.rows(
        """
        SELECT coalesce(sum(total_ns) FILTER (type_from = 'name'), 0) / nullif(sum(total_ns), 0) AS share
        FROM across.kernel_statistic
        WHERE kind = 'compute'
        """
    )
    return {
        **size_of(profile, "kernels.statistic"),
        "kinds": kinds,
        "types_from_names_share": of_names[0]["share"],
        "heaviest_kernels": heaviest_of(profile, "across.kernel_statistic", top),
    }


def print_kernel_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest types of kernels, the time of each kind, and the files."""
    grid = grid_of("share of kind", *TIMES, "kernels", "kind", "type", "core", left=3)
    for row in facts["heaviest_kernels"]:
        grid.add_row(*share_and_times(row), f"{row['kernel_count']:,}", *cells(row["kind"], row["type"], row["core"]))
    kinds = [f"{row['kind']} {duration(row['total_ns'])} in {row['kernel_count']:,} kernels" for row in facts["kinds"]]
    lines = [f"{'; '.join(kinds)}; {rank_count(facts)}"]
    if share := facts["types_from_names_share"]:
        lines.append(
            f"types of {percent(share)} of the compute time are not in the profile, but certain by the names of the kernels"
        )
    print_statistic(grid, lines, written)


def op_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest framework ops, and what all of them took on device and host, over all ranks."""
    totals = profile.rows(
        """
        SELECT
            sum(calls)::BIGINT AS calls,
            sum(host_self_ns)::BIGINT AS host_self_ns,
            if(count(kernel_count) = count(*), sum(kernel_count)::BIGINT, NULL) AS kernel_count,
            sum(device_self_ns)::BIGINT AS device_self_ns,
            coalesce((SELECT sum(duration_ns * kernel_count) FROM kernels.duration), 0)::BIGINT AS all_kernels_ns
        FROM across.op_statistic
        """
    )
    return {
        **size_of(profile, "op.statistic"),
        **totals[0],
        "heaviest_ops": heaviest_of(profile, "across.op_statistic", top),
    }


def print_op_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest ops, what all of them took, the kernel time that no op launched, and the files."""
    grid = grid_of(
        "share", "device self", "device total", "kernels", "host self", "host total", "calls", "op", "input shapes", left=2
    )
    for row in facts["heaviest_ops"]:
        grid.add_row(
            percent(row["share"]),
            duration_or_dash(row["device_self_ns"]),
            duration_or_dash(row["device_total_ns"]),
            count_or_dash(row["kernel_count"]),
            duration_or_dash(row["host_self_ns"]),
            duration_or_dash(row["host_total_ns"]),
            count_or_dash(row["calls"]),
            *cells(row["name"], row["input_shapes"]),
        )
    kernels = "kernels" if facts["kernel_count"] is None else f"{facts['kernel_count']:,} kernels"
    line = (
        f"{count_or_dash(facts['calls'])} calls took {duration_or_dash(facts['host_self_ns'])} on the host and launched "
        f"{kernels} of {duration_or_dash(facts['device_self_ns'])}"
    )
    if facts["all_kernels_ns"] and facts["kernel_count"] is not None and facts["device_self_ns"] is not None:
        line += f"; {percent(1 - facts['device_self_ns'] / facts['all_kernels_ns'])} of all kernel time is linked to no op"
    print_statistic(grid, [f"{line}; {rank_count(facts)}"], written)


def communication_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest types and groups of communication and the time of all, over all ranks."""
    totals = profile.rows(
        """
        SELECT
            sum(op_count)::BIGINT AS op_count,
            sum(total_ns)::BIGINT AS total_ns,
            count(DISTINCT group_name) AS group_count,
            coalesce(sum(op_count) FILTER (group_name IS NULL), 0)::BIGINT AS operators_without_group
        FROM across.communication_statistic
        """
    )
    recorded = profile.rows(
        """
        SELECT
            count(DISTINCT profile) AS ranks_of_profiler,
            coalesce(sum(op_count), 0)::BIGINT AS operators_of_profiler
        FROM communication.statistic
        WHERE origin = 'profiler'
        """
    )
    return {
        **size_of(profile, "communication.statistic"),
        **totals[0],
        **recorded[0],
        "heaviest_communication": heaviest_of(profile, "across.communication_statistic", top),
    }


def print_communication_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest types and groups of communication, the time of all, and the files."""
    grid = grid_of("share", *TIMES, "operators", "type", "group", left=2)
    for row in facts["heaviest_communication"]:
        grid.add_row(*share_and_times(row), f"{row['op_count']:,}", *cells(row["type"], row["group_name"]))
    groups = f"{facts['group_count']:,} group{'s' * (facts['group_count'] != 1)}"
    line = f"communication {duration_or_dash(facts['total_ns'])} in {count_or_dash(facts['op_count'])} operators of {groups}"
    lines = [f"{line}; {rank_count(facts)}"]
    if count := facts["operators_without_group"]:
        lines.append(f"the group of {count:,} of these operators is not recorded")
    if count := facts["operators_of_profiler"]:
        ranks = "1 rank" if facts["ranks_of_profiler"] == 1 else f"{facts['ranks_of_profiler']:,} ranks"
        lines.append(
            f"{count:,} of these operators, of {ranks}, have no kernel: their times are those that the profiler worked out"
        )
    print_statistic(grid, lines, written)
