"""What prints the summary of each command."""

from prof_analysis import communication_summary, step_summary, summary, summary_mstx, summary_pmu

# By command: what gives the facts of an analysis, and what prints them with the files written.
SUMMARIES = {
    **summary.SUMMARIES,
    "free-time": (step_summary.free_facts, step_summary.print_free_facts),
    "module-stats --pmu": (summary_pmu.module_facts, summary_pmu.print_module_facts),
    "mstx-stats": (summary_mstx.mstx_facts, summary_mstx.print_mstx_facts),
    "pmu-stats": (summary_pmu.pmu_facts, summary_pmu.print_pmu_facts),
    "step-time": (step_summary.step_facts, step_summary.print_step_facts),
    "communication-time": (communication_summary.time_facts, communication_summary.print_time_facts),
    "slow-ranks": (communication_summary.slow_rank_facts, communication_summary.print_slow_rank_facts),
}
