"""Tables of a user's own: what docs/own-sql.md promises, and what is said of a file that cannot be a table."""

import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import InputError, Profile, QueryError, open_profile, open_profiles
from prof_analysis.engine.own_tables import read_own_tables
from prof_analysis.engine.tables import documented_tables
from prof_analysis.run import machine
from prof_analysis.run.cache.store import RankStore, entry_folder
from prof_analysis.run.job import Job, own_code
from prof_analysis.run.work import run_elsewhere
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.places import CHECKOUT, SAMPLE
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

Command = Callable[..., Result]

GUIDE = (CHECKOUT / "docs" / "own-sql.md").read_text(encoding="utf-8")
CASES = "".join(re.findall(r"<!-- ours/short_kernel.cases.md -->\n```md\n(.+?)```", GUIDE, re.DOTALL))
OPS = (Op("aten::mm", 110, 120, (Kernel("k", 1000, 1040), Kernel("k", 1050, 1060))), Op("add", 130, 140, (Kernel("k", 1, 5),)))
HEAD = "-- One row is an op.\n--\n-- op_name_id  TEXT_ID  its name\n-- total_ns    BIGINT   its kernel time, ns\n"
TOTAL = f"{HEAD}SELECT op_name_id, sum(duration_ns)::BIGINT AS total_ns FROM module.kernel GROUP BY op_name_id"


def block_behind(mark: str) -> str:
    match = re.search(rf"<!-- {re.escape(mark)} -->\n```\w*\n(.+?)```", GUIDE, re.DOTALL)
    assert match
    return match[1]


def written(folder: Path, **tables: str) -> Path:
    """Write tables, `ours__total` as ours/total.sql."""
    for name, text in tables.items():
        file = folder / f"{name.replace('__', '/')}.sql"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def number(text: str, value: str = "1") -> str:
    """A table with one number, made by a SELECT."""
    return f"-- One row is a number.\n--\n-- {text}  INTEGER  a number\nSELECT {value} AS {text}"


@pytest.fixture
def profile_folder(tmp_path: Path) -> Path:
    write_profile(tmp_path / "profiles" / "0_ascend_pt", OPS, (Range("Net", 100, 200),))
    return tmp_path / "profiles"


def rows(profile: Profile, table: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in profile.rows(f"FROM {table}")]


@pytest.mark.slow
def test_the_guide_runs(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("result", "result_1", "result_2"):
        (tmp_path / name).symlink_to(SAMPLE / "decoder_training")
    (tmp_path / "result_2").unlink()
    shutil.copytree(SAMPLE / "decoder_training", tmp_path / "result_2")
    tables = re.findall(r"<!-- (\w+)/(\w+)\.sql -->", GUIDE)
    assert tables == [("ours", "short_kernel"), ("runs", "module_time")]
    written(tmp_path / "sql", **{f"{schema}__{name}": block_behind(f"{schema}/{name}.sql") for schema, name in tables})
    (tmp_path / "sql" / "ours" / "short_kernel.cases.md").write_text(CASES, encoding="utf-8")
    for line in "".join(re.findall(r"<!-- commands -->\n```sh\n(.+?)```", GUIDE, re.DOTALL)).splitlines():
        words = shlex.split(line)
        assert words[0] == "prof-analysis"
        done = command(*words[1:], *(["-o", "."] if words[1] == "table" else []))
        assert (done.exit_code, done.stderr) == (0, ""), line
        assert ("1 case, all hold" if words[1] == "test" else "kernel_count") in done.stdout
    assert (tmp_path / "cluster_analysis_output" / "ours_short_kernel.csv").read_text().startswith("profile,rank_id,op_name,")
    with closing(sqlite3.connect(tmp_path / "cluster_analysis_output" / "cluster_analysis.db")) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(OursShortKernel)")]
    assert columns == ["profile", "rank_id", "op_name", "kernel_count", "duration_ns"]
    for mark in ("python", "runs"):
        code = block_behind(mark).replace('export_type="parquet"', 'folder=".", export_type="parquet"')
        exec(compile(code, mark, "exec"), {})
    assert (tmp_path / "cluster_analysis_output" / "ours_short_kernel.parquet").exists()


@pytest.mark.slow
def test_a_table_of_each_rank_over_ranks_and_behind_another_of_ones_own(tmp_path: Path, profile_folder: Path) -> None:
    write_profile(profile_folder / "1_ascend_pt", OPS[1:], rank=1)
    folder = written(
        tmp_path / "sql",
        ours__total=TOTAL,
        ours__large="-- One row is an op with much.\n--\n-- op_name_id  TEXT_ID  its name\n"
        "SELECT op_name_id\nFROM ours.total WHERE total_ns > 10; \n",
        across__total="-- One row is an op.\n--\n-- op_name  VARCHAR  its name\n-- rank_count  BIGINT  ranks\n"
        "SELECT op_name, count(DISTINCT profile) AS rank_count FROM ours.total GROUP BY ALL ORDER BY ALL -- the end",
    )
    with open_profile(profile_folder, sql=folder) as profile:
        assert rows(profile, "ours.total") == [
            ("0_ascend_pt", 0, "aten::mm", 50),
            ("0_ascend_pt", 0, "add", 4),
            ("1_ascend_pt", 1, "add", 4),
        ]
        assert rows(profile, "ours.large") == [("0_ascend_pt", 0, "aten::mm")]
        assert rows(profile, "across.total") == [("add", 2), ("aten::mm", 1)]
        assert profile.table("ours.large").columns.tolist() == ["profile", "rank_id", "op_name"]


def test_tables_of_one_profile_are_not_those_of_another(tmp_path: Path, profile_folder: Path) -> None:
    first, second = (written(tmp_path / name, ours__number=number("a", name[-1])) for name in ("sql1", "sql2"))
    with (
        open_profile(profile_folder, sql=first) as one,
        open_profile(profile_folder, sql=second) as other,
        open_profile(profile_folder) as without,
    ):
        assert [rows(profile, "ours.number")[0][2] for profile in (one, other)] == [1, 2]
        with pytest.raises(QueryError, match=r"there is no table ours\.number"):
            without.table("ours.number")
    assert "ours.number" not in documented_tables()


def test_the_store_keeps_what_a_table_gives_until_its_file_changes(tmp_path: Path, profile_folder: Path) -> None:
    found = []
    for value in ("1", "2", "1"):
        folder = written(tmp_path / "sql", ours__number=number("a", value))
        with open_profile(profile_folder, sql=folder, cache=tmp_path / "store") as profile:
            found.append(rows(profile, "ours.number")[0][2])
    assert found == [1, 2, 1]


@pytest.mark.slow
def test_workers_have_the_same_tables(tmp_path: Path, profile_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In processes of their own and on a cluster, which get the tables with the job, though the folder is gone by then."""
    write_profile(profile_folder / "1_ascend_pt", OPS[1:], rank=1)
    folder = written(tmp_path / "sql", ours__total=TOTAL)
    monkeypatch.setattr(machine, "_WORTH_PROCESSES_BYTES", 0)
    own = read_own_tables(folder)
    with open_profile(profile_folder, sql=folder, workers=2) as profile:
        (folder / "ours" / "total.sql").unlink()
        assert len(rows(profile, "ours.total")) == 3
    rank = find_ranks(profile_folder)[1]
    job = Job(rank, ("ours.total",), {}, entry_folder(tmp_path / "store", rank), own)
    assert run_elsewhere(job, own_code()).failure is None
    assert RankStore(job.folder, rank, {}, own).file("ours.total").exists()


TREE = "-- One row is a module.\n--\n-- module  VARCHAR  its name\nSELECT module FROM "


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        pytest.param("ours__x", "DROP TABLE trace.op", "no column", id="no head"),
        pytest.param("ours__x", "-- One row is x.\nSELECT 1 AS x", "no column", id="no columns"),
        pytest.param("ours__x", "-- One row is x.\n--\n-- x: number\nSELECT 1", "no column: x: number; a head", id="line"),
        pytest.param("ours__x", number("x").replace("SELECT 1 AS x", "DELETE FROM x.y"), "only a SELECT", id="no SELECT"),
        pytest.param("ours__x", f"{number('x')}; DROP TABLE trace.op", "only a SELECT", id="two statements"),
        pytest.param("ours__x", number("x", "1) UNION (SELECT 2"), "cannot be read", id="parentheses"),
        pytest.param("ours__x", number("x").replace("SELECT 1 AS x", ""), "below its head", id="no body"),
        pytest.param("module__tree", number("x"), "already a table module.tree", id="one of ours"),
        pytest.param("trace__x", number("x"), "schema trace", id="schema of the engine"),
        pytest.param("ours__X", number("x"), "names of small letters", id="capitals"),
        pytest.param("order__x", number("x"), "not a word of SQL", id="word of SQL"),
        pytest.param("x", number("x"), "folder of its schema", id="no schema"),
        pytest.param("ours__x", f"{TREE}module.tre", ("module.tre", "does not exist"), id="unknown need"),
        pytest.param("ours__x", f"{TREE}ours.x", ("need each other", "ours.x -> ours.x"), id="itself"),
        pytest.param("ours__x", f"{TREE}across.module", ("of each rank", "reads across.module"), id="grain"),
        pytest.param("across__x", f"{TREE}vllm.log", ("over ranks", "reads vllm.log"), id="logs"),
        pytest.param("ours__x", f"{TREE}trace.op", 'column "module" not found', id="unknown column"),
        pytest.param("ours__x", number("x", "'a'"), ("head says x INTEGER", "SELECT gives x VARCHAR"), id="type"),
        pytest.param("ours__x", number("x", "1::BIGINT AS y, 2"), "SELECT gives y BIGINT, x INTEGER", id="columns"),
        pytest.param("ours__x", number("rank_id"), ("a column rank_id", "every such table"), id="taken"),
        pytest.param("across__run", number("run"), ("a column run", "every such table"), id="run"),
        pytest.param("across__x", number("x").replace("INTEGER", "TEXT_ID"), "declare VARCHAR", id="text id"),
        pytest.param("ours__x", f"{TREE}read_csv('x.csv')", "reads a file", id="file"),
        pytest.param("ours__x", f"{TREE}'x.csv'", "reads a file", id="file by name"),
        pytest.param("advice__x", number("x"), "@title, @evidence, @kind and @remedy", id="rule"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_a_table_is_named_with_what_to_do(
    tmp_path: Path, name: str, text: str, words: str | tuple[str, ...]
) -> None:
    folder = written(tmp_path / "sql", **{name: text})
    with pytest.raises(InputError) as raised:
        read_own_tables(folder)
    said = str(raised.value)
    assert said == says(*([words] if isinstance(words, str) else words))
    assert said.startswith(f"{raised.value.path}: ")
    assert said.startswith(str(folder))
    assert re.search(r"; \S", said), "what to do"


WARNING = "SELECT NULL AS profile, 'note' AS severity, 'x = ' || x AS sentence FROM ours.x"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        pytest.param("ours__x.warning", WARNING.replace("'note'", "2"), "", id="severity that nobody knows"),
        pytest.param("ours__x.warning", f"{WARNING};", "", id="semicolon"),
        pytest.param("ours__x.warning", f"SELEC{WARNING}", "cannot be read", id="syntax"),
        pytest.param("ours__x.warning", WARNING.replace("|| x", "|| y"), "cannot be run", id="unknown column"),
        pytest.param("ours__x.warning", f"CREATE TABLE a AS {WARNING}", "only a SELECT", id="no SELECT"),
        pytest.param("ours__x.warning", WARNING.replace("ours.x", "module.tree"), "reads module.tree; a warning", id="another"),
        pytest.param("ours__x.warning", "SELECT NULL AS profile, 'x' AS sentence", "give the texts profile", id="two columns"),
        pytest.param("ours__x.warning", WARNING.replace("'x = ' || x", "x"), "sentence INTEGER; give the texts", id="number"),
        pytest.param("ours__y.warning", WARNING, "there is no table", id="without a table"),
    ],
)
def test_a_warning_beside_a_table_is_read_with_it(tmp_path: Path, name: str, text: str, message: str) -> None:
    folder = written(tmp_path / "sql", ours__x=number("x"), **{name: text})
    if not message:
        assert [table.warning is not None for table in read_own_tables(folder)] == [True]
        return
    with pytest.raises(InputError) as raised:
        read_own_tables(folder)
    assert raised.value.path == folder / f"{name.replace('__', '/')}.sql"
    assert message in str(raised.value)


@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_a_warning_without_a_sentence_is_none(tmp_path: Path, profile_folder: Path) -> None:
    both = "SELECT profile, 'note' AS severity, unnest(['x = ' || x, NULL]) AS sentence FROM ours.x"
    with open_profile(
        profile_folder, sql=written(tmp_path / "sql", ours__x=number("x"), **{"ours__x.warning": both})
    ) as profile:
        assert rows(profile, "ours.x") == [("0_ascend_pt", 0, 1)]
        assert profile.warnings == ["0_ascend_pt: x = 1"]


def test_what_editors_and_notebooks_leave_is_no_table(tmp_path: Path) -> None:
    folder = written(tmp_path / "sql", ours__x=f"\ufeff{number('x')}")
    for hidden in (".ipynb_checkpoints/x-checkpoint.sql", "._x.sql", ".x.warning.sql"):
        (folder / "ours" / hidden).parent.mkdir(exist_ok=True)
        (folder / "ours" / hidden).write_bytes(b"\xff")
    assert [table.name for table in read_own_tables(folder)] == ["ours.x"]


def test_a_folder_without_tables_is_said(tmp_path: Path, command: Command, profile_folder: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        open_profile(profile_folder, sql=tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    done = command("sql", "-d", profile_folder, "--sql-folder", tmp_path / "empty", "SELECT 1")
    assert (done.exit_code, done.stderr) == (2, says("error", tmp_path / "empty", "no table", "<schema>/<table>.sql"))
    (tmp_path / "bytes" / "ours").mkdir(parents=True)
    (tmp_path / "bytes" / "ours" / "x.sql").write_bytes(b"-- \xff")
    with pytest.raises(InputError, match="is not UTF-8 text; save it as UTF-8"):
        read_own_tables(tmp_path / "bytes")


def test_the_command_table_shows_and_writes_ours_too(tmp_path: Path, command: Command, profile_folder: Path) -> None:
    done = command("table", "trace.op", "-d", profile_folder, "-o", tmp_path, "--export_type", "json", "--top", "1")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].split()[:4] == ["profile", "rank_id", "op_id", "tid"]
    assert "1 of 2 rows" in done.stdout
    assert (tmp_path / "cluster_analysis_output" / "trace_op.json").exists()
    wrong = command("table", "module.nothing", "-d", profile_folder)
    assert (wrong.exit_code, wrong.stderr.partition(";")[0]) == (2, "error: there is no table module.nothing")


def test_a_table_over_runs_wants_several(tmp_path: Path, profile_folder: Path) -> None:
    folder = written(
        tmp_path / "sql",
        runs__total="-- One row is a run.\n--\n-- run  VARCHAR  its name\n-- op_count  BIGINT  ops\n"
        "SELECT run, count(*) AS op_count FROM ours.total GROUP BY run ORDER BY run",
        ours__total=TOTAL,
    )
    write_profile(tmp_path / "other" / "0_ascend_pt", OPS[1:])
    with (
        open_profile(profile_folder, sql=folder) as one,
        pytest.raises(QueryError, match=r"runs\.total compares runs, and there"),
    ):
        one.table("runs.total")
    with open_profiles({"b": profile_folder, "a": tmp_path / "other"}, sql=folder) as two:
        assert rows(two, "runs.total") == [("a", 1), ("b", 2)]
        written_files = two.export_table("runs.total", tmp_path, "csv")
        assert [file.name for file in written_files] == ["runs_total.csv"]
        assert written_files[0].read_text() == "run,op_count\na,1\nb,2\n"
