"""The answer of `module-stats`: modules summed over ranks, with counters too, or the modules that differ between ranks."""

from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from prof_analysis.answers import pmu as counters
from prof_analysis.answers.answer import Block, Facts, ShownColumn, ShownTable, Source, said, size_of, table_of
from prof_analysis.answers.tree import PATH, as_tree, paths_of
from prof_analysis.answers.words import several, source_line_of
from prof_analysis.engine.database import quote_text
from prof_analysis.errors import InputError

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


# The columns of what costs modules: of ops with the kernels that they launched, or with the lines that called them.
_COSTS: Mapping[str, Mapping[str, Source]] = {
    "across.module_cost": {
        "op": "op_name",
        "kernel type": "type",
        "kernel time": "duration_ns",
        "in module": ("text", itemgetter("module")),
        "share of kind": "share",
        "kernels": "kernel_count",
        "kind": "kind",
    },
    "across.module_source_line": {
        "op": "op_name",
        "source line": ("text", source_line_of),
        "kernel time": "duration_ns",
        "in module": ("text", itemgetter("module")),
        "share of kernels": "share",
        "kernels": "kernel_count",
    },
}


def module_stats(
    profile: "Profile",
    top: int,
    across_ranks: bool = False,
    pmu: bool = False,
    module: str | None = None,
    source_line: bool = False,
) -> tuple[Facts, list[Block]]:
    """Return the heaviest modules, their costs and the coverage, with pmu also counters; or differences between ranks.

    `module` names a module, perhaps with modules around it, as in Layer/Linear: then only such modules, and those inside them.
    With `source_line`, what costs them are ops and the lines of user code that called them.
    Raises InputError without one.
    """
    if across_ranks:
        return _across_ranks(profile, top)
    facts, blocks = _modules(profile, top, module, source_line)
    if not pmu:
        return facts, blocks
    heaviest = counters.heaviest_of_level(profile, "module", top)
    return {**facts, "counters": heaviest}, [counters.table_of_level("module", heaviest), *blocks]


def _modules(profile: "Profile", top: int, module: str | None, source_line: bool) -> tuple[Facts, list[Block]]:
    """Return the modules with most kernel time of their own, the ops and kernels that cost it, and the coverage."""
    chosen = "true" if module is None else f"contains('/' || {PATH} || '/', {quote_text(f'/{module}/')})"
    row = f"{PATH} AS module, * EXCLUDE (parent_module, module)"
    heaviest = profile.rows(f"SELECT {row} FROM across.module_time WHERE {chosen} AND own_kernel_duration_ns > 0 LIMIT {top:d}")
    if module is not None and not heaviest and not profile.rows(f"SELECT 1 FROM across.module_time WHERE {chosen} LIMIT 1"):
        raise InputError(f"there is no module {module}; without --module, module-stats shows which there are")
    in_tree = ", ".join(quote_text(path) for path in paths_of(heaviest)) or "NULL"
    known = profile.rows(f"SELECT {row} FROM across.module_time WHERE {PATH} IN ({in_tree})")
    of_costs = "across.module_source_line" if source_line else "across.module_cost"
    costs = profile.rows(f"SELECT {row} FROM {of_costs} WHERE {chosen} LIMIT {top:d}")
    coverage = profile.rows("FROM across.coverage")
    facts: Facts = {
        **size_of(profile, "module.statistic"),
        "heaviest_modules": heaviest,
        "heaviest_costs": costs,
        "coverage": coverage,
    }
    columns: dict[str, Source] = {
        "module": ("tree", itemgetter("line")),
        "compute": "computing_ns",
        "share of compute": "computing_share",
        "own": "own_computing_ns",
        **_if_known(heaviest, "per step and rank", "computing_per_step_ns"),
        **_if_known(heaviest, "communication", "communication_ns"),
        "calls": "calls",
    }
    return facts, [
        table_of("across.module_time", as_tree(heaviest, known), columns),
        table_of(of_costs, costs, _COSTS[of_costs]),
        _coverage(coverage),
    ]


def _if_known(rows: list[dict[str, Any]], header: str, column: str) -> dict[str, Source]:
    """Return a shown column where a row has a value in it."""
    return {header: column} if any(row[column] for row in rows) else {}


def _coverage(rows: list[dict[str, Any]]) -> ShownTable:
    """Return a row for each kind of kernel with the share of each location."""
    locations = list(dict.fromkeys(row["location"] for row in rows))
    share = {(row["kind"], row["location"]): row["share"] for row in rows}
    shares = (ShownColumn(location, "share") for location in locations)
    return ShownTable(
        (ShownColumn("kind", "text"), ShownColumn("kernel time", "time"), *shares),
        tuple(
            (
                kind,
                sum(row["kernel_duration_ns"] for row in rows if row["kind"] == kind),
                *(share[kind, location] for location in locations),
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
        "module": ("text", lambda row: "/".join(filter(None, (row["parent_module"], row["module"])))),
        "std": "own_stddev_ns",
        "mean": "own_mean_ns",
        "slowest / mean": "own_max_to_mean",
        "slowest": "own_max_ns",
        "fastest": "own_min_ns",
        "ranks": "rank_count",
        "slowest rank": ("text", lambda row: _rank(row, "own_max")),
        "fastest rank": ("text", lambda row: _rank(row, "own_min")),
    }
    return facts, [
        table_of("across.module", modules[:top], columns),
        said(f"own kernel time of {several(facts['modules'], 'module')}; {several(facts['ranks'], 'rank')}"),
    ]


def _rank(row: Mapping[str, Any], extreme: str) -> str:
    rank_id, profile = row[f"{extreme}_rank_id"], row[f"{extreme}_profile"]
    return str(profile) if rank_id is None else str(rank_id)
