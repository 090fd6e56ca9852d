"""Guards: a table behind one that is shut has no rows anyway, so that nothing is lost where it is not built."""

from pathlib import Path

import duckdb
import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis.engine.planning import make_plan
from prof_analysis.engine.tables import source_tables
from tests.engine.test_alone import whole_plan, write_rich_profiles
from tests.helpers.small_profile import DATABASE, HostCall, Kernel, Op, write_profile
from tests.helpers.tables import SAMPLE_DATABASE, TABLES, built, raw_columns

# What these say holds for other work only: their guard decides it.
DECIDED = {
    "clock.waited",
    "mfu.op_flops",
    "mfu.op_form",
    "mfu.op_kernel",
    "mfu.op_shape",
    "mfu.product_peak",
    "mfu.type_utilisation",
    "module.bare_launch",
    "module.misplaced_launch",
    "module.replayed",
    "step.task_time",
}
GUARDS = {name: guard for name in set(TABLES) - DECIDED if (guard := source_tables("ascend_db")[name].guard)}
# What rules alone read.
OF_RULES = {
    "allocation.every_block",
    "allocation.kept",
    "allocation.out_of_memory",
    "allocation.peak",
    "api.compiling",
    "free.longest_unrecorded",
    "graph.by_step",
    "layer.sibling_without_modules",
    "op.sync_batch_norm",
    "pipeline.bubble",
}
SHAPES = {
    "graphs": Shape(mode="inference", graph_replay=True),
    "stages": Shape(stages=2, micro_batches=2, memory=True, leak=2),
}


def has_rows(connection: duckdb.DuckDBPyConnection, table: str) -> bool:
    return bool(connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchall())


def test_what_rules_alone_read_has_no_rows_behind_a_shut_guard() -> None:
    with built(make_plan("ascend_db", raw_columns("ascend_db"), OF_RULES), are_guarded=False) as connection:
        shut = {name for name in OF_RULES if not has_rows(connection, GUARDS[name])}
        assert {"api.compiling", "layer.sibling_without_modules", "pipeline.bubble"} <= shut
        assert not [name for name in shut if has_rows(connection, name)]


@pytest.mark.slow
def test_no_table_has_rows_behind_a_shut_guard_in_profiles_of_all_kinds(tmp_path: Path) -> None:
    profiles = [(SAMPLE_DATABASE, {}), *write_rich_profiles(tmp_path).values()]
    for name, shape in SHAPES.items():
        generate(tmp_path / name, shape, ranks=2, seed=3)
        profiles += [(file, {}) for file in (tmp_path / name).rglob(DATABASE.format(rank=0))]
    of_kernels = [Kernel(f"k{start}", start, start + 10, type="Add") for start in range(100, 500, 20)]
    profiles.append((write_profile(tmp_path / "kernels_ascend_pt", unlinked=of_kernels), {}))
    norm = Op("SyncBatchNorm", 100, 109, (Kernel("norm", 100, 110),))
    compiling = HostCall("aclopCompileAndExecute", 101, 105)
    profiles.append((write_profile(tmp_path / "norm_ascend_pt", [norm], calls=[compiling]), {}))
    opened, shut = set[str](), set[str]()
    for database, options in profiles:
        with built(whole_plan(), database, are_guarded=False, **options) as connection:
            filled = {name for name in GUARDS if has_rows(connection, name)}
            now_shut = {name for name, guard in GUARDS.items() if not has_rows(connection, guard)}
        assert not filled & now_shut, database
        opened |= filled
        shut |= now_shut
    assert shut >= OF_RULES
    # Profiles of NPUs do not record what is out of memory.
    assert opened >= OF_RULES - {"allocation.out_of_memory"}
