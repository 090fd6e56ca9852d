"""Makes the tables that answer a question about one rank: from its files, or from tables kept before."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import duckdb

from prof_analysis.engine.building import build
from prof_analysis.engine.database import keeping_order
from prof_analysis.engine.kept import TEXTS, KeptTable, is_kept, restricted, texts_are_doubtful
from prof_analysis.engine.planning import Plan, make_plan
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import shown_select, source_tables
from prof_analysis.run.cache.kept import Facts, UnfitError, facts_of, find_kept, is_unchanged, keep, texts_file, warnings_of
from prof_analysis.run.cache.store import ROW_COUNT, RankStore, write_rows
from prof_analysis.run.job import Job, fits_in_arrays, have_few_rows
from prof_analysis.run.progress import OnWork, work_of
from prof_analysis.sources import SOURCES

# Of so many rows DuckDB reads several parts at a time.
_MANY_ROWS = 122_880


@dataclass
class _Work:
    """The work on a rank: its place, its tables, its facts, and which files of the cache have which table."""

    connection: duckdb.DuckDBPyConnection
    scratch: Path
    store: RankStore
    tables: Mapping[str, Table]
    facts: Facts = field(default_factory=Facts)
    kept: Mapping[str, list[KeptTable]] = field(default_factory=dict)
    loaded: Mapping[str, Table] = field(default_factory=dict)
    texts: str = ""


def make_tables(job: Job, connection: duckdb.DuckDBPyConnection, scratch: Path, on_work: OnWork | None) -> None:
    """Write the tables of a job into its folder, with the warnings of its question. `scratch` is a temporary folder in it.

    on_work receives how much is done, as in progress.py. Raises UnfitError where what is kept is of no use.
    """
    assert job.rank.source is not None
    source = SOURCES[job.rank.source]
    store = RankStore(job.folder, job.rank, job.variables, job.own)
    work = _Work(connection, scratch, store, source_tables(source.NAME, job.own, frozenset(source.RAW_COLUMNS)))
    answered = [store.file(table) for table in job.question if table not in job.tables]
    facts_of(connection, answered, work.facts)
    row_counts = _build(job, work, on_work or _not_counted) if job.tables else {}
    for table in job.tables:
        # One thread takes half of the CPU that several take to sort what is in order already, and as long as two of them.
        is_in_order = work.tables[table].is_ordered and row_counts[table] > _MANY_ROWS
        shown = shown_select(work.tables[table], is_empty=row_counts[table] == 0, is_in_order=is_in_order)
        rows = f"SELECT getvariable('profile') AS profile, getvariable('rank_id')::INTEGER AS rank_id, * FROM ({shown})"
        with keeping_order(connection) if is_in_order else nullcontext():
            about = {ROW_COUNT: row_counts[table], **work.facts.as_json()}
            write_rows(connection, rows, store.file(table), about, store.folder, scratch)
    warnings: list[str] = []
    if work.facts.remarks:
        plan = plan_of(source.NAME, job.question, job.own)
        warnings = warnings_of(plan, work.tables, store, work.facts, source.IS_READ_ONCE)
    store.keep_warnings(job.question, warnings, scratch)


@lru_cache(maxsize=256)
def plan_of(source: str, tables: tuple[str, ...], own: tuple[Table, ...], is_for_others: bool = False) -> Plan:
    """Return the plan of these tables; is_for_others as in make_plan()."""
    return make_plan(source, SOURCES[source].RAW_COLUMNS, tables, own, is_for_others)


def plan_of_job(job: Job) -> Plan:
    """Return the plan of the tables that a job builds, and of the tables that it keeps with them."""
    assert job.rank.source is not None
    return plan_of(job.rank.source, job.tables, job.own, _may_keep(job))


def _may_keep(job: Job) -> bool:
    """Return whether a job keeps tables. A job about all texts does not: it sees the texts of its own columns only."""
    return job.keeps and TEXTS not in job.tables


def _build(job: Job, work: _Work, on_work: OnWork) -> Mapping[str, int]:
    """Build the tables of a job in DuckDB, or take them from the cache, and keep tables that other questions may need.

    Returns how many rows each has.
    """
    assert job.rank.source is not None
    source, connection, facts = SOURCES[job.rank.source], work.connection, work.facts
    plan = whole = plan_of_job(job)
    # Without texts, staging numbers none, so what is kept with texts may differ.
    keeps = _may_keep(job) and TEXTS in plan.order
    if keeps:
        work.kept = find_kept(connection, work.store, (work.tables[name] for name in plan.order), facts)
        plan, work.loaded = restricted(plan, work.tables, job.tables, work.kept, _known_guards(work, plan))
    is_kept_now = keeps
    read = {name for name, table in work.loaded.items() if not table.needs}
    on_staged, on_built = work_of(job.input_bytes, source.NAME, whole, plan, read, on_work)

    def stage(columns: Mapping[str, frozenset[str]]) -> None:
        nonlocal is_kept_now
        remarks = source.stage(connection, job.rank.inputs, columns, threads=job.threads or 1, on_bytes=on_staged)
        facts.remarks.update(remarks)
        salt = run(connection, "SELECT getvariable('text_salt')").fetchone()
        if salt != (0,) and work.loaded:
            raise UnfitError("texts have other ids")
        if of_question := {table for remark in remarks if remark.of_the_question for table in remark.tables}:
            asked = plan_of(source.NAME, job.question, job.own).columns
            if any(table in columns and columns[table] != asked.get(table) for table in of_question):
                raise UnfitError("other columns were read than the question has")
        is_kept_now = is_kept_now and salt == (0,) and not of_question and is_unchanged(work.store)

    def on_made(table: Table, columns: frozenset[str]) -> None:
        keep_made(table, columns)
        on_built(table.name)

    def keep_made(table: Table, columns: frozenset[str]) -> None:
        nonlocal is_kept_now
        if table.name == TEXTS and is_kept_now:
            ((is_doubtful,),) = connection.execute(texts_are_doubtful(table)).fetchall()
            if is_doubtful:
                raise UnfitError("two texts have one id")
            work.texts = texts_file(connection)
            if work.texts in (one.file.name for one in work.kept.get(TEXTS, ())):
                return
        if is_kept_now and is_kept(table) and table.name not in read:
            is_kept_now = _keep(work, table, columns)

    if staged := {**plan.raw_columns, **(plan.deferred_raw_columns if source.IS_READ_ONCE else {})}:
        stage(staged)
        on_staged(job.input_bytes)
    try:
        return build(
            connection,
            source.NAME,
            plan,
            _not_staged if source.IS_READ_ONCE else stage,
            kept=job.tables,
            own=job.own,
            loaded=work.loaded,
            on_guard=lambda guard, has_rows: facts.guards.update({work.store.file(guard).name: has_rows}),
            on_made=on_made,
            has_few_rows=have_few_rows([job.rank]),
            in_arrays=fits_in_arrays(job, connection),
        )
    except (duckdb.InterruptException, duckdb.OutOfMemoryException):
        raise
    except duckdb.Error as error:
        if work.kept:  # A file may be damaged, or gone.
            raise UnfitError(str(error)) from error
        raise


def _known_guards(work: _Work, plan: Plan) -> dict[str, bool]:
    """Return the guards of a plan of which it is known whether they have rows."""
    guards = {guard for name in plan.order if (guard := work.tables[name].guard)}
    files = {guard: work.store.file(guard).name for guard in guards}
    return {guard: work.facts.guards[file] for guard, file in files.items() if file in work.facts.guards}


def _keep(work: _Work, table: Table, columns: frozenset[str]) -> bool:
    """Keep a table in place of the files that have fewer of its columns; return whether there was room for it."""
    if not keep(work.connection, work.store, table, columns, work.texts, work.facts, work.scratch):
        return False
    for one in work.kept.get(table.name, ()):
        if one.columns < columns:
            with suppress(OSError):
                one.file.unlink()
    return True


def _not_staged(columns: Mapping[str, frozenset[str]]) -> None:
    """Stage nothing behind guards: all was staged at once."""


def _not_counted(done: int, work: int) -> None:
    """Ignore progress that nobody wants to know."""
