"""Runs the jobs of ranks in this process or in several processes.

A worker that dies fails only the rank that it worked on. No worker outlives the process that started it.
"""

import os
import select
import signal
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import duckdb

from prof_analysis.run.job import Job, Outcome, died, failed
from prof_analysis.run.waiting import LOOKS_EVERY_S, each_done, refuse_when
from prof_analysis.run.work import plan_once, run_rank
from prof_analysis.sources.rank import Rank

if TYPE_CHECKING:
    from loky import ProcessPoolExecutor

_SHOWS_EVERY_S = 0.1
_STOPS_WITHIN_S = 0.5
_ENDS_WITHIN_S = 5.0
# Ctrl-C, and the end of a job in a batch system: both go to all processes of a command.
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
# glibc reads this at the start of a process. With 1,000 freed pieces of memory of each small size at hand in place of 7, DuckDB
# plans faster: `advise` of 16 ranks of 10,000 kernels takes 34.7 s of CPU in place of 39.5. Large ranks gain nothing.
_ENVIRONMENT = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=1000"}


def run_here(
    jobs: list[Job],
    workers: int,
    on_done: Callable[[Outcome], None],
    on_work: Callable[[Rank, int, int], None],
    is_stopped: Callable[[], bool],
) -> None:
    """Run jobs in threads of this process; see machine.run()."""
    connections: list[duckdb.DuckDBPyConnection] = []
    is_over = Event()

    def count(rank: Rank, done: int, work: int) -> None:
        refuse_when(is_over.is_set)  # Reading without DuckDB ends at the next piece.
        on_work(rank, done, work)

    pool = ThreadPoolExecutor(workers)
    try:
        plan_once(jobs)
        futures = [pool.submit(run_rank, job, connections, partial(count, job.rank)) for job in jobs]
        for future in each_done(futures, lambda: refuse_when(is_stopped)):
            on_done(future.result())
    except BaseException:
        is_over.set()
        pool.shutdown(wait=False, cancel_futures=True)
        give_up = monotonic() + _STOPS_WITHIN_S
        while connections and monotonic() < give_up:  # A job continues with its next statement, so one call is not enough.
            for connection in list(connections):
                connection.interrupt()
            sleep(0.02)
        raise
    pool.shutdown()


def run_in_processes(
    jobs: list[Job],
    workers: int,
    on_done: Callable[[Outcome], None],
    on_work: Callable[[Rank, int, int], None],
    is_stopped: Callable[[], bool],
) -> None:
    """Run jobs in executors of one process each, so that it is known whose process died, and the others continue."""
    from loky import ProcessPoolExecutor

    _start_trackers()
    waiting = deque(jobs)
    running: dict[Future[Outcome], tuple[Job, ProcessPoolExecutor]] = {}
    receivers: dict[ProcessPoolExecutor, Any] = {}  # What Pipe() gives has another class on each system.

    def look(job: Job, executor: ProcessPoolExecutor) -> None:
        while receivers[executor].poll():
            on_work(job.rank, *receivers[executor].recv())

    def begin(executor: ProcessPoolExecutor | None) -> None:
        """Submit the next job to a worker, or to a new one. A job whose worker cannot be started fails."""
        while waiting:
            job = waiting.popleft()
            try:
                with _holding_interrupts():
                    if executor is None:
                        receiver, sender = Pipe(duplex=False)
                        executor = ProcessPoolExecutor(
                            max_workers=1,
                            initializer=_set_up,
                            initargs=(os.getpid(), sender),
                            env=_ENVIRONMENT | os.environ,
                        )
                        receivers[executor] = receiver
                    running[executor.submit(_run_in_worker, job)] = job, executor
                return
            except Exception as error:
                executor = None
                on_done(failed(job, error))

    try:
        for _ in range(workers):
            begin(None)
        while running:
            refuse_when(is_stopped)
            done, _ = wait(running, timeout=_SHOWS_EVERY_S, return_when=FIRST_COMPLETED)
            for job, executor in running.values():
                look(job, executor)
            for future in done:
                job, executor = running.pop(future)
                error = future.exception()
                on_done(future.result() if error is None else died(job, error))
                begin(None if isinstance(error, BrokenExecutor) else executor)
    finally:
        _end(receivers)
        for receiver in receivers.values():
            receiver.close()


def _start_trackers() -> None:
    """Start the processes that track what others share: later, their start would let interrupts through that are held back."""
    if sys.platform != "win32":
        from multiprocessing import resource_tracker

        from loky.backend import resource_tracker as resource_tracker_of_loky

        resource_tracker.ensure_running()
        resource_tracker_of_loky.ensure_running()


def _end(executors: "Collection[ProcessPoolExecutor]") -> None:
    """Kill the workers, whatever they do, so that none writes any more; do not wait long for one that does not end."""
    processes = [process for executor in executors for process in list((executor._processes or {}).values())]
    for executor in executors:
        executor.shutdown(wait=False, kill_workers=True)
    give_up = monotonic() + _ENDS_WITHIN_S
    while any(process.is_alive() for process in processes) and monotonic() < give_up:
        sleep(0.005)


@contextmanager
def _holding_interrupts() -> Iterator[None]:
    """Hold interrupts back from this thread, and from the processes that it starts: these would print what they import."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_to_parent: list[Connection] = []


def _set_up(parent: int, sender: Connection) -> None:
    """Set up a worker: it ignores interrupts, as the parent ends it; it ends by itself when the parent was killed."""
    _to_parent.append(sender)
    for interrupt in _INTERRUPTS:
        signal.signal(interrupt, signal.SIG_IGN)

    def look() -> None:
        while os.getppid() == parent:
            sleep(LOOKS_EVERY_S)
        os._exit(1)

    Thread(target=look, daemon=True).start()


def _has_room(sender: Connection) -> bool:
    """Return whether a pipe takes a message at once: work does not wait for a parent that does not look."""
    if sys.platform == "win32":
        return True
    room = select.poll()
    room.register(sender, select.POLLOUT)
    return bool(room.poll(0))


def _run_in_worker(job: Job) -> Outcome:
    (sender,) = _to_parent

    def on_work(done: int, work: int) -> None:
        if _has_room(sender):
            sender.send((done, work))

    return run_rank(job, on_work=on_work)
