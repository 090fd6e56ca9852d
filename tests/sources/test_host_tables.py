"""What the host did besides ops, and the profiler's own Overlap Analysis: the same tables out of a database and out of text."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.small_profile import Frame, HostCall, Kernel, Launch, Op, edit, write_profile

PID = 100
BASE_NS = 1_700_000_000_000_000_000
TABLES = {
    "trace.host_api": "level::VARCHAR AS level, name, role::VARCHAR AS role, tid, start_ns, end_ns, launch_id",
    "trace.frame": "tid, name, start_ns, end_ns",
    "trace.gc": "tid, start_ns, end_ns",
    "trace.overlap": "kind::VARCHAR AS kind, device_id, start_ns, end_ns",
}


def thread(tid: int) -> int:
    return (PID << 32) + tid


EXPECTED = {
    "trace.host_api": [
        ("acl", "aclrtSynchronizeStream", "synchronise", thread(1), 300, 400, 5001),
        ("communication", "Launch_Ffts", "launch", thread(5), 250, 260, 5002),
        ("node", "launch", "launch", thread(5), 200, 210, 5000),
        ("runtime", "a@b", None, thread(5), 270, 280, 5003),
        (None, "future", None, thread(5), 290, 291, 5004),
    ],
    "trace.frame": [(thread(1), "main.py(3): train", 80, 980), (thread(1), "nn.Module: Linear_0", 90, 590)],
    "trace.gc": [(thread(1), 700, 750), (thread(2), 760, 770)],
    "trace.overlap": [
        ("communication", 3, 2050, 2080),
        ("communication_not_overlapped", 3, 2070, 2080),
        ("computing", 3, 2000, 2070),
        ("free", 3, 2080, 2100),
    ],
}


def write_database(folder: Path) -> None:
    calls = [
        HostCall("aclrtSynchronizeStream", 300, 400, thread(1)),
        HostCall("Launch_Ffts", 250, 260, thread(5), 5500),
        HostCall("a@b", 270, 280, thread(5), 5000),
        HostCall("future", 290, 291, thread(5), 9),
        HostCall("ends before it starts", 290, 289, thread(5)),
    ]
    path = write_profile(
        folder / "a_ascend_pt",
        [Op("aten::mm", 100, 150, tid=thread(1))],
        launches=[Launch(200, 210, (Kernel("mm", 2000, 2070),), thread(5), recorded_op=0)],
        frames=[Frame("main.py(3): train", 80, 980, thread(1)), Frame("nn.Module: Linear_0", 90, 590, thread(1))],
        calls=calls,
        collections=[(700, 750, thread(1)), (760, 770, thread(2)), (770, 760, thread(2))],
    )
    edit(
        path,
        """
        CREATE TABLE OVERLAP_ANALYSIS (id INTEGER PRIMARY KEY, deviceId INTEGER, startNs NUMERIC, endNs NUMERIC, type INTEGER);
        INSERT INTO OVERLAP_ANALYSIS VALUES
            (1, 3, 2000, 2070, 0), (2, 3, 2050, 2080, 1), (3, 3, 2070, 2080, 2), (4, 3, 2080, 2100, 3), (5, 3, 1, 2, 65535);
        """,
    )


def write_text(folder: Path) -> None:
    def event(name: str, pid: int, tid: int, start: int, end: int, **more: Any) -> dict[str, Any]:
        begin = f"{BASE_NS // 1000 + start // 1000}.{start % 1000:03}"
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": (end - start) / 1000} | more

    cann, collector, overlap = ((PID << 10) | (layer << 5) | device for layer, device in ((7, 31), (1, 0), (31, 3)))

    def call(name: str, level: str, tid: int, start: int, end: int, connection: int) -> dict[str, Any]:
        return event(name, cann, tid, start, end, args={"level": level, "connection_id": connection})

    events = [
        event("aten::mm", PID, 1, 100, 150, cat="cpu_op", args={"Sequence number": -1}),
        call("AscendCL@aclrtSynchronizeStream", "acl", 1, 300, 400, 5001),
        call("Hccl@Launch_Ffts", "hccl", 5, 250, 260, 5002),
        call("Node@launch", "node", 5, 200, 210, 5000),
        call("Runtime@a@b", "runtime", 5, 270, 280, 5003),
        call("future", "other", 5, 290, 291, 5004),
        call("Runtime@ends before it starts", "runtime", 5, 290, 289, 5005),
        event("main.py(3): train", PID, 1, 80, 980, cat="python_function", args={"Python id": 1}),
        event("nn.Module: Linear_0", PID, 1, 90, 590, cat="python_function", args={"Python id": 2}),
        event("GC", collector, 1, 700, 750, cat="GC", args={}),
        event("GC", collector, 2, 760, 770, cat="GC", args={}),
        # A task and a range of the same names are none of the analysis.
        event("Free", 7, 1, 2, 3, args={"event_type": "start/end", "domain": "default"}),
        {"ph": "M", "name": "process_name", "pid": overlap, "tid": 0, "args": {"name": "Overlap Analysis"}},
        event("Computing", overlap, 0, 2000, 2070),
        event("Communication", overlap, 1, 2050, 2080),
        event("Communication(Not Overlapped)", overlap, 2, 2070, 2080),
        event("Free", overlap, 3, 2080, 2100),
    ]  # fmt: skip
    output = folder / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")


@pytest.mark.parametrize("write", [write_database, write_text])
def test_both_sources_fill_the_tables_of_the_host_alike(tmp_path: Path, write: Any) -> None:
    write(tmp_path)
    base_ns = BASE_NS if write is write_text else 0
    with open_profile(tmp_path) as profile:
        build_at_once(profile, *TABLES)
        for table, columns in TABLES.items():
            found = profile.sql(f"SELECT {columns} FROM {table} ORDER BY ALL", arrow=True).to_pylist()
            assert [from_base(row, base_ns) for row in found] == EXPECTED[table], table
        for name in ("host_api", "frame"):
            assert profile.table(f"trace.{name}")[f"{name}_id"].is_unique


def from_base(row: dict[str, Any], base_ns: int) -> Sequence[Any]:
    return tuple(value - base_ns if name.endswith("_ns") else value for name, value in row.items())
