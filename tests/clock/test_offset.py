"""A clock of the device that is off against that of the host: found, put right where the two are compared, and said."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.engine.rows_of import rows_of
from prof_analysis.engine.tables import all_tables
from tests.helpers.asking import build_at_once
from tests.helpers.slow import quick
from tests.helpers.small_profile import HostCall, Kernel, Launch, Op, write_profile

US, MS = 1000, 1_000_000
COUNT = 40


def write(folder: Path, shift: int) -> None:
    """40 ops of 100 us, 300 us apart, each with a kernel that begins 10 us after its launch, and a synchronise at the end.

    The device is `shift` ns early (below 0) or late.
    """
    base = 10 * MS
    asked = [base + 300 * US * number for number in range(COUNT)]
    ran = [Kernel(f"k{number}", at + 60 * US + shift, at + 160 * US + shift) for number, at in enumerate(asked)]
    launches = [
        Launch(at + 50 * US, at + 55 * US, (kernel,), recorded_op=number)
        for number, (at, kernel) in enumerate(zip(asked, ran, strict=True))
    ]
    ops = [Op("aten::mul", at, at + 100 * US) for at in asked]
    ops.append(Op("ProfilerStep#1", base - 100 * US, asked[-1] + 5 * MS))
    wait = HostCall("aclrtSynchronizeDevice", asked[-1] + 60 * US, asked[-1] + 165 * US)
    steps = [(1, base - 100 * US, asked[-1] + 5 * MS)]
    write_profile(folder / "a_ascend_pt", ops, launches=launches, calls=[wait], steps=steps)


def facts(folder: Path) -> tuple[dict[str, Any], list[str]]:
    with open_profile(folder) as profile:
        build_at_once(
            profile,
            *("clock.offset", "step.time", "free.cause", "free.cause_of_op", "critical.kernel", "api.call", "step.duration"),
            "free.longest_gap",
        )
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


@pytest.mark.slow
@pytest.mark.parametrize("shift", quick([-3 * MS, -700 * US, 3 * MS], 1))
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


def offset(latencies: Sequence[int], waits: Sequence[int] = ()) -> tuple[object, object]:
    """The offset of the clock, and the kernels that begin early, of kernels that begin so long after their launch, in order.

    Each of `waits` is how long before the end of the last kernel a call that waits for the device returns.
    """
    tables: dict[str, list[dict[str, object]]] = {
        "trace.launch": [{"launch_id": n, "start_ns": 300 * US * n} for n in range(len(latencies))],
        "trace.kernel": [
            {"kernel_id": n, "kind": "compute", "launch_id": n, "start_ns": begin, "end_ns": begin + 100 * US}
            for n, begin in enumerate(300 * US * n + latency for n, latency in enumerate(latencies))
        ],
    }
    end = max(300 * US * n + latency + 100 * US for n, latency in enumerate(latencies))
    called = 300 * US * len(latencies)
    tables["trace.host_api"] = [{"role": "synchronise", "start_ns": called, "end_ns": end - wait} for wait in waits]
    for name in ("latency", "delayed", "waited", "offset"):
        table = f"clock.{name}"
        tables[table] = rows_of(table, {need: tables[need] for need in tables if need in all_tables()[table].read})
    (row,) = tables["clock.offset"]
    return row["offset_ns"], row["early_count"]


def test_an_early_clock_is_as_early_as_most_kernels_and_a_few_damaged_links_move_nothing() -> None:
    assert offset([0] * COUNT) == (0, 0)
    assert offset([-99_999] * COUNT) == (0, 0)
    assert offset([-100_000] * COUNT) == (-100_000, COUNT)
    # Fewer than one in five of a small profile, and fewer than ten, are damaged links.
    assert offset([-MS] * 7 + [0] * (COUNT - 7)) == (0, 7)
    assert offset([-MS] * 8 + [0] * (COUNT - 8)) == (-MS, 8)
    assert offset([-MS] * 10 + [0] * 41) == (-MS, 10)
    assert offset([-MS] * 9 + [0] * 41) == (0, 9)
    # A damaged link lies anywhere.
    assert offset([-50 * MS] + [-MS] * (COUNT - 1)) == (-MS, COUNT)


def test_a_late_clock_shows_by_calls_that_return_too_early() -> None:
    assert offset([3 * MS] * COUNT, [3 * MS]) == (3 * MS, 0)
    assert offset([3 * MS] * COUNT, [-5 * US]) == (0, 0), "the call waited for what was launched"
    assert offset([200 * US] * COUNT, [3 * MS]) == (0, 0), "so late begins a kernel anyway"
    # The host runs ahead: each kernel begins behind the one before, ever later after its launch.
    assert offset([3 * MS + 700 * US * n for n in range(COUNT)], [3 * MS]) == (0, 0)


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
