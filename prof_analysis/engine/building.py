"""Builds the planned tables of a rank, in order; each is dropped after its last use."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import duckdb

from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.planning import Build, Plan, padded, pruned, sql_of, walk
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.registry import with_others
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import Table, empty_select
from prof_analysis.engine.tables import create_schemas, source_tables, store_view

# To drop single columns of tables with fewer rows costs more than it saves.
MANY_ROWS = 100_000


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
) -> None:
    """Build the planned tables in a database that holds plan.raw_columns.

    `stage` is called with raw tables and columns of plan.deferred_raw_columns once a guard of a table that needs them passes.
    With `kept`, other tables, and columns of large ones, are dropped as soon as no table is left that reads them: a million
    kernels take half the memory. `loaded` has the tables that are not built but read from files, as kept.restricted() gives
    them. on_guard receives each guard and whether it has rows, on_made each table once it is there, with its columns.
    With `has_few_rows`, nothing is dropped and no table has a view, which of few rows takes longer than what it saves. With
    `in_arrays`, the macros of sql/macros/arrays/ are used, which are faster for many rows, and take memory that is not spilled.
    """
    tables = with_others(source_tables(source, own, plan.raw_tables), loaded)
    made: set[str] = set()
    staged = set(plan.raw_columns)
    used_by = _users_of(tables, plan.order)
    spared = {"trace.string", *(kept or ())}
    large: dict[str, frozenset[str]] = {}
    row_counts: dict[str, int] = {}

    def passes(guard: str) -> bool:
        known = row_counts.get(guard)
        has_rows = bool(run(connection, f"SELECT 1 FROM {guard} LIMIT 1").fetchall() if known is None else known)
        if on_guard:
            on_guard(guard, has_rows)
        return has_rows

    def make(name: str, is_empty: bool) -> None:
        made.add(name)
        row_count = row_counts[name] = _create(connection, tables[name], plan.columns[name], is_empty, has_few_rows, in_arrays)
        if is_empty:
            spared.add(name)
        if on_made:
            on_made(tables[name], plan.columns[name])
        if row_count > MANY_ROWS and name not in spared:
            large[name] = plan.columns[name]
        if kept is not None and not has_few_rows:
            let_go(name)
            narrow_the_large()

    def let_go(user: str) -> None:
        """Drop the tables that this one has read and no other one will; those behind a guard are then not made at all."""
        for name in sorted(tables[user].read):
            used_by[name].remove(user)
            if used_by[name]:
                continue
            if name not in made and name not in staged:
                if name in tables:
                    let_go(name)
                continue
            large.pop(name, None)
            if name not in spared:
                run(connection, f"DROP TABLE stored.{quote(name)}")

    def narrow_the_large() -> None:
        for name, columns in large.items():
            still_read = {column for user in used_by[name] for column in plan.reads[user].get(name, ())}
            if still_read and still_read < columns:
                large[name] = frozenset(still_read)
                for column in sorted(columns - still_read):
                    connection.execute(f"ALTER TABLE stored.{quote(name)} DROP COLUMN {quote(column)}")
                _show(connection, tables[name], still_read)

    create_macros(connection, sql_of(tables, plan.order), in_arrays=in_arrays)
    create_schemas(connection, plan.order)
    for step in walk(plan, tables, passes):
        if isinstance(step, Build):
            make(step.table, step.is_empty)
        else:
            staged.update(step)
            stage(step)


def _users_of(tables: Mapping[str, Table], names: Iterable[str]) -> dict[str, set[str]]:
    """Return for each table that these read those that read it."""
    users: dict[str, set[str]] = {}
    for name in names:
        for need in tables[name].read:
            users.setdefault(need, set()).add(name)
    return users


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
    rows = padded(table, kept, table.body) if has_few_rows else pruned(table, kept, table.body)
    with functions_for(connection, table.body, through_macros=in_arrays, in_arrays=in_arrays):
        ((row_count,),) = run(connection, f"CREATE TABLE {name} AS {rows}").fetchall()
    if not has_few_rows:
        _show(connection, table, kept)
    return int(row_count)


def _show(connection: duckdb.DuckDBPyConnection, table: Table, kept: Iterable[str]) -> None:
    store_view(connection, table.name, {column.name: column.stored_type for column in table.columns}, kept)
