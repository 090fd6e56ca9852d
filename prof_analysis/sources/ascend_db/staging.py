"""The source `ascend_db`: the SQLite database that torch_npu, msprof or MindSpore writes.

Only known tables and columns are read. A table or column that a version lacks is staged as NULL; a renamed one is
brought to its name of today.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import duckdb

from prof_analysis.engine.database import cursor_of, quote, quote_text
from prof_analysis.engine.tables import ROW_ID, create_schemas, store_view
from prof_analysis.sources.ascend_beside import device_info, recorded
from prof_analysis.sources.readers.repeated import drop_repeated, may_repeat, warnings_of, with_keys
from prof_analysis.sources.readers.sqlite_file import Cell, SqliteFile, copy_table, open_sqlite, query

NAME = "ascend_db"
LABEL = "the profiler database"
IS_READ_ONCE = False

_I = "BIGINT"
_T = "VARCHAR"
_D = "DOUBLE"

_CALL = {ROW_ID: _I, "startNs": _I, "endNs": _I, "globalTid": _I}

# What is read: DuckDB name -> (SQLite name, columns and their types). row_id is not read, DuckDB numbers the rows. PYTORCH_API
# holds several kinds of calls, which _OP_ROWS and _NAMED_ROWS tell apart. The ops come first, so that no thread is left alone
# with the longest table.
_TABLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "raw.framework_op": (
        "PYTORCH_API",
        {**_CALL, "connectionId": _I, "name": _I, "sequenceNumber": _I, "fwdThreadId": _I, "inputDtypes": _I,
         "inputShapes": _I},
    ),
    "raw.string_ids": ("STRING_IDS", {"id": _I, "value": _T}),
    "raw.module_call": ("PYTORCH_API", {**_CALL, "name": _I}),
    "raw.python_call": ("PYTORCH_API", {**_CALL, "name": _I}),
    "raw.enqueue": ("PYTORCH_API", {**_CALL, "connectionId": _I, "name": _I}),
    "raw.dequeue": ("PYTORCH_API", {**_CALL, "connectionId": _I, "name": _I}),
    "raw.dequeue_thread": ("PYTORCH_API", {"globalTid": _I}),
    "raw.connection_ids": ("CONNECTION_IDS", {"id": _I, "connectionId": _I}),
    "raw.task": (
        "TASK",
        {ROW_ID: _I, "startNs": _I, "endNs": _I, "deviceId": _I, "connectionId": _I, "globalTaskId": _I, "streamId": _I,
         "taskId": _I, "modelId": _I},
    ),
    "raw.compute_task_info": (
        "COMPUTE_TASK_INFO",
        {"name": _I, "globalTaskId": _I, "blockNum": _I, "mixBlockNum": _I, "taskType": _I, "opType": _I,
         "inputFormats": _I, "inputDataTypes": _I, "inputShapes": _I, "outputFormats": _I, "outputDataTypes": _I,
         "outputShapes": _I, "hf32Eligible": _I},
    ),
    "raw.communication_schedule_task_info": (
        "COMMUNICATION_SCHEDULE_TASK_INFO",
        {"name": _I, "globalTaskId": _I, "taskType": _I, "opType": _I},
    ),
    "raw.communication_op": (
        "COMMUNICATION_OP",
        {ROW_ID: _I, "opName": _I, "startNs": _I, "endNs": _I, "connectionId": _I, "opType": _I, "deviceId": _I,
         "groupName": _I, "opId": _I, "algType": _I, "dataType": _I, "count": _I},
    ),
    "raw.communication_task_info": (
        "COMMUNICATION_TASK_INFO",
        {"globalTaskId": _I, "opId": _I, "taskType": _I, "planeId": _I, "isMaster": _I, "transportType": _I, "linkType": _I,
         "srcRank": _I, "dstRank": _I, "size": _I},
    ),
    "raw.enum_data_type": ("ENUM_HCCL_DATA_TYPE", {"id": _I, "name": _T}),
    "raw.enum_link": ("ENUM_HCCL_LINK_TYPE", {"id": _I, "name": _T}),
    "raw.enum_transport": ("ENUM_HCCL_TRANSPORT_TYPE", {"id": _I, "name": _T}),
    "raw.metadata": ("META_DATA", {"name": _T, "value": _T}),
    "raw.mstx_events": (
        "MSTX_EVENTS",
        {ROW_ID: _I, "startNs": _I, "endNs": _I, "eventType": _I, "message": _I, "globalTid": _I, "domainId": _I,
         "connectionId": _I},
    ),
    "raw.cann_api": ("CANN_API", {**_CALL, "connectionId": _I, "type": _I, "name": _I}),
    "raw.gc_record": ("GC_RECORD", {"startNs": _I, "endNs": _I, "globalTid": _I}),
    "raw.overlap_analysis": ("OVERLAP_ANALYSIS", {"deviceId": _I, "startNs": _I, "endNs": _I, "type": _I}),
    "raw.task_pmu_info": ("TASK_PMU_INFO", {"globalTaskId": _I, "name": _I, "value": _D}),
    "raw.step_time": ("STEP_TIME", {"id": _I, "startNs": _I, "endNs": _I}),
    "raw.aicore_freq": ("AICORE_FREQ", {"deviceId": _I, "timestampNs": _I, "freq": _I}),
}  # fmt: skip

# Which rows of PYTORCH_API are read: with a task queue 3.0 of 5.2 million are ops. The others are known by their names.
_OP_ROWS = "raw.framework_op"
_PYTHON_ROWS = "raw.python_call"
_NAMED_ROWS: Mapping[str, str] = {
    "raw.module_call": "nn.Module: *",
    "raw.enqueue": "Enqueue*",
    "raw.dequeue": "Dequeue*",
    "raw.dequeue_thread": "Dequeue*",
}
_ONCE_EACH = "raw.dequeue_thread"

_CALL_KEY = ("startNs", "endNs", "globalTid", "name")

# What tells the rows of a table apart. A task can be executed more than once, but not twice at the same time; of a task that is
# described twice the first description counts. What the file declares to be unique needs no look.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "raw.framework_op": (*_CALL_KEY, "connectionId"),
    "raw.module_call": _CALL_KEY,
    "raw.python_call": _CALL_KEY,
    "raw.enqueue": ("startNs", "endNs", "globalTid", "connectionId"),
    "raw.dequeue": ("startNs", "endNs", "globalTid", "connectionId"),
    "raw.task": ("startNs", "globalTaskId"),
    "raw.compute_task_info": ("globalTaskId",),
    "raw.communication_schedule_task_info": ("globalTaskId",),
    "raw.communication_task_info": ("globalTaskId", "opId"),
    "raw.communication_op": ("startNs", "endNs", "opName", "connectionId", "deviceId"),
    "raw.mstx_events": ("endNs", "startNs", "eventType", "globalTid", "message", "connectionId"),
    "raw.cann_api": ("startNs", "endNs", "globalTid", "connectionId"),
    "raw.gc_record": ("startNs", "endNs", "globalTid"),
    "raw.overlap_analysis": ("startNs", "endNs", "type", "deviceId"),
    "raw.step_time": ("id", "startNs", "endNs"),
    "raw.task_pmu_info": ("globalTaskId", "name", "value"),
}
_COUNTERS = "raw.task_pmu_info"
# Columns of which each value links only a few rows, and so many rows that one value for all is damage.
_LINKS: Mapping[str, tuple[str, ...]] = {
    "raw.connection_ids": ("id", "connectionId"),
    "raw.framework_op": ("connectionId",),
    "raw.enqueue": ("connectionId",),
    "raw.dequeue": ("connectionId",),
}
_FEW_LINKS = 10
# A task that both describe is of the first.
_DESCRIPTIONS = ("raw.compute_task_info", "raw.communication_schedule_task_info")

RAW_COLUMNS: Mapping[str, Mapping[str, str]] = {
    **{name: columns for name, (_, columns) in _TABLES.items()},
    device_info.TABLE: device_info.COLUMNS,
    **{name: columns for name, columns in recorded.COLUMNS.items() if name not in _TABLES},
}

KNOWN_TABLES = frozenset(table for table, _ in _TABLES.values()) | {"RANK_DEVICE_MAP", "NPU_INFO"}
KERNEL_TABLES = ("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_SCHEDULE_TASK_INFO")

# Columns that hold an id into STRING_IDS.
_TEXT_REFERENCES = frozenset(
    ("name", "inputDtypes", "inputShapes", "taskType", "opType", "inputFormats", "inputDataTypes", "outputFormats",
     "outputDataTypes", "outputShapes", "hf32Eligible", "opName", "message", "domainId", "groupName", "algType")
)  # fmt: skip

_NAMES = frozenset(("name", "opName", "message", "domainId"))

# Name of today -> name before 2026.
_FORMER_NAMES = {"blockNum": "blockdim", "mixBlockNum": "mixblockdim"}


def gaps(tables: Container[str]) -> list[str]:
    """Say what a database with these tables cannot answer, and why."""
    found = []
    if "STRING_IDS" not in tables:
        found.append("no STRING_IDS (its writer was cut off), so nothing has a name; parse the profile again")
    if "PYTORCH_API" not in tables:
        found.append(
            "no PYTORCH_API (written by msprof or MindSpore, or collected without CPU activity), so no ops, no modules"
        )
    elif "CONNECTION_IDS" not in tables:
        found.append(
            "no CONNECTION_IDS (a defect of torch_npu up to 2.7.1.post2 with mstx), so kernels link to no op; "
            "parse the profile again with a newer torch_npu"
        )
    if not any(table in tables for table in KERNEL_TABLES):
        found.append("no table of kernels (collected without NPU activity, or nothing ran on the device)")
    return found


def has_ops(file: SqliteFile) -> bool:
    """Whether a database holds a framework op."""
    rows = _source(file, _OP_ROWS)
    return rows is not None and bool(query(file, f"SELECT 1 FROM {rows} LIMIT 1"))


def stage(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[str]:
    """Stage the wanted columns of the raw tables in DuckDB; of the one database several tables are read at a time.

    `on_bytes` gets the size of the database once it is read. Gives warnings. Raises InputError when it cannot be read.
    """
    (path,) = (file for file in files if not device_info.is_device_info(file) and not recorded.is_recorded(file))
    create_schemas(connection, wanted)
    if device_info.TABLE in wanted:
        device_info.stage_device_info(connection, files)
    beside = [file for file in files if recorded.is_recorded(file)]
    of_recorded = {name: columns for name, columns in wanted.items() if name not in _TABLES}
    lost = recorded.stage_recorded(connection, beside, of_recorded)
    input_bytes = sum(one.stat().st_size for one in (path, *beside))
    wanted = with_keys({name: columns for name, columns in wanted.items() if name in _TABLES}, _KEYS)
    if not wanted:
        on_bytes(input_bytes)
        return lost
    cursors: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for _ in range(threads):
        cursors.put(connection if threads == 1 else cursor_of(connection))
    with open_sqlite(path, KNOWN_TABLES) as file:

        def stage_one(name: str) -> list[str]:
            cursor = cursors.get()
            try:
                return _stage_table(cursor, file, name, wanted[name])
            finally:
                cursors.put(cursor)

        with ThreadPoolExecutor(threads) as pool:
            staged = {name: pool.submit(stage_one, name) for name in _TABLES if name in wanted}
            warnings = [warning for name in sorted(staged) for warning in staged[name].result()]
        if wanted.keys() >= set(_DESCRIPTIONS):
            warnings += _describe_once(connection, file)
        if wanted.get("raw.string_ids") and "STRING_IDS" in file.tables:
            _number_texts(connection)
        if connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'other_id'").fetchall():
            _merge_texts(connection, wanted)
        on_bytes(input_bytes)
        return [*(f"{path}: {warning}" for warning in [*gaps(file.tables), *warnings]), *lost]


def _stage_table(connection: duckdb.DuckDBPyConnection, file: SqliteFile, name: str, wanted: frozenset[str]) -> list[str]:
    table, types = _TABLES[name]
    target = f"stored.{quote(name)}"
    source = _source(file, name)
    if source is None:
        connection.execute(f"CREATE TABLE {target} (nothing_read BIGINT)")
        store_view(connection, name, types, ())
        return []
    cells = _cells(file, table, {column: type_ for column, type_ in types.items() if column in wanted})
    rejected = copy_table(connection, file, source, cells or [Cell("nothing_read", _I, "rowid", "INTEGER")], target)
    columns = [cell.column for cell in cells]
    constant = [
        column for column in _LINKS.get(name, ()) if column in columns and _forget_constant(connection, file, name, column)
    ]
    key = _KEYS.get(name, ())
    is_looked_at = bool(key) and _declared_key(file, table) not in key
    if name == _COUNTERS and set(key) <= set(columns):
        is_looked_at = may_repeat(connection, name, *key[:2])
    repeated = drop_repeated(connection, name, key, columns) if is_looked_at else 0
    store_view(connection, name, types, columns)
    return [
        *(
            f"{count} values of {table}.{column} are not of type {types[column]} and count as unknown"
            for column, count in rejected.items()
        ),
        *(f"all values of {table}.{column} are the same and count as unknown" for column in constant),
        *warnings_of({name.removeprefix("raw."): repeated}, f"{table} ({{}})" if table == "PYTORCH_API" else table),
    ]


def _forget_constant(connection: duckdb.DuckDBPyConnection, file: SqliteFile, name: str, column: str) -> bool:
    """Clear a column of links in which many rows all have one value: whatever it was, it links nothing.

    An op that is the only one with links has many of them under its one id.
    """
    target = f"stored.{quote(name)}"
    ((is_constant, value),) = connection.execute(
        f"SELECT count({column}) > {_FEW_LINKS} AND min({column}) = max({column}), min({column}) FROM {target}"
    ).fetchall()
    if not is_constant or (column == "id" and not _has_other_links(file, value)):
        return False
    connection.execute(f"UPDATE {target} SET {column} = NULL")
    return True


def _has_other_links(file: SqliteFile, value: int) -> bool:
    """Whether a call has links under another id."""
    has_ids = "connectionId" in file.tables.get("PYTORCH_API", {})
    return has_ids and bool(query(file, f"SELECT 1 FROM PYTORCH_API WHERE connectionId <> {value:d} LIMIT 1"))


def _declared_key(file: SqliteFile, table: str) -> str | None:
    """The column that the file declares to be the key of a table; None where none is, or several together."""
    columns = [
        str(name) for name, place in query(file, f"SELECT name, pk FROM pragma_table_info({quote_text(table)})") if place
    ]
    return columns[0] if len(columns) == 1 else None


def _describe_once(connection: duckdb.DuckDBPyConnection, file: SqliteFile) -> list[str]:
    """Leave out of the second table of descriptions the tasks that the first one has, and say how many."""
    first, second = _DESCRIPTIONS
    if not all(_TABLES[name][0] in file.tables for name in _DESCRIPTIONS):
        return []
    known = [{row[0] for row in connection.execute(f"DESCRIBE stored.{quote(name)}").fetchall()} for name in _DESCRIPTIONS]
    if not all("globalTaskId" in columns for columns in known):
        return []
    ((count,),) = connection.execute(
        f"DELETE FROM stored.{quote(second)} WHERE globalTaskId IN (SELECT globalTaskId FROM {first} SEMI JOIN {second} USING"
        " (globalTaskId))"
    ).fetchall()
    return warnings_of({_TABLES[second][0]: count}, f"{{}} that are in {_TABLES[first][0]} too")


def _source(file: SqliteFile, name: str) -> str | None:
    """What SQLite selects from for a raw table: the rows that it chooses of a table; None where the file has none of them.

    Rows come in the order of the file, whatever columns are read: an index of other tools would change it, and so the ROW_IDs.
    """
    table = _TABLES[name][0]
    if table not in file.tables:
        return None
    in_file = f"{quote(table)} NOT INDEXED"
    columns = {column.lower() for column in file.tables[table]}
    if name == _OP_ROWS:
        # Before 2024-08 there is no type column, but of all calls only ops carry a sequence number (-1 for none).
        has_sequence = "sequenceNumber IS NOT NULL" if "sequencenumber" in columns else "0"
        is_op = f"type IN (50001, 50004) OR (type IS NULL AND {has_sequence})" if "type" in columns else has_sequence
        return f"{in_file} WHERE ({is_op})"
    if name == _PYTHON_ROWS:
        # What neither is an op nor goes through the task queue, which is told by groups.
        neither = "sequenceNumber IS NULL AND connectionId IS NULL" if {"sequencenumber", "connectionid"} <= columns else "0"
        return f"{in_file} WHERE {f'coalesce(type = 50003, {neither})' if 'type' in columns else neither}"
    if name not in _NAMED_ROWS:
        return in_file
    named_so = f"SELECT id FROM STRING_IDS WHERE value GLOB {quote_text(_NAMED_ROWS[name])}"
    has_names = "name" in columns and {"id", "value"} <= file.tables.get("STRING_IDS", {}).keys()
    if not has_names or not query(file, f"{named_so} LIMIT 1"):
        return None
    rows = f"{in_file} WHERE name IN ({named_so})"
    return f"(SELECT DISTINCT globalTid FROM {rows})" if name == _ONCE_EACH and "globaltid" in columns else rows


def _cells(file: SqliteFile, table: str, types: Mapping[str, str]) -> list[Cell]:
    declared = {name.lower(): type_ for name, type_ in file.tables[table].items()}  # SQLite ignores case
    cells = []
    for column, type_ in types.items():
        file_column = (column if column.lower() in declared else _FORMER_NAMES.get(column, "")).lower()
        if file_column in declared and column != ROW_ID:
            cells.append(Cell(column, type_, file_column, declared[file_column]))
    if table == "PYTORCH_API" and types.keys() & _SWAPPED.keys() and _has_shapes_under_types(file):
        cells = [Cell(c.column, c.type, _SWAPPED.get(c.column, c.file_column), c.declared_type) for c in cells]
    return cells


_SWAPPED = {"inputDtypes": "inputShapes", "inputShapes": "inputDtypes"}


def _has_shapes_under_types(file: SqliteFile) -> bool:
    """Tell by content, since schema 1.0.0 swaps the two columns: types are words, shapes hold no letter."""
    columns = file.tables["PYTORCH_API"].keys()
    if not _SWAPPED.keys() <= columns or "value" not in file.tables.get("STRING_IDS", {}):
        return False
    has_letters = {
        column: query(
            file,
            f"SELECT 1 FROM STRING_IDS WHERE value GLOB '*[a-zA-Z]*' AND id IN"
            f" (SELECT {column} FROM PYTORCH_API WHERE {column} IS NOT NULL LIMIT 1000) LIMIT 1",
        )
        for column in _SWAPPED
    }
    return not has_letters["inputDtypes"] and bool(has_letters["inputShapes"])


def _number_texts(connection: duckdb.DuckDBPyConnection) -> None:
    """Give equal texts one id, since the writers of the CANN part and of the framework part each number their own."""
    connection.execute("""
        CREATE TABLE stored.other_id AS
        WITH one_text AS (SELECT id, min(value) AS value FROM stored."raw.string_ids" GROUP BY id)
        SELECT id, min(id) OVER (PARTITION BY value) AS text_id, value IN ('', 'N/A', 'NULL') AS is_no_value
        FROM one_text
        QUALIFY id > text_id OR is_no_value
    """)


def _merge_texts(connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]]) -> None:
    """Bring references to the ids of _number_texts. What stands for no value becomes NULL, except in names."""
    for name, columns in wanted.items():
        stored = {row[0] for row in connection.execute(f"DESCRIBE stored.{quote(name)}").fetchall()}
        references = {column for column, type_ in _TABLES[name][1].items() if type_ == _I} & _TEXT_REFERENCES
        for column in sorted(columns & references & stored):
            text_id = "text_id" if column in _NAMES else "if(is_no_value, NULL, text_id)"
            connection.execute(
                f"UPDATE stored.{quote(name)} SET {column} = {text_id} FROM stored.other_id WHERE {column} = other_id.id"
            )
