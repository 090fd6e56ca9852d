"""Macros: a file a topic, each with a comment, each called, and made with those that it calls itself."""

import re

import duckdb
import pytest

from prof_analysis.engine.database import connect
from prof_analysis.engine.macros import create_macros
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
    text = "\n".join(file.read_text(encoding="utf-8") for file in sources)
    assert [name for name in NAMES if not re.search(rf"(?<!EXISTS )\b{name}\(", text)] == []


def test_only_what_an_sql_text_calls_is_made_with_what_that_calls() -> None:
    with connect(macros=False) as connection:
        create_macros(connection, "SELECT Hash_Of_Group (name) FROM trace.communication")
        assert made(connection) == {"hash_of_group", "hash_of_text"}
        create_macros(connection, "SELECT hash_of_text('a', 29), ns_of_us_timestamp('1.5')")
        assert made(connection) == {"hash_of_group", "hash_of_text", "ns_of_us_timestamp", "ns_of_us"}
        create_macros(connection, "SELECT mask_area, count(*) FROM x")
        assert "mask_area" not in made(connection), "a column of that name is no call"
