"""Writes small databases as Nsight Systems exports them: tables are there where they have rows, with the columns of these."""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]
BEGIN_NS = 1_779_782_330_000_000_000
KERNELS, COPIES, CALLS, RANGES = (
    *("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"),
)
_TYPES = {int: "INTEGER", float: "REAL", str: "TEXT", bytes: "BLOB"}


def global_id(pid: int, tid: int = 0) -> int:
    """The number of a process, or of a thread in it."""
    return 1 << 48 | pid << 24 | tid


class Texts:
    """Texts with their ids."""

    def __init__(self) -> None:
        """Begin with none."""
        self.ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the id of a text."""
        return self.ids.setdefault(text, len(self.ids) + 1)


def write_tables(file: Path, tables: Mapping[str, Iterable[Row]], texts: Texts | None = None) -> Path:
    """Write tables, each with the columns of its rows; with the session, and StringIds where there are texts."""
    session = {"utcEpochNs": BEGIN_NS, "utcTime": "2026-05-26T07:58:50"}
    found: dict[str, list[Row]] = {
        "TARGET_INFO_SESSION_START_TIME": [session],
        "ANALYSIS_DETAILS": [{"globalVid": 0, "duration": 10**9, "startTime": 0, "stopTime": 10**9}],
        "META_DATA_EXPORT": [{"name": "EXPORT_SCHEMA_VERSION", "value": "3.25.0"}],
        **{name: list(rows) for name, rows in tables.items()},
    }
    if texts is not None:
        found["StringIds"] = [{"id": number, "value": text} for text, number in texts.ids.items()]
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as database:
        for name, rows in found.items():
            columns = {column: _TYPES[type(value)] for row in rows for column, value in row.items() if value is not None}
            if columns:
                declared = ", ".join(f'"{column}" {type_}' for column, type_ in columns.items())
                database.execute(f"CREATE TABLE {name} ({declared})")
            for row in rows:
                values = [row.get(column) for column in columns]
                database.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(values))})", values)
        database.commit()
    return file


def kernel(name: int, start: int, end: int, correlation: int = 0, pid: int = 100, device: int = 0, **more: Any) -> Row:
    """A kernel; `name` is the id of a text."""
    return {
        **{"start": start, "end": end, "deviceId": device, "contextId": 1, "streamId": 7, "correlationId": correlation},
        **{"globalPid": global_id(pid), "demangledName": name, "shortName": name, "gridX": 1, "gridY": 1, "gridZ": 1},
        **{"blockX": 128, "blockY": 1, "blockZ": 1, "registersPerThread": 32, "staticSharedMemory": 0},
        **{"dynamicSharedMemory": 0, **more},
    }


def copy(start: int, end: int, size: int, correlation: int = 0, kind: int = 1, pid: int = 100, device: int = 0) -> Row:
    """A copy of memory, by default from pinned memory of the host to the device."""
    memory = {1: (1, 2), 2: (2, 1), 8: (2, 2)}[kind]
    return {
        **{"start": start, "end": end, "deviceId": device, "contextId": 1, "streamId": 7, "correlationId": correlation},
        **{"globalPid": global_id(pid), "bytes": size, "copyKind": kind, "srcKind": memory[0], "dstKind": memory[1]},
    }


def call(name: int, start: int, end: int, correlation: int = 0, pid: int = 100, tid: int = 100) -> Row:
    """A call of CUDA; `name` is the id of a text."""
    return {
        **{"start": start, "end": end, "eventClass": 0, "globalTid": global_id(pid, tid), "correlationId": correlation},
        **{"nameId": name, "returnValue": 0},
    }


def nvtx(text: str | None, start: int, end: int | None, pid: int = 100, tid: int = 100, kind: int = 59, **more: Any) -> Row:
    """An NVTX event: by default a range of push and pop in the default domain."""
    return {
        **{"start": start, "end": end, "eventType": kind, "text": text, "globalTid": global_id(pid, tid), "domainId": 0},
        **more,
    }


def write_small(file: Path, **more: Iterable[Row]) -> Path:
    """Write a process on one device: a step with a Linear, its backward on another thread, a collective and a copy."""
    text = Texts()
    launch, copied = text("cudaLaunchKernel_v7000"), text("cudaMemcpyAsync_v3020")
    gemm, reduce = text("void cutlass::Kernel<float>(Params)"), text("ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)")
    tables: dict[str, Iterable[Row]] = {
        RANGES: [
            nvtx("NCCL", 0, None, kind=75, domainId=3),
            nvtx("ProfilerStep#4, op_id = 1", 1000, 9000),
            nvtx("Module:Linear, op_id = 2", 1100, 1900),
            nvtx("aten::linear, op_id = 3", 1200, 1800),
            nvtx("aten::addmm, seq = 7, op_id = 4, sizes = [[2], [4, 8], [8, 2], []], input_op_ids = [(0,-1)]", 1300, 1700),
            nvtx("autograd::engine::evaluate_function: AddmmBackward0, op_id = 5", 3000, 3900, tid=101),
            nvtx("AddmmBackward0, seq = 7, op_id = 6", 3100, 3800, tid=101),
            nvtx("aten::mm, op_id = 7, sizes = [[2, 4], [4, 8]], input_op_ids = []", 3200, 3700, tid=101),
            nvtx("nccl:all_reduce, op_id = 8", 5000, 5900),
            nvtx("my phase", 6000, 6900),
            nvtx("now", 6500, None, kind=34),
        ],
        CALLS: [
            call(launch, 1400, 1500, 11),
            call(launch, 3300, 3400, 12, tid=101),
            call(launch, 5100, 5200, 13),
            call(copied, 6100, 6200, 14),
        ],
        KERNELS: [kernel(gemm, 2000, 2400, 11), kernel(gemm, 4000, 4300, 12), kernel(reduce, 6000, 6200, 13)],
        COPIES: [copy(7000, 7100, 4096, 14)],
        "TARGET_INFO_GPU": [
            {
                "id": 0,
                "name": "NVIDIA H100 80GB HBM3",
                "totalMemory": 85_018_279_936,
                "smCount": 132,
                "clockRate": 1_980_000_000,
            }
        ],
    }
    return write_tables(file, {**tables, **more}, text)
