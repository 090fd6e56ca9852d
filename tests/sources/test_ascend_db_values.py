"""The profiler database: odd values and rows of other tools lose themselves and nothing else."""

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.ascend_db import (
    ALL_OUTSIDE,
    CUT,
    HAND_OVERS,
    INSIDE,
    NO_LAUNCH,
    NOW,
    NOWHERE,
    OUTSIDE,
    PLACES,
    STATISTIC,
    UNLINKED,
    WHOLE,
    WHOLE_PLACES,
    ask,
    ask_all,
    retype,
    training,
)
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

BACKWARDS = says("end before", "start")

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")


def test_sentinel_numbers_are_unknown(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(
        path,
        "UPDATE TASK SET streamId = 4294967295, taskId = 4294967295, modelId = 4294967295, connectionId = -1;"
        "UPDATE COMMUNICATION_OP SET connectionId = -1; UPDATE PYTORCH_API SET sequenceNumber = -1",
    )
    kernels = "SELECT DISTINCT stream_id, task_id, model_id, launch_id FROM trace.kernel"
    assert ask_all(path, kernels, "SELECT DISTINCT sequence_number FROM trace.op") == (
        [[(None, None, None, None)], [(None,)]],
        [],
    )


def link_of_no_launch(path: Path) -> None:
    edit(path, "INSERT INTO CONNECTION_IDS VALUES (0, -1), (0, NULL), (NULL, 5000), (NULL, NULL), (99, 5000)")


def tables_and_columns_of_other_tools(path: Path) -> None:
    edit(
        path,
        """
        CREATE TABLE kernel (x); CREATE TABLE "raw.task" (x); CREATE TABLE "it's ""mine"" %" (x); CREATE TABLE "BLOB" (x BLOB);
        INSERT INTO "BLOB" VALUES (x'FF00');
        ALTER TABLE TASK ADD COLUMN row_id TEXT DEFAULT 'mine';
        ALTER TABLE PYTORCH_API ADD COLUMN "a b" BLOB; ALTER TABLE STRING_IDS ADD COLUMN text_id INTEGER DEFAULT 5;
        CREATE INDEX mine ON TASK (taskId); CREATE TRIGGER t AFTER INSERT ON TASK BEGIN SELECT 1; END;
        """,
    )


def columns_in_another_order(path: Path) -> None:
    retype(path, "CONNECTION_IDS", "connectionId INTEGER, id INTEGER")
    retype(path, "STEP_TIME", "endNs INTEGER, id INTEGER, startNs INTEGER")


def links_and_texts_twice(path: Path) -> None:
    edit(path, "INSERT INTO CONNECTION_IDS SELECT * FROM CONNECTION_IDS")
    retype(path, "STRING_IDS", "id INTEGER, value TEXT")
    edit(path, "INSERT INTO STRING_IDS SELECT * FROM STRING_IDS")


def ids_with_two_texts(path: Path) -> None:
    retype(path, "STRING_IDS", "id INTEGER, value TEXT")
    edit(path, "INSERT INTO STRING_IDS SELECT id, value || '2' FROM STRING_IDS")


def times_declared_as_numbers(path: Path) -> None:
    retype(
        path,
        "PYTORCH_API",
        "startNs NUMERIC, endNs NUMERIC, globalTid INTEGER, connectionId INTEGER, name INTEGER,"
        " sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, type INTEGER",
    )


def mstx_op(path: Path) -> None:
    edit(path, "UPDATE PYTORCH_API SET type = 50004 WHERE rowid = 1")


def hand_overs(path: Path) -> None:
    edit(path, HAND_OVERS)


def hand_overs_without_the_type_column(path: Path) -> None:
    edit(path, HAND_OVERS + "ALTER TABLE PYTORCH_API DROP COLUMN type")


def task_that_nothing_describes(path: Path) -> None:
    edit(path, f"INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId) VALUES ({NOW}, {NOW + 500}, 5000, 12345)")


HARMLESS = (
    link_of_no_launch, columns_in_another_order, times_declared_as_numbers, mstx_op, hand_overs_without_the_type_column,
    task_that_nothing_describes, links_and_texts_twice, ids_with_two_texts, tables_and_columns_of_other_tools,
)  # fmt: skip


@pytest.mark.parametrize(
    "changes", [HARMLESS, *(pytest.param((one,), marks=pytest.mark.slow) for one in (*HARMLESS, hand_overs))]
)
def test_what_is_harmless_changes_nothing(tmp_path: Path, changes: tuple[Callable[[Path], None], ...]) -> None:
    path = training(tmp_path / 'it\'s 100% "mine" #1 ?x=y & 训练 %25')
    for change in changes:
        change(path)
    steps = "SELECT step_id, start_ns, end_ns FROM trace.step"
    assert ask_all(path, STATISTIC, PLACES, steps) == ([WHOLE, WHOLE_PLACES, [(0, NOW - 20, NOW + 80)]], [])


def test_equal_texts_with_two_ids_are_one_name(tmp_path: Path) -> None:
    """The CANN part and the framework part of the writer number their texts each by themselves."""
    ops = [Op("aten::mm", start, start + 5, (Kernel("MatMul", start, start + 9),)) for start in (110, 210)]
    path = write_profile(tmp_path, ops, [Range("Net", 100, 150), Range("Net", 200, 250)])
    edit(
        path,
        """
        INSERT INTO STRING_IDS SELECT id + 268435456, value FROM STRING_IDS;
        UPDATE PYTORCH_API SET name = name + 268435456 WHERE startNs = '210';
        UPDATE MSTX_EVENTS SET message = message + 268435456, domainId = domainId + 268435456 WHERE startNs = 200;
        UPDATE COMPUTE_TASK_INFO SET name = name + 268435456, opType = opType + 268435456 WHERE globalTaskId = 1;
        """,
    )
    assert ask_all(path, STATISTIC, "SELECT module, calls FROM module.tree") == (
        [[("", "Net", "aten::mm", "MatMul", 18, 9.0, 2, "aten::mm")], [("Net", 2)]],
        [],
    )
    assert ask(path, "SELECT type, count(*) FROM module.kernel GROUP BY type") == ([("Mul", 2)], [])


def test_ids_without_a_text_lose_the_name_and_nothing_else(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "DELETE FROM STRING_IDS WHERE value IN ('aten::mm', 'MatMulGrad', 'Net')")
    assert ask(path, STATISTIC) == (
        [
            ("(name lost)", "Linear", None, "MatMul", 101, 101.0, 1, "(name lost)"),
            ("", "(name lost)", "c10d::allreduce_", "hcom_allReduce_, allReduceAicpuKernel", 157, 157.0, 1, "c10d::allreduce_"),
            ("(name lost)", "[Backward]Linear", "MmBackward0", "(name lost)", 203, 203.0, 1, "MmBackward0"),
        ],
        [
            says("1 row", "COMPUTE_TASK_INFO", "no known name", "STRING_IDS"),
            lost := says("1 row", "PYTORCH_API", "no known name", "STRING_IDS"),
            says("1 row", "MSTX_EVENTS", "no known message", "STRING_IDS"),
        ],
    )
    assert ask(path, "SELECT name FROM trace.op ORDER BY start_ns LIMIT 1") == ([(None,)], [lost])


@pytest.mark.slow
def test_ids_that_are_null_lose_the_name_and_nothing_else(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "UPDATE PYTORCH_API SET name = NULL; UPDATE COMPUTE_TASK_INFO SET name = NULL, opType = NULL")
    assert ask(path, STATISTIC) == (
        [
            ("Net", "Linear", None, "(name lost)", 101, 101.0, 1, "(name lost)"),
            ("", "Net", None, "hcom_allReduce_, allReduceAicpuKernel", 157, 157.0, 1, "(name lost)"),
            ("Net", "[Backward]Linear", None, "(name lost)", 203, 203.0, 1, "(name lost)"),
        ],
        [],
    )


def test_indexes_of_other_tools_do_not_number_rows_anew(tmp_path: Path) -> None:
    path = training(tmp_path)
    kernels = "SELECT kernel_id, start_ns FROM trace.kernel ORDER BY kernel_id"
    expected = ask(path, kernels)
    assert [len(expected[0]), expected[1]] == [5, []]
    edit(
        path, "CREATE INDEX mine ON TASK (startNs DESC, endNs, deviceId, connectionId, globalTaskId, streamId, taskId, modelId)"
    )
    with closing(sqlite3.connect(path)) as database:
        plan = database.execute("EXPLAIN QUERY PLAN SELECT startNs, endNs, globalTaskId FROM TASK").fetchall()
    assert "COVERING INDEX mine" in plan[0][3]
    assert ask(path, kernels) == expected


def test_a_column_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "ALTER TABLE TASK DROP COLUMN streamId; ALTER TABLE COMPUTE_TASK_INFO DROP COLUMN opType")
    columns = "stream_id, coalesce(type = name, false) AS is_type_of_name, type_from"
    assert ask(path, f"SELECT DISTINCT {columns} FROM trace.kernel WHERE kind = 'compute'") == ([(None, True, "name")], [])


def test_views_named_like_known_tables_are_not_read(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(
        path,
        "ALTER TABLE COMMUNICATION_OP RENAME TO hidden; CREATE VIEW COMMUNICATION_OP AS SELECT * FROM hidden;"
        "DROP TABLE COMMUNICATION_SCHEDULE_TASK_INFO;"
        "CREATE VIEW COMMUNICATION_SCHEDULE_TASK_INFO AS SELECT * FROM nowhere",
    )
    assert ask(path, PLACES) == (WHOLE_PLACES[:2], [])


@pytest.mark.parametrize("odd", quick(["'soon'", "1.5", "x'00FF'", "'99999999999999999999'"], 2))
def test_a_time_that_is_no_number_is_counted_and_its_kernel_set_aside(tmp_path: Path, odd: str) -> None:
    path = training(tmp_path)
    edit(path, f"UPDATE TASK SET startNs = {odd} WHERE globalTaskId = 0")
    with open_profile(tmp_path) as profile:
        profile.kernel_stats()
        places = [tuple(row.values()) for row in profile.rows(PLACES)]
        assert places == [("compute", INSIDE, None, 1, 203), *WHOLE_PLACES[1:]]
        assert profile.warnings == [
            says(path, "1 value", "TASK.startNs", "not of type BIGINT", "unknown"),
            says(tmp_path.name, "kernels set aside", "no time", 1),
        ]


def test_odd_ids_are_counted_by_table_and_column_and_the_other_rows_stay(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(
        path,
        "UPDATE COMPUTE_TASK_INFO SET name = 'MatMul' WHERE globalTaskId = 0;"
        "UPDATE CONNECTION_IDS SET connectionId = 'none' WHERE connectionId = 5002;"
        "UPDATE PYTORCH_API SET globalTid = 'main' WHERE rowid = 3",
    )
    assert ask(path, STATISTIC) == (
        [
            ("Net", "Linear", "aten::mm", "(name lost)", 101, 101.0, 1, "aten::mm"),
            ("", "Net", "c10d::allreduce_", "hcom_allReduce_", 150, 150.0, 1, "c10d::allreduce_"),
        ],
        [
            says("1 value", "COMPUTE_TASK_INFO.name", "not of type BIGINT", "unknown"),
            says("1 value", "CONNECTION_IDS.connectionId", "not of type BIGINT", "unknown"),
            says("1 value", "PYTORCH_API.globalTid", "not of type BIGINT", "unknown"),
        ],
    )
    assert ask(path, PLACES)[0] == [
        ("compute", INSIDE, None, 1, 101),
        ("compute", OUTSIDE, NOWHERE, 1, 203),
        ("compute", UNLINKED, NO_LAUNCH, 1, 9),
        ("communication", INSIDE, None, 1, 150),
        ("schedule", UNLINKED, CUT, 1, 7),
    ]


@pytest.mark.slow
def test_integral_reals_are_ids_and_times(tmp_path: Path) -> None:
    ops = [Op("mm", 110, 120, (Kernel("MatMul", 1000, 1010),))]
    path = write_profile(tmp_path, ops, [Range("Net", 100, 200)])
    retype(path, "CONNECTION_IDS", "id REAL, connectionId REAL")
    retype(path, "MSTX_EVENTS", "startNs REAL, endNs REAL, eventType REAL, message REAL, globalTid REAL, domainId REAL")
    assert ask(path, STATISTIC) == ([("", "Net", "mm", "MatMul", 10, 10.0, 1, "mm")], [])


@pytest.mark.slow
def test_real_times_that_may_have_lost_digits_are_set_aside(tmp_path: Path) -> None:
    path = training(tmp_path)
    retype(path, "STEP_TIME", "id INTEGER, startNs REAL, endNs REAL")
    assert ask(path, "SELECT * FROM trace.step") == (
        [],
        [
            says("1 value", "STEP_TIME.startNs", "not of type BIGINT", "unknown"),
            says("1 value", "STEP_TIME.endNs", "not of type BIGINT", "unknown"),
        ],
    )


@pytest.mark.slow
def test_names_that_are_not_utf8_keep_what_can_be_read(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "UPDATE STRING_IDS SET value = CAST(x'4EFF7465' AS TEXT) WHERE value = 'Net'")
    assert ask(path, STATISTIC) == (
        [
            ("N\ufffdte", "Linear", *WHOLE[0][2:]),
            ("", "N\ufffdte", *WHOLE[1][2:]),
            ("N\ufffdte", "[Backward]Linear", *WHOLE[2][2:]),
        ],
        [],
    )


def test_rows_that_end_before_they_start_or_have_no_time_are_set_aside_and_counted(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(
        path,
        """
        INSERT INTO PYTORCH_API (startNs, endNs, globalTid, name, sequenceNumber, type) VALUES
            ('20', '10', 1, 0, -1, 50001), (NULL, '10', 1, 0, -1, 50001), ('20', NULL, 1, 0, -1, 50001);
        INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, message, globalTid, domainId)
            SELECT endNs, startNs, eventType, message, globalTid, domainId FROM MSTX_EVENTS;
        INSERT INTO MSTX_EVENTS (startNs, endNs, eventType) VALUES (9, 1, 0), (9, 1, 3);
        INSERT INTO TASK (startNs, endNs, globalTaskId) VALUES (9, 1, 0), (9, 1, 777777);
        INSERT INTO COMMUNICATION_OP (opId, startNs, endNs) VALUES (99, NULL, NULL);
        INSERT INTO STEP_TIME VALUES (1, 9, 1);
        INSERT INTO MSTX_EVENTS (eventType) VALUES (0);
        CREATE TABLE OVERLAP_ANALYSIS (deviceId INTEGER, startNs INTEGER, endNs INTEGER, type INTEGER);
        INSERT INTO OVERLAP_ANALYSIS VALUES (0, 9, 1, 0), (0, NULL, 1, 3), (0, 1, 1, 9);
        """,
    )
    aside = [
        ("communication operators", "they have no time", 1),
        ("intervals of the Overlap Analysis", BACKWARDS, 1),
        ("intervals of the Overlap Analysis", "they have no time", 1),
        ("kernels", BACKWARDS, 1),
        ("mstx marks", "they have no time", 1),
        ("mstx ranges", BACKWARDS, 2),
        ("ops", BACKWARDS, 1),
        ("ops", "they have no time", 2),
        ("other tasks on the device", BACKWARDS, 1),
        ("steps", BACKWARDS, 1),
    ]
    warnings = [says(what, "set aside", reason, count) for what, reason, count in aside]
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside") == (aside, warnings)


def test_calls_that_end_before_they_start_or_have_no_time_are_set_aside_and_counted(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(
        path,
        """
        INSERT INTO STRING_IDS VALUES (900001, 'Enqueue@a'), (900002, 'Dequeue@a'), (900003, 'f');
        INSERT INTO PYTORCH_API (startNs, endNs, globalTid, name, type) VALUES
            ('20', '10', 1, 900001, 50002), ('20', NULL, 1, 900002, 50002), ('20', '10', 1, 900003, 50003);
        CREATE TABLE IF NOT EXISTS CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER,
            connectionId INTEGER PRIMARY KEY, name INTEGER);
        INSERT INTO CANN_API (startNs, endNs, type) VALUES (9, 1, 5000), (NULL, 1, 5000), (NULL, NULL, 5000);
        CREATE TABLE IF NOT EXISTS GC_RECORD (startNs INTEGER, endNs INTEGER, globalTid INTEGER);
        INSERT INTO GC_RECORD VALUES (9, 1, 1), (1, 1, 1);
        """,
    )
    aside = [
        ("Python functions", BACKWARDS, 1),
        ("calls into CANN", BACKWARDS, 1),
        ("calls into CANN", "they have no time", 2),
        ("ends of the task queue", BACKWARDS, 1),
        ("ends of the task queue", "they have no time", 1),
        ("garbage collections", BACKWARDS, 1),
    ]
    warnings = [says(what, "set aside", reason, count) for what, reason, count in aside]
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside_call") == (aside, warnings)


@pytest.mark.slow
def test_two_broken_files_beside_a_good_one_are_named_and_the_good_one_is_answered(tmp_path: Path) -> None:
    whole, truncated, other = (training(tmp_path / f"{name}_ascend_pt") for name in ("whole", "truncated", "other"))
    truncated.write_bytes(truncated.read_bytes()[: 5 * 4096])
    other.write_text("startNs,endNs\n")
    with open_profile(tmp_path) as profile:
        rows = profile.sql(STATISTIC, arrow=True).to_pylist()
        failures = sorted(profile.failures)
    assert whole.exists()
    assert [tuple(row.values()) for row in rows] == WHOLE
    assert [failure.partition(": not a readable SQLite database (")[0] for failure in failures] == [str(other), str(truncated)]


def test_what_stands_for_no_value_is_null_except_in_names(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "UPDATE STRING_IDS SET value = 'N/A' WHERE value = 'Mul'")
    assert ask(path, "SELECT DISTINCT type_from FROM trace.kernel WHERE kind = 'compute'") == ([("name",)], [])


@pytest.mark.slow
def test_a_database_without_texts_says_so_and_still_has_times(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "DROP TABLE STRING_IDS")
    gap = says("no STRING_IDS", "cut off", "nothing has a name", "parse", "again")
    assert ask(path, PLACES) == (ALL_OUTSIDE, [gap])


def test_rows_in_a_write_ahead_log_are_read_and_no_file_is_touched(tmp_path: Path) -> None:
    path = training(tmp_path / "profile")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("UPDATE STRING_IDS SET value = 'Renamed' WHERE value = 'Net'")
        writer.commit()
        shutil.copytree(tmp_path / "profile", tmp_path / "copy")
    copied = tmp_path / "copy" / path.relative_to(tmp_path / "profile")
    before = {file.name: hashlib.sha256(file.read_bytes()).digest() for file in copied.parent.iterdir()}
    assert f"{path.name}-wal" in before
    for _ in range(2):
        assert ask(copied, "SELECT name FROM trace.range ORDER BY start_ns") == ([("Renamed",), ("Linear",)], [])
    assert {file.name: hashlib.sha256(file.read_bytes()).digest() for file in copied.parent.iterdir()} == before


@pytest.mark.slow
def test_rows_whose_text_is_lost_are_counted(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "DELETE FROM STRING_IDS WHERE value IN ('MatMul', 'MatMulGrad', 'Net')")
    names, said = ask(path, "SELECT name, module FROM module.kernel WHERE kind = 'compute' ORDER BY start_ns")
    assert names == [("Memset", None), (None, "Linear"), (None, "[Backward]Linear")]
    assert said == [
        says("2 rows", "COMPUTE_TASK_INFO", "no known name", "STRING_IDS"),
        says("1 row", "MSTX_EVENTS", "no known message", "STRING_IDS"),
    ]
    edit(path, "UPDATE COMPUTE_TASK_INFO SET name = 4294967295; UPDATE MSTX_EVENTS SET message = NULL WHERE message = 0")
    assert not any("COMPUTE_TASK_INFO" in one for one in ask(path, STATISTIC)[1]), "where there was no text, none is lost"


def test_a_table_without_its_column_of_names_is_named(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "ALTER TABLE COMPUTE_TASK_INFO RENAME COLUMN name TO kernelName")
    names, said = ask(path, "SELECT DISTINCT name FROM trace.kernel WHERE kind = 'compute'")
    assert (names, said) == ([(None,)], [says("COMPUTE_TASK_INFO", "no column name", "all its rows")])
