"""What is still to build where some tables are kept."""

from pathlib import Path

import duckdb

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.kept import TEXTS, KeptTable, is_kept, restricted, rows_to_keep
from prof_analysis.engine.planning import Plan, make_plan, split_across_ranks
from prof_analysis.engine.tables import source_tables
from prof_analysis.sources import SOURCES

SOURCE = SOURCES["ascend_db"]
TABLES = source_tables(SOURCE.NAME, raw_tables=frozenset(SOURCE.RAW_COLUMNS))
FIRST = ANALYSES["module-stats"].tables


def plan_of(tables: tuple[str, ...], is_for_others: bool = False) -> Plan:
    return make_plan(SOURCE.NAME, SOURCE.RAW_COLUMNS, split_across_ranks(tables)[0], is_for_others=is_for_others)


def kept_by(plan: Plan) -> dict[str, list[KeptTable]]:
    texts = Path("texts.parquet")
    return {
        name: [KeptTable(texts if name == TEXTS else Path(name), plan.columns[name], texts)]
        for name in plan.order
        if is_kept(TABLES[name])
    }


def still_to_do(question: str, kept: dict[str, list[KeptTable]], guards: dict[str, bool]) -> tuple[set[str], set[str]]:
    """The raw tables that are staged, and the tables that are built."""
    tables = split_across_ranks(ANALYSES[question].tables)[0]
    plan, loaded = restricted(plan_of(tables), TABLES, tables, kept, guards)
    return set(plan.raw_tables), {name for name in plan.order if name not in loaded}


def test_after_the_main_question_others_read_no_input() -> None:
    """But the few lines of MindSpore's input pipeline, which the main question has no use for."""
    kept = kept_by(plan_of(FIRST, is_for_others=True))
    guards = {table.guard: False for table in TABLES.values() if table.guard}
    for question in ("kernel-stats", "op-stats", "step-time"):
        staged, built = still_to_do(question, kept, guards)
        assert not {name for name in staged if not name.startswith("raw.input_")}, question
        assert not {name for name in built if name.startswith("module.")}, question


def test_after_the_main_question_no_other_looks_for_the_calls_of_modules_again() -> None:
    kept = kept_by(plan_of(FIRST, is_for_others=True))
    guards = {table.guard: False for table in TABLES.values() if table.guard}
    for question in ("mfu", "pmu-stats", "communication-time", "slow-ranks"):
        _, built = still_to_do(question, kept, guards)
        calls = {"module.interval", "module.interval_parent", "module.op_interval", "module.call", "module.path", "trace.range"}
        assert not built & calls, question


def test_keys_of_paths_come_back_as_they_were(tmp_path: Path) -> None:
    table, file = TABLES["module.call"], tmp_path / "call.parquet"
    columns = frozenset(column.name for column in table.columns)
    keys = [0, 1, 2**64, 2**127, 2**128 - 1]
    plan = Plan((table.name,), {table.name: columns}, frozenset(), {table.name: {}})
    _, loaded = restricted(plan, TABLES, [table.name], {table.name: [KeptTable(file, columns, file)]}, {})
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA module")
        connection.execute(f"CREATE TABLE module.call ({', '.join(f'{one.name} {one.stored_type}' for one in table.columns)})")
        connection.execute("INSERT INTO module.call BY NAME SELECT unnest($1)::UHUGEINT AS path_key", [list(map(str, keys))])
        connection.sql(rows_to_keep(table, columns)).write_parquet(str(file))
        rows = connection.sql(loaded[table.name].body).order("path_key")
        assert [row["path_key"] for row in (dict(zip(rows.columns, one, strict=True)) for one in rows.fetchall())] == keys


def test_without_the_columns_of_a_kept_table_it_is_built() -> None:
    kept = kept_by(plan_of(FIRST, is_for_others=True))
    (one,) = kept["trace.kernel"]
    kept["trace.kernel"] = [KeptTable(one.file, one.columns - {"type_from"}, one.texts)]
    staged, built = still_to_do("kernel-stats", kept, {})
    assert "raw.task" in staged
    assert "trace.kernel" in built


def test_where_nothing_is_kept_the_plan_is_that_of_the_question() -> None:
    tables = split_across_ranks(FIRST)[0]
    plan, loaded = restricted(plan_of(tables), TABLES, tables, {}, {})
    assert (set(plan.order), plan.raw_columns, dict(loaded)) == (set(plan_of(tables).order), plan_of(tables).raw_columns, {})
