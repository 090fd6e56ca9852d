"""Plans and builds the tables of a rank: only those that are needed, in order, each dropped after its last use."""

import json
from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import ExitStack
from dataclasses import dataclass, field

import duckdb

from prof_analysis.engine.database import connect, quote
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.statements import run
from prof_analysis.engine.tables import (
    Table,
    all_tables,
    create_schemas,
    empty_select,
    has_text_ids,
    in_building_order,
    nodes,
    source_tables,
    store_view,
)

# To drop single columns of tables with fewer rows costs more than it saves.
MANY_ROWS = 100_000

# Source and query -> the tables that it scans, each with the columns. Only queries of the project are here, so they are few.
_known_scans: dict[tuple[str, str], dict[str, frozenset[str]]] = {}


@dataclass(frozen=True)
class Plan:
    """The tables to build, in order, and the `columns` that are read of each of them and of each raw table.

    `reads` has, for each table, the tables and columns that its query reads. `deferred` tables are needed behind guards only.
    """

    order: tuple[str, ...]
    columns: Mapping[str, frozenset[str]]
    deferred: frozenset[str]
    reads: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)

    @property
    def raw_columns(self) -> Mapping[str, frozenset[str]]:
        """The raw tables and columns that a source must stage before anything is built."""
        return self._raw(self.columns.keys() - self.deferred)

    @property
    def raw_tables(self) -> frozenset[str]:
        """The raw tables that are staged, first or behind a guard."""
        return frozenset(name for name in self.columns if name.startswith("raw."))

    @property
    def deferred_raw_columns(self) -> Mapping[str, frozenset[str]]:
        """The raw tables and columns that a source must stage once a guard passes."""
        return self._raw(self.deferred)

    def _raw(self, names: Set[str]) -> Mapping[str, frozenset[str]]:
        return {name: self.columns[name] for name in names if name.startswith("raw.")}


def split_across_ranks(wanted: tuple[str, ...], own: tuple[Table, ...] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tables that each rank must build for the wanted ones, and the tables over ranks or runs, in building order."""
    tables = all_tables(own)
    across = tuple(name for name in in_building_order(tables, wanted) if tables[name].grain in ("job", "runs"))
    named = (*wanted, *(need for name in across for need in sorted(tables[name].needs)))
    return tuple(dict.fromkeys(name for name in named if tables[name].grain == "rank")), across


def make_plan(
    source: str, raw_columns: Mapping[str, Mapping[str, str]], wanted: Iterable[str], own: tuple[Table, ...] = ()
) -> Plan:
    """Plan what `wanted` needs: tables in building order, and the columns that are read of each.

    DuckDB knows the columns: on empty tables, with all optimizers off but the one that drops unused columns, the plan of each
    body lists what it scans. The lists are kept, since other questions need many of the same tables.
    """
    tables = source_tables(source, own, frozenset(raw_columns))
    order = _trace_first(tables, list(in_building_order(tables, wanted)))
    raw_needs = {need for name in order for need in tables[name].needs if need in raw_columns}
    used: dict[str, set[str]] = {name: set() for name in [*order, *raw_needs]}
    for name in wanted:
        used[name].update(column.name for column in tables[name].columns)
        if has_text_ids(tables[name]):
            used["trace.string"].update(("text_id", "text"))
    definitions = {
        **{name: raw_columns[name] for name in raw_needs},
        **{name: {column.name: column.stored_type for column in tables[name].columns} for name in order},
    }
    reads = {}
    with ExitStack() as opened:
        empty: duckdb.DuckDBPyConnection | None = None
        lacking = dict(definitions)
        for name in reversed(order):
            query = _pruned(tables[name], used[name], tables[name].body)
            known_scans = (
                {} if tables[name] in own else _known_scans
            )  # Another profile may have other own tables of the same names.
            if (source, query) not in known_scans:
                empty = empty or opened.enter_context(_open_planner(definitions, _sql_of(tables, order)))
                for need in tables[name].needs & lacking.keys():
                    _create_empty(empty, need, lacking.pop(need))
                known_scans[source, query] = _scans(empty, query)
            reads[name] = known_scans[source, query]
            for scanned, columns_read in reads[name].items():
                used[scanned].update(columns_read)
    deferred = used.keys() - _before_guards(tables, wanted)
    return Plan(order, {name: frozenset(columns) for name, columns in used.items()}, frozenset(deferred), reads)


def build(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    plan: Plan,
    stage: Callable[[Mapping[str, frozenset[str]]], None],
    kept: Iterable[str] | None = None,
    own: tuple[Table, ...] = (),
) -> None:
    """Build the planned tables in a database that holds plan.raw_columns.

    `stage` is called with raw tables and columns of plan.deferred_raw_columns once a guard of a table that needs them passes.
    With `kept`, other tables, and columns of large ones, are dropped as soon as no table is left that reads them: a million
    kernels take half the memory.
    """
    tables = source_tables(source, own, plan.raw_tables)
    made: set[str] = set()
    staged = set(plan.raw_columns)
    used_by: dict[str, set[str]] = {}
    for name in plan.order:
        for need in tables[name].read:
            used_by.setdefault(need, set()).add(name)
    spared = {"trace.string", *(kept or ())}
    large: dict[str, frozenset[str]] = {}

    def make(wanted: Iterable[str]) -> None:
        needed = _before_guards(tables, wanted)
        if unstaged := needed & plan.deferred_raw_columns.keys() - staged:
            staged.update(unstaged)
            stage({name: plan.columns[name] for name in sorted(unstaged)})
        for name in plan.order:
            if name in needed and name not in made:
                if tables[name].guard and _guard_passes(connection, tables[name]):
                    make(tables[name].needs)
                made.add(name)
                row_count = _create(connection, tables[name], plan.columns[name])
                if row_count > MANY_ROWS and name not in spared:
                    large[name] = plan.columns[name]
                if kept is not None:
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

    create_macros(connection, _sql_of(tables, plan.order))
    create_schemas(connection, plan.order)
    make(name for name in plan.order if name not in plan.deferred)


def _sql_of(tables: Mapping[str, Table], names: Iterable[str]) -> str:
    return " ".join(tables[name].body for name in names)


def _create(connection: duckdb.DuckDBPyConnection, table: Table, kept: frozenset[str]) -> int:
    """Create a table, and return the number of its rows."""
    body = table.body if _guard_passes(connection, table) else empty_select(table.columns)
    creation = f"CREATE TABLE stored.{quote(table.name)} AS {_pruned(table, kept, body)}"
    ((row_count,),) = run(connection, creation).fetchall()
    _show(connection, table, kept)
    return int(row_count)


def _show(connection: duckdb.DuckDBPyConnection, table: Table, kept: Iterable[str]) -> None:
    store_view(connection, table.name, {column.name: column.stored_type for column in table.columns}, kept)


def _guard_passes(connection: duckdb.DuckDBPyConnection, table: Table) -> bool:
    return table.guard is None or bool(run(connection, f"SELECT 1 FROM {table.guard} LIMIT 1").fetchall())


def _trace_first(tables: Mapping[str, Table], order: list[str]) -> tuple[str, ...]:
    """Put trace tables first, and of them those with the most inputs first, so that raw tables can be dropped early."""
    trace = [name for name in order if name.startswith("trace.")]
    first: list[str] = []
    while trace:
        ready = [name for name in trace if not tables[name].read.intersection(trace)]
        first.append(max(ready, key=lambda name: len(tables[name].read)))
        trace.remove(first[-1])
    return (*first, *(name for name in order if name not in first))


def _before_guards(tables: Mapping[str, Table], wanted: Iterable[str]) -> set[str]:
    """Return the tables that are needed whether or not the guards pass."""
    found: set[str] = set()
    to_visit = ["trace.string", *wanted]
    while to_visit:
        name = to_visit.pop()
        if name not in found:
            found.add(name)
            if table := tables.get(name):
                to_visit += [table.guard] if table.guard else table.needs
    return found


def _pruned(table: Table, columns: Iterable[str], body: str) -> str:
    kept = set(columns)
    names = [quote(column.name) for column in table.columns if column.name in kept] or ["NULL AS nothing_read"]
    return f"SELECT {', '.join(names)} FROM ({body})"


def _open_planner(tables: Iterable[str], sql: str) -> duckdb.DuckDBPyConnection:
    """Open a database for empty tables, whose only optimizer is the one that drops unused columns."""
    connection = connect(threads=1, macros=False)
    create_macros(connection, sql)
    create_schemas(connection, tables)
    optimizers = [row[0] for row in connection.execute("FROM duckdb_optimizers()").fetchall()]
    connection.execute(f"SET disabled_optimizers = '{','.join(set(optimizers) - {'unused_columns'})}'")
    return connection


def _create_empty(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, str]) -> None:
    described = ", ".join(f"{quote(column)} {type_}" for column, type_ in columns.items())
    connection.execute(f"CREATE TABLE {name} ({described})")


def _scans(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, frozenset[str]]:
    """Return the tables that a query scans, each with the columns that it reads."""
    row = connection.execute(f"EXPLAIN (FORMAT json) {query}").fetchone()
    scans: dict[str, set[str]] = {}
    for node in nodes(json.loads(row[1]) if row else []):
        info = node.get("extra_info", {})
        if "Table" in info:
            columns = info.get("Projections") or []
            table = info["Table"].partition(".")[2].replace('"', "")
            scans.setdefault(table, set()).update(filter(None, [columns] if isinstance(columns, str) else columns))
    return {table: frozenset(columns) for table, columns in scans.items()}
