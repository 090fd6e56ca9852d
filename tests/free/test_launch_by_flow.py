"""A trace whose launches are recorded by flows alone, as at Level0 and by writers of 2023."""

import json
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.slow import quick

PYTHON, CANN, DEVICE, MAIN, ACL = 1, 2, 3, 10, 11


def name(pid: int, text: str, sort: int) -> list[dict[str, Any]]:
    return [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": text}},
        {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": sort}},
    ]


def at(us: int) -> str:
    return f"{1_700_000_000_000_000 + us}.000"


def call(title: str, start: int, end: int, pid: int, tid: int, **more: Any) -> dict[str, Any]:
    return {"ph": "X", "name": title, "pid": pid, "tid": tid, "ts": at(start), "dur": end - start, **more}


def flow(category: str, number: int, start: int, end: int, pid: int, tid: int) -> list[dict[str, Any]]:
    of = {"cat": category, "id": str(number), "name": category}
    return [
        {"ph": "s", "pid": pid, "tid": tid, "ts": at(start), **of},
        {"ph": "f", "pid": DEVICE, "tid": 3, "ts": at(end), "bp": "e", **of},
    ]


def kernel(title: str, start: int, end: int, connection: int) -> dict[str, Any]:
    args = {"Model Id": 4294967295, "Task Type": "AI_CORE", "Stream Id": 3, "Task Id": connection, "connection_id": connection}
    return call(title, start, end, DEVICE, 3, args=args)


@pytest.mark.parametrize("has_flows", quick([True, False], 0))
def test_what_the_host_does_until_the_launch_is_no_wait_behind_it(tmp_path: Path, has_flows: bool) -> None:
    """An op is compiled for 800 us on the thread that launches; the thread that asked for it went on long before."""
    compiling = {"level": "acl", "id": "aclopCompileAndExecute", "Mode": "ACL_OP", "Thread Id": ACL}
    events = [
        *name(PYTHON, "Python", 0),
        *name(CANN, "CANN", 1),
        *name(DEVICE, "Ascend Hardware", 2),
        call("aten::relu", 0, 10, PYTHON, MAIN, cat="cpu_op", args={"Sequence number": 1}),
        call("aten::conv2d", 20, 60, PYTHON, MAIN, cat="cpu_op", args={"Sequence number": 2}),
        call("AscendCL@aclopCompileAndExecute", 70, 900, CANN, ACL, args=compiling),
        kernel("relu", 30, 50, 1),
        kernel("conv", 910, 950, 2),
        *flow("async_npu", 1_700_000_000_000_030_000, 0, 30, PYTHON, MAIN),
        *flow("async_npu", 1_700_000_000_000_910_000, 20, 910, PYTHON, MAIN),
    ]
    if has_flows:
        events += [*flow("HostToDevice", 7, 15, 30, CANN, ACL), *flow("HostToDevice", 9, 870, 910, CANN, ACL)]
    (tmp_path / "trace_view.json").write_text(json.dumps(events))
    with open_profile(tmp_path) as profile:
        rows = profile.rows("SELECT cause, work, call, total_ns FROM free.cause_of_op ORDER BY total_ns DESC")
        launched = profile.rows("SELECT count(*) AS count FROM trace.launch")
    found = {(row["cause"], row["work"], row["call"]): row["total_ns"] for row in rows}
    assert "unknown after the launch" not in {cause for cause, *_ in found}
    assert sum(found.values()) == 860_000
    if has_flows:
        assert launched == [{"count": 2}]
        assert found["between queue and device", "compile", "aclopCompileAndExecute"] == 800_000
        assert found["between queue and device", "start", None] == 40_000
