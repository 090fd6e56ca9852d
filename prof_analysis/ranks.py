"""Runs a rank: it is analysed by itself in its own DuckDB, and leaves the tables asked for as Parquet files in a store."""

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from prof_analysis.building import Plan, build, make_plan
from prof_analysis.database import Variables, connect
from prof_analysis.errors import ProfAnalysisError, reason_of
from prof_analysis.rank import Rank
from prof_analysis.sources import SOURCES
from prof_analysis.store import write_table
from prof_analysis.tables import shown_select, source_tables


@dataclass(frozen=True)
class Job:
    """What to make of one rank: the tables, the values that their SQL reads, and the folder to leave them in.

    `threads` and `buffer_bytes` bound what DuckDB takes; None is as much as there is. What does not fit is spilled to a folder
    below `spill_folder`.
    """

    rank: Rank
    tables: tuple[str, ...]
    variables: Variables
    folder: Path
    threads: int | None = None
    buffer_bytes: int | None = None
    spill_folder: Path | None = None

    @property
    def input_bytes(self) -> int:
        """The size of what is read for it."""
        return sum(file.stat().st_size for file in self.rank.inputs if file.exists())


@dataclass(frozen=True)
class Outcome:
    """What became of a job: why it failed, if it did, with the traceback for those who ask."""

    job: Job
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
            at_once = {**plan.raw_columns, **plan.deferred_raw_columns} if source.IS_READ_ONCE else plan.raw_columns
            warnings = stage(at_once, on_bytes=on_bytes or _not_counted)

            def stage_more(columns: Mapping[str, frozenset[str]]) -> None:
                if not source.IS_READ_ONCE:
                    warnings.extend(stage(columns, on_bytes=_not_counted))

            build(connection, source.NAME, plan, stage_more, kept=job.tables)
            for table in job.tables:
                shown = shown_select(source_tables(source.NAME)[table])
                rows = f"SELECT getvariable('profile') AS profile, getvariable('rank_id')::INTEGER AS rank_id, * FROM ({shown})"
                write_table(connection, rows, job.folder, table, warnings)
        return Outcome(job)
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
    with (
        TemporaryDirectory(prefix="prof_analysis_spill_", dir=job.spill_folder) as spill,
        connect(variables, job.threads, Path(spill), job.buffer_bytes, macros=False) as connection,
    ):
        running.append(connection)
        try:
            yield connection
        finally:
            running.remove(connection)


@cache
def _plan(source: str, tables: tuple[str, ...]) -> Plan:
    return make_plan(source, SOURCES[source].RAW_COLUMNS, tables)
