"""Runs commands as processes, each with a limit of time and memory, and keeps what they said."""

import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# The command with a limit of memory: files of 30 GB are among the damages.
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
from runpy import run_module
run_module("prof_analysis", run_name="__main__", alter_sys=True)
"""
QUESTIONS = ("module-stats", "step-time")
# Asked in some cases only. They must end well, and their figures are those of the questions above.
MORE = ("advise", "module-stats --export-type trace", "ranks")
# The same for memory snapshots, which have no kernels.
OF_MEMORY = ("memory", "memory --by site")
MORE_OF_MEMORY = ("memory --by growth", "memory --export-type speedscope", "ranks")


@dataclass(frozen=True)
class Said:
    """What a command said; `code` is None if it did not end in time, `answer` None if what it printed is no JSON object."""

    command: str
    code: int | None
    answer: Mapping[str, Any] | None
    errors: str
    seconds: float


def ask(command: str, profile: Path, limit_s: float) -> Said:
    """Ask a profile with --json. The output goes into a folder that is removed; paths of the profile are called IN."""
    with TemporaryDirectory(prefix="trial_out_") as out:
        words = [sys.executable, "-c", LIMITED, *command.split(), str(profile), "--json"]
        words += ["-o", out] if "--export-type" in command else []
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PROF_ANALYSIS_CACHE": "off", "COLUMNS": "200"},
            start_new_session=True,
        )
        start = time.perf_counter()
        try:
            printed, errors = process.communicate(timeout=limit_s)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, errors = process.communicate()
            code = None
        seconds = time.perf_counter() - start
    shown = printed.decode(errors="replace").replace(str(profile), "IN")
    return Said(command, code, _object(shown), errors.decode(errors="replace").replace(str(profile), "IN"), seconds)


def _object(printed: str) -> Mapping[str, Any] | None:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    try:
        answer = json.loads(printed, parse_constant=refuse)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def fingerprint(folder: Path) -> str:
    """Return what changes with any name, kind, length or byte of a folder; of huge files the length and the time."""
    digest = hashlib.sha256()
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        digest.update(f"{path.relative_to(folder)} {status.st_mode} ".encode("utf-8", "surrogateescape"))
        if path.is_symlink():
            digest.update(os.fsencode(path.readlink()))
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes() if status.st_size < 1 << 28 else str(status.st_mtime_ns).encode()
            digest.update(f"{status.st_size} ".encode() + content)
    return digest.hexdigest()
