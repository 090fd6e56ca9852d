"""Which module encloses a module or an op: the recursive SQL against the rule itself, a plain join on containment.

The trace tables are filled directly, so that many random inputs can be tried. Ranges overlap, repeat
and have no length at will.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prof_analysis.database import connect
from prof_analysis.tables import Plan, build, documented_tables

EPOCH = 1_700_000_000_000_000_000  # beyond 2^53: a time that went through a float would not come back
ORDER = tuple(
    f"module.{name}"
    for name in (
        "range", "range_parent", "forward_owner", "backward_run", "call", "call_parent", "call_path", "link", "owner"
    )
)  # fmt: skip
RANDOM = settings(max_examples=30, deadline=None, print_blob=True)


@dataclass(frozen=True, order=True)
class Span:
    """An interval on a host thread."""

    start: int
    end: int
    tid: int = 1


Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Answer:
    """What the engine found. Ranges have the position in their list as id, ops too; calls have their call_id."""

    range_parent: dict[int, int | None]
    forward_owner: dict[int, int]
    owner: dict[int, int]  # of an op: the call
    call_of: dict[int, int]  # of a call: the range it is, or whose backward it is
    calls: dict[int, tuple[Span, bool]]
    call_parent: dict[int, int | None]
    call_path: dict[int, tuple[tuple[int, ...], bool]]
    runs: Rows

    def owner_range(self, op: int) -> int | None:
        return self.call_of[self.owner[op]] if op in self.owner else None


def order(span: Span, number: int) -> tuple[int, int, int, int]:
    return span.tid, span.start, -span.end, number


def encloses(outer: Span, inner: Span, tolerance: int) -> bool:
    return (
        outer.tid == inner.tid
        and outer.start <= inner.start
        and (outer.end >= inner.end or (outer.end > inner.start and outer.end + tolerance >= inner.end))
    )


def _times(span: Span) -> dict[str, object]:
    return {"tid": span.tid, "start_ns": EPOCH + span.start, "end_ns": EPOCH + span.end}


def nest(ranges: list[Span], ops: Iterable[Span] = (), backward: Iterable[tuple[int, int]] = (), tolerance: int = 0) -> Answer:
    ops = list(ops)
    texts = ["Module", *(f"M{n}" for n in range(len(ranges)))]
    rows: dict[str, list[dict[str, object]]] = {
        "string": [{"text_id": n, "text": text} for n, text in enumerate(texts)],
        "range": [
            {"range_id": n, "api": "start_end", "domain_id": 0, "name_id": n + 1, **_times(range_)}
            for n, range_ in enumerate(ranges)
        ],
        "op": [{"op_id": n, **_times(op)} for n, op in enumerate(ops)],
        "kernel": [
            {"kernel_id": n, "kind": "compute", "start_ns": EPOCH, "end_ns": EPOCH, "launch_id": n} for n in range(len(ops))
        ],
        "op_link": [{"op_id": n, "launch_id": n} for n in range(len(ops))],
        "forward_backward": [{"forward_op_id": forward, "backward_op_id": after} for forward, after in backward],
    }
    with connect({"nesting_tolerance_ns": tolerance}, threads=1) as connection:
        connection.execute("CREATE SCHEMA trace; CREATE SCHEMA stored")
        for name, values in rows.items():
            columns = documented_tables()[f"trace.{name}"].columns
            connection.execute(f"CREATE TABLE trace.{name} ({', '.join(f'{c.name} {c.stored_type}' for c in columns)})")
            cells = ", ".join(f"unnest($cells[{n + 1}]::{c.stored_type}[])" for n, c in enumerate(columns))
            by_column = [[None if (cell := row.get(c.name)) is None else str(cell) for row in values] for c in columns]
            connection.execute(f"INSERT INTO trace.{name} SELECT {cells}", {"cells": by_column})
        everything = {name: frozenset(c.name for c in documented_tables()[name].columns) for name in ORDER}
        build(connection, "ascend_db", Plan(ORDER, everything))

        def table(query: str) -> Rows:
            return connection.execute(query).fetchall()

        def by_id(query: str) -> dict[int, Any]:
            found = table(query)
            assert len({row[0] for row in found}) == len(found), "each id has one row"
            return {row[0]: row[1] if len(row) == 2 else row[1:] for row in found}

        # The engine numbers ranges anew; the names, one for each range, lead back to the positions in the list.
        position = {range_id: name_id - 1 for range_id, name_id in table("SELECT range_id, name_id FROM module.range")}
        assert [position[n + 1] for n in range(len(ranges))] == sorted(range(len(ranges)), key=lambda n: order(ranges[n], n)), (
            "module.range numbers ranges by thread, start, longest first"
        )
        calls = by_id("SELECT call_id, range_id, start_ns, end_ns, tid, is_run FROM module.call")
        parents = by_id("SELECT range_id, parent_id FROM module.range_parent")
        paths = by_id("SELECT call_id, path, is_backward FROM module.call_path")
        return Answer(
            {position[inner]: None if outer is None else position[outer] for inner, outer in parents.items()},
            {op: position[owner] for op, owner in by_id("SELECT op_id, range_id FROM module.forward_owner").items()},
            by_id("SELECT op_id, call_id FROM module.owner"),
            {call: position[row[0]] for call, row in calls.items()},
            {call: (Span(row[1] - EPOCH, row[2] - EPOCH, row[3]), row[4]) for call, row in calls.items()},
            by_id("SELECT call_id, parent_id FROM module.call_parent"),
            {call: (tuple(name - 1 for name in path), is_backward) for call, (path, is_backward) in paths.items()},
            [
                (tid, position[range_id], start - EPOCH, end - EPOCH)
                for tid, range_id, start, end in table(
                    "SELECT tid, range_id, start_ns, end_ns FROM module.backward_run ORDER BY run_id"
                )
            ],
        )


def innermost(outers: dict[int, Span], inner: Span, tolerance: int, number: int | None = None) -> int | None:
    """The rule. For the parent of a range or call, `number` is its own: only what comes before it in the order counts."""
    around = [
        n
        for n, outer in outers.items()
        if encloses(outer, inner, tolerance) and (number is None or order(outer, n) < order(inner, number))
    ]
    return max(around, key=lambda n: order(outers[n], n), default=None)


spans = st.builds(
    lambda start, length, tid: Span(start, start + length, tid),
    st.integers(0, 30),
    st.integers(0, 14) | st.just(0),
    st.integers(1, 3),
)
tolerances = st.sampled_from([0, 7])


@RANDOM
@given(st.lists(spans, max_size=25), st.lists(spans, max_size=25), tolerances)
def test_parents_and_owners_are_those_of_the_plain_join(ranges: list[Span], ops: list[Span], tolerance: int) -> None:
    too_early = Span(-1, -1, tid=9)  # makes every op a forward op, but no backward run
    answer = nest(ranges, [*ops, too_early], [(n, len(ops)) for n in range(len(ops))], tolerance)
    outers = dict(enumerate(ranges))
    assert answer.range_parent == {n: innermost(outers, range_, tolerance, n) for n, range_ in outers.items()}
    owners = [innermost(outers, op, tolerance) for op in ops]
    assert answer.forward_owner == {op: owner for op, owner in enumerate(owners) if owner is not None}
    assert [answer.owner_range(op) for op in range(len(ops))] == owners


forward_spans = st.builds(lambda start, length: Span(start, start + length), st.integers(0, 30), st.integers(0, 5))
backward_spans = st.builds(
    lambda start, length, tid: Span(start, start + length, tid), st.integers(20, 60), st.integers(0, 9), st.integers(1, 2)
)
modules = st.lists(
    st.builds(
        lambda start, length, tid: Span(start, start + length, tid),
        st.integers(0, 55),
        st.integers(0, 30),
        st.sampled_from([1, 1, 2]),
    ),
    max_size=10,
)


@RANDOM
@given(modules, st.lists(st.tuples(forward_spans, backward_spans), max_size=12), st.lists(spans, max_size=4), tolerances)
def test_backward_runs_nest_like_ranges(
    ranges: list[Span], forward_and_backward: list[tuple[Span, Span]], others: list[Span], tolerance: int
) -> None:
    ops = [op for pair in forward_and_backward for op in pair] + others
    pairs = [(2 * n, 2 * n + 1) for n in range(len(forward_and_backward))]
    answer = nest(ranges, ops, pairs, tolerance)

    outers = dict(enumerate(ranges))
    owned = [
        (ops[after].tid, ops[after].start, after, owner)
        for before, after in pairs
        if (owner := innermost(outers, ops[before], tolerance)) is not None and ops[after].start > ops[before].end
    ]
    runs: list[list[int]] = []
    last: tuple[int, int] | None = None
    for tid, start, op, owner in sorted(owned):
        if (tid, owner) != last:
            runs.append([tid, owner, start, ops[op].end])
        runs[-1][3] = max(runs[-1][3], ops[op].end)
        last = (tid, owner)
    assert answer.runs == [tuple(run) for run in runs]

    calls = {call: span for call, (span, _) in answer.calls.items()}
    forward = [(calls[call], answer.call_of[call]) for call, (_, is_run) in answer.calls.items() if not is_run]
    of_runs = [(calls[call], answer.call_of[call]) for call, (_, is_run) in answer.calls.items() if is_run]
    assert sorted(forward) == sorted((range_, n) for n, range_ in outers.items())
    assert sorted(of_runs) == sorted((Span(start, end, tid), owner) for tid, owner, start, end in answer.runs)
    assert answer.call_parent == {c: innermost(calls, span, tolerance, c) for c, span in calls.items()}
    expected = {n: innermost(calls, op, tolerance) for n, op in enumerate(ops)}
    assert answer.owner == {op: call for op, call in expected.items() if call is not None}

    forward_call = {answer.call_of[c]: c for c, (_, is_run) in answer.calls.items() if not is_run}

    def path(call: int) -> tuple[tuple[int, ...], bool]:
        if answer.calls[call][1]:
            return path(forward_call[answer.call_of[call]])[0], True
        parent = answer.call_parent[call]
        names, is_backward = path(parent) if parent is not None else ((), False)
        return (*names, answer.call_of[call]), is_backward

    assert answer.call_path == {call: path(call) for call in answer.calls}


@pytest.mark.parametrize(
    ("ranges", "parents"),
    [
        pytest.param([Span(0, 5), Span(0, 9)], {0: 1, 1: None}, id="equal starts: the longer one is outside"),
        pytest.param([Span(4, 9), Span(0, 9)], {0: 1, 1: None}, id="equal ends: the earlier one is outside"),
        pytest.param([Span(2, 9), Span(2, 9), Span(2, 9)], {0: None, 1: 0, 2: 1}, id="equal ranges: in the order of ids"),
        pytest.param([Span(0, 5), Span(5, 9)], {0: None, 1: None}, id="touching siblings"),
        pytest.param([Span(0, 5), Span(5, 5)], {0: None, 1: 0}, id="no length, at the end of another"),
        pytest.param([Span(5, 5), Span(5, 9)], {0: 1, 1: None}, id="no length, at the start of another"),
        pytest.param([Span(5, 5), Span(5, 5)], {0: None, 1: 0}, id="no length, twice"),
        pytest.param([Span(0, 6), Span(4, 9)], {0: None, 1: None}, id="overlap in part"),
        pytest.param([Span(0, 20), Span(1, 6), Span(4, 9), Span(5, 6)], {0: None, 1: 0, 2: 0, 3: 2}, id="overlap in a range"),
        pytest.param([Span(0, 9, 1), Span(2, 5, 2)], {0: None, 1: None}, id="other thread"),
        pytest.param([Span(0, 9), Span(1, 2), Span(3, 4), Span(5, 6)], {0: None, 1: 0, 2: 0, 3: 0}, id="siblings in a range"),
    ],
)
def test_the_parent_where_ranges_tie(ranges: list[Span], parents: dict[int, int | None]) -> None:
    assert nest(ranges).range_parent == parents


@pytest.mark.parametrize(
    ("ranges", "op", "owner"),
    [
        pytest.param([Span(0, 9), Span(2, 9)], Span(2, 9), 1, id="as long as the inner range"),
        pytest.param([Span(0, 9), Span(2, 6)], Span(5, 7), 0, id="ends after the inner range"),
        pytest.param([Span(0, 9), Span(2, 6)], Span(9, 9), 0, id="no length, at the end"),
        pytest.param([Span(0, 9), Span(9, 12)], Span(9, 9), 1, id="no length, between touching ranges"),
        pytest.param([Span(2, 6), Span(2, 6)], Span(3, 4), 1, id="equal ranges: the one with the larger id is inside"),
        pytest.param([Span(0, 9), Span(2, 2)], Span(2, 4), 0, id="starts with a range of no length"),
        pytest.param([Span(0, 9)], Span(5, 10), None, id="ends after every range"),
        pytest.param([Span(3, 9)], Span(2, 5), None, id="starts before the range"),
        pytest.param([Span(0, 9, tid=1), Span(4, 6, tid=2)], Span(4, 5, tid=1), 0, id="a range of another thread is closer"),
        pytest.param([Span(0, 9, tid=2)], Span(4, 5, tid=1), None, id="only another thread has ranges"),
    ],
)
def test_the_owner_of_an_op_where_ranges_tie(ranges: list[Span], op: Span, owner: int | None) -> None:
    answer = nest(ranges, [op, Span(op.end + 1, op.end + 2, tid=9)], [(0, 1)])
    assert answer.owner_range(0) == owner
    assert answer.forward_owner.get(0) == owner


def test_a_tolerance_lets_an_end_be_late_by_that_much_and_no_more() -> None:
    module = Span(0, 20)
    for late, owner in [(6, 0), (7, 0), (8, None)]:
        answer = nest([module, Span(15, 20 + late)], [Span(5, 20 + late)], tolerance=7)
        assert answer.owner_range(0) == owner
        assert answer.range_parent[1] == owner


def test_no_tolerance_makes_touching_siblings_nest() -> None:
    answer = nest([Span(0, 5), Span(5, 7)], [Span(5, 6), Span(7, 8)], tolerance=1000)
    assert answer.range_parent == {0: None, 1: None}
    assert answer.owner_range(0) == 1
    assert answer.owner_range(1) is None
