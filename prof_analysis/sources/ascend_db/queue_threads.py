"""Finds the queue threads of a database without a scan of its own, which takes a fifth of the time of that of the ops.

A few rows from everywhere in the table name all queue threads as good as always. The scan of the ops then takes the Dequeue
rows of all other threads too. Where it finds none, these are all queue threads; else each table is read by itself.
"""

from collections.abc import Sequence

import duckdb

from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import store_view
from prof_analysis.sources.ascend_db.rows import few_of, ids_named, rows_of
from prof_analysis.sources.ascend_db.tables import ONCE_EACH, OP_ROWS, TABLES
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query


def probe(file: SqliteFile) -> list[int]:
    """Return the queue threads in a few rows of PYTORCH_API; none where ids of names are no numbers."""
    if rows_of(file, ONCE_EACH) is None or "globalTid" not in file.tables["PYTORCH_API"]:
        return []
    if not all(isinstance(name, int) for name in _names(file)):
        return []
    few = f"name IN ({ids_named(ONCE_EACH)}) AND {few_of(file, 'PYTORCH_API')}"
    found = query(file, f"SELECT DISTINCT globalTid FROM PYTORCH_API NOT INDEXED WHERE {few}")
    return [thread for (thread,) in found if isinstance(thread, int)]


def of_others(threads: Sequence[int]) -> str:
    """Return the SQLite condition that a row of PYTORCH_API names a queue thread that is none of these."""
    is_other = f"coalesce(globalTid NOT IN ({', '.join(map(str, threads))}), true)"
    return f"({is_other} AND name IN ({ids_named(ONCE_EACH)}))"


def are_among_ops(connection: duckdb.DuckDBPyConnection, file: SqliteFile) -> bool:
    """Return whether staged rows of ops name a queue thread."""
    names = ", ".join(map(str, _names(file)))
    return bool(connection.execute(f"SELECT 1 FROM stored.{quote(OP_ROWS)} WHERE name IN ({names}) LIMIT 1").fetchall())


def store(connection: duckdb.DuckDBPyConnection, threads: Sequence[int]) -> None:
    """Make the raw table of these queue threads."""
    unnested = "SELECT unnest($threads::BIGINT[]) AS globalTid"
    connection.execute(f"CREATE TABLE stored.{quote(ONCE_EACH)} AS {unnested}", {"threads": threads})
    store_view(connection, ONCE_EACH, TABLES[ONCE_EACH][1], ("globalTid",))


def _names(file: SqliteFile) -> list[object]:
    return [name for (name,) in query(file, ids_named(ONCE_EACH))]
