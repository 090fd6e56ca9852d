"""The icicle that pictures of modules share: a click zooms, colours are chosen in a menu, and a hover shows the figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from prof_analysis.pictures.figures.style import UNKNOWN, OfflineFigure, framed, ink_on, label, path_label, pattern
from prof_analysis.pictures.figures.tree import Sector, all_of

# Deeper modules appear when a click zooms into those around them: more levels at once are too thin to read, and slow to draw.
LEVELS = 7
_LEVEL_PIXELS = 44


@dataclass(frozen=True)
class Colouring:
    """A choice of the menu: a colour of each sector, perhaps with a pattern, and the legend."""

    name: str
    colours: Sequence[str]
    legend: str
    patterns: Sequence[str] = ()


def icicle(
    root: Sector,
    title: str,
    note: str,
    shown: Mapping[str, Callable[[Sector], Any]],
    colourings: Sequence[Callable[[Sequence[Sector]], Colouring | None]],
    levels: int | None = None,
) -> OfflineFigure:
    """Return an icicle of the sectors of a tree.

    `shown` has the lines of the hover by their headings; the first two are whole numbers that the figure carries as they are.
    """
    sectors = all_of(root)
    colours = [one for make in colourings if (one := make(sectors))]
    headings = [heading for heading in shown if heading]
    figure = OfflineFigure(
        go.Icicle(
            ids=[one.id for one in sectors],
            labels=[label(one.name) for one in sectors],
            parents=[one.parent.id if one.parent else "" for one in sectors],
            values=[one.total for one in sectors],
            customdata=[[path_label(_shown_path(one)), one.own, *(get(one) for get in shown.values())] for one in sectors],
            hovertemplate="<br>".join(
                [
                    "<b>%{customdata[0]}</b>",
                    *(f"{heading}: %{{customdata[{place + 2}]}}" for place, heading in enumerate(headings)),
                ]
            )
            + "<extra></extra>",
            texttemplate="%{label}<br>%{customdata[2]}",
            branchvalues="total",
            sort=False,
            maxdepth=levels or LEVELS,
            tiling={"orientation": "v", "pad": 1},
            pathbar={"visible": True, "thickness": 24},
            textposition="middle left",
            marker={"colors": _colours_of(colours[0]), "line": {"width": 0.5, "color": "#ffffff"}},
            leaf={"opacity": 1},
            insidetextfont={"color": _inks_of(colours[0])},
            outsidetextfont={"color": "#1f2328"},  # In the outermost sector.
        )
    )
    depth = min(levels or LEVELS, _depth_of(root))
    framed(figure, title, f"{note}<br>{colours[0].legend}", 180 + _LEVEL_PIXELS * (depth + 1))
    figure.update_traces(marker_pattern=_pattern_of(colours[0]))
    figure.update_layout(uniformtext={"minsize": 10, "mode": "hide"}, margin={"t": 132 if len(colours) > 1 else 92, "b": 12})
    if len(colours) > 1:
        figure.update_layout(updatemenus=[_menu_of(colours, note)])
    return figure


def _menu_of(colours: Sequence[Colouring], note: str) -> dict[str, Any]:
    """Return the menu that chooses the meaning of the colours."""
    buttons = [
        {
            "label": f"colour: {one.name}",
            "method": "update",
            "args": [
                {
                    "marker.colors": [_colours_of(one)],
                    "marker.pattern": [_pattern_of(one)],
                    "insidetextfont.color": [_inks_of(one)],
                },
                {"title.subtitle.text": f"{note}<br>{one.legend}"},
            ],
        }
        for one in colours
    ]
    return {
        "buttons": buttons, "type": "dropdown", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 4},
        "bgcolor": "#ffffff", "font": {"color": "#1f2328", "size": 12}
    }  # fmt: skip


def _colours_of(one: Colouring) -> list[str]:
    """Return the colours; the outermost sector, in which all others lie, has none of its own."""
    return [UNKNOWN, *one.colours[1:]]


def _inks_of(one: Colouring) -> list[str]:
    """Return the colours of texts: those that plotly chooses are hard to read in front of colours in the middle of a scale."""
    return [ink_on(colour) for colour in _colours_of(one)]


def _pattern_of(one: Colouring) -> dict[str, Any]:
    return pattern(list(one.patterns) or "")


def _shown_path(one: Sector) -> str:
    return one.name if not one.path or one.folded_ids else f"{one.path.rpartition('/')[0]}/{one.name}".removeprefix("/")


def _depth_of(root: Sector) -> int:
    return 1 + max((_depth_of(inner) for inner in root.inside), default=0)
