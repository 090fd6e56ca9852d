"""Guards: a table behind one that is shut has no rows anyway, so that nothing is lost where it is not built."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.common.answer_options import Options
from prof_analysis.engine.cases import ENDING, cases_in
from prof_analysis.engine.planning import make_plan, split_across_ranks
from prof_analysis.engine.rows_of import rows_of
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.table_file import Column, Table
from prof_analysis.engine.tables import documented_tables, source_tables
from tests.engine.test_alone import whole_plan, write_rich_profiles
from tests.helpers.places import CHECKOUT
from tests.helpers.small_profile import DATABASE, HostCall, Kernel, Op, write_profile
from tests.helpers.tables import SAMPLE_DATABASE, TABLES, built, raw_columns

# What these say holds for other work only: their guard decides it.
DECIDED = {
    "allocation.placement",
    "clock.waited",
    "communication.by_phase",
    "kernels.phase_duration",
    "kernels.phase_rate",
    "mfu.by_phase",
    "mfu.op_flops",
    "mfu.op_form",
    "mfu.op_kernel",
    "mfu.op_shape",
    "mfu.product_peak",
    "mfu.type_utilisation",
    "module.bare_launch",
    "module.by_phase",
    "module.misplaced_launch",
    "module.replayed",
    "op.by_phase",
    "pass.gap_begin",
    "pass.kernel_phase",
    "pass.layer_begin",
    "pass.round",
    "step.task_time",
    "step.turn",
    "timeline.python_frame",
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


OVER_RANKS = {name: table.guard for name, table in documented_tables().items() if table.grain == "job" and table.guard}


@pytest.mark.parametrize("name", OVER_RANKS)
def test_over_ranks_no_case_has_rows_without_those_of_the_guard(name: str) -> None:
    unguarded = (replace(documented_tables()[name], guard=None),)
    with_rows = 0
    for case in cases_in(CHECKOUT / "tests" / "tables" / f"{name.replace('.', '/')}{ENDING}"):
        given = {table: rows for table, rows in case.rows.items() if table not in (name, OVER_RANKS[name])}
        with_rows += bool(case.rows.get(name))
        variables = Options(**case.options).variables()  # type: ignore[arg-type]
        assert rows_of(name, given, variables, unguarded) == [], f"line {case.line}"
    assert with_rows


WARNING = [name for name, table in documented_tables().items() if table.grain == "rank" and table.warning]


@pytest.mark.parametrize("name", WARNING)
def test_no_table_of_ranks_warns_where_it_has_no_rows(name: str) -> None:
    assert rows_of("across.own_warning", {}, own=(_as_table(documented_tables()[name]),)) == []


def _as_table(table: Table) -> Table:
    """The warning of a table as a table over ranks, to ask it alone."""
    assert table.warning is not None
    columns = tuple(Column(name, "VARCHAR", name) for name in ("profile", "severity", "sentence"))
    return Table("across.own_warning", "", columns, table.warning)


COMPARING = sorted(name for name, table in documented_tables().items() if table.compares_ranks)


def test_of_one_rank_nothing_is_built_for_tables_that_compare_ranks() -> None:
    for name in COMPARING:
        assert split_across_ranks((name,), has_several_ranks=False) == ((), (name,))
    of_ranks = [set(split_across_ranks(ANALYSES["advise"].tables, has_several_ranks=several)[0]) for several in (False, True)]
    assert of_ranks[0] < of_ranks[1]
    assert not of_ranks[0] & {"communication.approach", "module.time", "op.host_time", "step.load"}


@pytest.mark.slow
def test_tables_that_compare_ranks_have_no_rows_of_one_rank_anyway(tmp_path: Path) -> None:
    """The same tables as a user's own without the guard say so."""
    generate(tmp_path / "ranks", Shape(experts=3, hidden=256, late_rank=1, layers=1), ranks=4, seed=3)
    own = tmp_path / "sql"
    for name in COMPARING:
        schema, _, table = name.partition(".")
        text = (sql_folder() / schema / f"{table}.sql").read_text(encoding="utf-8")
        (own / schema).mkdir(parents=True, exist_ok=True)
        (own / schema / f"own_{table}.sql").write_text(text.replace("-- @guard several ranks\n", ""), encoding="utf-8")
    unguarded = {name: name.replace(".", ".own_") for name in COMPARING}
    with open_profile(tmp_path / "ranks", sql=own) as profile:
        counts = {
            name: (len(profile.rows(f"FROM {name}")), len(profile.rows(f"FROM {other}"))) for name, other in unguarded.items()
        }
    assert not [name for name, (guarded, other) in counts.items() if guarded != other]
    assert {name for name, (count, _) in counts.items() if count} >= {
        "across.late_rank",
        "advice.slow_rank",
        "advice.late_host",
    }
    with open_profile(tmp_path / "ranks", sql=own, rank_list=[0]) as profile:
        assert not [name for names in unguarded.items() for name in names if profile.rows(f"FROM {name}")]


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
