"""module.call: the path, the number and the unit of each call, of given intervals. Paths are compared by which are equal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from prof_analysis.common.answer_options import Options
from prof_analysis.engine.rows_of import Row, rows_of

# Path (counted from 0 as they come), number, is_backward, range, parent range, instance.
Call = tuple[int, int | None, bool, int, int | None, int]


@dataclass(frozen=True)
class Interval:
    """A forward call of a class; backward work of a forward op, where that is given; or a gradient hook."""

    id: int
    name: str | None = None
    inside: int | None = None
    forward_op: int | None = None
    tid: int = 1
    begins_backward: bool = False
    kind: str = "module"


def calls(
    intervals: Iterable[Interval],
    ops: Mapping[int, tuple[int | None, int]] | None = None,
    unplaced: Iterable[int] = (),
    replays: Mapping[int, int] | None = None,
    **options: Any,
) -> dict[int, Call]:
    """The calls by interval, each of which starts at ten times its id.

    Ops have their interval and start; replays, by thread, the op that launched them.
    """
    ops = ops or {}
    given: dict[str, list[Row]] = {
        "module.interval": [
            {
                "interval_id": one.id,
                "kind": one.kind,
                "name": one.name,
                "tid": one.tid,
                "start_ns": 10 * one.id,
                "forward_op_id": one.forward_op,
                "begins_backward": one.begins_backward,
            }
            for one in intervals
        ],
        "module.interval_parent": [{"interval_id": one.id, "parent_id": one.inside} for one in intervals],
        "module.op_interval": [{"op_id": op, "interval_id": place} for op, (place, _) in ops.items() if place is not None],
        "trace.op": [{"op_id": op, "start_ns": start} for op, (_, start) in ops.items()],
        "module.unplaced_interval": [{"interval_id": number} for number in unplaced],
        "trace.replayed_range": [{"tid": tid, "launch_id": -tid} for tid in replays or {}],
        "module.replay": [{"launch_id": -tid, "op_id": op} for tid, op in (replays or {}).items()],
    }
    rows: list[dict[str, Any]] = rows_of("module.call", given, Options(**options).variables())
    paths: dict[object, int] = {}
    found: dict[int, Call] = {}
    for row in sorted(rows, key=lambda row: row["interval_id"]):
        interval, key, *others = row.values()
        found[interval] = (paths.setdefault(key, len(paths)), *others)
    assert len(found) == len(rows)
    return found


def work(number: int, of: int | None, tid: int = 1) -> Interval:
    return Interval(number, forward_op=of, tid=tid, kind="backward")


NET = [Interval(1, "Net"), Interval(2, "L", 1), Interval(3, "L", 1)]


def test_calls_of_a_class_below_the_same_classes_have_one_path() -> None:
    other = [Interval(4, "M"), Interval(5, "L", 4)]
    assert calls([*NET, *other]) == {
        1: (0, None, False, 1, None, 1),
        2: (1, None, False, 2, 1, 2),
        3: (1, None, False, 3, 1, 3),
        4: (2, None, False, 4, None, 4),
        5: (3, None, False, 5, 4, 5),
    }


def test_by_instance_siblings_of_a_class_are_numbered_in_each_call_and_outermost_calls_are_one() -> None:
    again = [Interval(4, "Net"), Interval(5, "M", 4), Interval(6, "L", 4)]
    assert calls([*NET, *again], instances=True) == {
        1: (0, 0, False, 1, None, 1),
        2: (1, 0, False, 2, 1, 2),
        3: (2, 1, False, 3, 1, 3),
        4: (0, 0, False, 4, None, 4),
        5: (3, 0, False, 5, 4, 5),
        6: (1, 0, False, 6, 4, 6),
    }


def test_what_lies_deeper_than_the_chosen_depth_is_of_the_call_at_that_depth() -> None:
    deeper = [*NET, Interval(4, "M", 3), work(10, 7), work(11, 8)]
    ops = {7: (2, 25), 8: (4, 45)}
    of_net = (0, None, False, 1, None, 1)
    backward = (0, None, True, 1, None, 10)
    assert calls(deeper, ops, depth=1) == {1: of_net, 2: of_net, 3: of_net, 4: of_net, 10: backward, 11: backward}
    assert calls(deeper, ops, depth=2) == {
        1: of_net,
        2: (1, None, False, 2, 1, 2),
        3: (1, None, False, 3, 1, 3),
        4: (1, None, False, 3, 1, 3),
        10: (1, None, True, 2, 1, 10),
        11: (1, None, True, 3, 1, 11),
    }


def test_backward_work_is_of_the_call_of_its_forward_op_and_a_run_lasts_until_another_call_has_work() -> None:
    tasks = [work(10, 7), work(11, 9), work(12, 8), work(13, 7), work(14, 7), work(15, 9, tid=2), work(16, 7, tid=2)]
    ops = {7: (2, 25), 8: (3, 35), 9: (2, 26)}
    of_first = {10: 10, 11: 10, 13: 13, 14: 13, 15: 15, 16: 15}
    assert {number: call for number, call in calls([*NET, *tasks], ops).items() if number >= 10} == {
        **{number: (1, None, True, 2, 1, run) for number, run in of_first.items()},
        12: (1, None, True, 3, 1, 12),
    }


def test_backward_work_of_no_module_has_no_call_and_what_runs_in_it_is_outermost() -> None:
    """Op 7 lies in no module; the forward op of task 11, in task 10, is of none either; a hook is no backward."""
    outside = [work(10, 7), Interval(11, "Net", 10), work(12, 8), Interval(13, "L", 12)]
    hook = [Interval(20, kind="gradient"), Interval(21, "Hook", 20), work(22, 9)]
    begun = [Interval(30, "Own", begins_backward=True)]
    ops = {7: (None, 5), 8: (10, 105), 9: (20, 205)}
    assert calls([*outside, *hook, *begun], ops, instances=True) == {
        11: (0, 0, True, 11, None, 11),
        13: (1, 0, True, 13, None, 13),
        21: (2, 0, False, 21, None, 21),
        30: (3, 0, True, 30, None, 30),
    }


def test_what_runs_again_in_a_backward_has_the_number_of_what_it_repeats() -> None:
    """Op 7, a checkpoint of Net, starts at 25: behind the first L, and before the second one, which it holds."""
    again = [work(10, 7), Interval(11, "L", 10), Interval(12, "L", 10), Interval(13, "M", 10)]
    assert {number: call for number, call in calls([*NET, *again], {7: (1, 25)}, instances=True).items() if number >= 10} == {
        10: (0, 0, True, 1, None, 10),
        11: (2, 1, True, 11, 1, 11),
        12: (3, 2, True, 12, 1, 12),
        13: (4, 0, True, 13, 1, 13),
    }
    assert {number: call[:2] for number, call in calls([*NET, *again], {7: (1, 25)}).items() if number >= 10} == {
        10: (0, None),
        11: (1, None),
        12: (1, None),
        13: (2, None),
    }


def test_calls_in_one_that_the_profile_does_not_hold_have_no_path() -> None:
    alone = [Interval(4, "L"), Interval(5, "M", 4), work(10, 7)]
    assert calls([*NET, *alone], {7: (5, 55)}, unplaced=[4, 5, 10]).keys() == {1, 2, 3}


def test_modules_of_a_replayed_graph_are_in_the_module_that_launches_it_and_numbered_in_each_replay() -> None:
    captured = [Interval(10, "P", tid=-1), Interval(11, "P", tid=-1), Interval(12, "Q", 11, tid=-1), Interval(20, "P", tid=-2)]
    found = calls([*NET, *captured], {7: (2, 25)}, replays={-1: 7, -2: 7}, instances=True)
    assert {number: call for number, call in found.items() if number >= 10} == {
        10: (3, 0, False, 10, 2, 10),
        11: (4, 1, False, 11, 2, 11),
        12: (5, 0, False, 12, 11, 12),
        20: (3, 0, False, 20, 2, 20),
    }
