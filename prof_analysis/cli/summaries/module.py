"""What `module-stats` prints, of one rank and across ranks."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.cli.summaries.parts import (
    console,
    duration,
    grid_of,
    percent,
    print_files,
    print_statistic,
    rank_count,
    size_of,
    text_of,
)

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


def module_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The heaviest modules by own kernel time and the coverage, summed over ranks."""
    modules = profile.rows(
        f"""
        SELECT
            if(parent_module = '', module, parent_module || '/' || module) AS module,
            sum(calls)::BIGINT AS calls,
            sum(own_kernel_duration_ns)::BIGINT AS own_kernel_duration_ns,
            sum(own_kernel_duration_ns) / nullif((SELECT sum(kernel_duration_ns) FROM module.coverage), 0) AS share
        FROM module.tree
        GROUP BY ALL
        HAVING sum(own_kernel_duration_ns) > 0
        ORDER BY own_kernel_duration_ns DESC, module
        LIMIT {top:d}
        """
    )
    coverage = profile.rows(
        """
        SELECT
            kind,
            location,
            sum(kernel_count)::BIGINT AS kernel_count,
            sum(kernel_duration_ns)::BIGINT AS kernel_duration_ns,
            sum(kernel_duration_ns) / nullif(sum(sum(kernel_duration_ns)) OVER (PARTITION BY kind), 0) AS share
        FROM module.coverage
        GROUP BY kind, location
        ORDER BY kind = 'schedule', kind = 'communication', location = 'linked to no op', location = 'outside modules'
        """
    )
    size = size_of(profile, "module.statistic")
    return {**size, "heaviest_modules": modules, "coverage": coverage}


def print_module_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the heaviest modules, where the time of each kind of kernel went, and the files."""
    out = console()
    modules = grid_of("share", "kernel time", "calls", "module", left=1)
    for row in facts["heaviest_modules"]:
        time_ns = duration(row["own_kernel_duration_ns"])
        modules.add_row(percent(row["share"]), time_ns, f"{row['calls']:,}", text_of(row["module"]))
    out.print(modules)
    locations = list(dict.fromkeys(row["location"] for row in facts["coverage"]))
    coverage = grid_of(*locations, "kernel time", "kernels", left=1)
    for kind in dict.fromkeys(row["kind"] for row in facts["coverage"]):
        rows = {row["location"]: row for row in facts["coverage"] if row["kind"] == kind}
        time_ns = sum(row["kernel_duration_ns"] for row in rows.values())
        coverage.add_row(*(percent(rows[location]["share"]) for location in locations), duration(time_ns), kind)
    out.print()
    out.print(coverage)
    out.print()
    print_files(written)


def across_ranks_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """The modules whose own kernel time differs most between ranks."""
    modules = profile.rows("FROM across.module")
    counts = profile.rows("SELECT count(DISTINCT profile) AS ranks FROM module.tree")
    return {**counts[0], "modules": len(modules), "most_different_modules": modules[:top]}


def print_across_ranks_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the modules that differ most, with their fastest and slowest rank, and the files."""
    grid = grid_of(
        "std", "mean", "slowest / mean", "slowest", "fastest", "ranks", "slowest rank", "fastest rank", "module", left=3
    )
    for row in facts["most_different_modules"]:
        ratio = row["own_max_to_mean"]
        grid.add_row(
            *(duration(round(row[f"own_{time}_ns"])) for time in ("stddev", "mean")),
            "-" if ratio is None else f"{ratio:.2f}",
            *(duration(row[f"own_{time}_ns"]) for time in ("max", "min")),
            f"{row['rank_count']:,}",
            *(text_of(_rank_name(row, extreme)) for extreme in ("own_max", "own_min")),
            text_of("/".join(filter(None, (row["parent_module"], row["module"])))),
        )
    print_statistic(grid, [f"own kernel time of {facts['modules']:,} modules; {rank_count(facts)}"], written)


def _rank_name(row: dict[str, Any], extreme: str) -> str:
    rank_id, profile = row[f"{extreme}_rank_id"], row[f"{extreme}_profile"]
    return str(profile) if rank_id is None else str(rank_id)
