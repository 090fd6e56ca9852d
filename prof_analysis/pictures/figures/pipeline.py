"""The picture of a pipeline: forward and backward passes of a step over time, a row for each rank in the order of stages."""

from collections.abc import Iterable, Mapping
from typing import Any

from prof_analysis.analyses.words import duration, rank_name, several
from prof_analysis.pictures.figures.style import BLUE, GREY, ORANGE, PURPLE, SKY, OfflineFigure, framed, label, pattern
from prof_analysis.pictures.figures.tree import Row

_MOST_RANKS = 64
# Kind of pass -> its name in the legend, colour and pattern.
_KINDS = {
    "forward": ("forward", BLUE, ""),
    "backward": ("backward", ORANGE, ""),
    "both": ("forward and backward", PURPLE, "/"),
    "weights": ("gradients of weights", SKY, "\\"),
    "p2p": ("send or receive", GREY, "."),
}


def pipeline(passes: Iterable[Row], p2p: Iterable[Row] = (), step_id: int | None = None) -> OfflineFigure:
    """Return passes over time, from rows of pipeline.pass of one step and rows of communication.p2p in it.

    Time is that of each rank's own clock, from the first pass of all; where the ranks do not overlap by their clocks, from the
    first pass of each. Of more than 64 ranks the first are drawn.
    """
    known = [row for row in passes if row["start_ns"] is not None]
    ranks = sorted({_rank(row) for row in known}, key=lambda rank: places[rank]) if (places := _places(known)) else []
    begins = {rank: min(row["start_ns"] for row in known if _rank(row) == rank) for rank in ranks}
    ends = {rank: max(row["end_ns"] for row in known if _rank(row) == rank) for rank in ranks}
    are_together = not ranks or max(begins.values()) <= min(ends.values())
    origin = dict.fromkeys(ranks, min(begins.values())) if are_together and ranks else begins
    shown = ranks[:_MOST_RANKS]
    named = {_rank(row): _name(row) for row in known}
    figure = OfflineFigure()
    bars = [
        *({**row, "kind": "p2p", "duration_ns": row["elapse_ns"]} for row in p2p if row["start_ns"] is not None),
        *known,
    ]
    for kind in ("p2p", *(kind for kind in _KINDS if kind != "p2p")):
        title, colour, shape = _KINDS[kind]
        rows = [row for row in bars if row["kind"] == kind and _rank(row) in shown]
        if not rows:
            continue
        since = [row["start_ns"] - origin[_rank(row)] for row in rows]
        figure.add_bar(
            name=title,
            orientation="h",
            y=[shown.index(_rank(row)) for row in rows],
            base=[one / 1e6 for one in since],
            x=[row["duration_ns"] / 1e6 for row in rows],
            text=["" if row.get("micro_batch") is None else str(row["micro_batch"]) for row in rows],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            customdata=[
                [one, row["duration_ns"], named[_rank(row)], _about(row), duration(row["duration_ns"])]
                for one, row in zip(since, rows, strict=True)
            ],
            hovertemplate="%{customdata[2]}<br><b>%{customdata[3]}</b><br>%{customdata[4]}<extra></extra>",
            marker={"color": colour, "line": {"width": 0.5, "color": "rgba(255,255,255,0.6)"}, "pattern": pattern(shape)},
            width=0.8 if kind != "p2p" else 0.4,
        )
    notes = [
        f"step {step_id}" if step_id is not None else "",
        several(len(shown), "rank") + (f" of {len(ranks)}" if len(shown) < len(ranks) else ""),
        "numbers are micro-batches",
        "" if are_together else "each rank from its own first pass, since their clocks differ",
    ]
    framed(figure, "Passes of micro-batches", "; ".join(filter(None, notes)), 170 + 34 * max(len(shown), 2))
    return figure.update_layout(
        barmode="overlay",
        xaxis={"title": {"text": "ms"}},
        yaxis={
            "tickvals": list(range(len(shown))),
            "ticktext": [named[rank] for rank in shown],
            "autorange": "reversed",
            "showgrid": False,
        },
    )


def _rank(row: Row) -> tuple[Any, Any]:
    return row.get("run"), row["profile"]


def _places(rows: Iterable[Row]) -> Mapping[tuple[Any, Any], tuple[Any, ...]]:
    """Return the place of each rank: by run, stage, rank and folder."""
    last = 2**62
    return {
        _rank(row): (
            row.get("run") or "",
            last if row["pipeline_stage"] is None else row["pipeline_stage"],
            last if row["rank_id"] is None else row["rank_id"],
            row["profile"],
        )
        for row in rows
    }


def _name(row: Row) -> str:
    stage = "" if row["pipeline_stage"] is None else f"stage {row['pipeline_stage']}, "
    run = f"{row['run']}, " if row.get("run") else ""
    return label(f"{run}{stage}rank {rank_name(row)}")


def _about(row: Row) -> str:
    """Return the meaning of a bar."""
    if row["kind"] == "p2p":
        return label(f"{row['direction']}: {row['name'] or 'unnamed'}")
    number = "" if row["micro_batch"] is None else f" of micro-batch {row['micro_batch']}"
    return f"{_KINDS[row['kind']][0]}{number}"
