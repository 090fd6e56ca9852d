"""Rows that a file holds twice, by damage or because files were merged, count once, and the answer says how many there were."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from prof_analysis.common.options import Source
from tests.helpers.asking import IDS, build_at_once
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

TABLES = (
    "kernels.statistic",
    "module.coverage",
    "module.statistic",
    "module.tree",
    "op.statistic",
    "step.time",
    "trace.kernel_metric",
)
COMMON = (
    "PYTORCH_API", "CONNECTION_IDS", "TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO", "COMMUNICATION_OP",
    "STRING_IDS", "MSTX_EVENTS", "STEP_TIME", "TASK_PMU_INFO", "RANK_DEVICE_MAP",
)  # fmt: skip


def answer(folder: Path, source: Source = "auto") -> tuple[dict[str, Any], list[str]]:
    """The tables without numbers of rows, and what was warned of without the place."""
    with open_profile(folder, source=source) as profile:
        build_at_once(profile, *TABLES)
        tables = {name: profile.table(name, arrow=True).to_pylist() for name in TABLES}
        assert profile.failures == []
        found = {name: [{k: v for k, v in row.items() if k not in IDS} for row in rows] for name, rows in tables.items()}
        return found, [warning.partition(": ")[2] for warning in profile.warnings]


def assert_whole(tables: dict[str, Any]) -> None:
    """Two tables that count kernels each in its own way agree, to the nanosecond."""
    counted = [(row["kernel_count"], row["total_ns"]) for row in tables["kernels.statistic"]]
    placed = [(row["kernel_count"], row["kernel_duration_ns"]) for row in tables["module.coverage"]]
    assert [sum(column) for column in zip(*counted, strict=True)] == [sum(column) for column in zip(*placed, strict=True)]


def repeat_rows(path: Path, tables: tuple[str, ...]) -> dict[str, int]:
    """Write the rows of tables a second time, which takes a table without a key; the number of rows of each."""
    rows = {}
    with closing(sqlite3.connect(path)) as database:
        for name in tables:
            (rows[name],) = database.execute(f"SELECT count(*) FROM {name}").fetchone()
            database.executescript(
                f"CREATE TABLE again AS SELECT * FROM {name}; INSERT INTO again SELECT * FROM {name};"
                f"DROP TABLE {name}; ALTER TABLE again RENAME TO {name}"
            )
    return rows


@pytest.mark.slow
def test_rows_that_a_database_holds_twice_count_once(tmp_path: Path) -> None:
    generate(tmp_path / "whole", Shape(steps=2, layers=1), ranks=1)
    shutil.copytree(tmp_path / "whole", tmp_path / "twice")
    rows = repeat_rows(next((tmp_path / "twice").rglob("*.db")), COMMON)
    whole, twice = answer(tmp_path / "whole"), answer(tmp_path / "twice")
    assert twice[0] == whole[0]
    assert_whole(twice[0])
    harmless = {"CONNECTION_IDS", "STRING_IDS", "RANK_DEVICE_MAP", "PYTORCH_API"}
    expected = [says(f"{rows[name]} rows of {name}", "repeat", "left out") for name in COMMON if name not in harmless]
    assert whole[1] == []
    assert [twice[1].count(one) for one in expected] == [1] * len(expected)
    assert [warning for warning in twice[1] if warning not in expected and "PYTORCH_API (" not in warning] == []


@pytest.mark.parametrize("again", quick(["COMPUTE_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO"], 1))
def test_a_task_that_is_described_in_two_ways_is_one_kernel(tmp_path: Path, again: str) -> None:
    """The first description counts; of the two tables that of compute kernels."""
    path = write_profile(tmp_path, [Op("mm", 10, 20, (Kernel("mm", 30, 40), Kernel("add", 40, 45)))], [Range("Net", 0, 100)])
    repeat_rows(path, ("COMPUTE_TASK_INFO",))
    edit(
        path,
        "DELETE FROM COMPUTE_TASK_INFO WHERE rowid > 2; INSERT INTO STRING_IDS VALUES (900, 'other');"
        f"INSERT INTO {again} (name, globalTaskId, taskType, opType) VALUES (900, 0, 900, 900)",
    )
    tables, warnings = answer(tmp_path)
    assert_whole(tables)
    assert [(row["kernel_list"], row["total_kernel_duration_ns"]) for row in tables["module.statistic"]] == [("mm, add", 15)]
    also = " (tasks of COMPUTE_TASK_INFO)" if again != "COMPUTE_TASK_INFO" else ""
    assert warnings == [says(f"1 row of {again}{also}", "repeats", "left out")]


@pytest.mark.slow
def test_equal_ops_and_ranges_of_two_threads_are_two(tmp_path: Path) -> None:
    ops = [Op("mm", 10, 20, (Kernel("mm", 30 + tid, 40 + tid),), tid) for tid in (1, 2)]
    write_profile(tmp_path, ops, [Range("Net", 0, 100, 1), Range("Net", 0, 100, 2)])
    tables, warnings = answer(tmp_path)
    assert [(row["module"], row["op_count"]) for row in tables["module.statistic"]] == [("Net", 2)]
    assert warnings == []


@pytest.mark.slow
def test_rows_and_events_that_text_exports_hold_twice_count_once(tmp_path: Path) -> None:
    generate(tmp_path / "whole", Shape(steps=1, layers=1), ranks=1, style=TextStyle(exports="text"))
    shutil.copytree(tmp_path / "whole", tmp_path / "twice")
    (trace,), (details,) = (list((tmp_path / "twice").rglob(name)) for name in ("trace_view.json", "kernel_details.csv"))
    events = json.loads(trace.read_text())
    trace.write_text(json.dumps([*events, *events]))
    header, *lines = details.read_text().splitlines(keepends=True)
    details.write_text("".join([header, *lines, *lines]))
    whole, twice = answer(tmp_path / "whole"), answer(tmp_path / "twice")
    assert twice[0] == whole[0]
    assert_whole(twice[0])
    assert whole[1] == []
    assert says(f"{len(lines)} rows", "kernel_details.csv", "repeat", "left out") in twice[1]
    assert any("rows of trace_view.json repeat" in warning for warning in twice[1])
