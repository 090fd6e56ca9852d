"""What small profiles answer, and why not what they do not."""

from prof_analysis.sources.rank import FOUND_OUT_BY_ASKING, QUESTIONS

NO_OPERATORS = "no COMMUNICATION_OP (collected on one device, or nothing was communicated), so no communication operators"
NO_COUNTERS = "no hardware counters (PMU); collect with aic_metrics, such as AiCMetrics.PipeUtilization"
# What kernels alone can tell.
OF_KERNELS = ("kernel-stats", "mfu", "step-time", "slow-ranks")
# What a small profile without communication, counters and compiled graphs cannot tell.
NOT_IN_ONE_RANK = ("communication-stats", "communication-time", "pmu-stats", "graph-overhead")


def all_but(*questions: str) -> tuple[str, ...]:
    """Return all that a rank can be known to answer, without these."""
    assert set(questions) <= set(QUESTIONS)
    return tuple(question for question in QUESTIONS if question not in {*questions, *FOUND_OUT_BY_ASKING})
