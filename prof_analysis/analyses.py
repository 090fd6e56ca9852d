"""The analyses: for each, its command, the capabilities that it requires, its tables, and their names in exports."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from prof_analysis.capabilities import CAPABILITIES, RECORDED_FROM
from prof_analysis.options import INPUT, MACHINE, MODULES

# A capability, or several of which one suffices; where a rank has none of them, the reason is that of the first one.
Requirement: TypeAlias = str | tuple[str, ...]


def any_of(*capabilities: str) -> Requirement:
    """Require at least one of these capabilities."""
    return capabilities


def why_not(requires: tuple[Requirement, ...], lacks: Mapping[str, str]) -> str | None:
    """Return the reason for the first requirement that is not met; None where all are.

    `lacks` has the capabilities that the rank lacks, each with the reason.
    """
    for requirement in requires:
        capabilities = (requirement,) if isinstance(requirement, str) else requirement
        if all(capability in lacks for capability in capabilities):
            return lacks[capabilities[0]]
    return None


def recorded_from(requires: tuple[Requirement, ...], lacks: Mapping[str, str]) -> int | None:
    """Return the level of prof_analysis.collect that records what these requirements miss; None where none does."""
    levels = []
    for requirement in requires:
        capabilities = (requirement,) if isinstance(requirement, str) else requirement
        if all(capability in lacks for capability in capabilities):
            levels.append(min((RECORDED_FROM[one] for one in capabilities if one in RECORDED_FROM), default=None))
    return None if None in levels else max((level for level in levels if level is not None), default=None)


@dataclass(frozen=True)
class Extra:
    """Tables that an option of a command adds to its analysis, and what they require; other ranks have the other tables."""

    requires: tuple[Requirement, ...]
    exports: Mapping[str, str]
    also: tuple[str, ...] = ()


def _flame(table: str, name: str, *requires: Requirement) -> Mapping[str, Extra]:
    """Return the flame graphs of a table, by their export types."""
    return dict.fromkeys(("speedscope", "collapsed"), Extra(requires, {table: name}))


# The timeline of each rank, by its export type.
_TIMELINE: Mapping[str, Extra] = {
    "trace": Extra(("kernels",), {"across.timeline_event": "TimelineEvent", "across.timeline_rank": "TimelineRank"})
}


@dataclass(frozen=True)
class Analysis:
    """A question with a command of its own.

    `requires`: the capabilities that a rank must have. `exports`: its tables in the order in which they are written, each with
    its name in cluster_analysis.db, which in snake case is the name of its file. `of_several_ranks`: further tables, which
    compare ranks. `extras`: what an option adds and requires, by the name of the option. `pictures`: the tables that an export
    type writes in place of `exports`, where it writes a picture. `subject`: the thing that it counts; a rank
    without rows in the table `counted`, by default the first of `exports`, has no answer. `also`: further tables that the
    summary reads. `counts_kernels`: whether its figures are wrong where kernels are missing. `found_by_asking`: the condition
    that only a run of the analysis can check, where having what it requires does not suffice.
    """

    command: str
    meaning: str  # the help of the command: a question in one line of at most 55 characters, and below it what is shown
    subject: str
    exports: Mapping[str, str]
    requires: tuple[Requirement, ...]
    options: tuple[str, ...] = (INPUT, MACHINE)  # options of a profile that the command takes, by section or name
    also: tuple[str, ...] = ()
    of_several_ranks: Mapping[str, str] = field(default_factory=dict)
    extras: Mapping[str, Extra] = field(default_factory=dict)
    pictures: Mapping[str, Extra] = field(default_factory=dict)
    counted: str | None = None
    counts_kernels: bool = True
    found_by_asking: str | None = None

    @property
    def tables(self) -> tuple[str, ...]:
        """All tables to build for it, also those whose warnings say which rows were skipped and which kernels are missing."""
        of_steps = () if "step.reported_audit" in self.also else ("kernels.step_audit",)
        missing = ("step.overlap_audit", *of_steps, "kernels.statistic_audit") if self.counts_kernels else ()
        return (*self.exports, *self.also, *missing, "trace.set_aside")

    def with_extra(self, name: str) -> "Analysis":
        """Return the analysis with the tables of one of its extras."""
        extra = self.extras[name]
        return replace(self, exports={**self.exports, **extra.exports}, also=(*self.also, *extra.also))

    def with_picture(self, export_type: str) -> "Analysis":
        """Return the analysis with the tables of one of its pictures beside those that it reads."""
        picture = self.pictures[export_type]
        return replace(self, also=(*self.also, *picture.exports, *picture.also))


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

_COUNTERS = ("compute", "counters")
_STACKS = ("stacks", "ops")
_COMMUNICATION = any_of("communication", "reported_communication")

ANALYSES: Mapping[str, Analysis] = {
    analysis.command: analysis
    for analysis in (
        Analysis(
            "module-stats",
            "Which modules cost the time, by which ops and kernels?\n\n"
            "Shows the modules as a tree with the compute time inside each and of its own, the ops and kernels that cost "
            "them most, and how much of all kernel time modules explain.",
            "modules",
            {"module.statistic": "ModuleStatistic", "module.tree": "ModuleTree", "module.coverage": "ModuleCoverage"},
            requires=("modules", "kernels"),
            options=(INPUT, MODULES, MACHINE),
            # Of the first tables only the warnings are shown.
            also=(
                "module.chosen_domain",
                "module.replayed",
                "module.lost_launch",
                "module.lost_backward",
                "across.module_time",
                "across.module_cost",
                "across.coverage",
            ),
            of_several_ranks={"across.module": "ModuleAcrossRanks"},
            extras={
                "pmu": Extra(_COUNTERS, {"pmu.module": "PmuModule"}, also=("across.pmu",)),
                "source-line": Extra(
                    _STACKS, {"stack.by_module": "ModuleSourceLine", "across.module_source_line": "ModuleSourceLineAllRanks"}
                ),
            },
            pictures={**_flame("flame.module", "ModuleFlame"), **_TIMELINE},
            counted="module.tree",
        ),
        Analysis(
            "kernel-stats",
            "Which types of kernels cost the time?\n\n"
            "Shows for each type and core how many kernels there are and how long they take: total, mean, median, p95.",
            "kernels",
            {"kernels.statistic": "KernelStatistic", "across.kernel_statistic": "KernelStatisticAllRanks"},
            requires=("kernels",),
            options=(INPUT, MACHINE, "filter"),
            also=("across.kernel_kind",),
            extras={
                "by name": Extra(
                    ("kernels",), {"kernels.by_name": "KernelByName", "across.kernel_by_name": "KernelByNameAllRanks"}
                ),
                "by shapes": Extra(
                    ("kernels",), {"kernels.by_shapes": "KernelByShapes", "across.kernel_by_shapes": "KernelByShapesAllRanks"}
                ),
                "by cpu": Extra(
                    ("kernels", "ops"), {"kernels.on_cpu": "KernelOnCpu", "across.kernel_on_cpu": "KernelOnCpuAllRanks"}
                ),
            },
            counted="kernels.duration",
        ),
        Analysis(
            "op-stats",
            "Which framework ops cost the time, on host and device?\n\n"
            "Shows ops by name and input shapes, with the time of the kernels that they launched.",
            "ops",
            {"op.statistic": "OpStatistic", "across.op_statistic": "OpStatisticAllRanks"},
            requires=(any_of("ops", "reported_ops"),),
            options=(INPUT, MACHINE, "filter"),
            also=("kernels.duration", "across.op_total"),
            extras={
                "source-line": Extra(_STACKS, {"stack.by_op": "OpSourceLine", "across.op_source_line": "OpSourceLineAllRanks"})
            },
            pictures=_flame("flame.op", "OpFlame", "ops", "kernels"),
            counted="op.by_shape",
        ),
        Analysis(
            "api-stats",
            "Which host calls into CANN or CUDA cost the time?\n\n"
            "Shows the calls by layer and name: how many there are, how long they take without the calls inside them, and how "
            "long the device was idle meanwhile.",
            "host calls",
            {"api.statistic": "ApiStatistic", "across.api_statistic": "ApiStatisticAllRanks"},
            requires=("host_calls",),
            options=(INPUT, MACHINE, "filter"),
            also=("op.host", "across.api_role"),
            counted="api.duration",
            counts_kernels=False,
        ),
        Analysis(
            "stacks",
            "Where in my Python source is the time spent?\n\n"
            "Shows the places in the source, or whole stacks, from which ops were called: the time of their kernels, and their "
            "own time on the host.",
            "ops with Python stacks",
            {
                "stack.by_frame": "StackFrame",
                "stack.by_stack": "Stack",
                "across.stack_frame": "StackFrameAllRanks",
                "across.stack": "StackAllRanks",
            },
            requires=_STACKS,
            options=(INPUT, MODULES, MACHINE, "under", "module", "user_code"),
            also=("op.host", "kernels.duration", "stack.cost", "stack.chosen_path"),
            extras={"module": Extra(("modules",), {})},
            pictures=_flame("flame.stack", "StackFlame", "kernels"),
            counted="stack.cost",
        ),
        Analysis(
            "communication-stats",
            "Which kinds of communication cost the time?\n\n"
            "Shows communication operators by type and group: how many there are and how long they take. Why they take so "
            "long: communication-time.",
            "communication operators",
            {
                "communication.statistic": "CommunicationStatistic",
                "across.communication_statistic": "CommunicationStatisticAllRanks",
                "across.communication_group": "CommunicationGroup",
            },
            requires=(_COMMUNICATION,),
            also=("across.communication_total",),
        ),
        Analysis(
            "mfu",
            "How much of the peak of the device does the model use?\n\n"
            "Shows model FLOPs utilisation (MFU: FLOPs by the time of the steps), and how well the matrix products use the "
            "device while they run.",
            "compute kernels",
            {
                "mfu.rank": "Mfu",
                "mfu.module": "MfuModule",
                "mfu.op": "MfuOp",
                "mfu.kernel_efficiency": "MfuKernel",
                "mfu.audit": "MfuAudit",
                "mfu.operator_mfu": "OperatorMFU",
                "mfu.module_mfu": "ModuleMFU",
                "across.mfu": "MfuAllRanks",
            },
            requires=("compute", "shapes"),
            options=(INPUT, MODULES, MACHINE, "peak_tflops"),
            also=(
                "module.chosen_domain",
                "across.mfu_peak",
                "across.mfu_left_out",
                "across.mfu_finding",
            ),
        ),
        Analysis(
            "pmu-stats",
            "What bounds the kernels: computing, memory or neither?\n\n"
            "Shows hardware counters: how busy the pipes of the cores were, how often caches were hit.",
            "kernels with hardware counters",
            {
                "pmu.kernel_type": "PmuKernelType",
                "pmu.op": "PmuOp",
                "pmu.module": "PmuModule",
                "pmu.metric": "PmuMetric",
                "across.pmu": "PmuAllRanks",
            },
            requires=_COUNTERS,
            options=(INPUT, MODULES, MACHINE),
            also=("module.chosen_domain",),
        ),
        Analysis(
            "mstx-stats",
            "How long did my mstx ranges take, and what ran inside?\n\n"
            "Shows mstx marks and ranges by domain and message: host and device time, and the kernels launched inside.",
            "mstx marks or ranges",
            {"mstx.statistic": "MstxStatistic", "mstx.step_statistic": "MstxStepStatistic"},
            requires=("marks",),
            also=("op.host", "across.mstx", "across.mstx_producer"),
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
                "across.step_total",
                "across.step_duration",
                "across.step_communication",
                "across.copy",
            ),
            pictures=_TIMELINE,
        ),
        Analysis(
            "free-time",
            "Why is the device idle?\n\n"
            "Shows what the host did while no kernel ran, by cause, and the longest gaps with the ops around them.",
            "kernels",
            {"free.cause": "FreeTime", "free.longest_gap": "FreeGap", "free.unknown_cause": "FreeUnknownCause"},
            requires=("kernels", "ops"),
            also=("step.time", "step.reported_audit", "trace.set_aside_call", "across.free_cause", "across.free_unknown_cause"),
            pictures=_TIMELINE,
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
            requires=(_COMMUNICATION,),
            options=(INPUT, MODULES, MACHINE),
            also=(
                "module.chosen_domain",
                "across.communication_time",
                "across.communication_unknown",
            ),
        ),
        Analysis(
            "links",
            "Which links between ranks carry how much, and how fast?\n\n"
            "Shows for each pair of ranks and each link what was moved, how fast, and how much slower that is than the same "
            "transfers of other pairs.",
            "transfers",
            {"across.link": "Link", "across.link_packet": "LinkPacket"},
            requires=("transfers",),
            also=("communication.packet", "across.link_kind"),
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
            also=("step.reported_audit",),
            extras={"by collective": Extra(("kernels", "communication"), {"across.collective": "SlowCollective"})},
        ),
        Analysis(
            "memory",
            "What fills the memory of the device, and does it leak?\n\n"
            "Shows what was alive when most memory was allocated, by module and op, how far that was from the memory of the "
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
            "share the experts, and what that costs.",
            "grouped matmuls, the kernels of experts (MoE)",
            {
                "experts.load": "ExpertLoad",
                "experts.call": "ExpertCall",
                "experts.expert": "Expert",
                "across.expert_total": "ExpertGroup",
                "across.expert_rank": "ExpertRank",
                "across.expert_call": "ExpertCallAllRanks",
            },
            requires=("compute",),
            options=(INPUT, MODULES, MACHINE),
            also=("module.chosen_domain", "across.expert_group", "across.expert_rows"),
            found_by_asking="whether kernels multiply groups of rows, as those of experts do",
        ),
        Analysis(
            "clock",
            "Did kernels run below the rated clock?\n\n"
            "Shows the real clock of each device over time beside its rated clock, which kernels ran below that, and what it "
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
            found_by_asking="whether layers repeat in the sequence of kernels",
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
}

# The export types that write a picture of an analysis, in place of tables.
PICTURES = tuple(dict.fromkeys(name for analysis in ANALYSES.values() for name in analysis.pictures))
