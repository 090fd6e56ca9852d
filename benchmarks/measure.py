"""What a command costs: wall time, CPU time and peak resident memory of its whole process tree."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from threading import Event, Thread

_SAMPLE_S = 0.02


@dataclass(frozen=True)
class Cost:
    """`peak_bytes` is of all processes together, `first_process_bytes` of the first alone; `is_whole` unless it was stopped."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    first_process_bytes: int
    is_whole: bool = True


def cost_of(words: list[str], folder: Path, limit_s: float | None = None, cache: str = "off") -> Cost:
    """Run a command in a folder, and stop it at the limit; raises RuntimeError with what it printed when it fails.

    `cache` is the folder that prof-analysis uses as the user's cache.
    Memory is sampled: what wait4() tells of a child also counts the memory of the process that started it.
    """
    is_done, is_over = Event(), Event()
    peaks = [0, 0]

    def sample(pid: int) -> None:
        while not is_done.wait(_SAMPLE_S):
            if limit_s is not None and time.perf_counter() - start > limit_s and not is_over.is_set():
                is_over.set()
                os.killpg(pid, signal.SIGKILL)
            peaks[1] = max(peaks[1], _memory(pid, "VmHWM"))
            peaks[0] = max(peaks[0], peaks[1], sum(_memory(one, "VmRSS") for one in _tree(pid)))

    environment = {**os.environ, "PROF_ANALYSIS_CACHE": cache}
    with TemporaryFile() as printed:
        start = time.perf_counter()
        process = subprocess.Popen(
            words, cwd=folder, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True, env=environment
        )
        sampler = Thread(target=sample, args=(process.pid,))
        sampler.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        is_done.set()
        sampler.join()
        if process.returncode != 0 and not is_over.is_set():
            printed.seek(0)
            raise RuntimeError(f"{' '.join(words)}: exit {process.returncode}\n{printed.read().decode(errors='replace')}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, peaks[0], peaks[1], not is_over.is_set())


def in_turn(jobs: Mapping[str, Callable[[], Cost]], runs: int) -> dict[str, list[Cost]]:
    """Run the jobs in turn, so many times, so that what disturbs the machine disturbs all of them.

    A job that takes more than ten times as long as the first one runs once: against that, the noise is small.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in jobs}
    first = next(iter(jobs))
    for _ in range(runs):
        for name, job in jobs.items():
            if not costs[name] or costs[name][0].wall_s <= 10 * costs[first][0].wall_s:
                costs[name].append(job())
    return costs


def typical(costs: list[Cost]) -> Cost:
    """Return the medians of the times, and the most memory."""
    return Cost(
        median(cost.wall_s for cost in costs),
        median(cost.cpu_s for cost in costs),
        max(cost.peak_bytes for cost in costs),
        max(cost.first_process_bytes for cost in costs),
        all(cost.is_whole for cost in costs),
    )


@dataclass(frozen=True)
class Ratio:
    """How many times as long a job took as another one in the same round: the median of the rounds, the least and the most."""

    median: float
    least: float
    most: float
    is_whole: bool

    def __str__(self) -> str:
        middle = f"{'' if self.is_whole else '> '}{self.median:.2f}"
        return middle if self.least == self.most else f"{middle} ({self.least:.2f}-{self.most:.2f})"


def ratio_of(costs: list[Cost], others: list[Cost], time_of: Callable[[Cost], float] = lambda cost: cost.wall_s) -> Ratio:
    """Return how many times as long the first job took as the second one."""
    ratios = [time_of(cost) / time_of(other) for cost, other in zip(costs, others, strict=False)]
    return Ratio(median(ratios), min(ratios), max(ratios), all(cost.is_whole for cost in costs))


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
