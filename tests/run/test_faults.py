"""Whatever is thrown at whatever stage of a rank: one failed rank, no hang, and the answers of the others."""

import json
import os
import runpy
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from prof_analysis import InputError, ProfAnalysisWarning, QueryError, open_profile
from prof_analysis.engine.statements import _parsed
from prof_analysis.run import machine
from tests.helpers.faults import LIBRARY, check, limit
from tests.helpers.processes import children, command_line
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile


@pytest.fixture
def six(tmp_path: Path) -> Path:
    folder = tmp_path / "profiles"
    for rank in range(6):
        ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040 + rank),)),)
        write_profile(folder / f"{rank}_ascend_pt", ops, (Range("Net", 100, 200),), rank=rank)
    return folder


@pytest.fixture
def faulty_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that are started from now on have faults in their library; this one has not."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]))


@pytest.mark.slow
def test_what_a_thread_throws_while_it_stages_builds_and_writes_fails_its_rank_alone(
    six: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library.py").write_text(LIBRARY, encoding="utf-8")
    with open_profile(six) as profile, limit(60):
        monkeypatch.setattr(duckdb.DuckDBPyConnection, "execute", duckdb.DuckDBPyConnection.execute)
        runpy.run_path(str(tmp_path / "library.py"))
        check(profile, six)


@pytest.mark.slow
@pytest.mark.usefixtures("faulty_library")
def test_what_a_process_throws_fails_its_rank_alone_and_so_does_its_death(six: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_WORTH_PROCESSES_BYTES", 0)
    monkeypatch.setenv("DIES_AT", "COPY (")
    with limit(120), open_profile(six, workers=2) as profile:
        check(profile, six, failing=4)
        assert profile.failures[3] == says(f"{six / '4_ascend_pt'}: ", "the process", "died")
    assert not [child for child in children() if b"popen_loky_posix" in command_line(child)]


def test_what_is_thrown_while_a_folder_is_found_or_looked_at_leaves_out_that_folder_alone(
    six: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strange: dict[str, Any] = {"config": {"experimental_config": {"_mstx_domain_include": [{}]}}}
    (six / "1_ascend_pt" / "profiler_info_1.json").write_text(json.dumps(strange), encoding="utf-8")
    edit(next((six / "1_ascend_pt").rglob("*.db")), "DELETE FROM MSTX_EVENTS")
    scandir = os.scandir

    def fail(path: str | Path = ".") -> "os._ScandirIterator[str]":
        if str(path) == str(six / "2_ascend_pt"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(str(path))

    monkeypatch.setattr(os, "scandir", fail)
    with limit(30), warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(six) as profile:
            assert profile.module_stats()["rank_id"].tolist() == [0, 3, 4, 5]
            found = {row["profile"]: row["left_out"] for row in profile.ranks(arrow=True).to_pylist()}
    assert [name for name, why in found.items() if why] == ["1_ascend_pt", "2_ascend_pt"]
    assert found["2_ascend_pt"] == says(f"{six / '2_ascend_pt'}: ", "cannot be read", "Permission denied")


SCRIPT = """
    import sys, time
    from prof_analysis import open_profile
    from prof_analysis.run import machine
    machine._WORTH_PROCESSES_BYTES = 0
    with open_profile(sys.argv[1], workers=2) as profile:
        profile.module_stats()
"""
# Stops as long as a rank of many gigabytes would take.
SLOW_LIBRARY = LIBRARY.replace("raise ZeroDivisionError", "import time; time.sleep(600); raise ZeroDivisionError")


@pytest.mark.usefixtures("faulty_library")
@pytest.mark.parametrize(
    "ending", ["terminate", *(pytest.param(ending, marks=pytest.mark.slow) for ending in ("interrupt twice", "kill"))]
)
@pytest.mark.slow
def test_no_process_lives_on_when_the_command_is_ended(
    six: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    if sys.platform == "win32":
        pytest.skip("needs signals of POSIX")
    (tmp_path / "site" / "sitecustomize.py").write_text(SLOW_LIBRARY, encoding="utf-8")
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    words = [sys.executable, str(tmp_path / "script.py"), str(six)]
    command = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with limit(60):
            while len(workers := [one for one in members(command.pid) if b"popen_loky_posix" in command_line(one)]) < 2:
                time.sleep(0.02)
            time.sleep(1)
        if ending == "interrupt twice":
            for _ in range(2):
                os.killpg(command.pid, signal.SIGINT)
                time.sleep(0.1)
        else:
            command.send_signal(signal.SIGTERM if ending == "terminate" else signal.SIGKILL)
        with limit(20):
            command.wait()
            while members(command.pid):
                time.sleep(0.05)
        assert len(workers) == 2
    finally:
        for member in [command.pid, *members(command.pid)]:
            with suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        command.wait()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with open_profile(six) as profile:
        profile.ranks()
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("pause_s", [0.02, 0.3])
@pytest.mark.usefixtures("faulty_library")
def test_a_second_interrupt_ends_the_command_without_a_traceback(six: Path, tmp_path: Path, pause_s: float) -> None:
    (tmp_path / "site" / "sitecustomize.py").write_text(SLOW_LIBRARY, encoding="utf-8")
    words = [sys.executable, "-m", "prof_analysis", "module-stats", "-d", str(six), "--cache", str(tmp_path / "kept")]
    command = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with limit(60):
        while not list((tmp_path / "kept").rglob("about.json")):
            time.sleep(0.05)
        time.sleep(0.5)
        for _ in range(2):
            command.send_signal(signal.SIGINT)
            time.sleep(pause_s)
        _, stderr = command.communicate(timeout=20)
    assert (command.returncode, stderr) == (130, "error: interrupted\n")


def members(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(its_session) == session and state != "Z":
            found.append(int(folder.name))
    return found


@pytest.mark.slow
def test_threads_may_share_a_profile(six: Path) -> None:
    answers: list[object] = []

    def ask() -> None:
        try:
            answers.append(profile.module_stats()["rank_id"].tolist())
            answers.append(profile.kernel_stats()["rank_id"].tolist())
            profile.export(six, "csv")
        except Exception as error:
            answers.append(error)

    with limit(60), open_profile(six) as profile:
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [[*range(6)]] * 8


@pytest.mark.slow
def test_close_ends_what_another_thread_asks(six: Path) -> None:
    said: list[str] = []

    def ask() -> None:
        try:
            profile.sql(
                "SELECT count(*) FROM range(1000000000) AS a JOIN range(1000) AS b ON a.range % 7 > b.range % 3, trace.op"
            )
        except QueryError as error:
            said.append(str(error))

    with limit(60):
        profile = open_profile(six)
        profile.ops()
        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(0.5)
        profile.close()
        asking.join(5)
    assert said == [says("closed during the query", "open it again")]


def test_close_ends_ranks_that_another_thread_waits_for(six: Path) -> None:
    said: list[str] = []
    begun = threading.Event()

    def slow(*_: int) -> None:
        begun.set()
        time.sleep(0.3)

    def ask() -> None:
        try:
            profile.module_stats()
        except QueryError as error:
            said.append(str(error))

    with limit(60), open_profile(six, workers=1, on_progress=slow) as profile:
        asking = threading.Thread(target=ask)
        asking.start()
        begun.wait()
        profile.close()
        asking.join(5)
    assert said == [says("closed during the query", "open it again")]


@pytest.mark.slow
def test_a_fork_is_refused_and_leaves_the_profile_to_its_parent(six: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs fork")
    with limit(60), open_profile(six) as profile:
        profile.module_stats()
        child = os.fork()
        if not child:
            code = 1
            try:
                profile.module_stats()
            except QueryError as error:
                code = 0 if "forked" in str(error) else 2
            profile.close()
            os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert profile.module_stats()["rank_id"].tolist() == [*range(6)]


@pytest.mark.slow
def test_too_few_open_files_are_said_with_the_remedy(six: Path) -> None:
    def ended(files: int) -> subprocess.CompletedProcess[str]:
        script = (
            "import resource, sys\n"
            "from prof_analysis.cli import run\n"
            f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n"
            f"sys.argv[1:] = ['module-stats', '-d', {str(six)!r}, '--workers', '1', '-q']\n"
            "run()\n"
        )
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)

    done = next(done for files in range(14, 3, -1) if (done := ended(files)).returncode)
    assert "Traceback" not in done.stderr
    assert (done.returncode, done.stderr.startswith("error: ")) in ((2, True), (3, True))
    assert "ulimit" in done.stderr


def test_questions_of_users_are_not_kept_for_ever(six: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prof_analysis.engine.statements._MOST_KEPT", 600)
    _parsed.clear()  # Other tests have left theirs.
    with open_profile(six, rank_list=[0]) as profile:
        for number in range(300):
            profile.rows(f"SELECT shown_time({number}) AS mine_{number}")
    assert len(_parsed) <= 600
    assert not [sql for sql in _parsed if "mine_" in sql]


def test_a_query_loads_nothing_from_the_net(six: Path) -> None:
    with open_profile(six, rank_list=[0], allow_files=True) as profile, pytest.raises(QueryError, match="httpfs"):
        profile.sql("SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')")


def test_memory_that_does_not_suffice_at_all_is_said_with_the_remedy(six: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(six, memory_limit=500_000, threads=1) as profile, pytest.raises(InputError, match="--memory-limit"):
            profile.module_stats()
