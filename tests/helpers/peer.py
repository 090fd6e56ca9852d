"""msprof-analyze, the peer: how tests run its recipes and its advisor."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def command_of_peer() -> Path:
    """Return the command of the peer, from the environment of the tests; skip the test where it is not installed."""
    command = Path(sys.executable).with_name("msprof-analyze")
    if not command.exists():
        pytest.skip("msprof-analyze is not installed beside this Python (pip install -e '.[dev]' has it)")
    return command


def run_recipe(recipe: str, profiles: Path, output: Path) -> Path:
    """Run a recipe of the peer, and return the database that it writes. It refuses files that others may write."""
    for file in [profiles, *profiles.rglob("*")]:
        file.chmod(0o750 if file.is_dir() else 0o640)
    output.mkdir(mode=0o750)
    words: list[str | Path] = [command_of_peer(), "-m", recipe, "-d", profiles, "-o", output, "--export_type", "db"]
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    return output / "cluster_analysis_output" / "cluster_analysis.db"


def run_advisor(profiles: Path, output: Path) -> list[tuple[str, str]]:
    """Run the advisor of the peer on a copy of profiles, and return what it finds: the heading and the description of each."""
    shutil.copytree(profiles, output / "profiles", copy_function=shutil.copyfile)
    for file in [output, *output.rglob("*")]:
        file.chmod(0o750 if file.is_dir() else 0o640)
    words: list[str | Path] = [
        command_of_peer(),
        "advisor",
        "all",
        "-d",
        output / "profiles",
        "-o",
        output,
        "-l",
        "en",
        "--agent",
    ]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "TMPDIR": str(output)}  # Its log goes there.
    run = subprocess.run(words, check=True, capture_output=True, env=environment)
    found = json.loads(run.stdout)
    return [(row[0], row[1]) for row in found["message"]["problems"]["data"]]
