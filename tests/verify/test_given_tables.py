"""Tables that msprof-analyze has written, in queries: beside a profile, given with it, or alone."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from prof_analysis import QueryError, open_profile
from tests.helpers.cli import Command
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
QUERY = "SELECT rankId, slowAffectCount FROM msprof_analyze.SlowRank ORDER BY 1"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    folder = tmp_path / "result"
    write_profile(
        folder / "host_1_20260101000000000_ascend_pt",
        ranges=[Range("Net", 0, 100)],
        ops=[Op("op", 10, 20, (Kernel("k", 200, 207),))],
        rank=0,
    )
    return folder


def write_database(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / "cluster_analysis.db")) as database:
        database.execute("CREATE TABLE SlowRank (rankId INTEGER, slowAffectCount REAL, host TEXT)")
        database.executemany("INSERT INTO SlowRank VALUES (?, ?, ?)", [(0, 3.0, "10.20.30.40"), (1, 5.5, "\x1b[2J")])
        database.commit()
    return folder / "cluster_analysis.db"


def test_tables_where_msprof_analyze_writes_them_join_ours(profile: Path) -> None:
    write_database(profile / "cluster_analysis_output")
    with open_profile(profile) as opened:
        assert opened.rows(QUERY) == [{"rankId": 0, "slowAffectCount": 3.0}, {"rankId": 1, "slowAffectCount": 5.5}]
        joined = opened.rows("SELECT name, slowAffectCount FROM trace.kernel JOIN msprof_analyze.slowrank ON rankId = rank_id")
        assert joined == [{"name": "k", "slowAffectCount": 3.0}]
        listed = opened.rows("SELECT name FROM (SHOW TABLES) WHERE name LIKE 'msprof_analyze.%'")
        assert listed == [{"name": "msprof_analyze.slowrank"}]
        assert opened.table("msprof_analyze.SlowRank").shape == (2, 3)
        with pytest.raises(QueryError, match=r"no table msprof_analyze\.slowlink: did you mean msprof_analyze\.slowrank"):
            opened.table("msprof_analyze.SlowLink")
        with pytest.raises(QueryError, match=r"no table msprof_analyze\.SlowRank"):
            opened.export_table("msprof_analyze.SlowRank")


def test_a_database_that_is_given_comes_first(profile: Path, tmp_path: Path, command: Command) -> None:
    write_database(profile / "cluster_analysis_output")
    given = write_database(tmp_path / "elsewhere")
    with closing(sqlite3.connect(given)) as database:
        database.execute("DELETE FROM SlowRank WHERE rankId = 0")
        database.commit()
    result = command("sql", "-d", profile, "-d", given, QUERY, "--csv")
    assert result.stdout.splitlines() == ["rankId,slowAffectCount", "1,5.5"]
    result = command("sql", "-d", given, "-d", profile / "cluster_analysis_output" / "cluster_analysis.db", QUERY)
    assert (result.exit_code, "a second cluster_analysis.db" in result.stderr) == (2, True)


def test_a_database_alone_answers_queries_and_says_that_it_has_no_ranks(tmp_path: Path, command: Command) -> None:
    database = write_database(tmp_path / "alone")
    result = command("sql", "-d", database, "SELECT * FROM msprof_analyze.SlowRank")
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 3)
    assert "\x1b" not in result.stdout
    assert command("table", "msprof_analyze.SlowRank", "-d", database).exit_code == 0
    for words in (["ranks"], ["module-stats"], ["diagnose"]):
        result = command(*words, database)
        assert (result.exit_code, result.stderr.splitlines()) == (
            2,
            [f"error: {database}: has no ranks, but tables for sql and table; give the folder of the profile too"],
        )


def test_secrets_are_replaced_in_them(tmp_path: Path) -> None:
    with open_profile(write_database(tmp_path / "alone"), anonymize=True) as opened:
        assert "10.20.30.40" not in str(opened.rows("FROM msprof_analyze.SlowRank"))
        assert str(tmp_path) not in str(opened.rows("SHOW TABLES"))


def test_a_profile_without_such_a_database_has_no_such_table(profile: Path) -> None:
    with open_profile(profile) as opened, pytest.raises(QueryError, match=r"no table msprof_analyze\.slowrank"):
        opened.rows(QUERY)


def test_a_broken_database_names_its_file(profile: Path, command: Command) -> None:
    database = write_database(profile / "cluster_analysis_output")
    database.write_bytes(database.read_bytes()[:4096])
    result = command("sql", "-d", profile, QUERY)
    assert (result.exit_code, str(database) in result.stderr) == (2, True)
    assert command("sql", "-d", profile, "SELECT count(*) FROM trace.kernel").exit_code == 0, "it is not asked"
    shutil.rmtree(database.parent)
