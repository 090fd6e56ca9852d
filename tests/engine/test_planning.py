"""The tables: what is needed is built, and nothing else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from prof_analysis.common.errors import QueryError
from prof_analysis.engine.parsing import referenced_tables
from prof_analysis.engine.planning import Plan, make_plan
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import in_building_order, source_tables
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import (
    Kernel,
    Launch,
    Op,
    Queue,
    Range,
    write_profile,
)
from tests.helpers.tables import TABLES, built, raw_columns, shown


def test_only_what_is_needed_is_built_and_read() -> None:
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["trace.step"])
    assert plan.order == ("trace.step",)
    assert plan.raw_columns == {"raw.step_time": {"id", "startNs", "endNs"}}
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["module.coverage"])
    assert not {"module.statistic", "module.tree"} & set(plan.order)
    assert not {"inputShapes", "blockNum"} & plan.raw_columns["raw.compute_task_info"]


def test_what_only_guarded_tables_need_is_deferred() -> None:
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["module.coverage"])
    behind = {"raw.cann_api", "raw.enqueue", "raw.dequeue"}
    of_replays = {"raw.replayed_op", "raw.replayed_range"}
    assert plan.deferred == {
        *behind,
        *of_replays,
        "trace.launch",
        "trace.queue",
        "trace.forward_backward",
        "kernels.asked",
        "kernels.step",
    }
    call = {"startNs", "endNs", "globalTid", "connectionId"}
    queue_end = call | {"row_id", "name"}
    deferred = plan.deferred_raw_columns
    assert deferred.keys() == behind | of_replays
    assert {name: deferred[name] for name in behind} == dict.fromkeys(behind, queue_end) | {"raw.cann_api": call}
    assert not plan.raw_columns.keys() & plan.deferred_raw_columns.keys()
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["module.coverage", "trace.launch"])
    assert plan.deferred == {
        *of_replays,
        "trace.queue",
        "trace.forward_backward",
        "raw.enqueue",
        "raw.dequeue",
        "kernels.asked",
        "kernels.step",
    }
    assert "raw.cann_api" in plan.raw_columns
    assert plan.deferred_raw_columns.keys() == {"raw.enqueue", "raw.dequeue"} | of_replays


def small_profile(folder: Path, has_queue: bool, has_lost_link: bool, has_unnumbered: bool) -> Path:
    """A profile in which each guard can be shut or open: by a task queue, a lost link, a backward op without a number."""
    backward = Op(
        "MmBackward0", 300, 320, tid=2, backward_of=0, sequence_number=-1 if has_unnumbered else 5, forward_thread_id=1
    )
    launches = [
        Launch(105, 106, (Kernel("a", 1000, 1010),), recorded_op=None if has_lost_link and not has_queue else 0),
        Launch(405, 406, (Kernel("b", 1100, 1110),), tid=5, recorded_op=None if has_lost_link else 1),
    ]
    return write_profile(
        folder,
        [Op("aten::mm", 100, 120, sequence_number=5), backward],
        [Range("Net", 90, 150)],
        steps=[(0, 0, 500)],
        queues=[Queue(1, (305, 306), (400, 410))] if has_queue else [],
        launches=launches,
    )


@pytest.mark.parametrize(
    ("has_queue", "has_lost_link", "has_unnumbered"),
    quick([(True, False, False), (True, True, False), (False, False, True)], 0, 2),
)
@pytest.mark.slow
def test_what_is_behind_guards_is_staged_and_built_only_where_one_is_open(
    tmp_path: Path, has_queue: bool, has_lost_link: bool, has_unnumbered: bool
) -> None:
    database = small_profile(tmp_path, has_queue, has_lost_link, has_unnumbered)
    names = ("module.statistic", "module.link_audit", "trace.launch")
    order = make_plan("ascend_db", raw_columns("ascend_db"), names).order
    whole = make_plan("ascend_db", raw_columns("ascend_db"), order)
    with built(Plan(whole.order, whole.columns, frozenset()), database) as connection:
        expected = {name: shown(connection, name) for name in order}
    assert bool(expected["module.doubtful_launch"]) == (has_lost_link or not has_queue)
    assert bool(expected["module.recorded_pair"]) == has_unnumbered
    for name in names:
        plan = make_plan("ascend_db", raw_columns("ascend_db"), [name])
        staged: list[set[str]] = []
        with built(plan, database, staged=staged) as connection:
            assert shown(connection, name) == expected[name]
            made = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        needed = needed_of(name, expected) | (needed_of("trace.string", expected) if "trace.string" in plan.order else set())
        # A table behind a shut guard is only a view.
        shut = {one for one in needed if (guard := guard_of(one)) and not expected[guard]}
        assert made - {"other_id"} == needed - shut | set(plan.raw_columns)
        assert set().union(*staged[1:]) == {need for need in needed if need in plan.deferred_raw_columns}


def guard_of(name: str) -> str | None:
    table = source_tables("ascend_db").get(name)
    return table.guard if table else None


def needed_of(name: str, rows: Mapping[str, list[Any]]) -> set[str]:
    """A table and what has to be made for it, where these rows are in the guards."""
    table = source_tables("ascend_db").get(name)
    if table is None:
        return {name}
    needs = {table.guard} if table.guard else set()
    if table.guard is None or rows[table.guard]:
        needs = needs | table.needs
    return {name}.union(*(needed_of(need, rows) for need in needs if need))


def test_a_guard_holds_also_behind_another(tmp_path: Path) -> None:
    database = small_profile(tmp_path, has_queue=True, has_lost_link=False, has_unnumbered=False)
    plan = make_plan("ascend_db", raw_columns("ascend_db"), ["kernels.statistic"])
    assert {"module.misplaced_launch", "module.kernel_op", "trace.op"} <= plan.deferred
    with built(plan, database, step_id=0) as connection:
        assert len(shown(connection, "kernels.in_step")) == 2
        assert shown(connection, "module.direct_launching") == shown(connection, "module.misplaced_launch") == []
    with built(plan, database) as connection:
        assert shown(connection, "kernels.statistic")
        made = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    assert not made & plan.deferred


def test_tables_are_built_after_what_they_need_and_their_guard() -> None:
    order = make_plan("ascend_db", raw_columns("ascend_db"), TABLES).order
    assert sorted(order) == TABLES
    for position, name in enumerate(order):
        assert {source_tables("ascend_db")[name].guard} - {None} <= set(order[:position])
        assert {need for need in source_tables("ascend_db")[name].needs if not need.startswith("raw.")} <= set(order[:position])


def test_what_needs_few_tables_is_built_first_so_that_those_can_go() -> None:
    names = ("free.cause_of_op", "free.gap", "pmu.kernel_counters")
    order = make_plan("ascend_db", raw_columns("ascend_db"), names).order
    assert [name for name in order if name in names] == ["pmu.kernel_counters", "free.gap", "free.cause_of_op"]


@pytest.mark.parametrize(
    ("query", "needs"),
    [
        pytest.param("SELECT 1", set(), id="none"),
        pytest.param("FROM trace.op", {"trace.op"}, id="from first"),
        pytest.param("SELECT * FROM Trace.OP", {"trace.op"}, id="upper case"),
        pytest.param('SELECT * FROM "trace"."op"', {"trace.op"}, id="quoted"),
        pytest.param("WITH a AS (SELECT * FROM trace.op), b AS (FROM a) SELECT * FROM b", {"trace.op"}, id="in a CTE"),
        pytest.param(
            "SELECT (SELECT max(start_ns) FROM trace.op), * FROM (SELECT * FROM trace.kernel) WHERE EXISTS (FROM trace.step)",
            {"trace.op", "trace.kernel", "trace.step"},
            id="in subqueries",
        ),
        pytest.param(
            "SELECT * FROM trace.op ASOF JOIN trace.range ON op.tid = range.tid AND op.start_ns >= range.start_ns",
            {"trace.op", "trace.range"},
            id="ASOF",
        ),
        pytest.param(
            "SELECT * FROM trace.op SEMI JOIN trace.op_link USING (op_id) WHERE name_id IN (SELECT text_id FROM trace.string)",
            {"trace.op", "trace.op_link", "trace.string"},
            id="SEMI JOIN and IN",
        ),
        pytest.param(
            "WITH RECURSIVE s (i, c) USING KEY (i) AS (SELECT op_id, 0 FROM trace.op UNION"
            " SELECT s.i, r.c FROM s JOIN recurring.s AS r ON r.i = s.c JOIN trace.step ON true) FROM s",
            {"trace.op", "trace.step"},
            id="USING KEY recursion, whose own table is no need",
        ),
        pytest.param("FROM trace.op UNION ALL BY NAME FROM module.call", {"trace.op", "module.call"}, id="set operation"),
        pytest.param("SELECT * FROM a_view, trace.op", {"trace.op"}, id="without a schema"),
        pytest.param("SELECT 'FROM trace.step' -- FROM trace.kernel\nFROM trace.op", {"trace.op"}, id="texts and comments"),
        pytest.param("SELECT list_transform([1], lambda x : (SELECT count(*) FROM trace.op))", {"trace.op"}, id="in a lambda"),
    ],
)
def test_needs_are_found_wherever_they_stand(query: str, needs: set[str]) -> None:
    assert referenced_tables(query) == needs


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FRM trace.op", "cannot be read"),
        ("SELECT 1; SELECT 2", "this is not one SELECT"),
        ("", "there is no query: give one SELECT"),
        ("DROP TABLE trace.op", "SELECT"),
        ("COPY trace.op TO 'x'", "SELECT"),
    ],
)
def test_a_query_that_is_not_one_select_is_refused(query: str, message: str) -> None:
    with pytest.raises(QueryError) as raised:
        referenced_tables(query)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_unknown_table_is_named() -> None:
    with pytest.raises(QueryError) as raised:
        make_plan("ascend_db", raw_columns("ascend_db"), ["module.nothing"])
    assert str(raised.value) == says("no table module.nothing", "`prof-analysis tables`")


def test_tables_that_need_each_other_are_an_error() -> None:
    bodies = {"a.one": "FROM a.two, raw.x", "a.two": "FROM a.three", "a.three": "FROM a.one", "a.apart": "SELECT 1"}
    tables = {name: Table(name, "", (), body) for name, body in bodies.items()}
    assert list(in_building_order(tables, ["a.apart"])) == ["a.apart"]
    with pytest.raises(ValueError, match=r"need each other: a\.two -> a\.three -> a\.one -> a\.two$"):
        list(in_building_order(tables, ["a.two"]))
