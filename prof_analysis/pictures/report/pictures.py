"""The pictures of a page: those of notebooks, as JSON, and the library that draws them."""

import gzip
from base64 import b64encode
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

from prof_analysis.analyses.asked import OpenProfile
from prof_analysis.common.errors import InputError
from prof_analysis.pictures.figures.plots import ProfilePlots
from prof_analysis.pictures.report.parts import Notes, Part, Picture, plain

if TYPE_CHECKING:
    from prof_analysis.pictures.figures.style import OfflineFigure


def picture(profile: OpenProfile, name: str, text: str) -> Iterator[Part]:
    """Yield a picture of a profile, or the reason why it is missing; `text` describes it for those who do not see it."""
    try:
        figure = getattr(ProfilePlots(profile), name)()
    except InputError as error:
        yield Notes([plain(profile.anonymous(str(error)))])
        return
    yield picture_of(name, text, figure)


def picture_of(name: str, text: str, figure: "OfflineFigure") -> Picture:
    """Return a figure as part of a page, without its theme, which the page chooses."""
    from prof_analysis.pictures.figures.style import config_of

    made = figure.to_plotly_json()
    made["layout"].pop("template", None)
    made["config"] = config_of(figure)
    return Picture(name, text, made)


def drawing_library() -> str:
    """Return the source of the library that draws the pictures."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def packed(text: str) -> str:
    """Return a text compressed, in letters that HTML does not read; a browser unpacks it without a request."""
    return b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
