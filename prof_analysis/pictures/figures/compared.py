"""The picture of a comparison: the modules of base and new run together, the colour by how much each has changed."""

from collections.abc import Iterable, Sequence

from prof_analysis.analyses.words import change, duration, percent
from prof_analysis.pictures.figures.icicle import Colouring, icicle
from prof_analysis.pictures.figures.style import DIVERGING, UNKNOWN, OfflineFigure, colour_at, legend_of
from prof_analysis.pictures.figures.tree import Row, Sector, all_of, folded, sector_id, summed, tree_of

_UNITS = {"step": "step", "call": "call of the outermost module", "run": "run"}
_OWN = ("base_self_ns", "new_self_ns")
_SQUARES = 5


def compared_root(rows: Iterable[Row]) -> Sector:
    """Return the outermost sector of the modules of both runs, from rows of runs.module_comparison, small ones folded."""
    rows = [
        {
            **row,
            "parent_module": row["parent_module"] or "",
            "module": row["module"] if row["match_id"] is not None else f"({row['module']})",
            "both_ns": round(row["base_self_ns"]) + round(row["new_self_ns"]),
        }
        for row in rows
    ]
    runs = list(dict.fromkeys(row["run"] for row in rows))
    root = Sector("all", "all kernels", "", 0)
    for run in runs:
        of_run = Sector(sector_id(run, "", False), str(run), "", 0, root) if len(runs) > 1 else root
        tree_of(of_run, [row for row in rows if row["run"] == run], "both_ns", run, _OWN)
        if of_run is not root:
            root.inside.append(of_run)
    return folded(summed(root))


def compared_modules(root: Sector, depth: int | None = None) -> OfflineFigure:
    """Return an icicle of modules, from the sectors of compared_root().

    The width is the time in the base and in the new run together, so that what only one of them has is there too; the colour
    is the difference with all modules inside, blue where the new run is shorter and orange where it is longer. Times are means
    over steps, or what `unit` says.
    """
    rows = [one.row for one in all_of(root) if one.row]
    shown = {
        "difference": lambda one: change(_difference(one)),
        "base": lambda one: duration(_totals(one)[0]),
        "new": lambda one: duration(_totals(one)[1]),
        "new / base": lambda one: percent(one.row.get("total_ratio")),
        "own in base": lambda one: duration(one.row.get("base_self_ns")),
        "own in new": lambda one: duration(one.row.get("new_self_ns")),
        "own difference": _own_difference,
        "calls": lambda one: f"{one.row['base_calls']:,.4g} to {one.row['new_calls']:,.4g}" if one.row else "-",
    }
    base, new = _totals(root)
    units = _UNITS.get(str(rows[0]["unit"]), "step") if rows else "step"
    of_each = (
        "" if len({row["run"] for row in rows}) > 1 else f": base {duration(base)}, new {duration(new)}, {change(new - base)}"
    )
    return icicle(
        root, "Kernel time by module, compared", f"per {units}{of_each}", shown, (_by_difference, _by_own_difference), depth
    )


def _totals(one: Sector) -> tuple[float, float]:
    """Return the time in base and new run with all modules inside: of a module that of its row, else the sum."""
    if one.row and one.row["match_id"] is not None:
        return one.row["base_total_ns"], one.row["new_total_ns"]
    return one.sums.get("base_self_ns", 0), one.sums.get("new_self_ns", 0)


def _difference(one: Sector) -> float:
    base, new = _totals(one)
    return new - base


def _own_difference(one: Sector) -> str:
    """Return by how much the time of the module itself changed, and whether that may be chance."""
    if not one.row:
        return "-"
    noise = {True: ", may be noise", False: ", more than noise", None: ""}[one.row["is_noise"]]
    return f"{change(one.row['self_difference_ns'])}{noise}"


def _by_difference(sectors: Sequence[Sector]) -> Colouring:
    """Return colours by the difference with all modules inside."""
    return _by("difference", [_difference(one) for one in sectors])


def _by_own_difference(sectors: Sequence[Sector]) -> Colouring:
    """Return colours by the difference of the modules themselves, which shows those deep inside."""
    own = [one.row["self_difference_ns"] if one.row.get("match_id") is not None else None for one in sectors]
    return _by("own difference", own)


def _by(name: str, differences: Sequence[float | None]) -> Colouring:
    """Return colours of differences, with none in the middle; the outermost sector has no colour, so it is no measure."""
    most = max((abs(value) for value in differences[1:] if value is not None), default=0) or 1
    places = [place / (_SQUARES - 1) for place in range(_SQUARES)]
    legend = legend_of([(colour_at(place, DIVERGING), change((place * 2 - 1) * most)) for place in places])
    colours = [UNKNOWN if value is None else colour_at(value / most / 2 + 0.5, DIVERGING) for value in differences]
    return Colouring(name, colours, legend)
