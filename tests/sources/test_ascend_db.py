"""The profiler database in all its versions, cut off, touched by other tools or broken: what can be said is said, exactly."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from prof_analysis.engine.tables import referenced_tables
from tests.helpers.asking import build_at_once
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, Queue, Range, edit, write_profile

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.errors.ProfAnalysisWarning")

Rows = list[tuple[Any, ...]]
NOW = 1_700_000_000_000_000_123  # a time in ns: float64 knows only every 256th
STATISTIC = "SELECT * EXCLUDE (profile, rank_id, avg_mfu) FROM module.statistic"
PLACES = "SELECT kind, location, reason, kernel_count, kernel_duration_ns FROM module.coverage WHERE kernel_count > 0"
INSIDE, OUTSIDE, UNLINKED = "inside modules", "outside modules", "linked to no op"
NOWHERE, NO_LAUNCH, CUT = "outside every module", "no host launch", "cut at the profile edge"


def ask(path: Path, query: str) -> tuple[Rows, list[str]]:
    """The answer of the profile that a database belongs to, and its warnings without the name of what they are about."""
    (rows,), warnings = ask_all(path, query)
    return rows, warnings


def ask_all(path: Path, *queries: str) -> tuple[list[Rows], list[str]]:
    """The same of several questions, in one go."""
    with open_profile(path.parent.parent) as profile:
        build_at_once(profile, *sorted({table for query in queries for table in referenced_tables(query)}))
        answers = [[tuple(row.values()) for row in profile.sql(query, arrow=True).to_pylist()] for query in queries]
        prefixes = (f"{path}: ", f"{path.parent.parent.name}: ")
        return answers, [warning.removeprefix(prefixes[0]).removeprefix(prefixes[1]) for warning in profile.warnings]


def training(folder: Path) -> Path:
    """A step of a module with a communication and a schedule kernel, its backward, and a kernel that no op launched."""
    ops = [
        Op("aten::mm", NOW, NOW + 10, (Kernel("MatMul", NOW + 100, NOW + 201),)),
        Op(
            "c10d::allreduce_",
            NOW + 20,
            NOW + 30,
            (
                Kernel("hcom_allReduce_", NOW + 300, NOW + 450, "communication"),
                Kernel("allReduceAicpuKernel", NOW + 300, NOW + 307, "schedule"),
            ),
        ),
        Op("MmBackward0", NOW + 60, NOW + 70, (Kernel("MatMulGrad", NOW + 500, NOW + 703),), tid=2, backward_of=0),
    ]
    ranges = [Range("Net", NOW - 10, NOW + 40), Range("Linear", NOW - 1, NOW + 15)]
    return write_profile(folder, ops, ranges, unlinked=[Kernel("Memset", NOW, NOW + 9)], steps=[(0, NOW - 20, NOW + 80)])


WHOLE: Rows = [
    ("Net", "Linear", "aten::mm", "MatMul", 101, 101.0, 1, "aten::mm"),
    ("", "Net", "c10d::allreduce_", "hcom_allReduce_, allReduceAicpuKernel", 157, 157.0, 1, "c10d::allreduce_"),
    ("Net", "[Backward]Linear", "MmBackward0", "MatMulGrad", 203, 203.0, 1, "MmBackward0"),
]
WHOLE_PLACES: Rows = [
    ("compute", INSIDE, None, 2, 304),
    ("compute", UNLINKED, NO_LAUNCH, 1, 9),
    ("communication", INSIDE, None, 1, 150),
    ("schedule", INSIDE, None, 1, 7),
]


def retype(path: Path, table: str, columns: str) -> None:
    """Make a table anew with these column declarations, rows as they are."""
    names = ", ".join(declaration.split()[0] for declaration in columns.split(","))
    edit(
        path,
        f"ALTER TABLE {table} RENAME TO old; CREATE TABLE {table} ({columns});"
        f"INSERT INTO {table} ({names}) SELECT {names} FROM old; DROP TABLE old",
    )


def test_a_whole_database_is_answered_without_a_warning(tmp_path: Path) -> None:
    path = training(tmp_path)
    assert ask_all(path, STATISTIC, PLACES) == ([WHOLE, WHOLE_PLACES], [])


@pytest.mark.parametrize("declared", quick(["INTEGER", "TEXT", "NUMERIC"], 0, 1))
def test_op_times_are_exact_as_text_and_as_numbers(tmp_path: Path, declared: str) -> None:
    path = training(tmp_path)
    retype(
        path,
        "PYTORCH_API",
        f"startNs {declared}, endNs {declared}, globalTid INTEGER, connectionId INTEGER, name INTEGER,"
        " sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, type INTEGER",
    )
    times = "SELECT start_ns, end_ns FROM trace.op ORDER BY start_ns"
    assert ask_all(path, times, STATISTIC) == ([[(NOW, NOW + 10), (NOW + 20, NOW + 30), (NOW + 60, NOW + 70)], WHOLE], [])


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


MSPROF = "no PYTORCH_API (written by msprof or MindSpore, or collected without CPU activity), so no ops, no modules"
NO_LINKS = (
    "no CONNECTION_IDS (a defect of torch_npu up to 2.7.1.post2 with mstx), so kernels link to no op; "
    "parse the profile again with a newer torch_npu"
)
NO_KERNELS = "no table of kernels (collected without NPU activity, or nothing ran on the device)"
ALL_UNLINKED = [
    ("compute", UNLINKED, CUT, 2, 304),
    ("compute", UNLINKED, NO_LAUNCH, 1, 9),
    ("communication", UNLINKED, CUT, 1, 150),
    ("schedule", UNLINKED, CUT, 1, 7),
]
ALL_OUTSIDE = [
    ("compute", OUTSIDE, NOWHERE, 2, 304),
    ("compute", UNLINKED, NO_LAUNCH, 1, 9),
    ("communication", OUTSIDE, NOWHERE, 1, 150),
    ("schedule", OUTSIDE, NOWHERE, 1, 7),
]


@pytest.mark.parametrize(
    ("tables", "places", "warnings"),
    quick(
        [
            ("PYTORCH_API", ALL_UNLINKED, [MSPROF]),
            ("CONNECTION_IDS", ALL_UNLINKED, [NO_LINKS]),
            ("MSTX_EVENTS", ALL_OUTSIDE, []),
            ("STEP_TIME", WHOLE_PLACES, []),
            ("COMPUTE_TASK_INFO", WHOLE_PLACES[2:], []),
            ("COMMUNICATION_OP", [*WHOLE_PLACES[:2], WHOLE_PLACES[3]], []),
            ("COMMUNICATION_SCHEDULE_TASK_INFO", WHOLE_PLACES[:3], []),
            ("TASK", [WHOLE_PLACES[2]], []),
            ("COMPUTE_TASK_INFO COMMUNICATION_OP COMMUNICATION_SCHEDULE_TASK_INFO", [], [NO_KERNELS]),
        ],
        0,
        2,
        5,
        8,
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
            "no module ranges; mark the modules with mstx ranges in the domain Module and collect with mstx=True, "
            "or collect with with_modules=True",
        ),
        ("STRING_IDS", "no STRING_IDS (its writer was cut off), so nothing has a name; parse the profile again"),
        ("COMPUTE_TASK_INFO COMMUNICATION_OP COMMUNICATION_SCHEDULE_TASK_INFO", NO_KERNELS),
    ],
)
def test_module_stats_say_why_there_are_none(tmp_path: Path, tables: str, reason: str) -> None:
    path = training(tmp_path)
    edit(path, "; ".join(f"DROP TABLE {table}" for table in tables.split()))
    with open_profile(tmp_path) as profile, pytest.raises(InputError) as raised:
        profile.module_stats()
    assert str(raised.value) == f"{tmp_path}: no rank can answer this: {reason}"


def test_kernels_whose_times_are_missing_are_said(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "DELETE FROM TASK WHERE globalTaskId IN (0, 2)")
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside") == (
        [("kernels", "no task on the device goes with their description", 2)],
        ["kernels set aside because no task on the device goes with their description: 2"],
    )
    edit(path, "DROP TABLE TASK")
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside")[0] == [
        ("kernels", "no task on the device goes with their description", 4)
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


HAND_OVERS = """
INSERT INTO STRING_IDS VALUES (900, 'Enqueue@aclnnMm'), (901, 'nn.Module: Linear_0');
INSERT INTO PYTORCH_API (startNs, endNs, globalTid, connectionId, name, type) VALUES
    ('1700000000000000124', '1700000000000000125', 1, 70, 900, 50002),
    ('1700000000000000124', '1700000000000000125', 1, NULL, 901, 50003);
INSERT INTO CONNECTION_IDS VALUES (70, 5000);
"""


@pytest.mark.parametrize("change", ["", "ALTER TABLE PYTORCH_API DROP COLUMN type"])
def test_hand_overs_and_python_frames_are_no_ops_with_and_without_the_type_column(tmp_path: Path, change: str) -> None:
    path = training(tmp_path)
    edit(path, HAND_OVERS + change)
    names = "SELECT name FROM trace.op ORDER BY start_ns"
    assert ask_all(path, names, STATISTIC) == ([[("aten::mm",), ("c10d::allreduce_",), ("MmBackward0",)], WHOLE], [])


def test_mstx_ops_are_ops(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "UPDATE PYTORCH_API SET type = 50004 WHERE rowid = 1")
    assert ask(path, STATISTIC) == (WHOLE, [])


@pytest.mark.parametrize(("types", "shapes"), [(800, 801), (801, 800)], ids=["as named", "swapped, schema 1.0.0"])
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
    assert ask(path, PLACES) == (
        [
            ("compute", UNLINKED, NO_LAUNCH, 3, 313),
            ("communication", UNLINKED, NO_LAUNCH, 1, 150),
            ("schedule", UNLINKED, NO_LAUNCH, 1, 7),
        ],
        [],
    )


def test_a_link_of_no_launch_links_nothing(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "INSERT INTO CONNECTION_IDS VALUES (0, -1), (0, NULL), (NULL, 5000), (NULL, NULL), (99, 5000)")
    assert ask(path, PLACES) == (WHOLE_PLACES, [])


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
        [],
    )
    assert ask(path, "SELECT name FROM trace.op ORDER BY start_ns LIMIT 1") == ([(None,)], [])


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


def test_tables_and_columns_of_other_tools_change_nothing(tmp_path: Path) -> None:
    path = training(tmp_path)
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
    assert ask(path, STATISTIC) == (WHOLE, [])


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


def test_columns_in_another_order_change_nothing(tmp_path: Path) -> None:
    path = training(tmp_path)
    retype(path, "CONNECTION_IDS", "connectionId INTEGER, id INTEGER")
    retype(path, "STEP_TIME", "endNs INTEGER, id INTEGER, startNs INTEGER")
    assert ask_all(path, STATISTIC, "SELECT step_id, start_ns, end_ns FROM trace.step") == (
        [WHOLE, [(0, NOW - 20, NOW + 80)]],
        [],
    )


def test_a_column_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "ALTER TABLE TASK DROP COLUMN streamId; ALTER TABLE COMPUTE_TASK_INFO DROP COLUMN opType")
    columns = "stream_id, coalesce(type = name, false) AS is_type_of_name, type_from"
    assert ask(path, f"SELECT DISTINCT {columns} FROM trace.kernel WHERE kind = 'compute'") == ([(None, True, "name")], [])
    assert ask(path, STATISTIC) == (WHOLE, [])


def test_views_named_like_known_tables_are_not_read(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(
        path,
        "ALTER TABLE COMMUNICATION_OP RENAME TO hidden; CREATE VIEW COMMUNICATION_OP AS SELECT * FROM hidden;"
        "DROP TABLE COMMUNICATION_SCHEDULE_TASK_INFO;"
        "CREATE VIEW COMMUNICATION_SCHEDULE_TASK_INFO AS SELECT * FROM nowhere",
    )
    assert ask(path, PLACES) == (WHOLE_PLACES[:2], [])


@pytest.mark.parametrize("odd", quick(["'soon'", "1.5", "x'00FF'", "'99999999999999999999'"], 0, 2))
def test_a_time_that_is_no_number_is_counted_and_its_kernel_set_aside(tmp_path: Path, odd: str) -> None:
    path = training(tmp_path)
    edit(path, f"UPDATE TASK SET startNs = {odd} WHERE globalTaskId = 0")
    with open_profile(tmp_path) as profile:
        profile.module_stats()
        places = [tuple(row.values()) for row in profile.rows(PLACES)]
        assert places == [("compute", INSIDE, None, 1, 203), *WHOLE_PLACES[1:]]
        assert profile.warnings == [
            f"{path}: 1 value of TASK.startNs is not of type BIGINT and is taken as unknown",
            f"{tmp_path.name}: kernels set aside because they have no time: 1",
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
            "1 value of COMPUTE_TASK_INFO.name is not of type BIGINT and is taken as unknown",
            "1 value of CONNECTION_IDS.connectionId is not of type BIGINT and is taken as unknown",
            "1 value of PYTORCH_API.globalTid is not of type BIGINT and is taken as unknown",
        ],
    )
    assert ask(path, PLACES)[0] == [
        ("compute", INSIDE, None, 1, 101),
        ("compute", OUTSIDE, NOWHERE, 1, 203),
        ("compute", UNLINKED, NO_LAUNCH, 1, 9),
        ("communication", INSIDE, None, 1, 150),
        ("schedule", UNLINKED, CUT, 1, 7),
    ]


def test_integral_reals_are_ids_and_times(tmp_path: Path) -> None:
    ops = [Op("mm", 110, 120, (Kernel("MatMul", 1000, 1010),))]
    path = write_profile(tmp_path, ops, [Range("Net", 100, 200)])
    retype(path, "CONNECTION_IDS", "id REAL, connectionId REAL")
    retype(path, "MSTX_EVENTS", "startNs REAL, endNs REAL, eventType REAL, message REAL, globalTid REAL, domainId REAL")
    assert ask(path, STATISTIC) == ([("", "Net", "mm", "MatMul", 10, 10.0, 1, "mm")], [])


def test_real_times_that_may_have_lost_digits_are_set_aside(tmp_path: Path) -> None:
    path = training(tmp_path)
    retype(path, "STEP_TIME", "id INTEGER, startNs REAL, endNs REAL")
    assert ask(path, "SELECT * FROM trace.step") == (
        [],
        [
            "1 value of STEP_TIME.startNs is not of type BIGINT and is taken as unknown",
            "1 value of STEP_TIME.endNs is not of type BIGINT and is taken as unknown",
        ],
    )


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
        ("intervals of the Overlap Analysis", "they end before they start", 1),
        ("intervals of the Overlap Analysis", "they have no time", 1),
        ("kernels", "they end before they start", 1),
        ("mstx marks", "they have no time", 1),
        ("mstx ranges", "they end before they start", 2),
        ("ops", "they end before they start", 1),
        ("ops", "they have no time", 2),
        ("steps", "they end before they start", 1),
    ]
    warnings = [f"{what} set aside because {reason}: {count}" for what, reason, count in aside]
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside") == (aside, warnings)
    assert ask(path, STATISTIC)[0] == WHOLE


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
        ("Python functions", "they end before they start", 1),
        ("calls into CANN", "they end before they start", 1),
        ("calls into CANN", "they have no time", 2),
        ("ends of the task queue", "they end before they start", 1),
        ("ends of the task queue", "they have no time", 1),
        ("garbage collections", "they end before they start", 1),
    ]
    warnings = [f"{what} set aside because {reason}: {count}" for what, reason, count in aside]
    assert ask(path, "SELECT what, reason, row_count FROM trace.set_aside_call") == (aside, warnings)


def test_links_and_texts_that_stand_twice_count_no_kernel_twice(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "INSERT INTO CONNECTION_IDS SELECT * FROM CONNECTION_IDS")
    retype(path, "STRING_IDS", "id INTEGER, value TEXT")
    edit(path, "INSERT INTO STRING_IDS SELECT * FROM STRING_IDS")
    assert ask_all(path, STATISTIC, PLACES) == ([WHOLE, WHOLE_PLACES], [])


def test_each_execution_of_a_task_is_a_kernel(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, f"INSERT INTO TASK SELECT {NOW + 800}, {NOW + 811}, deviceId, connectionId, globalTaskId, globalPid, taskType,"
               " contextId, streamId, taskId, modelId FROM TASK WHERE globalTaskId = 0")  # fmt: skip
    assert ask(path, STATISTIC)[0][0] == ("Net", "Linear", "aten::mm", "MatMul, MatMul", 112, 112.0, 1, "aten::mm")


def test_tasks_that_nothing_describes_are_no_kernels(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, f"INSERT INTO TASK (startNs, endNs, connectionId, globalTaskId) VALUES ({NOW}, {NOW + 500}, 5000, 12345)")
    assert ask(path, PLACES) == (WHOLE_PLACES, [])


@pytest.mark.parametrize("inner_first", [True, False])
def test_a_launch_that_two_ops_name_is_of_the_inner_one_only(tmp_path: Path, inner_first: bool) -> None:
    kernels = (Kernel("MatMul", 500, 510),)
    inner, outer = Op("aten::mm", 110, 120, kernels), Op("aten::linear", 105, 130)
    path = write_profile(tmp_path, [inner, outer] if inner_first else [outer, inner], [Range("Net", 100, 200)])
    edit(path, "INSERT INTO CONNECTION_IDS SELECT 1 - id, connectionId FROM CONNECTION_IDS")
    assert ask_all(path, STATISTIC, "SELECT module, calls FROM module.tree") == (
        [[("", "Net", "aten::mm", "MatMul", 10, 10.0, 1, "aten::linear > aten::mm")], [("Net", 1)]],
        [],
    )  # two ops of a launch are no backward


def test_a_launch_of_several_kernels_counts_each(tmp_path: Path) -> None:
    ops = [Op("mm", 110, 120, (Kernel("first", 500, 510), Kernel("second", 520, 525)))]
    path = write_profile(tmp_path, ops, [Range("Net", 100, 200)])
    edit(path, "UPDATE TASK SET connectionId = 5000; DELETE FROM CONNECTION_IDS WHERE connectionId <> 5000")
    assert ask(path, STATISTIC) == ([("", "Net", "mm", "first, second", 15, 15.0, 1, "mm")], [])


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


def test_host_calls_are_read_only_where_a_link_is_doubtful(tmp_path: Path) -> None:
    """A broken value among them is said exactly when they are read."""
    queues = [Queue(7, (105, 106), (200, 220))]
    launches = [Launch(205, 206, (Kernel("MatMul", 500, 510),), tid=5, recorded_op=0)]
    path = write_profile(tmp_path, [Op("aten::mm", 100, 120)], [Range("Net", 90, 150)], queues=queues, launches=launches)
    edit(path, "INSERT INTO CANN_API VALUES ('soon', 9, 10000, 5, 6000, 0), (9, 1, 10000, 5, 6001, 0)")
    rows = [("", "Net", "aten::mm", "MatMul", 10, 10.0, 1, "aten::mm")]
    warning = "1 value of CANN_API.startNs is not of type BIGINT and is taken as unknown"
    assert ask(path, STATISTIC) == (rows, [])
    assert ask(path, "SELECT launch_id FROM trace.launch") == ([(5000,)], [warning])
    edit(path, "DELETE FROM CONNECTION_IDS WHERE connectionId = 5000")
    assert ask(path, STATISTIC) == (rows, [warning])
    edit(path, "DROP TABLE CANN_API")
    assert ask(path, PLACES) == ([("compute", UNLINKED, CUT, 1, 10)], [])


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


def test_a_path_of_any_kind_gives_the_same_answer(tmp_path: Path) -> None:
    path = training(tmp_path / 'it\'s 100% "mine" #1 ?x=y & 训练 %25')
    assert ask(path, STATISTIC) == (WHOLE, [])


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


def test_a_database_without_texts_says_so_and_still_has_times(tmp_path: Path) -> None:
    path = training(tmp_path)
    edit(path, "DROP TABLE STRING_IDS")
    gap = "no STRING_IDS (its writer was cut off), so nothing has a name; parse the profile again"
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
    for _ in range(5):
        assert ask(copied, "SELECT parent_module, module FROM module.statistic") == (
            [("Renamed", "Linear"), ("", "Renamed"), ("Renamed", "[Backward]Linear")],
            [],
        )
    assert {file.name: hashlib.sha256(file.read_bytes()).digest() for file in copied.parent.iterdir()} == before


def test_an_id_with_two_texts_doubles_nothing(tmp_path: Path) -> None:
    path = training(tmp_path)
    columns = (
        "CREATE TABLE s AS SELECT * FROM STRING_IDS; DROP TABLE STRING_IDS; CREATE TABLE STRING_IDS (id INTEGER, value TEXT)"
    )
    edit(path, f"{columns}; INSERT INTO STRING_IDS SELECT * FROM s; INSERT INTO STRING_IDS SELECT id, value || '2' FROM s")
    assert ask(path, STATISTIC) == (WHOLE, [])
