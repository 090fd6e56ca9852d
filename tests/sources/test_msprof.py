"""What msprof exports without torch_npu: slices, several devices, and several exports in one PROF folder are one run."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.profile.profile import Profile
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.says import says

HEAD = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Stream ID,Task ID"
START = 1_723_000_000_000_000  # us
HOST, HARDWARE, CANN = 77, 13, 7


def output_of(folder: Path) -> Path:
    output = folder / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    return output


def table(file: Path, rows: list[tuple[int, str, int]]) -> None:
    """Write rows of an op_summary: device, name, start after START."""
    lines = [f"{device},{name},Add,AI_CORE,{START + start}.000,5.000,2,3" for device, name, start in rows]
    file.write_text("\n".join([HEAD, *lines, ""]), encoding="utf-8")


def process(layer: int, device: int = 0) -> int:
    return (HOST << 10) | (layer << 5) | device


def task(device: int, name: str, start: int, connection: int) -> dict[str, Any]:
    arguments = {"Task Type": "AI_CORE", "Stream Id": 2, "Task Id": 3, "connection_id": connection}
    times = {"ts": f"{START + start}.000", "dur": 5}
    return {"ph": "X", "name": name, "pid": process(HARDWARE, device), "tid": 2, **times, "args": arguments}


def call(start: int, connection: int) -> dict[str, Any]:
    arguments = {"level": "node", "connection_id": connection}
    times = {"ts": f"{START + start}.000", "dur": 1}
    return {"ph": "X", "name": "launch", "pid": process(CANN), "tid": 1, **times, "args": arguments}


def trace(file: Path, events: list[dict[str, Any]]) -> None:
    """Write a slice: each begins with the names of the processes."""
    names = [
        {"ph": "M", "name": name, "pid": process(HARDWARE, device), "tid": 0, "args": arguments}
        for device in (0, 1)
        for name, arguments in (("process_name", {"name": "Ascend Hardware"}), ("process_labels", {"labels": "NPU"}))
    ]
    file.write_text(json.dumps([*names, *events]), encoding="utf-8")


def kernels(profile: Profile) -> list[tuple[Any, ...]]:
    rows = profile.rows(
        "SELECT kernel.profile, name, start_ns // 1000 - 1723000000000000 AS us, launch_id, kernel_id FROM trace.kernel"
        " ORDER BY start_ns, kernel.profile"
    )
    assert len({(row["profile"], row["kernel_id"]) for row in rows}) == len(rows), "ids are of one kernel"
    return [(row["profile"], row["name"], row["us"], row["launch_id"]) for row in rows]


def test_slices_of_a_trace_and_of_a_table_with_several_devices_are_a_rank_for_each_device(tmp_path: Path) -> None:
    """The call that launches a kernel may be in another slice; msprof names each slice by the moment at which it wrote it."""
    output = output_of(tmp_path)
    table(output / "op_summary_slice_0_20260101000000.csv", [(4, "a", 10), (6, "b", 20)])
    table(output / "op_summary_slice_1_20260101000001.csv", [(4, "c", 30), (6, "d", 40)])
    with open_profile(tmp_path) as profile:
        assert profile.warnings == []
        assert kernels(profile) == [
            ("PROF_1/device_4", "a", 10, None),
            ("PROF_1/device_6", "b", 20, None),
            ("PROF_1/device_4", "c", 30, None),
            ("PROF_1/device_6", "d", 40, None),
        ]
        assert "run" not in profile.ranks().columns, "they are one run"


def test_events_of_all_slices_count_and_each_device_has_its_own(tmp_path: Path) -> None:
    output = output_of(tmp_path)
    calls = [call(number, 100 + number) for number in range(4)]
    tasks = [task(number % 2, "abab"[number], 10 * number + 10, 100 + number) for number in range(4)]
    trace(output / "msprof_slice_0_20260101000000.json", [*calls, tasks[0]])
    trace(output / "msprof_slice_1_20260101000000.json", tasks[1:])
    table(output / "op_summary_20260101000000.csv", [(number % 2, "abab"[number], 10 * number + 10) for number in range(4)])
    expected = [(f"PROF_1/device_{number % 2}", "abab"[number], 10 * number + 10, 100 + number) for number in range(4)]
    with open_profile(tmp_path) as profile:
        assert profile.warnings == []
        assert kernels(profile) == expected
    (output / "op_summary_20260101000000.csv").unlink()
    for device in (0, 1):
        (tmp_path / "PROF_1" / f"device_{device}").mkdir()
    with open_profile(tmp_path) as profile:
        assert kernels(profile) == expected, "a trace alone, with the folders of its devices"
    (output / "msprof_slice_0_20260101000000.json").unlink()
    with open_profile(tmp_path) as profile:
        (said,) = profile.warnings
        assert [row[:3] for row in kernels(profile)] == [row[:3] for row in expected[1:]]
    assert said == says("msprof_slice_0_20260101000000.json: ", "not here", "1 of at least 2 slices", "read without it")


def test_files_that_name_their_device_are_ranks(tmp_path: Path) -> None:
    """Before 2023 the device, the model and the iteration were in the names; the calls of the host are of all."""
    output = output_of(tmp_path)
    for device in (0, 1):
        table(output / f"op_summary_{device}_1_1_20260101000000.csv", [(device, "ab"[device], 10)])
    calls = "Device_id,Level,API Name,Time(us),Count\nhost,acl,aclnnMm,3,2\n0,runtime,x,1,1\n1,runtime,y,1,1\n"
    (output / "api_statistic_20260101000000.csv").write_text(calls, encoding="utf-8")
    with open_profile(tmp_path) as profile:
        assert kernels(profile) == [("PROF_1/device_0", "a", 10, None), ("PROF_1/device_1", "b", 10, None)]
        rows = profile.rows("SELECT profile, name, calls FROM api.statistic ORDER BY profile, name")
    assert [tuple(row.values()) for row in rows] == [
        *(("PROF_1/device_0", name, count) for name, count in (("aclnnMm", 2), ("x", 1), ("y", 1))),
        *(("PROF_1/device_1", name, count) for name, count in (("aclnnMm", 2), ("x", 1), ("y", 1))),
    ]


def test_an_empty_or_cut_slice_costs_the_others_nothing(tmp_path: Path) -> None:
    output = output_of(tmp_path)
    trace(output / "msprof_slice_0_20260101000000.json", [task(0, "a", 10, 1)])
    (output / "msprof_slice_1_20260101000000.json").write_text("", encoding="utf-8")
    trace(output / "msprof_slice_2_20260101000000.json", [task(0, "b", 20, 1), task(0, "c", 30, 1)])
    cut = output / "msprof_slice_2_20260101000000.json"
    cut.write_bytes(cut.read_bytes()[:-20])
    with open_profile(tmp_path) as profile:
        assert [name for _, name, _, _ in kernels(profile)] == ["a", "b"]
        said = "\n".join(profile.warnings)
    assert "msprof_slice_1_20260101000000.json" in said
    assert "msprof_slice_2_20260101000000.json" in said


def test_a_database_that_msprof_exported_twice_counts_once(tmp_path: Path) -> None:
    sample = Path(__file__).parents[2] / "fixtures" / "sample" / "decoder_training"
    database = sorted(sample.rglob("ascend_pytorch_profiler_0.db"))[0]
    (tmp_path / "PROF_1").mkdir()
    shutil.copy(database, tmp_path / "PROF_1" / "msprof_20260101000000.db")
    (rank,) = find_ranks(tmp_path)
    assert (rank.source, rank.left_out) == ("ascend_db", None)
    shutil.copy(database, tmp_path / "PROF_1" / "msprof_20260102000000.db")
    with open_profile(tmp_path) as profile:
        read = [row for row in profile.ranks(arrow=True).to_pylist() if not row["left_out"]]
    assert len(read) == 1, "an export that was made twice counts once"


# Rows that must be those of the rank that a device was alone in.
TABLES = {
    "trace.kernel": "kind, name, type, core, start_ns, end_ns, stream_id, task_id, input_shapes",
    "trace.communication_task": "plane, role, start_ns, end_ns, size_bytes, link",
    "trace.copy": "start_ns, end_ns, direction, size_bytes",
    "trace.kernel_metric": "metric, value, unit",
    "step.time": "computing_ns, communication_ns, free_ns",
}
OF_SUMMARY = {
    "Name": "Op Name", "Type": "OP Type", "Accelerator Core": "Task Type", "Start Time(us)": "Task Start Time(us)",
    "Duration(us)": "Task Duration(us)", "Wait Time(us)": "Task Wait Time(us)",
}  # fmt: skip


@pytest.mark.slow
def test_devices_in_the_slices_of_one_folder_have_what_their_ranks_have(tmp_path: Path, realdata: Path) -> None:
    """Two real ranks, written as msprof writes two devices."""
    ranks = [realdata / "alexnet_ddp_910b" / "text" / "level1" / f"rank{device}_ascend_pt" for device in (0, 1)]
    output = output_of(tmp_path)
    head: list[str] = []
    rows: list[list[str]] = []
    events: list[dict[str, Any]] = []
    for device, rank in enumerate(ranks):
        with (rank / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").open(newline="") as file:
            head, *details = csv.reader(file)
        rows += [[str(device), *row] for row in details]
        found = json.loads((rank / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").read_bytes())
        named = [event for event in found if event["name"] == "process_name" and event["args"]["name"] != "Python"]
        events += [event for event in found if event.get("pid") in {event["pid"] for event in named}]
    for number in range(3):
        with (output / f"op_summary_slice_{number}_2026010100000{number}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["Device_id", *(OF_SUMMARY.get(name, name) for name in head)], *rows[number::3]])
    meta = [event for event in events if event["ph"] == "M"]
    others = [event for event in events if event["ph"] != "M"]
    for number in range(4):
        text = json.dumps([*meta, *others[number * len(others) // 4 : (number + 1) * len(others) // 4]])
        (output / f"msprof_slice_{number}_20260101000000.json").write_text(text)
    for device, rank in enumerate(ranks):
        with open_profile(tmp_path) as devices, open_profile(rank) as alone:
            for name, columns in TABLES.items():
                own = devices.rows(f"SELECT {columns} FROM {name} WHERE profile = 'PROF_1/device_{device}'")
                expected = alone.rows(f"SELECT {columns} FROM {name}")
                assert sorted(map(str, own)) == sorted(map(str, expected)), name
                assert own


def recording(result: Path, prof: str, device: int, name: str) -> Path:
    """Write one recording of a result that torch_npu has not parsed: a table, and the folder of its device."""
    output = result / prof / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (result / prof / f"device_{device}").mkdir()
    table(output / f"op_summary_2026010100000{device}.csv", [(device, name, 10)])
    return output


def test_the_recordings_of_an_unparsed_result_are_the_ranks_of_one_run_where_their_devices_differ(tmp_path: Path) -> None:
    """Each has its own table, of its own time: none is an older export of another."""
    result = tmp_path / "a_ascend_pt"
    recording(result, "PROF_1", 0, "a")
    recording(result, "PROF_2", 1, "b")
    (result / "FRAMEWORK").mkdir()
    found = [(f"a_ascend_pt/PROF_{number + 1}", "ab"[number], 10, None) for number in (0, 1)]
    for path in (tmp_path, result):
        with open_profile(path) as profile:
            assert profile.warnings == []
            assert kernels(profile) == found
            assert profile.runs == ()
            assert profile.ranks()["device_id"].tolist() == [0, 1]


@pytest.mark.parametrize(("device", "why"), [(0, "device 0 is in several"), (None, "device of PROF_2 is not known")])
def test_recordings_that_may_be_of_one_device_are_named_with_what_to_give(device: int | None, why: str, tmp_path: Path) -> None:
    result = tmp_path / "a_ascend_pt"
    recording(result, "PROF_1", 0, "a")
    output = recording(result, "PROF_2", 0, "b")
    if device is None:
        output.parent.joinpath("device_0").rmdir()
        (output / "op_summary_20260101000000.csv").unlink()
        trace(output / "msprof_20260101000000.json", [task(0, "b", 10, 1)])
    (rank,) = find_ranks(tmp_path)
    assert rank.left_out == says(result, "2 recordings", why, "PROF_1, PROF_2", "give the folder of one")
    with open_profile(result / "PROF_1") as profile:
        assert [row[1] for row in kernels(profile)] == ["a"]
