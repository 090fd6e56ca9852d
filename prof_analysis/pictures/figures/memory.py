"""The picture of memory: memory of the framework's allocator over time, and by module or call site at the peak."""

from collections.abc import Iterable, Sequence
from typing import Literal

from plotly.subplots import make_subplots

from prof_analysis.analyses.words import duration, percent, several, size
from prof_analysis.pictures.figures import style
from prof_analysis.pictures.figures.tree import Row

PeakBy = Literal["module", "site"]
_MOST_PARTS = 12
_MOST_STEPS = 40
# By what the peak is divided -> one of these in words.
_WORDS: dict[PeakBy, str] = {"module": "module", "site": "call site"}
# What is measured -> its column, colour and kind of line.
_MEASURES = {
    "reserved": ("reserved_bytes", style.GREY, "dot"),
    "active": ("active_bytes", style.ORANGE, "dash"),
    "allocated": ("allocated_bytes", style.BLUE, "solid"),
}
_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def memory(
    moments: Iterable[Row], peak: Iterable[Row], steps: Iterable[Row], device: str, by: PeakBy = "module"
) -> style.OfflineFigure:
    """Return memory over time with its steps, above the memory at the peak, by module or call site.

    `moments` are rows of allocation.usage of one component of one device in the order of time, with `since_ns`; `peak` has the
    `live_bytes` of each `name` at the peak, the largest first, and `steps` the `since_ns`, `until_ns` and `step_id` of steps.
    """
    moments, parts, steps = list(moments), _folded(list(peak), _WORDS[by]), list(steps)
    most = max([row[column] or 0 for row in moments for column, *_ in _MEASURES.values()], default=0)
    unit, bytes_ = next((one for one in _UNITS if most >= one[1]), ("B", 1))
    bars = style.ROW_PIXELS * max(3, len(parts))
    figure = style.OfflineFigure()
    make_subplots(figure=figure, rows=2, cols=1, row_heights=[300, bars], vertical_spacing=80 / (300 + bars))
    for name, (column, colour, dash) in _MEASURES.items():
        if all(row[column] is None for row in moments):
            continue
        figure.add_scatter(
            name=name,
            x=[row["since_ns"] / 1e6 for row in moments],
            y=[None if row[column] is None else row[column] / bytes_ for row in moments],
            customdata=[[row[column], str(row["time_ns"]), size(row[column]), duration(row["since_ns"])] for row in moments],
            hovertemplate=f"{name}: %{{customdata[2]}}<br>after %{{customdata[3]}}<extra></extra>",
            mode="lines",
            line={"color": colour, "dash": dash, "shape": "hv", "width": 1.6},
            row=1,
            col=1,
        )
    _add_steps(figure, steps)
    whole = sum(row["live_bytes"] for row in parts)
    figure.add_bar(
        name="allocated at the peak",
        showlegend=False,
        orientation="h",
        x=[row["live_bytes"] / bytes_ for row in parts],
        y=list(range(len(parts))),
        customdata=[
            [
                row["live_bytes"],
                style.path_label(row["name"]),
                size(row["live_bytes"]),
                percent(row["live_bytes"] / whole if whole else None),
            ]
            for row in parts
        ],
        hovertemplate="<b>%{customdata[1]}</b><br>%{customdata[2]} at the peak (%{customdata[3]})<extra></extra>",
        **style.BAR,
        marker={"color": style.GREEN},
        row=2,
        col=1,
    )
    style.framed(figure, "Memory of the device", f"{device}; at most {size(whole)} allocated", 300 + bars + 180)
    figure.update_layout(legend={"y": 1, "yanchor": "bottom"}, margin={"t": 96})
    figure.update_xaxes(title={"text": "ms since the first record"}, row=1, col=1)
    figure.update_yaxes(title={"text": unit}, rangemode="tozero", row=1, col=1)
    figure.update_xaxes(title={"text": f"{unit} allocated at the peak, by {_WORDS[by]}"}, row=2, col=1)
    style.name_rows(figure, [style.short_path(*row["name"].rpartition("/")[::2]) for row in parts], "2")
    return figure


def _add_steps(figure: style.OfflineFigure, steps: Sequence[Row]) -> None:
    """Shade every second step, and name them where there are few."""
    if not 0 < len(steps) <= _MOST_STEPS:
        return
    at = {"xref": "x", "yref": "y domain"}
    bounds = [(row["since_ns"] / 1e6, row["until_ns"] / 1e6) for row in steps]
    # All in one go: with add_vrect(), which looks at all shapes for each, 40 steps take over a second.
    figure.update_layout(
        shapes=[
            {
                "type": "rect",
                **at,
                "x0": begin,
                "x1": end,
                "y0": 0,
                "y1": 1,
                "fillcolor": style.GREY,
                "opacity": 0.16 if place % 2 else 0.06,
                "line": {"width": 0},
                "layer": "below",
            }
            for place, (begin, end) in enumerate(bounds)
        ],
        annotations=[
            {
                "text": f"step {row['step_id']}" if len(steps) <= 10 else str(row["step_id"]),
                "font": {"size": 10},
                **at,
                "x": begin,
                "y": 1,
                "xanchor": "left",
                "yanchor": "top",
                "showarrow": False,
            }
            for row, (begin, _) in zip(steps, bounds, strict=True)
        ],
    )


def _folded(parts: list[Row], what: str) -> list[Row]:
    """Return the largest parts, and the others as one that keeps their sum."""
    if len(parts) <= _MOST_PARTS:
        return parts
    rest = parts[_MOST_PARTS - 1 :]
    name = f"other ({several(len(rest), what)})"
    return [*parts[: _MOST_PARTS - 1], {"name": name, "live_bytes": sum(row["live_bytes"] for row in rest)}]
