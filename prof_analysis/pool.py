"""Runs the jobs of ranks: in this process, in processes of their own, or on a Dask cluster.

A worker that dies takes only the rank with it that it worked on.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import SimpleQueue
from threading import Thread
from time import monotonic, sleep

import duckdb

from prof_analysis.errors import InputError, reason_of
from prof_analysis.ranks import Job, Outcome, run_rank

# A process takes half a second to start and 100 MB: all ranks together smaller than this are read sooner in this process.
_WORTH_PROCESSES_BYTES = 64 * 2**20
# Two threads hinder each other on a rank smaller than this: one of 10,000 kernels (8 MB) takes 0.58 s, on one thread 0.51 s.
_WORTH_THREADS_BYTES = 16 * 2**20
# What a process has beside the buffers of DuckDB, which are all that DuckDB's limit counts.
_SHARE_OF_BUFFERS = 0.7
_ANSWERS_WITHIN = "3s"


@dataclass(frozen=True)
class Machine:
    """How much of the machine to use, or which cluster. None is as much as the machine, or its container, has."""

    workers: int | None = None
    threads: int | None = None
    memory_bytes: int | None = None
    scheduler: str | None = None


def run(jobs: list[Job], machine: Machine, on_done: Callable[[Outcome], None], on_bytes: Callable[[int], None]) -> None:
    """Run all jobs, several ranks at a time.

    on_done gets each outcome in the calling thread, on_bytes the size of each piece of a file that was read, in any thread.
    Raises InputError when there is no scheduler to be reached.
    """
    if machine.scheduler is not None:
        _run_on_cluster([replace(job, threads=machine.threads) for job in jobs], machine.scheduler, on_done, on_bytes)
        return
    threads, memory_bytes = machine.threads or _cores(), machine.memory_bytes
    workers = max(1, min(machine.workers or threads, len(jobs)))
    if workers > 1 and memory_bytes is None:
        memory_bytes = _memory_of_machine()
    buffers = None if memory_bytes is None else int(memory_bytes * _SHARE_OF_BUFFERS / workers)

    def threads_of(job: Job) -> int:
        return max(1, threads // workers) if machine.threads or job.input_bytes > _WORTH_THREADS_BYTES else 1

    jobs = [replace(job, threads=threads_of(job), buffer_bytes=buffers) for job in jobs]
    if workers == 1 or sum(job.input_bytes for job in jobs) < _WORTH_PROCESSES_BYTES:
        _run_here(jobs, workers, on_done, on_bytes)
    else:
        _run_in_processes(jobs, workers, on_done, on_bytes)


def _run_here(jobs: list[Job], workers: int, on_done: Callable[[Outcome], None], on_bytes: Callable[[int], None]) -> None:
    running: list[duckdb.DuckDBPyConnection] = []
    pool = ThreadPoolExecutor(workers)
    try:
        for future in as_completed([pool.submit(run_rank, job, running, on_bytes) for job in jobs]):
            on_done(future.result())
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        give_up = monotonic() + 0.5
        while running and monotonic() < give_up:  # A job goes on to its next statement, so one call is not enough.
            for connection in list(running):
                connection.interrupt()
            sleep(0.02)
        raise
    pool.shutdown()


def _run_in_processes(
    jobs: list[Job], workers: int, on_done: Callable[[Outcome], None], on_bytes: Callable[[int], None]
) -> None:
    """Each worker is an executor of one process, so that it is known whose process died, and the others go on."""
    from loky import ProcessPoolExecutor

    waiting = deque(jobs)
    outcomes: SimpleQueue[Outcome] = SimpleQueue()
    executors: list[ProcessPoolExecutor] = []

    def feed() -> None:
        executor = None
        while waiting:
            try:
                job = waiting.popleft()
            except IndexError:
                return
            if executor is None:
                executor = ProcessPoolExecutor(max_workers=1)
                executors.append(executor)
            outcome, has_died = _outcome_of(executor, job)
            executor = None if has_died else executor
            outcomes.put(outcome)

    feeders = [Thread(target=feed, daemon=True) for _ in range(workers)]
    for feeder in feeders:
        feeder.start()
    try:
        for _ in jobs:
            outcome = outcomes.get()
            on_bytes(outcome.job.input_bytes)
            on_done(outcome)
    finally:
        waiting.clear()
        for executor in executors:
            executor.shutdown(wait=False, kill_workers=True)


def _run_on_cluster(
    jobs: list[Job], scheduler: str, on_done: Callable[[Outcome], None], on_bytes: Callable[[int], None]
) -> None:
    with _cluster(scheduler) as executor:
        running = {executor.submit(run_rank, job): job for job in jobs}
        for future in as_completed(running):
            job = running[future]
            error = future.exception()
            on_bytes(job.input_bytes)
            on_done(future.result() if error is None else _died(job, error))


@contextmanager
def _cluster(scheduler: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("--scheduler needs Dask: pip install 'prof-analysis[distributed]'") from error
    try:
        client = Client(scheduler, timeout=_ANSWERS_WITHIN, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"{scheduler}: no Dask scheduler answers ({reason_of(error)}); start one, or name another") from error
    with client:
        yield client.get_executor(pure=False)  # type: ignore[no-untyped-call]


def _outcome_of(executor: Executor, job: Job) -> tuple[Outcome, bool]:
    """What became of a job, and whether its worker died."""
    try:
        return executor.submit(run_rank, job).result(), False
    except BrokenExecutor as error:
        return _died(job, error), True


def _died(job: Job, error: BaseException) -> Outcome:
    return Outcome(
        job,
        failure=f"{job.rank.folder}: the process that analysed it died, killed or out of memory; run it alone with "
        "--rank_list, with fewer --workers or a smaller --memory-limit",
        details=repr(error),
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory_of_machine() -> int:
    """What DuckDB would take by itself, which is a share of the memory of the machine or of its container."""
    with duckdb.connect() as connection:
        row = connection.execute("SELECT parse_formatted_bytes(current_setting('memory_limit'))").fetchone()
    assert row is not None
    return int(row[0])
