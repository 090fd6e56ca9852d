"""Idle time behind a launch is never the launch, and an idle edge of a recording is no step."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers import kineto
from tests.helpers.small_profile import Kernel, Launch, Op, write_profile

MS, US = 1_000_000, 1000
WAITING, UNKNOWN, EDGE = "waiting for another stream or event", "unknown after the launch", "edge of the recording"


def kernels(count: int, start: int, launch: int, correlation: int) -> list[str]:
    """Kernels of 1 ms, each 1 us after the one before, and their launches of 2 us."""
    events = []
    for number in range(count):
        at = launch + 4 * US * number
        begin = start + (MS + US) * number
        events += [kineto.launch(at, at + 2 * US, correlation + number)]
        events += [kineto.kernel(f"k{number}", begin, begin + MS, correlation + number)]
    return events


def causes(folder: Path) -> dict[str, int]:
    with open_profile(folder) as profile:
        return {row["cause"]: row["total_ns"] for row in profile.rows("FROM free.cause")}


@pytest.mark.parametrize(("orders", "cause"), [(False, UNKNOWN), (True, WAITING)])
@pytest.mark.slow
def test_a_kernel_that_starts_long_after_its_launch_does_not_wait_for_the_host(
    tmp_path: Path, orders: bool, cause: str
) -> None:
    """Five kernels; then one that is launched at 20 ms, within 5 us, and begins at 60 ms; then five more."""
    wait = [kineto.event("cuda_runtime", "cudaStreamWaitEvent", 19 * MS, 19 * MS + US)] if orders else []
    events = [
        *kernels(5, MS, 0, 10),
        *wait,
        kineto.launch(20 * MS, 20 * MS + 5 * US, 20),
        kineto.kernel("late", 60 * MS, 61 * MS, 20),
        *kernels(5, 61 * MS + US, 20 * MS + 10 * US, 30),
    ]
    kineto.write_trace(tmp_path / "rank0.json", events)
    found = causes(tmp_path)
    before = MS + 5 * (MS + US) - US
    assert found.pop(cause) == 60 * MS - (20 * MS + 5 * US) - US
    assert found == {"nothing recorded": 20 * MS - before, "between queue and device": 5 * US + 10 * US}
    with open_profile(tmp_path) as profile:
        works = profile.rows("SELECT work, max(total_ns) AS total_ns FROM free.cause_of_op GROUP BY work ORDER BY work")
        rules = {row["rule"]: row for row in profile.rows("FROM advice.finding")}
    assert [tuple(row.values()) for row in works] == [
        ("between ops", 20 * MS - before),
        ("launch", 5 * US),
        ("start", US),
        (None, 60 * MS - (20 * MS + 5 * US) - US),
    ]
    assert "launch_bound" not in rules
    assert (rules["slow_start"]["kind"], rules["slow_start"]["win_ns_per_step"]) == ("hint", None)
    assert ("waits for another stream or event" in rules["slow_start"]["evidence"]) is orders


@pytest.mark.slow
def test_a_stream_that_waits_by_its_own_record_waits(tmp_path: Path) -> None:
    ops = [Op("aten::a", 0, 50 * US), Op("aten::b", 60 * US, 80 * US)]
    launches = [
        Launch(10 * US, 20 * US, (Kernel("first", 30 * US, 90 * US),), recorded_op=0),
        Launch(70 * US, 75 * US, (Kernel("second", 5 * MS, 6 * MS),), recorded_op=1),
    ]
    waits = Kernel("EVENT_WAIT", 95 * US, 4 * MS, kind="copy")
    write_profile(tmp_path / "bare" / "a_ascend_pt", ops, launches=launches)
    write_profile(tmp_path / "shown" / "a_ascend_pt", [*ops, Op("aten::c", 81 * US, 82 * US, (waits,))], launches=launches)
    gap = 5 * MS - 90 * US
    assert causes(tmp_path / "bare") == {UNKNOWN: gap}
    assert causes(tmp_path / "shown") == {WAITING: gap}


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.slow
def test_an_idle_edge_of_a_recording_is_no_step(tmp_path: Path, at_end: bool) -> None:
    """One short kernel 463 ms before, or after, ten of 1 ms each; the first of these was launched behind it at once."""
    short = [kineto.launch(0, 5 * US, 1), kineto.kernel("alone", 10 * US, 14 * US, 1)]
    if at_end:
        lone = [
            kineto.launch(463 * MS, 463 * MS + 5 * US, 1),
            kineto.kernel("alone", 463 * MS + 10 * US, 463 * MS + 14 * US, 1),
        ]
        events = [*kernels(10, MS, 0, 10), *lone]
    else:
        events = [*short, *kernels(10, 463 * MS, 40 * US, 10)]
    kineto.write_trace(tmp_path / "rank0.json", events)
    found = causes(tmp_path)
    assert max(found, key=lambda cause: found[cause]) == EDGE
    with open_profile(tmp_path) as profile:
        (step,) = profile.rows("SELECT duration_ns FROM across.rank_step")
        (edge,) = profile.rows("SELECT side, duration_ns FROM free.edge")
        said = [one for one in profile.warnings if "is no part of a step" in one]
        rules = {row["rule"] for row in profile.rows("FROM advice.finding")}
    assert edge["side"] == ("end" if at_end else "beginning")
    assert step["duration_ns"] == 10 * MS + 9 * US + 4 * US
    assert found[EDGE] <= edge["duration_ns"]
    assert len(said) == 1
    assert not rules & {"launch_bound", "python_between_ops", "unexplained_idle", "slow_start"}
