"""Finds the queue threads of a database without a scan of its own, which takes a fifth of the time of that of the ops.

Some rows from everywhere in the table name all queue threads as good as always. The scan of the ops then takes the Dequeue rows
of all other threads too. If it finds none, these are all queue threads; else ops and queue threads are each read by themselves.
"""

from collections.abc import Sequence

import duckdb

from prof_analysis.engine.database import quote
from prof_analysis.engine.tables import store_view
from prof_analysis.sources.ascend_db.rows import has_row_numbers, ids_named, rows_of
from prof_analysis.sources.ascend_db.tables import ONCE_EACH, OP_ROWS, TABLES
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query

_PROBES = 500
_ROWS_OF_PROBE = 10


def probe(file: SqliteFile) -> list[int]:
    """Return the queue threads in some rows of PYTORCH_API; none where these rows cannot be chosen, or ids are no numbers."""
    if rows_of(file, ONCE_EACH) is None or "globalTid" not in file.tables["PYTORCH_API"]:
        return []
    if not has_row_numbers(file, "PYTORCH_API") or not all(isinstance(name, int) for name in _names(file)):
        return []
    ((last,),) = query(file, "SELECT coalesce(max(rowid), 0) FROM PYTORCH_API")
    step = max(int(str(last)) // _PROBES, 1)
    found = query(
        file,
        f"WITH RECURSIVE probe (first) AS (SELECT 1 UNION ALL SELECT first + {step} FROM probe WHERE first + {step} <= {last})"
        " SELECT DISTINCT globalTid FROM probe CROSS JOIN PYTORCH_API NOT INDEXED"
        f" WHERE PYTORCH_API.rowid BETWEEN first AND first + {_ROWS_OF_PROBE - 1} AND name IN ({ids_named(ONCE_EACH)})",
    )
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
