"""What an analysis is: the command that asks for it, the tables that it consists of, and what they are called in exports."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Analysis:
    """A question with a command of its own.

    `exports` has its tables in the order in which they are written, each with its name in cluster_analysis.db; files are named
    like that too, in snake case; `of_several_ranks` has further ones, which compare ranks. `subject` is what it counts; without
    any a rank has no answer, unless it `may_be_empty`. `also` has what the summary reads besides.
    """

    command: str
    subject: str
    exports: Mapping[str, str]
    also: tuple[str, ...] = ()
    of_several_ranks: Mapping[str, str] = field(default_factory=dict)
    may_be_empty: bool = False

    @property
    def tables(self) -> tuple[str, ...]:
        """What to build for it, all in one go; and what was set aside, so that it is told."""
        return (*self.exports, *self.also, "trace.set_aside")


ANALYSES: Mapping[str, Analysis] = {
    analysis.command: analysis
    for analysis in (
        Analysis(
            "module-stats",
            "modules",
            {"module.statistic": "ModuleStatistic", "module.tree": "ModuleTree", "module.coverage": "ModuleCoverage"},
            of_several_ranks={"across.module": "ModuleAcrossRanks"},
            may_be_empty=True,
        ),
        Analysis(
            "kernel-stats",
            "kernels",
            {"kernel.statistic": "KernelStatistic", "across.kernel_statistic": "KernelStatisticAllRanks"},
        ),
        Analysis(
            "op-stats",
            "ops",
            {"op.statistic": "OpStatistic", "across.op_statistic": "OpStatisticAllRanks"},
            also=("kernel.duration",),
        ),
        Analysis(
            "communication-stats",
            "communication operators",
            {
                "communication.statistic": "CommunicationStatistic",
                "across.communication_statistic": "CommunicationStatisticAllRanks",
            },
        ),
        Analysis("step-time", "kernels", {"step.time": "StepTime"}, also=("step.overlap_audit",)),
        Analysis(
            "free-time",
            "gaps between kernels",
            {"free.cause": "FreeTime", "free.longest_gap": "FreeGap", "free.untold": "FreeUntold"},
        ),
        Analysis(
            "layer-stats",
            "compute kernels",
            {
                "layer.structure": "LayerStructure",
                "layer.statistic": "LayerPosition",
                "layer.number": "LayerNumber",
                "layer.pass_layer": "Layer",
            },
        ),
        Analysis(
            "graph-overhead",
            "calls of compiled graphs (ops named npu_fx_compiler inference or cache_compiler inference)",
            {"graph.statistic": "GraphOverhead", "graph.call": "GraphCall"},
        ),
        Analysis(
            "mfu",
            "compute kernels",
            {
                "mfu.rank": "Mfu",
                "mfu.module": "MfuModule",
                "mfu.op": "MfuOp",
                "mfu.kernel": "MfuKernel",
                "mfu.audit": "MfuAudit",
                "mfu.operator_mfu": "OperatorMFU",
                "mfu.module_mfu": "ModuleMFU",
            },
        ),
    )
}
