"""The answers of commands: facts, tables whose columns have formats, and sentences, however they are shown."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from prof_analysis.answers import communication, graph, layer, mfu, module, mstx, pmu, statistic, step
from prof_analysis.answers.answer import Answer, Block, Facts

if TYPE_CHECKING:
    from prof_analysis.profile import Profile

# Command -> the function that returns its facts, which include the first rows of tables, and the blocks that show them.
ANSWERS: Mapping[str, Callable[..., tuple[Facts, list[Block]]]] = {
    "communication-stats": statistic.communication_stats,
    "communication-time": communication.communication_time,
    "free-time": step.free_time,
    "graph-overhead": graph.graph_overhead,
    "kernel-stats": statistic.kernel_stats,
    "layer-stats": layer.layer_stats,
    "mfu": mfu.mfu,
    "module-stats": module.module_stats,
    "mstx-stats": mstx.mstx_stats,
    "op-stats": statistic.op_stats,
    "pmu-stats": pmu.pmu_stats,
    "slow-ranks": communication.slow_ranks,
    "step-time": step.step_time,
}


def answer_of(profile: "Profile", command: str, top: int, **shown: Any) -> Answer:
    """Return the answer of a command about a profile, with at most `top` rows of each list; `shown` has further options."""
    facts, blocks = ANSWERS[command](profile, top, **shown)
    return Answer(command, facts, tuple(blocks), tuple(profile.warnings), tuple(profile.failures))
