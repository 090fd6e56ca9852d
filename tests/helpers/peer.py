"""msprof-analyze, the peer: how tests run its recipes and its advisor."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from prof_analysis.verify import peer


def command_of_peer() -> Path:
    """Return the command of the peer, from the environment of the tests; skip the test where it is not installed."""
    if not Path(sys.executable).with_name(peer.COMMAND).exists():
        pytest.skip("msprof-analyze is not installed beside this Python (pip install -e '.[dev]' has it)")
    return peer.command_of_peer()


def run_recipe(recipe: str, profiles: Path, output: Path) -> Path:
    """Run a recipe of the peer as `verify` does, and return the database that it writes."""
    output.mkdir()
    copy = peer.copied([folder for folder in sorted(profiles.iterdir()) if folder.is_dir()], output / "profiles")
    database, said = peer.run_recipe(recipe, copy, output / "written", command_of_peer())
    assert database is not None, said
    return database


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
