"""A database that is lent for small work is empty and as one that was just opened, although its instance was used before."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import duckdb
import pytest

from prof_analysis.engine.database import connect, lent
from prof_analysis.engine.macros import create_macros

OTHERS = "('search_path', 'temp_directory', 'memory_limit', 'max_memory')"
SETTINGS = f"SELECT name, value FROM duckdb_settings() WHERE name NOT IN {OTHERS}"


def one(connection: duckdb.DuckDBPyConnection, sql: str) -> object:
    row = connection.execute(sql).fetchone()
    return row and row[0]


def test_nothing_of_the_work_before_is_there() -> None:
    with lent({"step_id": 7}, 1) as connection:
        connection.execute("CREATE SCHEMA stored; CREATE TABLE stored.a AS SELECT 1 AS b; CREATE TEMP TABLE c AS SELECT 1 AS b")
        connection.execute("SET VARIABLE mine = 3; CREATE TYPE kind AS ENUM ('a')")
        create_macros(connection)
        assert one(connection, "SELECT getvariable('step_id')") == 7
    with lent(threads=1) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []
        assert connection.execute("SELECT type_name FROM duckdb_types() WHERE NOT internal").fetchall() == []
        assert connection.execute("SELECT function_name FROM duckdb_functions() WHERE database_name = 'lent'").fetchall() == []
        assert connection.execute("SELECT getvariable('step_id'), getvariable('mine')").fetchall() == [(None, None)]
        create_macros(connection, "SELECT in_one_line(inputs)")
        assert one(connection, "SELECT in_one_line('2,3;\r\n4')") == "2,3;4", "a macro that the work before has made"


def test_settings_are_those_of_a_new_instance_on_one_thread() -> None:
    with connect(threads=1, macros=False) as new:
        expected = new.execute(SETTINGS).fetchall()
    for _ in range(2):
        with lent(threads=1) as connection:
            assert connection.execute(SETTINGS).fetchall() == expected


def test_each_work_has_its_own_limits_also_after_one_that_has_spilled(tmp_path: Path) -> None:
    with lent(None, 1, tmp_path / "a", 50_000_000) as connection:
        connection.execute("CREATE TABLE large AS SELECT range AS a, hash(range) AS b FROM range(8_000_000)")
        assert any((tmp_path / "a").iterdir()), "this is more than the limit"
    for folder, limit in ((tmp_path / "b", 60_000_000), (tmp_path / "c", 70_000_000)):
        with lent(None, 1, folder, limit) as connection:
            assert one(connection, "SELECT current_setting('temp_directory')") == str(folder)
            assert one(connection, "SELECT parse_formatted_bytes(current_setting('memory_limit'))") == pytest.approx(
                limit, rel=0.01
            )
    with lent(threads=1) as connection:
        of_machine = int(str(one(connection, "SELECT parse_formatted_bytes(current_setting('memory_limit'))")))
    assert of_machine > 100_000_000


def test_works_at_the_same_time_and_after_one_that_failed_are_apart() -> None:
    with lent(threads=1) as first, lent(threads=1) as second:
        first.execute("CREATE TABLE a AS SELECT 1 AS b")
        with pytest.raises(duckdb.CatalogException):
            second.execute("FROM a")
    with pytest.raises(duckdb.ConversionException), lent(threads=1) as connection:
        connection.execute("CREATE TABLE a AS SELECT 'x'::INTEGER AS b")
    with lent(threads=1) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []


@pytest.mark.filterwarnings("ignore:This process")
def test_a_fork_uses_an_instance_of_its_own() -> None:
    if sys.platform == "win32":
        pytest.skip("Windows has no fork")
    with lent(threads=1) as connection:
        connection.execute("SELECT 1")
    child = os.fork()
    if child == 0:
        try:
            with lent(threads=1) as connection:
                os._exit(0 if one(connection, "SELECT sum(range) FROM range(1000)") == 499500 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
