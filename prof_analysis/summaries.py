"""The summary of each command: what gives the facts of an analysis, and what prints them with the files written."""

from prof_analysis import step_summary, summary, summary_mstx, summary_pmu

SUMMARIES = {
    **summary.SUMMARIES,
    "free-time": (step_summary.free_facts, step_summary.print_free_facts),
    "step-time": (step_summary.step_facts, step_summary.print_step_facts),
    "module-stats --pmu": (summary_pmu.module_facts, summary_pmu.print_module_facts),
    "pmu-stats": (summary_pmu.pmu_facts, summary_pmu.print_pmu_facts),
    "mstx-stats": (summary_mstx.mstx_facts, summary_mstx.print_mstx_facts),
}
