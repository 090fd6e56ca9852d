"""How many tables and statements each command makes: a count is exact where a time is not.

A change that makes more says so: `pytest -m "slow or not slow" tests/run/test_counts.py --update` writes the page anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from prof_analysis.analyses import ANALYSES
from prof_analysis.common.user_cache import VARIABLE
from tests.helpers import pages
from tests.helpers.cli import Command
from tests.helpers.places import CHECKOUT, SAMPLE

PAGE = CHECKOUT / "benchmarks" / "counts.md"
HEAD = """# Tables and statements of each command

Of the first question about one rank of the sample, without a cache, by a program that knows its own SQL and macros: the tables
that are made in DuckDB, and all statements that it runs. A table of few rows takes 2 to 4 ms, whatever they are.
`tests/run/test_counts.py` holds these figures; with `--update` it writes this page anew.

| command | tables | statements |
|---|---|---|
"""
(RANK,) = (SAMPLE / "decoder_training").glob("node0_4242_*")
# What the sample has no records of at all.
NOT_IN_THE_SAMPLE = {"graph-overhead", "stacks"}
COMMANDS = {name: [name, str(RANK)] for name in ANALYSES.keys() - NOT_IN_THE_SAMPLE} | {
    "compare": ["compare", str(RANK), str(RANK)],
    "module-stats --export_type db": ["module-stats", str(RANK), "--export_type", "db", "-o", "out"],
    "report": ["report", str(RANK), "-o", "out"],
    "timeline": ["timeline", str(RANK), "-o", "out"],
}
QUICK = ("module-stats",)
TEXTS = "CREATE TABLE trace.string AS"
CREATES_TABLE = re.compile(r"\s*CREATE (OR REPLACE )?(TEMP(ORARY)? )?TABLE", re.IGNORECASE)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The texts of the statements that DuckDB runs in this process, in a folder of its own and without a cache."""
    texts: list[str] = []
    execute = duckdb.DuckDBPyConnection.execute

    def listed(connection: duckdb.DuckDBPyConnection, query: Any, parameters: Any = None) -> Any:
        text = query if isinstance(query, str) else query.query
        if not text.startswith("SET enable_progress_bar"):  # Which a process needs in which a notebook was shown.
            texts.append(text)
        return execute(connection, query, parameters)

    monkeypatch.setattr(duckdb.DuckDBPyConnection, "execute", listed)
    monkeypatch.setenv(VARIABLE, "off")
    monkeypatch.chdir(tmp_path)
    return texts


def counted(words: Iterable[str], command: Command, statements: list[str]) -> tuple[int, int]:
    """Return how many tables and statements a command makes, once what it needs to know of the SQL is known."""
    for _ in range(2):
        statements.clear()
        result = command(*words, "--quiet")
        assert result.exit_code == 0, result.stderr
    return sum(CREATES_TABLE.match(text) is not None for text in statements), len(statements)


def rows() -> dict[str, tuple[int, int]]:
    found = re.findall(r"^\| `(.+)` \| (\d+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {command: (int(tables), int(statements)) for command, tables, statements in found}


@pytest.mark.parametrize("name", QUICK)
def test_a_command_makes_as_many_tables_and_statements_as_the_page_says(
    name: str, command: Command, statements: list[str]
) -> None:
    assert counted(COMMANDS[name], command, statements) == rows()[name]


@pytest.mark.slow
def test_all_commands_make_as_many_as_the_page_says(command: Command, statements: list[str]) -> None:
    counts = {}
    for name, words in sorted(COMMANDS.items()):
        counts[name] = counted(words, command, statements)
        # All tables of a question are made in one go, or the files are read again: of two ranks, texts are staged twice.
        assert sum(text.startswith(TEXTS) for text in statements) == words.count(str(RANK)), name
    lines = [f"| `{name}` | {tables} | {all_statements} |\n" for name, (tables, all_statements) in counts.items()]
    pages.assert_is_current(PAGE, HEAD + "".join(lines))
