"""Words for a figure of the base and of the new run."""

from prof_analysis.analyses.words import as_text, count

# The figure of kernels of no unit.
OUTSIDE = "kernel time outside"


def both(base: str, new: str) -> str:
    """Return the values of base and new, once if they are equal."""
    return base if base == new else f"{base} -> {new}"


def number_of(value: float | None) -> str:
    """Return a mean of counts; without decimals where it is whole."""
    return "-" if value is None else count(round(value)) if value == round(value) else as_text(value, "number")
