"""The analyses of why it takes so long: steps, idle time, pipelines, links, ranks, memory, experts, clocks, layers, graphs."""

from prof_analysis.analyses.analysis import COMMUNICATION, TIMELINE, Analysis, Extra, any_of
from prof_analysis.capabilities import CAPABILITIES
from prof_analysis.options import INPUT, MACHINE, MODULES

CAUSES = (
    Analysis(
        "advise",
        "What should be changed first, and what can it win?\n\n"
        "Shows findings, the one with the most time to win first: where it is, the evidence, and what to do. Wins overlap: "
        "never add them up.",
        "kernels",
        {"advice.finding": "Finding", "advice.finding_of_rank": "FindingOfRank", "advice.threshold": "Threshold"},
        requires=(any_of("kernels", "reported_steps"),),
        options=(INPUT, MODULES, MACHINE, "thresholds", "peak_tflops"),
        also=("across.rank_step", "across.job"),
        counted="across.rank_step",
    ),
    Analysis(
        "step-time",
        "What is each step made of: computing, communication?\n\n"
        "Shows for each step the time in which the device computes, communicates, does both at once, or neither; and how "
        "much of each group's communication, and of copies, computing covers.",
        "kernels",
        {"step.time": "StepTime", "step.communication": "StepCommunication", "step.copy": "StepCopy"},
        requires=(any_of("kernels", "reported_steps"),),
        also=(
            "step.reported_audit",
            "module.lost_launch",
            "across.step_total",
            "across.step_duration",
            "across.rank_step",
            "across.step_communication",
            "across.copy",
        ),
        pictures=TIMELINE,
    ),
    Analysis(
        "free-time",
        "Why is the device idle?\n\nShows the idle time of the device by cause, and the longest gaps with the ops around them.",
        "kernels",
        {"free.cause": "FreeTime", "free.longest_gap": "FreeGap", "free.unknown_cause": "FreeUnknownCause"},
        requires=("kernels",),
        also=(
            "step.time",
            "step.reported_audit",
            "module.lost_launch",
            "trace.set_aside_call",
            "across.free_cause",
            "across.free_unknown_cause",
        ),
        pictures=TIMELINE,
        counted="step.time",
    ),
    Analysis(
        "pipeline",
        "How do micro-batches pass the pipeline stages?\n\n"
        "Shows for each rank the forward and backward passes of micro-batches on the device, and the bubbles between "
        "them.",
        "forward and backward passes (mark them with mstx ranges named forward_step and backward_step, mark the modules, "
        "or collect with with_stack=True)",
        {
            "pipeline.pass": "PipelinePass",
            "pipeline.stage": "PipelineStage",
            "across.pipeline_rank": "PipelineRank",
        },
        requires=(any_of("modules", "marks", "stacks"),),
        options=(INPUT, MODULES, MACHINE),
        also=("module.chosen_domain",),
    ),
    Analysis(
        "communication-time",
        "Does communication transfer, wait or idle?\n\n"
        "Splits the time of communication operators into transfer, wait for other ranks, and idle: by operator and group "
        "on the screen, also by module, rank and link in files.",
        "communication operators",
        {
            "communication.time": "CommunicationTime",
            "communication.group_time": "CommunicationGroupTime",
            "communication.module_time": "CommunicationModuleTime",
            "communication.rank_time": "CommunicationRankTime",
            "communication.link": "CommunicationLink",
            "across.communication_group_time": "CommunicationGroupTimeAllRanks",
            "across.p2p": "P2p",
        },
        requires=(COMMUNICATION,),
        options=(INPUT, MODULES, MACHINE),
        also=(
            "module.chosen_domain",
            "across.communication_time",
            "across.communication_unknown",
            "across.job",
        ),
    ),
    Analysis(
        "links",
        "Which links between ranks carry how much, and how fast?\n\n"
        "Shows for each pair of ranks and each link the bytes, how fast they moved, and how much slower that is than the same "
        "transfers of other pairs.",
        "transfers",
        {"across.link": "Link", "across.link_packet": "LinkPacket"},
        requires=("transfers",),
        also=("communication.packet", "across.link_kind", "across.job"),
        counted="communication.packet",
    ),
    Analysis(
        "slow-ranks",
        "Which rank makes the others wait?\n\n"
        "Finds the slow rank or pipeline stage by what the ranks wait for each other in communication, and shows where "
        "it loses the time.",
        "communication and steps",
        {
            "across.slow_rank": "SlowRank",
            "across.slow_rank_finding": "SlowRankFinding",
            "across.slow_rank_module": "SlowRankModule",
            "across.rank_communication": "RankCommunication",
        },
        requires=(any_of("kernels", "reported_communication", "reported_steps"),),
        also=("step.reported_audit", "across.job"),
        extras={"by collective": Extra(("kernels", "communication"), {"across.collective": "SlowCollective"})},
    ),
    Analysis(
        "memory",
        "What fills the memory of the device, and does it leak?\n\n"
        "Shows the memory that was alive at the peak, by module and op, how far that was from the memory of the "
        "device, and what stays from step to step.",
        "records of device memory",
        {
            "allocation.peak": "MemoryPeak",
            "allocation.module": "MemoryModule",
            "allocation.op": "MemoryOp",
            "allocation.block": "MemoryBlock",
            "allocation.step": "MemoryStep",
            "allocation.kept": "MemoryKept",
            "allocation.usage": "MemoryUsage",
            "allocation.component": "MemoryComponent",
            "allocation.out_of_memory": "MemoryOutOfMemory",
            "across.memory_rank": "MemoryAllRanks",
        },
        requires=("memory",),
        options=(INPUT, MODULES, MACHINE),
        also=("module.chosen_domain", "allocation.peak_moment", "trace.set_aside_memory"),
        counted="allocation.component",
        counts_kernels=False,
    ),
    Analysis(
        "experts",
        "Do experts (MoE) load the ranks evenly?\n\n"
        "Shows time and rows of grouped matmuls by rank and place in the step, how uneven they are over the ranks that "
        "share the experts, and the cost.",
        "grouped matmuls, the kernels of experts (MoE)",
        {
            "experts.load": "ExpertLoad",
            "experts.call": "ExpertCall",
            "experts.expert": "Expert",
            "experts.kernel": "ExpertKernel",
            "across.expert_total": "ExpertGroup",
            "across.expert_rank": "ExpertRank",
            "across.expert_call": "ExpertCallAllRanks",
        },
        requires=("compute",),
        options=(INPUT, MODULES, MACHINE),
        also=("module.chosen_domain", "across.expert_group", "across.expert_rows", "across.expert_kernel"),
        counted="experts.kernel",
    ),
    Analysis(
        "clock",
        "Did kernels run below the rated clock?\n\n"
        "Shows the real clock of each device over time beside its rated clock, the kernels that ran below that, and what it "
        "cost at most.",
        "compute kernels with samples of the clock",
        {
            "clock.device": "Clock",
            "clock.span": "ClockSpan",
            "clock.kernel_type": "ClockKernelType",
            "across.clock_kernel_type": "ClockKernelTypeAllRanks",
        },
        requires=("compute", "clock"),
    ),
    Analysis(
        "layer-stats",
        "Which layers cost the time, seen in kernels alone?\n\n"
        "Finds the layers of a model in the sequence of its kernels, without modules or ops as in graph mode, and shows "
        "their time by position and by layer.",
        "compute kernels",
        {
            "layer.structure": "LayerStructure",
            "layer.statistic": "LayerPosition",
            "layer.by_index": "LayerByIndex",
            "layer.pass_layer": "Layer",
        },
        requires=("compute",),
        also=("across.layer_time",),
    ),
    Analysis(
        "graph-overhead",
        "What do calls of compiled graphs cost on the host?\n\n"
        "Shows the host time of calls of TorchAir graphs by phase: front end, TorchAir, graph engine.",
        CAPABILITIES["graph_calls"],
        {"graph.statistic": "GraphOverhead", "graph.call": "GraphCall"},
        requires=("ops", "graph_calls"),
        options=("source", MACHINE),
        also=("op.host", "trace.set_aside_call", "across.graph_phase", "across.graph_total", "across.graph_unknown"),
        counts_kernels=False,
    ),
)
