"""What each command prints on stdout: short, readable, the heaviest first."""

from prof_analysis.cli.summaries import communication, graph, layer, mfu, module, mstx, pmu, statistic, step

# By command: what gives the facts of an analysis, and what prints them with the files written.
SUMMARIES = {
    "communication-stats": (statistic.communication_facts, statistic.print_communication_facts),
    "communication-time": (communication.time_facts, communication.print_time_facts),
    "free-time": (step.free_facts, step.print_free_facts),
    "graph-overhead": (graph.graph_facts, graph.print_graph_facts),
    "kernel-stats": (statistic.kernel_facts, statistic.print_kernel_facts),
    "layer-stats": (layer.layer_facts, layer.print_layer_facts),
    "mfu": (mfu.mfu_facts, mfu.print_mfu_facts),
    "module-stats": (module.module_facts, module.print_module_facts),
    "module-stats --across-ranks": (module.across_ranks_facts, module.print_across_ranks_facts),
    "module-stats --pmu": (pmu.module_facts, pmu.print_module_facts),
    "mstx-stats": (mstx.mstx_facts, mstx.print_mstx_facts),
    "op-stats": (statistic.op_facts, statistic.print_op_facts),
    "pmu-stats": (pmu.pmu_facts, pmu.print_pmu_facts),
    "slow-ranks": (communication.slow_rank_facts, communication.print_slow_rank_facts),
    "step-time": (step.step_facts, step.print_step_facts),
}
