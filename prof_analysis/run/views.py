"""Views of tables over the ranks of a run and over runs, on the files that each rank left in a store."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from prof_analysis.engine.database import LENT, parquet_rows, use
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.table_file import Table
from prof_analysis.run.cache.store import RankStore
from prof_analysis.sources.rank import Rank

if TYPE_CHECKING:
    from prof_analysis.anonymous.texts import Anonymous

# The catalog whose views users see.
_OF_USERS = LENT
# In front of the name of a catalog: the one that users see in its place where something is replaced.
_REPLACED = "_anonymous"
# So many files, with so many bytes together, are read at once: see _are_many_small().
_MANY_FILES = 16
_SMALL_BYTES = 8 * 2**20


class Views:
    """The views in a connection, of ranks that belong to these runs.

    Each of several runs has a catalog with the views over its ranks, and tables over the ranks of a run are views on these.
    What users see are the rows of all runs with the column `run` in front; a single run needs neither. With `anonymous`, users
    see views on these, in which secrets are replaced: every figure is worked out of the texts as they are.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        runs: tuple[str, ...],
        is_closed: Callable[[], bool],
        anonymous: "Anonymous | None" = None,
    ) -> None:
        self._connection = connection
        self._runs = runs if len(runs) > 1 else ()
        self._is_closed = is_closed
        self._anonymous = anonymous
        self._catalog = _OF_USERS
        self._schemas: set[str] = set()
        catalogs = [_OF_USERS, *map(self._catalog_of, self._runs)]
        self._attached: list[str] = []
        if anonymous is not None:
            from prof_analysis.anonymous.columns import create_functions

            create_functions(connection, anonymous)
        for catalog in catalogs if anonymous is None else (*catalogs, *(f"{_REPLACED}{one}" for one in catalogs)):
            if catalog != _OF_USERS:
                connection.execute(f"ATTACH ':memory:' AS {catalog}")
                self._attached.append(catalog)
        if anonymous is not None:
            self._catalog = self._seen(_OF_USERS)
            use(connection, self._catalog)

    @property
    def are_of_one_run(self) -> bool:
        """Whether names mean the tables of one of several runs."""
        return self._catalog not in (_OF_USERS, self._seen(_OF_USERS))

    def show(self, run: str) -> bool:
        """Return whether names mean tables with the rows of this run."""
        return not self.are_of_one_run or self._catalog == self._seen(self._catalog_of(run))

    @contextmanager
    def of(self, run: str | None) -> Iterator[None]:
        """Let names of tables and macros mean what users see of a run; None means all runs."""
        with self._in_catalog(self._seen(_OF_USERS if run is None else self._catalog_of(run))):
            yield

    @contextmanager
    def as_they_are(self) -> Iterator[None]:
        """Let names of tables mean those of all runs with nothing replaced."""
        with self._in_catalog(_OF_USERS):
            yield

    def show_anonymous(self, tables: Iterable[str], texts: Iterable[str]) -> None:
        """Show users these tables with secrets replaced; these and those with `texts`, which tell of secrets, must be there."""
        if self._anonymous is None:
            return
        from prof_analysis.anonymous.columns import learn_from, replaced_columns

        tables = list(tables)
        # A host may be a word in one table, and only another one says that it is a host.
        with self.as_they_are():
            for table in dict.fromkeys((*texts, *tables)):
                learn_from(self._connection, table, self._anonymous)
        for table in tables:
            with self.as_they_are():
                columns = replaced_columns(self._connection, table, self._anonymous)
            for catalog in (_OF_USERS, *map(self._catalog_of, self._runs)):
                if self._has(catalog, table):
                    replaced = ", ".join(f"{made} AS {quote(name)}" for name, made in columns.items() if name != "run")
                    rows = f"SELECT * REPLACE ({replaced}) FROM {catalog}.{table}" if replaced else f"FROM {catalog}.{table}"
                    self._create(self._seen(catalog), table, rows)

    def close(self) -> None:
        """Remove the catalogs, and the functions of views: a connection that ends with functions complains on the terminal."""
        if self._attached:
            use(self._connection, _OF_USERS)
        for catalog in self._attached:
            self._connection.execute(f"DETACH {catalog}")
        if self._anonymous is not None:
            from prof_analysis.anonymous.columns import remove_functions

            remove_functions(self._connection)

    def _has(self, catalog: str, table: str) -> bool:
        schema, _, name = table.partition(".")
        found = "SELECT 1 FROM duckdb_views() WHERE database_name = $catalog AND schema_name = $schema AND view_name = $name"
        return bool(self._connection.execute(found, {"catalog": catalog, "schema": schema, "name": name}).fetchall())

    def _seen(self, catalog: str) -> str:
        """Return the catalog that users see in place of one."""
        return catalog if self._anonymous is None else f"{_REPLACED}{catalog}"

    def show_ranks(self, table: str, stores: Mapping[Rank, RankStore]) -> None:
        """Create the views of a table over all ranks."""
        catalogs = self._catalogs(stores)
        for catalog, ranks in catalogs.items():
            files = [stores[rank].file(table) for rank in ranks]
            rows = f"FROM {parquet_rows(files)}"
            if _are_many_small(files):
                with self._on_one_thread():
                    rows = self._stored(catalog, table, rows)
            self._create(catalog, table, rows)
        for catalog in self._without_ranks(catalogs):
            self._create(catalog, table, f"FROM {next(iter(catalogs))}.{table} WHERE false")
        self._show_runs(table, stores)

    def show_across(self, table: Table, ranks: Iterable[Rank], is_read_again: bool = False) -> None:
        """Create the view of a table over the ranks of each run, or of a table over all runs.

        A view is computed at each use. Tables that others of these read too, and tables that call functions in Python, are
        computed here, once.
        """
        ranks = list(ranks)
        catalogs = self._catalogs(ranks)
        for catalog in (*catalogs, *self._without_ranks(catalogs)) if table.grain == "job" else (_OF_USERS,):
            with self._in_catalog(catalog):
                create_macros(self._connection, table.body)
                with functions_for(self._connection, table.body) as has_functions:
                    # What users see with secrets replaced is read before they ask.
                    is_kept = is_read_again or has_functions or self._anonymous is not None
                    rows = self._stored(catalog, table.name, table.body) if is_kept else table.body
                    self._create(catalog, table.name, rows)
        if table.grain == "job":
            self._show_runs(table.name, ranks)

    def show_columns(self, table: Table) -> None:
        """Create a view of a table as users see it, without rows."""
        of_rank, of_runs = table.grain == "rank", table.grain == "runs"
        columns = {"run": "VARCHAR"} if self._runs and not (self.are_of_one_run or of_runs) else {}
        columns |= {"profile": "VARCHAR", "rank_id": "INTEGER"} if of_rank else {}
        for one in table.columns:
            columns[one.shown_name] = _type_in_parquet(one.shown_type) if of_rank else one.shown_type
        nothing = ", ".join(f"NULL::{type_} AS {quote(name)}" for name, type_ in columns.items())
        self._create(self._catalog, table.name, f"SELECT {nothing} WHERE false")

    def _show_runs(self, table: str, ranks: Iterable[Rank]) -> None:
        """Create the view of a table over all runs, with the column `run` in front."""
        if self._runs:
            live = dict.fromkeys(rank.run for rank in ranks)
            rows = (f"SELECT {quote_text(run)} AS run, * FROM {self._catalog_of(run)}.{table}" for run in live)
            self._create(_OF_USERS, table, " UNION ALL ".join(rows))

    def _catalogs(self, ranks: Iterable[Rank]) -> dict[str, list[Rank]]:
        """Return ranks by the catalog that has the views of their run."""
        found: dict[str, list[Rank]] = {}
        for rank in ranks:
            found.setdefault(self._catalog_of(rank.run), []).append(rank)
        return found

    def _without_ranks(self, catalogs: Iterable[str]) -> list[str]:
        """Return the catalogs of runs without a readable rank: their tables have no rows."""
        return [catalog for catalog in map(self._catalog_of, self._runs) if catalog not in catalogs]

    def _catalog_of(self, run: str) -> str:
        # No schema has such a name, so a name of a table never means a catalog.
        return f"_run_{self._runs.index(run)}" if self._runs else _OF_USERS

    @contextmanager
    def _in_catalog(self, catalog: str) -> Iterator[None]:
        before, self._catalog = self._catalog, catalog
        if catalog != before:
            use(self._connection, catalog)
        try:
            yield
        finally:
            self._catalog = before
            if catalog != before and not self._is_closed():
                use(self._connection, before)

    @contextmanager
    def _on_one_thread(self) -> Iterator[None]:
        """Let DuckDB read on one thread: over 300 small files, two wait for each other and take 1.7 times the CPU."""
        self._connection.execute("SET threads = 1")
        try:
            yield
        finally:
            if not self._is_closed():
                self._connection.execute("RESET threads")

    def _stored(self, catalog: str, table: str, query: str) -> str:
        """Store the rows of a query about a table, and return the query that gives them."""
        stored = f"{catalog}.stored.{quote(table)}"
        self._create_schema(f"{catalog}.stored")
        self._connection.execute(f"CREATE OR REPLACE TABLE {stored} AS {query}")
        return f"FROM {stored}"

    def _create(self, catalog: str, table: str, query: str) -> None:
        schema, _, short_name = table.partition(".")
        self._create_schema(f"{catalog}.{quote(schema)}")
        self._connection.execute(f"CREATE OR REPLACE VIEW {catalog}.{quote(schema)}.{quote(short_name)} AS {query}")

    def _create_schema(self, schema: str) -> None:
        if schema not in self._schemas:
            self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
            self._schemas.add(schema)


def _are_many_small(files: Sequence[Path]) -> bool:
    """Return whether files are so many and so small that they are read once, not at each use of their view.

    To open them takes longer than to read them, and a view opens them all when it is made and at each use. Where the tables of
    300 tiny ranks are kept, a report of them took 37 s of CPU with views on files alone, and takes 19 s so.
    """
    try:
        return len(files) >= _MANY_FILES and sum(file.stat().st_size for file in files) <= _SMALL_BYTES
    except OSError:  # DuckDB says what is wrong with them.
        return False


def _type_in_parquet(type_: str) -> str:
    """Return the type that a column has after DuckDB wrote it to Parquet, which has neither ENUM nor 128 bits."""
    return "VARCHAR" if type_.startswith("ENUM(") else {"HUGEINT": "DOUBLE", "UHUGEINT": "DOUBLE"}.get(type_, type_)
