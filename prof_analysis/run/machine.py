"""Runs the jobs of ranks where they are to run: in this process, in several, or on a cluster."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import duckdb

from prof_analysis.run.job import Job, Outcome, have_few_rows
from prof_analysis.run.pool import run_here, run_in_processes
from prof_analysis.sources.rank import Rank

# A process takes half a second to start and 100 MB: ranks that are smaller than this in total are faster in this process.
_WORTH_PROCESSES_BYTES = 64 * 2**20
# So many ranks for each process are worth it, however small: of 575 kernels on two cores `module-stats` of 16 ranks takes 9.7 s
# of CPU in place of 10.7, and the report of 32 ranks 63 s in place of 77.
_WORTH_PROCESSES_RANKS = 8
# The share of a process's memory that DuckDB's buffers may take: its limit counts nothing else.
_SHARE_OF_BUFFERS = 0.7


@dataclass(frozen=True)
class Machine:
    """Limits of the machine, or the cluster to use. None means all that the machine or its container has."""

    workers: int | None = None
    threads: int | None = None
    memory_bytes: int | None = None
    scheduler: str | None = None


def run(
    jobs: list[Job],
    machine: Machine,
    on_done: Callable[[Outcome], None],
    on_work: Callable[[Rank, int, int], None],
    is_stopped: Callable[[], bool],
) -> None:
    """Run all jobs, several ranks at a time.

    on_done receives each outcome in the calling thread. on_work receives how much of a rank is done, as in progress.py, in any
    thread; on a cluster it is not called.
    Raises InputError when the scheduler cannot be reached or no worker starts, QueryError soon after is_stopped() becomes true.
    """
    if machine.scheduler is not None:
        from prof_analysis.run.cluster import run_on_cluster

        jobs = [replace(job, threads=machine.threads) for job in jobs]
        run_on_cluster(jobs, machine.scheduler, on_done, is_stopped)
        return
    threads, memory_bytes = machine.threads or _cores(), machine.memory_bytes
    workers = max(1, min(machine.workers or threads, len(jobs)))
    if workers > 1 and memory_bytes is None:
        memory_bytes = _memory_of_machine()
    buffers = None if memory_bytes is None else int(memory_bytes * _SHARE_OF_BUFFERS / workers)

    def threads_of(job: Job) -> int:
        # Two threads are slower than one on few rows: 10,000 kernels (8 MB) take 0.58 s, on one thread 0.51 s.
        return 1 if have_few_rows([job.rank]) and not machine.threads else max(1, threads // workers)

    jobs = [replace(job, threads=threads_of(job), buffer_bytes=buffers) for job in jobs]
    is_little = sum(job.input_bytes for job in jobs) < _WORTH_PROCESSES_BYTES
    if workers == 1 or (is_little and len(jobs) < workers * _WORTH_PROCESSES_RANKS):
        run_here(jobs, workers, on_done, on_work, is_stopped)
    else:
        run_in_processes(jobs, workers, on_done, on_work, is_stopped)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _memory_of_machine() -> int:
    """Return DuckDB's own limit, which is a share of the memory of the machine or of its container."""
    with duckdb.connect() as connection:
        row = connection.execute("SELECT parse_formatted_bytes(current_setting('memory_limit'))").fetchone()
    assert row is not None
    return int(row[0])
