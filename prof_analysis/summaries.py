"""The summary of each command: what gives the facts of an analysis, and what prints them with the files written."""

from prof_analysis import communication_summary, step_summary, summary

SUMMARIES = {
    **summary.SUMMARIES,
    "free-time": (step_summary.free_facts, step_summary.print_free_facts),
    "step-time": (step_summary.step_facts, step_summary.print_step_facts),
    "communication-time": (communication_summary.time_facts, communication_summary.print_time_facts),
    "slow-ranks": (communication_summary.slow_rank_facts, communication_summary.print_slow_rank_facts),
}
