"""The time that spans cover, in arrays: what list_stretches() and covered_phases() of sql/macros/intervals.sql do in SQL."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from prof_analysis.functions.arrays import Batch, Ints, distinct, grouped, places_in, table, whole

LISTS = (1, 2, 3, 4)


def list_stretches(span_batches: Iterable[Batch], thread_batches: Iterable[Batch]) -> pa.Table:
    """Return the stretches that spans up to each list cover, the same columns as list_stretches() of SQL."""
    spans, threads = whole(span_batches), whole(thread_batches)
    parts = [(np.empty(0, np.int64),) * 5]
    for thread, rows in _by_thread(distinct(threads["tid"]), spans["tid"]):
        lists, starts, ends = (spans[name][rows] for name in ("list", "start_ns", "end_ns"))
        for number in LISTS:
            counts = lists <= number
            if counts.any():
                start, end = _stretches(starts[counts], ends[counts])
                before = np.cumsum(end - start) - (end - start)
                parts.append((np.full(len(start), number), np.full(len(start), thread), start, end, before))
    names = ("list", "tid", "start_ns", "end_ns", "before_ns")
    return table({name: np.concatenate([part[at] for part in parts]) for at, name in enumerate(names)})


def covered_phases(phase_batches: Iterable[Batch], stretch_batches: Iterable[Batch]) -> pa.Table:
    """Return the phases with the time that each list of stretches covers, the same columns as covered_phases() of SQL."""
    phases, stretches = whole(phase_batches), whole(stretch_batches)
    covered = {number: np.zeros(len(phases["key"]), np.int64) for number in LISTS}
    threads = distinct(phases["tid"])
    of_phases = dict(_by_thread(threads, phases["tid"]))
    for thread, rows in _by_thread(threads, stretches["tid"]):
        phase = of_phases[thread]
        for number in LISTS:
            of_list = rows[stretches["list"][rows] == number]
            of_list = of_list[np.argsort(stretches["start_ns"][of_list], kind="stable")]
            if len(of_list):
                starts, ends, before = (stretches[name][of_list] for name in ("start_ns", "end_ns", "before_ns"))
                until = [_covered_until(phases[moment][phase], starts, ends, before) for moment in ("start_ns", "end_ns")]
                covered[number][phase] = until[1] - until[0]
    kept = {name: phases[name] for name in ("key", "start_ns", "end_ns")}
    return table({**kept, **{f"covered_{number}": covered[number] for number in LISTS}})


def _by_thread(threads: Ints, tid: Ints) -> list[tuple[int, Ints]]:
    """Return each of the threads, which are in order, with the places of its rows."""
    return list(zip(threads.tolist(), grouped(places_in(threads, tid), len(threads) + 1)[:-1], strict=True))


def _stretches(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return where the stretches start and end that spans cover. Spans that only touch are one stretch."""
    order = np.argsort(starts, kind="stable")
    starts, reached = starts[order], np.maximum.accumulate(ends[order])
    first = np.flatnonzero(np.append(True, starts[1:] > reached[:-1]))
    return starts[first], reached[np.append(first[1:], len(starts)) - 1]


def _covered_until(moments: Ints, starts: Ints, ends: Ints, before: Ints) -> Ints:
    """Return how much time stretches, which do not overlap, cover up to each moment."""
    begun = np.searchsorted(starts, moments, "right") - 1
    covered: Ints = np.where(begun < 0, 0, before[begun] + np.minimum(moments, ends[begun]) - starts[begun])
    return covered
