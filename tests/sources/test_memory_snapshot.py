"""Memory snapshots: read as data and never run, whatever they hold; found by their first bytes; of any version of PyTorch."""

import copy
import copyreg
import os
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.common.answer_options import Options
from prof_analysis.common.errors import InputError
from prof_analysis.sources.discovery import find_ranks
from prof_analysis.sources.memory_snapshot import inspect, reading, unpickling
from tests.helpers.snapshots import BASE_US, MIB, Allocator, busy_device, native, python, snapshot, stack, write


class Attack:
    """An object whose pickle runs a command when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch attacked",)


class Registered:
    """A class that a pickle names by a number of the registry of extensions."""


def registered() -> bytes:
    copyreg.add_extension(__name__, "Registered", 0xEF)
    try:
        return pickle.dumps({"segments": [Registered]}, 4)
    finally:
        copyreg.remove_extension(__name__, "Registered", 0xEF)


BEGIN = b"\x80\x04}\x94\x8c\x08segments\x94"
ASKS = "asks for the class or function"
TOO_MUCH = "would fill more than 128 MB of memory"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(pickle.dumps({"segments": [Attack()]}), f"{ASKS} posix.system", id="runs a command"),
        pytest.param(pickle.dumps({"segments": Attack()}, 0), f"{ASKS} posix.system", id="protocol 0"),
        pytest.param(registered(), "unregistered extension code 239", id="registry of extensions"),
        pytest.param(BEGIN + b"K\x01Q" + b"s.", "an object outside the file", id="persistent object"),
        pytest.param(BEGIN + b"cbuiltins\neval\ns.", f"{ASKS} builtins.eval", id="names a function"),
        pytest.param(BEGIN + b"(S'x'\nios\nsystem\ns.", f"{ASKS} os.system", id="builds an instance"),
        pytest.param(b"\x80\x04]r\xff\xff\xff\x7f.", TOO_MUCH, id="asks for 17 GB"),
        pytest.param(BEGIN + b"\x8d\xff\xff\xff\xff\x0f\0\0\0x", TOO_MUCH, id="a text of 64 GB"),
        pytest.param(b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f", "damaged", id="an endless frame"),
        pytest.param(BEGIN + b"]" * 4_000_000, "would fill more than 1", id="lists in place of a snapshot"),
        pytest.param(BEGIN + b"]" * 99 + b"a" * 98 + b"s.", "no memory", id="lists in each other"),
        pytest.param(pickle.dumps(snapshot(busy_device()))[:-400], "cut off", id="cut off"),
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"\x7fELF", "damaged", id="another file"),
        pytest.param(pickle.dumps({"model": 1}), "no segments and no device_traces", id="another pickle"),
        pytest.param(pickle.dumps(snapshot()), "no memory", id="nothing was allocated"),
    ],
)
def test_a_hostile_or_damaged_snapshot_is_one_line_and_nothing_runs(
    content: bytes, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(content)
    (rank,) = find_ranks(file)
    assert rank.left_out is not None
    assert rank.left_out.startswith(f"{file}: ")
    assert problem in rank.left_out
    assert "\n" not in rank.left_out
    assert [one.name for one in tmp_path.iterdir()] == [file.name], "nothing ran"


@pytest.mark.slow
def test_a_hundred_megabytes_of_lists_end_in_a_process_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(BEGIN + b"]" * 100_000_000)
    with pytest.raises(InputError, match=r"would fill more than \d+ MB of memory"):
        reading.read(file)


def test_a_system_without_limits_reads_small_snapshots_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "snapshot.pickle", snapshot(busy_device()))
    monkeypatch.setattr("sys.platform", "darwin")
    assert reading.read(file)["devices"] == [0]
    monkeypatch.setattr(reading, "UNLIMITED_BYTES", 100)
    with pytest.raises(InputError, match="read it on Linux"):
        reading.read(file)


def test_a_list_that_is_named_often_is_read_once() -> None:
    """A file of some kilobytes could stand for a million million blocks."""
    blocks = [{"address": 1, "size": 512, "state": "inactive"}] * 2
    shared = [{"device": 0, "address": 0, "total_size": 1024, "blocks": blocks}] * 3
    found = unpickling.Snapshot({"segments": shared, "device_traces": [[], shared, shared]})
    assert [len(found.columns[table][column]) for table, column in (("segment", "device"), ("block", "size"))] == [3, 2]
    assert found.damaged == 2 + 2


def test_what_is_no_number_and_no_text_is_unknown(tmp_path: Path) -> None:
    content = snapshot(busy_device())
    content["device_traces"][0][0] |= {"size": 2**70, "stream": [1], "action": [], "frames": [7, {"name": 1, "filename": b"x"}]}
    content["device_traces"][0].append("no event")
    with open_profile(write(tmp_path / "snapshot.pickle", content)) as profile:
        (row,) = profile.rows("FROM trace.memory_event WHERE event_id = 0")
        assert (row["kind"], row["size_bytes"], row["stream_id"]) == ("other", None, None)
        assert [warning for warning in profile.warnings if "1 entry" in warning]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_snapshot_is_found_in_a_folder_by_its_first_bytes(protocol: int, tmp_path: Path) -> None:
    write(tmp_path / "rank3_memory_snapshot.pickle", snapshot(busy_device()), protocol)
    write(tmp_path / "model.pkl", {"weights": [1.0]}, protocol)
    (tmp_path / "notes.pickle").write_text("segments")
    (rank,) = find_ranks(tmp_path)
    assert (rank.profile, rank.rank_id, rank.device_id) == ("rank3_memory_snapshot.pickle", 3, 0)
    assert rank.source == "memory_snapshot"


def test_an_empty_file_beside_snapshots_is_a_rank_that_was_lost(tmp_path: Path) -> None:
    write(tmp_path / "rank0.pickle", snapshot(busy_device()))
    (tmp_path / "rank1.pickle").touch()
    assert [(rank.profile, rank.left_out is None) for rank in find_ranks(tmp_path)] == [
        ("rank0.pickle", True),
        ("rank1.pickle", False),
    ]


def test_each_device_of_a_snapshot_is_a_rank(tmp_path: Path) -> None:
    first, second = busy_device(0, rounds=1), busy_device(2, rounds=2)
    file = write(tmp_path / "snapshot.pickle", snapshot(first, second))
    assert [(rank.profile, rank.device_id, rank.left_out) for rank in find_ranks(file)] == [
        ("snapshot.pickle/device_0", 0, None),
        ("snapshot.pickle/device_2", 2, None),
    ]
    with open_profile(file) as profile:
        held = profile.rows("SELECT device_id, sum(size_bytes)::BIGINT AS size FROM trace.memory_segment GROUP BY 1 ORDER BY 1")
        blocks = profile.rows("SELECT device_id, count(*) AS blocks FROM trace.memory_block GROUP BY ALL ORDER BY 1")
    assert held == [{"device_id": one.device, "size": one.totals[-1]["reserved_bytes"]} for one in (first, second)]
    assert blocks == [{"device_id": 0, "blocks": 5}, {"device_id": 2, "blocks": 7}]


def of_pytorch_2_0(content: dict[str, Any]) -> dict[str, Any]:
    """The form of PyTorch 2.0: blocks have a history in place of frames and an address, events have no time."""
    old = copy.deepcopy(content)
    for segment in old["segments"]:
        segment.pop("segment_pool_id")
        segment.pop("is_expandable")
        for block in segment["blocks"]:
            address, frames = block.pop("address"), block.pop("frames")
            if block["state"] == "active_awaiting_free":
                block["state"] = "active_pending_free"
            if block["state"] != "inactive":
                block["history"] = [{"addr": address, "real_size": block.pop("requested_size"), "frames": frames}]
    for event in old["device_traces"][0]:
        event.pop("time_us")
    return {name: old[name] for name in ("segments", "device_traces")}


TABLES = ("trace.memory_segment", "trace.segment_part", "trace.memory_block")
OF_BLOCKS = "SELECT * EXCLUDE (allocated_ns, released_ns, reusable_ns) FROM trace.memory_block ORDER BY block_id"


def test_older_versions_say_the_same(tmp_path: Path) -> None:
    content = snapshot(busy_device())
    found = []
    for name, form in (("new", content), ("old", of_pytorch_2_0(content))):
        with open_profile(write(tmp_path / name / "snapshot.pickle", form)) as profile:
            found.append([profile.rows(f"FROM {table} ORDER BY ALL") for table in TABLES[:2]] + [profile.rows(OF_BLOCKS)])
    assert found[0] == found[1]
    assert len(found[0][2]) == 9


def test_the_segments_alone_answer_what_is_held(tmp_path: Path) -> None:
    """torch.cuda.memory_snapshot() gives them, and so does a snapshot without a history."""
    device = busy_device()
    state = device.state()
    for name, content in (("list", state), ("dict", {"segments": state, "device_traces": [[]]})):
        file = write(tmp_path / f"{name}.pickle", content)
        with open_profile(file) as profile:
            assert profile.memory(by="component")["peak_allocated_bytes"].tolist() == [device.totals[-1]["allocated_bytes"]]
            assert profile.memory(by="peak").query("measure == 'allocated'")["part"].unique().tolist() == ["allocated before"]


def test_events_that_segments_do_not_explain_are_no_block_for_ever(tmp_path: Path) -> None:
    """A ring that begins late has releases without allocations; a history that stopped has allocations without releases."""
    device = Allocator()
    device.segment(0, 2 * MIB)
    device.alloc(0, 512, stack(1))
    device.alloc(1024, 512, stack(2))
    device.events.append({"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": BASE_US + 9, "frames": []})
    device.events.append({"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": BASE_US + 9, "frames": []})
    device.events.append({"action": "free_completed", "addr": 8192, "size": 100, "stream": 0, "time_us": BASE_US + 10})
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(device, last=4))) as profile:
        rows = profile.rows("FROM trace.memory_block ORDER BY allocated_ns NULLS FIRST, size_bytes, released_ns NULLS FIRST")
    base = BASE_US * 1000
    assert [(row["size_bytes"], row["requested_bytes"], row["allocated_ns"], row["released_ns"]) for row in rows] == [
        (512, 512, None, None),
        (512, 100, None, base + 10_000),
        (512, 512, base + 2000, None),
        (512, 512, base + 9000, base + 9001),
        (512, 512, base + 9001, base + 10_001),
    ]


def test_a_message_names_no_class_that_ends_the_line(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(BEGIN + b"cos\n" + b"\x1b[31m" * 200 + b"\ns.")
    (rank,) = find_ranks(file)
    assert rank.left_out is not None
    assert len(rank.left_out) < 1000
    assert re.search("asks for the class or function os", rank.left_out)


def test_frames_of_equal_content_are_one_stack() -> None:
    alike = [{"action": "alloc", "addr": n, "size": 1, "frames": [python("f", 1), python("g", 2)]} for n in range(3)]
    found = unpickling.Snapshot({"device_traces": [alike]})
    assert list(found.columns["event"]["stack"]) == [0, 0, 0]
    assert len(found.columns["frame"]["line"]) == 2


NPU_CODE = native("c10_npu::NPUCachingAllocator::DeviceCachingAllocator::malloc(int, unsigned long, void*)")
GPU_CODE = native("c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc(void**, int)")


@pytest.mark.parametrize(
    ("settings", "frames", "kind"),
    [
        ({"PYTORCH_NPU_ALLOC_CONF": ""}, [python("forward", 3)], "NPU"),
        ({"PYTORCH_CUDA_ALLOC_CONF": ""}, [python("forward", 3)], "GPU"),
        (None, [python("forward", 3), NPU_CODE], "NPU"),
        (None, [python("forward", 3), GPU_CODE], "GPU"),
        (None, [python("linear", 3, "/usr/lib/python3.11/site-packages/torch_npu/utils/_module.py")], "NPU"),
        (None, [python("forward", 3, "/home/jane/torch_npu_port/model.py")], None),
        ({"PYTORCH_ALLOC_CONF": ""}, [python("forward", 3)], None),
        (None, [], None),
    ],
)
def test_settings_or_frames_say_what_devices_are(tmp_path: Path, settings: Any, frames: list[Any], kind: str | None) -> None:
    """A snapshot of NPUs has no settings."""
    device = Allocator()
    device.segment(0)
    device.alloc(0, 512, frames)
    content = {**snapshot(device), "allocator_settings": settings}
    (rank,) = inspect(write(tmp_path / "snapshot.pickle", content), "snapshot.pickle", Options())
    assert rank.device_kind == kind


@pytest.mark.parametrize("before", [0, 2**20 - 30, 2**20 - 5, 3 * 2**20])
def test_the_kind_of_device_is_found_wherever_it_is_said(tmp_path: Path, before: int) -> None:
    device = Allocator()
    device.segment(0)
    device.alloc(0, 512, [python("a" * before, 1), NPU_CODE, python("b" * 2 * 2**20, 2)])
    file = write(tmp_path / "snapshot.pickle", {**snapshot(device), "allocator_settings": {}})
    (rank,) = inspect(file, "snapshot.pickle", Options())
    assert rank.device_kind == "NPU"
