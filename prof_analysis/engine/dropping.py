"""Drops tables of a rank, and columns of large ones, once nothing will read them: a million kernels take half the memory."""

from collections.abc import Iterable, Mapping

import duckdb

from prof_analysis.engine.planning import Plan
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.tables import store_view

# To drop single columns of tables with fewer rows costs more than it saves.
MANY_ROWS = 100_000


class Dropping:
    """The tables of a plan that are there, and which of those that are not made yet will read them; `kept` tables stay."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, plan: Plan, tables: Mapping[str, Table], kept: Iterable[str]
    ) -> None:
        self._connection = connection
        self._plan = plan
        self._tables = tables
        self._spared = {"trace.string", *kept}
        self._there = set(plan.raw_columns)
        self._done: set[str] = set()
        self._used_by: dict[str, set[str]] = {}
        self._behind: dict[str, list[str]] = {}
        for name in plan.order:
            for need in tables[name].read:
                self._used_by.setdefault(need, set()).add(name)
            if guard := tables[name].guard:
                self._behind.setdefault(guard, []).append(name)
        self._types: dict[str, dict[str, str]] = {}
        self._large: dict[str, frozenset[str]] = {}
        for name, columns in _large_raw_tables(connection, plan.raw_columns).items():
            self._types[name] = {column: type_ for column, type_, _ in columns}
            self._large[name] = frozenset(column for column, _, is_stored in columns if is_stored)

    def staged(self, names: Iterable[str]) -> None:
        """Note raw tables that are there now."""
        self._there.update(names)

    def made(self, name: str, row_count: int, is_view: bool) -> None:
        """Note a table that is there now, and drop what it was the last one to read."""
        self._there.add(name)
        if is_view:
            self._spared.add(name)
        if row_count > MANY_ROWS and name not in self._spared:
            self._large[name] = self._plan.columns[name]
            self._types[name] = {column.name: column.stored_type for column in self._tables[name].columns}
        self._let_go(name)
        if not row_count:
            # Those behind a shut guard read nothing. At their turn this is known as well; of `advise` at a million kernels,
            # 300 MB would wait for it.
            for behind in self._behind.get(name, ()):
                self._let_go(behind)
        self._narrow()

    def _let_go(self, user: str) -> None:
        """Drop the tables that this one alone still had to read; those that only it needs are then not made at all."""
        if user in self._done:
            return
        self._done.add(user)
        for name in sorted(self._tables[user].read):
            self._used_by[name].remove(user)
            if self._used_by[name]:
                continue
            if name in self._there:
                self._large.pop(name, None)
                if name not in self._spared:
                    run(self._connection, f"DROP TABLE stored.{quote(name)}")
            elif name in self._tables and name not in self._spared:
                self._let_go(name)

    def _narrow(self) -> None:
        """Drop the columns of large tables that nothing will read."""
        for name, columns in self._large.items():
            still_read = columns & {one for user in self._used_by[name] for one in self._plan.reads[user].get(name, ())}
            if still_read and still_read < columns:
                self._large[name] = still_read
                for column in sorted(columns - still_read):
                    self._connection.execute(f"ALTER TABLE stored.{quote(name)} DROP COLUMN {quote(column)}")
                store_view(self._connection, name, self._types[name], still_read)


def _large_raw_tables(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> dict[str, list[tuple[str, str, bool]]]:
    """Return the staged tables of many rows: the columns of the view of each, their types, and whether these are stored."""
    rows = connection.execute(
        f"""
        SELECT
            large.table_name,
            list((shown.column_name, shown.data_type, own.column_name IS NOT NULL) ORDER BY shown.column_index)
        FROM duckdb_tables() AS large
        JOIN duckdb_columns() AS shown
            ON shown.database_oid = large.database_oid
            AND shown.schema_name || '.' || shown.table_name = large.table_name
        LEFT JOIN duckdb_columns() AS own ON own.table_oid = large.table_oid AND own.column_name = shown.column_name
        WHERE large.database_name = current_database()
            AND large.schema_name = 'stored'
            AND large.estimated_size > {MANY_ROWS}
            AND list_contains($names, large.table_name)
        GROUP BY large.table_name
        """,
        {"names": list(names)},
    ).fetchall()
    return dict(rows)
