"""A time that cannot be is set aside and counted: one kernel of 56 years would leave shares of 0 and 100 % of all others."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.kineto import BASE_NS, event, kernel, launch, op, write_trace
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import DATABASE, HostCall, Kernel, Op, Range, write_profile

FIRST = 1_767_225_600_000_000_000
"""When the recordings of these tests begin, ns; they last a millisecond."""
LENGTH = 1_000_000
LAST_TIME = 2**63 - 1
KEYS = ("what", "reason", "threshold_ns", "row_count", "time_ns")
OUTSIDE, LONGER, EARLIER = says("outside", "recording", "its length"), says("longer", "recording"), says("end before", "start")


def set_aside(folder: Path, table: str = "trace.set_aside") -> tuple[list[tuple[Any, ...]], list[int], list[str]]:
    """The rows that were set aside, the durations of kernels in order, and the warnings."""
    with open_profile(folder, cache="none") as profile:
        rows = profile.rows(f"SELECT {', '.join(KEYS)} FROM {table} ORDER BY ALL")
        durations = [row["duration_ns"] for row in profile.rows("SELECT duration_ns FROM trace.kernel ORDER BY duration_ns")]
        return [tuple(row.values()) for row in rows], durations, profile.warnings


def database(folder: Path, *changes: str, session: tuple[int, int] | None = (FIRST, FIRST + LENGTH)) -> Path:
    """A profile of 20 kernels of 1000, 1001, ... ns on a device, 20 ops that launch them; then these changes of the tables."""
    ops = [
        Op(f"op{n}", at, at + 20_000, (Kernel("mul", at + 5000, at + 6000 + n),))
        for n in range(20)
        for at in [FIRST + 100_000 + 30_000 * n]
    ]
    write_profile(folder / "0_ascend_pt", ops)
    with closing(sqlite3.connect(folder / "0_ascend_pt" / DATABASE.format(rank=0))) as file, file:
        if session:
            file.execute("CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER)")
            file.execute("INSERT INTO SESSION_TIME_INFO VALUES (?, ?)", session)
        for change in changes:
            file.execute(change)
    return folder


# What makes a time absurd, and what is set aside of it.
ABSURD = [
    ("startNs = 0", ("kernels", LONGER, LENGTH, 1, None)),
    ("startNs = -5", ("kernels", LONGER, LENGTH, 1, None)),
    (f"endNs = {LAST_TIME}", ("kernels", LONGER, LENGTH, 1, None)),
    (f"startNs = -{LAST_TIME}, endNs = {LAST_TIME}", ("kernels", LONGER, LENGTH, 1, None)),
    ("startNs = -5, endNs = 100", ("kernels", OUTSIDE, LENGTH, 1, 105)),
    (f"startNs = {LAST_TIME - 10}, endNs = {LAST_TIME}", ("kernels", OUTSIDE, LENGTH, 1, 10)),
    (f"startNs = startNs - {3 * LENGTH}, endNs = endNs - {3 * LENGTH}", ("kernels", OUTSIDE, LENGTH, 1, 1000)),
    (f"endNs = startNs + {LENGTH + 1}", ("kernels", LONGER, LENGTH, 1, None)),
    ("endNs = startNs - 1", ("kernels", EARLIER, None, 1, None)),
]
KEPT = {
    "at the first edge": f"startNs = {FIRST - 500}, endNs = {FIRST + 500}",
    "at the last edge": f"startNs = {FIRST + LENGTH - 500}, endNs = {FIRST + LENGTH + 500}",
    "before by the length": f"startNs = {FIRST - LENGTH}, endNs = {FIRST - LENGTH + 1000}",
    "all the time": f"startNs = {FIRST}, endNs = {FIRST + LENGTH}",
}


def test_kernels_far_outside_of_the_recording_are_set_aside_and_what_an_edge_cuts_is_kept(tmp_path: Path) -> None:
    """The kernels of 1001, 1002, ... ns get one absurd time each, those of 1010, 1011, ... ns times at an edge."""
    absurd = [f"UPDATE TASK SET {change} WHERE rowid = {n}" for n, (change, _) in enumerate(ABSURD, 2)]
    kept = [f"UPDATE TASK SET {change} WHERE rowid = {n}" for n, change in enumerate(KEPT.values(), 11)]
    found, durations, warnings = set_aside(database(tmp_path, *absurd, *kept))
    assert found == [
        ("kernels", EARLIER, None, 1, None),
        ("kernels", LONGER, LENGTH, 5, None),
        ("kernels", OUTSIDE, LENGTH, 3, 105 + 10 + 1007),
    ]
    assert durations == [1000, 1000, 1000, 1000, *range(1014, 1020), LENGTH]
    assert [warning.rpartition(": ")[2] for warning in warnings] == ["1", "5", "3"]


@pytest.mark.slow
@pytest.mark.parametrize(("change", "row"), ABSURD)
def test_a_kernel_far_outside_of_the_recording_is_set_aside(tmp_path: Path, change: str, row: tuple[Any, ...]) -> None:
    found, durations, warnings = set_aside(database(tmp_path, f"UPDATE TASK SET {change} WHERE rowid = 1"))
    assert found == [row]
    assert durations == list(range(1001, 1020))
    length = ["1.0 ms"] if row[2] else []
    assert warnings == [says("0_ascend_pt", "kernels set aside", *row[1].words, *length, 1)]
    assert ("1.0 ms" in warnings[0]) is bool(length)


@pytest.mark.slow
@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT)
def test_what_an_edge_cuts_is_kept(tmp_path: Path, change: str) -> None:
    found, durations, warnings = set_aside(database(tmp_path, f"UPDATE TASK SET {change} WHERE rowid = 1"))
    assert (found, len(durations), warnings) == ([], 20, [])


def test_a_device_whose_clock_is_off_is_kept_but_for_what_is_far_from_its_others(tmp_path: Path) -> None:
    hours = 7_200_000_000_000
    shift = f"UPDATE TASK SET startNs = startNs + {hours}, endNs = endNs + {hours}"
    assert set_aside(database(tmp_path / "all", shift))[0] == []
    found, durations, _ = set_aside(database(tmp_path / "but one", f"{shift} WHERE rowid > 1"))
    assert found == [("kernels", OUTSIDE, LENGTH, 1, 1000)]
    assert durations == list(range(1001, 1020))


def test_without_a_statement_most_rows_tell_where_the_recording_is(tmp_path: Path) -> None:
    found, durations, _ = set_aside(database(tmp_path / "0", "UPDATE TASK SET startNs = 0 WHERE rowid = 1", session=None))
    assert found == [("kernels", LONGER, 2_000_000_000_000, 1, None)]
    assert len(durations) == 19
    hour = "UPDATE TASK SET endNs = startNs + 3600000000000 WHERE rowid = 1"
    assert [row[1] for row in set_aside(database(tmp_path / "hour", hour, session=None))[0]] == [LONGER]
    # A collective can wait for half an hour.
    waits = "UPDATE TASK SET endNs = startNs + 1800000000000 WHERE rowid = 1"
    assert set_aside(database(tmp_path / "1", waits, session=None))[0] == []


def test_times_all_over_what_can_be_written_are_alike(tmp_path: Path) -> None:
    """Their bounds would lie beyond the last time that can be written."""
    distance = LAST_TIME // 20
    spread = f"UPDATE TASK SET startNs = (rowid - 1) * {distance}, endNs = (rowid - 1) * {distance} + 999 + rowid"
    found, durations, warnings = set_aside(database(tmp_path, spread, session=None))
    assert (found, durations, warnings) == ([], [*range(1000, 1020)], [])


SESSIONS = [(0, FIRST + LENGTH), (FIRST, 0), (5, 6), (FIRST, LAST_TIME)]


@pytest.mark.parametrize("session", quick([pytest.param(one) for one in SESSIONS], 3))
def test_a_statement_that_cannot_be_is_not_believed(tmp_path: Path, session: tuple[int, int]) -> None:
    assert set_aside(database(tmp_path / "whole", session=session))[0] == []
    absurd = database(tmp_path / "absurd", "UPDATE TASK SET startNs = 0 WHERE rowid = 1", session=session)
    found, durations, _ = set_aside(absurd)
    assert [row[:2] for row in found] == [("kernels", LONGER)]
    assert len(durations) == 19


def test_ops_ranges_and_host_calls_with_absurd_times_are_set_aside(tmp_path: Path) -> None:
    at = FIRST + 100_000
    ops = [Op(f"op{n}", at + 100 * n, at + 100 * n + 50, ()) for n in range(20)]
    calls = [HostCall("aclrtSynchronizeStream", at + 10 * n, at + 10 * n + 5) for n in range(9)]
    write_profile(tmp_path / "0_ascend_pt", ops, [Range("Net", at, at + 5000)], calls=calls)
    with closing(sqlite3.connect(tmp_path / "0_ascend_pt" / DATABASE.format(rank=0))) as file, file:
        file.execute("CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER)")
        file.execute("INSERT INTO SESSION_TIME_INFO VALUES (?, ?)", (FIRST, FIRST + LENGTH))
        file.execute("UPDATE PYTORCH_API SET startNs = '0' WHERE rowid = 1")
        file.execute(f"UPDATE MSTX_EVENTS SET endNs = {LAST_TIME}")
        file.execute("UPDATE CANN_API SET startNs = 7, endNs = 8 WHERE connectionId = (SELECT min(connectionId) FROM CANN_API)")
    found, _, _ = set_aside(tmp_path)
    assert found == [("mstx ranges", LONGER, LENGTH, 1, None), ("ops", LONGER, LENGTH, 1, None)]
    found, _, _ = set_aside(tmp_path, "trace.set_aside_call")
    assert found == [("calls into CANN", OUTSIDE, LENGTH, 1, 1)]


def trace_of(path: Path, *more: str, is_stated: bool = True) -> Path:
    """A trace of 20 kernels with their launches, and more events, in a millisecond."""
    events = [
        one
        for n in range(20)
        for one in (
            op("aten::mm", 30_000 * n, 30_000 * n + 9000, n + 1),
            launch(30_000 * n + 10, 30_000 * n + 500, n + 1, n + 1),
            kernel("gemm", 30_000 * n + 1000, 30_000 * n + 2000 + n, n + 1),
        )
    ]
    stated = [event("Trace", "PyTorch Profiler (0)", 0, LENGTH, "PyTorch Profiler", "Spans")] if is_stated else []
    return write_trace(path / "rank0.pt.trace.json", [*events, *more, *stated])


def raw_kernel(ts: str, dur: str) -> str:
    """A kernel with these texts as times."""
    place = {
        "ph": "X",
        "cat": "kernel",
        "name": "gemm",
        "pid": 0,
        "tid": 7,
        "args": {"device": 0, "stream": 7, "correlation": 99},
    }
    return f'{json.dumps(place)[:-1]}, "ts": {ts}, "dur": {dur}}}'


# Times of a kernel in a trace, and why they are set aside.
ABSURD_IN_TRACE = [
    (f"-{BASE_NS // 1000}", "1.0", OUTSIDE),
    ("4000000000000.0", "1.0", OUTSIDE),
    ("100.0", "4000000000.0", LONGER),
    ("1e30", "1.0", "they have no time"),
    ("9000000000000000.0", "1.0", "they have no time"),
    ("NaN", "1.0", "they have no time"),
    ("100.0", "1e30", "they have no time"),
    ("100.0", "-5", EARLIER),
]


@pytest.mark.slow
def test_kernels_of_a_trace_with_absurd_times_are_set_aside(tmp_path: Path) -> None:
    trace_of(tmp_path / "stated", *(raw_kernel(ts, dur) for ts, dur, _ in ABSURD_IN_TRACE))
    found, durations, warnings = set_aside(tmp_path / "stated")
    assert [(row[0], row[1], row[3]) for row in found] == [
        ("kernels and copies", reason, count)
        for reason, count in ((EARLIER, 1), ("they have no time", 4), (LONGER, 1), (OUTSIDE, 2))
    ]
    assert durations == list(range(1000, 1020))
    assert len(warnings) == 4
    trace_of(tmp_path / "not stated", raw_kernel(*ABSURD_IN_TRACE[0][:2]), is_stated=False)
    found, durations, _ = set_aside(tmp_path / "not stated")
    assert [row[1] for row in found] == [OUTSIDE]
    assert durations == list(range(1000, 1020))


@pytest.mark.slow
@pytest.mark.parametrize("is_stated", [True, False])
@pytest.mark.parametrize(("ts", "dur", "reason"), ABSURD_IN_TRACE)
def test_a_kernel_of_a_trace_with_absurd_times_is_set_aside(
    tmp_path: Path, ts: str, dur: str, reason: str, is_stated: bool
) -> None:
    trace_of(tmp_path, raw_kernel(ts, dur), is_stated=is_stated)
    found, durations, warnings = set_aside(tmp_path)
    assert [(row[0], row[1], row[3]) for row in found] == [("kernels and copies", reason, 1)]
    assert durations == list(range(1000, 1020))
    assert len(warnings) == 1


@pytest.mark.slow
def test_a_trace_states_what_it_recorded(tmp_path: Path) -> None:
    late, cut = kernel("late", 2_000_001, 2_000_002, 99), kernel("cut", LENGTH - 10, LENGTH + 10, 98)
    trace_of(tmp_path / "a", late, cut)
    assert set_aside(tmp_path / "a")[0] == [("kernels and copies", OUTSIDE, LENGTH, 1, 1)]
    trace_of(tmp_path / "b", late, cut, is_stated=False)
    assert set_aside(tmp_path / "b")[0] == []


def text_of(
    folder: Path, changes: Iterable[tuple[int, dict[str, str]]] = (), csv: dict[int, tuple[str, str]] | None = None
) -> Path:
    """Text exports of 20 kernels of 1000, 1001, ... ns; changed are events by their number, times of csv by theirs."""

    def us(at: int) -> str:
        return f"{(FIRST + at) // 1000}.{(FIRST + at) % 1000:03}"

    args = {"Model Id": 4294967295, "Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": 7, "connection_id": 5}
    events = [
        {"ph": "X", "name": f"mm{n}", "pid": 102851, "tid": 2, "ts": us(30_001 * n), "dur": 1 + n / 1000, "args": args}
        for n in range(20)
    ]
    for number, change in changes:
        events[number].update(change)
    lines = [
        f"0,4294967295,7,2,mm{n},MatMulV3,AI_CORE,{start}\t,{duration},20,0"
        for n in range(20)
        for start, duration in [(csv or {}).get(n, (us(30_001 * n), f"1.{n:03}"))]
    ]
    head = "Device_id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Num,Mix Block Num"
    output = folder / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")
    (output / "kernel_details.csv").write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    info = {
        "start_info": {"start_monotonic": 50},
        "end_info": {"collectionTimeEnd": FIRST + LENGTH, "MonotonicTimeEnd": 50 + LENGTH},
    }
    (output.parent / "profiler_info_0.json").write_text(json.dumps(info), encoding="utf-8")
    return folder


def test_kernels_of_text_exports_with_absurd_times_are_set_aside(tmp_path: Path) -> None:
    assert set_aside(text_of(tmp_path / "whole"))[0] == []
    absurd = text_of(tmp_path / "absurd", [(0, {"ts": "0.0"})], {0: ("0.0", "1.0")})
    found, durations, _ = set_aside(absurd)
    assert found == [
        ("rows of kernel_details.csv", OUTSIDE, LENGTH, 1, 1000),
        ("tasks on the device", OUTSIDE, LENGTH, 1, 1000),
    ]
    assert durations == list(range(1001, 1020))


@pytest.mark.slow
def test_where_one_file_has_an_absurd_time_the_other_tells_it(tmp_path: Path) -> None:
    in_trace = text_of(tmp_path / "trace", [(0, {"dur": "9e15"})])
    found, durations, _ = set_aside(in_trace)
    assert [row[0] for row in found] == ["tasks on the device"]
    assert durations == list(range(1000, 1020))
    in_csv = text_of(tmp_path / "csv", csv={0: (f"{FIRST // 1000}.000", "1000000000.007")})
    found, durations, _ = set_aside(in_csv)
    assert found == [("rows of kernel_details.csv", LONGER, LENGTH, 1, None)]
    assert durations == list(range(1000, 1020))
