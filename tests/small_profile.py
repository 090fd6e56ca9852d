"""Writes a small `*_ascend_pt` folder from what a test says in a few lines: ranges, ops, and the kernels they launched."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

DATABASE = "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_{rank}.db"

_SCHEMA = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
    sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER);
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,
    globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER,
    taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
    outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER);
CREATE TABLE COMMUNICATION_SCHEDULE_TASK_INFO (name INTEGER, globalTaskId INTEGER PRIMARY KEY, taskType INTEGER,
    opType INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,
    opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC, opType INTEGER);
CREATE TABLE MSTX_EVENTS (startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
    message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
"""


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name and times; kind compute, communication (the name is its type) or schedule."""

    name: str
    start: int
    end: int
    kind: str = "compute"
    device: int = 0


@dataclass(frozen=True)
class Op:
    """A framework op and what it launched. `backward_of` is the position of its forward op in the list of ops."""

    name: str
    start: int
    end: int
    kernels: tuple[Kernel, ...] = ()
    tid: int = 1
    backward_of: int | None = None


@dataclass(frozen=True)
class Range:
    """An mstx range."""

    name: str
    start: int
    end: int
    tid: int = 1
    domain: str = "Module"
    event_type: int = 2


@dataclass
class _Rows:
    texts: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[tuple[object, ...]]] = field(default_factory=dict)

    def text(self, value: str) -> int:
        return self.texts.setdefault(value, len(self.texts))

    def add(self, table: str, *row: object) -> None:
        self.tables.setdefault(table, []).append(row)


def write_profile(
    folder: Path,
    ops: Iterable[Op] = (),
    ranges: Iterable[Range] = (),
    unlinked: Iterable[Kernel] = (),
    steps: Iterable[tuple[int, int, int]] = (),
    rank: int | None = 0,
) -> Path:
    """Write the folder and give the path of its database."""
    rows, launches, tasks = _Rows(), iter(range(5000, 10**6)), iter(range(10**6))

    def add_kernel(kernel: Kernel, launch: int) -> None:
        name, task = rows.text(kernel.name), next(tasks)
        if kernel.kind == "communication":
            op_name = rows.text(f"{kernel.name}_904_{task}_1")
            rows.add("COMMUNICATION_OP", op_name, kernel.start, kernel.end, launch, 0, task, 0, 0, 4, 0, 1, name)
            return
        no_graph = 4294967295
        rows.add("TASK", kernel.start, kernel.end, kernel.device, launch, task, 1, name, no_graph, 2, task, no_graph)
        if kernel.kind == "schedule":
            rows.add("COMMUNICATION_SCHEDULE_TASK_INFO", name, task, rows.text("AI_CPU"), name)
        else:
            shapes, types, nd = rows.text('"16,16;16,16"'), rows.text("FLOAT16;FLOAT16"), rows.text("ND;ND")
            core = rows.text("AI_CORE")
            rows.add("COMPUTE_TASK_INFO", name, task, 20, 0, core, rows.text("MatMulV3"), nd, types, shapes, nd, types, shapes)

    ops = list(ops)
    pair_value = {op.backward_of: 1342178000 + n for n, op in enumerate(ops) if op.backward_of is not None}
    for group, op in enumerate(ops):
        is_backward = op.backward_of is not None
        row = (str(op.start), str(op.end), op.tid, group, rows.text(op.name), -1, int(is_backward), None, None, None, 50001)
        rows.add("PYTORCH_API", *row)
        for kernel in op.kernels:
            launch = next(launches)
            add_kernel(kernel, launch)
            rows.add("CONNECTION_IDS", group, launch)
        for forward, value in pair_value.items():
            if forward in (group, op.backward_of):
                rows.add("CONNECTION_IDS", group, value)
    for kernel in unlinked:
        add_kernel(kernel, -1)
    for number, one in enumerate(ranges):
        message, domain = rows.text(one.name), rows.text(one.domain)
        none, mark = 4294967295, 4000000001 + number
        rows.add("MSTX_EVENTS", one.start, one.end, one.event_type, none, none, message, one.tid, one.tid, domain, mark)
    for step in steps:
        rows.add("STEP_TIME", *step)
    for text, text_id in rows.texts.items():
        rows.add("STRING_IDS", text_id, text)
    path = folder / DATABASE.format(rank=rank) if rank is not None else folder / DATABASE.format(rank="").replace("_.db", ".db")
    path.parent.mkdir(parents=True)
    edit(path, _SCHEMA)
    with closing(sqlite3.connect(path)) as database, database:
        for table, values in rows.tables.items():
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    return path


def edit(path: Path, sql: str) -> None:
    """Run SQL statements on a database, to make it what an older writer or another tool left."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(sql)
