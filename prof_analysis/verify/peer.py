"""Runs recipes of msprof-analyze on a copy of the databases of ranks, and says what went wrong where one wrote nothing.

The copy is needed: some recipes write into the databases that they read.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from prof_analysis.common.errors import InputError, OutputError, reason_of, remedy_of
from prof_analysis.common.input_files import check_regular, opened

COMMAND = "msprof-analyze"
DATABASE = "cluster_analysis.db"
# What msprof-analyze reads of the folder of a rank.
_FILES = (
    "profiler_info*.json",
    "profiler_metadata.json",
    "PROF_*/device_*/info.json*",
    "ASCEND_PROFILER_OUTPUT/*.db",
)
_LINE = re.compile(r"\[[-\d :]+\]\[(ERROR|WARNING|INFO)\]\[[^\]]*\] (.*)")
_OF_USER = "Security Warning"


def command_of_peer() -> Path:
    """Return the command of msprof-analyze. Raises InputError where it is not installed."""
    beside = Path(sys.executable).with_name(COMMAND)
    found = str(beside) if beside.exists() else shutil.which(COMMAND)
    if found is None:
        said = f"pip install 'prof-analysis[{COMMAND}]', or give a {DATABASE} that it has written with --database"
        raise InputError(f"{COMMAND} is not installed: {said}")
    return Path(found)


def version_of_peer() -> str | None:
    """Return the version of msprof-analyze in this environment; None where it lies in another one."""
    try:
        return version(COMMAND)
    except PackageNotFoundError:
        return None


def copied(folders: Iterable[Path], target: Path) -> Path:
    """Copy the databases of ranks, and what lies beside them that says which ranks these are; return the target.

    Files of others, links, and names with odd signs are no reason for msprof-analyze to refuse the copy.
    Raises OutputError where it cannot be made.
    """
    try:
        files = [
            (file, target / str(number) / _plain_name(folder) / file.relative_to(folder))
            for number, folder in enumerate(dict.fromkeys(folders))
            for pattern in _FILES
            for file in sorted(folder.glob(pattern))
        ]
        target.mkdir(mode=0o750)
        needed, free = sum(check_regular(file).st_size for file, _ in files), shutil.disk_usage(target).free
        if needed > free:
            said = f"holds {free / 1e9:,.1f} GB, and the databases to copy have {needed / 1e9:,.1f} GB"
            raise OutputError(f"{target.parent}: {said}; set TMPDIR to a larger disk", path=target.parent)
        for file, copy in files:
            copy.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            with opened(file) as original, copy.open("wb") as written:
                shutil.copyfileobj(original, written, 2**20)
            copy.chmod(0o640)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{target}: the profile cannot be copied ({reason_of(error)}){remedy_of(error)}") from error
    return target


def _plain_name(folder: Path) -> str:
    """Return the name of a folder, in which msprof-analyze reads the time, or a plain one where it would refuse the name."""
    return folder.name if re.fullmatch(r"[A-Za-z0-9][\w.-]*", folder.name, re.ASCII) else "rank_ascend_pt"


def run_recipe(recipe: str, profiles: Path, output: Path, command: Path) -> tuple[Path | None, str]:
    """Run a recipe of msprof-analyze, and return the database that it wrote, or None, and the problem that it named.

    Its exit status says nothing: it is 0 also where it fails.
    """
    output.mkdir(mode=0o750)
    words: list[str | Path] = [command, "-m", recipe, "-d", profiles, "-o", output, "--export_type", "db", "--force"]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "TMPDIR": str(output)}
    run = subprocess.run(words, check=False, capture_output=True, env=environment, stdin=subprocess.DEVNULL)
    database = output / "cluster_analysis_output" / DATABASE
    return (database if database.is_file() else None), problem_in(run.stdout, run.stderr)


def problem_in(*outputs: bytes) -> str:
    """Return the first and the last error in what msprof-analyze printed, else the last warning, else "".

    The first one has the cause, the last one what came of it.
    """
    lines = [line for output in outputs for line in output.decode("utf-8", "replace").splitlines()]
    found = [(match[1], match[2]) for line in lines if (match := _LINE.match(line)) and _OF_USER not in match[2]]
    if errors := [text for level, text in found if level == "ERROR"]:
        return "; ".join(dict.fromkeys((errors[0], errors[-1])))
    if said := [text for level, text in found if level == "WARNING"]:
        return said[-1]
    # A traceback, or a word of the command line that this version does not know.
    return "" if found or not lines else lines[-1]
