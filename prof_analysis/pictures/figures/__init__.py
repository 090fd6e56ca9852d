"""Pictures: each function takes rows of tables and returns a plotly figure. Notebooks and the report show the same ones."""

from prof_analysis.common.errors import InputError


def check_plotly() -> None:
    """Raise an InputError that says what to install if plotly, which only pictures need, is missing."""
    try:
        import plotly  # noqa: F401
    except ImportError:
        raise InputError("pictures need plotly, which is not installed: pip install 'prof-analysis[plot]'") from None
