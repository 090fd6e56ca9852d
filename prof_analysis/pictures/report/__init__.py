"""The report: one HTML file that opens from disk, offline, with all answers as sentences, pictures and tables."""

from prof_analysis.common.errors import InputError
from prof_analysis.pictures.figures import check_plotly


def check_libraries() -> None:
    """Raise an InputError that says what to install if a library that only reports need is missing."""
    check_plotly()
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise InputError("reports need jinja2, which is not installed: pip install 'prof-analysis[plot]'") from None
