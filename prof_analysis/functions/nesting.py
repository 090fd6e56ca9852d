"""The innermost of the spans around each span, in arrays: what parents() of sql/macros/intervals.sql does in SQL."""

import numpy as np
import pyarrow as pa

from prof_analysis.functions.arrays import Array, Ints, column, table


def nested_spans(
    span_id: pa.ChunkedArray,
    tid: pa.ChunkedArray,
    start_ns: pa.ChunkedArray,
    end_ns: pa.ChunkedArray,
    tolerance_ns: pa.ChunkedArray,
) -> pa.StructArray:
    """Return the spans with the spans around them, the same columns as parents(), by the same steps.

    In each round all spans whose candidate does not enclose them get the candidate's own candidate.
    """
    ids, threads, starts, ends = column(span_id), column(tid), column(start_ns), column(end_ns)
    order = np.lexsort((ids, -ends, starts, threads))
    ids, threads, starts, ends = ids[order], threads[order], starts[order], ends[order]
    tolerance = int(tolerance_ns[0].as_py())

    def covers(outer_ends: Ints, inside: Ints | slice) -> Array:
        return (outer_ends >= ends[inside]) | ((outer_ends > starts[inside]) & (outer_ends >= ends[inside] - tolerance))

    is_first = np.diff(threads, prepend=threads[0] - 1) != 0
    reached = _reached_before(ends, np.flatnonzero(is_first))
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
            "start_ns": starts,
            "end_ns": ends,
            "parent_id": pa.array(ids[candidate], mask=~has_parent),
            "parent_end_ns": pa.array(ends[candidate], mask=~has_parent),
            "is_crossing": is_crossing,
        }
    )


def _reached_before(ends: Ints, firsts: Ints) -> Ints:
    """Return the last end of all spans before each one on its thread; of the first one of a thread it means nothing."""
    reached = np.zeros_like(ends)
    for first, next_first in zip(firsts.tolist(), [*firsts[1:].tolist(), len(ends)], strict=True):
        np.maximum.accumulate(ends[first : next_first - 1], out=reached[first + 1 : next_first])
    return reached
