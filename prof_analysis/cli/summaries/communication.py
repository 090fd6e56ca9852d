"""What communication-time and slow-ranks print on stdout."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import cells, duration, duration_or_dash, grid_of, print_statistic, rank_count, size_of

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_PARTS = ("elapse", "transit", "wait", "synchronization", "idle", "longest_plane_wait")


def time_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The groups and types of operators that took longest, over all ranks; the time of all; and why some of it is not split."""
    sums = ", ".join(f"sum({part}_ns)::BIGINT AS {part}_ns" for part in (*_PARTS, "unknown"))
    shown = ", ".join(f"{part}_ns" for part in _PARTS)
    groups = profile.rows(
        f"""
        SELECT op_count, {shown}, unknown_ns, bandwidth_gb_s, type, group_name
        FROM across.communication_group_time
        ORDER BY elapse_ns DESC, type, group_name, kind
        LIMIT {top:d}
        """
    )
    totals = profile.rows(f"SELECT sum(op_count)::BIGINT AS op_count, {sums} FROM communication.rank_time")
    reasons = profile.rows(
        """
        SELECT reason, count(*) AS op_count, sum(elapse_ns)::BIGINT AS elapse_ns
        FROM communication.time
        WHERE reason IS NOT NULL
        GROUP BY reason
        ORDER BY elapse_ns DESC, reason
        """
    )
    return {
        **size_of(profile, "communication.time"),
        "all": totals[0],
        "longest_groups": groups,
        "unknown": reasons,
    }


def print_time_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the groups and types that took longest with the parts of their time, the parts of all time, and the files."""
    names = [part.replace("_", " ") for part in _PARTS]
    grid = grid_of(*names, "GB/s", "operators", "type", "group", left=2)
    for row in facts["longest_groups"]:
        bandwidth = "-" if row["bandwidth_gb_s"] is None else f"{row['bandwidth_gb_s']:,.1f}"
        times = (duration_or_dash(row[f"{part}_ns"]) for part in _PARTS)
        grid.add_row(*times, bandwidth, f"{row['op_count']:,}", *cells(row["type"], row["group_name"]))
    whole = facts["all"]
    parts = ", ".join(f"{part} {duration_or_dash(whole[f'{part}_ns'])}" for part in ("transit", "wait", "idle"))
    lines = [f"communication {duration_or_dash(whole['elapse_ns'])}: {parts}; {rank_count(facts)}"]
    lines += [
        f"not split: {duration(row['elapse_ns'])} in {row['op_count']:,} operators: {row['reason']}" for row in facts["unknown"]
    ]
    print_statistic(grid, lines, written)


_SHOWN_MODULES = 3


def slow_rank_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The finding, and the ranks that waited least for others with what shows it."""
    (finding,) = profile.rows("FROM across.slow_rank_finding") or [{"finding": None, "sentence": "no ranks to compare"}]
    ranks = profile.rows(
        f"FROM across.slow_rank ORDER BY is_slow DESC NULLS LAST, waited_ns NULLS LAST, rank_id, profile LIMIT {top:d}"
    )
    modules = profile.rows(f"FROM across.slow_rank_module WHERE excess_ns > 0 LIMIT {_SHOWN_MODULES}")
    evidence = {"evidence": ranks, "modules": modules}
    return {**size_of(profile, "across.slow_rank"), **finding, **evidence}


def print_slow_rank_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the ranks that waited least for others, the finding in words, and the files."""
    headers = ("waited", "step", "computing", "p2p", "p2p wait", "collective", "collective wait", "last to", "stage")
    times = ("waited", "step", "computing", "p2p_elapse", "p2p_wait", "collective_elapse", "collective_wait")
    grid = grid_of(*headers, "slow", "rank", left=2)
    for row in facts["evidence"]:
        numbers = ("-" if row[name] is None else f"{row[name]:,}" for name in ("last_count", "pipeline_stage"))
        slow = {None: "-", True: "yes", False: "no"}[row["is_slow"]]
        grid.add_row(*(duration_or_dash(row[f"{time}_ns"]) for time in times), *numbers, *cells(slow, _rank(row)))
    modules = [
        f"rank {_rank(row)} computes {duration(round(row['excess_ns']))} longer in"
        f" {row['parent_module']}{'/' if row['parent_module'] else ''}{row['module']} than the others"
        for row in facts["modules"]
    ]
    print_statistic(grid, [facts["sentence"], *modules, rank_count(facts)], written)


def _rank(row: dict[str, Any]) -> str:
    return row["profile"] if row["rank_id"] is None else str(row["rank_id"])
