"""The picture of steps: the time of each step of each rank in parts that add up."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from prof_analysis.analyses.words import duration, percent, several
from prof_analysis.pictures.figures import style
from prof_analysis.pictures.figures.tree import Row

_MOST_BARS = 400
_MOST_TICKS = 12
_MOST_NAMED_BARS = 8
# The part of a step, from its row -> colour and pattern.
_PARTS: dict[str, tuple[Any, str, str]] = {
    "computing alone": (lambda row: _less(row["computing_ns"], row["overlapped_ns"]), style.BLUE, ""),
    "computing and communication": (lambda row: row["overlapped_ns"], style.GREEN, "/"),
    "communication alone (exposed)": (lambda row: row["communication_not_overlapped_ns"], style.VERMILION, "x"),
    "copying alone": (lambda row: row["copying_not_overlapped_ns"], style.PURPLE, "\\"),
    "idle": (lambda row: row["free_ns"], style.GREY, "."),
}


def steps(rows: Iterable[Row]) -> style.OfflineFigure:
    """Return stacked bars of the parts of each step of each rank, from rows of step.time.

    Of more than 400 bars, each is the mean of consecutive steps of a rank, and with more ranks than that of ranks in a row.
    """
    of_ranks = [list(of_rank) for _, of_rank in groupby(rows, key=lambda row: (row.get("run"), row["profile"]))]
    bars, note = _bars(of_ranks)
    positions: list[float] = []
    for place, bar in enumerate(bars):  # A gap of a bar separates ranks.
        positions.append(positions[-1] + 1 + (bar["group"] != bars[place - 1]["group"]) if place else 0)
    figure = style.OfflineFigure()
    for name, (part, colour, shape) in _PARTS.items():
        sums = [_sum(part(row) for row in bar["rows"]) for bar in bars]
        if name == "copying alone" and not any(sums):
            continue
        means = [None if one is None else one / len(bar["rows"]) for one, bar in zip(sums, bars, strict=True)]
        figure.add_bar(
            name=name,
            x=positions,
            y=[None if mean is None else mean / 1e6 for mean in means],
            customdata=[
                [one, bar["name"], duration(mean), percent(mean / bar["mean"] if mean is not None and bar["mean"] else None)]
                for one, mean, bar in zip(sums, means, bars, strict=True)
            ],
            hovertemplate=f"%{{customdata[1]}}<br>{name}: %{{customdata[2]}} (%{{customdata[3]}})<extra></extra>",
            marker={"color": colour, "line": {"width": 0}, "pattern": style.pattern(shape)},
        )
    step_count = len({(row.get("run"), row["step_id"]) for rows in of_ranks for row in rows if row["step_id"] is not None})
    size = f"{several(step_count, 'step') if step_count else 'whole profile'} of {several(len(of_ranks), 'rank')}"
    style.framed(figure, "Where the time of steps went", "; ".join(filter(None, (size, note))), 460)
    ticks = _ticks(bars, positions)
    return figure.update_layout(
        barmode="stack",
        bargap=0.12 if len(bars) < 100 else 0,
        xaxis={"tickvals": [place for place, _ in ticks], "ticktext": [text for _, text in ticks], "showgrid": False},
        yaxis={"title": {"text": "ms"}, "rangemode": "tozero"},
    )


def _bars(of_ranks: Sequence[list[Row]]) -> tuple[list[dict[str, Any]], str]:
    """Return the rows of each bar with its name and the rank that it belongs to, and how they were folded."""
    ranks_each = -(-len(of_ranks) // _MOST_BARS)
    most = max(1, _MOST_BARS // max(1, len(of_ranks)))
    bars: list[dict[str, Any]] = []
    steps_each = 1
    for first in range(0, len(of_ranks), ranks_each):
        together = of_ranks[first : first + ranks_each]
        name = _names([style.rank_label(rows[0]) for rows in together], "rank")
        if ranks_each > 1:
            bars.append(_bar([row for rows in together for row in rows], name, "all steps"))
            continue
        (rows,) = together
        each = -(-len(rows) // most)
        steps_each = max(steps_each, each)
        for begin in range(0, len(rows), each):
            chosen = rows[begin : begin + each]
            bars.append(_bar(chosen, name, _names([_step(row) for row in chosen], "step")))
    if ranks_each > 1:
        return bars, f"a bar is the mean of all steps of {several(ranks_each, 'rank')} in a row"
    return bars, f"a bar is the mean of up to {several(steps_each, 'step')} in a row" if steps_each > 1 else ""


def _bar(rows: list[Row], group: str, step: str) -> dict[str, Any]:
    spans = [None if row["stage_ns"] is None else row["stage_ns"] + (row["bubble_ns"] or 0) for row in rows]
    whole = _sum(spans)
    mean = None if whole is None else whole / len(rows)
    return {"rows": rows, "group": group, "step": step, "mean": mean, "name": f"{group}, {step}: {duration(mean)}"}


def _ticks(bars: Sequence[dict[str, Any]], positions: Sequence[float]) -> list[tuple[float, str]]:
    """Return a tick for each bar, or where these are many, for each rank in the middle of its bars, or for some ranks."""
    if len(bars) <= _MOST_NAMED_BARS:
        return [
            (place, f"{bar['step'].removeprefix('step ')}<br>{bar['group']}")
            for bar, place in zip(bars, positions, strict=True)
        ]
    found = []
    for group, of_group in groupby(zip(bars, positions, strict=True), key=lambda pair: pair[0]["group"]):
        places = [place for _, place in of_group]
        found.append(((places[0] + places[-1]) / 2, group))
    return found[:: -(-len(found) // _MOST_TICKS)]


def _names(names: Sequence[str], what: str) -> str:
    first, last = names[0], names[-1]
    if what == "step" and not first.isdigit():
        return first if first == last else f"{first} to {last}"
    return f"{what} {first}" if len(names) == 1 else f"{what}s {first} to {last}"


def _step(row: Row) -> str:
    if row["step_id"] is not None:
        return str(row["step_id"])
    return "no step" if row["stage_ns"] is None else "whole profile"


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _less(one: int | None, other: int | None) -> int | None:
    return None if one is None else one - (other or 0)
