"""Items on an axis of time through a whole profile; rows in and rows out of each table are in tests/tables/timeline."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import Profile, open_profile
from prof_analysis.functions.lanes import lanes
from tests.helpers.small_profile import Kernel, Op, Range, write_profile


def answers(profile: Profile, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in profile.rows(query)]


def test_lanes_are_reused_as_soon_as_they_are_free() -> None:
    assert lanes([0, 5, 10, 12, 30], [10, 20, 15, 14, 40]) == [0, 1, 0, 2, 0]
    assert lanes([0, 0, 0, 7], [0, 9, 7, 8]) == [0, 0, 1, 1]
    assert lanes([], []) == []


@pytest.mark.slow
def test_gaps_and_steps_are_those_of_free_time_and_step_time(tmp_path: Path) -> None:
    """Step 8 begins on the device before step 7 ends, which has the moments of both; the gap after both is of no step."""
    ops = [
        Op("a", 100, 110, (Kernel("a", 1000, 1010), Kernel("b", 1030, 1100))),
        Op("c", 210, 220, (Kernel("c", 1090, 1120),)),
        Op("d", 310, 320, (Kernel("d", 1200, 1210),)),
    ]
    write_profile(tmp_path, ops, steps=[(7, 100, 200), (8, 200, 300)])
    step = "SELECT step_id, lane, start_ns, end_ns, host_start_ns, host_end_ns, computing_ns, free_ns FROM timeline.step"
    gap = "SELECT step_id, start_ns, end_ns, cause, cause_ns, kernel_before, kernel_after FROM timeline.gap"
    first = (7, 1010, 1030, "between queue and device", 20, "a", "b")
    with open_profile(tmp_path) as profile:
        assert answers(profile, step) == [(7, 0, 1000, 1100, 100, 200, 80, 20), (8, 1, 1090, 1120, 200, 300, 20, 0)]
        assert answers(profile, gap) == [first, (None, 1120, 1200, "between queue and device", 80, "c", "d")]
    with open_profile(tmp_path, step_id=8) as profile:
        assert answers(profile, step) == [(8, 0, 1090, 1120, 200, 300, 20, 0)]
        assert answers(profile, gap) == []
        assert answers(profile, "SELECT name, step_id FROM timeline.kernel") == [("c", 8)]


@pytest.mark.slow
def test_tables_of_the_usual_step_are_those_of_all_steps_without_the_others(tmp_path: Path) -> None:
    """The step of middle length is the second; the third begins before the second ends, which has the gaps until then."""
    ops = [
        Op("a", 10, 20, (Kernel("a", 1000, 1010), Kernel("a", 1020, 1030))),
        Op("b", 110, 120, (Kernel("b", 1100, 1110), Kernel("b", 1105, 1160), Kernel("b", 1180, 1190, stream=3))),
        Op("c", 210, 220, (Kernel("c", 1170, 1175), Kernel("c", 1300, 1350), Kernel("c", 1500, 1510))),
    ]
    ranges = [Range(name, at + start, at + 90 - start) for at in (0, 100, 200) for name, start in (("Net", 0), ("Layer", 5))]
    write_profile(tmp_path, ops, ranges, steps=[(7, 0, 100), (8, 100, 200), (9, 200, 300)])
    with open_profile(tmp_path) as profile:
        assert [tuple(row.values())[2:] for row in profile.rows("FROM timeline.usual_step")] == [(8, 1100, 1190)]
        for table, count in (("kernel", 3), ("gap", 2), ("module_call", 4)):
            numbers = "* EXCLUDE (call_id, parent_call_id)" if table == "module_call" else "*"
            usual = profile.rows(f"SELECT {numbers} FROM timeline.usual_{table} WHERE step_id = 8")
            assert usual == profile.rows(f"SELECT {numbers} FROM timeline.{table} WHERE step_id = 8")
            assert len(usual) == count, table
