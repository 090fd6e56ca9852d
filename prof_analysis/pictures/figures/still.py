"""A picture as pixels, for what shows no interactive one: a notebook on GitHub, or as a page or a PDF."""

from base64 import b64encode
from typing import Any

NEEDED = "with kaleido and Chrome, a saved notebook shows it too"
_WIDTH = 1000
_SECONDS = 30
# Why the first picture could not be drawn: then no other one is tried, so that nobody waits for each.
_failures: list[Exception] = []


def png_of(figure: dict[str, Any]) -> str | None:
    """Return a figure as PNG in base64, or None where nothing can draw it. Nothing is loaded from the network."""
    if _failures:
        return None
    try:
        import kaleido

        # Kaleido would load MathJax from the network; no picture has formulas.
        settings = {"page_generator": kaleido.PageGenerator(mathjax=False), "timeout": _SECONDS}
        size = {"format": "png", "width": _WIDTH, "height": figure["layout"]["height"]}
        return b64encode(kaleido.calc_fig_sync(figure, opts=size, kopts=settings)).decode()
    except Exception as error:  # It drives a browser, which may fail in any way; the interactive picture needs none.
        _failures.append(error)
        return None
