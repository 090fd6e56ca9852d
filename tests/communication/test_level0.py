"""At Level0 a database names neither planes nor links of communication; its tasks still say what they do."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, edit, write_profile

NONE = 4294967295
TYPES = ("NOTIFY_WAIT", "NOTIFY_RECORD", "MEMCPY_ASYNC", "REDUCE_ASYNC_V2", "EVENT_RECORD", "N/A", "Notify Wait", "SDMA")

Task = tuple[str, int, int, int]

# Of the operator from 1000 to 2000: type, stream, start and end.
MAIN = [
    ("MEMCPY_ASYNC", 4, 1000, 1010),
    ("NOTIFY_RECORD", 4, 1010, 1011),
    ("NOTIFY_WAIT", 4, 1020, 1520),
    ("REDUCE_ASYNC_V2", 4, 1530, 1630),
    ("NOTIFY_WAIT", 4, 1640, 1940),
    ("MEMCPY_ASYNC", 4, 1950, 2000),
]
# 910A: the other streams of the operator, which COMMUNICATION_TASK_INFO leaves out.
BESIDE = [
    (type_, stream, start, end)
    for stream in (11, 12, 13)
    for type_, start, end in [
        ("NOTIFY_WAIT", 1100, 1200),
        ("MEMCPY_ASYNC", 1200, 1300),
        ("REDUCE_ASYNC_V2", 1300, 1400),
        ("NOTIFY_RECORD", 1400, 1401),
    ]
]


def write_level0(folder: Path, tasks: Iterable[Task], others: Iterable[Task] = (), rank: int = 0) -> Path:
    """An operator whose tasks have neither type nor plane, other tasks, and a compute kernel with a copy on its stream."""
    copy = Kernel("MEMCPY_ASYNC", 600, 650, "copy")
    reduce = Kernel("hcom_allReduce_", 1000, 2000, "communication", group="g")
    database = write_profile(folder, [Op("aten::mul", 100, 200, (Kernel("Mul", 500, 600), copy, reduce))], rank=rank)
    rows = [
        "CREATE TABLE COMMUNICATION_TASK_INFO (name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER,"
        " srcRank INTEGER, dstRank INTEGER, transportType INTEGER, size INTEGER, linkType INTEGER, opId INTEGER);"
    ]
    with closing(sqlite3.connect(database)) as reader:
        ((operator,),) = reader.execute("SELECT opId FROM COMMUNICATION_OP").fetchall()
        ids = dict(reader.execute("SELECT value, id FROM STRING_IDS").fetchall())
    for number, name in enumerate(TYPES, 9000):
        if name not in ids:
            ids[name] = number
            rows.append(f"INSERT INTO STRING_IDS VALUES ({number}, '{name}');")
    for number, (type_, stream, start, end) in enumerate([*tasks, *others], 7000):
        rows.append(
            f"INSERT INTO TASK VALUES ({start}, {end}, 0, -1, {number}, 1, {ids[type_]}, {NONE}, {stream}, {number}, {NONE});"
        )
        if number < 7000 + len(list(tasks)):
            cells = f"0, {number}, {ids['N/A']}, {NONE}, {NONE}, {NONE}, 65534, -1, 65534, {operator}"
            rows.append(f"INSERT INTO COMMUNICATION_TASK_INFO VALUES ({cells});")
    edit(database, "".join(rows))
    return database


def test_tasks_say_what_waits_and_transfers_by_their_types_and_what_operators_copy_is_no_copy(tmp_path: Path) -> None:
    # Copies on a stream that only copies, on one with events, and on one that notifies, but works when no operator runs.
    others = [
        ("MEMCPY_ASYNC", 20, 1100, 1200), ("MEMCPY_ASYNC", 21, 1100, 1200), ("EVENT_RECORD", 21, 1200, 1201),
        ("MEMCPY_ASYNC", 22, 1100, 1200), ("NOTIFY_WAIT", 22, 3000, 3001),
    ]  # fmt: skip
    database = write_level0(tmp_path / "a_ascend_pt", MAIN, [*BESIDE, *others])
    # A part of what an operator did at the end of the recording, where the operator itself is missing.
    edit(
        database,
        f"INSERT INTO TASK SELECT 5000, 5100, 0, -1, 8000, 1, taskType, {NONE}, 11, 1, {NONE} FROM TASK WHERE startNs = 600;",
    )
    write_level0(tmp_path / "b_ascend_pt", [("N/A", 4, 1000, 1500)], rank=1)
    with open_profile(tmp_path) as profile:
        split, unknown = profile.rows("FROM communication.time ORDER BY rank_id")
        copies = profile.rows(
            "SELECT stream_id, count(*) AS n, sum(duration_ns)::BIGINT AS ns FROM trace.copy WHERE rank_id = 0 GROUP BY ALL"
        )
    columns = ("transit_ns", "wait_ns", "synchronization_ns", "idle_ns", "size_bytes", "origin", "reason")
    assert tuple(split[column] for column in columns) == (160, 800, None, 40, None, "tasks", None)
    assert tuple(unknown[column] for column in columns[:-1]) == (None,) * 6
    assert unknown["reason"] == says("no plane", "profiler_level was Level0")
    assert sorted(tuple(row.values()) for row in copies) == [(2, 1, 50), (20, 1, 100), (21, 1, 100), (22, 1, 100)]


@pytest.mark.parametrize("level", ["level0", pytest.param("level1", marks=pytest.mark.slow)])
def test_streams_of_operators_added_to_a_real_profile_change_no_copy(realdata: Path, tmp_path: Path, level: str) -> None:
    """Real databases with the other streams of 910A: no copy is added."""
    source = realdata / "alexnet_ddp_910b" / "db" / level / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    folder = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir(parents=True)
    database = folder / "ascend_pytorch_profiler_0.db"
    database.write_bytes((source / database.name).read_bytes())
    with closing(sqlite3.connect(database)) as connection, connection:
        start, end = connection.execute("SELECT min(startNs), max(endNs) FROM COMMUNICATION_OP").fetchone()
        (copied,) = connection.execute(
            "SELECT sum(endNs - startNs) FROM TASK JOIN STRING_IDS ON id = taskType WHERE value = 'MEMCPY_ASYNC'"
        ).fetchone()
        types = dict(connection.execute("SELECT value, id FROM STRING_IDS").fetchall())
        for number, name in enumerate({"NOTIFY_WAIT", "NOTIFY_RECORD", "REDUCE_ASYNC_V2"} - types.keys(), 10**9):
            connection.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (number, name))
            types[name] = number
        pieces = ("NOTIFY_WAIT", "MEMCPY_ASYNC", "REDUCE_ASYNC_V2", "NOTIFY_RECORD")
        at = range(start, end - 1000, (end - start) // 56)
        for number, moment in enumerate(at):
            for stream in (11, 12, 13):
                task, type_ = 10**8 + 3 * number + stream, types[pieces[number % 4]]
                row = (moment, moment + 1000, 0, -1, task, type_, stream)
                columns = "startNs, endNs, deviceId, connectionId, globalTaskId, taskType, streamId"
                connection.execute(f"INSERT INTO TASK ({columns}) VALUES ({', '.join('?' * 7)})", row)
    with open_profile(tmp_path) as profile:
        ((found,),) = (row.values() for row in profile.rows("SELECT sum(duration_ns)::BIGINT AS ns FROM trace.copy"))
    assert found == copied


def test_a_task_that_marks_or_waits_or_copies_is_no_kernel_though_its_id_is_that_of_one(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt"
    events = ["EVENT_RECORD_SQE", "Notify Wait", "PROFILING_ENABLE", "PLACE_HOLDER_SQE", "MEMCPY_ASYNC"]
    database = write_profile(folder, [Op("aten::mul", 100, 200, (Kernel("Mul", 500, 600), Kernel("Add", 600, 700)))])
    rows = []
    for number, type_ in enumerate(events):
        rows.append(f"INSERT INTO STRING_IDS VALUES ({9000 + number}, '{type_}');")
        times = f"{1000 + 100 * number}, {1005 + 100 * number}"
        rows.append(f"INSERT INTO TASK VALUES ({times}, 0, -1, 0, 1, {9000 + number}, {NONE}, 2, 0, {NONE});")
    # Another execution of the kernel is one, and a description that only an event has is of none.
    rows.append(
        f"INSERT INTO TASK SELECT 2000, 2100, 0, -1, 0, 1, taskType, {NONE}, 2, 0, {NONE} FROM TASK WHERE startNs = 500;"
    )
    rows.append("UPDATE TASK SET taskType = 9000 WHERE startNs = 600;")
    edit(database, "".join(rows))
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT start_ns, kind FROM trace.kernel ORDER BY start_ns")
        aside = profile.rows("SELECT what, reason, row_count FROM trace.set_aside")
        copies = profile.rows("SELECT start_ns FROM trace.copy")
    assert [tuple(row.values()) for row in found] == [(500, "compute"), (2000, "compute")]
    assert [tuple(row.values()) for row in aside] == [("kernels", says("no task", "their description"), 1)]
    assert [row["start_ns"] for row in copies] == [1400]


@pytest.mark.slow
def test_what_the_profiler_counts_as_free_outside_all_kernels_is_no_difference(tmp_path: Path) -> None:
    """The profiler's own tasks, PROFILING_ENABLE and PLACE_HOLDER_SQE, begin and end it."""
    folder = tmp_path / "a_ascend_pt"
    database = write_profile(folder, [Op("aten::mul", 100, 200, (Kernel("Mul", 5000, 5600), Kernel("Mul", 5600, 5700)))])
    intervals = [(0, 5000, 5700), (3, 1000, 5000), (3, 5700, 9000)]
    edit(
        database,
        "CREATE TABLE OVERLAP_ANALYSIS (id INTEGER PRIMARY KEY, deviceId INTEGER, startNs NUMERIC, endNs NUMERIC, type);"
        + "".join(f"INSERT INTO OVERLAP_ANALYSIS VALUES (NULL, 0, {one[1]}, {one[2]}, {one[0]});" for one in intervals),
    )
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT kind, recorded_ns, kernels_ns, agrees FROM step.overlap_audit")
        profile.step_time()
        assert profile.warnings == []
    assert [tuple(row.values()) for row in found] == [("computing", 700, 700, True), ("free", 0, 0, True)]
    # What lies between kernels is still compared.
    edit(database, "INSERT INTO OVERLAP_ANALYSIS VALUES (NULL, 0, 5100, 5600, 3);")
    with open_profile(tmp_path) as profile:
        (free,) = profile.rows("SELECT recorded_ns, agrees FROM step.overlap_audit WHERE kind = 'free'")
    assert free == {"recorded_ns": 500, "agrees": False}


def write_text(folder: Path, tasks: Iterable[Task]) -> None:
    """A trace of Level0 with an operator from 1000 to 2000 ns after its begin, and tasks on streams of the device."""
    begin, hardware, communication = 1_736_407_068_000_000, (7 << 10) | (14 << 5), (7 << 10) | (16 << 5)

    def event(name: str, pid: int, tid: int, start: int, end: int, arguments: dict[str, object]) -> dict[str, object]:
        at = f"{begin + start // 1000}.{start % 1000:03}"
        return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": at, "dur": (end - start) / 1000, "args": arguments}

    def process(name: str, pid: int) -> dict[str, object]:
        return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}

    mul = {"Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": 1, "connection_id": 1}
    reduce = {"alg_type": "RING", "data_type": "FP32", "count": 250, "rank_size": 4, "connection_id": 2}
    group = {"ph": "M", "name": "thread_name", "pid": communication, "tid": 0, "args": {"name": "Group 0 Communication"}}
    events = [
        process("Ascend Hardware", hardware),
        process("Communication", communication),
        group,
        event("Mul1", hardware, 2, 500, 600, mul),
        event("hcom_allReduce__904_0_1", communication, 0, 1000, 2000, reduce),
    ]
    for number, (type_, stream, start, end) in enumerate(tasks):
        arguments = {"Task Type": type_, "Physic Stream Id": stream, "Task Id": number, "connection_id": -1}
        events.append(event(type_, hardware, stream, start, end, arguments))
    (folder / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    (folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text(json.dumps(events))


@pytest.mark.slow
def test_a_trace_says_the_same_of_waits_transfers_and_copies(tmp_path: Path) -> None:
    others = [
        ("MEMCPY_ASYNC", 2, 600, 650), ("MEMCPY_ASYNC", 20, 1100, 1200), ("MEMCPY_ASYNC", 22, 1100, 1200),
        ("NOTIFY_WAIT", 22, 3000, 3001), ("NOTIFY_WAIT", 23, 2500, 2600),
    ]  # fmt: skip
    write_text(tmp_path / "a_ascend_pt", [*MAIN, *BESIDE, *others])
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT stream_id, count(*) AS n, sum(duration_ns)::BIGINT AS ns FROM trace.copy GROUP BY ALL")
        (operator,) = profile.rows("FROM communication.time")
        (statistic,) = profile.rows("FROM communication.statistic")
    assert sorted(tuple(row.values()) for row in found) == [(2, 1, 50), (20, 1, 100), (22, 1, 100)]
    # All streams of the operator count: others transfer from 1200 to 1400, while the first one waits.
    columns = ("transit_ns", "wait_ns", "idle_ns", "origin", "reason")
    assert [operator[column] for column in columns] == [360, 600, 40, "tasks", None]
    assert [statistic[column] for column in ("size_bytes", "group_size", "algorithm_gb_s", "bus_gb_s")] == [1000, 4, 1.0, 1.5]


@pytest.mark.parametrize("has_operator", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_kernel_that_runs_for_an_operator_does_not_compute(tmp_path: Path, has_operator: bool) -> None:
    """A database describes it among compute kernels; where operators are missing, it is all that is known of them."""
    helpers = (Kernel("AivKernel", 1000, 1090, type="hcom_allReduce_"), Kernel("a", 1100, 1190, core="COMMUNICATION"))
    operators = (Kernel("hcom_allReduce_", 1000, 1200, "communication", group="g"),) if has_operator else ()
    write_profile(tmp_path / "a_ascend_pt", [Op("aten::mul", 100, 200, (Kernel("Mul", 500, 600), *helpers, *operators))])
    with open_profile(tmp_path) as profile:
        found = profile.rows(
            "SELECT kind, sum(duration_ns)::BIGINT AS ns FROM trace.kernel GROUP BY kind ORDER BY kind::VARCHAR"
        )
        (step,) = profile.rows("SELECT computing_ns, communication_ns FROM step.time")
    others = [("communication", 200), ("compute", 100), ("schedule", 180)]
    assert [tuple(row.values()) for row in found] == (others if has_operator else [("communication", 180), ("compute", 100)])
    assert step == {"computing_ns": 100, "communication_ns": 200 if has_operator else 180}
