"""The summary of each command: what gives the facts of an analysis, and what prints them with the files written."""

from prof_analysis import communication_summary, summary

SUMMARIES = {
    **summary.SUMMARIES,
    "communication-time": (communication_summary.time_facts, communication_summary.print_time_facts),
}
