"""Items on an axis of time: kernels and module calls in lanes, gaps, steps and counters."""

from pathlib import Path
from typing import Any

from prof_analysis import open_profile
from prof_analysis.functions.lanes import lanes
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

CALLS = """
    SELECT
        call_id, parent_call_id, module, depth, stream_id, lane, step_id, start_ns, end_ns,
        kernel_count, kernel_duration_ns, own_kernel_count, own_duration_ns
    FROM timeline.module_call
"""


def ask(folder: Path, query: str, **options: Any) -> list[tuple[Any, ...]]:
    with open_profile(folder, **options) as profile:
        return [tuple(row.values()) for row in profile.rows(query)]


def test_lanes_are_reused_as_soon_as_they_are_free() -> None:
    assert lanes([0, 5, 10, 12, 30], [10, 20, 15, 14, 40]) == [0, 1, 0, 2, 0]
    assert lanes([0, 0, 0, 7], [0, 9, 7, 8]) == [0, 0, 1, 1]
    assert lanes([], []) == []


def test_kernels_of_a_stream_that_overlap_lie_in_lanes(tmp_path: Path) -> None:
    """What only touches does not overlap, nor does what takes no time at the edge of another."""
    kernels = (
        Kernel("first", 1000, 1010),
        Kernel("inside first", 1002, 1005),
        Kernel("touches", 1010, 1020),
        Kernel("takes no time", 1010, 1010),
        Kernel("of another stream", 1000, 1030, stream=3),
        Kernel("hcom_allReduce_", 1000, 1050, "communication", group="tp"),
        Kernel("hcom_send_", 1001, 1060, "communication", group="tp"),
        Kernel("hcom_broadcast_", 1001, 1060, "communication", group="dp"),
    )
    write_profile(tmp_path, [Op("op", 20, 30, kernels)], [Range("Net", 0, 100)])
    query = "SELECT type, name, stream_id, group_name, lane, start_ns, module, op_name, reason FROM timeline.kernel"
    net = ("Net", "op", None)
    assert [(kind if kind != "Mul" else name, *row) for kind, name, *row in ask(tmp_path, query)] == [
        ("first", 2, None, 0, 1000, *net),
        ("of another stream", 3, None, 0, 1000, *net),
        ("hcom_allReduce_", None, "tp", 0, 1000, *net),
        ("hcom_send_", None, "tp", 1, 1001, *net),
        ("hcom_broadcast_", None, "dp", 0, 1001, *net),
        ("inside first", 2, None, 1, 1002, *net),
        ("takes no time", 2, None, 0, 1010, *net),
        ("touches", 2, None, 0, 1010, *net),
    ]


def test_a_call_lasts_from_its_first_to_its_last_kernel_on_each_stream(tmp_path: Path) -> None:
    """On stream 3 the second layer runs beside the first one, so it is drawn outside of the model."""
    ops = [
        Op("a", 20, 30, (Kernel("a", 1000, 1010), Kernel("b", 1005, 1100, stream=3))),
        Op("c", 120, 130, (Kernel("c", 1020, 1030), Kernel("d", 1050, 1060, stream=3))),
        Op("e", 195, 198, (Kernel("e", 1200, 1204),)),
        Op("outside", 300, 310, (Kernel("f", 1300, 1310),)),
    ]
    write_profile(tmp_path, ops, [Range("Net", 0, 200), Range("Layer", 10, 90), Range("Layer", 100, 190)], steps=[(7, 0, 400)])
    assert ask(tmp_path, CALLS) == [
        (1, None, "Net", 1, 2, 0, 7, 1000, 1204, 3, 24, 1, 4),
        (2, 1, "Layer", 2, 2, 0, 7, 1000, 1010, 1, 10, 1, 10),
        (3, None, "Net", 1, 3, 0, 7, 1005, 1100, 2, 105, 0, 0),
        (4, 3, "Layer", 2, 3, 0, 7, 1005, 1100, 1, 95, 1, 95),
        (5, 1, "Layer", 2, 2, 0, 7, 1020, 1030, 1, 10, 1, 10),
        (6, 3, "Layer", 2, 3, 1, 7, 1050, 1060, 1, 10, 1, 10),
    ]


def test_a_call_of_another_thread_is_never_drawn_inside(tmp_path: Path) -> None:
    ops = [
        Op("a", 20, 30, (Kernel("a", 1000, 1010), Kernel("a", 1040, 1050)), tid=1),
        Op("b", 22, 32, (Kernel("b", 1020, 1030),), tid=2),
    ]
    write_profile(tmp_path, ops, [Range("Net", 0, 100, tid=1), Range("Other", 0, 100, tid=2)])
    query = "SELECT module, depth, lane, start_ns, end_ns FROM timeline.module_call"
    assert ask(tmp_path, query) == [("Net", 1, 0, 1000, 1050), ("Other", 1, 1, 1020, 1030)]


def test_backward_work_that_other_work_interrupts_is_two_calls(tmp_path: Path) -> None:
    def backward(of: int, start: int) -> Op:
        return Op("Backward", start, start + 5, (Kernel("k", 1000 + start, 1004 + start),), 9, of)

    ops = [
        Op("aten::addmm", 20, 30, tid=1, sequence_number=5),
        Op("aten::relu", 60, 70, tid=1, sequence_number=6),
        Op("aten::mul", 120, 130, tid=1, sequence_number=7),
        Op("aten::t", 32, 38, tid=1, sequence_number=8),
        backward(1, 200),
        backward(0, 210),
        backward(2, 220),
        backward(3, 230),
    ]
    ranges = [Range("Net", 0, 100), Range("Linear", 10, 40), Range("ReLU", 50, 80), Range("Loss", 110, 140)]
    write_profile(tmp_path, ops, ranges)
    query = "SELECT module, depth, lane, start_ns, end_ns, kernel_count, own_kernel_count FROM timeline.module_call"
    assert ask(tmp_path, query) == [
        ("[Backward]Net", 1, 0, 1200, 1214, 2, 0),
        ("[Backward]ReLU", 2, 0, 1200, 1204, 1, 1),
        ("[Backward]Linear", 2, 0, 1210, 1214, 1, 1),
        ("[Backward]Loss", 1, 0, 1220, 1224, 1, 1),
        ("[Backward]Net", 1, 0, 1230, 1234, 1, 0),
        ("[Backward]Linear", 2, 0, 1230, 1234, 1, 1),
    ]


def test_gaps_and_steps_are_those_of_free_time_and_step_time(tmp_path: Path) -> None:
    """Step 8 begins on the device before step 7 ends; the gap after both is of no step."""
    ops = [
        Op("a", 100, 110, (Kernel("a", 1000, 1010), Kernel("b", 1030, 1100))),
        Op("c", 210, 220, (Kernel("c", 1090, 1120),)),
        Op("d", 310, 320, (Kernel("d", 1200, 1210),)),
    ]
    write_profile(tmp_path, ops, steps=[(7, 100, 200), (8, 200, 300)])
    step = "SELECT step_id, lane, start_ns, end_ns, host_start_ns, host_end_ns, computing_ns, free_ns FROM timeline.step"
    assert ask(tmp_path, step) == [(7, 0, 1000, 1100, 100, 200, 80, 20), (8, 1, 1090, 1120, 200, 300, 30, 0)]
    gap = (
        "SELECT step_id, start_ns, end_ns, duration_ns, cause, cause_ns, causes, kernel_before, kernel_after FROM timeline.gap"
    )
    launched = ("between queue and device", 20, [{"cause": "between queue and device", "duration_ns": 20}])
    later = ("between queue and device", 80, [{"cause": "between queue and device", "duration_ns": 80}])
    first, last = (7, 1010, 1030, 20, *launched, "a", "b"), (None, 1120, 1200, 80, *later, "c", "d")
    assert ask(tmp_path, gap) == [first, last]
    assert ask(tmp_path, gap, step_id=7) == [first]
    assert ask(tmp_path, step, step_id=8) == [(8, 0, 1090, 1120, 200, 300, 30, 0)]
    assert ask(tmp_path, "SELECT name, step_id FROM timeline.kernel", step_id=8) == [("c", 8)]


def test_tables_of_the_usual_step_are_those_of_all_steps_without_the_others(tmp_path: Path) -> None:
    """The step of middle length is the second; the third begins before the second ends, and has the gap in both."""
    ops = [
        Op("a", 10, 20, (Kernel("a", 1000, 1010), Kernel("a", 1020, 1030))),
        Op("b", 110, 120, (Kernel("b", 1100, 1110), Kernel("b", 1105, 1160), Kernel("b", 1180, 1190, stream=3))),
        Op("c", 210, 220, (Kernel("c", 1170, 1175), Kernel("c", 1300, 1350), Kernel("c", 1500, 1510))),
    ]
    ranges = [Range(name, at + start, at + 90 - start) for at in (0, 100, 200) for name, start in (("Net", 0), ("Layer", 5))]
    write_profile(tmp_path, ops, ranges, steps=[(7, 0, 100), (8, 100, 200), (9, 200, 300)])
    with open_profile(tmp_path) as profile:
        assert [tuple(row.values())[2:] for row in profile.rows("FROM timeline.usual_step")] == [(8, 1100, 1190)]
        for table, count in (("kernel", 3), ("gap", 1), ("module_call", 4)):
            numbers = "* EXCLUDE (call_id, parent_call_id)" if table == "module_call" else "*"
            usual = profile.rows(f"SELECT {numbers} FROM timeline.usual_{table} WHERE step_id = 8")
            assert usual == profile.rows(f"SELECT {numbers} FROM timeline.{table} WHERE step_id = 8")
            assert len(usual) == count, table
