"""Which rank a recording is of is read from its data: a copy under another name would count twice, or answer for another."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.sources.runs import find_runs
from tests.helpers.kineto import HEAD, kernel, launch, op, write_trace
from tests.helpers.places import SAMPLE
from tests.helpers.says import says
from tests.helpers.small_profile import DATABASE, Kernel, Op, write_profile

JOB = SAMPLE / "decoder_training"
FIRST = 1_767_225_600_000_000_000
S = 10**9
KERNELS = 40


def rank(
    folder: Path, number: int, *changes: str, begin: int = FIRST, own: int | None = None, mapped: int | None = None
) -> Path:
    """A rank of two by its database's name, recorded in a second from `begin` on; `own` and `mapped` is what its data say."""
    ops = [
        Op("aten::mm", at, at + 50, (Kernel("k", at + 60, at + 90 + number),))
        for n in range(KERNELS)
        for at in [begin + 1000 * n + number]
    ]
    database = write_profile(folder, ops, rank=number)
    groups = {"g": {"group_name": "default_group", "group_rank": own, "global_ranks": [0, 1]}}
    with closing(sqlite3.connect(database)) as file, file:
        file.execute("CREATE TABLE META_DATA (name TEXT, value TEXT)")
        if own is not None:
            file.execute("INSERT INTO META_DATA VALUES ('parallel_group_info', ?)", [json.dumps(groups)])
        file.execute("CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER)")
        file.execute("INSERT INTO RANK_DEVICE_MAP VALUES (?, 0)", [number if mapped is None else mapped])
        file.execute("CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER)")
        file.execute("INSERT INTO SESSION_TIME_INFO VALUES (?, ?)", (begin, begin + S))
        for change in changes:
            file.execute(change)
    return database


def chip(name: str) -> tuple[str, str]:
    return "CREATE TABLE NPU_INFO (id INTEGER, name TEXT)", f"INSERT INTO NPU_INFO VALUES (0, '{name}')"


HOST = ("CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT)", "INSERT INTO HOST_INFO VALUES ('7', 'x')")


def found(path: Path) -> tuple[dict[str, int | None], dict[str, str], dict[str, list[str]]]:
    """The numbers of ranks, why others are left out, and the doubts."""
    ranks = find_runs({"": path})
    return (
        {one.profile: one.rank_id for one in ranks if not one.left_out},
        {one.profile: one.left_out for one in ranks if one.left_out},
        {one.profile: list(one.doubts) for one in ranks if one.doubts},
    )


def test_ranks_that_fit_together_give_no_doubt(tmp_path: Path) -> None:
    for number in (0, 1):
        rank(tmp_path / f"{number}_ascend_pt", number, *chip("Ascend910B"), *HOST, own=number)
    assert found(tmp_path) == ({"0_ascend_pt": 0, "1_ascend_pt": 1}, {}, {})


def test_a_recording_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    """A database was copied over that of another rank: its data say whose it is."""
    first, second = rank(tmp_path / "0_ascend_pt", 0, own=0), rank(tmp_path / "1_ascend_pt", 1, own=1)
    shutil.copy(second, first)
    numbers, left_out, doubts = found(tmp_path)
    assert numbers == {"1_ascend_pt": 1}
    assert list(left_out) == ["0_ascend_pt"]
    assert "is the recording of 1_ascend_pt once more" in left_out["0_ascend_pt"]
    assert doubts == {}
    with open_profile(tmp_path) as profile:
        assert profile.rows("SELECT count(*)::INTEGER AS count FROM trace.kernel") == [{"count": KERNELS}]
        assert profile.failures == [left_out["0_ascend_pt"]]


def test_a_copy_whose_data_were_changed_to_fit_its_name_counts_once(tmp_path: Path) -> None:
    first = rank(tmp_path / "0_ascend_pt", 0, own=0)
    (tmp_path / "1_ascend_pt" / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    copy = shutil.copy(first, tmp_path / "1_ascend_pt" / DATABASE.format(rank=1))
    with closing(sqlite3.connect(copy)) as file, file:
        file.execute("UPDATE RANK_DEVICE_MAP SET rankId = 1")
        file.execute("UPDATE META_DATA SET value = replace(value, '\"group_rank\": 0', '\"group_rank\": 1')")
    numbers, left_out, _ = found(tmp_path)
    assert (numbers, list(left_out)) == ({"0_ascend_pt": 0}, ["1_ascend_pt"])


def test_a_copy_in_another_run_is_another_run_and_is_said_to_be_a_copy(tmp_path: Path) -> None:
    rank(tmp_path / "before" / "0_ascend_pt", 0)
    shutil.copytree(tmp_path / "before", tmp_path / "after")
    said = says("before/0_ascend_pt", "recording of after/0_ascend_pt once more", "a run of its own", "remove the copy")
    numbers, left_out, doubts = found(tmp_path)
    assert (numbers, left_out) == ({"after/0_ascend_pt": 0, "before/0_ascend_pt": 0}, {})
    assert doubts == {"before/0_ascend_pt": [said]}


def test_databases_whose_names_were_swapped_have_the_numbers_of_their_data(tmp_path: Path) -> None:
    for number in (0, 1):
        rank(tmp_path / f"{number}_ascend_pt", number, own=1 - number, mapped=1 - number)
    numbers, _, doubts = found(tmp_path)
    assert numbers == {"0_ascend_pt": 1, "1_ascend_pt": 0}
    assert doubts["0_ascend_pt"] == [
        says(
            "0_ascend_pt",
            "rank 0 by ascend_pytorch_profiler_0.db",
            "1 by META_DATA",
            "1 by RANK_DEVICE_MAP",
            "copied",
            "renamed",
            "taken as rank 1",
        )
    ]
    with open_profile(tmp_path) as profile:
        assert set(profile.warnings) >= {doubts["0_ascend_pt"][0], doubts["1_ascend_pt"][0]}


def test_a_device_map_that_names_another_rank_is_told(tmp_path: Path) -> None:
    rank(tmp_path / "0_ascend_pt", 0, mapped=5)
    numbers, _, doubts = found(tmp_path)
    assert numbers == {"0_ascend_pt": 0}
    assert doubts["0_ascend_pt"][0] == says("rank 0 by ascend_pytorch_profiler_0.db", "5 by RANK_DEVICE_MAP")


def test_a_rank_that_is_no_member_of_its_own_job_is_told(tmp_path: Path) -> None:
    rank(tmp_path / "7_ascend_pt", 7)
    groups = {"g": {"group_name": "default_group", "global_ranks": [0, 1]}}
    (tmp_path / "7_ascend_pt" / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))
    assert found(tmp_path)[2]["7_ascend_pt"][0] == says("is rank 7", "its job has the ranks 0, 1")


@pytest.mark.parametrize(
    ("host", "apart", "is_told"),
    [(HOST, 2 * S, True), (HOST, S // 2, False), ((), 2 * S, False), ((), 7200 * S, True)],
    ids=["one host", "at once", "hosts whose clocks may differ", "hours"],
)
def test_ranks_that_were_recorded_at_other_times_are_told(
    tmp_path: Path, host: tuple[str, ...], apart: int, is_told: bool
) -> None:
    rank(tmp_path / "0_ascend_pt", 0, *host)
    rank(tmp_path / "1_ascend_pt", 1, *host, begin=FIRST + apart)
    doubts = found(tmp_path)[2]
    assert ("1_ascend_pt" in doubts) is is_told
    assert not is_told or "these are two recordings" in doubts["1_ascend_pt"][0]


def test_ranks_on_other_chips_and_of_other_steps_are_told(tmp_path: Path) -> None:
    for number, name in ((0, "Ascend910B"), (1, "Ascend910A")):
        step = f"INSERT INTO STEP_TIME VALUES ({10 * number + 3}, {FIRST}, {FIRST + S})"
        rank(tmp_path / f"{number}_ascend_pt", number, *chip(name), step)
    doubts = found(tmp_path)[2]["1_ascend_pt"]
    assert "1_ascend_pt: ran on Ascend910A, 0_ascend_pt on Ascend910B" in doubts[0]
    assert "1_ascend_pt: has step 13, 0_ascend_pt step 3" in doubts[1]


def text(folder: Path, number: int, details_of: int, trace_of: int, own: int | None) -> None:
    """Text exports of a rank by its names, its files being those of these ranks, and its groups saying that it is `own`."""
    header = "Name,Type,Accelerator Core,Start Time(us),Duration(us)"
    lines = [f"mm,MatMul,AI_CORE,17672256000{n:05}.{n + details_of:03}\t,1.5" for n in range(KERNELS)]
    args = {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": 7}
    events = [
        {"ph": "X", "name": "mm", "pid": 5, "tid": 2, "ts": f"17672256000{n:05}.{n + trace_of:03}", "dur": 1.5, "args": args}
        for n in range(KERNELS)
    ]
    output = folder / f"{number}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "kernel_details.csv").write_text("\n".join([header, *lines, ""]))
    (output / "trace_view.json").write_text(json.dumps(events))
    (output.parent / f"profiler_info_{number}.json").write_text("{}")
    if own is not None:
        groups = {"g": {"group_name": "default_group", "group_rank": own, "global_ranks": [0, 1]}}
        (output.parent / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": groups}))


def test_text_exports_of_one_recording_count_once_and_name_their_own_rank(tmp_path: Path) -> None:
    for number in (0, 1):
        text(tmp_path, number, details_of=1, trace_of=1, own=1)
    numbers, left_out, _ = found(tmp_path)
    assert numbers == {"1_ascend_pt": 1}
    assert "is the recording of 1_ascend_pt once more" in left_out["0_ascend_pt"]


def test_text_exports_of_which_one_is_copied_from_another_rank_are_told(tmp_path: Path) -> None:
    text(tmp_path / "whole", 0, details_of=0, trace_of=0, own=None)
    text(tmp_path / "whole", 1, details_of=1, trace_of=1, own=None)
    assert found(tmp_path / "whole") == ({"0_ascend_pt": 0, "1_ascend_pt": 1}, {}, {})
    text(tmp_path / "mixed", 0, details_of=0, trace_of=0, own=None)
    text(tmp_path / "mixed", 1, details_of=0, trace_of=1, own=None)
    numbers, left_out, doubts = found(tmp_path / "mixed")
    assert (numbers, left_out) == ({"0_ascend_pt": 0, "1_ascend_pt": 1}, {})
    assert doubts["1_ascend_pt"][0] == says("1_ascend_pt", "its kernel_details.csv", "times of that of 0_ascend_pt")


def trace(path: Path, number: int, first: int = 0, device: str = "H100") -> Path:
    """A trace of a rank of two, with 40 kernels from a moment on, ns after the base."""
    head = {**HEAD, "distributedInfo": {"rank": number, "world_size": 2}, "deviceProperties": [{"id": 0, "name": device}]}
    events = [
        one
        for n in range(KERNELS)
        for at in [first + 10_000 * n]
        for one in (
            op("mm", at, at + 900, n + 1),
            launch(at + 10, at + 20, n + 1, n + 1),
            kernel("gemm", at + 30, at + 90, n + 1),
        )
    ]
    return write_trace(path, events, head)


def test_a_trace_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    trace(tmp_path / "same" / "rank0.json", 0)
    trace(tmp_path / "same" / "rank1.json", 1)
    numbers, left_out, _ = found(tmp_path / "same")
    assert (numbers, list(left_out)) == ({"rank0.json": 0}, ["rank1.json"])
    trace(tmp_path / "others" / "rank0.json", 0)
    trace(tmp_path / "others" / "rank1.json", 1, first=7)
    assert found(tmp_path / "others") == ({"rank0.json": 0, "rank1.json": 1}, {}, {})


def test_what_traces_contradict_is_told(tmp_path: Path) -> None:
    trace(tmp_path / "rank0.json", 0)
    trace(tmp_path / "rank7.json", 1, first=7200 * S, device="V100")
    numbers, _, doubts = found(tmp_path)
    assert numbers == {"rank0.json": 0, "rank7.json": 1}
    name, time, device = doubts["rank7.json"]
    assert name == says("rank 1 by distributedInfo", "7 by rank7.json")
    assert time == says("two recordings")
    assert "ran on V100, rank0.json on H100" in device


def test_the_sample_has_no_doubt() -> None:
    assert found(JOB)[1:] == ({}, {})


@pytest.mark.slow
def test_real_profiles_have_no_doubt(realdata: Path) -> None:
    for path in sorted({one.parent for one in realdata.rglob("rank*_ascend_pt")}):
        assert found(path)[1:] == ({}, {}), path
    for trace_file in sorted(realdata.rglob("*.json.gz")):
        assert found(trace_file)[1:] == ({}, {}), trace_file
