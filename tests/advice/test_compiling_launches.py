"""Launches that compile ops one by one win no more than these calls take, and no more than the device waits for the host."""

from pathlib import Path

from prof_analysis import open_profile
from tests.helpers.small_profile import HostCall, Kernel, Op, write_profile

LEAST_TWO = {"compiling_launches.least_calls": 2.0}
INSIDE = HostCall("opCompile", 1120, 1130)


def with_calls(folder: Path, *calls: HostCall, rank: int = 0) -> None:
    """A step of 1000 ns in which the device waits 250 ns for the second op, from 1250 to 1500."""
    first, second = Kernel("a", 1100, 1250, type="Add"), Kernel("b", 1500, 1900, type="Add")
    write_profile(
        folder,
        [Op("ProfilerStep#1", 1000, 2000), Op("one", 1050, 1090, (first,)), Op("two", 1100, 1490, (second,))],
        steps=[(1, 1000, 2000)],
        calls=calls,
        rank=rank,
    )


def test_a_finding_says_what_the_host_does_and_twenty_calls_a_step_are_needed(tmp_path: Path) -> None:
    calls = [HostCall("aclopCompileAndExecute", 1251 + 5 * n, 1255 + 5 * n) for n in range(20)]
    with_calls(tmp_path / "a_ascend_pt", *calls)
    with_calls(tmp_path / "b_ascend_pt", *calls[:19], rank=1)
    with open_profile(tmp_path) as profile:
        (found,) = profile.rows("FROM advice.compiling_launches")
    columns = ("profile", "rank_id", "module", "op", "count", "time_ns", "win_ns", "kind")
    assert tuple(found[name] for name in columns) == ("a_ascend_pt", 0, None, None, 20, 80, 80, "upper bound")
    for figure in ("aclopCompileAndExecute", "20 calls", "80 ns", "250 ns"):
        assert figure in found["evidence"]
