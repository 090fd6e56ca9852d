"""What prints the summary of each command."""

from prof_analysis import summary, summary_mstx, summary_pmu

# By command: what gives the facts of an analysis, and what prints them with the files written.
SUMMARIES = {
    **summary.SUMMARIES,
    "module-stats --pmu": (summary_pmu.module_facts, summary_pmu.print_module_facts),
    "pmu-stats": (summary_pmu.pmu_facts, summary_pmu.print_pmu_facts),
    "mstx-stats": (summary_mstx.mstx_facts, summary_mstx.print_mstx_facts),
}
