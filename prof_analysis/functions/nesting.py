"""The innermost of the spans around each span, in arrays: what parents() of sql/macros/intervals.sql does in SQL."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from prof_analysis.functions.arrays import NONE, Array, Batch, Ints, is_new, outer_first, runs, table, whole


def parents(batches: Iterable[Batch], within_ns: int) -> pa.Table:
    """Return the spans with the spans around them, the same columns as parents() of SQL, by the same steps.

    In each round all spans whose candidate does not enclose them get the candidate's own candidate.
    """
    spans = whole(batches)
    ids, threads, starts, ends = (spans.pop(name) for name in ("span_id", "tid", "start_ns", "end_ns"))
    order = outer_first(ids, threads, starts, ends)
    ids, threads, starts, ends = ids[order], threads[order], starts[order], ends[order]
    del order

    def covers(outer_ends: Ints, inside: Ints | slice) -> Array:
        return (outer_ends >= ends[inside]) | ((outer_ends > starts[inside]) & (outer_ends >= ends[inside] - within_ns))

    is_first = is_new(threads)
    reached = _reached_before(ends, threads)
    is_inside = covers(reached, slice(None)) & ~is_first
    is_crossing = (reached > starts) & ~is_inside & ~is_first
    # The candidate as a place in the order; -1 is none.
    candidate = np.where(is_inside, np.arange(-1, len(ids) - 1), -1)
    searching = np.flatnonzero(is_inside)
    while len(searching := searching[~covers(ends[candidate[searching]], searching)]):
        rejected = candidate[searching]
        is_crossing[searching] |= ends[rejected] > starts[searching]
        candidate[searching] = candidate[rejected]
        searching = searching[candidate[searching] >= 0]
    has_parent = candidate >= 0
    return table(
        {
            "span_id": ids,
            "tid": threads,
            "start_ns": starts,
            "end_ns": ends,
            "parent_id": np.where(has_parent, ids[candidate], NONE),
            "parent_end_ns": np.where(has_parent, ends[candidate], NONE),
            "is_crossing": is_crossing,
        }
    )


def _reached_before(ends: Ints, threads: Ints) -> Ints:
    """Return the last end of all spans before each one on its thread; of the first one of a thread it means nothing."""
    reached = np.zeros_like(ends)
    for first, next_first in runs(threads):
        np.maximum.accumulate(ends[first : next_first - 1], out=reached[first + 1 : next_first])
    return reached
