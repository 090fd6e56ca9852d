"""Run the jobs of ranks on a Dask cluster whose workers see the same profiles and the same store."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.run.cache.store import RankStore
from prof_analysis.run.job import Job, Outcome, died, own_code
from prof_analysis.run.waiting import each_done, refuse_when
from prof_analysis.run.work import run_elsewhere

_ANSWERS_WITHIN_S = 3
# A cluster that starts workers on demand needs at most this long to start the first one.
_WORKERS_WITHIN_S = 60
_LOOKS_FOR_WORKERS_EVERY_S = 2
# Other machines see a new file on a network disk after at most this long.
_FILES_WITHIN_S = 30


def run_on_cluster(
    jobs: list[Job],
    scheduler: str,
    on_done: Callable[[Outcome], None],
    is_stopped: Callable[[], bool],
) -> None:
    """Run all jobs on the workers of a scheduler.

    Raises InputError when the scheduler does not answer, ends or has no workers, QueryError soon after is_stopped() is true.
    """
    with _client(scheduler) as client:
        executor = client.get_executor(pure=False)
        code = own_code()
        running = {executor.submit(run_elsewhere, job, code): job for job in jobs}
        look_for_workers = _looking_for_workers(client, scheduler)

        def look() -> None:
            refuse_when(is_stopped)
            look_for_workers()

        done_count = 0
        for future in each_done(list(running), look):
            if future.cancelled():
                raise InputError(
                    f"{scheduler}: the Dask scheduler ended or can no longer be reached; start it, and run this again with the "
                    f"same --cache, which keeps the {done_count} of {len(jobs)} ranks that are done"
                )
            job = running[future]
            error = future.exception()
            outcome = _looked_up(future.result()) if error is None else _not_run(job, error)
            done_count += outcome.failure is None
            on_done(outcome)


def _not_run(job: Job, error: BaseException) -> Outcome:
    """Return the outcome of a job that did not run or whose worker died; run_elsewhere() itself raises no errors."""
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return died(job, error)
    return Outcome(
        job,
        failure=f"{job.rank.folder}: the cluster cannot run its job ({type(error).__name__}: {reason_of(error)}); install the "
        "same version of prof-analysis on scheduler, workers and here",
        details=repr(error),
    )


def _looked_up(outcome: Outcome) -> Outcome:
    """Return the outcome once this machine sees its files."""
    job, give_up = outcome.job, monotonic() + _FILES_WITHIN_S
    store = RankStore(job.folder, job.rank, job.variables, job.own)
    while outcome.failure is None and (store.lacking(job.tables) or store.warnings(job.question) is None):
        if monotonic() > give_up or not job.folder.is_dir():
            return Outcome(
                job,
                failure=f"{job.rank.folder}: the tables that its worker wrote are not in {job.folder}; give --cache a folder "
                "that all machines see under the same path",
            )
        sleep(0.2)
        list(job.folder.iterdir())  # Listing a folder makes a network disk refresh it.
    return outcome


def _looking_for_workers(client: Any, scheduler: str) -> Callable[[], None]:
    """Return a function that looks for workers now and then, and raises InputError when there have been none for too long."""
    last_look = last_seen = monotonic()

    def look() -> None:
        nonlocal last_look, last_seen
        if monotonic() - last_look < _LOOKS_FOR_WORKERS_EVERY_S:
            return
        last_look = monotonic()
        if client.status != "running" or client.scheduler_info(n_workers=1)["workers"]:
            last_seen = monotonic()
        elif monotonic() - last_seen > _WORKERS_WITHIN_S:
            raise InputError(
                f"{scheduler}: the cluster has had no workers for {_WORKERS_WITHIN_S} s; start some with "
                f"`dask worker {scheduler}`, and run this again with the same --cache"
            )

    return look


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("--scheduler needs Dask: pip install 'prof-analysis[distributed]'") from error
    try:
        # A Client that cannot connect leaves threads that print a traceback at the end, so another connection is tried first.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, _ask_identity(scheduler)).result()
        client = Client(scheduler, timeout=f"{_ANSWERS_WITHIN_S}s", set_as_default=False)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise InputError(
            f"{scheduler}: no Dask scheduler answers ({reason_of(error)}); start one, or give its address, such as tcp://host:8786"
        ) from error
    with _without_log(), client:
        yield client


@contextmanager
def _without_log() -> Iterator[None]:
    """Silence the logs of Dask: for a scheduler that ended they are tracebacks, and our error says what matters."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)


async def _ask_identity(scheduler: str) -> None:
    """Raise an error unless a Dask scheduler answers at an address."""
    from distributed.comm.core import connect
    from distributed.security import Security

    arguments = Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    connecting = connect(scheduler, timeout=_ANSWERS_WITHIN_S, **arguments)  # type: ignore[no-untyped-call]
    comm = await asyncio.wait_for(connecting, _ANSWERS_WITHIN_S + 1)
    try:
        await comm.write({"op": "identity", "reply": True, "n_workers": 0})
        answer = await asyncio.wait_for(comm.read(), _ANSWERS_WITHIN_S)
        if not isinstance(answer, dict) or answer.get("type") != "Scheduler":
            raise ValueError("it answers, but is not a scheduler")
    finally:
        comm.abort()
