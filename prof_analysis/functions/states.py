"""The states of threads during phases, in arrays: what states() of sql/macros/intervals.sql does in SQL."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from prof_analysis.functions.arrays import NONE, Array, Batch, Ints, distinct, grouped, in_order, places_in, table, whole

ASPECTS = (1, 2, 3, 4)


def states(phase_batches: Iterable[Batch], span_batches: Iterable[Batch]) -> pa.Table:
    """Return the phases in parts with the states in each, the same columns as states() of SQL."""
    phases = whole(phase_batches)
    keys, starts, ends = phases["key"], phases["start_ns"], phases["end_ns"]
    threads = distinct(phases["tid"])
    phases_of = [
        phase[np.argsort(starts[phase], kind="stable")]
        for phase in grouped(np.searchsorted(threads, phases["tid"]), len(threads))
    ]
    spans_of = _lasting(span_batches, threads, [(starts[phase], ends[phase]) for phase in phases_of])
    parts: list[tuple[Ints, ...]] = []
    for phase in phases_of:
        timelines = [_changes(*next(spans_of)) for _ in ASPECTS]
        begin = distinct(np.concatenate([starts[phase], *(moment for moment, _ in timelines)]))
        place = np.searchsorted(starts[phase], begin, "right") - 1
        is_in_phase = (place >= 0) & (begin < ends[phase][place])
        begin, of_phase = begin[is_in_phase], phase[place[is_in_phase]]
        end = np.minimum(ends[of_phase], np.append(begin[1:], ends[of_phase[-1]]))
        parts.append((keys[of_phase], begin, end, *(_last_change(moment, state, begin) for moment, state in timelines)))
    names = ("key", "start_ns", "end_ns", *(f"state_{one}" for one in ASPECTS))
    return table({name: np.concatenate([np.empty(0, np.int64), *(one[at] for one in parts)]) for at, name in enumerate(names)})


def _lasting(batches: Iterable[Batch], threads: Ints, phases_of: list[tuple[Ints, Ints]]) -> Iterator[list[Ints]]:
    """Yield, for each thread and aspect, the columns of the spans that last into a phase.

    What lasts into none is let go with its batch: of a training that is half of them, 0.15 GB at a million kernels.
    """
    names = ("state", "around", "start_ns", "end_ns")
    kept = [[[np.empty(0, np.int64)] for _ in names] for _ in range(len(threads) * len(ASPECTS))]
    for batch in batches:
        for place, span in enumerate(_by_thread_and_aspect(threads, batch["tid"], batch["aspect"])[:-1]):
            phases = phases_of[place // len(ASPECTS)]
            lasting = span[_lasts_into(batch["start_ns"][span], batch["end_ns"][span], *phases)]
            for parts, name in zip(kept[place], names, strict=True):
                parts.append(batch[name][lasting])
    while kept:
        yield [np.concatenate(parts) for parts in kept.pop(0)]


def _by_thread_and_aspect(threads: Ints, tid: Ints, aspect: Ints) -> list[Ints]:
    """Return the places of the spans of each thread in each aspect, and last of those of other threads."""
    of_others = len(threads) * len(ASPECTS)
    return grouped(np.minimum(places_in(threads, tid) * len(ASPECTS) + aspect - 1, of_others), of_others + 1)


def _lasts_into(starts: Ints, ends: Ints, phase_starts: Ints, phase_ends: Ints) -> Array:
    """Return whether each span has a moment in common with one of the phases, which come in order."""
    first = np.searchsorted(phase_ends, starts, "right")
    return (ends > starts) & (np.append(phase_starts, np.iinfo(np.int64).max)[first] < ends)


def _changes(states: Ints, around: Ints, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the moments at which spans start and end, in order, and the state then; of one moment the last one counts."""
    by_start, by_end = in_order(starts, -ends, states), in_order(ends, -starts, -states)
    # Two lists in order are merged: ends come before starts.
    moment, state = np.append(ends[by_end], starts[by_start]), np.append(around[by_end], states[by_start])
    merged = np.argsort(moment, kind="stable")
    return moment[merged], state[merged]


def _last_change(moment: Ints, state: Ints, at: Ints) -> Ints:
    """Return the last state up to each moment; NONE where there is none."""
    return np.append(state, NONE)[np.searchsorted(moment, at, "right") - 1]
