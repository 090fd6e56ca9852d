"""Runs a rank: it is analysed by itself in its own DuckDB, and leaves the tables asked for as Parquet files in a store."""

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import duckdb

from prof_analysis.database import Variables, connect, quote_text
from prof_analysis.errors import OutputError, ProfAnalysisError, reason_of
from prof_analysis.rank import Rank
from prof_analysis.sources import SOURCES
from prof_analysis.tables import Plan, build, make_plan, shown_select, source_tables


@dataclass(frozen=True)
class Job:
    """What to make of one rank: the tables, the values that their SQL reads, and the folder to leave them in.

    `threads` and `buffer_bytes` bound what DuckDB takes; None is as much as there is.
    """

    rank: Rank
    tables: tuple[str, ...]
    variables: Variables
    folder: Path
    threads: int | None = None
    buffer_bytes: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a job: warnings, or why it failed with the traceback for those who ask."""

    job: Job
    warnings: tuple[str, ...] = ()
    failure: str | None = None
    details: str | None = None


def run_rank(
    job: Job,
    running: list[duckdb.DuckDBPyConnection] | None = None,
    on_bytes: Callable[[int], None] | None = None,
) -> Outcome:
    """Build the tables of one rank and write them into its folder.

    `running` has the connection while it works, so that it can be interrupted. on_bytes gets the size of each piece of a file
    that was read.
    """
    assert job.rank.source is not None
    source = SOURCES[job.rank.source]
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
        with _connection(job, [] if running is None else running) as connection:
            plan = _plan(job.rank.source, job.tables)
            stage = partial(source.stage, connection, job.rank.inputs, threads=job.threads or 1)
            at_once, later = plan.raw_columns, plan.deferred_raw_columns
            if source.IS_READ_ONCE:
                at_once, later = {**at_once, **later}, {}
            warnings = stage(at_once, on_bytes=on_bytes or _not_counted)
            build(connection, source.NAME, plan, lambda: warnings.extend(stage(later, on_bytes=_not_counted) if later else ()))
            for table in job.tables:
                _write(connection, source.NAME, table, job.folder)
        return Outcome(job, tuple(warnings))
    except ProfAnalysisError as error:
        return Outcome(job, failure=str(error), details=traceback.format_exc())
    except (duckdb.Error, OSError, MemoryError) as error:
        return Outcome(
            job, failure=f"{job.rank.folder}: cannot be analysed ({reason_of(error)})", details=traceback.format_exc()
        )


def _not_counted(size: int) -> None:
    """Takes the size of a piece that is not to be counted."""


@contextmanager
def _connection(job: Job, running: list[duckdb.DuckDBPyConnection]) -> Iterator[duckdb.DuckDBPyConnection]:
    rank = job.rank
    devices = {"device_id": rank.device_id, "first_device_id": rank.first_device_id} if rank.first_device_id is not None else {}
    variables = {**job.variables, **devices, "rank_id": rank.rank_id, "profile": rank.profile}
    with connect(variables, job.threads, job.folder / "spill", job.buffer_bytes) as connection:
        running.append(connection)
        try:
            yield connection
        finally:
            running.remove(connection)


def _write(connection: duckdb.DuckDBPyConnection, source: str, table: str, folder: Path) -> None:
    """Write a table with its rank in front. It appears whole or not at all."""
    rows = (
        "SELECT getvariable('profile') AS profile, getvariable('rank_id')::INTEGER AS rank_id, * FROM "
        f"({shown_select(source_tables(source)[table])})"
    )
    unfinished, finished = folder / f"{table}.unfinished", store_file(folder, table)
    try:
        connection.execute(f"COPY ({rows}) TO {quote_text(str(unfinished))} (FORMAT parquet)")
        unfinished.replace(finished)
    except (duckdb.IOException, OSError) as error:
        raise OutputError(
            f"{folder}: temporary files cannot be written ({reason_of(error)}); set TMPDIR to a larger disk"
        ) from error


def store_file(folder: Path, table: str) -> Path:
    """Where a table of a rank lies in the rank's store folder."""
    return folder / f"{table}.parquet"


@cache
def _plan(source: str, tables: tuple[str, ...]) -> Plan:
    return make_plan(source, SOURCES[source].RAW_COLUMNS, tables)


def missing_tables(folders: Iterable[Path], tables: Iterable[str]) -> tuple[str, ...]:
    """The tables that at least one of these store folders does not hold yet."""
    folders = list(folders)
    return tuple(table for table in tables if not all(store_file(folder, table).exists() for folder in folders))
