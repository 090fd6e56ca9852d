"""Bad input: one clear line that names the file and says what to do, the documented exit code, nothing half-written."""

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import Result

from prof_analysis import ProfAnalysisWarning, module_stats, open_profile
from prof_analysis.common.user_cache import VARIABLE
from tests.helpers.places import CHECKOUT, SAMPLE
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Command = Callable[..., Result]
NASTY_NAMES = [
    "",
    '=HYPERLINK("http://x")',
    "+1",
    "-1",
    "@sum",
    "'; DROP TABLE x; --",
    "quote \" and ' and ``",
    "tab\there\nnew line\x07bell",
    "😀 модуль 模块",
    "\u202eright to left",
    "a, b",
    "n" * 40_000,
]


def contents(folder: Path) -> dict[str, str]:
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file()}


def simple(folder: Path, name: str = "Layer", rank: int = 0) -> Path:
    return write_profile(folder, ranges=[Range(name, 0, 100)], ops=[Op("op", 10, 20, (Kernel("kernel", 200, 203),))], rank=rank)


def main_job(output: Path, export_type: str) -> list[str]:
    words = [sys.executable, "-m", "prof_analysis", "module-stats", "-d", SAMPLE / "decoder_training", "-o", output]
    return [*map(str, words), "--export_type", export_type]


def assert_one_error(result: Result, *parts: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert all(part in errors[0] for part in parts), errors[0]


def empty_file(database: Path) -> None:
    database.write_bytes(b"")


def not_sqlite(database: Path) -> None:
    database.write_bytes(b"PK\x03\x04" + bytes(5000))


def cut_in_the_middle(database: Path) -> None:
    database.write_bytes(database.read_bytes()[: 4096 * 2])


def schema_of_another_program(database: Path) -> None:
    database.unlink()
    edit(database, "CREATE TABLE bookmarks (url TEXT)")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (empty_file, "parse the profile again"),
        (not_sqlite, "not a readable SQLite database"),
        (cut_in_the_middle, "not a readable SQLite database"),
        (schema_of_another_program, "holds no table of the profiler"),
    ],
)
def test_a_damaged_database_is_one_error(damage: Callable[[Path], None], says: str, tmp_path: Path, command: Command) -> None:
    database = simple(tmp_path / "a_ascend_pt")
    damage(database)
    before = contents(tmp_path)
    assert_one_error(command("module-stats", "-d", tmp_path), str(database), says)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("DROP TABLE STRING_IDS", "no STRING_IDS"),
        ("DROP TABLE CONNECTION_IDS", "no CONNECTION_IDS"),
        ("DROP TABLE PYTORCH_API", "no PYTORCH_API"),
        (
            "DROP TABLE COMPUTE_TASK_INFO; DROP TABLE COMMUNICATION_OP; DROP TABLE COMMUNICATION_SCHEDULE_TASK_INFO",
            "no table of kernels",
        ),
        ("DROP TABLE MSTX_EVENTS", "no module ranges"),
        ("UPDATE STRING_IDS SET value = 'module' WHERE value = 'Module'", "no module ranges"),
    ],
)
def test_what_a_database_lacks_is_named(sql: str, says: str, tmp_path: Path, command: Command) -> None:
    edit(simple(tmp_path / "a_ascend_pt"), sql)
    before = contents(tmp_path)
    assert_one_error(command("module-stats", "-d", tmp_path), str(tmp_path), says)
    assert contents(tmp_path) == before


def test_an_empty_folder_no_folder_and_a_file_are_told_apart(tmp_path: Path, command: Command) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    assert_one_error(command("module-stats", "-d", tmp_path / "empty"), "empty", "no profiling result")
    assert_one_error(command("module-stats", "-d", tmp_path / "absent"), "absent", "no such folder")
    assert_one_error(command("module-stats", "-d", tmp_path / "file"), "file", "is not a profiling result")


def test_a_file_without_permission_is_named(tmp_path: Path, command: Command) -> None:
    if sys.platform == "win32":
        pytest.skip("needs permissions of POSIX")
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    database = simple(tmp_path / "a_ascend_pt")
    database.chmod(0)
    assert_one_error(command("module-stats", "-d", tmp_path), str(database))


def test_without_kernels_modules_have_no_time_and_the_command_says_so(tmp_path: Path, command: Command) -> None:
    database = simple(tmp_path / "a_ascend_pt")
    edit(database, "DELETE FROM COMPUTE_TASK_INFO; DELETE FROM TASK")
    result = command("module-stats", "-d", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == says(tmp_path, "no rank can answer", "no kernels", "without NPU activity")
    with open_profile(tmp_path) as profile:
        assert profile.coverage().empty
        assert profile.table("module.tree")[["module", "calls", "kernel_duration_ns"]].values.tolist() == [["Layer", 1, 0]]


def test_odd_times_and_ids_stop_nothing(tmp_path: Path) -> None:
    database = write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Layer", 0, 100), Range("Backwards", 90, 10), Range("Point", 50, 50)],
        ops=[
            Op("op", 10, 20, (Kernel("kernel", 200, 203),)),
            Op("negative", -50, -40, (Kernel("kernel", -30, -20),)),
            Op("point", 50, 50, (Kernel("kernel", 300, 300),)),
            Op("ends before it starts", 60, 55, (Kernel("kernel", 400, 405),)),
        ],
    )
    edit(database, "UPDATE PYTORCH_API SET globalTid = -7 WHERE startNs = '-50'")
    with pytest.warns(ProfAnalysisWarning) as warned, open_profile(tmp_path) as profile:
        stats = profile.module_stats()
        coverage = profile.coverage().set_index("location")["kernel_duration_ns"].to_dict()
    assert stats[["module", "op_name", "total_kernel_duration_ns"]].values.tolist() == [
        ["Layer", "op", 3],
        ["Point", "point", 0],
    ]
    assert coverage == {"inside modules": 3, "outside modules": 10, "linked to no op": 5}
    assert sorted({str(warning.message) for warning in warned}) == [
        says("a_ascend_pt", "mstx ranges set aside", "end before", 1),
        says("a_ascend_pt", "ops set aside", "end before", 1),
    ]


def test_any_name_comes_through_exactly(tmp_path: Path) -> None:
    starts = range(0, 1000 * len(NASTY_NAMES), 1000)
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range(name, start, start + 100) for name, start in zip(NASTY_NAMES, starts, strict=True)],
        ops=[
            Op(name, start + 10, start + 20, (Kernel(name, start + 200, start + 203),))
            for name, start in zip(NASTY_NAMES, starts, strict=True)
        ],
    )
    output = tmp_path / "cluster_analysis_output"
    columns = ["module", "op_name", "kernel_list"]
    expected = sorted([name] * 3 for name in NASTY_NAMES)
    with open_profile(tmp_path) as profile:
        assert sorted(profile.module_stats()[columns].values.tolist()) == expected
        for export_type in ("db", "csv", "parquet", "json"):
            profile.export(export_type=export_type)
    with closing(sqlite3.connect(output / "cluster_analysis.db")) as written:
        rows = written.execute("SELECT module, opName, kernelList FROM ModuleStatistic").fetchall()
    assert sorted(map(list, rows)) == expected
    assert sorted(pd.read_parquet(output / "module_statistic.parquet")[columns].values.tolist()) == expected
    written_json = json.loads((output / "module_statistic.json").read_text(encoding="utf-8"))
    assert sorted([row[column] for column in columns] for row in written_json) == expected
    cells = pd.read_csv(output / "module_statistic.csv", keep_default_na=False, dtype=str, lineterminator="\n")
    safe = [f"'{name}" if name[:1] in ("=", "+", "-", "@") and name else name for name in NASTY_NAMES]
    assert sorted(cells[columns].values.tolist()) == sorted([name] * 3 for name in safe)


@pytest.mark.slow
def test_a_rank_with_a_wal_is_read_whole_and_left_alone(tmp_path: Path) -> None:
    database = simple(tmp_path / "a_ascend_pt")
    writer = sqlite3.connect(database)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE STRING_IDS SET value = 'Renamed' WHERE value = 'Layer'")
    writer.commit()
    shutil.copytree(tmp_path / "a_ascend_pt", tmp_path / "copy" / "a_ascend_pt")
    writer.close()
    before = contents(tmp_path / "copy")
    assert module_stats(tmp_path / "copy")["module"].tolist() == ["Renamed"]
    assert contents(tmp_path / "copy") == before


def test_an_output_that_cannot_be_written_is_exit_3(tmp_path: Path, command: Command) -> None:
    simple(tmp_path / "in" / "a_ascend_pt")
    (tmp_path / "file").write_text("in the way")
    result = command("kernel-stats", "-d", tmp_path / "in", "-o", tmp_path / "file", "--export_type", "csv")
    assert result.exit_code == 3
    assert result.stderr.count("\n") == 1
    assert str(tmp_path / "file") in result.stderr


@pytest.mark.parametrize(
    "export_type", ["db", *(pytest.param(one, marks=pytest.mark.slow) for one in ("text", "csv", "parquet", "json"))]
)
@pytest.mark.slow
def test_a_full_disk_leaves_the_old_output(
    export_type: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sys.platform == "win32":
        pytest.skip("needs limits on files")
    import resource

    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))  # So that the command that is tried writes its output alone.
    words = main_job(tmp_path / "out", export_type)
    assert command(*words[3:]).exit_code == 0
    before = contents(tmp_path / "out")

    def no_large_file() -> None:  # room for temporary files, but not for the largest that is written
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6400, 6400))

    # Python cuts compiled files at the limit and reads them afterwards: the checkout would be broken for all.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        words, cwd=CHECKOUT, env=environment, capture_output=True, text=True, preexec_fn=no_large_file, check=False
    )
    assert result.returncode == 3
    # The sheets of a workbook are larger before they are packed, in temporary files.
    full = tempfile.gettempdir() if export_type == "text" else tmp_path / "out" / "cluster_analysis_output"
    assert result.stderr.startswith(f"error: {full}")
    assert result.stderr.count("\n") == 1
    assert contents(tmp_path / "out") == before


def test_ctrl_c_is_exit_130_and_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys, threading\n"
        "from prof_analysis import cli, profile\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # A shell's job in the background ignores it.
        "threading.Timer(float(sys.argv.pop()), os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "cli.run()\n"
    )
    codes = []
    for delay in (0.05, 0.5):
        words = [sys.executable, "-c", script, *main_job(tmp_path, "db")[3:], str(delay)]
        result = subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=False)
        assert "Traceback" not in result.stderr
        codes.append(result.returncode)
        assert not [file for file in tmp_path.rglob("*") if "unfinished" in file.name]
    assert set(codes) <= {0, 130}
    assert 130 in codes


@pytest.mark.parametrize(
    ("export_type", "tries"),
    [("db", 2), pytest.param("db", 20, marks=pytest.mark.slow), pytest.param("text", 20, marks=pytest.mark.slow)],
)
@pytest.mark.slow
def test_kill_9_leaves_the_old_file_or_the_new_one(export_type: str, tries: int, tmp_path: Path, command: Command) -> None:
    words = main_job(tmp_path, export_type)
    assert command(*words[3:]).exit_code == 0
    whole = readable(tmp_path, export_type)
    draw = random.Random(0)
    for _ in range(tries):
        process = subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.3, 0.9))
        process.kill()
        process.wait()
        assert readable(tmp_path, export_type) == whole


def readable(folder: Path, export_type: str) -> list[tuple[object, ...]]:
    output = folder / "cluster_analysis_output"
    if export_type == "db":
        with closing(sqlite3.connect(output / "cluster_analysis.db")) as written:
            return written.execute("SELECT * FROM ModuleStatistic").fetchall()
    sheet = pd.read_excel(output / "ModuleStatistic" / "module_statistic.xlsx", sheet_name="Rows", keep_default_na=False)
    return list(sheet.itertuples(index=False, name=None))


def mutated(raw: bytes, seed: int) -> bytes:
    """A database that lost its end, or in which bytes or a page are wrong."""
    draw = random.Random(seed)
    page = 1024
    kind = draw.choice(["cut", "bytes", "many bytes", "page"])
    if kind == "cut":
        return raw[: draw.randrange(len(raw) // page) * page + draw.choice([0, 17])]
    damaged = bytearray(raw)
    if kind == "page":
        start = draw.randrange(1, len(raw) // page) * page
        damaged[start : start + page] = draw.randbytes(page)
    for _ in range({"bytes": draw.randint(1, 5), "many bytes": draw.randint(50, 2000)}.get(kind, 0)):
        damaged[draw.randrange(len(raw))] = draw.randrange(256)
    return bytes(damaged)


def assert_survives(seeds: range, tmp_path: Path, command: Command) -> None:
    raw = next((SAMPLE / "decoder_training").glob("*/*/ascend_pytorch_profiler_0.db")).read_bytes()
    database = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    database.parent.mkdir(parents=True)
    codes = set()
    for seed in seeds:
        database.write_bytes(mutated(raw, seed))
        question = "module-stats" if seed % 7 == 6 else "kernel-stats"  # the second reads other tables, and takes less time
        result = command(question, "-d", tmp_path, "-o", tmp_path / "out")
        codes.add(result.exit_code)
        assert result.exit_code in (0, 2), f"seed {seed}: {result.output} {result.exception!r}"
        if result.exit_code == 2:
            assert_one_error(result, str(database))
    assert codes == {0, 2}


def test_four_mutations_give_a_result_or_one_error(tmp_path: Path, command: Command) -> None:
    assert_survives(range(4), tmp_path, command)


@pytest.mark.slow
def test_two_thousand_mutations_give_a_result_or_one_error(tmp_path: Path, command: Command) -> None:
    assert_survives(range(4, 2004), tmp_path, command)


def test_views_and_triggers_of_a_hostile_database_do_nothing(tmp_path: Path) -> None:
    database = simple(tmp_path / "a_ascend_pt")
    edit(
        database,
        """
        DROP TABLE STEP_TIME;
        CREATE VIEW STEP_TIME AS
            WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS startNs, id AS endNs FROM n;
        CREATE TRIGGER t AFTER INSERT ON TASK BEGIN DELETE FROM TASK; END;
        """,
    )
    before = contents(tmp_path)
    with open_profile(tmp_path) as profile:
        assert profile.kernel_stats()["total_ns"].tolist() == [3]
        assert profile.table("trace.step").empty
    assert contents(tmp_path) == before
