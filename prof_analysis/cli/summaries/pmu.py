"""The summary of hardware counters: how busy the pipes were, and what bounds."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid

from prof_analysis.cli.summaries import module
from prof_analysis.cli.summaries.parts import (
    cells,
    console,
    duration,
    grid_of,
    percent,
    print_statistic,
    rank_count,
    size_of,
)

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

_LABELS = {
    "kernel_type": "kind, type, core",
    "op": "op_name AS op, type, core",
    "module": "if(parent_module = '', module, parent_module || '/' || module) AS module",
}
# Ratio -> its header on the screen.
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
_BOUNDS = ("compute", "memory", "scalar", "wait")
_TIMES = ("duration_ns", "known_duration_ns", "known_share", *(f"{bound}_ns" for bound in _BOUNDS))


def pmu_facts(profile: "Profile", top: int, level: str = "kernel_type") -> dict[str, Any]:
    """The counters of the heaviest kernel types, ops or modules, and what bounds all kernels, over all ranks."""
    whole = profile.rows(f"SELECT {', '.join(_TIMES)} FROM across.pmu WHERE level = 'all'") or [dict.fromkeys(_TIMES)]
    return {
        **size_of(profile, f"pmu.{level}"),
        "level": level,
        "heaviest": _heaviest(profile, level, top),
        "all": whole[0],
    }


def print_pmu_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the counters of the heaviest, what bounds all, and the files."""
    whole = facts["all"]
    bounds = ", ".join(f"{bound} {percent(_part(whole, bound))}" for bound in _BOUNDS)
    line = f"what bounds, of the time with counters: {bounds}; counters of {percent(whole['known_share'])} of the time"
    print_statistic(_grid_of(facts["heaviest"]), [f"{line}; {rank_count(facts)}"], written)


def module_facts(profile: "Profile", top: int) -> dict[str, Any]:
    """What module-stats tells, and the counters of the heaviest modules."""
    return {**module.module_facts(profile, top), "counters": _heaviest(profile, "module", top)}


def print_module_facts(facts: dict[str, Any], written: Iterable[Path]) -> None:
    """Print the counters of the heaviest modules, and what module-stats prints."""
    out = console()
    out.print(_grid_of(facts["counters"]))
    out.print()
    module.print_module_facts(facts, written)


def _heaviest(profile: "Profile", level: str, top: int) -> list[dict[str, Any]]:
    """The heaviest rows of a level over all ranks, with its labels in front."""
    ratios = ", ".join(f"{ratio}_ratio" for ratio in _RATIOS)
    labels = _LABELS[level]
    names = ", ".join(label.rpartition(" AS ")[2] for label in (labels.split(", ") if level != "module" else [labels]))
    rows: list[dict[str, Any]] = profile.rows(
        f"SELECT {labels}, {', '.join(_TIMES)}, {ratios} FROM across.pmu WHERE level = '{level}' "
        f"ORDER BY duration_ns DESC, {names} LIMIT {top:d}"
    )
    return rows


def _grid_of(rows: list[dict[str, Any]]) -> Grid:
    """A row each, with the ratios that any of them has."""
    shown = [ratio for ratio in _RATIOS if any(row[f"{ratio}_ratio"] is not None for row in rows)]
    labels = list(rows[0])[: list(rows[0]).index("duration_ns")] if rows else []
    grid = grid_of(
        "kernel time", "counted", *(_RATIOS[ratio] for ratio in shown), *_BOUNDS, "bound", *labels, left=1 + len(labels)
    )
    for row in rows:
        bound = max(_BOUNDS, key=lambda one: row[f"{one}_ns"]) if any(row[f"{one}_ns"] for one in _BOUNDS) else None
        grid.add_row(
            duration(row["duration_ns"]),
            percent(row["known_share"]),
            *(percent(row[f"{ratio}_ratio"]) for ratio in shown),
            *(percent(_part(row, one)) for one in _BOUNDS),
            *cells(bound, *(row[label] for label in labels)),
        )
    return grid


def _part(row: dict[str, Any], bound: str) -> float | None:
    """The part of the time of which it is known what bounds."""
    known = sum(row[f"{one}_ns"] or 0 for one in _BOUNDS)
    return row[f"{bound}_ns"] / known if known else None
