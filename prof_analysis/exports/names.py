"""The names of tables and columns in exports: one rule for each kind of name."""

import re

from prof_analysis.engine.units import unit_of, without_unit

# Words that are written in another way than with one capital letter.
_WRITTEN = {
    **{
        word: word.upper()
        for word in ("mfu", "tflops", "aic", "aiv", "mac", "mte1", "mte2", "mte3", "dp", "cp", "tp", "p2p", "id")
    },
    **{"flops": "FLOPs", "mhz": "MHz", "ps": "ps", "ge": "GE", "cpp": "C++", "torchair": "TorchAir"},
}


def file_name(export_name: str) -> str:
    """Return the name of a table's file: ModuleStatistic -> module_statistic."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", export_name).lower()


def camel_case(column: str) -> str:
    """Return a column's name in ModuleStatistic: total_kernel_duration_ns -> totalKernelDuration(ns)."""
    first, *others = without_unit(column).split("_")
    return first + "".join(map(_capitalized, others)) + _unit(column)


def header(column: str) -> str:
    """Return a column's header in a sheet: total_kernel_duration_ns -> Total kernel duration (ns)."""
    first, *others = without_unit(column).split("_")
    words = " ".join((_capitalized(first), *(_WRITTEN.get(word, word) for word in others)))
    unit = unit_of(column)
    return f"{words} ({unit})" if unit else words


def with_unit(column: str) -> str:
    """Return a column's name in OperatorMFU and ModuleMFU: total_kernel_duration_ns -> total_kernel_duration(ns)."""
    return without_unit(column) + _unit(column)


def _capitalized(word: str) -> str:
    return _WRITTEN.get(word) or word.capitalize()


def _unit(column: str) -> str:
    unit = unit_of(column)
    return f"({unit})" if unit else ""
