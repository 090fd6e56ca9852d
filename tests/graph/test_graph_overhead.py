"""Calls of compiled graphs: every phase of every call, from databases and text, in each spelling, with and without stacks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, write_profile

RUN, EXECUTE, LOOK_UP = "TorchNpuGraphBase::Run", "ExecuteGraph", "TorchDynamo Cache Lookup"
SPACE, UNDERSCORE, CACHE = "npu_fx_compiler inference", "npu_fx_compiler_inference", "cache_compiler inference"
PID = 77

FRAMES = [
    # The first call, with stacks: entered through the module, then Dynamo.
    Frame("serve.py(3): loop", 10, 9000),
    Frame("nn.Module: OptimizedModule_0", 100, 1000),
    Frame("torch/_dynamo/eval_frame.py(433): _fn", 110, 990),
    # On another thread one entry for two calls: it is that of the first.
    Frame("vllm/compilation/decorators.py(20): __call__", 90, 1200, tid=2),
]
OPS = [
    Op(LOOK_UP, 150, 200),
    Op("Torch-Compiled Region: 0/0", 210, 980),
    Op(SPACE, 300, 900),
    Op("aten::lift_fresh", 310, 320),
    Op("aten::to", 321, 325),
    Op("aten::contiguous", 330, 350),
    Op("aten::clone", 332, 348),
    Op("aten::clone", 360, 365),
    Op("aten::add", 370, 372),
    Op(RUN, 500, 880),
    Op("aten::empty", 510, 520),
    Op(EXECUTE, 600, 860),
    # Without stacks: the region marks the entry; the look-up is before it. The engine launches from its own thread.
    Op(LOOK_UP, 1150, 1190),
    Op("Torch-Compiled Region: 0/0", 1200, 1900),
    Op(UNDERSCORE, 1300, 1800),
    Op(RUN, 1400, 1750),
    Op(EXECUTE, 1500, 1700),
    # Only the look-up; no launch is recorded. A look-up inside a call is not that of the next one.
    Op(LOOK_UP, 1990, 1995),
    Op(LOOK_UP, 2000, 2030),
    Op(CACHE, 2100, 2500),
    Op(RUN, 2200, 2450),
    Op(EXECUTE, 2300, 2400),
    Op(LOOK_UP, 2460, 2470),
    # Nothing marks the entry, and a graph is compiled that is no graph of GE.
    Op(SPACE, 3000, 3400),
    Op("TorchNpuGraphBase::Compile", 3010, 3100),
    Op("aten::mul", 3200, 3210),
    # One call inside another is none of its own.
    Op(CACHE, 100, 500, tid=2),
    Op(SPACE, 120, 480, tid=2),
    Op(RUN, 200, 470, tid=2),
    Op(EXECUTE, 250, 460, tid=2),
    Op(SPACE, 600, 1000, tid=2),
    Op(RUN, 700, 950, tid=2),
    Op(EXECUTE, 710, 900, tid=2),
]
LAUNCHES = [
    Launch(450, 455, (Kernel("before", 460, 470),)),
    Launch(620, 630, (Kernel("first", 700, 750),)),
    Launch(640, 650, (Kernel("second", 760, 800),)),
    Launch(610, 615, (Kernel("of_another", 630, 640),), tid=9),
    Launch(1550, 1560, (Kernel("of_the_engine", 1650, 1660),), tid=9),
    Launch(270, 280, (Kernel("late", 5000, 5100),), tid=2),
]

COLUMNS = [
    *("start_ns", "tid", "name", "region", "is_compiling", "call_ns", "front_end_ns", "entry_from", "lookup_ns"),
    *("before_lookup_ns", "inference_ns", "torchair_ns", "torchair_python_ns", "torchair_cpp_ns", "ge_to_end_ns"),
    *("ge_to_first_kernel_ns", "creation_count", "creation_ns", "contiguous_count", "contiguous_ns", "clone_count", "clone_ns"),
    *("other_op_count", "other_op_ns", "reason"),
]
REGION = "Torch-Compiled Region: 0/0"
NO_OPS = (0, 0) * 4
NO_REGION, NO_LOOK_UP, NO_KERNEL = says("no region"), says("no look-up of Dynamo"), says("no kernel is known")
NO_ENTRY = says("nothing marks where the module was entered")
CALLS: list[tuple[Any, ...]] = [
    (90, 2, CACHE, None, False, 410, 10, "frame", None, None, 400, 150, 100, 50, 250, 4750, *NO_OPS,
     [NO_REGION, NO_LOOK_UP]),
    (100, 1, SPACE, REGION, False, 800, 200, "frame", 50, 50, 600, 300, 200, 100, 300, 100, 2, 14, 1, 20, 1, 5, 1, 2, None),
    (600, 2, SPACE, None, False, None, None, None, None, None, 400, 110, 100, 10, 290, None, *NO_OPS,
     [NO_ENTRY, NO_REGION, NO_LOOK_UP, NO_KERNEL]),
    (1200, 1, UNDERSCORE, REGION, False, 600, 100, "region", 40, None, 500, 200, 100, 100, 300, 150, *NO_OPS,
     [says("look-up is before the entry")]),
    (2000, 1, CACHE, None, False, 500, 100, "look-up", 30, 0, 400, 200, 100, 100, 200, None, *NO_OPS,
     [NO_REGION, NO_KERNEL]),
    (3000, 1, SPACE, None, True, None, None, None, None, None, 400, None, None, None, None, None, 0, 0, 0, 0, 0, 0, 1, 10,
     [NO_ENTRY, NO_REGION, NO_LOOK_UP, says(f"no {RUN} in it"), says(f"no {EXECUTE} in it")]),
]  # fmt: skip


def write_database(folder: Path) -> None:
    write_profile(folder / "a_ascend_pt", OPS, frames=FRAMES, launches=LAUNCHES, rank=None)


def write_text(folder: Path) -> None:
    def event(name: str, pid: int, tid: int, start: int, end: int, **more: Any) -> dict[str, Any]:
        return {
            "ph": "X",
            "name": name,
            "pid": pid,
            "tid": tid,
            "ts": f"{start / 1000:.3f}",
            "dur": (end - start) / 1000,
        } | more

    cann, device = (PID << 10) | (7 << 5) | 31, (PID << 10) | (6 << 5)
    events = [event(op.name, PID, op.tid, op.start, op.end, cat="cpu_op", args={"Sequence number": -1}) for op in OPS]
    events += [event(frame.name, PID, frame.tid, frame.start, frame.end, cat="python_function") for frame in FRAMES]
    for connection, launch in enumerate(LAUNCHES, 5000):
        arguments = {"level": "node", "connection_id": connection}
        events.append(event("Node@launch", cann, launch.tid, launch.start, launch.end, args=arguments))
        for task, kernel in enumerate(launch.kernels):
            arguments = {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": task, "connection_id": connection}
            events.append(event(kernel.name, device, 2, kernel.start, kernel.end, args=arguments))
    output = folder / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text(json.dumps(events), encoding="utf-8")


@pytest.mark.parametrize("write", quick([write_database, write_text], 0))
def test_every_column_of_every_call_and_phases_that_add_up(
    tmp_path: Path, write: Callable[[Path], None], command: Callable[..., Result]
) -> None:
    write(tmp_path)
    with open_profile(tmp_path) as profile:
        calls = arrow_of(profile.graph_overhead(calls=True))
        phases = arrow_of(profile.graph_overhead()).to_pylist()
    assert calls.column_names == ["profile", "rank_id", *COLUMNS]
    found = [
        {**row, "tid": row["tid"] % 2**32, "reason": row["reason"] and row["reason"].split("; ")} for row in calls.to_pylist()
    ]
    assert [tuple(row.values())[2:] for row in found] == CALLS
    for row in found:
        if row["call_ns"] is not None:
            assert row["call_ns"] == sum(
                row[f"{part}_ns"] for part in ("front_end", "torchair_python", "torchair_cpp", "ge_to_end")
            )
            assert row["torchair_ns"] == row["torchair_python_ns"] + row["torchair_cpp_ns"]
    of_region = [row for row in phases if (row["name"], row["region"]) == (SPACE, REGION)]
    assert [(row["phase"], row["total_ns"]) for row in of_region] == [
        ("call", 800), ("front_end", 200), ("before_lookup", 50), ("lookup", 50), ("torchair", 300), ("torchair_python", 200),
        ("creation", 14), ("contiguous", 20), ("clone", 5), ("other_op", 2), ("torchair_cpp", 100), ("ge_to_end", 300),
        ("ge_to_first_kernel", 100),
    ]  # fmt: skip
    assert {(row["name"], row["is_compiling"], row["phase"]) for row in phases if row["is_compiling"]} == {
        (SPACE, True, phase) for phase in ("creation", "contiguous", "clone", "other_op")
    }
    if write is write_text:
        return
    result = command("graph-overhead", "-d", tmp_path, "--export_type", "csv", "--top", "1")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[:3] == [
        "phase share of call mean median p95 max calls kind graph profile",
        f"whole call 100.0% 455 ns 410 ns 500 ns 500 ns 2 replay {CACHE} a_ascend_pt",
        f"front end 12.1% 55 ns 10 ns 100 ns 100 ns 2 replay {CACHE} a_ascend_pt",
    ]
    assert lines[10:13] == [
        says("6 calls", "1 compiling", "1 rank"),
        says("front end + TorchAir + GE to the end", "4 of 4 calls with a known entry", "GE to the first kernel is not part"),
        says("in 4 of 6 calls", "no region is recorded"),
    ]


@pytest.mark.slow
def test_statistics_of_several_calls_and_where_there_are_none(tmp_path: Path) -> None:
    """Ten replays whose front end takes 10 to 100 ns, and one first call, which Dynamo compiles before it."""
    ops = [
        one
        for n in range(11)
        for one in (
            Op(REGION, 1000 * n, 1000 * n + 900),
            Op(SPACE, 1000 * n + 10 * n, 1000 * n + 800),
            Op(RUN, 1000 * n + 200, 1000 * n + 700),
            Op(EXECUTE, 1000 * n + 300, 1000 * n + 600),
        )
    ]
    ops.append(Op("_compile.compile_inner (dynamo_timed)", 5, 8))
    ops[1] = Op(SPACE, 10, 800)
    write_profile(tmp_path / "a_ascend_pt", ops, rank=None)
    with open_profile(tmp_path) as profile:
        rows = arrow_of(profile.graph_overhead()).to_pylist()
    front_end, compiling = (
        next(row for row in rows if row["phase"] == "front_end" and row["is_compiling"] is flag) for flag in (False, True)
    )
    assert front_end == {
        **{"profile": "a_ascend_pt", "rank_id": None, "name": SPACE, "region": REGION, "is_compiling": False},
        **{"phase": "front_end", "call_count": 10, "total_ns": 550, "mean_ns": 55.0, "median_ns": 50, "p95_ns": 100},
        **{"min_ns": 10, "max_ns": 100, "share": 550 / 8000},
    }
    assert (compiling["call_count"], compiling["total_ns"], compiling["share"]) == (1, 10, 10 / 800)
    write_profile(tmp_path / "without" / "b_ascend_pt", [Op("aten::mm", 0, 10)], rank=None)
    with open_profile(tmp_path / "without") as profile, pytest.raises(InputError, match="no calls of compiled graphs"):
        profile.graph_overhead()
