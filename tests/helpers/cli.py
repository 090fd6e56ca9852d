"""Helpers that several tests of the command share."""

import hashlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from typer.testing import Result

from tests.helpers.small_profile import Kernel, Op, Range, write_profile

Command = Callable[..., Result]


RANGES = (Range("Net", 100, 200), Range("Layer", 105, 125))


OPS = (
    Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 4000),)),
    Op("aten::add", 130, 140, (Kernel("add_kernel", 5000, 6000),)),
    Op("aten::item", 300, 310, (Kernel("copy_kernel", 7000, 13000),)),
)


STEPS = ((7, 100, 125), (8, 125, 400))


def write_ranks(folder: Path) -> Path:
    """Write a folder of two equal ranks: 3 us in Net/Layer, 1 us in Net, 6 us outside modules."""
    for rank in (0, 1):
        write_profile(folder / f"{rank}_ascend_pt", OPS, RANGES, steps=STEPS, rank=rank)
    return folder


def files_below(folder: Path) -> dict[str, str]:
    """Every file with a hash of its content, and every folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in folder.rglob("*")
    }


def break_database(folder: Path) -> Path:
    (database,) = folder.rglob("*.db")
    database.write_bytes(b"not a database, " * 100)
    return database


def only_json(result: Result) -> dict[str, Any]:
    """The JSON object that is all of stdout."""
    assert result.stdout.endswith("}\n")
    assert result.stderr == ""
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def shown_on_terminal(
    words: Sequence[str | Path],
    with_stdout: bool = False,
    width: int = 80,
    environment: Mapping[str, str] = MappingProxyType({"TERM": "xterm"}),
) -> str:
    """What the command writes to a stderr that is a terminal with so many columns, or to that and stdout."""
    if sys.platform == "win32":
        pytest.skip("Windows has no such terminals")
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "prof_analysis", *map(str, words)]
    stdout = theirs if with_stdout else subprocess.DEVNULL
    with subprocess.Popen(command, stdout=stdout, stderr=theirs, env={**inherited, **environment}) as running:
        os.close(theirs)
        written = b""
        try:
            while part := os.read(ours, 65536):
                written += part
        except OSError:  # the other side is closed and all is read
            pass
        os.close(ours)
    assert running.returncode == 0
    return written.decode()
