"""Answers are printed whatever their tables may hold: unknown values, no rows, and texts that would steer a terminal."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

import duckdb
import pytest

from prof_analysis import Profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answer import Answer
from prof_analysis.analyses.answering import answer_of
from prof_analysis.analyses.words import as_text
from prof_analysis.cli.lines import console, text_of
from prof_analysis.cli.screen import print_json
from prof_analysis.cli.terminal import print_answer
from prof_analysis.engine.parsing import referenced_tables
from prof_analysis.engine.planning import split_across_ranks
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.table_file import Column, Table
from prof_analysis.engine.tables import documented_tables, log_tables
from prof_analysis.logs.answer import stage_durations
from prof_analysis.logs.vllm_stages import StageLogs
from tests.helpers.empty_database import empty_database
from tests.helpers.places import CHECKOUT
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

# Clears the screen, turns the direction of the text, and begins a line of its own.
HOSTILE = "a\x1b[2J\x9b31m\u202e\x7f\u2028\r\nFORGED"
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Texts of which a summary knows all that there are.
KNOWN_TEXTS = {"phase": "call"}
# What the figures of a command can be of, beside what they are of by default.
LEVELS = {"mfu": ("op", "kernel", "rank"), "pmu-stats": ("op", "module")}
# The commands, and what else their answers can be about.
CASES = [
    *(pytest.param(command, {}, id=command) for command in ANALYSES),
    pytest.param("module-stats", {"by": "rank"}, id="module-stats by rank"),
    # The answer of modules with counters is that of modules and that of counters.
    pytest.param("module-stats", {"by": "counter"}, id="module-stats by counter", marks=pytest.mark.slow),
    *(
        pytest.param(command, {"by": level}, id=f"{command} of each {level}", marks=pytest.mark.slow)
        for command, levels in LEVELS.items()
        for level in levels
    ),
]


class WatchedProfile(Profile):
    """A profile that remembers which tables were read."""

    def __init__(self, path: Path, store: Path) -> None:
        self.read: set[str] = set()
        self.kept: dict[str, tuple[list[str], bool]] = {}
        super().__init__(path, cache=store)

    def rows(self, query: str) -> list[dict[str, Any]]:
        self.read |= referenced_tables(query)
        return super().rows(query)

    def known_values(self, table: Table, columns: list[str]) -> int:
        """How many values of these columns are not NULL."""
        counts = " + ".join(["count(NULL)", *(f"count({quote(column)})" for column in columns)])
        return int(super().rows(f"SELECT {counts} AS known FROM {table.name}")[0]["known"])


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedProfile]:
    """Two ranks whose tables were made already, each of two rows in which everything is known."""
    folder = tmp_path_factory.mktemp("ranks")
    for rank in (0, 1):
        kernel = Kernel("k", 1000, 1010)
        write_profile(folder / f"{rank}_ascend_pt", [Op("op", 110, 120, (kernel,))], [Range("Net", 100, 200)], rank=rank)
    names = {name for analysis in ANALYSES.values() for name in (*analysis.tables, *analysis.of_several_ranks)}
    with closing(WatchedProfile(folder, folder / "store")) as profile:
        for name in split_across_ranks(tuple(sorted(names)))[0]:
            keep(profile, documented_tables()[name])
        yield profile


def keep(profile: WatchedProfile, table: Table, unknown: Iterable[str] = (), are_there: bool = True) -> None:
    """Let the store hold a table of each rank, with columns that are all NULL, or without rows."""
    state = list(unknown), are_there
    if profile.kept.get(table.name) == state:
        return
    profile.kept[table.name] = state
    with duckdb.connect(config={"threads": 1}) as connection:
        for number, folder in enumerate(sorted(path.parent for path in profile.path.glob("store/*/about.json"))):
            name, rank_id = quote_text(f"{HOSTILE} {number}"), "NULL" if "rank_id" in unknown else number
            rank = f"{name} AS profile, {rank_id}::INTEGER AS rank_id"
            rows = f"SELECT {rank}, {cells_of(table, unknown)} FROM range({2 * are_there})"
            connection.execute(f"COPY ({rows}) TO {quote_text(str(folder / f'{table.name}.parquet'))} (FORMAT parquet)")


def cells_of(table: Table, unknown: Iterable[str]) -> str:
    return ", ".join(
        f"{'NULL' if column.shown_name in unknown else known(column)}::{column.shown_type} AS {quote(column.shown_name)}"
        for column in table.columns
    )


def known(column: Column) -> str:
    if column.shown_type.startswith("ENUM"):
        return f"enum_first(NULL::{column.shown_type})"
    values = {"VARCHAR": quote_text(KNOWN_TEXTS.get(column.name, HOSTILE)), "BOOLEAN": "true"}
    return "[]" if column.shown_type.endswith("[]") else values.get(column.shown_type, "range + 1")


def may_be_unknown(table: Table) -> list[str]:
    """The columns of which the head says that they may be NULL, or that they are as the one before, of which it says so."""
    found: list[str] = []
    before = ""
    for column in table.columns:
        if "NULL" in column.meaning or (column.meaning.startswith(("the same", "as ")) and before in found):
            found.append(column.shown_name)
        before = column.shown_name
    return found


def check(answer: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    """Print an answer, for the screen and as JSON."""
    print_answer(answer, [Path(f"/tmp/{HOSTILE}")])
    printed = capsys.readouterr().out
    assert "wrote " in printed
    assert not STEERING.findall(printed)
    assert not [line for line in printed.splitlines() if line.lstrip().startswith("FORGED")]
    print_json(**answer.facts)
    in_json = capsys.readouterr().out
    assert not STEERING.findall(in_json)
    about = json.loads(in_json, parse_constant=pytest.fail)
    assert {name: value for name, value in about.items() if name not in ("schema_version", "command")} == answer.facts


@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
@pytest.mark.parametrize("alone", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["together", "each alone"])
@pytest.mark.parametrize(("command", "options"), CASES)
@pytest.mark.slow
def test_a_summary_is_printed_whatever_is_unknown(
    profile: WatchedProfile, capsys: pytest.CaptureFixture[str], command: str, options: dict[str, Any], alone: bool
) -> None:
    profile.read.clear()
    check(answer_of(profile, command, 10, **options), capsys)
    assert profile.read
    read = split_across_ranks(tuple(sorted(profile.read)))[0]
    level = f".{options['by']}" if command in LEVELS and options else ""
    tables = [documented_tables()[name] for name in read if name.endswith(level)]
    columns = [may_be_unknown(table) for table in tables]
    # In all tables at once: all that may be NULL, the rank id, and one column of each after the other.
    singles = [[[name] if name else [] for name in names] for names in zip_longest(*columns)] if alone else []
    for variant in (columns, [["rank_id"] for _ in tables], *singles):
        for table, unknown in zip(tables, variant, strict=True):
            keep(profile, table, unknown)
        if variant is columns:
            assert not any(map(profile.known_values, tables, columns))
        try:
            check(answer_of(profile, command, 10, **options), capsys)
        except Exception as error:
            error.add_note(f"NULL: {dict(zip((table.name for table in tables), variant, strict=True))}")
            raise
    for empty in [[table] for table in tables] if alone else [tables]:
        for table in empty:
            keep(profile, table, are_there=False)
        check(answer_of(profile, command, 10, **options), capsys)
        for table in empty:
            keep(profile, table)


def test_the_summary_of_logs_is_printed_whatever_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    tables = log_tables()
    columns = [may_be_unknown(table) for table in tables]
    singles = [[[name] if name else [] for name in names] for names in zip_longest(*columns)]
    with empty_database() as connection:
        connection.execute("CREATE SCHEMA vllm")
        for rows in (0, 2):
            for variant in (columns, *singles):
                for table, unknown in zip(tables, variant, strict=True):
                    # All logs together are always one row.
                    made = table.body if table.name == "vllm.total" else f"SELECT {cells_of(table, unknown)} FROM range({rows})"
                    connection.execute(f"CREATE OR REPLACE TABLE {table.name} AS {made}")
                check(stage_durations(StageLogs(connection), 10), capsys)


def test_all_texts_of_answers_go_one_way_to_the_screen() -> None:
    package = CHECKOUT / "prof_analysis"
    files = [*(package / "analyses").rglob("*.py"), *(package / "cli").rglob("*.py")]
    using = {file.name for file in files if re.search(r"\bText\b[(.]|rich\.console", file.read_text(encoding="utf-8"))}
    assert using == {"lines.py", "screen.py"}, "of which screen.py draws the progress bar"


@pytest.mark.parametrize("colours", ["", "1"])
def test_no_text_steers_a_terminal(colours: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", colours)
    console().print(text_of("red\x1b[31m\r", "dim") + text_of("\u202e[bold]\n"))
    assert r"red\x1b[31m\r" in (said := capsys.readouterr().out)
    assert r"\u202e[bold]\n" in said


def test_a_rate_keeps_its_digits_however_small_it_is() -> None:
    assert [as_text(value, "rate") for value in (1234.56, 1, 0.95, 0.049, 0.00012, 0, None)] == [
        "1,234.6", "1.0", "0.95", "0.049", "0.00012", "0.0", "-"
    ]  # fmt: skip
