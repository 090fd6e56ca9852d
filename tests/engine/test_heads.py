"""The tables: heads say what bodies make, and where files lie."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from prof_analysis import Comparison, ProfAnalysisWarning, Profile, compare, open_profile
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.parsing import referenced_tables
from prof_analysis.engine.planning import make_plan
from prof_analysis.engine.statements import sql_folder
from prof_analysis.engine.table_file import Table, read_table
from prof_analysis.engine.tables import all_tables, documented_tables, log_tables, source_tables
from tests.helpers.asking import build_at_once
from tests.helpers.empty_database import empty_database
from tests.helpers.tables import TABLES, raw_columns, without_cases

SOURCES = sorted(folder.name for folder in (sql_folder() / "sources").iterdir())


ACROSS_RANKS = sorted(name for name, table in documented_tables().items() if table.grain == "job")


OF_RUNS = sorted(name for name, table in documented_tables().items() if table.grain == "runs")


OF_LOGS = sorted(table.name for table in log_tables())


def test_the_sql_folder_holds_one_documented_table_a_file() -> None:
    folder = sql_folder()
    files = {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}
    assert {file.as_posix() for file in files if file.suffix != ".sql"} == {"schemas.txt"}
    files = {file for file in files if file.suffix == ".sql"}
    of_sources = {file for file in files if file.parts[0] == "sources"}
    macros = {file for file in files if file.parts[0] == "macros"}
    beside = {file for file in files if file.name.endswith((".warning.sql", ".known.sql"))}
    assert {file.with_name(f"{file.name.partition('.')[0]}.sql") for file in beside} <= files - beside
    assert sorted(f"{file.parent.as_posix()}.{file.stem}" for file in files - of_sources - macros - beside) == sorted(
        TABLES + ACROSS_RANKS + OF_RUNS + OF_LOGS
    )
    assert {file.parts[1] for file in of_sources} == set(SOURCES)
    for table in documented_tables().values():
        assert table.summary.startswith(("One row is", "A row is")), table.name
        assert table.columns, table.name
        assert all(column.meaning for column in table.columns), table.name
        assert len({column.name for column in table.columns}) == len(table.columns), table.name


def test_a_head_takes_over_columns_that_another_documents() -> None:
    def documented(name: str) -> dict[str, tuple[str, str]]:
        return {column.name: (column.type, column.meaning) for column in documented_tables()[name].columns}

    by_level, across = documented("mfu.by_level"), documented("across.mfu")
    assert documented("mfu.rank")["reasons"] == by_level["reasons"]
    assert across["peak_tflops"] == by_level["peak_tflops"]
    assert by_level["type_id"][0] == "TEXT_ID"
    assert across["type"] == ("VARCHAR", by_level["type_id"][1])
    assert documented("pmu.op")["reason"] == documented("pmu.by_level")["reason"], "taken over of what took it over"


@pytest.mark.parametrize("line", ["mfu to nothing as in mfu.rank", "reasons to mfu as in mfu.rank", "mfu to mfu as in mfu.op"])
def test_a_head_that_takes_over_columns_that_are_not_there_is_an_error(tmp_path: Path, line: str) -> None:
    file = tmp_path / "ours" / "table.sql"
    file.parent.mkdir()
    file.write_text(f"-- One row is a rank.\n--\n-- @columns {line}\nSELECT 1", encoding="utf-8")
    with pytest.raises(ValueError, match=r"table\.sql: line 3: .* of mfu\.(rank|op), .*does not have"):
        read_table(file)


WARNINGS = {name: table.warning for name, table in documented_tables().items() if table.warning}


def test_a_table_gathers_all_tables_of_its_folder_that_have_its_columns() -> None:
    gathering = documented_tables()["advice.finding_of_rank"]
    rules = {name for name, table in documented_tables().items() if table.counts}
    assert gathering.needs == rules, "all tables that say which time counts are rules"
    own = Table("advice.mine", "One row is mine.", gathering.columns[1:], "FROM mine")
    beside = Table("advice.others", "One row is another.", gathering.columns, "FROM others")
    assert all_tables((own, beside))[gathering.name].needs == rules | {"advice.mine"}


def test_each_file_of_warnings_lies_beside_its_table() -> None:
    files = sql_folder().rglob("*.warning.sql")
    assert sorted(f"{file.parent.name}.{file.name.partition('.')[0]}" for file in files) == sorted(WARNINGS)


def test_warnings_are_an_ordered_select_on_their_table_alone() -> None:
    with empty_database() as connection:
        for name, warning in WARNINGS.items():
            table = documented_tables()[name]
            assert referenced_tables(warning) == {name}
            columns = [] if table.grain == "job" else ["profile VARCHAR", "rank_id BIGINT"]
            columns += [f"{column.shown_name} {column.shown_type}" for column in table.columns]
            schema = name.partition(".")[0]
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}; CREATE TABLE {name} ({', '.join(columns)})")
            made = connection.execute(f"DESCRIBE {warning}").fetchall()
            assert [row[:2] for row in made] == [(one, "VARCHAR") for one in ("profile", "severity", "sentence")], name
            modifiers = connection.execute("SELECT json_serialize_sql($query)", {"query": warning}).fetchall()
            assert "ORDER_MODIFIER" in modifiers[0][0], name
            assert re.findall(r"'(\w+)' AS severity", warning) in (["warning"], ["note"]), name


def test_guards_are_tables_that_the_head_names() -> None:
    guards = {name: table.guard for name, table in documented_tables().items() if table.guard}
    assert guards["module.derived_link"] == "module.doubtful_launch"
    assert set(guards.values()) <= set(TABLES)


def test_trace_tables_are_contracts_with_bodies_beside_but_for_what_all_sources_share_and_all_others_have_one() -> None:
    without_body = {name for name, table in documented_tables().items() if not table.body}
    beside = {f"trace.{file.stem}" for source in SOURCES for file in (sql_folder() / "sources" / source).iterdir()}
    assert without_body == beside, "one body for all sources, or one in each source that has the rows"


@pytest.fixture(scope="module")
def sample(kept: Path, kept_sample: Path) -> Iterator[Profile]:
    with open_profile(kept_sample, cache=kept) as profile:
        build_at_once(profile, *ACROSS_RANKS)
        yield profile


def test_tables_over_all_ranks_are_what_their_heads_say_and_have_rows_or_cases(sample: Profile) -> None:
    assert described(sample, ACROSS_RANKS) == {name: head_of(name) for name in ACROSS_RANKS}
    assert "TEXT_ID" not in {column.type for name in ACROSS_RANKS for column in documented_tables()[name].columns}
    assert without_cases(without_rows(sample, ACROSS_RANKS)) == [], "write a page of cases with rows of these"


def described(profile: Profile | Comparison, names: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the columns of tables, and their types, as DuckDB gives them."""
    each = [f"SELECT '{name}' AS name, column_name, column_type FROM (DESCRIBE {name})" for name in names]
    found: dict[str, list[tuple[str, str]]] = {}
    for row in profile.rows(" UNION ALL ".join(each)):
        found.setdefault(row["name"], []).append((row["column_name"], row["column_type"]))
    return found


def without_rows(profile: Profile | Comparison, names: list[str]) -> set[str]:
    each = [f"SELECT '{name}' AS name WHERE NOT EXISTS (FROM {name})" for name in names]
    return {row["name"] for row in profile.rows(" UNION ALL ".join(each))}


def head_of(name: str) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in documented_tables()[name].columns]


@pytest.fixture(scope="module")
def compared(kept: Path, kept_sample: Path) -> Iterator[Comparison]:
    runs = (kept_sample, kept_sample)
    with pytest.warns(ProfAnalysisWarning, match="is in the runs base and new"), compare(*runs, cache=kept) as comparison:
        comparison.prepare()
        yield comparison


def test_tables_over_runs_are_what_their_heads_say_and_have_rows_or_cases(compared: Comparison) -> None:
    assert described(compared, OF_RUNS) == {name: head_of(name) for name in OF_RUNS}
    assert without_cases(without_rows(compared, OF_RUNS)) == [], "write a page of cases with rows of these"


@pytest.mark.parametrize("source", SOURCES)
def test_the_files_of_a_source_are_trace_tables(source: str) -> None:
    files = {f"trace.{file.stem}" for file in (sql_folder() / "sources" / source).iterdir()}
    assert files <= set(TABLES)
    assert all(table.body for table in source_tables(source).values())


@pytest.mark.parametrize("source", SOURCES)
def test_the_head_is_what_the_body_makes(source: str) -> None:
    """Names, types and order, from the body itself: what is built is brought to the head's order first.

    What all sources share is asked of the databases of Ascend.
    """
    tables = source_tables(source, raw_tables=frozenset(raw_columns(source)))
    with empty_database() as connection:
        for raw, columns in raw_columns(source).items():
            definition = ", ".join(f"{column} {type_}" for column, type_ in columns.items())
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS raw; CREATE TABLE {raw} ({definition})")
        own = [f"trace.{file.stem}" for file in (sql_folder() / "sources" / source).iterdir()]
        for name in make_plan(source, raw_columns(source), TABLES if source == "ascend_db" else own).order:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name.partition('.')[0]}")
            with functions_for(connection, tables[name].body):
                connection.execute(f"CREATE TABLE {name} AS {tables[name].body}")
            described = [row[:2] for row in connection.execute(f"DESCRIBE {name}").fetchall()]
            assert described == [(column.name, column.stored_type) for column in tables[name].columns], name
