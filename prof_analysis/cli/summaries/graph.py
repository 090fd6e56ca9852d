"""What `graph-overhead` prints: the phases of each compiled graph over all ranks, and how its calls add up."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import cells, duration, grid_of, percent, print_statistic, rank_count, size_of

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_PARTS = {
    "torchair_python": "  Python", "creation": "    tensors from scalars and lists", "contiguous": "    contiguous",
    "clone": "    clone", "other_op": "    other aten ops", "torchair_cpp": "  C++", "before_lookup": "  before the look-up",
    "lookup": "  look-up of Dynamo", "call": "whole call", "front_end": "front end", "torchair": "TorchAir",
    "ge_to_end": "GE to the end of the inference", "ge_to_first_kernel": "GE to the first kernel",
}  # fmt: skip


def graph_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The phases of the graphs that take most time, and how many calls there are and why something of them is unknown."""
    phases = profile.rows(
        f"""
        WITH graph AS (
            SELECT profile, name, region, is_compiling, sum(inference_ns) AS inference_ns
            FROM graph.call
            GROUP BY ALL
            ORDER BY inference_ns DESC, profile, name, region, is_compiling
            LIMIT {top:d}
        )
        SELECT statistic.*
        FROM graph.statistic
        JOIN graph
            ON graph.profile = statistic.profile
            AND graph.name = statistic.name
            AND graph.region IS NOT DISTINCT FROM statistic.region
            AND graph.is_compiling = statistic.is_compiling
        WHERE statistic.max_ns > 0
        ORDER BY graph.inference_ns DESC, statistic.profile, statistic.name, statistic.region, statistic.is_compiling,
            list_position({list(_ORDER)}, statistic.phase)
        """
    )
    counts = profile.rows(
        """
        SELECT
            count(*) AS calls,
            count(*) FILTER (is_compiling) AS compiling_calls,
            count(call_ns) AS whole_calls,
            count(*) FILTER (front_end_ns + torchair_python_ns + torchair_cpp_ns + ge_to_end_ns = call_ns) AS adding_up
        FROM graph.call
        WHERE profile IN (SELECT min(profile) FROM op.host GROUP BY host_profile)
        """
    )
    reasons = profile.rows(
        """
        SELECT unnest(string_split(reason, '; ')) AS reason, count(*) AS calls
        FROM graph.call
        WHERE profile IN (SELECT min(profile) FROM op.host GROUP BY host_profile)
        GROUP BY 1
        ORDER BY calls DESC, reason
        """
    )
    return {
        **size_of(profile, "graph.call"),
        **counts[0],
        "phases": phases,
        "unknown": reasons,
    }


def print_graph_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the phases, which of them add up to the whole call, what is unknown, and the files."""
    grid = grid_of("share", "mean", "median", "p95", "max", "calls", "phase", "calls are", "graph", "profile", left=4)
    for row in facts["phases"]:
        region = "" if row["region"] is None else f", {row['region']}"
        grid.add_row(
            percent(row["share"]),
            *(duration(round(row[f"{time}_ns"])) for time in ("mean", "median", "p95", "max")),
            f"{row['call_count']:,}",
            *cells(
                _PARTS[row["phase"]],
                "compiling" if row["is_compiling"] else "replays",
                f"{row['name']}{region}",
                row["profile"],
            ),
        )
    lines = [
        f"{facts['calls']:,} calls, {facts['compiling_calls']:,} of them compile; {rank_count(facts)}",
        f"front end + TorchAir + GE to the end of the inference = the whole call in {facts['adding_up']:,} of "
        f"{facts['whole_calls']:,} calls whose entry is known; with GE to the first kernel they do not add up",
        *(f"in {row['calls']:,} of {facts['calls']:,} calls: {row['reason']}" for row in facts["unknown"]),
    ]
    print_statistic(grid, lines, written)


_ORDER = (
    "call", "front_end", "before_lookup", "lookup", "torchair", "torchair_python", "creation", "contiguous", "clone",
    "other_op", "torchair_cpp", "ge_to_end", "ge_to_first_kernel",
)  # fmt: skip
