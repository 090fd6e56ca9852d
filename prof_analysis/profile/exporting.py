"""Checks whether a command writes a format."""

from prof_analysis.analyses import ANALYSES
from prof_analysis.common.errors import InputError
from prof_analysis.common.option_docs import check
from prof_analysis.exports import EXPORT_TYPES


def check_type(export_type: str, command: str) -> None:
    """Raise an InputError unless a command writes this format: pictures are of some analyses alone."""
    check("export_type", export_type, export_type in EXPORT_TYPES, ", ".join(EXPORT_TYPES))
    drawing = [name for name, analysis in ANALYSES.items() if export_type in analysis.pictures]
    if drawing and command not in drawing:
        raise InputError(f"export_type={export_type!r}: {command} does not write it; {', '.join(drawing)} do")
