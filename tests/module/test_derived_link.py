"""The op that the host's intervals prove for a launch: the recursive SQL against the rule itself, joins on containment."""

from __future__ import annotations

import random

import duckdb
import pytest

from prof_analysis.engine.tables import documented_tables
from tests.helpers.empty_database import empty_database
from tests.helpers.slow import quick

RULE = """
    WITH host_call AS (
        SELECT launch_id, launch.tid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
        FROM module.doubtful_launch LEFT JOIN trace.launch USING (launch_id)
        GROUP BY launch_id, launch.tid
    ),
    request AS (
        SELECT
            host_call.*,
            -- The last task that the thread took out, if the launch lies in it.
            (
                SELECT arg_max(queue_id, (dequeue_start_ns, dequeue_end_ns, queue_id)) FROM trace.queue
                WHERE dequeue_tid = host_call.tid AND dequeue_start_ns <= host_call.start_ns
            ) AS queue_id
        FROM host_call
    ),
    asked AS (
        SELECT
            request.launch_id,
            coalesce(enqueue_tid, request.tid) AS tid,
            coalesce(enqueue_start_ns, request.start_ns) AS start_ns,
            coalesce(enqueue_end_ns, request.end_ns) AS end_ns
        FROM request
        LEFT JOIN trace.queue
            ON queue.queue_id = request.queue_id AND dequeue_tid = request.tid AND dequeue_end_ns >= request.end_ns
    )
    SELECT
        host_call.launch_id,
        bool_or(host_call.tid IS NOT NULL),
        (
            SELECT arg_max(op.op_id, (op.start_ns, -op.end_ns, op.op_id))
            FROM asked JOIN trace.op ON op.tid = asked.tid AND op.start_ns <= asked.start_ns AND op.end_ns >= asked.end_ns
            WHERE asked.launch_id = host_call.launch_id AND NOT op.is_step
        )
    FROM host_call
    GROUP BY host_call.launch_id
    ORDER BY host_call.launch_id
"""
THREADS = 60


@pytest.mark.parametrize(("seed", "tolerance"), quick([(1, 0), (2, 0), (1, 5), (2, 5)], 3))
def test_derived_ops_are_those_of_plain_joins(seed: int, tolerance: int) -> None:
    """Few moments, so that spans tie, overlap in part and have no length; calls and hand-overs of one launch or task repeat."""
    chance = random.Random(seed)

    def span(length: int) -> tuple[int, int]:
        start = chance.randint(0, 40)
        return start, start + chance.choice([0, 1, 3, length])

    def thread(first: int) -> int | None:
        return chance.choice([None, *(first + n for n in range(THREADS))])

    rows: dict[str, list[tuple[object, ...]]] = {
        "trace.op": [(n, thread(0), None, *span(25), None, chance.randrange(4) == 0) for n in range(700)],
        "trace.queue": [(chance.randint(0, 250), thread(0), *span(5), thread(100), *span(9)) for _ in range(400)],
        "trace.launch": [(chance.randint(0, 500), thread(chance.choice([0, 100])), *span(4)) for _ in range(600)],
        "module.doubtful_launch": [(n,) for n in range(520)],
    }
    with empty_database({"nesting_tolerance_ns": tolerance}, threads=1) as connection:
        connection.execute("CREATE SCHEMA trace; CREATE SCHEMA module")
        for name, values in rows.items():
            fill(connection, name, values)
        expected = connection.execute(RULE).fetchall()
        found = connection.execute(f"{documented_tables()['module.derived_link'].body} ORDER BY ALL").fetchall()
    assert found == expected
    assert {is_on_host for _, is_on_host, _ in found} == {True, False}
    assert sum(op_id is not None for *_, op_id in found) > 100


def fill(connection: duckdb.DuckDBPyConnection, name: str, rows: list[tuple[object, ...]]) -> None:
    """Make a table of rows of its first columns; the others are NULL."""
    columns = documented_tables()[name].columns
    connection.execute(f"CREATE TABLE {name} ({', '.join(f'{c.name} {c.stored_type}' for c in columns)})")
    by_column = [[None if cell is None else str(cell) for cell in column] for column in zip(*rows, strict=True)]
    cells = ", ".join(f"unnest($cells[{n + 1}]) AS {columns[n].name}" for n in range(len(by_column)))
    connection.execute(f"INSERT INTO {name} BY NAME SELECT {cells}", {"cells": by_column})
