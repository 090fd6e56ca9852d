"""The analysis `mstx-stats`: how long did my mstx ranges take, and what ran inside?"""

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, heaviest_of, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import several

ANALYSIS = Analysis(
    "mstx-stats",
    "How long did my mstx ranges take, and what ran inside?\n\n"
    "Shows mstx marks and ranges by domain and message: host and device time, and the kernels launched inside.",
    "mstx marks or ranges",
    {"mstx.statistic": "MstxStatistic", "mstx.step_statistic": "MstxStepStatistic"},
    requires=("marks",),
    also=("op.host", "across.mstx", "across.mstx_producer"),
    rows={"message": Rows("mstx.statistic"), "step": Rows("mstx.step_statistic", is_listed=True)},
    place=8,
    examples={"The ranges of one step": "result --step-id 10"},
    returns="""Return mstx marks and ranges by domain and message: host and device time, and the kernels launched inside.

    The heaviest come first. Median and p95 as in kernel_stats(). With by="step" a row covers one profiler step, and marks
    and ranges that began outside every step have no row.
    Raises InputError when no rank holds mstx marks or ranges.
    """,
    keys=lambda: schema.answer(
        producers=schema.rows("who made marks and ranges", "across.mstx_producer"),
        heaviest=schema.rows("ranges with most host time, then marks", "across.mstx"),
    ),
)

_COLUMNS = {
    "message": "message",
    "kind": "kind",
    "count": "event_count",
    "host time": "host_total_ns",
    "device time": "device_total_ns",
    "kernel time": "kernel_duration_ns",
    "kernels": "kernel_count",
    "longest": "host_max_ns",
    "domain": "domain",
    "producer": "producer",
}


def mstx_stats(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the ranges with the most host time, then marks, and how many each producer has made, over all ranks."""
    heaviest = heaviest_of(profile, "across.mstx", top)
    producers = profile.rows("FROM across.mstx_producer")
    facts: Facts = {**size_of(profile, "mstx.statistic"), "producers": producers, "heaviest": heaviest}
    of_producers = [
        f"{several(row['event_count'], row['kind'])} ({row['producer'] or 'unknown producer'})" for row in producers
    ]
    return facts, [
        table_of("across.mstx", heaviest, _COLUMNS),
        said(f"{'; '.join(of_producers)}; {several(facts['ranks'], 'rank')}"),
    ]
