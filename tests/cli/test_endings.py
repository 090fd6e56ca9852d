"""How the command ends when nobody takes what it prints, and when it is interrupted: exit codes, and nothing left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import InputError, open_profile, open_profiles, stage_durations
from tests.helpers.faults import LIBRARY, limit
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

Command = Callable[..., Result]
MODULE = (sys.executable, "-m", "prof_analysis")
FULL = Path("/dev/full")
full_disk = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals of POSIX")
NO_ROOM = says("error", "stdout", "No space left on device", "another disk")
MANY_ROWS = "SELECT range FROM range(1000000)"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    folder = tmp_path / "profile"
    for rank in range(2):
        ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040 + rank),)),)
        write_profile(folder / f"{rank}_ascend_pt", ops, (Range("Net", 100, 200),), rank=rank)
    return folder


@full_disk
@pytest.mark.parametrize(
    "words",
    quick(
        [
            ["--version"],
            ["module-stats", "PROFILE"],
            ["module-stats", "PROFILE", "--json"],
            ["sql", "-d", "PROFILE", "--csv", MANY_ROWS],
            ["module-stats", "PROFILE", "--no-such-option", "--json"],
        ],
        0,
        3,
        4,
    ),
)
def test_a_full_disk_under_stdout_is_one_line_and_exit_3(words: list[str], profile: Path) -> None:
    given = [str(profile) if word == "PROFILE" else word for word in words]
    with FULL.open("wb") as full:
        ended = subprocess.run([*MODULE, *given], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (3, NO_ROOM)


@posix
@pytest.mark.parametrize("words", quick([["tables"], ["sql", "-d", "PROFILE", "--csv", MANY_ROWS], ["--help"]], 1))
def test_a_pipe_that_nobody_reads_ends_the_command_silently_with_0(words: list[str], profile: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    given = [str(profile) if word == "PROFILE" else word for word in words]
    ended = subprocess.run([*MODULE, *given], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")


@full_disk
def test_problems_that_cannot_be_printed_change_no_exit_code(tmp_path: Path) -> None:
    with FULL.open("wb") as full:
        ended = subprocess.run([*MODULE, "ranks", tmp_path / "none"], stdout=subprocess.PIPE, stderr=full, check=False)
    assert (ended.returncode, ended.stdout) == (2, b"")


@pytest.mark.slow
@posix
def test_closed_streams_are_no_error(profile: Path) -> None:
    closed = ["sh", "-c", '"$@" >&- 2>&-', "sh", *MODULE, "module-stats", str(profile)]
    assert subprocess.run(closed, check=False).returncode == 0


# Stops as long as a rank of many gigabytes would take.
SLOW = LIBRARY.replace("raise ZeroDivisionError", "import time; time.sleep(600); raise ZeroDivisionError")
IN_PROCESSES = """
    import signal

    from prof_analysis.cli import run
    from prof_analysis.run import machine

    # What runs in the background of a shell ignores Ctrl-C, and its children do.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    machine._WORTH_PROCESSES_BYTES = {bytes}
    run()
"""


def begun(profile: Path, tmp_path: Path, in_processes: bool) -> subprocess.Popen[str]:
    """The command at a moment at which it works on ranks: in a thread, or in two processes."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(SLOW, encoding="utf-8")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(IN_PROCESSES.format(bytes=0 if in_processes else 2**40)), encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    kept = tmp_path / "kept"
    words = [sys.executable, *map(str, (script, "module-stats", profile, "--workers", "2", "--cache", kept))]
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path / "temporary")}
    command = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with limit(60):
        while not list(kept.rglob("prof_analysis_*")):
            time.sleep(0.05)
    return command


@pytest.mark.parametrize("in_processes", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("to_all", quick([False, True], 0))
@pytest.mark.parametrize(
    ("sent", "code", "word"),
    [("SIGTERM", 143, "terminated"), pytest.param("SIGINT", 130, "interrupted", marks=pytest.mark.slow)],
)
def test_a_command_that_is_ended_leaves_nothing_behind(
    sent: str, code: int, word: str, to_all: bool, in_processes: bool, profile: Path, tmp_path: Path
) -> None:
    if sys.platform == "win32":
        pytest.skip("needs signals of POSIX")
    command = begun(profile, tmp_path, in_processes)
    try:
        send = os.killpg if to_all else os.kill
        for _ in range(1 if sent == "SIGINT" else 2):  # A batch system may send it again.
            send(command.pid, getattr(signal, sent))
        _, stderr = command.communicate(timeout=30)
    finally:
        command.kill()
    assert (command.returncode, stderr) == (code, f"error: {word}\n")
    assert list((tmp_path / "temporary").iterdir()) == []


@posix
def test_who_imports_the_package_keeps_his_own_handler_of_signals() -> None:
    script = "import signal, prof_analysis, prof_analysis.cli; print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "True\n"


@pytest.mark.parametrize(
    "words",
    [
        ["module-stats", ""],
        ["module-stats", "-d", ""],
        ["module-stats", "--profiling_path="],
        *(["module-stats", "PROFILE", option, ""] for option in ("-o", "--cache", "--cache", "--sql-folder", "--capture")),
        ["compare", "PROFILE", ""],
        ["compare", "PROFILE", "PROFILE", "--alias="],
        ["sql", "-d", "PROFILE", "--file", ""],
        ["report", "PROFILE", "-o", ""],
        ["stage-durations", ""],
        ["cache", "ls", ""],
    ],
)
def test_an_empty_word_in_place_of_a_path_is_not_the_current_folder(
    words: list[str], profile: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(profile)
    result = command(*(profile if word == "PROFILE" else word for word in words))
    assert result.exit_code == 2
    assert result.stderr == says("error", "a word is empty", "give a folder or file", "variable of the shell")


def test_an_empty_word_that_is_no_path_is_judged_by_its_option(profile: Path, command: Command) -> None:
    assert command("module-stats", profile, "--columns", "").exit_code == 0


def test_python_refuses_an_empty_path(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(profile)
    for call in (
        lambda: open_profile(""),
        lambda: open_profiles({"a": "", "b": profile}),
        lambda: open_profile(profile, cache=""),
        lambda: open_profile(profile, sql=""),
        lambda: open_profile(profile, capture=""),
        lambda: open_profile(profile, alias=""),
        lambda: stage_durations(""),
    ):
        with pytest.raises(InputError, match="='': give a folder or file"):
            call()
    with open_profile(profile) as opened:
        for write in (lambda: opened.export(""), lambda: opened.write_csv("SELECT 1", ""), lambda: opened.report("")):
            with pytest.raises(InputError, match="='': give a folder or file"):
                write()
