"""The command `tables`: a short list, a search that shows where it found the words, and all columns of a table."""

import re
from pathlib import Path

import pytest

from prof_analysis.cli.tables import names_of_tables
from prof_analysis.engine.schemas import schemas
from prof_analysis.engine.tables import documented_tables
from tests.helpers.cli import Command, only_json, shown_on_terminal
from tests.helpers.says import says


def test_the_list_has_a_line_for_each_table_below_its_folder(command: Command) -> None:
    result = command("tables")
    assert result.exit_code == 0
    folders = {part.split()[0]: part.splitlines()[1:] for part in result.stdout.split("\n\n")[:-1]}
    assert list(folders) == list(schemas())
    shown = [(line.split()[0], line.strip().split("  ", 1)[1].strip()) for lines in folders.values() for line in lines]
    documented = {name: table.summary.removeprefix("One row is ") for name, table in documented_tables().items()}
    assert dict(shown) == documented and len(shown) == len(documented)
    assert result.stdout.splitlines()[-2:] == [
        f"{len(documented)} tables; search: `prof-analysis tables WORD...`",
        f"columns of one: `prof-analysis tables {shown[0][0]}`",
    ]


def test_on_a_terminal_each_table_has_one_line() -> None:
    shown = re.sub(r"\x1b\[[0-9;]*m", "", shown_on_terminal(["tables", "free"], with_stdout=True)).splitlines()
    names = [name for name in documented_tables() if name.startswith("free.")]
    assert [line.split()[0] for line in shown[1 : len(names) + 1]] == sorted(names)
    assert all(len(line) <= 80 for line in shown)


def test_json_has_every_table_and_column(command: Command) -> None:
    in_json = {table["name"]: table for table in only_json(command("tables", "--json"))["tables"]}
    assert in_json.keys() == documented_tables().keys()
    for name, table in documented_tables().items():
        columns = [(column.shown_name, column.shown_type, column.meaning) for column in table.columns]
        assert [tuple(column.values()) for column in in_json[name]["columns"]] == columns
        assert in_json[name]["meaning"] == table.summary
    of_folder = only_json(command("tables", "trace", "--json"))["tables"]
    assert {table["name"] for table in of_folder} == {name for name in in_json if name.startswith("trace.")}


def test_a_table_is_shown_with_all_columns(command: Command) -> None:
    shown = command("tables", "trace.step", "across.step_total").stdout.split("\n\n")
    for text, name in zip(shown, ("trace.step", "across.step_total"), strict=True):
        table = documented_tables()[name]
        width = max(len(column.shown_name) for column in table.columns)
        assert text.splitlines() == [
            name,
            f"  {table.summary}",
            *(f"    {one.shown_name:<{width}}  {one.shown_type}: {one.meaning}" for one in table.columns),
            *["  In front: profile, the folder of the rank, and rank_id."] * (name == "trace.step"),
        ]


OWN = """-- One row is a {} of the ranks.
--
-- rank_count  BIGINT  ranks with a zebra stripe
-- other       BIGINT  something else
SELECT 1::BIGINT AS rank_count, 2::BIGINT AS other
"""


def test_a_search_finds_names_meanings_and_columns_and_shows_where(command: Command, tmp_path: Path) -> None:
    for name, kind in (("zebra", "herd"), ("one", "zebra"), ("two", "horse"), ("three", "donkey")):
        file = tmp_path / "across" / f"{name}_of_mine.sql"
        file.parent.mkdir(exist_ok=True)
        text = OWN.format(kind)
        file.write_text(text if name != "three" else text.replace("zebra stripe", "stripe"), "utf-8")
    found = command("tables", "--sql-folder", tmp_path, "ZEBRA", "of_mine")
    assert found.stdout.splitlines() == [
        "across.one_of_mine",
        "  One row is a zebra of the ranks.",
        "across.two_of_mine",
        "  One row is a horse of the ranks.",
        "    rank_count  BIGINT: ranks with a zebra stripe",
        "across.zebra_of_mine",
        "  One row is a herd of the ranks.",
        "",
        "3 tables; all columns: `prof-analysis tables across.one_of_mine`",
    ]
    in_json = only_json(command("tables", "--sql-folder", tmp_path, "zebra", "horse", "--json"))["tables"]
    column = {"name": "rank_count", "type": "BIGINT", "meaning": "ranks with a zebra stripe"}
    assert in_json == [{"name": "across.two_of_mine", "meaning": "One row is a horse of the ranks.", "columns": [column]}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trace.kernl"], ("no table trace.kernl", "did you mean trace.kernel?", "`prof-analysis tables`")),
        (["modul.tree"], ("no table modul.tree", "did you mean module.tree?", "`prof-analysis tables`")),
        (["Nonesuch"], ("no table Nonesuch", "`prof-analysis tables`")),
        (["kernel", "zebra"], ("no table has all", "kernel, zebra")),
    ],
)
def test_words_that_are_nowhere_are_an_error_that_says_what_was_meant(
    command: Command, words: list[str], said: tuple[str, ...]
) -> None:
    result = command("tables", *words)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", says("error: ", *said))
    assert ("did you mean" in result.stderr) is ("did you mean" in " ".join(said))


def test_a_path_is_no_word(command: Command, tmp_path: Path) -> None:
    result = command("tables", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == says(
        f"error: {tmp_path}: is a folder", "`prof-analysis tables`", f"`prof-analysis ranks {tmp_path}`"
    )


def test_the_shell_completes_names_of_tables() -> None:
    assert names_of_tables("trace.st") == [
        *("trace.stack_frame", "trace.static_memory", "trace.step", "trace.stream_wait", "trace.string")
    ]
    assert sorted(names_of_tables("")) == sorted(documented_tables())
