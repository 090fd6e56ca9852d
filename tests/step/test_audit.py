"""What the profiler itself worked out is held against what kernels give; where they differ, both figures are said."""

import csv
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, Profile, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.planes import Task, add_tasks
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, write_profile

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")

OUTPUT = "ASCEND_PROFILER_OUTPUT"
HEAD = "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Preparing"

# Purpose and size of the group, bytes and bandwidths: nothing recorded them.
SIZES = (None,) * 5


def rows(table: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values())[1:] for row in table.to_pylist()]


def step_trace(folder: Path, lines: Iterable[str]) -> Path:
    """A rank of which only step_trace_time.csv is left."""
    (folder / OUTPUT).mkdir(parents=True)
    (folder / OUTPUT / "step_trace_time.csv").write_text("\n".join([HEAD, *lines, ""]))
    return folder


def analysis_db(folder: Path, steps: Iterable[tuple[Any, ...]], operators: Iterable[tuple[Any, ...]] = ()) -> None:
    """An analysis.db with step, computing and communication in us; and name, group, ms and step of operators."""
    (folder / OUTPUT).mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / OUTPUT / "analysis.db")) as database, database:
        database.execute("CREATE TABLE StepTraceTime (step TEXT, computing NUMERIC, communication NUMERIC)")
        database.executemany("INSERT INTO StepTraceTime VALUES (?, ?, ?)", steps)
        if operators := list(operators):
            database.execute(
                "CREATE TABLE CommAnalyzerTime (hccl_op_name TEXT, group_name TEXT, elapse_time NUMERIC, step TEXT, type TEXT)"
            )
            database.executemany("INSERT INTO CommAnalyzerTime VALUES (?, ?, ?, ?, 'collective')", operators)


def cut(source: Path, folder: Path, names: Iterable[str], change: Any) -> Path:
    """A copy of the files of a rank, with the lines of kernel_details.csv as `change` leaves them."""
    (folder / OUTPUT).mkdir(parents=True)
    for name in names:
        shutil.copy(source / OUTPUT / name, folder / OUTPUT / name)
    head, *lines = (source / OUTPUT / "kernel_details.csv").read_text().splitlines(keepends=True)
    (folder / OUTPUT / "kernel_details.csv").write_text("".join([head, *change(lines)]))
    return folder


def warnings_of(profile: Profile) -> list[str]:
    build_at_once(profile, "step-time", "kernel-stats")
    profile.step_time()
    profile.kernel_stats()
    return [warning.partition(": ")[2] for warning in profile.warnings]


@pytest.mark.slow
def test_real_profiles_that_are_whole_agree_with_what_the_profiler_worked_out(realdata: Path) -> None:
    folders = ["alexnet_ddp_910b/db", "alexnet_ddp_910b/text", "alexnet_ddp_910a", "qwen3_0.6b_pp2dp2_910b"]
    audited, types = 0, 0
    for folder in folders:
        with open_profile(realdata / folder) as profile:
            profile.rows("FROM step.reported_audit, kernels.statistic_audit, step.time, kernels.statistic LIMIT 0")
            said = [warning for warning in warnings_of(profile) if " says " in warning or " counts " in warning]
            assert [warning for warning in said if "column run says which" not in warning] == [], folder
            audited += len(profile.rows("FROM step.reported_audit"))
            types += len(profile.rows("FROM kernels.statistic_audit"))
    assert (audited, types) == (2 * (4 + 4 + 2 + 2), 33 + 33 + 35 + 45)


@pytest.mark.slow
def test_lost_and_doubled_rows_of_kernel_details_are_told_by_the_files_beside_it(realdata: Path, tmp_path: Path) -> None:
    source = realdata / "alexnet_ddp_910b/text/level1/rank0_ascend_pt"
    beside = ("step_trace_time.csv", "op_statistic.csv")
    cut(source, tmp_path / "cut_ascend_pt", beside, lambda lines: lines[:22])
    cut(source, tmp_path / "doubled_ascend_pt", beside, lambda lines: lines + lines[50:52])
    cut(source, tmp_path / "lost_ascend_pt", beside[:1], lambda lines: lines[:100] + lines[101:])
    cut(source, tmp_path / "whole_ascend_pt", beside, lambda lines: lines)
    with open_profile(tmp_path) as profile:
        build_at_once(profile, "step-time", "kernel-stats")
        profile.step_time()
        profile.kernel_stats()
        found = [warning for warning in profile.warnings if "are missing" in warning]
        repeated = [warning for warning in profile.warnings if " repeat earlier ones" in warning]
        assert len(profile.rows("FROM step.reported_audit WHERE agrees")) == 5
        steps = profile.sql("FROM step.reported_audit WHERE NOT agrees", arrow=True)
    assert [(row["profile"], row["kind"]) for row in steps.to_pylist()] == [
        ("cut_ascend_pt", "communication"), ("cut_ascend_pt", "computing"), ("lost_ascend_pt", "computing")
    ]  # fmt: skip
    assert found == [
        says("cut_ascend_pt: ", "op_statistic.csv", "187 kernels of 8.873751 ms"),
        says("cut_ascend_pt: ", "step_trace_time.csv", "communication 105.991878 ms in 1 step"),
        says("cut_ascend_pt: ", "step_trace_time.csv", "computing 8.873756 ms in 1 step"),
        says("lost_ascend_pt: ", "step_trace_time.csv", "computing 8.873756 ms in 1 step"),
    ]
    assert repeated == [says(tmp_path / "doubled_ascend_pt" / OUTPUT, "2 rows of kernel_details.csv", "left out")]


@pytest.mark.slow
def test_kernels_that_are_missing_are_said_by_every_command_that_counts_them(realdata: Path, tmp_path: Path) -> None:
    source = realdata / "alexnet_ddp_910b/text/level1/rank0_ascend_pt"
    cut(source, tmp_path / "cut_ascend_pt", ("step_trace_time.csv",), lambda lines: lines[:22])
    cut(source, tmp_path / "whole_ascend_pt", ("step_trace_time.csv",), lambda lines: lines)
    for is_of_flops in (False, True):
        with open_profile(tmp_path) as profile:
            profile.mfu("kernel") if is_of_flops else profile.kernel_stats()
            assert [warning for warning in profile.warnings if " says " in warning] == [
                says(
                    "cut_ascend_pt: ",
                    "step_trace_time.csv",
                    "communication 105.991878 ms in 1 step",
                    "give 0.000000 ms",
                    "missing",
                ),
                says(
                    "cut_ascend_pt: ", "step_trace_time.csv", "computing 8.873756 ms in 1 step", "give 1.246042 ms", "missing"
                ),
            ]
            found = profile.table("kernels.step_audit", arrow=True).to_pylist()
    assert [list(row.values()) for row in found] == [
        ["cut_ascend_pt", None, "communication", "step_trace_time.csv", 1, 105_991_878, 0, False],
        ["cut_ascend_pt", None, "computing", "step_trace_time.csv", 1, 8_873_756, 1_246_042, False],
        ["whole_ascend_pt", None, "communication", "step_trace_time.csv", 1, 105_991_878, 105_991_876, True],
        ["whole_ascend_pt", None, "computing", "step_trace_time.csv", 1, 8_873_756, 8_873_737, True],
    ]


@pytest.mark.slow
def test_kernels_that_only_lack_their_type_are_not_missing(realdata: Path, tmp_path: Path) -> None:
    source = realdata / "alexnet_ddp_910b/text/level1/rank0_ascend_pt"
    cut(source, tmp_path / "cut_ascend_pt", ("op_statistic.csv", "trace_view.json"), lambda lines: lines[:22])
    with open_profile(tmp_path) as profile:
        assert [warning for warning in warnings_of(profile) if "are missing" in warning] == []
        held = profile.table("kernels.statistic", arrow=True).to_pylist()
        assert sum(row["kernel_count"] for row in held if row["kind"] == "compute") == 187


def test_op_statistic_in_every_column(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / OUTPUT
    output.mkdir(parents=True)
    with (output / "kernel_details.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)"])
        writer.writerows(
            ("k", type_, "AI_CORE", f"{1700000000000000 + n}.001", us)
            for n, (type_, us) in enumerate([("Add", "1.001"), ("Add", "2.002"), ("Mul", "3.000"), ("Cast", "0.007")])
        )
        writer.writerow(("hcom_allReduce__1_0_1", "hcom_allReduce_", "COMMUNICATION", "1700000000000100.001", "5"))
    lines = ["OP Type,Core Type,Count,Total Time(us)", "Add,AI_CORE,2,3.006", "Mul,AI_CORE,2,3.000", "Sub,AI_CORE,1,1.000", ""]
    (output / "op_statistic.csv").write_text("\n".join(lines))
    with open_profile(tmp_path) as profile:
        assert warnings_of(profile) == [
            says(
                "op_statistic.csv",
                "5 kernels of 0.007006 ms",
                "the profile has 3 of 0.006003 ms",
                "missing or recorded twice",
                "Sub differs most",
                "1 of 0.001000 ms there",
                "0 of 0.000000 ms here",
            )
        ]
        found = profile.table("kernels.statistic_audit", arrow=True)
    assert rows(found) == [
        (None, "Sub", 1, 0, 1000, 0, False),
        (None, "Add", 2, 2, 3006, 3003, True),
        (None, "Mul", 2, 1, 3000, 3000, False),
    ]


def steps_of(tmp_path: Path, recorded: Iterable[tuple[Any, ...]]) -> Profile:
    """Two steps, of which the second begins on the device while the first one runs, a kernel of no step, and analysis.db."""
    ops = [
        Op("one", 10, 20, (Kernel("a", 10_001, 20_000), Kernel("b", 30_000, 40_000))),
        Op("two", 110, 120, (Kernel("c", 35_000, 50_000), Kernel("hcom_send_", 60_000, 70_000, "communication"))),
    ]
    folder = tmp_path / "a_ascend_pt"
    database = write_profile(folder, ops, steps=[(1, 0, 100), (2, 100, 200)], unlinked=[Kernel("d", 80_000, 90_000)])
    # Nothing runs in a fifth of the operator.
    add_tasks(database, [
        Task(3, "Notify_Wait", 1, 60_000, 63_000), Task(3, "Memcpy", 1, 65_000, 70_000, link="HCCS"),
        Task(3, "Memcpy", 2, 64_999, 66_000, link="HCCS"), Task(3, "Notify_Wait", 2, 60_000, 62_999),
    ])  # fmt: skip
    analysis_db(folder, recorded)
    return open_profile(tmp_path)


@pytest.mark.slow
def test_communication_of_tasks_alone_agrees_with_its_operators_and_is_said(tmp_path: Path) -> None:
    with steps_of(tmp_path, [("1", "29.999", 0), ("2", 0, 8)]) as profile:
        found = profile.rows("SELECT * EXCLUDE (profile, rank_id, reason), reason IS NOT NULL FROM step.reported_audit")
    assert [tuple(row.values()) for row in found] == [
        ("communication", "analysis.db", 2, 8_000, 10_000, 10_000, -2_000, True, True),
        ("computing", "analysis.db", 2, 29_999, 29_999, 39_999, 0, True, False),
    ]


def test_step_times_of_the_profiler_in_every_column(tmp_path: Path) -> None:
    step_trace(tmp_path / "a_ascend_pt", ["7,1.5,2,0.25,2.25,4,7.5,0.5,0.125", "8,1,,,,,,,"])
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.step_time())
        assert profile.rows("FROM step.reported_audit") == []
    reason = says("profiler recorded no more", "no kernels")
    assert rows(found) == [
        (None, 7, 1500, 2250, 2000, 250, 4000, 7500, 500, 125, "profiler", *[None] * 5),
        (None, 8, 1000, *[None] * 7, "profiler", reason, *[None] * 4),
    ]
    with open_profile(tmp_path, step_id=8) as profile:
        assert [row["step_id"] for row in arrow_of(profile.step_time()).to_pylist()] == [8]
    with pytest.raises(InputError, match=says("no step 9", "the steps are 7, 8").pattern):
        open_profile(tmp_path, step_id=9)


@pytest.mark.slow
def test_a_folder_with_analysis_db_alone_answers_what_that_says(tmp_path: Path) -> None:
    analysis_db(tmp_path / "a_ascend_pt", [("3", 2, 1)], [("hcom_allReduce__1_0_1", "g", "0.004", "step3")])
    with open_profile(tmp_path) as profile:
        (found,) = arrow_of(profile.step_time()).to_pylist()
        operators = arrow_of(profile.communication_stats())
        answers = set(profile.ranks(arrow=True).to_pylist()[0]["answers"])
    assert (found["step_id"], found["computing_ns"], found["origin"]) == (3, 2000, "profiler")
    assert rows(operators) == [(None, "hcom_allReduce_", "g", 1, 4000, 4000.0, 4000, 4000, 4000, 4000, 1.0, "profiler", *SIZES)]
    assert answers == {"advise", "step-time", "communication-stats", "communication-time", "slow-ranks"}


@pytest.mark.slow
@pytest.mark.parametrize("form", quick(["analysis.db", "step_trace_time.csv"], 0))
def test_steps_of_several_devices_are_several_ranks(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "a_ascend_pt"
    if form == "analysis.db":
        analysis_db(folder, [(None, 1, 2)], [("hcom_allReduce__1_0_1", "g", "0.004", "step")])
        with closing(sqlite3.connect(folder / OUTPUT / form)) as database, database:
            database.execute("ALTER TABLE StepTraceTime ADD COLUMN deviceId INTEGER DEFAULT 0")
            for device in (1, 2, 3):
                database.execute("INSERT INTO StepTraceTime VALUES (NULL, ?, 2, ?)", (device + 1, device))
    else:
        lines = [f"{device},,{device + 1},2,0,2,4,7,0,1" for device in range(4)]
        step_trace(folder, lines)
        (folder / OUTPUT / form).write_text("\n".join([f"Device_id,{HEAD}", *lines, ""]))
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.step_time()).to_pylist()
        ranks = profile.ranks(arrow=True).to_pylist()
    assert [(row["profile"], row["computing_ns"], row["communication_ns"]) for row in found] == [
        (f"a_ascend_pt/device_{device}", 1000 * (device + 1), 2000) for device in range(4)
    ]
    # Nothing says of which device an operator is.
    assert [rank["answers"] for rank in ranks] == [["advise", "step-time", "slow-ranks"]] * 4


@pytest.mark.slow
def test_steps_of_other_devices_are_not_those_of_the_kernels(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt"
    write_profile(folder, [Op("aten::mul", 100, 200, (Kernel("Mul", 1000, 3000, device=1),))])
    analysis_db(folder, [(None, 9, 0)])
    with closing(sqlite3.connect(folder / OUTPUT / "analysis.db")) as database, database:
        database.execute("ALTER TABLE StepTraceTime ADD COLUMN deviceId INTEGER DEFAULT 0")
        database.execute("INSERT INTO StepTraceTime VALUES (NULL, 2, 0, 1)")
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT kind, step_count, recorded_ns, agrees FROM step.reported_audit ORDER BY kind")
    assert [tuple(row.values()) for row in found] == [("communication", 1, 0, True), ("computing", 1, 2000, True)]


@pytest.mark.slow
def test_operators_that_only_the_profiler_counted_stand_beside_those_of_kernels(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt"
    database = write_profile(folder, unlinked=[Kernel("hcom_send_", 100, 103, "communication", group="g")])
    with closing(sqlite3.connect(database)) as reader:
        ((name,),) = reader.execute("SELECT value FROM STRING_IDS JOIN COMMUNICATION_OP ON id = opName").fetchall()
    analysis_db(folder, [], [(name, "g", "0.009", "step"), ("hcom_send__1_7_1", "g", "0.001", "step")])
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.communication_stats())
    assert rows(found) == [
        (0, "hcom_send_", "g", 1, 1000, 1000.0, 1000, 1000, 1000, 1000, 1000 / 1003, "profiler", *SIZES),
        (0, "hcom_send_", "g", 1, 3, 3.0, 3, 3, 3, 3, 3 / 1003, "kernels", *SIZES),
    ]
