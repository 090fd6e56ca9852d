"""A link in the folder of a profile, which somebody else may have made, does not choose where exports go."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from tests.helpers.cli import files_below
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

Command = Callable[..., Result]
OUTPUT = "cluster_analysis_output"
FORMATS = ("db", "xlsx", "csv", "parquet", "json", "duckdb", "trace", "speedscope", "collapsed")


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    folder = tmp_path / "profile"
    ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)
    write_profile(folder / "0_ascend_pt", ops, (Range("Net", 100, 200),), rank=0)
    (tmp_path / "mine").mkdir()
    return folder


def linked(link: Path, to: Path) -> Path:
    link.parent.mkdir(exist_ok=True)
    try:
        link.symlink_to(to)
    except OSError:
        pytest.skip("no links here")
    return link


def assert_refused(result: Result, link: Path) -> None:
    assert result.exit_code == 3
    said = says(f"error: {link}: ", "is a link", "not followed", "remove it", "another folder with -o")
    assert said in result.stderr.splitlines()


@pytest.mark.parametrize(
    "export_type", [pytest.param(one, marks=() if one in ("db", "csv") else pytest.mark.slow) for one in FORMATS]
)
def test_a_link_in_place_of_the_folder_is_not_followed(
    export_type: str, profile: Path, tmp_path: Path, command: Command
) -> None:
    link = linked(profile / OUTPUT, tmp_path / "mine")
    assert_refused(command("module-stats", profile, "--export-type", export_type), link)
    assert files_below(tmp_path / "mine") == {}


@pytest.mark.parametrize("words", [(), ("-o", ".")])
def test_a_link_in_place_of_the_database_is_not_followed_whoever_names_the_folder(
    words: tuple[str, ...], profile: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(profile)
    database = tmp_path / "mine" / "mine.db"
    with closing(sqlite3.connect(database)) as mine:
        mine.execute("CREATE TABLE a (x)")
    before = files_below(tmp_path / "mine")
    link = linked(profile / OUTPUT / "cluster_analysis.db", database)
    shown = Path(OUTPUT, "cluster_analysis.db") if words else link
    assert_refused(command("module-stats", profile, "--export-type", "db", *words), shown)
    assert files_below(tmp_path / "mine") == before


@pytest.mark.slow
def test_a_link_to_nowhere_makes_no_file_there(profile: Path, tmp_path: Path, command: Command) -> None:
    link = linked(profile / OUTPUT / "cluster_analysis.db", tmp_path / "mine" / "new.db")
    assert_refused(command("module-stats", profile, "--export-type", "db"), link)
    assert files_below(tmp_path / "mine") == {}


def test_a_link_to_a_database_of_the_profile_changes_no_input(profile: Path, command: Command) -> None:
    (database,) = profile.rglob("*.db")
    before = database.read_bytes()
    link = linked(profile / OUTPUT / "cluster_analysis.db", database)
    assert_refused(command("module-stats", profile, "--export-type", "db"), link)
    assert database.read_bytes() == before


@pytest.mark.slow
def test_a_link_in_place_of_the_folder_of_workbooks_is_not_followed(profile: Path, tmp_path: Path, command: Command) -> None:
    link = linked(profile / OUTPUT / "ModuleStatistic", tmp_path / "mine")
    assert_refused(command("module-stats", profile, "--export-type", "xlsx"), link)
    assert files_below(tmp_path / "mine") == {}


def test_a_link_in_place_of_a_file_is_replaced(profile: Path, tmp_path: Path, command: Command) -> None:
    mine = tmp_path / "mine" / "mine.csv"
    mine.write_text("mine", encoding="utf-8")
    link = linked(profile / OUTPUT / "module_statistic.csv", mine)
    assert command("module-stats", profile, "--export-type", "csv").exit_code == 0
    assert (mine.read_text(encoding="utf-8"), link.is_symlink()) == ("mine", False)


@pytest.mark.slow
def test_links_in_a_path_that_the_user_gives_are_followed(profile: Path, tmp_path: Path, command: Command) -> None:
    given, own = linked(tmp_path / "given", tmp_path / "mine"), linked(tmp_path / "own", profile)
    linked(tmp_path / "mine" / OUTPUT, tmp_path)
    assert command("module-stats", profile, "-o", given).exit_code == 0
    assert (tmp_path / "cluster_analysis.db").is_file()
    assert command("module-stats", own, "--export-type", "db").exit_code == 0
    assert (profile / OUTPUT / "cluster_analysis.db").is_file()


def test_a_link_beside_a_log_is_not_followed(tmp_path: Path, command: Command) -> None:
    logs, mine = tmp_path / "logs", tmp_path / "mine"
    mine.mkdir()
    link = linked(logs / OUTPUT, mine)
    line = "Profile execute duration [Decode]: [forward]:1.23ms [sample]:0.45ms\n"
    (logs / "a.log").write_text(line, encoding="utf-8")
    assert_refused(command("stage-durations", logs / "a.log", "--export-type", "db"), link)
    assert files_below(mine) == {}
