"""A clock of the device that is off against that of the host: found, put right where the two are compared, and said."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.small_profile import HostCall, Kernel, Launch, Op, write_profile

US, MS = 1000, 1_000_000
COUNT = 40


def write(folder: Path, shift: int, damaged: int = 0) -> None:
    """40 ops of 100 us, 300 us apart, each with a kernel that begins 10 us after its launch, and a synchronise at the end.

    The device is `shift` ns early (below 0) or late; of so many kernels the launch that is recorded is that of the last one.
    """
    base = 10 * MS
    asked = [base + 300 * US * number for number in range(COUNT)]
    ran = [Kernel(f"k{number}", at + 60 * US + shift, at + 160 * US + shift) for number, at in enumerate(asked)]
    launches = [
        Launch(at + 50 * US, at + 55 * US, (kernel,) if number >= damaged else (), recorded_op=number)
        for number, (at, kernel) in enumerate(zip(asked, ran, strict=True))
    ]
    launches[-1] = Launch(asked[-1] + 50 * US, asked[-1] + 55 * US, (*ran[:damaged], ran[-1]), recorded_op=COUNT - 1)
    ops = [Op("aten::mul", at, at + 100 * US) for at in asked]
    ops.append(Op("ProfilerStep#1", base - 100 * US, asked[-1] + 5 * MS))
    wait = HostCall("aclrtSynchronizeDevice", asked[-1] + 60 * US, asked[-1] + 165 * US)
    steps = [(1, base - 100 * US, asked[-1] + 5 * MS)]
    write_profile(folder / "a_ascend_pt", ops, launches=launches, calls=[wait], steps=steps)


def facts(folder: Path) -> tuple[dict[str, Any], list[str]]:
    with open_profile(folder) as profile:
        found = {
            "offset": profile.rows("FROM clock.offset")[0],
            "preparing": profile.rows("SELECT preparing_ns, free_ns FROM step.time"),
            "causes": profile.rows("SELECT cause, gap_count, total_ns FROM free.cause"),
            "works": profile.rows("SELECT cause, work, op, total_ns, behind_ns FROM free.cause_of_op"),
            "critical": profile.rows("SELECT is_critical FROM critical.kernel ORDER BY kernel_id"),
            "calls": profile.rows("SELECT name, sum(idle_ns) AS idle_ns FROM api.call GROUP BY name ORDER BY name"),
            "duration": profile.rows("SELECT duration_ns, idle_ns FROM step.duration"),
            "places": profile.rows("SELECT cause, host_ops, host_call, host_call_ns FROM free.longest_gap"),
        }
        return found, [str(one) for one in profile.warnings if "the clock of the device" in str(one)]


@pytest.mark.parametrize("shift", [-3 * MS, -700 * US, 3 * MS])
def test_what_compares_host_and_device_is_as_if_the_clocks_agreed(tmp_path: Path, shift: int) -> None:
    write(tmp_path / "right", -10 * US)  # each kernel begins right at its launch
    write(tmp_path / "wrong", shift - 10 * US)
    (right, silent), (wrong, said) = facts(tmp_path / "right"), facts(tmp_path / "wrong")
    assert silent == []
    assert right.pop("offset")["offset_ns"] == 0
    assert wrong.pop("offset")["offset_ns"] == shift
    assert wrong == right
    assert len(said) == 1
    assert "a_ascend_pt" in said[0]
    if shift < 0:
        early = f"{'3.0 ms' if shift == -3 * MS else '700.0 us'} early"
        assert early in said[0]
        assert f"{COUNT} of {COUNT} kernels begin before their launch" in said[0]
    else:
        assert "3.0 ms late" in said[0]


@pytest.mark.parametrize(("shift", "damaged"), [(0, 0), (-20 * US, 0), (200 * US, 0), (0, 7)])
def test_a_small_difference_and_a_few_damaged_links_move_nothing(tmp_path: Path, shift: int, damaged: int) -> None:
    write(tmp_path, shift, damaged)
    found, said = facts(tmp_path)
    assert found["offset"]["offset_ns"] == 0
    assert said == []


def test_damaged_links_do_not_make_an_early_clock_earlier(tmp_path: Path) -> None:
    write(tmp_path, -MS - 10 * US, damaged=1)
    found, said = facts(tmp_path)
    assert found["offset"]["offset_ns"] == -MS
    assert len(said) == 1


def test_a_host_that_runs_ahead_and_waits_for_another_stream_is_no_late_clock(tmp_path: Path) -> None:
    """Each kernel of 1 ms begins right behind the one before, ever later after its launch; each call waits for none of them."""
    starts = [20 * MS + MS * number for number in range(COUNT)]
    asked = [10 * MS + 100 * US * number for number in range(COUNT)]
    launches = [Launch(at, at + 5 * US, (Kernel("k", start, start + MS),)) for at, start in zip(asked, starts, strict=True)]
    calls = [HostCall("aclrtSynchronizeStream", at + 10 * US, after - 10 * US) for at, after in pairwise(asked)]
    write_profile(tmp_path / "a_ascend_pt", [Op("aten::a", MS, 2 * MS)], launches=launches, calls=calls)
    found, said = facts(tmp_path)
    assert (found["offset"]["offset_ns"], found["offset"]["late_count"]) == (0, COUNT - 1)
    assert said == []


def test_no_time_before_the_first_kernel_is_negative(tmp_path: Path) -> None:
    """20 us before its step began, by clocks that differ as much: it began at once; 5 ms before: that cannot be."""
    for name, start, expected in (("near", -20 * US, 0), ("far", -5 * MS, None)):
        begin = 10 * MS
        launch = Launch(begin + 10 * US, begin + 12 * US, (Kernel("k", begin + start, begin + start + US),), recorded_op=0)
        ops = [Op("aten::a", begin + 5 * US, begin + 20 * US), Op("ProfilerStep#1", begin, begin + MS)]
        write_profile(tmp_path / name / "a_ascend_pt", ops, launches=[launch], steps=[(1, begin, begin + MS)])
        with open_profile(tmp_path / name) as profile:
            (row,) = profile.rows("SELECT preparing_ns, reason FROM step.time")
        assert row["preparing_ns"] == expected
        assert (row["reason"] is None) is (expected is not None)
