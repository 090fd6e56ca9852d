"""The states of threads during phases, in arrays: what states() of sql/macros/intervals.sql does in SQL."""

import numpy as np
import pyarrow as pa

from prof_analysis.functions.arrays import Array, Ints, column, distinct, grouped, table, values

ASPECTS = (1, 2, 3, 4)


def states_in_phases(
    key: pa.ChunkedArray,
    tid: pa.ChunkedArray,
    start_ns: pa.ChunkedArray,
    end_ns: pa.ChunkedArray,
    aspect: pa.ChunkedArray,
    state: pa.ChunkedArray,
    span_tid: pa.ChunkedArray,
    span_start_ns: pa.ChunkedArray,
    span_end_ns: pa.ChunkedArray,
    around: pa.ChunkedArray,
) -> pa.StructArray:
    """Return the phases in parts with the states in each, the same columns as states()."""
    keys, starts, ends = column(key), column(start_ns), column(end_ns)
    states, span_starts, span_ends = column(state), column(span_start_ns), column(span_end_ns)
    # A span is two changes: of its number to its state, of its number and the number of spans to the state around it.
    after_change = pa.concat_arrays([values(state), values(around)])
    threads = distinct(column(tid))
    phases_of = grouped(np.searchsorted(threads, column(tid)), len(threads))
    thread_of_span = np.searchsorted(threads, column(span_tid))
    is_wanted = np.append(threads, 0)[thread_of_span] == column(span_tid)
    aspect_of_span = np.where(is_wanted, thread_of_span * len(ASPECTS) + column(aspect) - 1, len(threads) * len(ASPECTS))
    spans_of = grouped(aspect_of_span, len(threads) * len(ASPECTS) + 1)
    parts: list[tuple[Ints, ...]] = []
    for thread, phases in enumerate(phases_of):
        phase = phases[np.argsort(starts[phases], kind="stable")]
        timelines = []
        for spans in spans_of[thread * len(ASPECTS) : (thread + 1) * len(ASPECTS)]:
            lasting = spans[_lasts_into(span_starts[spans], span_ends[spans], starts[phase], ends[phase])]
            timelines.append(_changes(lasting, states, span_starts, span_ends))
        begin = distinct(np.concatenate([starts[phase], *(moment for moment, _ in timelines)]))
        place = np.searchsorted(starts[phase], begin, "right") - 1
        is_in_phase = (place >= 0) & (begin < ends[phase][place])
        begin, of_phase = begin[is_in_phase], phase[place[is_in_phase]]
        end = np.minimum(ends[of_phase], np.append(begin[1:], ends[of_phase[-1]]))
        parts.append((keys[of_phase], begin, end, *(_last_change(moment, change, begin) for moment, change in timelines)))
    key_of_part, begins, ends_of_parts, *changes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return table(
        {
            "key": key_of_part,
            "start_ns": begins,
            "end_ns": ends_of_parts,
            **{
                f"state_{one}": after_change.take(pa.array(change, mask=change < 0))
                for one, change in zip(ASPECTS, changes, strict=True)
            },
        }
    )


def _lasts_into(starts: Ints, ends: Ints, phase_starts: Ints, phase_ends: Ints) -> Array:
    """Return whether each span has a moment in common with one of the phases, which come in order."""
    first = np.searchsorted(phase_ends, starts, "right")
    return (ends > starts) & (np.append(phase_starts, np.iinfo(np.int64).max)[first] < ends)


def _changes(span: Ints, states: Ints, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the moments at which spans start and end, in order, and the changes then; of one moment the last one counts."""
    by_start = span[np.lexsort((states[span], -ends[span], starts[span]))]
    by_end = span[np.lexsort((-states[span], -starts[span], ends[span]))]
    moment, change = np.empty(2 * len(span), np.int64), np.empty(2 * len(span), np.int64)
    started = np.arange(len(span)) + np.searchsorted(ends[by_end], starts[by_start], "right")
    ended = np.arange(len(span)) + np.searchsorted(starts[by_start], ends[by_end], "left")
    moment[started], change[started] = starts[by_start], by_start
    moment[ended], change[ended] = ends[by_end], by_end + len(states)
    return moment, change


def _last_change(moment: Ints, change: Ints, at: Ints) -> Ints:
    """Return the last change up to each moment; -1 where there is none."""
    return np.append(change, -1)[np.searchsorted(moment, at, "right") - 1]
