"""The summary of each command: what gives the facts of an analysis, and what prints them with the files written."""

from prof_analysis import graph_summary, layer_summary, step_summary, summary

SUMMARIES = {
    **summary.SUMMARIES,
    "free-time": (step_summary.free_facts, step_summary.print_free_facts),
    "graph-overhead": (graph_summary.graph_facts, graph_summary.print_graph_facts),
    "layer-stats": (layer_summary.layer_facts, layer_summary.print_layer_facts),
    "step-time": (step_summary.step_facts, step_summary.print_step_facts),
}
