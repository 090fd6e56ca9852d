"""`collect`: the file that records profiles, taken to where a model runs."""

import subprocess
import sys
from pathlib import Path

from prof_analysis import collect
from tests.helpers.cli import Command, only_json
from tests.helpers.says import says


def test_the_file_is_copied_and_runs_without_the_package(command: Command, tmp_path: Path) -> None:
    result = command("collect", tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    file = tmp_path / "prof_analysis_collect.py"
    assert result.stdout == says(f"wrote {file}", f"python {file.name} --steps 10-12 -- train.py")
    assert file.read_bytes() == Path(collect.__file__).read_bytes()
    ran = subprocess.run(
        [sys.executable, "-S", file.name, "--", "-c", "print('ran')"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (0, "ran\n"), ran.stderr


def test_a_folder_that_is_not_there_is_named(command: Command, tmp_path: Path) -> None:
    result = command("collect", tmp_path / "missing", "--json")
    assert result.exit_code == 3
    assert only_json(result)["message"] == says(tmp_path / "missing", "no such folder", "make it", "give another")
