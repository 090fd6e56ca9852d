"""What small profiles answer, and why not what they do not: by the capabilities that they lack, whatever analyses there are."""

from collections.abc import Mapping

from prof_analysis.analyses import ANALYSES
from prof_analysis.common.capabilities import CAPABILITIES, why_not
from prof_analysis.sources.ascend_beside.profiler_info import NO_CLOCK, NO_GRAPH_CALLS, NO_HOST_CALLS, NO_STACKS, why_no_memory

NO_OPERATORS = "no COMMUNICATION_OP (collected on one device, or nothing was communicated), so no communication operators"
NO_COUNTERS = "no hardware counters (PMU); collect with aic_metrics, such as AiCMetrics.PipeUtilization"
COMMUNICATION = ("communication", "reported_communication", "transfers")
# What a database of one rank without communication, counters, compiled graphs and memory lacks.
NOT_IN_ONE_RANK = dict.fromkeys(COMMUNICATION, NO_OPERATORS) | {
    "counters": NO_COUNTERS,
    "graph_calls": NO_GRAPH_CALLS,
    "clock": NO_CLOCK,
    "host_calls": NO_HOST_CALLS,
    "reported_host_calls": "no reported figures of host calls in this format",
    "static_memory": "no planned memory of compiled graphs (static_op_mem.csv)",
    "stacks": NO_STACKS,
    "memory": why_no_memory({}),
    "settings": "no ENV_VARIABLES in META_DATA, so no environment variables of the run",
}
NOT_IN_KERNELS = CAPABILITIES.keys() - {"kernels", "compute", "shapes"}


def unanswered(lacks: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the analyses that a rank without these capabilities cannot answer, each with the reason."""
    assert lacks.keys() <= CAPABILITIES.keys()
    return [(command, reason) for command, analysis in ANALYSES.items() if (reason := why_not(analysis.requires, lacks))]


def answered_without(*capabilities: str) -> tuple[str, ...]:
    """Return the analyses that a rank without these capabilities answers."""
    unknown = {command for command, _ in unanswered(dict.fromkeys(capabilities, "lacking"))}
    return tuple(command for command in ANALYSES if command not in unknown)
