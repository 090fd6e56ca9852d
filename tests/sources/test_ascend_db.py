"""The profiler database: in all its versions: what can be said is said, exactly."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from prof_analysis import InputError, open_profile
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.ascend_db import (
    ALL_OUTSIDE,
    CUT,
    HAND_OVERS,
    NO_LAUNCH,
    NOW,
    PLACES,
    STATISTIC,
    UNLINKED,
    WHOLE,
    WHOLE_PLACES,
    Rows,
    ask,
    ask_all,
    retype,
    training,
)
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, Queue, Range, edit, write_profile

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")


def test_a_whole_database_is_answered_without_a_warning(tmp_path: Path) -> None:
    path = training(tmp_path)
    assert ask_all(path, STATISTIC, PLACES) == ([WHOLE, WHOLE_PLACES], [])


@pytest.mark.slow
def test_every_time_is_exact_to_the_nanosecond(tmp_path: Path) -> None:
    path = training(tmp_path)
    kernels = "SELECT start_ns, end_ns FROM trace.kernel ORDER BY start_ns, end_ns"
    ranges, steps = "SELECT start_ns, end_ns FROM trace.range", "SELECT step_id, start_ns, end_ns FROM trace.step"
    assert ask_all(path, kernels, ranges, steps) == (
        [
            [(NOW, NOW + 9), (NOW + 100, NOW + 201), (NOW + 300, NOW + 307), (NOW + 300, NOW + 450), (NOW + 500, NOW + 703)],
            [(NOW - 10, NOW + 40), (NOW - 1, NOW + 15)],
            [(0, NOW - 20, NOW + 80)],
        ],
        [],
    )


MSPROF = ("no PYTORCH_API", "msprof or MindSpore", "CPU activity", "no ops", "no modules")


NO_LINKS = ("no CONNECTION_IDS", "torch_npu up to 2.7.1.post2 with mstx", "link to no op", "parse", "newer torch_npu")


NO_KERNELS = ("no table of kernels", "without NPU activity", "nothing ran")


ALL_UNLINKED = [
    ("compute", UNLINKED, CUT, 2, 304),
    ("compute", UNLINKED, NO_LAUNCH, 1, 9),
    ("communication", UNLINKED, CUT, 1, 150),
    ("schedule", UNLINKED, CUT, 1, 7),
]


@pytest.mark.parametrize(
    ("tables", "places", "warnings"),
    quick(
        [
            ("PYTORCH_API", ALL_UNLINKED, [says(*MSPROF)]),
            ("CONNECTION_IDS", ALL_UNLINKED, [says(*NO_LINKS)]),
            ("MSTX_EVENTS", ALL_OUTSIDE, []),
            ("STEP_TIME", WHOLE_PLACES, []),
            ("COMPUTE_TASK_INFO", WHOLE_PLACES[2:], []),
            ("COMMUNICATION_OP", [*WHOLE_PLACES[:2], WHOLE_PLACES[3]], []),
            ("COMMUNICATION_SCHEDULE_TASK_INFO", WHOLE_PLACES[:3], []),
            ("TASK", [WHOLE_PLACES[2]], []),
            ("COMPUTE_TASK_INFO COMMUNICATION_OP COMMUNICATION_SCHEDULE_TASK_INFO", [], [says(*NO_KERNELS)]),
        ],
        2,
        5,
    ),
)
def test_a_missing_table_leaves_what_the_others_say(tmp_path: Path, tables: str, places: Rows, warnings: list[str]) -> None:
    path = training(tmp_path)
    edit(path, "; ".join(f"DROP TABLE {table}" for table in tables.split()))
    assert ask(path, PLACES) == (places, warnings)


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ("PYTORCH_API", MSPROF),
        ("CONNECTION_IDS", NO_LINKS),
        (
            "MSTX_EVENTS",
            ("no module ranges", "mark", "the domain Module", "mstx=True", "with_modules=True"),
        ),
        ("STRING_IDS", ("no STRING_IDS", "cut off", "nothing has a name", "parse", "again")),
        ("COMPUTE_TASK_INFO COMMUNICATION_OP COMMUNICATION_SCHEDULE_TASK_INFO", NO_KERNELS),
    ],
)
def test_module_stats_say_why_there_are_none(tmp_path: Path, tables: str, reason: tuple[str, ...]) -> None:
    path = training(tmp_path)
    edit(path, "; ".join(f"DROP TABLE {table}" for table in tables.split()))
    with open_profile(tmp_path) as profile, pytest.raises(InputError) as raised:
        profile.module_stats()
    assert str(raised.value) == says(tmp_path, "no rank can answer", *reason)


def test_kernels_whose_times_are_missing_are_said(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "DELETE FROM TASK WHERE globalTaskId IN (0, 2)")
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside") == (
        [("kernels", says("no task", "their description"), 2)],
        [says("kernels set aside", "no task", "their description", 2)],
    )
    edit(path, "DROP TABLE TASK")
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside")[0] == [
        ("kernels", says("no task", "their description"), 4)
    ]


@pytest.mark.parametrize(
    "change",
    quick(
        [
            pytest.param("SELECT 1", id="blockNum, since 2026"),
            pytest.param(
                "ALTER TABLE COMPUTE_TASK_INFO RENAME blockNum TO blockDim;"
                "ALTER TABLE COMPUTE_TASK_INFO RENAME mixBlockNum TO mixBlockDim",
                id="blockDim, before 2026",
            ),
            pytest.param(
                "ALTER TABLE COMPUTE_TASK_INFO ADD blockDim INTEGER; UPDATE COMPUTE_TASK_INFO SET blockDim = 3",
                id="the new text column blockDim beside blockNum",
            ),
        ],
        1,
        2,
    ),
)
def test_cores_used_have_one_name(tmp_path: Path, change: str) -> None:
    path = training(tmp_path)
    edit(path, f"UPDATE COMPUTE_TASK_INFO SET blockNum = 24, mixBlockNum = 48; {change}")
    cores = "SELECT kernel_id, block_num, mix_block_num FROM trace.kernel WHERE kind = 'compute' ORDER BY ALL"
    assert [row[1:] for row in ask(path, cores)[0]] == [(24, 48)] * 3


def test_cores_used_are_unknown_where_no_column_says_them(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "ALTER TABLE COMPUTE_TASK_INFO DROP blockNum; ALTER TABLE COMPUTE_TASK_INFO DROP mixBlockNum")
    cores = "SELECT block_num, mix_block_num FROM trace.kernel WHERE kind = 'compute'"
    assert ask(path, cores) == ([(None, None)] * 3, [])


@pytest.mark.parametrize(("types", "shapes"), quick([(800, 801), (801, 800)], 1), ids=["as named", "swapped, schema 1.0.0"])
def test_op_shapes_and_types_are_told_apart_by_what_they_hold(tmp_path: Path, types: int, shapes: int) -> None:
    path = training(tmp_path)
    edit(
        path,
        "INSERT INTO STRING_IDS VALUES (800, 'float;c10::BFloat16;'), (801, '16,32;32,8;'), (802, '');"
        f"UPDATE PYTORCH_API SET inputDtypes = {types}, inputShapes = {shapes} WHERE rowid = 1;"
        "UPDATE PYTORCH_API SET inputDtypes = 802, inputShapes = 802 WHERE rowid = 2",
    )
    query = "SELECT name, input_shapes, input_types FROM trace.op ORDER BY start_ns LIMIT 1"
    assert ask(path, query) == ([("aten::mm", "16,32;32,8;", "float;c10::BFloat16;")], [])


@pytest.mark.parametrize("inner_first", quick([True, False], 1))
def test_a_launch_that_two_ops_name_is_of_the_inner_one_only(tmp_path: Path, inner_first: bool) -> None:
    kernels = (Kernel("MatMul", 500, 510),)
    inner, outer = Op("aten::mm", 110, 120, kernels), Op("aten::linear", 105, 130)
    path = write_profile(tmp_path, [inner, outer] if inner_first else [outer, inner], [Range("Net", 100, 200)])
    edit(path, "INSERT INTO CONNECTION_IDS SELECT 1 - id, connectionId FROM CONNECTION_IDS")
    assert ask_all(path, STATISTIC, "SELECT module, calls FROM module.tree") == (
        [[("", "Net", "aten::mm", "MatMul", 10, 10.0, 1, "aten::linear > aten::mm")], [("Net", 1)]],
        [],
    )  # two ops of a launch are no backward


@pytest.mark.slow
def test_a_launch_of_several_kernels_counts_each(tmp_path: Path) -> None:
    ops = [Op("mm", 110, 120, (Kernel("first", 500, 510), Kernel("second", 520, 525)))]
    path = write_profile(tmp_path, ops, [Range("Net", 100, 200)])
    edit(path, "UPDATE TASK SET connectionId = 5000; DELETE FROM CONNECTION_IDS WHERE connectionId <> 5000")
    assert ask(path, STATISTIC) == ([("", "Net", "mm", "first, second", 15, 15.0, 1, "mm")], [])


@pytest.mark.slow
def test_a_hand_over_between_threads_is_no_backward(tmp_path: Path) -> None:
    """Enqueue and dequeue share a value too, as forward and backward do."""
    path = training(tmp_path)
    edit(
        path,
        HAND_OVERS + "INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES"
        " ('1700000000000000600', '1700000000000000700', 3, 71, 900, 50002);"
        "INSERT INTO CONNECTION_IDS VALUES (70, 1342177288), (71, 1342177288)",
    )
    names = """
        SELECT forward.name AS forward_name, backward.name FROM trace.forward_backward
        JOIN trace.op AS forward ON forward.op_id = forward_op_id JOIN trace.op AS backward ON backward.op_id = backward_op_id
    """
    assert ask(path, names) == ([("aten::mm", "MmBackward0")], [])


QUEUED = [Queue(7, (105, 106), (200, 220)), Queue(8, (107, 108), (220, 240), dequeue_tid=6)]


def test_hand_overs_and_host_calls_come_as_the_file_has_them(tmp_path: Path) -> None:
    launches = [Launch(205, 206, (Kernel("MatMul", 500, 510),), tid=5), Launch(225, 226, (), tid=6)]
    path = write_profile(tmp_path, [Op("aten::mm", 100, 120)], queues=QUEUED, launches=launches)
    assert ask(path, "SELECT * EXCLUDE (profile, rank_id) FROM trace.queue") == (
        [(1342177287, 1, 105, 106, 5, 200, 220), (1342177288, 1, 107, 108, 6, 220, 240)],
        [],
    )
    assert ask(path, "SELECT tid FROM trace.queue_thread") == ([(5,), (6,)], [])
    assert ask(path, "SELECT launch_id, tid, start_ns, end_ns FROM trace.launch") == (
        [(5000, 5, 205, 206), (5001, 6, 225, 226)],
        [],
    )
    assert ask(path, "SELECT name FROM trace.op") == ([("aten::mm",)], [])


def test_a_hand_over_without_its_other_end_or_its_times_is_none(tmp_path: Path) -> None:
    path = write_profile(tmp_path, [Op("aten::mm", 100, 120)], queues=QUEUED)
    edit(
        path,
        "DELETE FROM PYTORCH_API WHERE startNs = '105' AND type = 50002;"
        "UPDATE PYTORCH_API SET endNs = '1' WHERE startNs = '220'",
    )
    assert ask(path, "SELECT queue_id FROM trace.queue")[0] == []
    assert ask(path, "SELECT tid FROM trace.queue_thread")[0] == [(5,), (6,)]


@pytest.mark.parametrize("key", ["rowid", "startNs"])
def test_an_op_is_found_wherever_its_only_row_is(tmp_path: Path, key: str) -> None:
    """Among 9,000 hand-overs, and in a table whose row ids are no numbers of rows."""
    path = write_profile(tmp_path, [Op("aten::mm", 100, 120)])
    with closing(sqlite3.connect(path)) as database, database:
        row = "INSERT INTO PYTORCH_API (rowid, startNs, endNs, globalTid, type) VALUES (?, ?, ?, 5, 50002)"
        database.execute("UPDATE PYTORCH_API SET rowid = 5015")
        database.executemany(row, [(n, f"1{n}", f"1{n}") for n in range(1000, 10_001) if n != 5015])
    if key != "rowid":
        retype(path, "PYTORCH_API", "startNs TEXT PRIMARY KEY, endNs, globalTid, name, sequenceNumber, fwdThreadId, type")
    (rank,) = find_ranks(tmp_path)
    assert "ops" not in dict(rank.lacks)
    edit(path, "DELETE FROM PYTORCH_API WHERE startNs = '100'")
    (rank,) = find_ranks(tmp_path)
    assert "ops" in dict(rank.lacks)


@pytest.mark.parametrize("tid", quick([5, 6, 99, None, "odd"], 2, 4))
def test_a_queue_thread_is_found_wherever_its_only_row_is(tmp_path: Path, tid: object) -> None:
    """Among 10,000 rows of others; beside an op, which stays the only one, with its number."""
    path = write_profile(tmp_path, [Op("aten::mm", 100, 120)], queues=QUEUED)
    with closing(sqlite3.connect(path)) as database, database:
        ((name,),) = database.execute("SELECT DISTINCT name FROM PYTORCH_API WHERE globalTid = 5 AND type = 50002").fetchall()
        row = "INSERT INTO PYTORCH_API (rowid, startNs, endNs, globalTid, name, type) VALUES (?, ?, ?, ?, ?, 50002)"
        rows = [(n, str(n), str(n), tid if n == 5015 else 5, name) for n in range(10, 10_010)]
        database.executemany(row, rows)
    warnings = [says("1 value", "PYTORCH_API.globalTid", "not of type BIGINT", "unknown")] if tid == "odd" else []
    threads = [(5,), (6,), (99,)] if tid == 99 else [(5,), (6,)]
    answers = ask_all(path, "SELECT tid FROM trace.queue_thread", "SELECT op_id, name FROM trace.op")
    assert answers == ([threads, [(1, "aten::mm")]], warnings)


def test_host_calls_are_read_only_where_a_link_is_doubtful(tmp_path: Path) -> None:
    """A broken value among them is said exactly when they are read."""
    queues = [Queue(7, (105, 106), (200, 220))]
    launches = [Launch(205, 206, (Kernel("MatMul", 500, 510),), tid=5, recorded_op=0)]
    path = write_profile(tmp_path, [Op("aten::mm", 100, 120)], [Range("Net", 90, 150)], queues=queues, launches=launches)
    edit(path, "INSERT INTO CANN_API VALUES ('soon', 9, 10000, 5, 6000, 0), (9, 1, 10000, 5, 6001, 0)")
    rows = [("", "Net", "aten::mm", "MatMul", 10, 10.0, 1, "aten::mm")]
    warning = says("1 value", "CANN_API.startNs", "not of type BIGINT", "unknown")
    assert ask(path, STATISTIC) == (rows, [])
    assert ask(path, "SELECT launch_id FROM trace.launch") == ([(5000,)], [warning])
    edit(path, "DELETE FROM CONNECTION_IDS WHERE connectionId = 5000")
    assert ask(path, STATISTIC) == (rows, [warning])


def test_the_class_of_a_traced_module_is_a_name_of_its_own(tmp_path: Path) -> None:
    """Also where another text of the profile is equal to it, and where two ids have one text."""
    frames = [
        Frame(f"nn.Module: {name}", 90, 150) for name in ("Linear_0", "Linear_1", "Linear", "Block_2_7", "_3", "aten::mm_0")
    ]
    path = write_profile(tmp_path, [Op("aten::mm", 100, 120)], frames=[*frames, Frame("linear.py(3): nn.Module: X_1", 90, 150)])
    edit(path, "INSERT INTO STRING_IDS SELECT id + 268435456, value FROM STRING_IDS")
    names = "SELECT recorded_name, name FROM trace.range WHERE origin = 'nn.Module' ORDER BY range_id"
    assert ask(path, names) == (
        [
            ("nn.Module: Linear_0", "Linear"),
            ("nn.Module: Linear_1", "Linear"),
            ("nn.Module: Linear", "Linear"),
            ("nn.Module: Block_2_7", "Block_2"),
            ("nn.Module: _3", "_3"),
            ("nn.Module: aten::mm_0", "aten::mm"),
        ],
        [],
    )
    assert ask(path, "SELECT text FROM trace.string GROUP BY text HAVING count(*) > 1") == ([], [])
