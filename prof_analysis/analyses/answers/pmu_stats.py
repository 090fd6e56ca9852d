"""The analysis `pmu-stats`: what bounds the kernels: computing, memory or neither?"""

from collections.abc import Mapping
from functools import partial
from operator import itemgetter
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import COUNTERS, WHY, Analysis, Extra, Rows
from prof_analysis.analyses.answer import Block, Facts, ShownTable, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.schema import Schema
from prof_analysis.analyses.tree import PATH, as_tree
from prof_analysis.analyses.words import duration, percent, several
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

# Ratio -> its header.
_RATIOS = {
    "aic_mac": "mac",
    "aic_scalar": "aic scalar",
    "aic_mte1": "mte1",
    "aic_mte2": "aic mte2",
    "aic_fixpipe": "fixpipe",
    "aiv_vec": "vec",
    "aiv_scalar": "aiv scalar",
    "aiv_mte2": "aiv mte2",
    "aiv_mte3": "mte3",
}
_RATIO_COLUMNS = tuple(f"{ratio}_ratio" for ratio in _RATIOS)
# What bounds a kernel -> the column with the time of the kernels that it bounds.
_BOUNDS = {bound: f"{bound.replace(' ', '_')}_ns" for bound in ("compute", "memory", "on chip", "scalar", "wait")}
# How a launch fills the device -> its header.
_LAUNCH = {
    "occupancy": "occupancy",
    "few_blocks_ns": "too few blocks",
    "blocks_per_sm": "blocks per SM",
    "warps_per_sm": "warps per SM",
    "registers_per_thread": "registers",
    "shared_memory_bytes": "shared memory",
}
# Kind of cores -> the header of how many of the kernels that run on them were counted there.
_COUNTED = {"aic": "cube counted", "aiv": "vector counted"}
_COUNTS = tuple(f"{core}_{one}" for core in _COUNTED for one in ("kernel_count", "uncounted_count", "uncounted_ns"))
_TIMES = (
    *("duration_ns", "known_duration_ns", "known_share", *_BOUNDS.values(), "unbound_ns"),
    *("occupancy_duration_ns", *_LAUNCH, *_COUNTS),
)

ANALYSIS = Analysis(
    "pmu-stats",
    "What bounds the kernels: computing, memory or neither?\n\n"
    "Shows hardware counters: how busy the pipes of the cores were, how often caches were hit.",
    "kernels with hardware counters",
    {
        "pmu.kernel_type": "PmuKernelType",
        "pmu.op": "PmuOp",
        "pmu.module": "PmuModule",
        "pmu.metric": "PmuMetric",
        "across.pmu": "PmuAllRanks",
    },
    section="kernels",
    captions=("What bounds each type of kernels",),
    requires=COUNTERS,
    options=(INPUT, MODULES, MACHINE),
    only_written=("pmu.metric",),
    also=("module.chosen_domain",),
    extras={"by sample": Extra(("samples",), {"pmu.sample": "PmuSample"})},
    rows={
        "kernel_type": Rows("pmu.kernel_type"),
        "op": Rows("pmu.op"),
        "module": Rows("pmu.module", requires=("modules", "kernels")),
        "metric": Rows("pmu.metric", is_listed=True),
        "sample": Rows("pmu.sample", requires=("samples",), extra="by sample", is_listed=True),
    },
    place=7,
    heading=WHY,
    examples={"What bounds each module": "result --by module"},
    returns="""Return hardware counters (PMU) of kernels: how busy the pipes of the cores were, and what bounds the kernels.

    Ratios are means weighted by time, 0 to 1, and NULL where the set of counters lacks them. With by="metric" a row is
    a kernel type and one counter, of any set; with by="sample" a metric of the device that was sampled over time.
    Raises InputError when no rank holds hardware counters, or with by="module" no modules.
    """,
    keys=lambda: schema.by_level(
        schema.answer(
            heaviest=schema.rows("kernel types, ops or modules with most kernel time"),
            all=schema.one("all kernels", schema.row("across.pmu", *_TIMES)),
        ),
        "heaviest",
        {
            "kernel_type": schema.row("across.pmu", "type", "core", "kind", *_TIMES, *_RATIO_COLUMNS),
            "op": schema.row(
                "across.pmu", "type", "core", *_TIMES, *_RATIO_COLUMNS, op=schema.columns_of("across.pmu")["op_name"]
            ),
            "module": row_of_module(),
        },
    ),
)

# Level -> the labels of its rows, each with its SQL.
_LABELS = {
    "kernel_type": {"type": "type", "core": "core", "kind": "kind"},
    "op": {"op": "op_name", "type": "type", "core": "core"},
    "module": {"module": PATH},
}
# What is known of a type of kernels, and does not tell rows apart that people look at.
_KINDS = ("core", "kind")


def pmu_stats(profile: Tables, top: int, by: str = "kernel_type") -> tuple[Facts, list[Block]]:
    """Return the counters of the heaviest kernel types, ops or modules, and what bounds all kernels, over all ranks."""
    (whole,) = profile.rows(f"SELECT {', '.join(_TIMES)} FROM across.pmu WHERE level = 'all'") or [dict.fromkeys(_TIMES)]
    heaviest = heaviest_of_level(profile, by, top)
    facts: Facts = {**size_of(profile, f"pmu.{by}"), "level": by, "heaviest": heaviest, "all": whole}
    lines = []
    if any(whole[time] for time in _BOUNDS.values()) or whole["blocks_per_sm"] is None:
        bounds = ", ".join(f"{bound} {percent(_part_of_known(whole, bound))}" for bound in _BOUNDS)
        lines.append(f"what bounds the time with counters: {bounds}")
        if whole["unbound_ns"]:
            lines[-1] += f", and {duration(whole['unbound_ns'])} more for which it is not known"
    if whole["blocks_per_sm"] is not None:
        lines.append(
            f"mean occupancy {percent(whole['occupancy'])}, known for {percent(_share_of_occupancy(whole))} of the kernel time"
            f"; {percent(_share_of_few_blocks(whole))} of the time in kernels with fewer blocks than SMs"
        )
    lines[-1] += f"; {percent(whole['known_share'])} of the kernel time has counters; {several(facts['ranks'], 'rank')}"
    lines += [_uncounted(whole, core) for core in _COUNTED if whole[f"{core}_uncounted_count"]]
    return facts, [table_of_level(by, heaviest), said(*lines)]


def heaviest_of_level(profile: Tables, level: str, top: int) -> list[dict[str, Any]]:
    """Return the heaviest rows of a level over all ranks, labels first."""
    labels = ", ".join(f"{made} AS {label}" for label, made in _LABELS[level].items())
    rows: list[dict[str, Any]] = profile.rows(
        f"SELECT {labels}, {', '.join((*_TIMES, *_RATIO_COLUMNS))} FROM across.pmu WHERE level = '{level}' "
        f"ORDER BY duration_ns DESC, {', '.join(_LABELS[level])} LIMIT {top:d}"
    )
    return rows


def table_of_level(level: str, rows: list[dict[str, Any]]) -> ShownTable:
    """Return the rows as a table, with the ratios that at least one row has."""
    # GPUs record no cores.
    labels = [label for label in _LABELS[level] if rows and (label != "core" or any(row["core"] is not None for row in rows))]
    has_launches = any(row["blocks_per_sm"] is not None for row in rows)
    bounds: dict[str, Source] = {
        "bound": ("text", _bound),
        **{bound: ("share", partial(_part, bound=bound)) for bound in _BOUNDS},
    }
    launches: dict[str, Source] = {
        **{header: name for name, header in _LAUNCH.items()},
        "too few blocks": ("share", _share_of_few_blocks),
    }
    names: dict[str, Source] = {
        label: ("tree", itemgetter("line")) if label == "module" else ("text", itemgetter(label)) for label in labels
    }
    kinds = {label: names.pop(label) for label in _KINDS if label in names}
    columns: dict[str, Source] = {
        **names,
        "kernel time": "duration_ns",
        **(bounds if not has_launches or any(map(_bound, rows)) else {}),
        **(launches if has_launches else {}),
        "with counters": "known_share",
        **{
            header: f"{ratio}_ratio"
            for ratio, header in _RATIOS.items()
            if any(row[f"{ratio}_ratio"] is not None for row in rows)
        },
        **{
            header: ("text", partial(_counted, core=core))
            for core, header in _COUNTED.items()
            if any(row[f"{core}_uncounted_count"] for row in rows)
        },
        **kinds,
    }
    return table_of("across.pmu", as_tree(rows) if level == "module" else rows, columns)


def _bound(row: Mapping[str, Any]) -> str | None:
    return max(_BOUNDS, key=lambda one: row[_BOUNDS[one]]) if 0 < _known_ns(row) >= (row["unbound_ns"] or 0) else None


def _known_ns(row: Mapping[str, Any]) -> int:
    return sum(row[time] or 0 for time in _BOUNDS.values())


def _part(row: Mapping[str, Any], bound: str) -> float | None:
    """Return the share that one bound has of the time with a known bound; None where that is less than half."""
    return _part_of_known(row, bound) if _bound(row) else None


def _part_of_known(row: Mapping[str, Any], bound: str) -> float | None:
    return row[_BOUNDS[bound]] / known_ns if (known_ns := _known_ns(row)) else None


def _counted(row: Mapping[str, Any], core: str) -> str | None:
    """Return how many of the kernels that run on a kind of cores were counted there, as in 2 of 80."""
    counted, uncounted = row[f"{core}_kernel_count"], row[f"{core}_uncounted_count"]
    return f"{counted} of {counted + uncounted}" if counted or uncounted else None


def _uncounted(whole: Mapping[str, Any], core: str) -> str:
    kind = {"aic": "cube", "aiv": "vector"}[core]
    uncounted, time = several(whole[f"{core}_uncounted_count"], "kernel"), duration(whole[f"{core}_uncounted_ns"])
    return (
        f"{kind} cores: not counted for {uncounted} of both kinds of cores ({time}), as in captured graphs: "
        f"{kind} shares are those of the others, and a dash where these are less than half"
    )


def _share_of_few_blocks(row: Mapping[str, Any]) -> float | None:
    """Return the share of the time with counters in kernels that leave some SMs without work."""
    return row["few_blocks_ns"] / row["known_duration_ns"] if row["known_duration_ns"] else None


def _share_of_occupancy(row: Mapping[str, Any]) -> float | None:
    return row["occupancy_duration_ns"] / row["duration_ns"] if row["duration_ns"] else None


def row_of_module() -> Schema:
    """Return the schema of a row of counters of a module."""
    return schema.row("across.pmu", *_TIMES, *_RATIO_COLUMNS, module=schema.MODULE)
