"""Tells kernels that are lost by the counters that are left of them: a look at some rows is enough."""

import duckdb

from prof_analysis.engine.statements import run
from prof_analysis.sources.ascend_db.tables import COUNTERS, TABLES
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query
from prof_analysis.sources.readers.sqlite_ranges import rows_by_id

# A kernel has some thirty rows of counters, and a million kernels are not read to count them.
_LOOKED_AT = 1000
TASKS = "raw.task"


def said_of_lost_kernels(connection: duckdb.DuckDBPyConnection, file: SqliteFile) -> str | None:
    """Return the sentence that says how many of the kernels with counters have no task; None up to one in a hundred.

    The tasks are staged. Rows of counters are looked at in even steps, so that each kernel counts as often as it has rows.
    """
    table, _ = TABLES[COUNTERS]
    if "globalTaskId" not in file.tables.get(table, {}):
        return None
    last = rows_by_id(file, table)
    rows = ", ".join(str(row) for row in range(1, last + 1, max(1, last // _LOOKED_AT)))
    found = query(file, f"SELECT CAST(globalTaskId AS INTEGER) FROM {table} WHERE rowid IN ({rows})")
    tasks = [task for (task,) in found if isinstance(task, int)]
    if not tasks:
        return None
    looked_at = f"SELECT unnest([{', '.join(map(str, tasks))}]) AS globalTaskId"
    rows_here = f"SELECT DISTINCT globalTaskId FROM {TASKS} SEMI JOIN ({looked_at}) AS looked_at USING (globalTaskId)"
    here = {task for (task,) in run(connection, rows_here).fetchall()}
    lost = sum(task not in here for task in tasks)
    if lost * 100 <= len(tasks):
        return None
    share = f"{100 * lost / len(tasks):.0f} % of the kernels with counters ({table}) have no task in TASK"
    return f"{file.path}: {share}, so when they ran is not known, and they are in no answer; parse it again"
