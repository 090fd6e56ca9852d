"""What ops cost on the host and the device, on random messy ops: the SQL against the rule itself."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from prof_analysis.engine.database import connect
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.planning import make_plan, sql_of
from prof_analysis.engine.tables import create_schemas, documented_tables, source_tables
from prof_analysis.sources.ascend_db import RAW_COLUMNS

EPOCH = 1_700_000_000_000_000_000  # beyond 2^53: a time that went through a float would not come back
MADE = ("op.parent", "op.beside", "op.kernel_time", "op.cost")


@dataclass(frozen=True)
class Op:
    """An op with the time of the one kernel that it launched, -1 for none."""

    start: int
    end: int
    tid: int
    kernel_ns: int


def encloses(outer: Op, inner: Op, tolerance: int) -> bool:
    is_late = outer.end > inner.start and outer.end + tolerance >= inner.end
    return outer.tid == inner.tid and outer.start <= inner.start and (outer.end >= inner.end or is_late)


def parents_of(ops: list[Op], tolerance: int) -> dict[int, int | None]:
    order = sorted(range(len(ops)), key=lambda n: (ops[n].start, -ops[n].end, n))
    return {
        n: next((outer for outer in reversed(order[:place]) if encloses(ops[outer], ops[n], tolerance)), None)
        for place, n in enumerate(order)
    }


def host_self_ns(op: Op, inner: list[Op]) -> int:
    """The moments of the op at which no op directly inside runs."""
    return sum(not any(one.start <= moment < one.end for one in inner) for moment in range(op.start, op.end))


def costs_of(ops: list[Op], tolerance: int) -> list[tuple[int, ...]]:
    parents, device = parents_of(ops, tolerance), [max(op.kernel_ns, 0) for op in ops]
    total = list(device)
    for n, time in enumerate(device):
        around = parents[n]
        while around is not None:
            total[around] += time
            around = parents[around]
    return [
        (
            n,
            host_self_ns(op, [ops[child] for child, parent in parents.items() if parent == n]),
            op.end - op.start,
            int(op.kernel_ns >= 0),
            device[n],
            total[n],
        )
        for n, op in enumerate(ops)
    ]


FILLED = {
    "trace.op": "op_id, tid, start_ns, end_ns, duration_ns",
    "trace.kernel": "kernel_id, duration_ns",
    "module.kernel_op": "kernel_id, op_id",
    "trace.replayed_op": "op_id, launch_id",
    "module.replay": "launch_id, op_id",
}


def engine_costs_of(connection: duckdb.DuckDBPyConnection, ops: list[Op], tolerance: int) -> list[tuple[int, ...]]:
    """The costs by the SQL, in a database with the tables that it reads."""
    rows: dict[str, list[tuple[object, ...]]] = {
        "trace.op": [(n, op.tid, EPOCH + op.start, EPOCH + op.end, op.end - op.start) for n, op in enumerate(ops)],
        "trace.kernel": [(n, op.kernel_ns) for n, op in enumerate(ops) if op.kernel_ns >= 0],
        "module.kernel_op": [(n, n) for n, op in enumerate(ops) if op.kernel_ns >= 0],
        "trace.replayed_op": [],
        "module.replay": [],
    }
    connection.execute("SET VARIABLE nesting_tolerance_ns = $ns", {"ns": tolerance})
    for name, columns in FILLED.items():
        connection.execute(f"DELETE FROM {name}")
        if rows[name]:
            values = ", ".join("?" * len(rows[name][0]))
            connection.executemany(f"INSERT INTO {name} ({columns}) VALUES ({values})", rows[name])
    for name in MADE:
        connection.execute(f"CREATE OR REPLACE TABLE {name} AS {source_tables('ascend_db')[name].body}")
    found = connection.execute("SELECT op_id, parent_id FROM op.parent ORDER BY op_id").fetchall()
    assert found == sorted(parents_of(ops, tolerance).items())
    outermost = "SELECT bool_and((inside_ns IS NULL) = (parent_id IS NULL)) FROM op.parent"
    assert connection.execute(outermost).fetchall() == [(True if ops else None,)]
    return connection.execute("FROM op.cost ORDER BY op_id").fetchall()


times = st.integers(0, 30)
messy_ops = st.lists(
    st.builds(
        lambda start, length, tid, kernel_ns: Op(start, start + length, tid, kernel_ns),
        *(times, times, st.integers(1, 2), st.integers(-1, 5)),
    ),
    max_size=30,
)


def test_what_ops_cost_is_what_the_rule_says() -> None:
    # To open a database takes longer than an example, so each example fills the same tables anew.
    with connect(threads=1, macros=False) as connection:
        create_macros(connection, sql_of(source_tables("ascend_db"), MADE))
        create_schemas(connection, (*FILLED, *MADE))
        for name in FILLED:
            definition = ", ".join(f"{column.name} {column.stored_type}" for column in documented_tables()[name].columns)
            connection.execute(f"CREATE TABLE {name} ({definition})")

        @settings(max_examples=20, deadline=None, print_blob=True)
        @given(ops=messy_ops, tolerance=st.sampled_from([0, 0, 3]))
        def check(ops: list[Op], tolerance: int) -> None:
            assert engine_costs_of(connection, ops, tolerance) == costs_of(ops, tolerance)

        check()


def test_the_cost_of_ops_needs_no_module() -> None:
    needed = make_plan("ascend_db", RAW_COLUMNS, ["op.statistic"]).order
    assert not {"module.range", "module.call", "module.op_interval"} & set(needed)
