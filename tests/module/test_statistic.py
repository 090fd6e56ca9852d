"""module.statistic: which calls merge, in which order, under which names. The examples say what msprof-analyze would print."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

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


def test_variants_with_another_module_in_between_keep_the_plain_name(tmp_path: Path) -> None:
    line = Timeline()
    line.open("Net")
    for name, ops in [("L", "ab"), ("M", "x"), ("L", "ac")]:
        line.module(name, *ops)
    line.close()
    assert line.statistic(tmp_path) == [
        ("Net", "L", "a", "A", 10, 10.0, 1, "a"),
        ("Net", "L", "b", "B", 10, 10.0, 1, "b"),
        ("Net", "M", "x", "X", 10, 10.0, 1, "x"),
        ("Net", "L", "a", "A", 10, 10.0, 1, "a"),
        ("Net", "L", "c", "C", 10, 10.0, 1, "c"),
    ]


def test_modules_with_the_same_ops_share_no_row_but_the_number_of_their_sequence(tmp_path: Path) -> None:
    line = Timeline()
    line.open("Net")
    line.module("K", "a", "b")  # the first to run ab: so L_0 is the variant of L that runs ab
    line.module("L", "c")
    line.module("L", "a", "b")
    line.close()
    assert line.statistic(tmp_path) == [
        ("Net", "K", "a", "A", 10, 10.0, 1, "a"),
        ("Net", "K", "b", "B", 10, 10.0, 1, "b"),
        ("Net", "L_1", "c", "C", 10, 10.0, 1, "c"),
        ("Net", "L_0", "a", "A", 10, 10.0, 1, "a"),
        ("Net", "L_0", "b", "B", 10, 10.0, 1, "b"),
    ]


def test_an_op_with_other_kernels_in_one_call_has_a_row_for_each_list(tmp_path: Path) -> None:
    line = Timeline()
    for transposes in (0, 1, 0):
        line.open("L")
        line.op("mm", *[Kernel("Transpose", 0, 3)] * transposes, Kernel("MatMul", 5, 12))
        line.op("add", 10)
        line.close()
    assert line.statistic(tmp_path) == [
        ("", "L", "mm", "MatMul", 14, 7.0, 2, "mm"),
        ("", "L", "add", "ADD", 30, 10.0, 3, "add"),
        ("", "L", "mm", "Transpose, MatMul", 10, 10.0, 1, "mm"),
    ]


def test_an_op_that_repeats_in_a_call_has_a_row_for_each_place(tmp_path: Path) -> None:
    line = Timeline()
    for _ in range(2):
        line.module("L", "a", "b", "a")
    assert line.statistic(tmp_path) == [
        ("", "L", "a", "A", 20, 10.0, 2, "a"),
        ("", "L", "b", "B", 20, 10.0, 2, "b"),
        ("", "L", "a", "A", 20, 10.0, 2, "a"),
    ]


def test_ops_stand_in_the_order_of_the_host_whatever_the_device_does(tmp_path: Path) -> None:
    line = Timeline()
    line.open("L")
    line.op("second_on_device", Kernel("late", 9000, 9001))
    line.op("first_on_device", Kernel("early", 8000, 8002))
    line.op("launches_nothing")
    line.close()
    assert line.statistic(tmp_path) == [
        ("", "L", "second_on_device", "late", 1, 1.0, 1, "second_on_device"),
        ("", "L", "first_on_device", "early", 2, 2.0, 1, "first_on_device"),
    ]


def test_kernels_of_an_op_are_compute_then_communication_by_type_then_schedule(tmp_path: Path) -> None:
    line = Timeline()
    line.open("Net")
    line.op(
        "all",
        Kernel("schedule1AicpuKernel", 10, 20, "schedule"),
        Kernel("hcom_allReduce_", 30, 70, "communication"),
        Kernel("second", 50, 58, "compute"),
        Kernel("first", 40, 44, "compute"),
        Kernel("hcom_broadcast_", 21, 24, "communication"),
    )
    line.close()
    kernels = "first, second, hcom_broadcast_, hcom_allReduce_, schedule1AicpuKernel"
    assert line.statistic(tmp_path) == [("", "Net", "all", kernels, 65, 65.0, 1, "all")]


def test_layers_and_steps_merge_and_the_mean_is_the_total_by_the_count(tmp_path: Path) -> None:
    line = Timeline()
    durations = iter([1, 2, 3, 4, 5, 7])
    for _ in range(2):
        line.open("Net")
        for _ in range(3):
            line.open("Layer")
            line.op("mm", next(durations))
            line.close()
        line.close()
    assert line.statistic(tmp_path) == [("Net", "Layer", "mm", "MM", 22, 22 / 6, 6, "mm")]


def test_a_class_under_different_parents_stays_apart(tmp_path: Path) -> None:
    line = Timeline()
    for parent in ("Encoder", "Decoder", "Encoder"):
        line.open(parent)
        line.module("Linear", "mm")
        line.close()
    line.module("Linear", "mm")
    assert line.statistic(tmp_path) == [
        ("Encoder", "Linear", "mm", "MM", 20, 10.0, 2, "mm"),
        ("Decoder", "Linear", "mm", "MM", 10, 10.0, 1, "mm"),
        ("", "Linear", "mm", "MM", 10, 10.0, 1, "mm"),
    ]


def test_ops_of_a_module_before_and_after_its_inner_module_are_one_call(tmp_path: Path) -> None:
    line = Timeline()
    for _ in range(2):
        line.open("Net")
        line.op("before", 10)
        line.module("L", "mm")
        line.op("after", 10)
        line.close()
    assert line.statistic(tmp_path) == [
        ("", "Net", "before", "BEFORE", 20, 10.0, 2, "before"),
        ("Net", "L", "mm", "MM", 20, 10.0, 2, "mm"),
        ("", "Net", "after", "AFTER", 20, 10.0, 2, "after"),
    ]


def test_two_threads_with_the_same_module_merge_and_do_not_mix(tmp_path: Path) -> None:
    ops = [
        Op("a", 110, 120, (Kernel("A", 500, 510),), tid=1),
        Op("a", 115, 125, (Kernel("A", 520, 530),), tid=2),
        Op("b", 130, 140, (Kernel("B", 540, 550),), tid=1),
        Op("b", 135, 145, (Kernel("B", 560, 570),), tid=2),
    ]
    write_profile(tmp_path, ops, [Range("Net", 100, 200, tid=1), Range("Net", 105, 205, tid=2)])
    assert statistic(tmp_path) == [("", "Net", "a", "A", 20, 10.0, 2, "a"), ("", "Net", "b", "B", 20, 10.0, 2, "b")]


def test_backward_of_a_nested_module_and_of_a_top_module(tmp_path: Path) -> None:
    line = Timeline()
    line.open("Net")
    (inner,) = line.module("L", "mm")
    outer = line.op("loss", 10)
    line.close()
    line.op("LossBackward", 10, backward_of=outer, tid=2)
    line.op("MmBackward", 20, backward_of=inner, tid=2)
    assert line.statistic(tmp_path) == [
        ("Net", "L", "mm", "MM", 10, 10.0, 1, "mm"),
        ("", "Net", "loss", "LOSS", 10, 10.0, 1, "loss"),
        ("", "[Backward]Net", "LossBackward", "LOSSBACKWARD", 10, 10.0, 1, "LossBackward"),
        ("Net", "[Backward]L", "MmBackward", "MMBACKWARD", 20, 20.0, 1, "MmBackward"),
    ]


def test_the_backward_has_suffixes_of_its_own(tmp_path: Path) -> None:
    line = Timeline()
    line.open("Net")
    calls = [line.module("L", *ops) for ops in ("ab", "ac")]
    line.close()
    for names, call in zip(("ab", "ac"), calls, strict=True):
        for name, forward in reversed(list(zip(names, call, strict=True))):
            line.op(f"{name}Backward", 10, backward_of=forward, tid=2)
    assert line.statistic(tmp_path) == [
        ("Net", "L_0", "a", "A", 10, 10.0, 1, "a"),
        ("Net", "L_0", "b", "B", 10, 10.0, 1, "b"),
        ("Net", "L_1", "a", "A", 10, 10.0, 1, "a"),
        ("Net", "L_1", "c", "C", 10, 10.0, 1, "c"),
        ("Net", "[Backward]L_0", "bBackward", "BBACKWARD", 10, 10.0, 1, "bBackward"),
        ("Net", "[Backward]L_0", "aBackward", "ABACKWARD", 10, 10.0, 1, "aBackward"),
        ("Net", "[Backward]L_1", "cBackward", "CBACKWARD", 10, 10.0, 1, "cBackward"),
        ("Net", "[Backward]L_1", "aBackward", "ABACKWARD", 10, 10.0, 1, "aBackward"),
    ]


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


def test_any_text_can_be_a_name(tmp_path: Path) -> None:
    line = Timeline()
    odd: Iterator[str] = iter(("a/b", "'quoted' \"twice\"", "注意力 🧠", "x, y", "%s {0} \\ ;--", "[Backward]", "  "))
    expected: list[Row] = []
    for name in odd:
        line.open(name)
        line.op(name, 10)
        line.module("L", "mm")
        line.close()
        expected += [("", name, name, name.upper(), 10, 10.0, 1, name), (name, "L", "mm", "MM", 10, 10.0, 1, "mm")]
    assert line.statistic(tmp_path) == expected


def test_an_empty_name_stays_empty_and_keeps_its_time(tmp_path: Path) -> None:
    line = Timeline()
    line.open("")
    line.op("mm", 10)
    line.close()
    assert line.statistic(tmp_path) == [("", "", "mm", "MM", 10, 10.0, 1, "mm")]


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
