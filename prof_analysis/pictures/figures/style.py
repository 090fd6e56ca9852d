"""How pictures look: colours that colour-blind people tell apart, two themes, and names from files as plain text."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Self

import plotly.graph_objects as go

from prof_analysis.analyses.words import rank_name
from prof_analysis.common.visible import visible
from prof_analysis.pictures.figures.spoken import spoken
from prof_analysis.pictures.figures.still import NEEDED, png_of

# The colours of Okabe and Ito, which people with any kind of colour blindness tell apart, on light and on dark ground.
BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#9A9A9A",
)  # fmt: skip
# From little to much, each end apart from light and from dark ground, and from less to more than the middle.
SEQUENTIAL = ("#F3E9B5", "#D9CF9C", "#B3B79F", "#8B9DA8", "#6385AF", "#3D6CB3")
DIVERGING = ("#0072B2", "#6BAED6", "#C9DFEE", "#F2F2F2", "#FBD9BC", "#F08A45", "#B34700")
# The height of a row of horizontal bars, and the place of the bar in it, below its name.
ROW_PIXELS = 42
BAR = {"width": 0.42, "offset": -0.06}
UNKNOWN = "#C8C8C8"
_LONGEST_NAME = 60
_LONGEST_PATH = 240
_LINE = 64
_BUTTONS_OF_AXES = ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d"]


def label(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name from a file as text that plotly draws as it is: one line, shortened, and neither HTML nor a formula."""
    short = text if len(text) <= longest else f"{text[: longest // 2]}…{text[-(longest // 2) + 1 :]}"
    return escape(visible(short), quote=False).replace("$", "&#36;")


def path_label(path: str) -> str:
    """Return the path of a module as lines that fit into a box; of a long path only its end."""
    short = path if len(path) <= _LONGEST_PATH else f"…{path[-_LONGEST_PATH:]}"
    lines = [""]
    for number, name in enumerate(short.split("/")):
        joined = f"{lines[-1]}/{name}" if number else name
        if len(joined) > _LINE and lines[-1]:
            lines[-1] += "/"
            lines.append(name)
        else:
            lines[-1] = joined
    return "<br>".join(label(line, _LINE * 2) for line in lines)


def short_path(around: str, name: str) -> str:
    """Return the name of a module with that of the one around it."""
    return f"{label(around.rpartition('/')[2], 20)}/{label(name, 26)}" if around else label(name, 40)


def rank_label(row: Mapping[str, Any]) -> str:
    """Return the name of the rank of a row, with its run if there are several."""
    run = f"{label(row['run'], 20)} " if row.get("run") is not None else ""
    return f"{run}{label(rank_name(row), 24)}"


def theme(is_dark: bool = False) -> go.layout.Template:
    """Return the template of all pictures, for a light or a dark page."""
    ground, ink, line = ("#16181d", "#e8e8e8", "#3a3f48") if is_dark else ("#ffffff", "#1f2328", "#d9dce1")
    axis = {
        "gridcolor": line,
        "linecolor": line,
        "zerolinecolor": line,
        "automargin": True,
        "exponentformat": "none",
        "title": {"standoff": 8},
    }
    return go.layout.Template(
        layout={
            "paper_bgcolor": ground,
            "plot_bgcolor": ground,
            "font": {"family": "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif", "size": 13, "color": ink},
            "title": {
                "x": 0,
                "xref": "container",
                "xanchor": "left",
                "y": 1,
                "yanchor": "top",
                "pad": {"l": 12, "t": 14},
                "font": {"size": 16},
            },
            "hoverlabel": {"align": "left", "bgcolor": ground, "bordercolor": ink, "font": {"color": ink}, "namelength": -1},
            "legend": {"orientation": "h", "traceorder": "normal", "x": 0, "xanchor": "left", "y": -0.14, "yanchor": "top"},
            "margin": {"l": 16, "r": 16, "t": 76, "b": 24},
            "colorway": [BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, GREY],
            "xaxis": axis,
            "yaxis": axis,
            "dragmode": "zoom",
        }
    )


class OfflineFigure(go.Figure):  # type: ignore[misc]  # plotly has no types
    """A plotly figure with a fixed list of buttons; no button sends the picture anywhere.

    What plotly shows by itself can upload a chart ("Share chart"), and its next version may add more.
    """

    def update_layout(self, *args: Any, **options: Any) -> Self:
        """Change the layout, as plotly does, and return the figure."""
        super().update_layout(*args, **options)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as plotly shows and writes it, in the language of those who look at it."""
        return dict(spoken(super().to_dict()))

    def show(self, *args: Any, config: Mapping[str, Any] | None = None, **options: Any) -> None:
        """Show the figure, as plotly does; a notebook stores it in pixels too."""
        bundle = {} if args or options else self._repr_mimebundle_(config=self._offline(config))
        if not bundle:
            super().show(*args, config=self._offline(config), **options)
            return
        from IPython.display import display

        display(bundle, raw=True)  # type: ignore[no-untyped-call]

    def to_html(self, config: Mapping[str, Any] | None = None, *args: Any, **options: Any) -> str:
        """Return the figure as HTML, as plotly does."""
        return str(super().to_html(self._offline(config), *args, **options))

    def write_html(self, file: Any, config: Mapping[str, Any] | None = None, *args: Any, **options: Any) -> None:
        """Write the figure as HTML, as plotly does."""
        super().write_html(file, self._offline(config), *args, **options)

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> Any:
        """Return the figure as a notebook stores it; an interactive one with pixels beside it, or why there are none."""
        bundle = super()._repr_mimebundle_(*args, **{"config": self._offline(), **options})
        if not bundle or any(kind.startswith("image/") for kind in bundle):
            return bundle
        png = png_of(self.to_plotly_json())
        text = f"Interactive picture: {self.layout.title.text}{'' if png else f' ({NEEDED})'}"
        return bundle | {"text/plain": text} | ({"image/png": png} if png else {})

    def _ipython_display_(self) -> None:
        self.show()

    def _offline(self, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return {**config_of(self), **(config or {})}


def config_of(figure: OfflineFigure) -> dict[str, Any]:
    """Return the settings of plotly with which a figure is shown: its buttons, and no server to which anything goes."""
    has_axes = any(trace.type != "icicle" for trace in figure.data)
    return {
        "displaylogo": False,
        "modeBarButtons": [["toImage"], *([_BUTTONS_OF_AXES] if has_axes else [])],
        "showSendToCloud": False,
        "plotlyServerURL": "",
    }


def framed(figure: OfflineFigure, title: str, subtitle: str = "", height: int = 440) -> OfflineFigure:
    """Return a figure with its title, a line below it, and the light theme."""
    return figure.update_layout(
        template=theme(), title={"text": title, "subtitle": {"text": subtitle, "font": {"size": 12}}}, height=height
    )


def pattern(shape: str | Sequence[str]) -> dict[str, Any]:
    """Return a pattern over a colour, for those who do not see the colour; "" for none."""
    return {"shape": shape, "fillmode": "overlay", "fgcolor": "#1f2328", "fgopacity": 0.35, "size": 6, "solidity": 0.2}


def name_rows(figure: OfflineFigure, names: Sequence[str], axes: str = "") -> None:
    """Write names above horizontal bars, which have the whole width so; see BAR. `axes` is the number of the axes, "" for 1."""
    axis = {"range": [len(names) - 0.4, -0.6], "showticklabels": False, "showgrid": False, "zeroline": False}
    figure.update_layout({f"yaxis{axes}": axis})
    for place, name in enumerate(names):
        figure.add_annotation(
            text=name,
            x=0,
            xref=f"x{axes} domain",
            xanchor="left",
            y=place - 0.3,
            yref=f"y{axes}",
            yanchor="middle",
            showarrow=False,
        )


def colour_at(share: float, scale: Sequence[str]) -> str:
    """Return the colour at a place from 0 to 1 of a scale of equally distant colours."""
    place = min(1.0, max(0.0, share)) * (len(scale) - 1)
    below = min(int(place), len(scale) - 2)
    pairs = zip(_parts(scale[below]), _parts(scale[below + 1]), strict=True)
    return "#" + "".join(f"{round(one + (other - one) * (place - below)):02x}" for one, other in pairs)


def ink_on(colour: str) -> str:
    """Return the colour of text in front of a colour: black or white; one of them has a contrast of at least 4.5 (WCAG)."""
    return "#000000" if luminance(colour) > 0.179 else "#ffffff"


def luminance(colour: str) -> float:
    """Return how light a colour is, from 0 to 1, as WCAG 2 defines it."""
    parts = (part / 255 for part in _parts(colour))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def scale_of(scale: Sequence[str]) -> list[tuple[float, str]]:
    """Return a scale of colours as plotly reads it."""
    return [(place / (len(scale) - 1), colour) for place, colour in enumerate(scale)]


def legend_of(colours: Sequence[tuple[str, str]]) -> str:
    """Return a legend as one line of text: a square of each colour and its meaning."""
    return "   ".join(f'<span style="color:{colour}">■</span> {meaning}' for colour, meaning in colours)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
