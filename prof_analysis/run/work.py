"""Runs the job of a rank: it is analysed by itself in its own DuckDB, and leaves its tables as Parquet files in a store."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from platform import node

import duckdb

from prof_analysis.common.errors import reason_of
from prof_analysis.common.input_files import opened
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.database import connect, lent, planned_for_few_rows
from prof_analysis.run.cache.kept import UnfitError
from prof_analysis.run.cache.store import is_entry
from prof_analysis.run.job import Code, Job, Outcome, failed, have_few_rows, own_code
from prof_analysis.run.progress import OnWork
from prof_analysis.run.rank_tables import make_tables, plan_of_job
from prof_analysis.sources.beside import is_told_beside


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
            failure=f"{job.rank.folder}: the worker on {node()} does not see the store ({job.folder}); give --cache a folder "
            "that all machines see under the same path",
        )
    for file in job.rank.inputs:
        try:
            opened(file).close()
        except OSError as error:
            return Outcome(
                job,
                failure=f"{file}: the worker on {node()} cannot read this file ({reason_of(error)}); put the profile where all "
                "machines see it under the same path",
                path=file,
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


@contextmanager
def _connection(job: Job, running: list[duckdb.DuckDBPyConnection]) -> Iterator[duckdb.DuckDBPyConnection]:
    rank = job.rank
    devices = {"device_id": rank.device_id, "first_device_id": rank.first_device_id} if rank.first_device_id is not None else {}
    variables = {
        **job.variables,
        **devices,
        "rank_id": rank.rank_id,
        "profile": rank.profile,
        "memory_is_beside": is_told_beside(rank),
    }
    with (
        temporary_folder(job.spill_folder) as spill,
        lent(variables, 1, spill, job.buffer_bytes)
        if job.threads == 1
        else connect(variables, job.threads, spill, job.buffer_bytes, macros=False) as connection,
    ):
        running.append(connection)
        try:
            with planned_for_few_rows(connection) if have_few_rows([rank]) else nullcontext():
                yield connection
        finally:
            running.remove(connection)
