"""Which interval encloses an interval or an op: the recursive SQL against the rule itself, a plain join on containment.

The trace tables are filled directly, so that many random inputs can be tried. Intervals overlap, repeat
and have no length at will.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prof_analysis.common.answer_options import Variables
from prof_analysis.engine.building import build
from prof_analysis.engine.planning import Plan, make_plan
from prof_analysis.engine.tables import documented_tables
from prof_analysis.sources.ascend_db import RAW_COLUMNS
from tests.helpers.empty_database import empty_database

EPOCH = 1_700_000_000_000_000_000  # beyond 2^53: a time that went through a float would not come back
RANDOM = settings(max_examples=12, deadline=None, print_blob=True)
ENGINE = "autograd::engine::evaluate_function: "
HOOKS = f"{ENGINE}torch::autograd::AccumulateGrad"
NEEDED = make_plan("ascend_db", RAW_COLUMNS, ["module.path"]).order


@dataclass(frozen=True, order=True)
class Span:
    """An interval on a host thread."""

    start: int
    end: int
    tid: int = 1


@dataclass(frozen=True)
class Op(Span):
    """A framework op. `backward_of` is the position of its forward op, as the profile recorded it."""

    name: str = "op"
    backward_of: int | None = None


Rows = list[tuple[Any, ...]]
Interval = tuple[str, int]  # module, backward or gradient; and the position of the range, or of the op that is the task
Path = tuple[tuple[int, int | None], ...]  # of each module: the position of the first range of its name, and its number
Call = tuple[Path, bool, int, int | None, Interval]  # path, is_backward, range, parent range, instance


@dataclass(frozen=True)
class Answer:
    """What the engine found. Ranges have the position in their list as id, ops too."""

    intervals: dict[Interval, tuple[Span, int | None]]  # in the order of interval_id; with the forward op of backward work
    parent: dict[Interval, Interval | None]
    owner: dict[int, Interval]  # of an op
    unplaced: set[Interval]  # outermost calls that lay in a call which the recording lacks
    calls: dict[Interval, Call]

    def range_parents(self) -> dict[int, int | None]:
        """Of each range, the range around it, where all intervals are ranges."""
        return {n: parent and parent[1] for (_, n), parent in self.parent.items()}

    def owner_range(self, op: int) -> int | None:
        return self.owner[op][1] if op in self.owner else None


def no_more(columns: object) -> None:
    """Nothing is staged here."""


def encloses(outer: Span, inner: Span, tolerance: int) -> bool:
    return (
        outer.tid == inner.tid
        and outer.start <= inner.start
        and (outer.end >= inner.end or (outer.end > inner.start and outer.end + tolerance >= inner.end))
    )


def order(span: Span) -> tuple[int, int, int]:
    return span.tid, span.start, -span.end


def _times(span: Span) -> dict[str, object]:
    return {"tid": span.tid, "start_ns": EPOCH + span.start, "end_ns": EPOCH + span.end}


def _autograd(op: Span) -> dict[str, object]:
    return {"forward_thread_id": int(isinstance(op, Op) and op.backward_of is not None)}


def nest(ranges: list[Span], ops: Iterable[Span] = (), names: Mapping[int, int] | None = None, **variables: Any) -> Answer:
    """What the engine finds. `names` gives ranges the name of another one; without it each has its own."""
    ops = list(ops)
    name_of = {n: (names or {}).get(n, n) for n in range(len(ranges))}
    texts = ["Module", *(f"M{n}" for n in range(len(ranges))), *sorted({op.name for op in ops if isinstance(op, Op)})]
    backward = [(op.backward_of, n) for n, op in enumerate(ops) if isinstance(op, Op) and op.backward_of is not None]
    rows: dict[str, list[dict[str, object]]] = {
        "string": [{"text_id": n, "text": text} for n, text in enumerate(texts)],
        "range": [
            {"range_id": n, "is_module_candidate": True, "domain_id": 0, "name_id": name_of[n] + 1, **_times(range_)}
            for n, range_ in enumerate(ranges)
        ],
        "op": [
            {"op_id": n, "name_id": texts.index(op.name) if isinstance(op, Op) else None, **_times(op), **_autograd(op)}
            for n, op in enumerate(ops)
        ],
        "kernel": [
            {"kernel_id": n, "kind": "compute", "start_ns": EPOCH, "end_ns": EPOCH, "launch_id": n} for n in range(len(ops))
        ],
        "op_link": [{"op_id": n, "launch_id": n} for n in range(len(ops))],
        "forward_backward": [{"forward_op_id": forward, "backward_op_id": after} for forward, after in backward],
    }
    chosen: Variables = variables
    with empty_database(chosen, threads=1) as connection:
        connection.execute("CREATE SCHEMA trace; CREATE SCHEMA stored")
        for name in (name.removeprefix("trace.") for name in NEEDED if name.startswith("trace.")):
            columns, values = documented_tables()[f"trace.{name}"].columns, rows.get(name, [])
            connection.execute(f"CREATE TABLE trace.{name} ({', '.join(f'{c.name} {c.stored_type}' for c in columns)})")
            cells = ", ".join(f"unnest($cells[{n + 1}]::{c.stored_type}[])" for n, c in enumerate(columns))
            by_column = [[None if (cell := row.get(c.name)) is None else str(cell) for row in values] for c in columns]
            connection.execute(f"INSERT INTO trace.{name} SELECT {cells}", {"cells": by_column})
        made = tuple(name for name in NEEDED if name.startswith("module."))
        everything = {name: frozenset(column.name for column in documented_tables()[name].columns) for name in made}
        build(connection, "ascend_db", Plan(made, everything, frozenset()), no_more)

        def table(query: str) -> Rows:
            return connection.execute(query).fetchall()

        def by_id(query: str) -> dict[int, Any]:
            found = table(query)
            assert len({row[0] for row in found}) == len(found), "each id has one row"
            return {row[0]: row[1] if len(row) == 2 else row[1:] for row in found}

        # The engine numbers ranges and tasks anew. What is equal in every column it numbers in the order of their ids.
        def key(kind: str, span: Span, what: int | None) -> tuple[object, ...]:
            return (kind, span.tid, span.start, span.end, what)

        tasks = table("SELECT task_id, tid, start_ns, end_ns, forward_op_id FROM module.autograd_task ORDER BY task_id DESC")
        sources: dict[tuple[object, ...], list[int]] = {}
        for n in reversed(range(len(ranges))):
            sources.setdefault(key("module", ranges[n], name_of[n] + 1), []).append(n)
        for task_id, tid, start, end, forward in tasks:
            span = Span(start - EPOCH, end - EPOCH, tid)
            sources.setdefault(key("gradient" if forward is None else "backward", span, forward), []).append(task_id)
        intervals: dict[Interval, tuple[Span, int | None]] = {}
        by_number: dict[int, Interval] = {}
        for number, (interval_id, tid, start, end, kind, name_id, forward) in enumerate(
            table("SELECT * EXCLUDE (begins_backward, is_last_started) FROM module.interval ORDER BY interval_id")
        ):
            assert interval_id == number + 1
            span = Span(start - EPOCH, end - EPOCH, tid)
            interval = (kind, sources[key(kind, span, name_id if kind == "module" else forward)].pop())
            intervals[interval], by_number[interval_id] = (span, forward), interval
        assert not any(sources.values()), "module.interval holds every range and task"
        parents = by_id("SELECT interval_id, parent_id FROM module.interval_parent")
        calls = by_id("""
            SELECT interval_id, path, is_backward, range_id, parent_range_id, instance_id
            FROM module.call JOIN module.path USING (path_key, is_backward)
        """)
        return Answer(
            intervals,
            {by_number[inner]: None if outer is None else by_number[outer] for inner, outer in parents.items()},
            {op: by_number[owner] for op, owner in by_id("SELECT op_id, interval_id FROM module.op_interval").items()},
            {by_number[interval_id] for (interval_id,) in table("SELECT interval_id FROM module.unplaced_call")},
            {
                by_number[interval_id]: (
                    tuple((segment["name_id"] - 1, segment["number"]) for segment in path),
                    is_backward,
                    by_number[range_id][1],
                    None if around is None else by_number[around][1],
                    by_number[instance],
                )
                for interval_id, (path, is_backward, range_id, around, instance) in calls.items()
            },
        )


def innermost(outers: list[tuple[Interval, Span]], inner: Span, tolerance: int) -> Interval | None:
    """The rule: of these intervals, which are in their order, the last one that contains the span."""
    return next((interval for interval, outer in reversed(outers) if encloses(outer, inner, tolerance)), None)


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
    answer = nest(ranges, ops, nesting_tolerance_ns=tolerance)
    outers = [(("module", n), ranges[n]) for n in sorted(range(len(ranges)), key=lambda n: (order(ranges[n]), n))]
    assert list(answer.intervals) == [interval for interval, _ in outers]
    assert answer.parent == {one: innermost(outers[:n], span, tolerance) for n, (one, span) in enumerate(outers)}
    owners = [innermost(outers, op, tolerance) for op in ops]
    assert answer.owner == {op: owner for op, owner in enumerate(owners) if owner is not None}


modules = st.lists(
    st.builds(
        lambda start, length, tid: Span(start, start + length, tid),
        st.integers(0, 55),
        st.integers(0, 30),
        st.sampled_from([1, 1, 2]),
    ),
    max_size=10,
)


@st.composite
def steps(draw: st.DrawFn) -> list[Op]:
    """Forward ops, rows of the autograd engine, and backward ops, of which some are forward ops of further backward ops."""
    ops: list[Op] = []
    for _ in range(draw(st.integers(0, 16))):
        what = draw(st.sampled_from(["forward", "forward", "engine", "hooks", "backward", "backward", "again"]))
        late = 0 if what == "forward" else 35 if what == "again" else 20
        start, tid = draw(st.integers(late, late + 40)), draw(st.integers(1, 2))
        named = {"engine": f"{ENGINE}node", "hooks": HOOKS}.get(what, "op")
        plain = [n for n, op in enumerate(ops) if op.backward_of is None and op.name == "op"]
        former = {"backward": plain, "again": [n for n, op in enumerate(ops) if op.backward_of is not None]}.get(what)
        backward_of = draw(st.sampled_from(former)) if former else None
        length = draw(st.integers(0, 14 if what in ("engine", "hooks") else 9))
        ops.append(Op(start, start + length, tid, named, backward_of))
    return ops


def tasks_of(ops: list[Op], tolerance: int) -> dict[Interval, tuple[Span, int | None]]:
    """The rule: the engine's row around a backward op is the last to start before it.

    Where that has ended, or the forward op ran inside it, the backward op is a task by itself.
    """
    engine = {n: op for n, op in enumerate(ops) if op.name.startswith(ENGINE)}
    first: dict[int, tuple[int, int, int]] = {}
    tasks: dict[Interval, tuple[Span, int | None]] = {}
    for n, op in enumerate(ops):
        if op.backward_of is None or ops[op.backward_of].end >= op.start:
            continue
        before = [m for m, row in engine.items() if row.tid == op.tid and row.start <= op.start]
        around = max(before, key=lambda m: (engine[m].start, m), default=None)
        ran_inside = around is not None and ops[op.backward_of].end >= engine[around].start
        if around is None or ran_inside or not encloses(engine[around], op, tolerance):
            tasks["backward", n] = (Span(op.start, op.end, op.tid), op.backward_of)
        else:
            first[around] = min(first.get(around, (op.start, n, op.backward_of)), (op.start, n, op.backward_of))
    for n, row in engine.items():
        if n in first:
            tasks["backward", n] = (Span(row.start, row.end, row.tid), first[n][2])
        elif row.name == HOOKS:
            tasks["gradient", n] = (Span(row.start, row.end, row.tid), None)
    return tasks


@dataclass
class Rule:
    """Where work belongs, as the heads of the tables say it: by plain search, one interval after the other."""

    ranges: list[Span]
    ops: list[Op]
    names: Mapping[int, int]
    unplaced: set[Interval]  # tests of module.unplaced_call say which calls these are
    tolerance: int
    by_instance: bool
    depth: int | None

    def __post_init__(self) -> None:
        intervals: dict[Interval, tuple[Span, int | None]] = {("module", n): (r, None) for n, r in enumerate(self.ranges)}
        intervals |= tasks_of(self.ops, self.tolerance)
        self.intervals = dict(sorted(intervals.items(), key=lambda i: (order(i[1][0]), i[0][0] != "module", i[0][1])))
        self.outers = [(interval, span) for interval, (span, _) in self.intervals.items()]
        self.parent = {one: innermost(self.outers[:n], span, self.tolerance) for n, (one, span) in enumerate(self.outers)}
        self.owner = {
            n: owner for n, op in enumerate(self.ops) if (owner := innermost(self.outers, op, self.tolerance)) is not None
        }
        self.calls = self._with_instances({one: call for one in self.intervals if (call := self._call(one)) is not None})

    def may_be_unplaced(self, interval: Interval) -> bool:
        """Whether a call is outermost, and of a class that is also called inside another one, or inside a row of the engine."""
        kind, n = interval
        engine = (op for op in self.ops if op.name.startswith(ENGINE))
        inside = (one for one, around in self.parent.items() if one[0] == "module" and around is not None)
        return (kind, self.parent[interval]) == ("module", None) and (
            self.names[n] in {self.names[one[1]] for one in inside} or any(encloses(row, self.ranges[n], 0) for row in engine)
        )

    def _is_lost(self, interval: Interval) -> bool:
        """Whether it is an unplaced call, runs inside one, or is backward work of an op in one."""
        forward = self.intervals[interval][1]
        around = self.parent[interval] if forward is None else self.owner.get(forward)
        return interval in self.unplaced or (around is not None and self._is_lost(around))

    def _call(self, interval: Interval) -> tuple[Path, bool, int, int | None] | None:
        """Path, is_backward, range, parent range; None for what belongs to no module."""
        kind, n = interval
        forward = self.intervals[interval][1]
        if kind == "gradient" or self._is_lost(interval):
            return None
        if kind == "backward":
            assert forward is not None
            owner = self.owner.get(forward)
            call = None if owner is None else self._call(owner)
            return call and (call[0], True, *call[2:])
        around = self.parent[interval]
        outer = None if around is None else self._call(around)
        if outer is None:
            number = 0 if self.by_instance else None
            return ((self.names[n], number),), around is not None and around[0] == "backward", n, None
        path, is_backward, range_, _ = outer
        if self.depth is not None and len(path) >= self.depth:
            return outer
        segment = (self.names[n], self._number(interval) if self.by_instance else None)
        return (*path, segment), is_backward, n, range_

    def _number(self, interval: Interval) -> int:
        """Siblings of its name before it; what runs again in backward work comes after the calls before the forward op."""
        around = self.parent[interval]
        assert around is not None
        before = self._children(around, interval)
        siblings = before.index(interval)
        forward = self.intervals[around][1]
        if around[0] == "backward" and forward is not None and forward in self.owner:
            calls = self._children(self.owner[forward], interval)
            siblings += sum(self.intervals[call][0].start < self.ops[forward].start for call in calls)
        return siblings

    def _children(self, parent: Interval, alike: Interval) -> list[Interval]:
        return [
            one
            for one in self.intervals
            if one[0] == "module" and self.parent[one] == parent and self.names[one[1]] == self.names[alike[1]]
        ]

    def _with_instances(self, calls: dict[Interval, tuple[Path, bool, int, int | None]]) -> dict[Interval, Call]:
        found: dict[Interval, Call] = {}
        run: dict[int, tuple[int, Interval]] = {}  # by thread: the call whose backward work ran last, and the run's first task
        for interval, call in calls.items():
            if interval[0] == "module":
                around = self.parent[interval]
                found[interval] = (*call, interval if call[2] == interval[1] or around is None else found[around][4])
                continue
            tid = self.intervals[interval][0].tid
            if tid not in run or run[tid][0] != call[2]:
                run[tid] = (call[2], interval)
            found[interval] = (*call, run[tid][1])
        return found


@settings(RANDOM, max_examples=20)
@given(modules, steps(), tolerances, st.booleans(), st.sampled_from([None, None, 1, 2]), st.booleans())
@pytest.mark.slow
def test_backward_work_nests_with_the_ranges_and_belongs_to_the_call_of_its_forward_op(
    ranges: list[Span], ops: list[Op], tolerance: int, by_instance: bool, depth: int | None, few_names: bool
) -> None:
    names = {n: n % 2 if few_names else n for n in range(len(ranges))}
    answer = nest(ranges, ops, names, nesting_tolerance_ns=tolerance, instances=by_instance, depth=depth)
    rule = Rule(ranges, ops, names, answer.unplaced, tolerance, by_instance, depth)
    assert list(answer.intervals.items()) == list(rule.intervals.items())
    assert answer.parent == rule.parent
    assert answer.owner == rule.owner
    assert all(map(rule.may_be_unplaced, answer.unplaced))
    assert answer.calls == rule.calls
