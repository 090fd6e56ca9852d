"""What prints the summary of each command."""

from prof_analysis import (
    communication_summary,
    graph_summary,
    layer_summary,
    step_summary,
    summary,
    summary_mstx,
    summary_pmu,
)

# By command: what gives the facts of an analysis, and what prints them with the files written.
SUMMARIES = {
    **summary.SUMMARIES,
    "communication-time": (communication_summary.time_facts, communication_summary.print_time_facts),
    "free-time": (step_summary.free_facts, step_summary.print_free_facts),
    "graph-overhead": (graph_summary.graph_facts, graph_summary.print_graph_facts),
    "layer-stats": (layer_summary.layer_facts, layer_summary.print_layer_facts),
    "module-stats --pmu": (summary_pmu.module_facts, summary_pmu.print_module_facts),
    "mstx-stats": (summary_mstx.mstx_facts, summary_mstx.print_mstx_facts),
    "pmu-stats": (summary_pmu.pmu_facts, summary_pmu.print_pmu_facts),
    "slow-ranks": (communication_summary.slow_rank_facts, communication_summary.print_slow_rank_facts),
    "step-time": (step_summary.step_facts, step_summary.print_step_facts),
}
