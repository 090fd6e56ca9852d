"""The source `ascend_text`: the files that torch_npu writes with ExportType.Text.

Ops, ranges, links and tasks on the device are in trace_view.json; kernels with their shapes in kernel_details.csv. A text gets
the id that text_id() makes of it. That is a hash, so all texts of a profile are checked to have an id of their own.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import duckdb

from prof_analysis.database import quote
from prof_analysis.errors import reason_of
from prof_analysis.sources import counters, device_info
from prof_analysis.sources.csv_file import copy_columns
from prof_analysis.sources.trace_json import read_events
from prof_analysis.tables import create_schemas, store_view

NAME = "ascend_text"
LABEL = "the text exports"
IS_READ_ONCE = True

_I = "BIGINT"
_T = "VARCHAR"
_B = "BOOLEAN"
_D = "DOUBLE"
_ID = "TEXT_ID"  # staged as the id of a text
_NAMES = ("name", "class", "domain")

Columns: TypeAlias = Mapping[str, tuple[str, str]]
TextsLock: TypeAlias = AbstractContextManager[Any] | None

# The parts of an event that are read, as from_json() of DuckDB takes them.
_ARGUMENTS = {
    "Sequence number": _I, "Fwd thread id": _I, "Input Dims": _T, "Input type": _T, "correlation_id": _I, "connection_id": _I,
    "Task Type": _T, "Model Id": _I, "Physic Stream Id": _I, "Stream Id": _I, "Task Id": _I, "level": _T, "alg_type": _T,
    "event_type": _T, "domain": _T, "name": _T, "MHz": _I,
}  # fmt: skip
_EVENT = {"ph": _T, "cat": _T, "name": _T, "pid": _I, "tid": _I, "ts": _T, "dur": _T, "id": _T}

_START = (_I, "ns_of_us_timestamp(event.ts)")
_TIMES: Columns = {"start_ns": _START, "end_ns": (_I, "TRY(ns_of_us_timestamp(event.ts) + ns_of_us_duration(event.dur))")}
_PLACE: Columns = {"pid": (_I, "event.pid"), "tid": (_I, "event.tid")}
_CALL: Columns = {"event_id": (_I, "event_id"), "name": (_ID, "event.name"), **_PLACE, **_TIMES}
_CONNECTION: Columns = {"connection_id": (_I, "event.args.connection_id")}

# Raw table -> (which events are its rows, its columns: type, and the expression that gives them).
_EVENTS: Mapping[str, tuple[str, Columns]] = {
    "raw.cpu_op": (
        "event.ph = 'X' AND event.cat = 'cpu_op'",
        {
            **_CALL,
            "sequence_number": (_I, 'event.args."Sequence number"'),
            "forward_thread_id": (_I, 'event.args."Fwd thread id"'),
            "input_dims": (_ID, 'event.args."Input Dims"'),
            "input_types": (_ID, 'event.args."Input type"'),
        },
    ),
    "raw.queue_call": (
        "event.ph = 'X' AND event.cat IN ('enqueue', 'dequeue')",
        {**_PLACE, **_TIMES, "is_enqueue": (_B, "event.cat = 'enqueue'"), "correlation_id": (_I, "event.args.correlation_id")},
    ),
    "raw.module_call": (
        "event.ph = 'X' AND event.cat = 'python_function' AND starts_with(event.name, 'nn.Module: ')",
        {**_CALL, "class": (_ID, "class_of_traced_module(event.name)")},
    ),
    "raw.mstx": (
        "event.ph = 'X' AND event.args.event_type IS NOT NULL",
        {**_CALL, "event_type": (_T, "event.args.event_type"), "domain": (_ID, "event.args.domain")},
    ),
    # The device side of a mark or range, which 2024 wrote as MsTx_<number>, later by its message.
    "raw.mstx_task": (
        "event.ph = 'X' AND event.args.\"Physic Stream Id\" IS NOT NULL AND coalesce(event.args.\"Task Type\" = 'MsTx', true)",
        {**_CALL, "stream_id": (_I, 'event.args."Physic Stream Id"')},
    ),
    "raw.mstx_flow": (
        "event.cat = 'MsTx' AND event.ph IN ('s', 'f')",
        {
            "event_id": (_I, "event_id"),
            "is_start": (_B, "event.ph = 's'"),
            "connection_id": (_I, "coalesce(TRY_CAST(event.id AS BIGINT), text_id(event.id))"),
            **_PLACE,
            "start_ns": _START,
        },
    ),
    "raw.python_call": ("event.ph = 'X' AND event.cat = 'python_function'", _CALL),
    "raw.host_api": (
        "event.ph = 'X' AND event.args.level IS NOT NULL",
        {
            "event_id": (_I, "event_id"),
            "level": (_T, "event.args.level"),
            "call": (_ID, "regexp_extract(event.name, '(?s)^(?:[^@]*@)?(.*)$', 1)"),
            **_PLACE,
            **_TIMES,
            **_CONNECTION,
        },
    ),
    "raw.gc": ("event.ph = 'X' AND event.cat = 'GC'", {**_PLACE, **_TIMES}),
    "raw.device_task": (
        "event.ph = 'X' AND event.args.\"Task Type\" IS NOT NULL",
        {
            **_CALL,
            **_CONNECTION,
            "task_type": (_ID, 'event.args."Task Type"'),
            "model_id": (_I, 'event.args."Model Id"'),
            "stream_id": (_I, 'coalesce(event.args."Physic Stream Id", event.args."Stream Id")'),
            "task_id": (_I, 'event.args."Task Id"'),
        },
    ),
    "raw.communication_op": (
        "event.ph = 'X' AND event.args.alg_type IS NOT NULL",
        {**_CALL, **_CONNECTION, "type": (_ID, "type_of_communication(event.name)")},
    ),
    "raw.flow": (
        "event.ph IN ('s', 'f') AND event.cat IN ('async_npu', 'fwdbwd')",
        {
            "event_id": (_I, "event_id"),
            "category": (_T, "event.cat"),
            "is_start": (_B, "event.ph = 's'"),
            "flow_id": (_I, "TRY_CAST(event.id AS BIGINT)"),
            **_PLACE,
            "start_ns": _START,
        },
    ),
    "raw.overlap": (
        "event.ph = 'X' AND event.cat IS NULL AND event.name IN ('Computing', 'Communication', 'Communication(Not Overlapped)',"
        " 'Free')",
        {"name": (_ID, "event.name"), "pid": (_I, "event.pid"), **_TIMES},
    ),
    "raw.overlap_process": (
        "event.ph = 'M' AND event.name = 'process_name' AND event.args.name = 'Overlap Analysis'",
        {"pid": (_I, "event.pid")},
    ),
    "raw.core_clock": (
        "event.ph = 'C' AND starts_with(event.name, 'AI Core Freq') AND event.args.MHz IS NOT NULL",
        {**_PLACE, "start_ns": _START, "clock_mhz": (_I, "event.args.MHz")},
    ),
    "raw.thread": (
        "event.ph = 'M' AND event.name = 'thread_name' AND starts_with(event.args.name, 'Group ')",
        {**_PLACE, "group_name": (_ID, "regexp_extract(event.args.name, '^Group (.*?)( Communication)?$', 1)")},
    ),
}

# Column of raw.kernel_detail -> (type, names in the header, newest first).
_DETAILS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "step_id": (_I, ("step id",)),
    "device_id": (_I, ("device_id",)),
    "model_id": (_I, ("model id",)),
    "task_id": (_I, ("task id",)),
    "stream_id": (_I, ("stream id",)),
    "name": (_ID, ("name",)),
    "type": (_ID, ("type",)),
    "core": (_ID, ("accelerator core",)),
    "start_ns": (_I, ("start time(us)",)),
    "duration_ns": (_I, ("duration(us)",)),
    "block_num": (_I, ("block num", "block dim")),
    "mix_block_num": (_I, ("mix block num", "mix block dim")),
    "input_shapes": (_ID, ("input shapes",)),
    "input_types": (_ID, ("input data types",)),
    "input_formats": (_ID, ("input formats",)),
    "output_shapes": (_ID, ("output shapes",)),
    "output_types": (_ID, ("output data types",)),
    "output_formats": (_ID, ("output formats",)),
    "hf32_eligible": (_ID, ("hf32 eligible",)),
    "cube_time_us": (_D, ("aicore_time(us)",)),
    "cube_cycles": (_D, ("aic_total_cycles", "total_cycles")),
    "cube_utilization_percent": (_D, ("cube_utilization(%)",)),
}

# The same of raw.operator_detail, which serves where there is no trace_view.json.
_OPERATORS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "name": (_ID, ("name",)),
    "input_shapes": (_ID, ("input shapes",)),
    "host_self_ns": (_I, ("host self duration(us)",)),
    "host_total_ns": (_I, ("host total duration(us)",)),
    "device_self_ns": (_I, ("device self duration(us)",)),
    "device_total_ns": (_I, ("device total duration(us)",)),
}

_TABLES: Mapping[str, Mapping[str, str]] = {
    "raw.string": {"text_id": _I, "text": _T},
    "raw.communication_group": {"operator": _ID, "group_name": _ID},
    "raw.kernel_detail": {"row_number": _I, **{column: type_ for column, (type_, _) in _DETAILS.items()}},
    "raw.operator_detail": {column: type_ for column, (type_, _) in _OPERATORS.items()},
    **counters.TABLES,
    **{name: {column: type_ for column, (type_, _) in columns.items()} for name, (_, columns) in _EVENTS.items()},
}

RAW_COLUMNS: Mapping[str, Mapping[str, str]] = {
    **{name: {column: _I if type_ == _ID else type_ for column, type_ in columns.items()} for name, columns in _TABLES.items()},
    device_info.TABLE: device_info.COLUMNS,
}


COMMUNICATION = "communication.json"
OPERATOR_DETAILS = "operator_details.csv"


def is_trace(path: Path) -> bool:
    """Whether a file is a list of events, by its name."""
    return path.name.endswith((".json", ".json.gz")) and path.name != COMMUNICATION


def stage(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[str]:
    """Stage the wanted columns of the raw tables from trace_view.json, kernel_details.csv and info.json, where they are.

    `on_bytes` gets the size of each piece of a file as it is read. Gives warnings.
    Raises InputError when a file cannot be read.
    """
    create_schemas(connection, wanted)
    if device_info.TABLE in wanted:
        device_info.stage_device_info(connection, files)
    for name, columns in wanted.items():
        if name == device_info.TABLE:
            continue
        kept = {column: type_ for column, type_ in RAW_COLUMNS[name].items() if column in columns} or {"nothing_read": _I}
        definition = ", ".join(f"{quote(column)} {type_}" for column, type_ in kept.items())
        connection.execute(f"CREATE TABLE {_stored(name)} ({definition})")
        store_view(connection, name, RAW_COLUMNS[name], columns)
    texts_lock = Lock() if "raw.string" in wanted else None
    warnings = []
    for file in files:
        if is_trace(file):
            tables = {name: columns for name, columns in wanted.items() if name in _EVENTS}
            take = partial(_insert_events, tables, texts_lock)
            warnings += read_events(connection, file, _event_structure(), take, on_bytes, threads) if tables else []
        elif file.name == COMMUNICATION:
            if groups := wanted.get("raw.communication_group"):
                warnings += _stage_groups(connection, file, groups, texts_lock)
            on_bytes(file.stat().st_size)
        elif not device_info.is_device_info(file):
            is_operators = file.name == OPERATOR_DETAILS
            name, known_as = ("raw.operator_detail", _OPERATORS) if is_operators else ("raw.kernel_detail", _DETAILS)
            if details := wanted.get(name):
                warnings += _stage_details(connection, file, name, known_as, details, texts_lock)
            if not is_operators and wanted.keys() & counters.TABLES.keys():
                counters.stage_counters(connection, file, wanted, partial(_insert, connection, texts_lock=texts_lock))
            on_bytes(file.stat().st_size)
    if texts_lock and connection.execute(_EQUAL_TEXT_IDS).fetchall():
        connection.execute(
            "SET VARIABLE text_salt = getvariable('text_salt') + 1; DROP SCHEMA stored CASCADE; DROP SCHEMA raw CASCADE"
        )
        return stage(connection, files, wanted, threads, on_bytes)
    return warnings


_EQUAL_TEXT_IDS = 'SELECT 1 FROM stored."raw.string" GROUP BY text_id HAVING count(*) > 1 LIMIT 1'


def _stored(name: str) -> str:
    return f"stored.{quote(name)}"


def _event_structure() -> str:
    return json.dumps({**_EVENT, "args": _ARGUMENTS})


def _insert_events(wanted: Mapping[str, frozenset[str]], texts_lock: TextsLock, connection: duckdb.DuckDBPyConnection) -> None:
    """Add the events of a block to the raw tables, and their texts to raw.string where there is a lock for it."""
    for name, columns in wanted.items():
        condition, definitions = _EVENTS[name]
        _insert(
            connection,
            name,
            {c: definitions[c] for c in definitions if c in columns},
            f"event_block WHERE {condition}",
            texts_lock,
        )


def _stage_details(
    connection: duckdb.DuckDBPyConnection,
    file: Path,
    name: str,
    known_as: Mapping[str, tuple[str, tuple[str, ...]]],
    columns: frozenset[str],
    texts_lock: TextsLock,
) -> list[str]:
    """Stage a csv file as a raw table.

    A time with an exponent, or with zeros after 15 digits, lost its other digits in a spreadsheet: it is unknown.
    """
    warnings = copy_columns(
        connection,
        file,
        {column: names for column, (_, names) in known_as.items() if column in columns},
        "stored.detail_cell",
        of_lines=("input_shapes",) if name == "raw.operator_detail" else (),
    )
    definitions: dict[str, tuple[str, str]] = {"row_number": (_I, "row_number")} if "row_number" in columns else {}
    for column, (type_, _) in known_as.items():
        if column in columns:
            cell = quote(column)
            number = f"TRY_CAST({cell} AS {type_})"
            time = f"if(regexp_matches({cell}, '[eE]|^\\d{{15}}0+$'), NULL, ns_of_us(replace({cell}, ',', '.')))"
            definitions[column] = (type_, cell if type_ == _ID else time if column.endswith("_ns") else number)
    _insert(connection, name, definitions, "stored.detail_cell", texts_lock)
    connection.execute("DROP TABLE stored.detail_cell")
    return warnings


def _stage_groups(
    connection: duckdb.DuckDBPyConnection, file: Path, columns: frozenset[str], texts_lock: TextsLock
) -> list[str]:
    """Stage the group of each communication operator: communication.json names it behind the operator, as in name@group."""
    try:
        steps = json.loads(file.read_text(encoding="utf-8", errors="replace"))
        kinds = [step.get(kind, ()) for step in steps.values() for kind in ("p2p", "collective")]
        names = [name for kind in kinds for name in kind if "@" in name]
    except (OSError, ValueError, RecursionError, AttributeError, TypeError) as error:
        return [f"{file}: cannot be read ({reason_of(error)}), so groups may be unknown; export it again"]
    connection.execute("CREATE TABLE stored.group_cell AS SELECT unnest($names::VARCHAR[]) AS name", {"names": names})
    definitions = {
        "operator": (_ID, "regexp_extract(name, '^(.*)@', 1)"),
        "group_name": (_ID, "regexp_extract(name, '@([^@]*)$', 1)"),
    }
    _insert(
        connection,
        "raw.communication_group",
        {column: definition for column, definition in definitions.items() if column in columns},
        "stored.group_cell",
        texts_lock,
    )
    connection.execute("DROP TABLE stored.group_cell")
    return []


def _insert(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: Columns,
    rows: str,
    texts_lock: TextsLock,
) -> None:
    """Insert rows into a raw table, texts as their ids; and, with a lock, the texts that are new into raw.string.

    The lock lets one thread at a time look for what is new.
    """
    texts = {
        c: expression if c in _NAMES else f"known({expression})" for c, (type_, expression) in columns.items() if type_ == _ID
    }
    values = [f"text_id({texts[c]})" if c in texts else expression for c, (_, expression) in columns.items()]
    connection.execute(f"INSERT INTO {_stored(name)} SELECT {', '.join(values) or 'NULL'} FROM {rows}")
    if texts and texts_lock:
        with texts_lock:
            connection.execute(f"""
                INSERT INTO stored."raw.string"
                WITH found AS (SELECT DISTINCT unnest([{", ".join(texts.values())}]) AS text FROM {rows})
                SELECT text_id(text), text FROM found ANTI JOIN stored."raw.string" USING (text) WHERE text IS NOT NULL
            """)
