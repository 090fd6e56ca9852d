"""Reads the captures of graphs in a trace: the launches of each, with the ops and modules around them.

A capture lies between the calls cudaStreamBeginCapture and cudaStreamEndCapture (hip... on AMD). Nothing runs on the device
meanwhile: AMD records the name of the kernel with the call, NVIDIA does not. Engines run the model eagerly before they capture
it; where that is in the trace, with the same ops and calls one after the other, its kernels have the names.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import duckdb

from prof_analysis.sources.graphs.captured import COPY, FILL, Around, Capture, Inputs, Launch, Place, Range

# A warm-up is looked for among this many times the launches of the capture.
_WARM_UP_REACH = 30
# What lies deeper in ops and modules counts as directly in those around it.
_MAX_DEPTH = 200


def token(name: str | None, is_kernel: bool) -> str | None:
    """Return the kind of a piece of work: the name of a kernel, a copy, or a fill; AMD may run the latter two as kernels."""
    text = name or ""
    if not is_kernel or text.startswith("__amd_rocclr_"):
        return FILL if "emset" in text or "ill" in text else COPY
    return name and f"kernel {name}"


_REGIONS = """
    WITH mark AS (
        SELECT thread_id(pid, tid) AS tid, start_ns, end_ns, contains(text, 'BeginCapture') AS is_begin
        FROM raw.runtime_call
        JOIN raw.string ON string.text_id = runtime_call.name
        WHERE regexp_matches(text, 'Stream(BeginCapture|EndCapture)')
    )
    SELECT end_ns, next_ns
    FROM (SELECT *, lead(start_ns) OVER by_time AS next_ns, lead(is_begin) OVER by_time AS next_is_begin
          FROM mark WINDOW by_time AS (PARTITION BY tid ORDER BY start_ns, end_ns))
    WHERE is_begin AND NOT next_is_begin
    ORDER BY end_ns
"""
# What the SQL reads of the raw tables.
NEEDS: Mapping[str, frozenset[str]] = {
    "raw.string": frozenset(("text_id", "text")),
    "raw.runtime_call": frozenset(("event_id", "name", "pid", "tid", "start_ns", "end_ns", "correlation", "kernel")),
    "raw.device_work": frozenset(("name", "correlation", "grid")),
    "raw.cpu_op": frozenset(("event_id", "name", "pid", "tid", "start_ns", "end_ns", "sequence_number", "forward_thread_id")),
    "raw.op_input": frozenset(("event_id", "input_dims", "input_types", "input_values")),
    "raw.module_call": frozenset(("event_id", "class", "pid", "tid", "start_ns", "end_ns")),
    "raw.annotation": frozenset(("event_id", "name", "pid", "tid", "start_ns", "end_ns")),
}
# Everything on the host in the order in which what encloses comes before what is inside.
_EVENTS = """
    WITH work AS (
        SELECT correlation, min(string.text) AS name, min(grid) AS grid
        FROM raw.device_work
        JOIN raw.string ON string.text_id = device_work.name
        WHERE correlation <> 0
        GROUP BY correlation
        HAVING count(*) = 1
    ),
    event AS (
        SELECT 'op' AS kind, event_id, name, pid, tid, start_ns, end_ns, sequence_number AS number, forward_thread_id AS thread,
               NULL AS kernel, NULL AS grid
        FROM raw.cpu_op
        UNION ALL BY NAME
        SELECT 'module' AS kind, event_id, class AS name, pid, tid, start_ns, end_ns FROM raw.module_call
        UNION ALL BY NAME
        SELECT 'range' AS kind, event_id, name, pid, tid, start_ns, end_ns FROM raw.annotation
        UNION ALL BY NAME
        SELECT 'launch' AS kind, event_id, runtime_call.name, pid, tid, start_ns, end_ns,
               coalesce(kernel, work.name) AS kernel, work.grid
        FROM raw.runtime_call
        JOIN raw.string ON string.text_id = runtime_call.name
        LEFT JOIN work USING (correlation)
        WHERE regexp_matches(text, 'Launch|Mem(cpy|set)') AND NOT regexp_matches(text, 'GraphLaunch|LaunchHostFunc')
    )
    SELECT kind, event_id, string.text, thread_id(pid, tid), start_ns, end_ns, number, thread, kernel, grid
    FROM event
    JOIN raw.string ON string.text_id = event.name
    WHERE end_ns >= start_ns
    ORDER BY start_ns, end_ns DESC, kind = 'launch', event_id
"""


_INPUTS = """
    SELECT event_id, dims.text, types.text, input_value.text
    FROM raw.op_input
    JOIN raw.string AS dims ON dims.text_id = input_dims
    LEFT JOIN raw.string AS types ON types.text_id = input_types
    LEFT JOIN raw.string AS input_value ON input_value.text_id = input_values
    WHERE event_id IN (SELECT unnest($ops))
"""


class _Open(NamedTuple):
    """An event that has not ended."""

    kind: str
    event_id: int
    name: str
    start_ns: int
    end_ns: int
    number: int | None
    thread: int | None


class _Seen(NamedTuple):
    """A launch on its thread, in a capture or eager; a warm-up and its capture agree in `call`."""

    region: int
    tid: int
    call: tuple[str | None, str]
    token: str | None
    grid: str | None
    place: Place


def captures_of(connection: duckdb.DuckDBPyConnection) -> list[Capture]:
    """Return the captures in the raw tables of a trace."""
    regions = connection.execute(_REGIONS).fetchall()
    if not regions:
        return []
    by_region: dict[int, list[_Seen]] = {}
    eager: dict[int, list[_Seen]] = {}
    begun: dict[int, int] = {}  # How many eager launches the thread of a capture had made before it.
    for one in _launches(connection, regions):
        if one.region < 0:
            eager.setdefault(one.tid, []).append(one)
        else:
            begun.setdefault(one.region, len(eager.get(one.tid, ())))
            by_region.setdefault(one.region, []).append(one)
    inputs = _inputs_of(connection, by_region)
    found = []
    for region, launches in sorted(by_region.items()):
        named = tuple(_named(launches, eager.get(launches[0].tid, [])[: begun[region]]))
        found.append(Capture(named, tuple(one.token for one in named), inputs))
    return found


def _inputs_of(connection: duckdb.DuckDBPyConnection, captured: Mapping[int, list[_Seen]]) -> dict[object, Inputs]:
    """Return the recorded inputs of the ops around captured launches."""
    places = [one.place for launches in captured.values() for one in launches]
    ops = {place.op for place in places if place.is_op} | {one.key for place in places for one in place.around}
    rows = connection.execute(_INPUTS, {"ops": list(ops)}).fetchall()
    return {event_id: Inputs(*texts) for event_id, *texts in rows}


def _named(launches: list[_Seen], before: list[_Seen]) -> Iterator[Launch]:
    """Yield the launches of a capture, with the names and blocks of the kernels that the same calls launched in a warm-up."""
    tokens = [one.token for one in launches]
    grids = [one.grid for one in launches]
    if None in tokens and len({one.tid for one in launches}) == 1:
        calls, count = [one.call for one in launches], len(launches)
        near = before[-_WARM_UP_REACH * count :]
        for start in range(len(near) - count, -1, -1):
            if near[start].call == calls[0] and [one.call for one in near[start : start + count]] == calls:
                tokens = [one.token for one in near[start : start + count]]
                grids = [one.grid for one in near[start : start + count]]
                break
    for one, what, grid in zip(launches, tokens, grids, strict=True):
        yield Launch(what, one.place, grid)


def _launches(connection: duckdb.DuckDBPyConnection, regions: list[tuple[int, int]]) -> Iterator[_Seen]:
    """Yield all launches in the order of time, each with its region, -1 outside the captures, and its place."""
    starts = [start for start, _ in regions]
    stacks: dict[int, list[_Open]] = {}
    forward: dict[int, tuple[Range, ...]] = {}  # Sequence number -> the ranges around the last op that began with it.
    last_launch_end: dict[int, int] = {}
    rows = connection.execute(_EVENTS)
    while batch := rows.fetchmany(100_000):
        for kind, event_id, name, tid, start_ns, end_ns, number, thread, kernel, grid in batch:
            stack = stacks.setdefault(tid, [])
            while stack and stack[-1].end_ns <= start_ns:
                stack.pop()
            region = bisect_right(starts, start_ns) - 1
            begin_ns, until_ns = regions[region] if region >= 0 else (0, -1)
            if start_ns > until_ns:
                region = -1
            if kind != "launch" and len(stack) < _MAX_DEPTH:
                stack.append(_Open(kind, event_id, name, start_ns, end_ns, number, thread))
                if kind == "op" and number is not None and number >= 0 and not thread:
                    forward[number] = _ranges(stack, start_ns, end_ns, begin_ns, until_ns)
            # A call of the runtime can hold the call of the driver that it makes.
            elif kind == "launch" and last_launch_end.get(tid, -1) <= start_ns:
                last_launch_end[tid] = end_ns
                place = _place(stack, name, event_id, start_ns, end_ns, begin_ns, until_ns, forward)
                if region >= 0:
                    place = place._replace(around=_around(stack, place, end_ns))
                is_kernel = "Launch" in name
                what = token(kernel if is_kernel else name, is_kernel)
                yield _Seen(region, tid, (place.name, name), what, grid, place)


def _ranges(stack: list[_Open], start_ns: int, end_ns: int, begin_ns: int, until_ns: int) -> tuple[Range, ...]:
    """Return the ranges around something; those of users that enclose the whole capture are of the engine, and left out."""
    found = []
    for one in stack:
        is_around = one.start_ns < begin_ns and one.end_ns > until_ns
        if one.kind != "op" and one.start_ns <= start_ns and one.end_ns >= end_ns and not (is_around and one.kind == "range"):
            found.append(Range(one.event_id, one.name, one.kind == "module", is_around))
    return tuple(found)


def _place(
    stack: list[_Open],
    call: str,
    event_id: int,
    start_ns: int,
    end_ns: int,
    begin_ns: int,
    until_ns: int,
    forward: dict[int, tuple[Range, ...]],
) -> Place:
    """Return the place of a launch: in backward work it is that of the forward op with the number of the backward op."""
    ops = [one for one in reversed(stack) if one.kind == "op" and one.end_ns >= end_ns]
    op = ops[0] if ops else None
    ranges = _ranges(stack, start_ns, end_ns, begin_ns, until_ns)
    inside = [one for one in ranges if not one.is_around]
    backward = next((one for one in ops if one.thread and one.number is not None and one.number in forward), None)
    is_backward = backward is not None and not inside
    if backward is not None and backward.number is not None and is_backward:
        ranges = forward[backward.number]
    return Place(op.event_id if op else event_id, op.name if op else call, ranges, op is not None, is_backward)


def _around(stack: list[_Open], place: Place, end_ns: int) -> tuple[Around, ...]:
    """Return the ops around the op of a launch, outermost first; those of backward work lie inside all of its ranges."""
    numbers = {one.key: number for number, one in enumerate(place.ranges, 1)}
    depth = len(numbers) if place.is_backward else 0
    found = []
    for one in stack:
        depth = max(depth, numbers.get(one.event_id, 0))
        if one.kind == "op" and one.end_ns >= end_ns and one.event_id != place.op:
            found.append(Around(one.event_id, one.name, depth))
    return tuple(found)
