"""The command starts with what it needs, and ends without freeing what the system frees."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from prof_analysis.cli import app_of
from tests.helpers.kineto import launch, op, write_trace
from tests.helpers.places import CHECKOUT

# Runs the command with the words of the command line; what is registered meanwhile says which modules are there at the end.
SCRIPT = """
import atexit, sys
from prof_analysis.cli import run
import prof_analysis.cli as cli
app_of = cli.app_of
def asked(*words):
    atexit.register(lambda: print("at the end:", *sorted({"duckdb", "pandas", "pydantic"} & sys.modules.keys())))
    return app_of(*words)
cli.app_of = asked
run()
"""


def asked(*words: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT, *words], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[-1]


def test_the_version_imports_neither_pydantic_nor_duckdb() -> None:
    assert asked("--version") == (0, "at the end:")


def test_what_was_registered_runs_and_the_exit_code_stays() -> None:
    assert asked("tables", "module.tree") == (0, "at the end: duckdb")
    assert asked("tables", "no.table") == (2, "at the end: duckdb")


def test_a_trace_is_read_without_pandas_whose_import_takes_as_long_as_fifty_megabytes(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace.json", [op("aten::mm", 0, 9_000, 1), launch(1_000, 2_000, 1, 1)])
    assert asked("sql", "-d", str(tmp_path), "--cache", "none", "--json", "FROM trace.op")[1] == "at the end: duckdb"


def commands_of(word: str) -> dict[str, Any]:
    """The commands of the app for a command line that begins with this word."""
    found: dict[str, Any] = vars(get_command(app_of(word)))["commands"]
    return found


def options_of(command: Any) -> list[tuple[Any, ...]]:
    return [(one.name, one.opts, one.metavar, one.help, one.default, one.required) for one in command.params]


def test_a_command_is_the_same_alone_as_among_all() -> None:
    everything = commands_of("")
    assert len(everything) > 30
    for name, command in everything.items():
        alone = commands_of(name)
        assert (name == "stage-durations") == (len(alone) > 3), name
        assert options_of(alone[name]) == options_of(command), name
        assert (alone[name].help, alone[name].rich_help_panel) == (command.help, command.rich_help_panel)


def test_only_what_a_first_word_means_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("result", "module_stats", "stage-durations"):
        (tmp_path / name).mkdir()
    assert list(commands_of("result")) == ["diagnose"]
    assert list(commands_of("module_stats")) == ["module-stats"], "a command comes before a path of its name"
    assert "stage-durations" in commands_of("stage-durations")
    assert commands_of("no-such-word").keys() == commands_of("--version").keys() == commands_of("").keys()
