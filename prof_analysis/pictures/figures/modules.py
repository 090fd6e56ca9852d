"""The picture of the modules of a profile: the width of each is its compute time, with all modules inside it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from prof_analysis.analyses.words import count, duration, percent, several
from prof_analysis.pictures.figures.icicle import Colouring, icicle
from prof_analysis.pictures.figures.style import (
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SEQUENTIAL,
    SKY,
    UNKNOWN,
    OfflineFigure,
    colour_at,
    legend_of,
)
from prof_analysis.pictures.figures.tree import Row, Sector, folded, sector_id, summed, tree_of

# What bounds kernels -> its colour, and a pattern for those who do not see the colour.
_BOUNDS = {
    "compute": (GREEN, ""),
    "memory": (ORANGE, "/"),
    "on chip": (SKY, "\\"),
    "scalar": (PURPLE, "x"),
    "wait": (GREY, "."),
}
_SQUARES = 5
# Which kernels the picture counts. Communication runs beside compute: both in one picture hide what computes.
Kernels = Literal["compute", "all"]
# Which kernels -> their time directly in a module, and outside of modules, by its column.
_OWN: Mapping[Kernels, str] = {"compute": "own_computing_ns", "all": "own_kernel_duration_ns"}
_OUTSIDE: Mapping[Kernels, str] = {"compute": "computing_ns", "all": "kernel_duration_ns"}
_NAMES: Mapping[Kernels, str] = {"compute": "all compute", "all": "all kernels"}


def modules(root: Sector, ranks: int, steps: int | None = None, depth: int | None = None) -> OfflineFigure:
    """Return an icicle of modules, from the sectors of root_of().

    `steps` is the number of steps of all ranks. `depth` is how many levels are drawn at once; a click zooms into those below.
    """
    whole = root.total
    counts_all = root.name == _NAMES["all"]
    time = "kernel time" if counts_all else "compute time"
    shown = {
        time: lambda one: duration(one.total),
        "of it own": lambda one: duration(one.own),
        f"share of all {time}": lambda one: percent(one.total / whole if whole else None),
        "calls": lambda one: count(one.row.get("calls")),
        "communication": lambda one: duration(one.row.get("communication_ns")),
        "computing per step and rank": lambda one: duration(one.row.get("computing_per_step_ns")),
        "efficiency": lambda one: percent(one.row.get("efficiency")),
        "MFU": lambda one: percent(one.row.get("mfu")),
        "bound by": lambda one: one.row.get("bound") or "-",
    }
    per_step = f", {duration(whole / steps)} per step and rank" if steps else ""
    note = f"{duration(whole)} in all, {several(ranks, 'rank')}{per_step}"
    return icicle(root, f"{time.capitalize()} by module", note, shown, (_by_own, _by_efficiency, _by_bound), depth)


def root_of(rows: Iterable[Row], outside: Iterable[Row], kernels: Kernels = "compute") -> Sector:
    """Return the outermost sector of modules, with the time of kernels outside of all modules beside them, small ones folded.

    `kernels` says which of them count; where none computes, all do.

    `rows` are modules as in across.module_time, with `efficiency`, `mfu` and `bound` where they are known; `outside` has the
    kernel time of each `location` outside of modules.
    """
    rows, outside = list(rows), list(outside)
    own, beside = _OWN[kernels], _OUTSIDE[kernels]
    if kernels == "compute" and not any([*(row[own] for row in rows), *(row[beside] for row in outside)]):
        return root_of(rows, outside, "all")
    root = Sector("all", _NAMES[kernels], "", 0)
    for run in dict.fromkeys(row.get("run") for row in (*rows, *outside)):
        of_run = Sector(sector_id(run, "", False), str(run), "", 0, root) if run is not None else root
        tree_of(of_run, [row for row in rows if row.get("run") == run], own, run)
        of_run.inside += [_outside(row, row[beside], of_run) for row in outside if row.get("run") == run and row[beside]]
        if of_run is not root:
            root.inside.append(of_run)
    return folded(summed(root))


def _outside(row: Row, time: int, around: Sector) -> Sector:
    """Return the sector of the kernels at a location outside of modules."""
    location = row["location"]
    return Sector(f"{around.id}-{location.replace(' ', '-')}", f"({location})", location, time, around)


def _by_own(sectors: Sequence[Sector]) -> Colouring:
    """Return colours by the kernel time of the module itself; time in no module has no colour."""
    most = max((one.own for one in sectors if one.row), default=0) or 1
    return Colouring(
        "own time",
        [colour_at(one.own / most, SEQUENTIAL) if one.row else UNKNOWN for one in sectors],
        f"own time: {_scale(duration, most)}",
    )


def _by_efficiency(sectors: Sequence[Sector]) -> Colouring | None:
    """Return colours by the efficiency of matrix products; None where it is known of no module."""
    known = [value for one in sectors if (value := one.row.get("efficiency")) is not None]
    if not known:
        return None
    most = max(known) or 1.0
    colours = [
        UNKNOWN if (value := one.row.get("efficiency")) is None else colour_at(value / most, SEQUENTIAL) for one in sectors
    ]
    legend = f"efficiency of matrix products: {_scale(percent, most)}   {legend_of([(UNKNOWN, 'not known')])}"
    return Colouring("MFU", colours, legend)


def _by_bound(sectors: Sequence[Sector]) -> Colouring | None:
    """Return colours by what bounds most of the time; None without counters."""
    found = [one.row.get("bound") for one in sectors]
    if not any(found):
        return None
    looks: Mapping[Any, tuple[str, str]] = _BOUNDS
    unknown = (UNKNOWN, "")
    meanings = [(looks.get(one, unknown)[0], str(one or "not known")) for one in (*_BOUNDS, None) if one in found]
    return Colouring(
        "bound",
        [looks.get(one, unknown)[0] for one in found],
        f"bound by: {legend_of(meanings)}",
        [looks.get(one, unknown)[1] for one in found],
    )


def _scale(text: Any, most: float) -> str:
    """Return the legend of a scale from 0 to `most`."""
    places = [place / (_SQUARES - 1) for place in range(_SQUARES)]
    return legend_of([(colour_at(place, SEQUENTIAL), text(place * most)) for place in places])
