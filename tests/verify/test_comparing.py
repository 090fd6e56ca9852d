"""Rows of ours beside rows of msprof-analyze: which agree, in which columns, and by which rounding."""

from __future__ import annotations

import re
from collections.abc import Iterator

import duckdb
import pytest

from prof_analysis import InputError
from prof_analysis.engine.database import connect
from prof_analysis.engine.directives import Beside
from prof_analysis.verify.comparing import DIFFERS, ONLY_HERE, ONLY_THERE, Compared, compare
from prof_analysis.verify.pairs import Pair, pairs_of
from tests.helpers.places import CHECKOUT

KEYS = ("rank_id", "op_name")
TYPES = {"rank_id": "INTEGER", "op_name": "VARCHAR", "count": "BIGINT", "mean_ns": "DOUBLE", "ratio": "DECIMAL(18,1)"}


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        connection.execute("CREATE SCHEMA verify; CREATE SCHEMA msprof_analyze")
        yield connection


def compared(
    database: duckdb.DuckDBPyConnection,
    here: str,
    there: str,
    known: str = "",
    columns: str = '"rankID", "opName", "Count", "mean(ns)", ratio, "groupId"',
) -> Compared:
    """Compare rows, given as VALUES, in the columns of TYPES and in those of msprof-analyze."""
    columns_here = ", ".join(f"{name}::{type_} AS {name}" for name, type_ in TYPES.items())
    database.execute(f"CREATE TABLE verify.op AS SELECT {columns_here} FROM (VALUES {here}) AS one ({', '.join(TYPES)})")
    database.execute(f'CREATE TABLE msprof_analyze."OpSum" AS FROM (VALUES {there}) AS one ({columns})')
    return compare(database, Pair("verify.op", Beside("OpSum", "op_sum", KEYS), TYPES, known))


def test_rows_agree_in_columns_that_both_spell_in_their_own_way(database: duckdb.DuckDBPyConnection) -> None:
    found = compared(database, "(0, 'mm', 3, 1e9 / 3, 12.3)", "(0.0, 'mm', 3.0, 1e9 / 3 * 1.0000000001, 12.25, 'g')")
    assert (found.agreeing, found.differences) == (1, [])
    assert (found.columns, found.only_here, found.only_there) == (["count", "mean_ns", "ratio"], [], ["groupId"])


@pytest.mark.parametrize(
    ("there", "column", "values"),
    [
        ("(0, 'mm', 4, 2.5, 12.3, 'g')", "count", ("3", "4")),
        ("(0, 'mm', 3.5, 2.5, 12.3, 'g')", "count", ("3", "3.5")),
        ("(0, 'mm', 3, 2.500001, 12.3, 'g')", "mean_ns", ("2.5", "2.500001")),
        ("(0, 'mm', 3, 2.5, 12.5, 'g')", "ratio", ("12.3", "12.5")),
        ("(0, 'mm', NULL, 2.5, 12.3, 'g')", "count", ("3", None)),
    ],
    ids=["a whole number", "half a unit", "a float", "more than its last decimal", "NULL"],
)
def test_a_value_that_differs_is_named_with_both(
    database: duckdb.DuckDBPyConnection, there: str, column: str, values: tuple[str, str | None]
) -> None:
    found = compared(database, "(0, 'mm', 3, 2.5, 12.3)", there)
    (row,) = found.differences
    assert (found.agreeing, row.how, dict(row.names)) == (0, DIFFERS, {"rank_id": "0", "op_name": "mm"})
    assert row.values == {column: values}


def test_what_is_not_recorded_is_one_word_or_another(database: duckdb.DuckDBPyConnection) -> None:
    found = compared(
        database,
        "(0, NULL, 3, NULL, 1), (1, NULL, 3, NULL, 1)",
        "(0, 'N/A', 3, NULL::DOUBLE, 1, ''), (1, '', 3, NULL::DOUBLE, 1, '')",
    )
    assert (found.agreeing, found.differences) == (2, [])


def test_rows_that_one_of_both_lacks_are_missing(database: duckdb.DuckDBPyConnection) -> None:
    found = compared(database, "(0, 'mm', 3, 1, 1), (0, 'add', 3, 1, 1)", "(0, 'mm', 3, 1.0, 1, ''), (0, 'sub', 3, 1.0, 1, '')")
    assert found.agreeing == 1
    assert [(row.names["op_name"], row.how) for row in found.differences] == [("add", ONLY_HERE), ("sub", ONLY_THERE)]


def test_equal_names_pair_by_their_figures(database: duckdb.DuckDBPyConnection) -> None:
    found = compared(
        database,
        "(0, 'mm', 3, 1, 1), (0, 'mm', 5, 1, 1), (0, 'mm', 9, 1, 1)",
        "(0, 'mm', 5, 1.0, 1, ''), (0, 'mm', 3, 1.0, 1, '')",
    )
    assert (found.agreeing, [row.how for row in found.differences]) == (2, [ONLY_HERE])


def test_a_known_case_explains_a_row_and_no_other(database: duckdb.DuckDBPyConnection) -> None:
    known = "SELECT difference_id, 'Twice as long' AS known FROM difference WHERE count_there = 2 * count_here"
    found = compared(
        database, "(0, 'mm', 3, 1, 1), (0, 'add', 3, 1, 1)", "(0, 'mm', 6, 1.0, 1, ''), (0, 'add', 5, 1.0, 1, '')", known
    )
    assert {row.names["op_name"]: row.case for row in found.differences} == {"add": None, "mm": "Twice as long"}
    assert (found.count("known"), found.count("differs")) == (1, 1)


def test_a_known_case_may_name_a_column_that_this_version_lacks(database: duckdb.DuckDBPyConnection) -> None:
    known = "SELECT difference_id, 'never' AS known FROM difference WHERE ratio_there = 1"
    found = compared(database, "(0, 'mm', 3, 1, 1)", "(0, 'mm', 6)", known, columns="rank_id, op_name, count")
    assert (found.columns, found.only_here) == (["count"], ["mean_ns", "ratio"])
    assert [row.case for row in found.differences] == [None]


def test_a_table_that_is_not_there_has_no_rows(database: duckdb.DuckDBPyConnection) -> None:
    database.execute("CREATE TABLE verify.op AS SELECT 0 AS rank_id, 'mm' AS op_name, 3 AS count, 1.0 AS mean_ns, 1 AS ratio")
    found = compare(database, Pair("verify.op", Beside("OpSum", "op_sum", KEYS), TYPES, ""))
    assert [row.how for row in found.differences] == [ONLY_HERE]


def test_a_table_without_the_names_of_its_rows_is_of_another_version(database: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(InputError, match="OpSum: has no column op_name, but rankID, name"):
        compared(database, "(0, 'mm', 3, 1, 1)", "(0, 'mm')", columns='"rankID", name')


def test_each_known_case_has_its_name_in_the_page_of_differences() -> None:
    page = (CHECKOUT / "docs" / "differences.md").read_text(encoding="utf-8")
    named = {text for pair in pairs_of() for text in re.findall(r"'([A-Z][a-z]+ [^']+)'", pair.known)}
    assert len(named) >= 7
    assert {name for name in named if name not in page} == set()
