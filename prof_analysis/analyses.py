"""What an analysis is: the command that asks for it, the tables that it consists of, and what they are called in exports."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from prof_analysis.sources.rank import GRAPH_CALLS


@dataclass(frozen=True)
class Analysis:
    """A question with a command of its own.

    `exports` has its tables in the order in which they are written, each with its name in cluster_analysis.db; files are named
    like that too, in snake case; `of_several_ranks` has further ones, which compare ranks. `subject` is what it counts: a rank
    without rows in the table `counted`, the first of the exports unless given, has no answer. `also` has what the summary reads
    besides; `needs_too` a question that a rank must answer besides its command's own; `counts_kernels` says whether it is wrong
    where kernels are missing.
    """

    command: str
    subject: str
    exports: Mapping[str, str]
    also: tuple[str, ...] = ()
    of_several_ranks: Mapping[str, str] = field(default_factory=dict)
    counted: str | None = None
    needs_too: str | None = None
    counts_kernels: bool = True

    @property
    def questions(self) -> tuple[str, ...]:
        """What a rank must be able to answer."""
        question = self.command.partition(" ")[0]
        return (self.needs_too, question) if self.needs_too else (question,)

    @property
    def tables(self) -> tuple[str, ...]:
        """What to build for it, all in one go; and what was set aside or is missing, so that it is told."""
        of_steps = () if "step.reported_audit" in self.also else ("kernels.step_audit",)
        missing = ("step.overlap_audit", *of_steps, "kernels.statistic_audit") if self.counts_kernels else ()
        return (*self.exports, *self.also, *missing, "trace.set_aside")


_OF_MODULES = {"module.statistic": "ModuleStatistic", "module.tree": "ModuleTree", "module.coverage": "ModuleCoverage"}
# What users must know of the answer; nothing is shown of them but warnings.
_LOST_LINKS = ("module.lost_launch", "module.lost_backward")
_ACROSS_RANKS = {"across.module": "ModuleAcrossRanks"}

ANALYSES: Mapping[str, Analysis] = {
    analysis.command: analysis
    for analysis in (
        Analysis(
            "module-stats",
            "modules",
            _OF_MODULES,
            also=_LOST_LINKS,
            of_several_ranks=_ACROSS_RANKS,
            counted="module.tree",
        ),
        Analysis(
            "module-stats --pmu",
            "modules",
            {**_OF_MODULES, "pmu.module": "PmuModule"},
            also=(*_LOST_LINKS, "across.pmu"),
            of_several_ranks=_ACROSS_RANKS,
            counted="module.tree",
            needs_too="pmu-stats",
        ),
        Analysis(
            "kernel-stats",
            "kernels",
            {"kernels.statistic": "KernelStatistic", "across.kernel_statistic": "KernelStatisticAllRanks"},
        ),
        Analysis(
            "op-stats",
            "ops",
            {"op.statistic": "OpStatistic", "across.op_statistic": "OpStatisticAllRanks"},
            also=("kernels.duration",),
        ),
        Analysis(
            "communication-stats",
            "communication operators",
            {
                "communication.statistic": "CommunicationStatistic",
                "across.communication_statistic": "CommunicationStatisticAllRanks",
            },
        ),
        Analysis("step-time", "kernels", {"step.time": "StepTime"}, also=("step.reported_audit",)),
        Analysis(
            "free-time",
            "kernels",
            {"free.cause": "FreeTime", "free.longest_gap": "FreeGap", "free.unknown_cause": "FreeUnknownCause"},
            also=("step.time", "step.reported_audit", "trace.set_aside_call"),
            counted="step.time",
        ),
        Analysis(
            "communication-time",
            "communication operators",
            {
                "communication.time": "CommunicationTime",
                "communication.group_time": "CommunicationGroupTime",
                "communication.module_time": "CommunicationModuleTime",
                "communication.rank_time": "CommunicationRankTime",
                "communication.link": "CommunicationLink",
                "across.communication_group_time": "CommunicationGroupTimeAllRanks",
            },
        ),
        Analysis(
            "slow-ranks",
            "communication and steps",
            {
                "across.slow_rank": "SlowRank",
                "across.slow_rank_finding": "SlowRankFinding",
                "across.slow_rank_module": "SlowRankModule",
                "across.rank_communication": "RankCommunication",
            },
            also=("step.reported_audit",),
        ),
        Analysis(
            "layer-stats",
            "compute kernels",
            {
                "layer.structure": "LayerStructure",
                "layer.statistic": "LayerPosition",
                "layer.by_index": "LayerByIndex",
                "layer.pass_layer": "Layer",
            },
        ),
        Analysis(
            "graph-overhead",
            GRAPH_CALLS,
            {"graph.statistic": "GraphOverhead", "graph.call": "GraphCall"},
            also=("op.host", "trace.set_aside_call"),
            counts_kernels=False,
        ),
        Analysis(
            "mfu",
            "compute kernels",
            {
                "mfu.rank": "Mfu",
                "mfu.module": "MfuModule",
                "mfu.op": "MfuOp",
                "mfu.kernel_mfu": "MfuKernel",
                "mfu.audit": "MfuAudit",
                "mfu.operator_mfu": "OperatorMFU",
                "mfu.module_mfu": "ModuleMFU",
                "across.mfu": "MfuAllRanks",
            },
        ),
        Analysis(
            "pmu-stats",
            "kernels with hardware counters",
            {
                "pmu.kernel_type": "PmuKernelType",
                "pmu.op": "PmuOp",
                "pmu.module": "PmuModule",
                "pmu.metric": "PmuMetric",
                "across.pmu": "PmuAllRanks",
            },
        ),
        Analysis(
            "mstx-stats",
            "mstx marks or ranges",
            {"mstx.statistic": "MstxStatistic", "mstx.step_statistic": "MstxStepStatistic"},
            also=("op.host",),
        ),
    )
}
