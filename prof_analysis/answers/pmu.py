"""The answer of `pmu-stats`: how busy the pipes of the cores were, and what bounds the kernels."""

from collections.abc import Mapping
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from prof_analysis.answers.answer import Block, Facts, ShownTable, Source, said, size_of, table_of
from prof_analysis.answers.tree import PATH, as_tree
from prof_analysis.answers.words import percent, several

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

# Level -> the labels of its rows, each with its SQL.
_LABELS = {
    "kernel_type": {"type": "type", "core": "core", "kind": "kind"},
    "op": {"op": "op_name", "type": "type", "core": "core"},
    "module": {"module": PATH},
}
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
# What bounds a kernel -> the column with the time of the kernels that it bounds.
_BOUNDS = {bound: f"{bound.replace(' ', '_')}_ns" for bound in ("compute", "memory", "on chip", "scalar", "wait")}
_TIMES = ("duration_ns", "known_duration_ns", "known_share", *_BOUNDS.values())


def pmu_stats(profile: "Profile", top: int, level: str = "kernel_type") -> tuple[Facts, list[Block]]:
    """Return the counters of the heaviest kernel types, ops or modules, and what bounds all kernels, over all ranks."""
    (whole,) = profile.rows(f"SELECT {', '.join(_TIMES)} FROM across.pmu WHERE level = 'all'") or [dict.fromkeys(_TIMES)]
    heaviest = heaviest_of_level(profile, level, top)
    facts: Facts = {**size_of(profile, f"pmu.{level}"), "level": level, "heaviest": heaviest, "all": whole}
    bounds = ", ".join(f"{bound} {percent(_part(whole, bound))}" for bound in _BOUNDS)
    line = f"what bounds the time with counters: {bounds}; {percent(whole['known_share'])} of the kernel time has counters"
    return facts, [table_of_level(level, heaviest), said(f"{line}; {several(facts['ranks'], 'rank')}")]


def heaviest_of_level(profile: "Profile", level: str, top: int) -> list[dict[str, Any]]:
    """Return the heaviest rows of a level over all ranks, labels first."""
    labels = ", ".join(f"{made} AS {label}" for label, made in _LABELS[level].items())
    ratios = ", ".join(f"{ratio}_ratio" for ratio in _RATIOS)
    rows: list[dict[str, Any]] = profile.rows(
        f"SELECT {labels}, {', '.join(_TIMES)}, {ratios} FROM across.pmu WHERE level = '{level}' "
        f"ORDER BY duration_ns DESC, {', '.join(_LABELS[level])} LIMIT {top:d}"
    )
    return rows


def table_of_level(level: str, rows: list[dict[str, Any]]) -> ShownTable:
    """Return the rows as a table, with the ratios that at least one row has."""
    labels = _LABELS[level] if rows else ()
    columns: dict[str, Source] = {
        **{label: ("text", itemgetter("line" if label == "module" else label)) for label in labels},
        "kernel time": "duration_ns",
        "bound": ("text", _bound),
        **{bound: ("share", partial(_part, bound=bound)) for bound in _BOUNDS},
        "with counters": "known_share",
        **{
            header: f"{ratio}_ratio"
            for ratio, header in _RATIOS.items()
            if any(row[f"{ratio}_ratio"] is not None for row in rows)
        },
    }
    return table_of("across.pmu", as_tree(rows) if level == "module" else rows, columns)


def _bound(row: Mapping[str, Any]) -> str | None:
    return max(_BOUNDS, key=lambda one: row[_BOUNDS[one]]) if any(row[time] for time in _BOUNDS.values()) else None


def _part(row: Mapping[str, Any], bound: str) -> float | None:
    """Return the share that one bound has of the time with a known bound."""
    known_ns = sum(row[time] or 0 for time in _BOUNDS.values())
    return row[_BOUNDS[bound]] / known_ns if known_ns else None
