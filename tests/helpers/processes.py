"""The processes that this one has started."""

import os
from pathlib import Path


def children() -> list[int]:
    """Return the ids of the processes that this one started and that still run."""
    listed = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return [int(child) for file in listed for child in file.read_text().split()]


def command_line(process: int) -> bytes:
    """Return the command line of a process; nothing when it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def environment_of(process: int) -> dict[str, str]:
    """Return the environment with which a process that runs was started."""
    entries = Path(f"/proc/{process}/environ").read_bytes().decode().split("\0")
    return dict(entry.split("=", 1) for entry in entries if entry)
