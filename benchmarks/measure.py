"""What a command costs: wall time, CPU time and peak resident memory of its whole process tree."""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event, Thread

_SAMPLE_S = 0.02


@dataclass(frozen=True)
class Cost:
    """`peak_bytes` is of all processes together, `first_process_bytes` of the first alone."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    first_process_bytes: int


def cost_of(words: list[str], folder: Path) -> Cost:
    """Run a command in a folder; raises RuntimeError with what it printed when it fails.

    Memory is sampled: what wait4() tells of a child also counts the memory of the process that started it.
    """
    is_done = Event()
    peaks = [0, 0]

    def sample(pid: int) -> None:
        while not is_done.wait(_SAMPLE_S):
            peaks[1] = max(peaks[1], _memory(pid, "VmHWM"))
            peaks[0] = max(peaks[0], peaks[1], sum(_memory(one, "VmRSS") for one in _tree(pid)))

    with TemporaryFile() as printed:
        start = time.perf_counter()
        process = subprocess.Popen(words, cwd=folder, stdout=printed, stderr=subprocess.STDOUT)
        sampler = Thread(target=sample, args=(process.pid,))
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        is_done.set()
        sampler.join()
        if process.returncode != 0:
            printed.seek(0)
            raise RuntimeError(f"{' '.join(words)}: exit {process.returncode}\n{printed.read().decode(errors='replace')}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, peaks[0], peaks[1])


def best_of(costs: list[Cost]) -> Cost:
    """The least time, which what else the machine does disturbed least, and the most memory."""
    return Cost(
        min(cost.wall_s for cost in costs),
        min(cost.cpu_s for cost in costs),
        max(cost.peak_bytes for cost in costs),
        max(cost.first_process_bytes for cost in costs),
    )


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _text(file).split():
            yield from _tree(int(child))


def _memory(pid: int, field: str) -> int:
    for line in _text(Path(f"/proc/{pid}/status")).splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return 0


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:  # The process has ended.
        return ""
