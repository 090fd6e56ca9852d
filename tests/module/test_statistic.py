"""module.statistic: which calls merge, in which order, under which names. The examples say what msprof-analyze would print."""

from itertools import count
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Row = tuple[str, str, str | None, str | None, int, float, int, str]


def statistic(folder: Path) -> list[Row]:
    with open_profile(folder) as profile:
        rows = profile.sql("SELECT * EXCLUDE (profile, rank_id, avg_mfu) FROM module.statistic", arrow=True).to_pylist()
    return [tuple(row.values()) for row in rows]


class Timeline:
    """Ranges and ops one after the other on a host thread: each takes ten ns, so a test says only what follows what."""

    def __init__(self) -> None:
        self.ranges: list[Range] = []
        self.ops: list[Op] = []
        self._clock = count(1000, 10)
        self._path: list[tuple[str, int]] = []

    def op(self, name: str, *kernels: Kernel | int, backward_of: int | None = None, tid: int = 1) -> int:
        """Add an op and give its position. Its kernels can be durations: then they have the op's name in capitals."""
        start = next(self._clock)
        launched = tuple(Kernel(name.upper(), start, start + k) if isinstance(k, int) else k for k in kernels)
        self.ops.append(Op(name, start, start + 5, launched, tid, backward_of))
        return len(self.ops) - 1

    def open(self, name: str) -> None:
        self._path.append((name, next(self._clock)))

    def close(self) -> None:
        name, start = self._path.pop()
        self.ranges.append(Range(name, start, next(self._clock)))

    def module(self, name: str, *ops: str) -> list[int]:
        """Add a call of a module with these ops of 10 ns each. Gives their positions."""
        self.open(name)
        positions = [self.op(op, 10) for op in ops]
        self.close()
        return positions

    def statistic(self, folder: Path) -> list[Row]:
        write_profile(folder, self.ops, self.ranges)
        return statistic(folder)


@pytest.mark.slow
def test_calls_with_other_ops_get_suffixes_in_the_order_of_their_first_call(tmp_path: Path) -> None:
    line = Timeline()
    line.open("Net")
    for ops in ("ab", "ac", "ab", "a"):
        line.module("L", *ops)
    line.close()
    assert line.statistic(tmp_path) == [
        ("Net", "L_0", "a", "A", 20, 10.0, 2, "a"),
        ("Net", "L_0", "b", "B", 20, 10.0, 2, "b"),
        ("Net", "L_1", "a", "A", 10, 10.0, 1, "a"),
        ("Net", "L_1", "c", "C", 10, 10.0, 1, "c"),
        ("Net", "L_2", "a", "A", 10, 10.0, 1, "a"),
    ]


@pytest.mark.slow
def test_a_backward_that_another_interrupts_is_two_runs(tmp_path: Path) -> None:
    """Each run is a call with a sequence of its own: b then a of one call never merge with b, a of an uninterrupted one."""
    line = Timeline()
    line.open("Net")
    first, second, third = (line.module("L", "a", "b") for _ in range(3))
    line.close()
    for name, forward in [("b", first[1]), ("b", second[1]), ("a", first[0]), ("a", second[0])]:
        line.op(f"{name}Backward", 10, backward_of=forward, tid=2)
    for name, forward in [("b", third[1]), ("a", third[0])]:
        line.op(f"{name}Backward", 10, backward_of=forward, tid=2)
    assert line.statistic(tmp_path) == [
        ("Net", "L", "a", "A", 30, 10.0, 3, "a"),
        ("Net", "L", "b", "B", 30, 10.0, 3, "b"),
        ("Net", "[Backward]L_0", "bBackward", "BBACKWARD", 20, 10.0, 2, "bBackward"),
        ("Net", "[Backward]L_1", "aBackward", "ABACKWARD", 20, 10.0, 2, "aBackward"),
        ("Net", "[Backward]L_2", "bBackward", "BBACKWARD", 10, 10.0, 1, "bBackward"),
        ("Net", "[Backward]L_2", "aBackward", "ABACKWARD", 10, 10.0, 1, "aBackward"),
    ]


@pytest.mark.slow
def test_ops_between_backward_ops_belong_to_no_module(tmp_path: Path) -> None:
    line = Timeline()
    first, second = line.module("L", "a", "b")
    line.op("bBackward", 10, backward_of=second, tid=2)
    line.op("between", 10, tid=2)
    line.op("other_thread", 10, tid=3)
    line.op("aBackward", 10, backward_of=first, tid=2)
    line.op("optimizer", 10, tid=2)
    assert line.statistic(tmp_path) == [
        ("", "L", "a", "A", 10, 10.0, 1, "a"),
        ("", "L", "b", "B", 10, 10.0, 1, "b"),
        ("", "[Backward]L", "bBackward", "BBACKWARD", 10, 10.0, 1, "bBackward"),
        ("", "[Backward]L", "aBackward", "ABACKWARD", 10, 10.0, 1, "aBackward"),
    ]


def test_a_module_that_runs_again_inside_a_backward_counts_as_backward(tmp_path: Path) -> None:
    ops = [
        Op("checkpoint", 110, 120, (Kernel("Forward", 1000, 1001),)),
        Op("CheckpointBackward", 200, 300, (Kernel("Backward", 1100, 1110),), tid=2, backward_of=0),
        Op("mm", 220, 230, (Kernel("Again", 1200, 1300),), tid=2),
    ]
    write_profile(tmp_path, ops, [Range("Net", 100, 150), Range("L", 210, 250, tid=2)])
    assert statistic(tmp_path) == [
        ("", "Net", "checkpoint", "Forward", 1, 1.0, 1, "checkpoint"),
        ("", "[Backward]Net", "CheckpointBackward", "Backward", 10, 10.0, 1, "CheckpointBackward"),
        ("Net", "[Backward]L", "mm", "Again", 100, 100.0, 1, "CheckpointBackward > mm"),
    ]


@pytest.mark.slow
def test_forty_levels_of_modules_are_all_there(tmp_path: Path) -> None:
    line = Timeline()
    names = [f"Level{n}" for n in range(40)]
    for name in names:
        line.open(name)
        line.op(name.lower(), 10)
    for _ in names:
        line.close()
    assert line.statistic(tmp_path) == [
        ("/".join(names[:n]), name, name.lower(), name.upper(), 10, 10.0, 1, name.lower()) for n, name in enumerate(names)
    ]


def test_only_start_end_ranges_of_the_domain_module_are_modules(tmp_path: Path) -> None:
    ranges = [
        Range("Net", 100, 200),
        Range("other domain", 105, 195, domain="default"),
        Range("other spelling", 106, 194, domain="module"),
        Range("push and pop", 107, 193, event_type=1),
        Range("mark", 108, 192, event_type=0),
        Range("mark with a range", 109, 191, event_type=3),
    ]
    write_profile(tmp_path, [Op("mm", 120, 130, (Kernel("MatMul", 300, 310),))], ranges)
    assert statistic(tmp_path) == [("", "Net", "mm", "MatMul", 10, 10.0, 1, "mm")]


def test_lost_names_keep_their_time(tmp_path: Path) -> None:
    line = Timeline()
    line.open("Lost")
    line.op("mm", 10)
    line.op("gone", 10)
    line.close()
    path = write_profile(tmp_path, line.ops, line.ranges)
    edit(path, "DELETE FROM STRING_IDS WHERE value IN ('Lost', 'MM', 'gone')")
    assert statistic(tmp_path) == [
        ("", "(name lost)", "mm", "(name lost)", 10, 10.0, 1, "mm"),
        ("", "(name lost)", None, "GONE", 10, 10.0, 1, "(name lost)"),
    ]
