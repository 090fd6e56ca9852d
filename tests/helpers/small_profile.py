"""Writes a small `*_ascend_pt` folder from what a test says in a few lines: ranges, ops, and the kernels they launched."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

DATABASE = "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_{rank}.db"

# To wait for the disk after each statement took more time than all else that a test does.
_UNSAFE = "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;"
_SCHEMA = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
    sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER);
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
    globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER,
    taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
    outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, hf32Eligible INTEGER);
CREATE TABLE COMMUNICATION_SCHEDULE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, taskType INTEGER,
    opType INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,
    opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC, opType INTEGER);
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
    message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
"""
_WHERE_COLLECTED = {
    "CANN_API": "CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,"
    " connectionId INTEGER PRIMARY KEY, name INTEGER);",
    "GC_RECORD": "CREATE TABLE GC_RECORD (startNs INTEGER, endNs INTEGER, globalTid INTEGER);",
    "TASK_PMU_INFO": "CREATE TABLE TASK_PMU_INFO (globalTaskId INTEGER, name INTEGER, value NUMERIC);",
    "MEMCPY_INFO": "CREATE TABLE MEMCPY_INFO (globalTaskId NUMERIC, size NUMERIC, memcpyOperation NUMERIC);"
    " CREATE TABLE ENUM_MEMCPY_OPERATION (id INTEGER PRIMARY KEY, name TEXT);"
    " INSERT INTO ENUM_MEMCPY_OPERATION VALUES (0, 'host to host'), (1, 'host to device'), (2, 'device to host'),"
    " (3, 'device to device'), (4, 'managed memory'), (5, 'addr device to device'), (6, 'host to device ex'),"
    " (7, 'device to host ex'), (65535, 'other');",
}


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name and times; kind compute, communication (the name is its type), schedule or copy (that of its task).

    `launch` is what an unlinked kernel names as its launch, -1 for nothing. `type` None is what Level0 has. `core` is that of
    compute, as are the tensors, split by ';', the blocks and the counters `pmu`; `output_types` None are those of the inputs.
    `group` is that of communication. `copied` are the bytes of a copy and the number of what it does, as new versions record
    them.
    """

    name: str
    start: int
    end: int
    kind: str = "compute"
    device: int = 0
    model: int = 4294967295
    launch: int = -1
    type: str | None = "Mul"
    core: str = "AI_CORE"
    group: str | None = None
    inputs: str = "16,16;16,16"
    types: str = "FLOAT16;FLOAT16"
    outputs: str = "16,16;16,16"
    output_types: str | None = None
    formats: str = "ND;ND"
    output_formats: str = "ND;ND"
    hf32: str = "N/A"
    blocks: int = 20
    pmu: Mapping[str, float] | None = None
    stream: int = 2
    copied: tuple[int, int] | None = None
    task: int | None = None
    """Number on its stream; by default that among all tasks."""


@dataclass(frozen=True)
class Matmul(Kernel):
    """A kernel on the cube cores. The usual one is none, so that the tables of MFU stay empty and cost no time."""

    type: str | None = "MatMulV3"


@dataclass(frozen=True)
class Op:
    """A framework op and what it launched. `backward_of` is the position of its forward op in the list of ops.

    `forward_thread_id` is 1 for a backward op and 0 for the others, unless it is given.
    """

    name: str
    start: int
    end: int
    kernels: tuple[Kernel, ...] = ()
    tid: int = 1
    backward_of: int | None = None
    sequence_number: int = -1
    forward_thread_id: int | None = None
    input_shapes: str | None = None


@dataclass(frozen=True)
class Queue:
    """A hand-over through the task queue: start and end of putting it in and of running it; both ends carry the value."""

    value: int
    enqueue: tuple[int, int]
    dequeue: tuple[int, int]
    enqueue_tid: int = 1
    dequeue_tid: int = 5


@dataclass(frozen=True)
class Launch:
    """A call on the host that put kernels on the device. `recorded_op` is the position of the op that the profile recorded."""

    start: int
    end: int
    kernels: tuple[Kernel, ...]
    tid: int = 1
    recorded_op: int | None = None


@dataclass(frozen=True)
class HostCall:
    """A call into CANN that put nothing on the device; type 20000 is that of the acl interface."""

    name: str
    start: int
    end: int
    tid: int = 1
    type: int = 20000


@dataclass(frozen=True)
class Frame:
    """A row of the Python tracer."""

    name: str
    start: int
    end: int
    tid: int = 1


@dataclass(frozen=True)
class Range:
    """An mstx range; with event_type 0 or 3 a mark. `device` is when its stream reached it and its end.

    One that `continues` is a further record of the same message.
    """

    name: str
    start: int
    end: int
    tid: int = 1
    domain: str = "Module"
    event_type: int = 2
    device: tuple[int, int] | None = None
    continues: bool = False


@dataclass
class _Rows:
    texts: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[tuple[object, ...]]] = field(default_factory=dict)

    def text(self, value: str) -> int:
        return self.texts.setdefault(value, len(self.texts))

    def text_or_null(self, value: str | None) -> int | None:
        return None if value is None else self.text(value)

    def add(self, table: str, *row: object) -> None:
        self.tables.setdefault(table, []).append(row)


def write_profile(
    folder: Path,
    ops: Iterable[Op] = (),
    ranges: Iterable[Range] = (),
    unlinked: Iterable[Kernel] = (),
    steps: Iterable[tuple[int, int, int]] = (),
    rank: int | None = 0,
    queues: Iterable[Queue] = (),
    launches: Iterable[Launch] = (),
    frames: Iterable[Frame] = (),
    calls: Iterable[HostCall] = (),
    collections: Iterable[tuple[int, int, int]] = (),
) -> Path:
    """Write the folder and give the path of its database. `collections` are start, end and thread of garbage collections."""
    rows, launch_ids, tasks = _Rows(), iter(range(5000, 10**6)), iter(range(10**6))

    def add_kernel(kernel: Kernel, launch: int) -> None:
        name, task = rows.text(kernel.name), next(tasks)
        if kernel.kind == "communication":
            op_name = rows.text(f"{kernel.name}_904_{task}_1")
            group, type_ = rows.text_or_null(kernel.group), None if kernel.type is None else name
            rows.add("COMMUNICATION_OP", op_name, kernel.start, kernel.end, launch, group, task, 0, 0, 4, 0, 1, type_)
            return
        no_graph = 4294967295
        of_stream = task if kernel.task is None else kernel.task
        times = (kernel.start, kernel.end, kernel.device)
        rows.add("TASK", *times, launch, task, 1, name, no_graph, kernel.stream, of_stream, kernel.model)
        if kernel.copied:
            rows.add("MEMCPY_INFO", task, *kernel.copied)
        if kernel.kind == "schedule":
            rows.add("COMMUNICATION_SCHEDULE_TASK_INFO", name, task, rows.text("AI_CPU"), name)
        elif kernel.kind == "compute":
            _add_compute(rows, kernel, name, task)

    ops = list(ops)
    pair_value = {op.backward_of: 1342178000 + n for n, op in enumerate(ops) if op.backward_of is not None}
    for group, op in enumerate(ops):
        is_backward = op.backward_of is not None
        thread = int(is_backward) if op.forward_thread_id is None else op.forward_thread_id
        times = (str(op.start), str(op.end), op.tid)
        shapes = rows.text_or_null(op.input_shapes)
        rows.add("PYTORCH_API", *times, group, rows.text(op.name), op.sequence_number, thread, None, shapes, None, 50001)
        for kernel in op.kernels:
            launch = next(launch_ids)
            add_kernel(kernel, launch)
            rows.add("CONNECTION_IDS", group, launch)
        for forward, value in pair_value.items():
            if forward in (group, op.backward_of):
                rows.add("CONNECTION_IDS", group, value)

    _add_host_rows(rows, len(ops), queues, frames)
    for host_call in launches:
        launch = next(launch_ids)
        rows.add("CANN_API", host_call.start, host_call.end, 10000, host_call.tid, launch, rows.text("launch"))
        for kernel in host_call.kernels:
            add_kernel(kernel, launch)
        if host_call.recorded_op is not None:
            rows.add("CONNECTION_IDS", host_call.recorded_op, launch)
    _add_calls(rows, launch_ids, calls, collections)
    for kernel in unlinked:
        add_kernel(kernel, kernel.launch)
    _add_ranges(rows, ranges, tasks)
    for step in steps:
        rows.add("STEP_TIME", *step)
    for text, text_id in rows.texts.items():
        rows.add("STRING_IDS", text_id, text)
    name = DATABASE.format(rank=rank) if rank is not None else DATABASE.format(rank="").replace("_.db", ".db")
    (path := folder / name).parent.mkdir(parents=True)
    edit(path, _SCHEMA + "".join(schema for table, schema in _WHERE_COLLECTED.items() if table in rows.tables))
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_UNSAFE)
        for table, values in rows.tables.items():
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    return path


def _add_compute(rows: _Rows, kernel: Kernel, name: int, task: int) -> None:
    inputs, outputs = (rows.text(shapes if shapes == "N/A" else f'"{shapes}"') for shapes in (kernel.inputs, kernel.outputs))
    output_types = kernel.types if kernel.output_types is None else kernel.output_types
    formats, types, output_formats, output_types_id, core, hf32 = map(
        rows.text, (kernel.formats, kernel.types, kernel.output_formats, output_types, kernel.core, kernel.hf32)
    )
    described = (formats, types, inputs, output_formats, output_types_id, outputs, hf32)
    rows.add("COMPUTE_TASK_INFO", name, task, kernel.blocks, 0, core, rows.text_or_null(kernel.type), *described)
    for metric, value in (kernel.pmu or {}).items():
        rows.add("TASK_PMU_INFO", task, rows.text(metric), value)


def _add_ranges(rows: _Rows, ranges: Iterable[Range], tasks: Iterator[int]) -> None:
    none, mark = 4294967295, 4000000000
    for one in ranges:
        message, domain, mark = rows.text(one.name), rows.text(one.domain), mark + (not one.continues)
        if one.device:
            rows.add("TASK", *one.device, 0, mark, next(tasks), 1, rows.text("MsTx"), none, 2, 0, none)
        rows.add("MSTX_EVENTS", one.start, one.end, one.event_type, none, none, message, one.tid, one.tid, domain, mark)


def _add_host_rows(rows: _Rows, first_group: int, queues: Iterable[Queue], frames: Iterable[Frame]) -> None:
    def add_other(name: str, start: int, end: int, tid: int, group: int | None, type_: int) -> None:
        rows.add("PYTORCH_API", str(start), str(end), tid, group, rows.text(name), None, None, None, None, None, type_)

    for number, queue in enumerate(queues):
        ends = (("Dequeue@task", *queue.dequeue, queue.dequeue_tid), ("Enqueue@task", *queue.enqueue, queue.enqueue_tid))
        for place, end in enumerate(ends):
            group = first_group + 2 * number + place
            add_other(*end, group, 50002)
            rows.add("CONNECTION_IDS", group, 1342177280 + queue.value)
    for frame in frames:
        add_other(frame.name, frame.start, frame.end, frame.tid, None, 50003)


def _add_calls(rows: _Rows, ids: Iterator[int], calls: Iterable[HostCall], collections: Iterable[tuple[int, int, int]]) -> None:
    for call in calls:
        rows.add("CANN_API", call.start, call.end, call.type, call.tid, next(ids), rows.text(call.name))
    for collection in collections:
        rows.add("GC_RECORD", *collection)


def edit(path: Path, sql: str) -> None:
    """Run SQL statements on a database, to make it what an older writer or another tool left."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(_UNSAFE + sql)


def write_chip(
    folder: Path, cores: int | str = 24, clock_mhz: int | str = 1800, device: int = 0, vector_cores: int | None = None
) -> None:
    """Write info.json of a device, as the collector leaves it; old ones do not have the vector cores."""
    place = folder / "PROF_000001_20260101000000000_ABCDEFGH" / f"device_{device}"
    place.mkdir(parents=True, exist_ok=True)
    chip = {"DeviceInfo": [{"id": device, "ai_core_num": cores, "aic_frequency": str(clock_mhz)}]}
    if vector_cores is not None:
        chip["DeviceInfo"][0]["aiv_num"] = vector_cores
    (place / f"info.json.{device}").write_text(json.dumps(chip), encoding="utf-8")
