"""What is still to build where some tables are kept."""

from pathlib import Path

from prof_analysis.analyses import ANALYSES
from prof_analysis.engine.kept import TEXTS, KeptTable, is_kept, restricted
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
    kept = kept_by(plan_of(FIRST, is_for_others=True))
    guards = {table.guard: False for table in TABLES.values() if table.guard}
    for question in ("kernel-stats", "op-stats", "step-time"):
        staged, built = still_to_do(question, kept, guards)
        assert not staged, question
        assert not {name for name in built if name.startswith("module.")}, question


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
