"""The command starts with what it needs, and ends without freeing what the system frees."""

import subprocess
import sys
from pathlib import Path

from tests.helpers.kineto import launch, op, write_trace
from tests.helpers.places import CHECKOUT

# Runs the command with the words of the command line; what is registered meanwhile says which modules are there at the end.
SCRIPT = """
import atexit, sys
from prof_analysis.cli import run
import prof_analysis.cli as cli
app = cli.app
def asked():
    atexit.register(lambda: print("at the end:", *sorted({"duckdb", "pandas", "pydantic"} & sys.modules.keys())))
    app()
cli.app = asked
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
