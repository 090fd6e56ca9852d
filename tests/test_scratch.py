"""Temporary folders of killed runs are removed by the next one; those of others and of running ones stay."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prof_analysis import OutputError
from prof_analysis.common.scratch import make_folder, temporary_folder
from tests.helpers.says import says

HOLDS_ONE = """
import sys, time
from pathlib import Path
from prof_analysis.common.scratch import make_folder
folder = make_folder(Path(sys.argv[1]))
(folder.path / "spilled").write_text("x")
(folder.path / "0").mkdir()
print(folder.path, flush=True)
time.sleep(60)
"""


def holder(place: Path) -> tuple["subprocess.Popen[str]", Path]:
    process = subprocess.Popen([sys.executable, "-c", HOLDS_ONE, str(place)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs kill -9")
    (tmp_path / "prof_analysis_mine").mkdir()
    (tmp_path / "prof_analysis_mine" / "notes.txt").write_text("kept")
    (tmp_path / "prof_analysis_file").write_text("kept")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "lock").write_text(os.uname().nodename)
    (tmp_path / "prof_analysis_link").symlink_to(tmp_path / "elsewhere")
    killed, left = holder(tmp_path)
    running, used = holder(tmp_path)
    try:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        with temporary_folder(tmp_path) as own, temporary_folder(tmp_path) as second:
            kept = {
                own.name,
                second.name,
                used.name,
                "prof_analysis_mine",
                "prof_analysis_file",
                "prof_analysis_link",
                "elsewhere",
            }
            assert {path.name for path in tmp_path.iterdir()} == kept
            assert not left.exists()
            assert (used / "spilled").read_text() == "x"
        assert {path.name for path in tmp_path.iterdir()} == kept - {own.name, second.name}
        assert (tmp_path / "elsewhere" / "lock").exists()
    finally:
        for process in (killed, running):
            process.kill()
            process.communicate()


def test_a_folder_of_another_machine_is_removed_after_a_week_only(tmp_path: Path) -> None:
    left = tmp_path / "prof_analysis_of_another"
    left.mkdir()
    (left / "lock").write_text("another machine")
    with temporary_folder(tmp_path):
        assert left.exists()
    os.utime(left / "lock", (time.time() - 8 * 24 * 3600,) * 2)
    with temporary_folder(tmp_path):
        assert not left.exists()


def test_a_fork_does_not_remove_the_folder_of_its_parent(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs fork")
    folder = make_folder(tmp_path)
    child = os.fork()
    if not child:
        folder.remove()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.is_dir()
    folder.remove()
    assert not folder.path.exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=says("nowhere: ", "no temporary folder", "No such file or directory").pattern):
        make_folder(tmp_path / "nowhere")
