"""The analyses: for each, its command, the capabilities that it requires, its tables, and their names in exports."""

import re
from collections.abc import Mapping

from prof_analysis.analyses.analysis import Analysis, Extra
from prof_analysis.analyses.causes import CAUSES
from prof_analysis.analyses.costs import COSTS

__all__ = [
    "ANALYSES", "COMPARED", "COMPARED_ON_REQUEST", "COMPARED_WHERE_RECORDED", "PICTURES", "Analysis", "Extra", "export_name",
]  # fmt: skip

ANALYSES: Mapping[str, Analysis] = {analysis.command: analysis for analysis in (*COSTS, *CAUSES)}

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
}

# What a comparison works out only on request, since it takes as long again.
COMPARED_ON_REQUEST: Mapping[str, str] = {"runs.efficiency_comparison": "EfficiencyComparison"}

# What a comparison has only where a rank of both runs recorded it.
COMPARED_WHERE_RECORDED: Mapping[str, str] = {"runs.memory_comparison": "MemoryComparison"}


def export_name(table: str) -> str:
    """Return what any table is called outside: as its analysis calls it, else like the table, and never like another one."""
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
