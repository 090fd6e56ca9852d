"""The command `verify`: what it runs, what it reads, what it shows, and how it ends."""

import hashlib
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from prof_analysis import InputError, OutputError, open_profile
from prof_analysis.verify.peer import copied, problem_in
from prof_analysis.verify.verifying import verify
from tests.helpers.cli import Command
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
COLUMNS = (
    "parentModule TEXT, module TEXT, opName TEXT, kernelList TEXT,"
    '"totalKernelDuration(ns)" REAL, "avgKernelDuration(ns)" REAL, opCount INTEGER, rankID INTEGER'
)
ROW = ("", "Net", "op", "k", 7.0, 7.0, 1, 0)
# A msprof-analyze that writes a database, also over the profile, and says what went wrong; it always ends with 0.
STAND_IN = """#!{python}
import pathlib, shutil, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
profile, output = pathlib.Path(words["-d"]), pathlib.Path(words["-o"], "cluster_analysis_output")
for database in profile.rglob("*.db"):
    database.write_bytes(b"written over")
print("[2026-01-01 00:00:00][WARNING][entrance.py:155] Security Warning: Do not run this tool as root.")
print("[2026-01-01 00:00:00][INFO][one.py:1] it begins")
if pathlib.Path({database!r}).exists():
    output.mkdir()
    shutil.copyfile({database!r}, output / "cluster_analysis.db")
else:
    print("[2026-01-01 00:00:00][ERROR][one.py:2] Can not export mstx range event from rank 0")
    print("[2026-01-01 00:00:00][INFO][one.py:3] Recipe analysis finished.")
"""


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


def write_database(file: Path, *rows: tuple[object, ...], mark: str = "") -> Path:
    """Write a cluster_analysis.db with a table ModuleStatistic, as msprof-analyze does."""
    with closing(sqlite3.connect(file)) as database:
        database.execute(f"CREATE TABLE ModuleStatistic ({mark}{COLUMNS})")
        database.executemany(f"INSERT INTO ModuleStatistic VALUES ({', '.join('?' * 8)})", rows)
        database.commit()
    return file


def install_stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, database: Path) -> None:
    """Let the command msprof-analyze be one that writes this database, if it is there."""
    command = folder / "bin" / "msprof-analyze"
    command.parent.mkdir()
    command.write_text(STAND_IN.format(python=sys.executable, database=str(database)), encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "executable", str(folder / "python"))


def digests(folder: Path) -> dict[Path, str]:
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file()}


def test_rows_that_agree_end_with_0(profile: Path, tmp_path: Path, command: Command) -> None:
    database = write_database(tmp_path / "cluster_analysis.db", ROW)
    before = digests(profile)
    result = command("verify", profile, "--database", database)
    assert result.exit_code == 0, result.stderr
    assert "1 row agrees with msprof-analyze, 0 differ in a known way, 0 differ in another way, 0 are missing" in result.stdout
    assert digests(profile) == before


def test_rows_that_differ_are_shown_with_both_values_and_end_with_1(profile: Path, tmp_path: Path, command: Command) -> None:
    database = write_database(tmp_path / "cluster_analysis.db", (*ROW[:4], 9.0, *ROW[5:]), ("", "Gone", *ROW[2:]))
    result = command("verify", profile, "--database", database)
    assert result.exit_code == 1
    assert [line.split() for line in result.stdout.splitlines() if line.startswith("0,")] == [
        ["0,", ",", "Net,", "op,", "k", "total_kernel_duration_ns", "7", "9", "ModuleStatistic"],
        ["0,", ",", "Gone,", "op,", "k", "missing", "is", "there", "ModuleStatistic"],
    ]
    facts = json.loads(command("verify", profile, "--database", database, "--json").stdout)["summary"]
    assert facts["rows"] == {"agree": 0, "known": 0, "differ": 1, "only_here": 0, "only_there": 1}
    assert facts["differences"][0]["values"] == [{"column": "total_kernel_duration_ns", "here": "7", "there": "9"}]


def test_gradient_hooks_are_a_known_difference(tmp_path: Path, command: Command) -> None:
    write_profile(
        tmp_path / "host_1_20260101000000000_ascend_pt",
        ranges=[Range("Net", 0, 100)],
        ops=[
            Op("op", 30, 40, (Kernel("k", 1000, 1007),)),
            Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 230, 260, tid=2),
            Op("aclnnMuls", 232, 240, (Kernel("scale", 1020, 1024),), tid=2),
        ],
        rank=0,
    )
    hook = ("", "[Backward]Net", "aclnnMuls", "scale", 4.0, 4.0, 1, 0)
    database = write_database(tmp_path / "cluster_analysis.db", ROW, hook)
    result = command("verify", tmp_path / "host_1_20260101000000000_ascend_pt", "--database", database)
    assert result.exit_code == 0
    assert "1 row agrees with msprof-analyze, 1 differs in a known way" in result.stdout
    assert ["Gradient", "hooks", "1", "ModuleStatistic"] in [line.split() for line in result.stdout.splitlines()]


def test_tables_that_we_wrote_are_not_taken_for_those_of_msprof_analyze(
    profile: Path, tmp_path: Path, command: Command
) -> None:
    assert command("module-stats", profile, "-o", tmp_path).exit_code == 0
    ours = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    result = command("verify", profile, "--database", ours)
    assert result.exit_code == 2
    assert "has no table that msprof-analyze has written" in result.stderr


def test_its_database_is_as_hostile_as_a_profile(profile: Path, tmp_path: Path, command: Command) -> None:
    hostile = ("", "\x1b[2J=cmd|'/c calc'!A1", "op\n", "k\x00", 1.0, 1.0, 1, 0)
    database = write_database(tmp_path / "cluster_analysis.db", ROW, hostile)
    with closing(sqlite3.connect(database)) as writer:
        writer.execute('CREATE TABLE "x""; DROP TABLE y; --" ("a"" b" TEXT)')
        writer.execute("CREATE VIEW CannApiSum AS SELECT 1 AS name")
        writer.commit()
    result = command("verify", profile, "--database", database)
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    (tmp_path / "text.db").write_text("no database", encoding="utf-8")
    result = command("verify", profile, "--database", tmp_path / "text.db")
    assert (result.exit_code, "not a readable SQLite database" in result.stderr) == (2, True)


def test_an_unknown_recipe_is_named_with_those_that_are_compared(profile: Path, command: Command) -> None:
    result = command("verify", profile, "-m", "slow_rank")
    assert result.exit_code == 2
    assert "--mode slow_rank" in result.stderr
    assert "cann_api_sum" in result.stderr


def test_several_runs_are_refused(tmp_path: Path, profile: Path, command: Command) -> None:
    other = tmp_path / "other" / "host_2_20260202000000000_ascend_pt"
    write_profile(other, ranges=[Range("Net", 10**15, 10**15 + 100)], rank=0)
    result = command("verify", profile, "-d", other)
    assert (result.exit_code, "2 runs" in result.stderr) == (2, True), result.stderr


def test_without_msprof_analyze_one_line_says_how_to_get_it(
    profile: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    result = command("verify", profile)
    assert result.exit_code == 2
    assert "pip install 'prof-analysis[msprof-analyze]'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_msprof_analyze_gets_a_copy_of_the_profile(
    profile: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_stand_in(tmp_path, monkeypatch, write_database(tmp_path / "written.db", ROW))
    before = digests(profile)
    result = command("verify", profile, "-m", "module_statistic")
    assert result.exit_code == 0, result.stderr
    assert digests(profile) == before


def test_the_copy_has_plain_names_and_the_files_that_msprof_analyze_reads(profile: Path, tmp_path: Path) -> None:
    rank = profile / "host_1_20260101000000000_ascend_pt"
    odd = rank.rename(profile / "-m 'x'\n_ascend_pt")
    (odd / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text("[]", encoding="utf-8")
    copy = copied([odd, odd], tmp_path / "copy")
    files = [file.relative_to(copy).as_posix() for file in copy.rglob("*") if file.is_file()]
    assert files == ["0/rank_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"]


def test_a_pipe_is_not_copied(profile: Path, tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs named pipes in folders")
    rank = profile / "host_1_20260101000000000_ascend_pt"
    os.mkfifo(rank / "profiler_metadata.json")
    with pytest.raises(OutputError, match=r"cannot be copied .*a named pipe"):
        copied([rank], tmp_path / "copy")


def test_a_recipe_that_wrote_nothing_is_named_with_its_last_error(
    profile: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_stand_in(tmp_path, monkeypatch, tmp_path / "nothing.db")
    result = command("verify", profile, "-m", "module_statistic", "-m", "hccl_sum")
    assert result.exit_code == 2
    assert "wrote nothing to compare; hccl_sum: Can not export mstx range event from rank 0" in result.stderr
    write_database(tmp_path / "nothing.db", ROW)
    result = command("verify", profile, "-m", "module_statistic", "-m", "hccl_sum")
    assert result.exit_code == 0, "hccl_sum named no problem, so that it has no rows, and neither have we"


def test_the_problem_is_an_error_before_a_warning() -> None:
    lines = [
        b"[2026-01-01 00:00:00][ERROR][a.py:1] first",
        b"[2026-01-01 00:00:00][ERROR][a.py:2] Mapper data is None.",
        b"[2026-01-01 00:00:00][WARNING][b.py:3] No data to dump, skipping.",
        b"[2026-01-01 00:00:00][INFO][c.py:4] Recipe finished.",
    ]
    assert problem_in(b"\n".join(lines)) == "first; Mapper data is None."
    assert problem_in(lines[2], lines[3]) == "No data to dump, skipping."
    assert problem_in(lines[3]) == ""
    assert problem_in(b"", b"Traceback (most recent call last):\nImportError: no pandas") == "ImportError: no pandas"


def test_secrets_are_replaced_on_both_sides(tmp_path: Path) -> None:
    group = "10.20.30.40%eth0_60000_0_1767225600000000"
    folder = tmp_path / "host_1_20260101000000000_ascend_pt"
    write_profile(folder, ops=[Op("op", 10, 20, (Kernel("hcom_allReduce__1", 200, 207, "communication"),))], rank=0)
    with closing(sqlite3.connect(next(folder.rglob("*.db")))) as database:
        database.execute("INSERT INTO STRING_IDS VALUES (99, ?)", (group,))
        database.execute("UPDATE COMMUNICATION_OP SET groupName = 99")
        database.commit()
    with closing(sqlite3.connect(tmp_path / "cluster_analysis.db")) as database:
        database.execute("CREATE TABLE HcclGroupNameMap (GroupName TEXT, GroupId TEXT, Ranks TEXT)")
        database.executemany("INSERT INTO HcclGroupNameMap VALUES (?, '1', '0')", [(group,), ("10.20.30.41%eth0_60000_0_1",)])
        database.commit()
    with open_profile(folder, anonymize=True) as profile:
        found = verify(profile, database=tmp_path / "cluster_analysis.db")
    (compared,) = found.compared
    assert compared.agreeing == 1
    assert "10.20.30" not in str(compared.differences)


def test_a_database_without_tables_to_compare_says_what_it_has(profile: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "cluster_analysis.db")) as database:
        database.execute("CREATE TABLE SlowRank (rankId INTEGER, slowAffectCount INTEGER)")
        database.commit()
    with (
        open_profile(profile) as opened,
        pytest.raises(InputError, match=r"has only SlowRank; give one that has some of .*CannApiSum"),
    ):
        verify(opened, database=tmp_path / "cluster_analysis.db")


def test_a_table_of_another_version_costs_no_other_its_answer(profile: Path, tmp_path: Path, command: Command) -> None:
    database = write_database(tmp_path / "cluster_analysis.db", ROW)
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("CREATE TABLE CannApiSum (api TEXT, totalTimeNs INTEGER)")
        writer.commit()
    result = command("verify", profile, "--database", database)
    assert result.exit_code == 0
    assert "1 row agrees with msprof-analyze" in result.stdout
    assert "cann_api_sum: not compared: CannApiSum: has no column name, but api" in result.stdout
