"""What CUDA hands out of the memory of a device, as Nsight Systems records it: blocks with their ops, and their sums."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.analyses.answer import Sentences
from prof_analysis.analyses.answering import answer_of
from tests.helpers.asking import build_at_once
from tests.helpers.nsys import BEGIN_NS, CALLS, KERNELS, Row, Texts, call, global_id, kernel, write_small, write_tables
from tests.helpers.says import says

MIB = 2**20
DEVICE, PINNED, MANAGED = 2, 1, 4
pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")


def event(start: int, address: int, size: int, correlation: int = 0, kind: int = DEVICE, **more: Any) -> Row:
    """An allocation; a release where the size is less than 0."""
    return {
        **{"start": start, "globalPid": global_id(100), "deviceId": 0, "contextId": 1, "address": address, "pc": 0},
        **{"bytes": abs(size), "memKind": kind, "memoryOperationType": int(size < 0), "correlationId": correlation},
        **more,
    }


def write(file: Path, events: list[Row], **more: Any) -> Path:
    return write_small(file, CUDA_GPU_MEMORY_USAGE_EVENTS=events, **more)


def test_a_block_has_the_op_whose_thread_called_and_the_peak_what_was_there_before(tmp_path: Path) -> None:
    events = [
        event(1450, 16, 4 * MIB, 11),  # In the call of aten::addmm.
        event(1460, 32, MIB, 999),  # No such call.
        event(3350, 48, 2 * MIB, 12),  # In the backward of the Linear, on the thread of autograd.
        event(4000, 32, -MIB, 998),
        event(4100, 32, -MIB, 998),  # Again.
        event(5000, 64, -8 * MIB),  # Allocated before the recording.
        event(6000, 80, 512 * MIB, kind=PINNED),
        event(6000, 96, 512 * MIB, kind=MANAGED),
    ]
    with open_profile(write(tmp_path / "run.sqlite", events)) as profile:
        build_at_once(profile, "memory", "allocation.peak_moment")
        blocks = profile.rows(
            f"SELECT size_bytes // {MIB} AS mib, allocated_ns - {BEGIN_NS} AS allocated, released_ns - {BEGIN_NS} AS released,"
            " op_name, module, lifetime::VARCHAR AS lifetime FROM allocation.block ORDER BY allocated_ns NULLS FIRST"
        )
        assert [tuple(row.values()) for row in blocks] == [
            (8, None, 5000, None, None, "recording"),
            (4, 1450, None, "aten::addmm", "Linear", "not released"),
            (1, 1460, 4000, None, None, "step"),
            (2, 3350, None, "aten::mm", "[Backward]Linear", "not released"),
        ]
        usage = profile.rows(
            f"SELECT component, role::VARCHAR AS role, time_ns - {BEGIN_NS} AS at, allocated_bytes // {MIB} AS mib"
            " FROM allocation.usage"
        )
        assert [tuple(row.values()) for row in usage] == [
            ("CUDA", "process", at, mib) for at, mib in ((1450, 12), (1460, 13), (3350, 15), (4000, 14), (5000, 6))
        ]
        answer = answer_of(profile, "memory", 5)
        parts = [(row["part"], row["op_name"], row["live_bytes"] // MIB) for row in answer.facts["rows_shown"]]
        assert parts == [
            ("allocated before", None, 8),
            ("blocks", "aten::addmm", 4),
            ("blocks", "aten::mm", 2),
            ("blocks", None, 1),
        ]
        lines = [line for block in answer.blocks if isinstance(block, Sentences) for line in block.lines]
        assert lines[0] == says("at most 15.00 MiB in use by this process", "of 79.18 GiB on the device")
        levels = {
            by: answer_of(profile, "memory", 5, by).facts["rows_shown"] for by in ("module", "op", "step", "time", "size")
        }
        assert [(row["module"], row["own_live_bytes"] // MIB) for row in levels["module"]] == [
            ("Linear", 4),
            ("[Backward]Linear", 2),
        ]
        assert [(row["step_id"], row["peak_bytes"] // MIB) for row in levels["step"]] == [(4, 15)]
        assert all(levels.values())


def test_memory_that_was_there_before_a_recording_that_begins_late_is_missing(tmp_path: Path) -> None:
    late = write(tmp_path / "late.sqlite", [event(4500, 16, MIB)])
    whole = write(tmp_path / "whole.sqlite", [event(1450, 16, MIB)])
    for file, warnings in ((whole, []), (late, [says("late.sqlite", "kernels ran before the first event of memory")])):
        with open_profile(file) as profile:
            profile.rows("FROM allocation.usage")
            assert [str(warning) for warning in profile.warnings] == warnings


def test_each_device_has_the_memory_of_its_processes(tmp_path: Path) -> None:
    text = Texts()
    gemm, launch = text("gemm"), text("cudaLaunchKernel")
    tables = {
        KERNELS: [kernel(gemm, 200, 300, 1, pid=pid, device=device) for pid, device in ((100, 0), (101, 1))],
        CALLS: [call(launch, 100, 150, 1, pid=pid, tid=pid) for pid in (100, 101)],
        "CUDA_GPU_MEMORY_USAGE_EVENTS": [
            event(100, 16, MIB),
            event(100, 16, 2 * MIB, globalPid=global_id(101), deviceId=1),
            event(110, 32, 4 * MIB, globalPid=global_id(101), deviceId=0),  # The context of a process that works on device 1.
        ],
    }
    with open_profile(write_tables(tmp_path / "run.sqlite", tables, text)) as profile:
        held = profile.rows(
            f"SELECT rank_id, device_id, max(allocated_bytes) // {MIB} AS mib FROM allocation.usage GROUP BY ALL"
        )
    assert sorted(tuple(row.values()) for row in held) == [(0, 0, 1), (1, 1, 2)]


def test_damaged_events_are_counted(tmp_path: Path) -> None:
    events = [event(1450, 16, MIB), event(1460, 16, 2**60), {**event(1470, 16, MIB), "address": None}, event(10**18, 32, MIB)]
    with open_profile(write(tmp_path / "run.sqlite", events)) as profile:
        left_out = profile.rows("SELECT reason, row_count FROM trace.set_aside_memory")
        assert [row["size_bytes"] for row in profile.rows("SELECT size_bytes FROM trace.memory_block")] == [MIB]
    assert sum(row["row_count"] for row in left_out) == 3
