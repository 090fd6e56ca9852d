"""Idle time of the device that nothing recorded explains."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile

STEP = Op("ProfilerStep#1", 100_000, 200_000)


def kernels(*starts: int) -> tuple[Kernel, ...]:
    """Kernels of 10 us each."""
    return tuple(Kernel(f"k{start}", start, start + 10_000, type="Add") for start in starts)


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        pytest.param((110_000, 126_000, 150_000), [(2, 20_000, 20_000)], id="two gaps of 6 and 14 us"),
        pytest.param((110_000, 124_000), [], id="4 us, less than a gap that counts", marks=pytest.mark.slow),
        pytest.param((110_000, 120_000), [], id="none", marks=pytest.mark.slow),
    ],
)
def test_gaps_before_kernels_without_a_launch_are_found_if_they_are_long(
    tmp_path: Path, starts: tuple[int, ...], expected: list[tuple[int, int, int]]
) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=kernels(*starts))
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT count, time_ns, win_ns FROM advice.unexplained_idle")
    assert [tuple(row.values()) for row in found] == expected


@pytest.mark.slow
def test_what_the_host_did_is_no_such_time_and_a_finding_says_the_longest_gap(tmp_path: Path) -> None:
    launched = Op("op", 105_000, 106_000, kernels(110_000, 170_000))
    steps = [(1, 100_000, 200_000)]
    write_profile(tmp_path / "a_ascend_pt", [STEP, launched], unlinked=kernels(126_000, 150_000), steps=steps)
    write_profile(tmp_path / "b_ascend_pt", [STEP, Op("op", 105_000, 106_000, kernels(110_000, 170_000))], steps=steps, rank=1)
    with open_profile(tmp_path) as profile:
        (found,) = profile.rows("FROM advice.finding WHERE rule = 'unexplained_idle'")
    found.pop("finding_id")
    assert found == {
        "rule": "unexplained_idle",
        "title": says("idle", "reasons not recorded"),
        "module": None,
        "op": None,
        "kernel_type": None,
        "rank_id": 0,
        "evidence": says(
            "idle for 20.0 us", "2 kernels", "launch is not recorded", "28.6%", "14.0 us", "before k150000", "only on rank 0"
        ),
        "count": 2,
        "win_ns_per_step": 20_000,
        "win_share": 20 / 70,
        "kind": "upper bound",
        "what_to_do": says(
            "Record the host too", "[ProfilerActivity.CPU, ProfilerActivity.NPU]", "keep all files", "ask again"
        ),
        "doc": "docs/rules.md#unexplained-idle",
        "sql": "SELECT duration_ns, cause_ns, step_id, kernel_before, kernel_after FROM free.longest_gap WHERE "
        "coalesce(cause = 'launch not recorded', true) ORDER BY duration_ns DESC LIMIT 20",
        "rank_count": 1,
        "time_ns_per_step": 20_000,
        "shared_with": None,
        "shared_ns_per_step": None,
    }


@pytest.mark.slow
def test_it_is_found_where_a_hundred_gaps_of_the_host_are_longer(tmp_path: Path) -> None:
    """100 gaps of 30 us that the host explains, and 20 of 20 us before kernels without a launch."""
    late = tuple(Kernel(f"k{number}", number * 40_000, number * 40_000 + 10_000, type="Add") for number in range(10, 111))
    short = tuple(Kernel(f"s{number}", at := 4_440_000 + number * 30_000, at + 10_000, type="Add") for number in range(20))
    ops = [Op("op", one.start - 1000, one.start - 500, (one,)) for one in late]
    write_profile(tmp_path / "a_ascend_pt", ops, unlinked=short)
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT count, time_ns, win_ns FROM advice.unexplained_idle")
    assert [tuple(row.values()) for row in found] == [(20, 410_000, 410_000)]


@pytest.mark.slow
def test_an_idle_beginning_of_kernels_alone_is_no_step(tmp_path: Path) -> None:
    """The last kernel of the pass before, 60 us of which nobody knows what they are, and a pass of 200 us."""
    unlinked = (Kernel("tail", 1_000_000, 1_000_500, type="Cast"), *kernels(*range(1_070_000, 1_270_000, 20_000)))
    write_profile(tmp_path / "a_ascend_pt", unlinked=unlinked)
    with open_profile(tmp_path) as profile:
        edges = profile.rows("SELECT side, duration_ns FROM free.edge")
        (rank,) = profile.rows("SELECT step_ns, edge_ns FROM across.rank_step")
        found = profile.rows("SELECT count, win_ns FROM advice.unexplained_idle")
        first = profile.rows("SELECT cause, duration_ns FROM free.longest_gap LIMIT 1")
    assert [tuple(row.values()) for row in edges] == [("beginning", 69_500)]
    assert tuple(rank.values()) == (190_500, 69_500)
    assert [tuple(row.values()) for row in found] == [(9, 90_000)]
    assert [tuple(row.values()) for row in first] == [("edge of the recording", 69_500)]
