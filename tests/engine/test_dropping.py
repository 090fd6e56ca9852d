"""What nothing will read any more is not kept until the end: a rank of a million kernels needs the memory."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from prof_analysis.engine import dropping
from prof_analysis.engine.building import build
from prof_analysis.engine.planning import make_plan
from prof_analysis.engine.table_file import Table
from prof_analysis.sources import ascend_db
from tests.helpers.empty_database import empty_database
from tests.helpers.tables import SAMPLE_DATABASE, raw_columns


def stored_when_made(names: tuple[str, ...]) -> dict[str, dict[str, set[str]]]:
    """Build tables of the sample; return for each one what is stored when it is there: the tables with their columns."""
    plan = make_plan("ascend_db", raw_columns("ascend_db"), names)
    found = dict[str, dict[str, set[str]]]()
    with empty_database({}, 2) as connection:

        def stage(columns: Mapping[str, frozenset[str]]) -> None:
            ascend_db.stage(connection, (SAMPLE_DATABASE,), columns, 2, lambda _: None)

        def note(table: Table, _columns: frozenset[str]) -> None:
            stored = found.setdefault(table.name, {})
            of_stored = "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'stored'"
            for name, column in connection.execute(of_stored).fetchall():
                stored.setdefault(name, set()).add(column)

        stage(plan.raw_columns)
        build(connection, "ascend_db", plan, stage, kept=names, on_made=note)
    return found


def test_what_a_table_behind_a_shut_guard_would_read_does_not_wait_for_its_turn() -> None:
    """No Python functions are recorded, so that stacks, and the ops that have them, are not read."""
    stored = stored_when_made(("free.python_part", "op.parent"))
    assert list(stored).index("op.parent") < list(stored).index("free.python_part")
    assert "raw.framework_op" in stored["trace.op"]
    assert not [name for name in stored["op.parent"] if name.startswith("raw.")]


def test_a_wanted_table_that_is_read_behind_a_shut_guard_alone_is_made_of_what_it_needs() -> None:
    stored = stored_when_made(("stack.frame_call", "free.python_part"))
    assert stored["stack.frame_call"].keys() >= {"trace.frame", "trace.op_stack"}


def test_columns_of_raw_tables_that_only_earlier_tables_read_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropping, "MANY_ROWS", 0)
    stored = stored_when_made(("trace.kernel", "trace.stream_wait"))
    assert {"globalTaskId", "taskType"} <= stored["trace.kernel"]["raw.task"]
    assert "globalTaskId" not in stored["trace.stream_wait"]["raw.task"]
    assert "taskType" in stored["trace.stream_wait"]["raw.task"]
