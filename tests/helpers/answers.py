"""What small profiles answer, and why not what they do not."""

from prof_analysis.analyses import ANALYSES

NO_OPERATORS = "no COMMUNICATION_OP (collected on one device, or nothing was communicated), so no communication operators"
NO_COUNTERS = "no hardware counters (PMU); collect with aic_metrics, such as AiCMetrics.PipeUtilization"
# What kernels alone can tell.
OF_KERNELS = ("kernel-stats", "mfu", "step-time", "slow-ranks")
# What a small profile without communication, counters and compiled graphs cannot tell.
NOT_IN_ONE_RANK = ("communication-stats", "communication-time", "pmu-stats", "graph-overhead")


def all_but(*questions: str) -> tuple[str, ...]:
    """Return all that a rank can be known to answer, without these."""
    assert set(questions) <= set(ANALYSES)
    known = [command for command, analysis in ANALYSES.items() if not analysis.found_by_asking]
    return tuple(command for command in known if command not in questions)
