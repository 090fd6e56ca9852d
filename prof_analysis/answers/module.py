"""The answer of `module-stats`: modules summed over ranks, with counters too, or the modules that differ between ranks."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prof_analysis.answers import pmu as counters
from prof_analysis.answers.answer import Block, Facts, ShownColumn, ShownTable, Source, said, size_of, table_of
from prof_analysis.answers.words import several

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


def module_stats(profile: "Profile", top: int, across_ranks: bool = False, pmu: bool = False) -> tuple[Facts, list[Block]]:
    """Return the heaviest modules and the coverage, with pmu also their counters; or the modules that differ between ranks."""
    if across_ranks:
        return _across_ranks(profile, top)
    facts, blocks = _modules(profile, top)
    if not pmu:
        return facts, blocks
    heaviest = counters.heaviest_of_level(profile, "module", top)
    return {**facts, "counters": heaviest}, [counters.table_of_level("module", heaviest), *blocks]


def _modules(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the heaviest modules by own kernel time and the coverage, summed over ranks."""
    modules = profile.rows(
        f"""
        SELECT
            if(parent_module = '', module, parent_module || '/' || module) AS module,
            calls,
            own_kernel_duration_ns,
            share
        FROM across.module_time
        WHERE own_kernel_duration_ns > 0
        ORDER BY own_kernel_duration_ns DESC, module
        LIMIT {top:d}
        """
    )
    coverage = profile.rows("FROM across.coverage")
    columns = {"share": "share", "kernel time": "own_kernel_duration_ns", "calls": "calls", "module": "module"}
    facts: Facts = {**size_of(profile, "module.statistic"), "heaviest_modules": modules, "coverage": coverage}
    return facts, [table_of("across.module_time", modules, columns), _coverage(coverage)]


def _coverage(rows: list[dict[str, Any]]) -> ShownTable:
    """Return a row for each kind of kernel with the share of each location."""
    locations = list(dict.fromkeys(row["location"] for row in rows))
    share = {(row["kind"], row["location"]): row["share"] for row in rows}
    columns = (*(ShownColumn(location, "share") for location in locations), ShownColumn("kernel time", "time"))
    return ShownTable(
        (*columns, ShownColumn("kernels", "text")),
        tuple(
            (
                *(share[kind, location] for location in locations),
                sum(row["kernel_duration_ns"] for row in rows if row["kind"] == kind),
                kind,
            )
            for kind in dict.fromkeys(row["kind"] for row in rows)
        ),
    )


def _across_ranks(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the modules whose own kernel time differs most between ranks."""
    modules = profile.rows("FROM across.module")
    (counts,) = profile.rows("SELECT count(DISTINCT profile) AS ranks FROM module.tree")
    facts: Facts = {**counts, "modules": len(modules), "most_different_modules": modules[:top]}
    columns: dict[str, Source] = {
        "std": "own_stddev_ns",
        "mean": "own_mean_ns",
        "slowest / mean": "own_max_to_mean",
        "slowest": "own_max_ns",
        "fastest": "own_min_ns",
        "ranks": "rank_count",
        "slowest rank": ("text", lambda row: _rank(row, "own_max")),
        "fastest rank": ("text", lambda row: _rank(row, "own_min")),
        "module": ("text", lambda row: "/".join(filter(None, (row["parent_module"], row["module"])))),
    }
    return facts, [
        table_of("across.module", modules[:top], columns),
        said(f"own kernel time of {several(facts['modules'], 'module')}; {several(facts['ranks'], 'rank')}"),
    ]


def _rank(row: Mapping[str, Any], extreme: str) -> str:
    rank_id, profile = row[f"{extreme}_rank_id"], row[f"{extreme}_profile"]
    return str(profile) if rank_id is None else str(rank_id)
