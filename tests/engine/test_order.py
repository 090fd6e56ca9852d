"""The tables: rows come in one order, whatever the threads and the order in the file."""

import random
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.database import keeping_order
from prof_analysis.engine.planning import make_plan
from prof_analysis.engine.tables import shown_select, source_tables
from tests.helpers.places import SAMPLE
from tests.helpers.planes import Task, add_tasks
from tests.helpers.small_profile import (
    Kernel,
    Matmul,
    Op,
    Range,
    write_chip,
    write_profile,
)
from tests.helpers.tables import SAMPLE_DATABASE, SAMPLE_FOLDER, TABLES, built, raw_columns, without_cases

EXPORTED = sorted({name for analysis in ANALYSES.values() for name in analysis.exports if name in TABLES})


def exported(database: Path = SAMPLE_DATABASE, threads: int = 2) -> dict[str, list[tuple[Any, ...]]]:
    """All tables that are exported, without the numbers of rows in the file."""
    with built(make_plan("ascend_db", raw_columns("ascend_db"), EXPORTED), database, threads) as connection:
        columns = "COLUMNS(lambda name: name NOT IN ('kernel_id', 'op_id', 'block_id', 'usage_id'))"
        queries = {name: f"SELECT {columns} FROM ({shown_select(source_tables('ascend_db')[name])})" for name in EXPORTED}
        return {name: connection.execute(query).fetchall() for name, query in queries.items()}


@pytest.fixture(scope="module")
def answers() -> dict[str, list[tuple[Any, ...]]]:
    return exported()


@pytest.mark.slow
def test_one_thread_gives_the_same_rows_in_the_same_order(answers: dict[str, list[tuple[Any, ...]]]) -> None:
    assert exported(threads=1) == answers


def test_rows_that_are_in_order_need_no_sorting() -> None:
    """Those of a table that numbers the rows of an ordered CTE too."""
    tables = source_tables("ascend_db")
    ordered = [f"timeline.{name}" for name in ("counter", "gap", "host_slice", "kernel", "module_call")]
    assert all(tables[name].is_ordered for name in ordered)
    with built(make_plan("ascend_db", raw_columns("ascend_db"), ordered)) as connection:
        by_order = {name: connection.execute(shown_select(tables[name])).fetchall() for name in ordered}
        ((threads,),) = connection.execute("SELECT current_setting('threads')").fetchall()
        with keeping_order(connection):
            as_they_are = {
                name: connection.execute(shown_select(tables[name], is_in_order=True)).fetchall() for name in ordered
            }
        assert connection.execute("SELECT current_setting('threads')").fetchall() == [(threads,)]
    assert as_they_are == by_order


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_rows_of_the_file_in_any_order_give_the_same_rows_in_the_same_order(
    tmp_path: Path, answers: dict[str, list[tuple[Any, ...]]], seed: int
) -> None:
    folder = tmp_path / SAMPLE_FOLDER
    shutil.copytree(SAMPLE / SAMPLE_FOLDER, folder)
    shuffled = folder / SAMPLE_DATABASE.relative_to(SAMPLE / SAMPLE_FOLDER)
    with closing(sqlite3.connect(shuffled)) as database, database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            rows = database.execute(f"SELECT * FROM {name}").fetchall()
            random.Random(f"{seed} {name}").shuffle(rows)
            database.execute(f"DELETE FROM {name}")
            if rows:
                database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        assert {"TASK", "PYTORCH_API", "MSTX_EVENTS", "CONNECTION_IDS"} <= set(names)
    assert exported(shuffled) == answers


@pytest.mark.slow
def test_equal_rows_are_ordered_by_their_texts_and_not_by_when_they_were_written(tmp_path: Path) -> None:
    """Threads that do the same at the same time, with kernels, operators and ranges that agree in all but a name."""

    def thread(place: int, name: str) -> list[Op]:
        kernels = (
            Matmul(f"k{name}", 1000, 1050, pmu={f"aic_{name}_ratio": 0.5}),
            Kernel(f"k{name}", 1060, 1070, type=name, core=f"core_{name}"),
            Kernel(f"hcom_{name}_", 1100, 1150, "communication", group=f"g{name}"),
        )
        return [
            Op(f"op{name}", 120, 150, kernels, tid=place, input_shapes=f"{place},1"),
            Op("npu_fx_compiler inference", 200, 220, tid=place),
        ]

    def without_number(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(re.sub(r"_904_\d+_1$", "", cell) if isinstance(cell, str) else cell for cell in row)

    names = ("b", "a", "c")
    found = []
    for order in ((0, 1, 2), (2, 0, 1)):
        threads = [(place + 1, names[place]) for place in order]
        database = write_profile(
            tmp_path / str(order[0]) / "x_ascend_pt",
            [op for thread_id, name in threads for op in thread(thread_id, name)],
            [Range(f"M{name}", 100, 300, tid=thread_id) for thread_id, name in threads]
            + [Range(f"m{name}", 110, 111, tid=thread_id, event_type=0, domain="d") for thread_id, name in threads],
            steps=[(1, 50, 400)],
        )
        operators = (3 * thread + 2 for thread in range(len(names)))  # The third kernel of each thread.
        add_tasks(database, [Task(operator, "Memcpy", 0, 1100, 1150, link="HCCS", size=64) for operator in operators])
        write_chip(tmp_path / str(order[0]) / "x_ascend_pt")
        found.append({name: list(map(without_number, rows)) for name, rows in exported(database).items()})
    assert found[1] == found[0]
    assert without_cases(name for name in EXPORTED if not found[0][name]) == [], "give these rows here or in a page of cases"
