"""Damages of Ascend databases: of the first rank's, unless the name says all."""

import sqlite3
from pathlib import Path

from benchmarks.trials.registry import Change, damage
from tests.disturbed.databases import columns, edit

Said = str | None
LARGEST = 2**63 - 1


def database_of(folder: Path) -> Path | None:
    """Return the database of the first rank of a profile."""
    return min(folder.rglob("ascend_*_profiler*.db"), default=None)


def run(folder: Path, statement: str, *needed: str) -> int:
    """Run a statement on the first database, if it has these tables and columns (`TASK.startNs`); return the rows changed."""
    database = database_of(folder)
    assert database is not None
    changed = 0

    def change(connection: sqlite3.Connection) -> None:
        nonlocal changed
        has = {f"{table}.{name}" for table, names in columns(connection) for name in names}
        tables = {name.partition(".")[0] for name in has}
        if all(name in has | tables for name in needed):
            before = connection.total_changes
            connection.executescript(f"BEGIN; {statement}; COMMIT")
            changed = connection.total_changes - before

    edit(database, change)
    return changed


def count(folder: Path, table: str) -> int:
    """Return the rows of a table of the first database; 0 where it is not there."""
    database = database_of(folder)
    assert database is not None
    counts: list[int] = []

    def look(connection: sqlite3.Connection) -> None:
        if table in dict(columns(connection)):
            counts.extend(connection.execute(f'SELECT count(*) FROM "{table}"').fetchone())

    edit(database, look)
    return sum(counts)


def _table_lost(table: str, untold: str = "") -> None:
    """Make it a damage that a table is not there, such as `no_task`."""

    def lost(folder: Path) -> Said:
        rows = count(folder, table)
        if rows:
            run(folder, f'DROP TABLE "{table}"', table)
        return f"table {table} of {rows} rows dropped" if rows else None

    lost.__name__ = f"no_{table.lower()}"
    lost.__module__ = __name__
    damage("ascend_db", untold=untold)(lost)


for _lost in (
    "TASK", "COMPUTE_TASK_INFO", "STRING_IDS", "COMMUNICATION_TASK_INFO", "COMMUNICATION_OP", "PYTORCH_API", "CANN_API",
    "CONNECTION_IDS", "MSTX_EVENTS", "STEP_TIME", "SESSION_TIME_INFO", "RANK_DEVICE_MAP", "COMMUNICATION_SCHEDULE_TASK_INFO",
):  # fmt: skip
    _table_lost(_lost)


def _changed(name: str, statement: str, what: str, *needed: str, untold: str = "") -> Change:
    """Make it a damage that a statement changes rows."""

    def change(folder: Path) -> Said:
        rows = run(folder, statement, *needed)
        return f"{rows} {what}" if rows else None

    change.__name__ = name
    change.__module__ = __name__
    return damage("ascend_db", untold=untold)(change)


OF_COMPUTE = "globalTaskId IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO)"
ONE = f"rowid = (SELECT rowid FROM TASK WHERE {OF_COMPUTE} ORDER BY startNs LIMIT 1 OFFSET 20)"
TENTH = f"rowid IN (SELECT rowid FROM TASK WHERE {OF_COMPUTE} AND rowid % 10 = 3)"
HAS = ("TASK", "COMPUTE_TASK_INFO")

# Rows.
_changed("few_descriptions", "DELETE FROM COMPUTE_TASK_INFO WHERE rowid % 2 = 0", "descriptions of kernels deleted", *HAS)
_changed("few_tasks", f"DELETE FROM TASK WHERE {TENTH}", "tasks of kernels deleted, not their descriptions", *HAS)
GONE = f"CREATE TEMP TABLE gone AS SELECT globalTaskId FROM TASK WHERE {TENTH}"
OF_GONE = "WHERE globalTaskId IN (SELECT globalTaskId FROM gone)"
BOTH = f"{GONE}; DELETE FROM COMPUTE_TASK_INFO {OF_GONE}; DELETE FROM TASK {OF_GONE}"
_changed(
    "few_kernels",
    f"{BOTH}; DELETE FROM TASK_PMU_INFO {OF_GONE}",
    "rows of kernels deleted, with descriptions and counters",
    *HAS,
    "TASK_PMU_INFO",
    untold="nothing else says that a kernel ran: looked at TASK, COMPUTE_TASK_INFO, TASK_PMU_INFO (rows deleted), CANN_API and "
    "CONNECTION_IDS (a call that launches need not have left a kernel: those after the end of the recording have none)",
)
_changed("few_kernels_but_counters", BOTH, "rows of kernels deleted, not their counters", *HAS, "TASK_PMU_INFO")
_changed("tasks_twice", "INSERT INTO TASK SELECT * FROM TASK WHERE rowid % 3 = 0", "tasks doubled", "TASK")
_changed(
    "few_communication_tasks",
    "DELETE FROM COMMUNICATION_TASK_INFO WHERE rowid % 2 = 0",
    "descriptions of communication tasks deleted",
    "COMMUNICATION_TASK_INFO",
)
_changed(
    "few_communication_ops",
    "DELETE FROM COMMUNICATION_OP WHERE rowid = (SELECT max(rowid) FROM COMMUNICATION_OP)",
    "collectives deleted, not their tasks",
    "COMMUNICATION_OP",
)
_changed("few_texts", "DELETE FROM STRING_IDS WHERE rowid % 5 = 0", "texts deleted", "STRING_IDS")
_changed("few_host_calls", "DELETE FROM CANN_API WHERE rowid % 5 = 0", "host calls deleted", "CANN_API")
_changed(
    "few_ops",
    "DELETE FROM PYTORCH_API WHERE rowid % 5 = 0",
    "ops deleted",
    "PYTORCH_API",
)

# Types.
_changed("times_as_text", f"UPDATE TASK SET startNs = 'abc' WHERE {TENTH}", "times of kernels are text", *HAS)
_changed("times_unknown", f"UPDATE TASK SET endNs = NULL WHERE {TENTH}", "ends of kernels are NULL", *HAS)
_changed("times_as_floats", f"UPDATE TASK SET startNs = startNs / 7.0 WHERE {TENTH}", "starts of kernels are fractions", *HAS)
_changed("names_as_blobs", "UPDATE STRING_IDS SET value = x'fffe00' WHERE rowid % 5 = 0", "texts are bytes", "STRING_IDS")
_changed(
    "types_of_tasks_unknown",
    "UPDATE COMPUTE_TASK_INFO SET taskType = 987654321 WHERE rowid % 2 = 0",
    "types point nowhere",
    "COMPUTE_TASK_INFO",
)

# Times.
_changed("a_start_of_zero", f"UPDATE TASK SET startNs = 0 WHERE {ONE}", "kernel starts in 1970", *HAS)
_changed("an_end_of_ages", f"UPDATE TASK SET endNs = {LARGEST} WHERE {ONE}", "kernel ends in 2262", *HAS)
_changed("a_kernel_of_an_hour", f"UPDATE TASK SET endNs = endNs + 3600000000000 WHERE {ONE}", "kernel lasts for an hour", *HAS)
_changed("a_negative_start", f"UPDATE TASK SET startNs = -5 WHERE {ONE}", "kernel starts before 0", *HAS)
_changed("ends_before_starts", f"UPDATE TASK SET endNs = startNs - 7 WHERE {TENTH}", "kernels end before they start", *HAS)
_changed(
    "a_kernel_of_tomorrow",
    f"UPDATE TASK SET startNs = startNs + 86400000000000, endNs = endNs + 86400000000000 WHERE {ONE}",
    "kernel runs a day later",
    *HAS,
)
_changed(
    "tasks_in_us",
    "UPDATE TASK SET startNs = startNs / 1000, endNs = endNs / 1000",
    "tasks with times in us",
    "TASK",
)
_changed(
    "a_step_of_zero", "UPDATE STEP_TIME SET startNs = 0 WHERE rowid = (SELECT min(rowid) FROM STEP_TIME)", "step starts at 0",
    "STEP_TIME",
)  # fmt: skip

# Links.
_changed("one_connection", "UPDATE TASK SET connectionId = 1", "tasks have the same connection", "TASK.connectionId")
_changed("no_connections", "UPDATE TASK SET connectionId = 4294967295", "tasks have no connection", "TASK.connectionId")
_changed("few_links", "DELETE FROM CONNECTION_IDS WHERE rowid % 5 = 0", "links deleted", "CONNECTION_IDS")


def _column(name: str, table: str, column: str, statement: str) -> None:
    def change(folder: Path) -> Said:
        rows = count(folder, table)
        has = rows and _has(folder, table, column)
        if has:
            run(folder, statement)
        return f"{table}.{column}: {statement}" if has else None

    change.__name__ = name
    change.__module__ = __name__
    damage("ascend_db")(change)


def _has(folder: Path, table: str, column: str) -> bool:
    found: list[bool] = []

    def look(connection: sqlite3.Connection) -> None:
        found.append(column in dict(columns(connection)).get(table, ()))

    database = database_of(folder)
    assert database is not None
    edit(database, look)
    return found[0]


# Columns.
_column("no_column_of_ends", "TASK", "endNs", "ALTER TABLE TASK RENAME COLUMN endNs TO end_ns")
_column("no_column_of_links", "TASK", "connectionId", "ALTER TABLE TASK DROP COLUMN connectionId")
_column("no_column_of_streams", "TASK", "streamId", "ALTER TABLE TASK RENAME COLUMN streamId TO stream")
_column("no_column_of_types", "COMPUTE_TASK_INFO", "opType", "ALTER TABLE COMPUTE_TASK_INFO DROP COLUMN opType")
_column("no_column_of_names", "COMPUTE_TASK_INFO", "name", "ALTER TABLE COMPUTE_TASK_INFO RENAME COLUMN name TO kernelName")


@damage("ascend_db")
def another_encoding(folder: Path) -> Said:
    """Write the database in UTF-16, as SQLite can."""
    database = database_of(folder)
    assert database is not None
    lines = "\n".join(_dump(database))
    database.unlink()
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA encoding = 'UTF-16le'")
    connection.executescript(lines)
    connection.close()
    return f"{database.name} is in UTF-16"


def _dump(database: Path) -> list[str]:
    connection = sqlite3.connect(database)
    lines = [line for line in connection.iterdump() if "sqlite_sequence" not in line]
    connection.close()
    return lines


@damage("ascend_db")
def one_number_of_rank(folder: Path) -> Said:
    """Let the databases of all ranks say that they are of rank 0."""
    changed = 0

    def change(connection: sqlite3.Connection) -> None:
        nonlocal changed
        if "RANK_DEVICE_MAP" in dict(columns(connection)):
            changed += connection.execute("UPDATE RANK_DEVICE_MAP SET rankId = 0 WHERE rankId <> 0").rowcount

    for file in sorted(folder.rglob("ascend_*_profiler*.db")):
        edit(file, change)
    return f"RANK_DEVICE_MAP says rank 0 in {changed} more databases" if changed else None
