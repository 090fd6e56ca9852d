"""The picture of communication: transfer, wait and idle of each group, and the data between ranks."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from plotly.subplots import make_subplots

from prof_analysis.analyses.words import count, duration, percent, several, size
from prof_analysis.pictures.figures import style
from prof_analysis.pictures.figures.tree import Row

_MOST_GROUPS = 20
_MOST_RANKS = 128
# A part of the time of operators -> its column, colour and pattern.
_PARTS = {
    "transfer": ("transit_ns", style.BLUE, ""),
    "wait": ("wait_ns", style.ORANGE, "/"),
    "idle": ("idle_ns", style.GREY, "."),
    "not split": ("unknown_ns", style.UNKNOWN, "x"),
}


def communication(groups: Iterable[Row], links: Iterable[Row] = ()) -> style.OfflineFigure:
    """Return stacked bars of groups, the longest first, and if links are recorded the data between each pair of ranks.

    `groups` are rows of across.communication_group_time, `links` pairs of ranks with `size_bytes`, `duration_ns` and
    `is_slow`; ranks are those of the whole job, or where these are not known those of the group.
    """
    rows, pairs = _folded(list(groups)), list(links)
    height = style.ROW_PIXELS * max(3, len(rows))
    figure = _frame(height, bool(pairs))
    for name, (column, colour, shape) in _PARTS.items():
        if not any(row[column] for row in rows):
            continue
        figure.add_bar(
            name=name,
            orientation="h",
            x=[None if row[column] is None else row[column] / 1e6 for row in rows],
            y=list(range(len(rows))),
            customdata=[
                [
                    row[column],
                    _what(row, 60),
                    duration(row[column]),
                    percent(row[column] / row["elapse_ns"] if row[column] is not None and row["elapse_ns"] else None),
                    count(row["op_count"]),
                    duration(row["elapse_ns"]),
                ]
                for row in rows
            ],
            hovertemplate=f"<b>%{{customdata[1]}}</b><br>{name}: %{{customdata[2]}} (%{{customdata[3]}})"
            "<br>in all %{customdata[5]}, operators: %{customdata[4]}<extra></extra>",
            **style.BAR,
            marker={"color": colour, "line": {"width": 0}, "pattern": style.pattern(shape)},
            **({"row": 1, "col": 1} if pairs else {}),
        )
    whole = sum(row["elapse_ns"] for row in rows)
    style.framed(
        figure, "Communication by group", f"{duration(whole)} of all ranks together", height + 90 + (430 if pairs else 0)
    )
    figure.update_layout(barmode="stack", showlegend=True, legend={"y": 1, "yanchor": "bottom"}, margin={"t": 96})
    style.name_rows(figure, [_what(row, 40) for row in rows])
    figure.update_xaxes(title={"text": "ms, all ranks"}, rangemode="tozero", **({"row": 1, "col": 1} if pairs else {}))
    if pairs:
        _add_links(figure, pairs, height)
    return figure


def _frame(height: int, has_links: bool) -> style.OfflineFigure:
    figure = style.OfflineFigure()
    if has_links:
        make_subplots(figure=figure, rows=2, cols=1, row_heights=[height, 430], vertical_spacing=90 / (height + 430))
    return figure


def _add_links(figure: style.OfflineFigure, pairs: Sequence[Row], height: int) -> None:
    """Add the matrix of ranks to a figure: the colour shows the bytes, the hover says how fast."""
    moved: dict[str, int] = {}
    for row in pairs:
        for rank in (row["source"], row["destination"]):
            moved[rank] = moved.get(rank, 0) + row["size_bytes"]
    busiest = set(sorted(moved, key=lambda rank: -moved[rank])[:_MOST_RANKS])
    order = sorted(busiest, key=_in_order)
    place = {rank: position for position, rank in enumerate(order)}
    heat: list[list[int | None]] = [[None] * len(order) for _ in order]
    cells: list[list[list[Any] | None]] = [[None] * len(order) for _ in order]  # A gap has no hover.
    marks = [["" for _ in order] for _ in order]
    for row in pairs:
        if row["source"] not in place or row["destination"] not in place:
            continue
        down, right = place[row["source"]], place[row["destination"]]
        bandwidth = f"{row['size_bytes'] / row['duration_ns']:,.1f} GB/s" if row["duration_ns"] else "-"
        heat[down][right] = row["size_bytes"]
        names = [style.label(row["source"], 24), style.label(row["destination"], 24)]
        slow = "<br>slower than other pairs" if row["is_slow"] else ""
        links = style.label(row["links"] or "-", 40)
        cells[down][right] = [row["size_bytes"], *names, size(row["size_bytes"]), bandwidth, links, slow]
        marks[down][right] = "▼" * row["is_slow"]
    most = max((one for line in heat for one in line if one is not None), default=0) or 1
    figure.add_heatmap(
        x=list(range(len(order))),
        y=list(range(len(order))),
        z=heat,
        customdata=cells,
        text=marks,
        texttemplate="%{text}",
        colorscale=style.scale_of(style.SEQUENTIAL),
        zmin=0,
        zmax=most,
        colorbar={
            "title": {"text": "moved"},
            "tickvals": [0, most / 2, most],
            "ticktext": [size(0), size(most / 2), size(most)],
            "thickness": 12,
            "len": 430 / (height + 430),
            "y": 0,
            "yanchor": "bottom",
        },
        hoverongaps=False,
        xgap=1,
        ygap=1,
        hovertemplate="rank %{customdata[1]} to rank %{customdata[2]}<br>%{customdata[3]} at %{customdata[4]}"
        "<br>link: %{customdata[5]}%{customdata[6]}<extra></extra>",
        row=2,
        col=1,
    )
    every = -(-len(order) // 24)
    ticks = {"tickvals": list(range(0, len(order), every)), "ticktext": [style.label(one, 24) for one in order[::every]]}
    left_out = f" (the {_MOST_RANKS} of {count(len(moved))} ranks that move most)" if len(moved) > len(order) else ""
    slow = "; ▼ slower than other pairs" if any(row["is_slow"] for row in pairs) else ""
    figure.update_xaxes(**ticks, title={"text": f"to rank{left_out}{slow}"}, showgrid=False, zeroline=False, row=2, col=1)
    figure.update_yaxes(
        **ticks, title={"text": "from rank"}, autorange="reversed", showgrid=False, zeroline=False, row=2, col=1
    )


def _in_order(rank: str) -> list[tuple[int, str]]:
    """Return a key by which 10 comes after 9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", rank)]


def _folded(rows: list[Row]) -> list[Row]:
    """Return the longest groups, and the others as one that keeps their sums."""
    if len(rows) <= _MOST_GROUPS:
        return rows
    rest = rows[_MOST_GROUPS - 1 :]
    columns = ("op_count", "elapse_ns", "transit_ns", "wait_ns", "idle_ns", "unknown_ns")
    sums = {
        column: sum(known) if (known := [row[column] for row in rest if row[column] is not None]) else None
        for column in columns
    }
    return [*rows[: _MOST_GROUPS - 1], {**sums, "type": f"other ({several(len(rest), 'group')})", "group_name": None}]


def _what(row: Row, longest: int) -> str:
    run = f"{style.label(row['run'], 20)} " if row.get("run") is not None else ""
    group = f" in {style.label(row['group_name'], longest)}" if row["group_name"] is not None else ""
    return f"{run}{style.label(row['type'] or 'type not known', longest)}{group}"
