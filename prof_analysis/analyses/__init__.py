"""The analyses: for each, its command, the capabilities that it requires, its tables, and their names in exports."""

import re
from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from prof_analysis.analyses import answers
from prof_analysis.analyses.analysis import Analysis, Extra, Rows

__all__ = [
    "ANALYSES", "COMPARED", "COMPARED_ON_REQUEST", "COMPARED_WHERE_RECORDED", "PICTURES", "Analysis", "Extra", "Rows",
    "export_name",
]  # fmt: skip


def _declared() -> Mapping[str, Analysis]:
    """Return the analyses that the files of answers/ declare, in the order of their places."""
    files = [import_module(f"{answers.__name__}.{file.name}") for file in iter_modules(answers.__path__)]
    found: list[Analysis] = [file.ANALYSIS for file in files]
    return {analysis.command: analysis for analysis in sorted(found, key=lambda one: one.place)}


ANALYSES: Mapping[str, Analysis] = _declared()

# The export types that write a picture of an analysis, in place of tables.
PICTURES = tuple(dict.fromkeys(name for analysis in ANALYSES.values() for name in analysis.pictures))

# The tables of a comparison of runs, as compare writes them.
COMPARED: Mapping[str, str] = {
    "runs.comparison_summary": "ComparisonSummary",
    "runs.comparison_finding": "ComparisonFinding",
    "runs.module_comparison": "ModuleComparison",
    "runs.op_comparison": "OpComparison",
    "runs.kernel_comparison": "KernelComparison",
    "runs.communication_comparison": "CommunicationComparison",
    "runs.step_comparison": "StepComparison",
    "runs.idle_comparison": "IdleComparison",
    "runs.pass_comparison": "PassComparison",
    "runs.pass_work": "PassWork",
}

# What a comparison works out only on request, since it takes a fifth longer.
COMPARED_ON_REQUEST: Mapping[str, str] = {"runs.efficiency_comparison": "EfficiencyComparison"}

# What a comparison has only where a rank of both runs recorded it.
COMPARED_WHERE_RECORDED: Mapping[str, str] = {"runs.memory_comparison": "MemoryComparison"}


def export_name(table: str) -> str:
    """Return the name of any table outside: that of its analysis, else like the table, and never like another one."""
    tables = [
        COMPARED,
        COMPARED_ON_REQUEST,
        COMPARED_WHERE_RECORDED,
        *(tables for one in ANALYSES.values() for tables in (one.exports, one.of_several_ranks)),
        *(picture.exports for one in ANALYSES.values() for picture in one.pictures.values()),
    ]
    names = {name: as_ for exports in tables for name, as_ in exports.items()}
    if table in names:
        return names[table]
    name = "".join(word.capitalize() for word in re.split(r"[._]", table))
    return f"{name}Table" if name in (*names.values(), "ProfileRank", "Provenance") else name
