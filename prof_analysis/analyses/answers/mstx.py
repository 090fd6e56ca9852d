"""The answer of `mstx-stats`: the mstx ranges with the most time, then marks, and how many each producer has made."""

from prof_analysis.analyses.answers.answer import Block, Facts, heaviest_of, said, size_of, table_of
from prof_analysis.analyses.answers.words import several
from prof_analysis.analyses.asked import Tables

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
