"""What tables and columns are called outside the engine: one rule for each kind of name."""

import re

from prof_analysis.engine.units import unit_of, without_unit


def file_name(export_name: str) -> str:
    """ModuleStatistic -> module_statistic."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", export_name).lower()


def camel_case(column: str) -> str:
    """total_kernel_duration_ns -> totalKernelDuration(ns)."""
    first, *others = without_unit(column).split("_")
    return first + "".join(map(_capitalized, others)) + _unit(column)


def header(column: str) -> str:
    """total_kernel_duration_ns -> Total Kernel Duration(ns)."""
    return " ".join(map(_capitalized, without_unit(column).split("_"))) + _unit(column)


def snake_case(column: str) -> str:
    """total_kernel_duration_ns -> total_kernel_duration(ns)."""
    return without_unit(column) + _unit(column)


def _capitalized(word: str) -> str:
    return "MFU" if word == "mfu" else word.capitalize()


def _unit(column: str) -> str:
    unit = unit_of(column)
    return f"({unit})" if unit else ""
