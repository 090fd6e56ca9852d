"""Macros: a file a topic, each with a comment, each called, and made with those that it calls itself."""

from __future__ import annotations

import random
import re
from time import process_time

import duckdb
import pytest

from prof_analysis.engine.database import connect
from prof_analysis.engine.macros import _CALL, create_macros
from prof_analysis.engine.statements import sql_folder

FILES = sorted((sql_folder() / "macros").glob("*.sql"))
TEXTS = [file.read_text(encoding="utf-8") for file in FILES]
NAMES = [name for text in TEXTS for name in re.findall(r"^CREATE MACRO IF NOT EXISTS (\w+)", text, re.MULTILINE)]


def made(connection: duckdb.DuckDBPyConnection) -> set[str]:
    rows = connection.execute("SELECT function_name FROM duckdb_functions() WHERE NOT internal").fetchall()
    return {row[0] for row in rows}


def test_every_macro_is_made_and_has_a_name_of_its_own() -> None:
    assert len(NAMES) == len(set(NAMES))
    with connect() as connection:
        assert made(connection) == set(NAMES)
        built_in = connection.execute("SELECT function_name FROM duckdb_functions() WHERE internal").fetchall()
    assert not set(NAMES) & {row[0] for row in built_in}, "it would hide a function of DuckDB"


@pytest.mark.parametrize("text", TEXTS, ids=[file.stem for file in FILES])
def test_a_comment_above_each_macro_says_what_it_gives(text: str) -> None:
    assert re.fullmatch(r"((^-- .+\n)+CREATE MACRO IF NOT EXISTS \w+\((.|\n(?!--))*?;\n\n?)+", text, re.MULTILINE)


def test_every_macro_is_called() -> None:
    sources = [*sql_folder().rglob("*.sql"), *(sql_folder().parent / "prof_analysis" / "sources").rglob("*.py")]
    sources.append(sql_folder().parent / "prof_analysis" / "engine" / "sentences.py")
    called = {name for file in sources for name in re.findall(r"(?<!EXISTS )\b(\w+)\(", file.read_text(encoding="utf-8"))}
    assert set(NAMES) <= called


def test_only_what_an_sql_text_calls_is_made_with_what_that_calls() -> None:
    with connect(macros=False) as connection:
        create_macros(connection, "SELECT Hash_Of_Group (name) FROM trace.communication")
        assert made(connection) == {"hash_of_group", "hash_of_text"}
        create_macros(connection, "SELECT hash_of_text('a', 29), ns_of_us_timestamp('1.5')")
        assert made(connection) == {"hash_of_group", "hash_of_text", "ns_of_us_timestamp", "ns_of_us"}
        create_macros(connection, "SELECT mask_area, count(*) FROM x")
        assert "mask_area" not in made(connection), "a column of that name is no call"


def test_calls_are_found_as_by_a_plain_pattern_and_a_long_name_is_read_once() -> None:
    drawn = random.Random(1)
    texts = [*TEXTS, *("".join(drawn.choices("a_é1 (\n)'", k=20)) for _ in range(1000))]
    assert [_CALL.findall(text) for text in texts] == [re.findall(r"\w+(?=\s*\()", text) for text in texts]
    before = process_time()
    assert _CALL.findall(f"SELECT '{'x' * 40_000}', mask_area(1)") == ["mask_area"]
    assert process_time() - before < 1, "the plain pattern takes 10 s"


def test_nearest_ranks_of_values_and_of_counted_values_are_one_number() -> None:
    """Tables of single values take quantile_disc(), tables of values with counts nearest_rank(); a third way is by hand."""
    drawn = random.Random(1)
    groups = [(size, drawn.choices(range(drawn.choice((3, 1000))), k=size)) for size in [*range(1, 210), 999, 1000, 2000]]
    with connect() as connection:
        connection.execute("CREATE TABLE single (size BIGINT, value BIGINT)")
        for size, values in groups:
            connection.execute("INSERT INTO single SELECT $1, unnest($2::BIGINT[]) UNION ALL SELECT $1, NULL", [size, values])
        single = connection.execute(
            "SELECT size, quantile_disc(value, 0.5), quantile_disc(value, 0.95), quantile_disc(value, 0.99) "
            "FROM single GROUP BY size ORDER BY size"
        ).fetchall()
        counted = connection.execute(
            "WITH counted AS (SELECT size, value, count(*) AS n FROM single WHERE value IS NOT NULL GROUP BY size, value), "
            "ranked AS (SELECT *, sum(n) OVER (PARTITION BY size ORDER BY value) AS up_to, "
            "sum(n) OVER (PARTITION BY size) AS of_all FROM counted) "
            "SELECT size, nearest_rank(value, up_to, of_all, 50), nearest_rank(value, up_to, of_all, 95), "
            "nearest_rank(value, up_to, of_all, 99) FROM ranked GROUP BY size ORDER BY size"
        ).fetchall()
    by_hand = [(size, *(sorted(values)[-(-size * percent // 100) - 1] for percent in (50, 95, 99))) for size, values in groups]
    assert single == by_hand
    assert counted == by_hand
