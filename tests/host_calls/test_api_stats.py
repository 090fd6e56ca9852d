"""`api-stats`: host calls by layer and name, and how long the device was idle meanwhile."""

import csv
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import Result

from prof_analysis import open_profile
from tests.helpers.api import rows
from tests.helpers.frames import arrow_of
from tests.helpers.peer import run_recipe
from tests.helpers.says import says
from tests.helpers.small_profile import HostCall, Kernel, edit, write_profile

# The device is busy in [100, 200), [250, 300) and [400, 500), so it is idle in [200, 250) and [300, 400).
KERNELS = [Kernel("a", 100, 200), Kernel("b", 250, 300), Kernel("c", 400, 500)]
CALLS = [
    HostCall("aclrtSynchronizeStream", 150, 350),  # idle in 50 + 50
    HostCall("rtStreamSynchronize", 160, 340, type=5000),  # inside it: idle in 50 + 40
    HostCall("rtQuery", 160, 200, type=5000),  # inside that one
    HostCall("rtQuery", 190, 220, type=5000),  # and this one overlaps it by 10
    HostCall("aclrtSynchronizeStream", 600, 610),
    HostCall("aclrtSynchronizeStream", 10, 310, tid=2),  # another thread encloses nothing: idle in 50 + 10
    HostCall("aclUnknown", 50, 50, type=123),
]


def test_own_time_idle_time_and_quantiles_of_each_call(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=KERNELS, calls=CALLS)
    with open_profile(tmp_path) as profile:
        found = [row[2:] for row in rows(arrow_of(profile.api_stats()))]
        assert [row[:3] for row in found] == [
            ("acl", "aclrtSynchronizeStream", "synchronise"),
            ("runtime", "rtStreamSynchronize", "synchronise"),
            ("runtime", "rtQuery", None),
            (None, "aclUnknown", None),
        ]
        deviation = pytest.approx(((30**2 + 160**2 + 130**2) / 3) ** 0.5)
        # calls, own, share, total, idle, mean, deviation, least, quarter, half, three quarters, 95 %, most
        assert [row[3:] for row in found] == [
            (3, 330, 330 / 520, 510, 160, 170.0, deviation, 10, 10, 200, 300, 300, 300),
            (1, 120, 120 / 520, 180, 90, 180.0, 0.0, 180, 180, 180, 180, 180, 180),
            (2, 70, 70 / 520, 70, 20, 35.0, 5.0, 30, 30, 30, 40, 40, 40),
            (1, 0, 0.0, 0, 0, 0.0, 0.0, 0, 0, 0, 0, 0, 0),
        ]
        assert rows(arrow_of(profile.api_stats(across_ranks=True))) == found


def test_devices_of_one_database_share_their_host_calls(tmp_path: Path) -> None:
    other = [Kernel("a", 100, 150, device=1), Kernel("b", 350, 400, device=1)]
    path = write_profile(tmp_path / "a_ascend_pt", unlinked=[*KERNELS, *other], calls=CALLS)
    edit(path, "CREATE TABLE RANK_DEVICE_MAP (rankId INT, deviceId INT); INSERT INTO RANK_DEVICE_MAP VALUES (0, 0), (1, 1)")
    with open_profile(tmp_path) as profile:
        assert len(arrow_of(profile.api_stats())) == 8
        first = arrow_of(profile.api_stats(across_ranks=True)).to_pylist()[0]
        assert (first["calls"], first["self_ns"], first["total_ns"], first["idle_ns"]) == (3, 330, 510, 160 + 200 + 160)


SCREEN = """
call                    layer       own  share of calls  calls  device idle  median     p95     max   total    mean  role
aclrtSynchronizeStream  acl      330 ns           63.5%      3       160 ns  200 ns  300 ns  300 ns  510 ns  170 ns  synchronise
rtStreamSynchronize     runtime  120 ns           23.1%      1        90 ns  180 ns  180 ns  180 ns  180 ns  180 ns  synchronise

7 calls took 520 ns on host threads; 1 rank
450 ns to wait for the device, 70 ns for all else
the device was idle for 250 ns while the host waited for it
--filter leaves out 2 rows, with 13.5% of the time of all calls
"""


def test_the_screen_says_what_the_host_did(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=KERNELS, calls=CALLS)
    result = command("api-stats", "-d", tmp_path, "--filter", "synchronize")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.split() for line in result.stdout.splitlines()] == [
        line.split() for line in SCREEN.removeprefix("\n").splitlines()
    ]


def test_a_rank_without_host_calls_says_what_to_collect(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=KERNELS)
    result = command("api-stats", "-d", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == says(
        f"error: {tmp_path}: ", "no rank can answer", "no host calls into CANN", "without NPU activity"
    )


@pytest.mark.parametrize("lost", [0, 1])
def test_calls_that_the_trace_lost_are_told_by_api_statistic_csv_beside_it(lost: int, tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    process = {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "CANN"}}
    calls = [
        {"ph": "X", "name": f"AscendCL@{name}", "pid": 7, "tid": 1, "ts": f"{1_723_000_000_000_000 + start}.000", "dur": 2.5,
         "args": {"level": "acl", "connection_id": start}}
        for start, name in ((10, "aclrtFree"), (20, "aclrtMemcpy"), (30, "aclrtMemcpy"))
    ]  # fmt: skip
    (output / "trace_view.json").write_text(json.dumps([process, *calls[: len(calls) - lost]]), encoding="utf-8")
    table = ["Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance", "acl,aclrtMemcpy,5.01,2,2.5,2.5,2.5,0"]
    (output / "api_statistic.csv").write_text("\n".join([*table, "acl,aclrtFree,2.5,1,2.5,2.5,2.5,0", ""]), encoding="utf-8")
    with open_profile(tmp_path) as profile:
        assert profile.api_stats()["calls"].sum() == len(calls) - lost
        said = [warning for warning in profile.warnings if "api_statistic" in warning]
    here = says("a_ascend_pt", "1 of 2 host calls", "aclrtMemcpy", "2 of 0.005010 ms there", "1 of 0.002500 ms here")
    assert said == [here] * lost


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_calls_and_times_equal_api_statistic_csv_of_the_profiler(realdata: Path, rank: int) -> None:
    folder = realdata / "alexnet_ddp_910b" / "text" / "level1" / f"rank{rank}_ascend_pt"
    with (folder / "ASCEND_PROFILER_OUTPUT" / "api_statistic.csv").open(encoding="utf-8") as file:
        reported = [
            (row["Level"].replace("hccl", "communication"), row["API Name"], int(row["Count"]), float(row["Time(us)"]))
            for row in csv.DictReader(file)
        ]
    with open_profile(folder) as profile:
        found = arrow_of(profile.api_stats()).to_pylist()
        assert not [warning for warning in profile.warnings if "api_statistic" in warning]
    of_ours = [(row["level"], row["name"], row["calls"], round(row["total_ns"] / 1000, 3)) for row in found]
    assert sorted(of_ours) == sorted(reported)


@pytest.mark.slow
def test_calls_and_times_equal_cann_api_sum_of_msprof_analyze(realdata: Path, tmp_path: Path) -> None:
    """The peer merges layers, and its quantiles lie between two times, so these are compared where no time lies between."""
    shutil.copytree(realdata / "alexnet_ddp_910b" / "db" / "level1", tmp_path / "profiles")
    with closing(sqlite3.connect(run_recipe("cann_api_sum", tmp_path / "profiles", tmp_path / "peer"))) as written:
        peer = written.execute(
            "SELECT rank, name, totalCount, totalTimeNs, minNs, maxNs FROM CannApiSumRank ORDER BY rank, name"
        ).fetchall()
    with open_profile(tmp_path / "profiles") as profile:
        ours = profile.sql(
            "SELECT rank_id, name, sum(calls)::BIGINT, sum(total_ns)::BIGINT, min(min_ns), max(max_ns) FROM api.statistic "
            "GROUP BY ALL ORDER BY ALL",
            arrow=True,
        )
    assert len(peer) > 100
    assert rows(ours) == peer
