"""Run a rank: it is analysed by itself in its own DuckDB, and leaves the requested tables as Parquet files in a store."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from platform import node

import duckdb

from prof_analysis.common.errors import ProfAnalysisError, reason_of, remedy_of
from prof_analysis.common.options import Variables
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.common.version import __version__
from prof_analysis.engine.database import connect
from prof_analysis.engine.statements import code_digest
from prof_analysis.engine.table_file import Table
from prof_analysis.run.cache.kept import UnfitError
from prof_analysis.run.cache.store import is_entry
from prof_analysis.run.progress import OnWork
from prof_analysis.run.rank_tables import make_tables, plan_of_job
from prof_analysis.sources.rank import Rank


@dataclass(frozen=True)
class Job:
    """A job for one rank: the tables to build, the values that their SQL reads, and the folder for the tables.

    `tables` are those of `asked` that its folder lacks; without `asked`, they are the question. With `keeps`, the folder keeps
    tables of the engine, too, and they are used. `own` has the tables of the user's own SQL, read before the job is sent, so
    that every worker has the same ones.
    `threads` and `buffer_bytes` limit DuckDB; None means all that there is. Data that does not fit is spilled to a folder below
    `spill_folder`.
    """

    rank: Rank
    tables: tuple[str, ...]
    variables: Variables
    folder: Path
    own: tuple[Table, ...] = ()
    threads: int | None = None
    buffer_bytes: int | None = None
    spill_folder: Path | None = None
    asked: tuple[str, ...] = ()
    keeps: bool = False

    @property
    def question(self) -> tuple[str, ...]:
        """The tables that answer the question."""
        return self.asked or self.tables

    @property
    def input_bytes(self) -> int:
        """Size of the input files that exist."""
        return sum(map(_size_of, self.rank.inputs))


@dataclass(frozen=True)
class Outcome:
    """The outcome of a job: where it failed, the reason, the traceback for --debug, and the file at which it failed."""

    job: Job
    failure: str | None = None
    details: str | None = None
    path: Path | None = None


@dataclass(frozen=True)
class Code:
    """The versions of the code that builds tables: other versions may build other tables from the same files."""

    digest: str
    prof_analysis: str
    duckdb: str


def own_code() -> Code:
    """Return the code of this process."""
    return Code(code_digest(), __version__, duckdb.__version__)


def run_elsewhere(job: Job, code: Code) -> Outcome:
    """Build the tables of one rank on another machine, provided that it has the same code and sees the same store."""
    if (here := own_code()) != code:
        return Outcome(
            job,
            failure=f"{job.rank.folder}: the worker on {node()} has other code: prof-analysis {here.prof_analysis} "
            f"({here.digest[:8]}) with DuckDB {here.duckdb}, not {code.prof_analysis} ({code.digest[:8]}) with DuckDB "
            f"{code.duckdb}; install the same versions on all machines",
        )
    if not is_entry(job.folder):
        return Outcome(
            job,
            failure=f"{job.rank.folder}: the worker on {node()} does not see the store ({job.folder}); give --store a folder "
            "that all machines see under the same path",
        )
    return run_rank(job)


def run_rank(
    job: Job,
    running: list[duckdb.DuckDBPyConnection] | None = None,
    on_work: OnWork | None = None,
) -> Outcome:
    """Build the tables of one rank and write them into its folder, with the warnings. Any error is in the outcome.

    `running` has the connection during the work, so that it can be interrupted. on_work receives how much is done.
    """
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
        with temporary_folder(job.folder) as scratch, _connection(job, [] if running is None else running) as connection:
            make_tables(job, connection, scratch, on_work)
    except UnfitError as error:
        anew = replace(job, tables=job.question, keeps=False)
        return failed(job, error) if job == anew else run_rank(anew, running, on_work)
    except Exception as error:
        return failed(job, error)
    return Outcome(job)


def plan_once(jobs: list[Job]) -> None:
    """Plan the tables of the jobs in advance, so that ranks that run in parallel do not each repeat the planning."""
    for job in jobs:
        if job.tables:
            plan_of_job(job)


def failed(job: Job, error: BaseException) -> Outcome:
    """Return the outcome of a job that raised an error, with one line for the user."""
    if isinstance(error, ProfAnalysisError):
        failure = str(error)
    elif isinstance(error, (duckdb.Error, OSError, MemoryError)):
        failure = f"{job.rank.folder}: cannot be analysed ({reason_of(error)}){remedy_of(error)}"
    else:
        defect = f"{type(error).__name__}: {reason_of(error)}"
        failure = f"{job.rank.folder}: cannot be analysed: a defect of prof-analysis, please report it with --debug ({defect})"
    path = error.path if isinstance(error, ProfAnalysisError) else None
    return Outcome(job, failure, "".join(traceback.format_exception(error)), path or job.rank.folder)


def died(job: Job, error: BaseException) -> Outcome:
    """Return the outcome of a job whose process died."""
    return Outcome(
        job,
        failure=f"{job.rank.folder}: the process that analysed it died, killed or out of memory; run it alone with "
        "--rank-list, with fewer --workers or a smaller --memory-limit",
        details=repr(error),
    )


def _size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


@contextmanager
def _connection(job: Job, running: list[duckdb.DuckDBPyConnection]) -> Iterator[duckdb.DuckDBPyConnection]:
    rank = job.rank
    devices = {"device_id": rank.device_id, "first_device_id": rank.first_device_id} if rank.first_device_id is not None else {}
    variables = {**job.variables, **devices, "rank_id": rank.rank_id, "profile": rank.profile}
    with (
        temporary_folder(job.spill_folder) as spill,
        connect(variables, job.threads, spill, job.buffer_bytes, macros=False) as connection,
    ):
        running.append(connection)
        try:
            yield connection
        finally:
            running.remove(connection)
