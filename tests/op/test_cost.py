"""What ops cost on the host and the device, on random messy ops: the SQL against the rule itself."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from prof_analysis.engine.database import connect
from prof_analysis.engine.planning import make_plan
from prof_analysis.engine.tables import documented_tables, source_tables
from prof_analysis.sources.ascend_db import RAW_COLUMNS

EPOCH = 1_700_000_000_000_000_000  # beyond 2^53: a time that went through a float would not come back
NEEDED = ("trace.op", "trace.kernel", "module.kernel_op")


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


def engine_costs_of(ops: list[Op], tolerance: int) -> list[tuple[int, ...]]:
    tables = source_tables("ascend_db")
    rows: dict[str, list[tuple[object, ...]]] = {
        "trace.op": [(n, op.tid, EPOCH + op.start, EPOCH + op.end, op.end - op.start) for n, op in enumerate(ops)],
        "trace.kernel": [(n, op.kernel_ns) for n, op in enumerate(ops) if op.kernel_ns >= 0],
        "module.kernel_op": [(n, n) for n, op in enumerate(ops) if op.kernel_ns >= 0],
    }
    filled = {
        "trace.op": "op_id, tid, start_ns, end_ns, duration_ns",
        "trace.kernel": "kernel_id, duration_ns",
        "module.kernel_op": "kernel_id, op_id",
    }
    with connect({"nesting_tolerance_ns": tolerance}, threads=1) as connection:
        for name in NEEDED:
            definition = ", ".join(f"{column.name} {column.stored_type}" for column in documented_tables()[name].columns)
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.partition('.')[0]}; CREATE TABLE {name} ({definition})")
            if rows[name]:
                values = ", ".join("?" * len(rows[name][0]))
                connection.executemany(f"INSERT INTO {name} ({filled[name]}) VALUES ({values})", rows[name])
        connection.execute("CREATE SCHEMA op")
        for name in ("op.parent", "op.cost"):
            connection.execute(f"CREATE TABLE {name} AS {tables[name].body}")
        found = connection.execute("FROM op.parent ORDER BY op_id").fetchall()
        assert found == sorted(parents_of(ops, tolerance).items())
        return connection.execute("FROM op.cost ORDER BY op_id").fetchall()


times = st.integers(0, 30)
messy_ops = st.lists(
    st.builds(
        lambda start, length, tid, kernel_ns: Op(start, start + length, tid, kernel_ns),
        *(times, times, st.integers(1, 2), st.integers(-1, 5)),
    ),
    max_size=30,
)


@settings(max_examples=20, deadline=None, print_blob=True)
@given(ops=messy_ops, tolerance=st.sampled_from([0, 0, 3]))
def test_what_ops_cost_is_what_the_rule_says(ops: list[Op], tolerance: int) -> None:
    assert engine_costs_of(ops, tolerance) == costs_of(ops, tolerance)


def test_the_cost_of_ops_needs_no_module() -> None:
    needed = make_plan("ascend_db", RAW_COLUMNS, ["op.statistic"]).order
    assert not {"module.range", "module.call", "module.op_interval"} & set(needed)
