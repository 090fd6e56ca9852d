"""The analysis `module-stats`: which modules cost the time, by which ops and kernels?"""

from collections.abc import Mapping
from operator import itemgetter
from typing import Annotated, Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import COUNTERS, STACKS, TIMELINE, Analysis, Extra, Rows, flame
from prof_analysis.analyses.answer import Block, Facts, ShownColumn, ShownTable, Source, said, size_of, table_of
from prof_analysis.analyses.answers import pmu_stats as counters
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.tree import PATH, as_tree, paths_of
from prof_analysis.analyses.words import several, source_line_of
from prof_analysis.common.errors import InputError
from prof_analysis.common.option_docs import ANSWER, INPUT, MACHINE, MODULES, Doc
from prof_analysis.engine.quotes import quote_text

ANALYSIS = Analysis(
    "module-stats",
    "Which modules cost the time, by which ops and kernels?\n\n"
    "Shows the modules as a tree with the compute time inside each and of its own, the ops and kernels that cost "
    "them most, and how much of all kernel time modules explain.",
    "modules",
    {"module.statistic": "ModuleStatistic", "module.tree": "ModuleTree", "module.coverage": "ModuleCoverage"},
    section="modules",
    requires=("modules", "kernels"),
    options=(INPUT, MODULES, MACHINE),
    # Of the first tables only the warnings are shown.
    also=(
        "module.chosen_domain",
        "module.replayed",
        "module.lost_launch",
        "module.lost_backward",
        "module.crossing_time",
        "module.doubted_time",
        "across.module_time",
        "across.module_cost",
        "across.coverage",
    ),
    of_several_ranks={"across.module": "ModuleAcrossRanks"},
    extras={
        "pmu": Extra(COUNTERS, {"pmu.module": "PmuModule"}, also=("across.pmu",)),
        "source-line": Extra(
            STACKS, {"stack.by_module": "ModuleSourceLine", "across.module_source_line": "ModuleSourceLineAllRanks"}
        ),
        "by phase": Extra((), {"module.by_phase": "ModuleByPhase"}, ("across.module_by_phase",)),
    },
    pictures={**flame("flame.module", "ModuleFlame"), **TIMELINE},
    counted="module.tree",
    rows={
        "op": Rows("module.statistic", "across.module"),
        "source_line": Rows("stack.by_module", "across.module_source_line", requires=STACKS, extra="source-line"),
        "counter": Rows("pmu.module", requires=COUNTERS, extra="pmu"),
        "rank": Rows("across.module"),
        "phase": Rows("module.by_phase", "across.module_by_phase", extra="by phase", is_listed=True),
    },
    place=0,
    examples={
        "Look inside one module": "result --module Qwen2Attention",
        "Each layer by itself": "result --instances --top 30",
    },
    returns="""Return kernel time by module and op, merged over layers, steps and micro-batches, as msprof-analyze does.

    Rows of a rank are in the order of execution. With by="source_line" a row is an op in a module and the line of user code
    that called it, with across_ranks of all ranks together. With by="counter" a row is a module with its hardware counters.
    With by="rank" a row compares a module over the ranks that have it, and the modules that differ most come first.
    Raises InputError when no rank holds module ranges.
    """,
    keys=lambda: {
        "anyOf": [
            schema.answer(
                "counters",
                heaviest_modules=schema.rows(
                    "modules with most kernel time of their own", schema.of_module("across.module_time")
                ),
                heaviest_costs=schema.rows(
                    "what costs them: ops with their kernels; with --by source-line, with the lines that called them",
                    schema.of_module("across.module_cost"),
                    schema.of_module("across.module_source_line"),
                ),
                coverage=schema.rows("where all kernel time is", "across.coverage"),
                counters=schema.rows("with --by counter: the hardware counters of modules", counters.row_of_module()),
            ),
            schema.fields(
                ranks=schema.SIZE["ranks"],
                modules=schema.count("modules"),
                most_different_modules=schema.rows("with --by rank: modules that differ most", "across.module"),
            ),
        ]
    },
)
Module = Annotated[
    str | None, Doc("Show only this module and the modules inside it.", ANSWER, spelled="Layer/Linear", value="NAME")
]

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


def module_stats(profile: Tables, top: int, by: str = "op", *, module: Module = None) -> tuple[Facts, list[Block]]:
    """Return the heaviest modules, their costs and the coverage; by counter also counters; by rank differences between ranks.

    `module` names a module, perhaps with modules around it, as in Layer/Linear: then only such modules, and those inside them.
    With by="source_line", what costs them are ops and the lines of user code that called them.
    Raises InputError without one.
    """
    if by == "rank":
        return _across_ranks(profile, top)
    facts, blocks = _modules(profile, top, module, by)
    if by != "counter":
        return facts, blocks
    heaviest = counters.heaviest_of_level(profile, "module", top)
    return {**facts, "counters": heaviest}, [counters.table_of_level("module", heaviest), *blocks]


def _modules(profile: Tables, top: int, module: str | None, by: str) -> tuple[Facts, list[Block]]:
    """Return the modules with most kernel time of their own, the ops and kernels that cost it, and the coverage."""
    chosen = "true" if module is None else f"contains('/' || {PATH} || '/', {quote_text(f'/{module}/')})"
    row = f"{PATH} AS module, * EXCLUDE (parent_module, module)"
    heaviest = profile.rows(f"SELECT {row} FROM across.module_time WHERE {chosen} AND own_kernel_duration_ns > 0 LIMIT {top:d}")
    if module is not None and not heaviest and not profile.rows(f"SELECT 1 FROM across.module_time WHERE {chosen} LIMIT 1"):
        raise InputError(f"there is no module {module}; without --module, module-stats shows which there are")
    in_tree = ", ".join(quote_text(path) for path in paths_of(heaviest)) or "NULL"
    known = profile.rows(f"SELECT {row} FROM across.module_time WHERE {PATH} IN ({in_tree})")
    of_costs = "across.module_source_line" if by == "source_line" else "across.module_cost"
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


def _across_ranks(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
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
