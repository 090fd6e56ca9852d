"""The bare read: no answer from a profile can come sooner than its columns out of the file, with nothing done to them.

    python -m benchmarks.bare_read PROFILES

Of a database these columns are read with ADBC on one thread, and dropped, those that it has; of a text export the bytes of its
files, and of a single file all bytes.
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

COLUMNS = {
    "STRING_IDS": "id, value",
    "PYTORCH_API": "startNs, endNs, globalTid, connectionId, name, sequenceNumber, fwdThreadId",
    "CONNECTION_IDS": "id, connectionId",
    "TASK": "startNs, endNs, deviceId, connectionId, globalTaskId, modelId",
    "COMPUTE_TASK_INFO": "globalTaskId, name, opType",
    "COMMUNICATION_OP": "opName, startNs, endNs, connectionId, opType",
    "COMMUNICATION_SCHEDULE_TASK_INFO": "globalTaskId, name, opType",
    "MSTX_EVENTS": "startNs, endNs, eventType, message, globalTid, domainId",
}
# Of PYTORCH_API the ops alone: the hand-overs of the task queue are as many again, and no question of modules needs them.
ROWS = {"PYTORCH_API": "WHERE type = 50001"}
TEXT_FILES = ("trace_view.json", "kernel_details.csv")
_PIECE_BYTES = 2**20


def read_database(path: Path) -> None:
    """Read the columns that the database has, batch by batch."""
    import adbc_driver_manager as adbc
    import adbc_driver_sqlite
    import pyarrow

    uri = f"file:{path.absolute()}?mode=ro&immutable=1"
    with adbc_driver_sqlite.connect(uri) as database, adbc.AdbcConnection(database) as reader:
        for table, columns in columns_of(uri).items():
            with adbc.AdbcStatement(reader) as statement:
                statement.set_options(**{"adbc.sqlite.query.batch_rows": 65536})
                statement.set_sql_query(f"SELECT {columns} FROM {table} {ROWS.get(table, '')}")
                stream, _ = statement.execute_query()
                for _ in pyarrow.RecordBatchReader.from_stream(stream):
                    pass


def columns_of(uri: str) -> dict[str, str]:
    """Return the columns that the database has, by table: which tables a writer makes depends on what was recorded."""
    with closing(sqlite3.connect(uri, uri=True)) as database:
        named = "SELECT name FROM pragma_table_info(?)"
        has = {table: {name for (name,) in database.execute(named, (table,))} for table in COLUMNS}
    found = {table: [name for name in columns.split(", ") if name in has[table]] for table, columns in COLUMNS.items()}
    return {table: ", ".join(names) for table, names in found.items() if names}


def read_bytes(path: Path) -> None:
    """Read a file, piece by piece."""
    with path.open("rb", buffering=0) as file:
        while file.read(_PIECE_BYTES):
            pass


def main() -> None:
    folder = Path(sys.argv[1])
    if folder.is_file():
        read_bytes(folder)
        return
    for database in folder.rglob("ascend_pytorch_profiler*.db"):
        read_database(database)
    for name in TEXT_FILES:
        for file in folder.rglob(name):
            read_bytes(file)


if __name__ == "__main__":
    main()
