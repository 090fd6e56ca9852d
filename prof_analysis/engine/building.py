"""Builds the planned tables of a rank, in order; each is dropped after its last use."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from types import MappingProxyType

import duckdb

from prof_analysis.engine.dropping import Dropping
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.passes import passes_in_arrays
from prof_analysis.engine.planning import Build, Plan, padded, pruned, sql_of, walk
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.registry import with_others
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import Table, empty_select
from prof_analysis.engine.tables import create_schemas, source_tables, store_view

# Where so many tables follow, and those of trace.* have so many rows, they are packed: to pack fewer wins little memory.
_MANY_TABLES = 150
_ROWS_TO_PACK = 5_000_000


def build(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    plan: Plan,
    stage: Callable[[Mapping[str, frozenset[str]]], None],
    kept: Iterable[str] | None = None,
    own: tuple[Table, ...] = (),
    loaded: Mapping[str, Table] = MappingProxyType({}),
    on_guard: Callable[[str, bool], None] | None = None,
    on_made: Callable[[Table, frozenset[str]], None] | None = None,
    has_few_rows: bool = False,
    in_arrays: bool = False,
) -> Mapping[str, int]:
    """Build the planned tables in a database that holds plan.raw_columns, and return how many rows each has.

    `stage` is called with raw tables and columns of plan.deferred_raw_columns once a guard of a table that needs them passes.
    With `kept`, other tables, and columns of large ones, are dropped as soon as no table is left that reads them. `loaded` has
    the tables that are not built but read from files, as kept.restricted() gives them. on_guard receives each guard and whether
    it has rows, on_made each table once it is there, with its columns.
    With `has_few_rows`, nothing is dropped and no table has a view, which of few rows takes longer than what it saves. With
    `in_arrays`, passes over many rows are done in arrays, which is faster and takes memory that is not spilled.
    """
    tables = with_others(source_tables(source, own, plan.raw_tables), loaded)
    row_counts: dict[str, int] = {}
    of_trace = [name for name in plan.order if name.startswith("trace.") and name not in plan.deferred]
    packed_after = of_trace[-1] if of_trace and len(plan.order) >= _MANY_TABLES and not has_few_rows else None

    def passes(guard: str) -> bool:
        known = row_counts.get(guard)
        has_rows = bool(run(connection, f"SELECT 1 FROM {guard} LIMIT 1").fetchall() if known is None else known)
        if on_guard:
            on_guard(guard, has_rows)
        return has_rows

    def make(name: str, is_empty: bool) -> None:
        row_count = row_counts[name] = _create(connection, tables[name], plan.columns[name], is_empty, has_few_rows, in_arrays)
        if on_made:
            on_made(tables[name], plan.columns[name])
        if dropping:
            dropping.made(name, row_count, is_view=is_empty)
        if name == packed_after and sum(row_counts.values()) >= _ROWS_TO_PACK:
            # Of `advise` at a million kernels from 1.5 to 0.2 GB in 3 s of CPU, which packed columns save where they are read.
            run(connection, "CHECKPOINT")

    create_macros(connection, sql_of(tables, plan.order))
    create_schemas(connection, plan.order)
    dropping = Dropping(connection, plan, tables, kept) if kept is not None and not has_few_rows else None
    for step in walk(plan, tables, passes):
        if isinstance(step, Build):
            make(step.table, step.is_empty)
        else:
            stage(step)
            if dropping:
                dropping.staged(step)
    return row_counts


def _create(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    kept: frozenset[str],
    is_empty: bool,
    has_few_rows: bool,
    in_arrays: bool,
) -> int:
    """Create a table, and return the number of its rows. An empty one is a view alone, with nothing to store or to drop.

    Bodies name all columns of what they read, so the columns that are not kept are NULL: in a view on the table, or, of few
    rows, in the table itself.
    """
    if is_empty:
        run(connection, f"CREATE VIEW {table.name} AS {empty_select(table.columns)}")
        return 0
    name = table.name if has_few_rows else f"stored.{quote(table.name)}"
    with (
        functions_for(connection, table.body, through_macros=False),
        passes_in_arrays(connection, table.body) if in_arrays else nullcontext(table.body) as body,
    ):
        rows = padded(table, kept, body) if has_few_rows else pruned(table, kept, body)
        ((row_count,),) = run(connection, f"CREATE TABLE {name} AS {rows}").fetchall()
    if not has_few_rows:
        _show(connection, table, kept)
    return int(row_count)


def _show(connection: duckdb.DuckDBPyConnection, table: Table, kept: Iterable[str]) -> None:
    store_view(connection, table.name, _types_of(table), kept)


def _types_of(table: Table) -> dict[str, str]:
    return {column.name: column.stored_type for column in table.columns}
