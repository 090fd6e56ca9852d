"""The spans that leave their work to others, in arrays: what wrapping() of sql/macros/intervals.sql does in SQL."""

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from prof_analysis.functions.arrays import NONE, Array, Batch, Ints, is_new, outer_first, runs, table, whole


def wrapping(
    span_batches: Iterable[Batch],
    enclosed_batches: Iterable[Batch],
    part_batches: Iterable[Batch],
    work_batches: Iterable[Batch],
) -> pa.Table:
    """Return the spans that wrapping() of SQL returns."""
    spans = whole(span_batches)
    order = outer_first(*(spans[name] for name in ("span_id", "tid", "start_ns", "end_ns")))
    ids, threads, starts, ends, kinds, may_wrap = (
        spans.pop(name)[order] for name in ("span_id", "tid", "start_ns", "end_ns", "kind", "may_wrap")
    )
    del order
    place_of = _places(ids)
    parts, enclosed, work = whole(part_batches), whole(enclosed_batches), whole(work_batches)
    whole_of, is_part = np.arange(len(ids)), np.zeros(len(ids), bool)
    part = place_of(parts["span_id"])
    whole_of[part], is_part[part] = place_of(parts["whole_id"]), True
    inside, around = place_of(enclosed["span_id"]), place_of(enclosed["parent_id"])
    is_counted = ~is_part[inside]
    is_wrapper = _has_others(kinds, inside[is_counted], around[is_counted]) & (may_wrap == 1) & (ends > starts)
    del inside, around, is_counted, is_part
    own, left = _work(place_of(work["span_id"]), whole_of, work)
    up_to = np.cumsum(own + left)
    begun = up_to[_last_begun(threads, starts, ends)] - up_to
    return table({"span_id": ids[is_wrapper & (begun + left > own)]})


def _places(ids: Ints) -> Callable[[Ints], Ints]:
    """Return a function that finds the places of ids, -1 for one that is not there."""
    first, last = (int(ids.min()), int(ids.max())) if len(ids) else (0, -1)
    if last - first >= 8 * len(ids):
        by_id = np.append(np.argsort(ids, kind="stable"), -1)
        in_order = np.append(ids[by_id[:-1]], NONE)
        return lambda wanted: by_id[np.where(in_order[at := np.searchsorted(in_order[:-1], wanted)] == wanted, at, -1)]
    # Ids that number rows are places in an array: the pass takes 1.4 s in place of 2.7 at a million kernels.
    place_of = np.full(last - first + 3, -1)
    place_of[ids - first + 1] = np.arange(len(ids))
    return lambda wanted: place_of[np.clip(wanted, first - 1, last + 1) - (first - 1)]


def _has_others(kinds: Ints, inside: Ints, around: Ints) -> Array:
    """Return whether each span has spans directly inside it, and not of its own kind alone."""
    kind = kinds[inside]
    has_any, has_kind, has_other = (np.zeros(len(kinds), bool) for _ in range(3))
    has_any[around] = True
    has_kind[around[kind != NONE]] = True
    has_other[around[(kind != NONE) & (kind != kinds[around])]] = True
    has_others: Array = has_any & ((kinds == NONE) | has_other | ~has_kind)
    return has_others


def _work(place: Ints, whole_of: Ints, work: Batch) -> tuple[Ints, Ints]:
    """Return how much work each span does itself, and how much it leaves to others; the same work of a span counts once."""
    place, number = np.append(whole_of, -1)[place], work["work_id"]
    order = np.lexsort((number, place))
    place, number, is_left = place[order], number[order], work["is_left"][order] == 1
    counts = (is_new(place) | is_new(number)) & (place >= 0)
    own, left = (np.bincount(place[counts & of_kind], minlength=len(whole_of)) for of_kind in (~is_left, is_left))
    return own, left


def _last_begun(threads: Ints, starts: Ints, ends: Ints) -> Ints:
    """Return the place of the last span that begins before the end of each one on its thread, itself if there is none."""
    last = np.arange(len(starts))
    for first, next_first in runs(threads):
        before_end = first - 1 + np.searchsorted(starts[first:next_first], ends[first:next_first])
        np.maximum(last[first:next_first], before_end, out=last[first:next_first])
    return last
