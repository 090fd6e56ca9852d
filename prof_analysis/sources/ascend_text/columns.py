"""The raw tables of text exports: the events that they are made of, their columns, times and keys."""

from collections.abc import Mapping

from prof_analysis.sources.ascend_text import counters
from prof_analysis.sources.ascend_text.csv_columns import BLOCKS, DETAILS, OPERATORS, RECORDS
from prof_analysis.sources.readers.bounds import Timed
from prof_analysis.sources.readers.event_tables import ID, Columns

_I = "BIGINT"
_T = "VARCHAR"
_B = "BOOLEAN"
NAMES = ("name", "class", "domain")

# The parts of an event that are read, in the form of DuckDB's from_json().
ARGUMENTS = {
    "Sequence number": _I, "Fwd thread id": _I, "Input Dims": _T, "Input type": _T, "correlation_id": _I, "connection_id": _I,
    "Task Type": _T, "Model Id": _I, "Physic Stream Id": _I, "Stream Id": _I, "Task Id": _I, "level": _T, "alg_type": _T,
    "event_type": _T, "domain": _T, "name": _T, "MHz": _I, "count": _I, "data_type": _T, "transport type": _T, "link type": _T,
    "src rank": _I, "dst rank": _I, "size(Byte)": _I, "Call stack": _T,
    "size(B)": _I, "operation": _T, "Python id": _I, "Python parent id": _I, "rank_size": _I, "labels": _T, "sort_index": _I,
}  # fmt: skip
EVENT = {"ph": _T, "cat": _T, "name": _T, "pid": _T, "tid": _I, "ts": _T, "dur": _T, "id": _T}

# Column of the events of a block -> the expression that gives it. Every raw table is made of these.
BLOCK: Mapping[str, str] = {
    **{name: f"event.{name}" for name in ("ph", "cat", "name", "tid", "dur", "id", "args")},
    # A process that has no number gets one, of 30 bits, in which the place of a layer and that of a device are 0.
    "pid": "coalesce(TRY_CAST(event.pid AS BIGINT), ((hash(event.pid) & 1048575) << 10)::BIGINT)",
    "start_ns": "ns_of_us_timestamp(event.ts)",
    "end_ns": "TRY(ns_of_us_timestamp(event.ts) + ns_of_us_duration(event.dur))",
}

_START = (_I, "start_ns")
_TIMES: Columns = {"start_ns": _START, "end_ns": (_I, "end_ns")}
_THREAD: Columns = {"pid": (_I, "pid"), "tid": (_I, "tid")}
_CALL: Columns = {"event_id": (_I, "event_id"), "name": (ID, "name"), **_THREAD, **_TIMES}
_PYTHON_IDS: Columns = {"python_id": (_I, 'args."Python id"'), "caller_id": (_I, 'args."Python parent id"')}
_CONNECTION: Columns = {"connection_id": (_I, "args.connection_id")}

# Raw table -> (the condition of its events, its columns: type, and the expression that gives them).
EVENTS: Mapping[str, tuple[str, Columns]] = {
    "raw.cpu_op": (
        "ph = 'X' AND cat = 'cpu_op'",
        {
            **_CALL,
            "sequence_number": (_I, 'args."Sequence number"'),
            "forward_thread_id": (_I, 'args."Fwd thread id"'),
            "input_dims": (ID, 'in_one_line(args."Input Dims")'),
            "input_types": (ID, 'in_one_line(args."Input type")'),
        },
    ),
    # A table of its own, since only stacks need it.
    "raw.op_stack": (
        "ph = 'X' AND cat = 'cpu_op' AND args.\"Call stack\" IS NOT NULL",
        {"event_id": (_I, "event_id"), "stack": (ID, 'args."Call stack"')},
    ),
    "raw.queue_call": (
        "ph = 'X' AND cat IN ('enqueue', 'dequeue')",
        {**_THREAD, **_TIMES, "is_enqueue": (_B, "cat = 'enqueue'"), "correlation_id": (_I, "args.correlation_id")},
    ),
    "raw.module_call": (
        "ph = 'X' AND cat = 'python_function' AND starts_with(name, 'nn.Module: ')",
        {**_CALL, **_PYTHON_IDS, "class": (ID, "class_of_traced_module(name)")},
    ),
    # What PyTorch does first in each call of a module.
    "raw.module_entry": (
        "ph = 'X' AND cat = 'python_function' AND name >= '<built-in method _get_tracing_state'"
        " AND name < '<built-in method _get_tracing_statf'",
        {**_CALL, **_PYTHON_IDS},
    ),
    "raw.mstx": (
        "ph = 'X' AND args.event_type IS NOT NULL",
        {**_CALL, "event_type": (_T, "args.event_type"), "domain": (ID, "args.domain")},
    ),
    "raw.python_call": ("ph = 'X' AND cat = 'python_function'", {**_CALL, "python_id": (_I, 'args."Python id"')}),
    "raw.host_api": (
        "ph = 'X' AND args.level IS NOT NULL",
        {
            "event_id": (_I, "event_id"),
            "level": (_T, "args.level"),
            "call": (ID, "regexp_extract(name, '(?s)^(?:[^@]*@)?(.*)$', 1)"),
            **_THREAD,
            **_TIMES,
            **_CONNECTION,
        },
    ),
    "raw.gc": ("ph = 'X' AND cat = 'GC'", {**_THREAD, **_TIMES}),
    # The device side of a mark or range; versions of 2024 name it MsTx_<number>, later ones by its message.
    "raw.mstx_task": (
        "ph = 'X' AND args.\"Physic Stream Id\" IS NOT NULL AND coalesce(args.\"Task Type\" = 'MsTx', true)",
        {**_CALL, "stream_id": (_I, 'args."Physic Stream Id"')},
    ),
    "raw.mstx_flow": (
        "cat = 'MsTx' AND ph IN ('s', 'f')",
        {
            "event_id": (_I, "event_id"),
            "is_start": (_B, "ph = 's'"),
            "connection_id": (_I, "coalesce(TRY_CAST(id AS BIGINT), text_id(id))"),
            **_THREAD,
            "start_ns": _START,
        },
    ),
    # Of any phase: one without a duration has no time, and is set aside.
    "raw.device_task": (
        'args."Task Type" IS NOT NULL',
        {
            **_CALL,
            **_CONNECTION,
            "task_type": (ID, 'args."Task Type"'),
            "model_id": (_I, 'args."Model Id"'),
            "stream_id": (_I, 'coalesce(args."Physic Stream Id", args."Stream Id")'),
            "task_id": (_I, 'args."Task Id"'),
        },
    ),
    # A table of its own, since only copies need it: tasks that are copies are among those above too.
    "raw.copy_task": (
        "(ph = 'X' OR dur IS NOT NULL) AND name = 'MEMCPY_ASYNC' AND args.\"Task Type\" IS NOT NULL",
        {
            **_CALL,
            **_CONNECTION,
            "stream_id": (_I, 'coalesce(args."Physic Stream Id", args."Stream Id")'),
            "operation": (_T, "args.operation"),
            "size_bytes": (_I, 'args."size(B)"'),
        },
    ),
    "raw.communication_op": (
        "args.alg_type IS NOT NULL",
        {
            **_CALL,
            **_CONNECTION,
            "type": (ID, "type_of_communication(name)"),
            "algorithm": (ID, "args.alg_type"),
            "data_type": (_T, "args.data_type"),
            "element_count": (_I, "args.count"),
            "rank_size": (_I, "args.rank_size"),
        },
    ),
    # Its name is its type: Memcpy, Reduce_Inline, Notify_Wait, ...
    "raw.communication_task": (
        "(ph = 'X' OR dur IS NOT NULL) AND args.\"transport type\" IS NOT NULL",
        {
            **_CALL,
            "duration_ps": (_I, "TRY((TRY_CAST(dur AS DECIMAL(24, 6)) * 1000000)::BIGINT)"),
            "transport": (_T, 'args."transport type"'),
            "link": (_T, 'args."link type"'),
            "source_rank": (_I, 'args."src rank"'),
            "destination_rank": (_I, 'args."dst rank"'),
            "size_bytes": (_I, 'args."size(Byte)"'),
        },
    ),
    "raw.plane": (
        "ph = 'M' AND name = 'thread_name' AND starts_with(args.name, 'Plane ')",
        {**_THREAD, "plane": (_I, "TRY_CAST(substr(args.name, 7) AS BIGINT)")},
    ),
    "raw.flow": (
        "ph IN ('s', 'f') AND cat IN ('async_npu', 'fwdbwd', 'HostToDevice')",
        {
            "event_id": (_I, "event_id"),
            "category": (_T, "cat"),
            "is_start": (_B, "ph = 's'"),
            "flow_id": (_I, "TRY_CAST(id AS BIGINT)"),
            **_THREAD,
            "start_ns": _START,
        },
    ),
    "raw.overlap": (
        "ph = 'X' AND cat IS NULL AND name IN ('Computing', 'Communication', 'Communication(Not Overlapped)', 'Free')",
        {"name": (ID, "name"), "pid": (_I, "pid"), **_TIMES},
    ),
    "raw.process": (
        "ph = 'M' AND name IN ('process_name', 'process_labels', 'process_sort_index')",
        {
            "pid": (_I, "pid"),
            "name": (_T, "if(name = 'process_name', args.name, NULL)"),
            "label": (_T, "if(name = 'process_labels', args.labels, NULL)"),
            "sort_index": (_I, "if(name = 'process_sort_index', args.sort_index, NULL)"),
        },
    ),
    "raw.core_clock": (
        "ph = 'C' AND starts_with(name, 'AI Core Freq') AND args.MHz IS NOT NULL",
        {**_THREAD, "start_ns": _START, "clock_mhz": (_I, "args.MHz")},
    ),
    "raw.thread": (
        "ph = 'M' AND name = 'thread_name' AND starts_with(args.name, 'Group ')",
        {**_THREAD, "group_name": (ID, "regexp_extract(args.name, '^Group (.*?)( Communication)?$', 1)")},
    ),
}

TABLES: Mapping[str, Mapping[str, str]] = {
    "raw.string": {"text_id": _I, "text": _T},
    "raw.communication_group": {"operator": ID, "group_name": ID},
    "raw.kernel_detail": {"row_number": _I, **{column: type_ for column, (type_, _) in DETAILS.items()}},
    "raw.operator_detail": {column: type_ for column, (type_, _) in OPERATORS.items()},
    **{
        name: {"row_number": _I, **{column: type_ for column, (type_, _) in columns.items()}}
        for name, columns in {"raw.memory_block": BLOCKS, "raw.memory_record": RECORDS, "raw.module_memory": RECORDS}.items()
    },
    **counters.TABLES,
    **{name: {column: type_ for column, (type_, _) in columns.items()} for name, (_, columns) in EVENTS.items()},
}

# The times of rows by the clocks of host and device.
_EVENT_TIMES = Timed("start_ns", "end_ns")
CLOCKS: Mapping[str, Mapping[str, Timed]] = {
    "host": {
        **dict.fromkeys(
            ("raw.cpu_op", "raw.module_call", "raw.python_call", "raw.mstx", "raw.host_api", "raw.gc", "raw.queue_call"),
            _EVENT_TIMES,
        ),
        "raw.memory_block": Timed("allocated_ns", "coalesce(released_ns, allocated_ns)"),
        "raw.memory_record": Timed("time_ns", "time_ns"),
    },
    "device": {
        **dict.fromkeys(
            (
                "raw.device_task",
                "raw.copy_task",
                "raw.communication_op",
                "raw.communication_task",
                "raw.mstx_task",
                "raw.overlap",
            ),
            _EVENT_TIMES,
        ),
        "raw.kernel_detail": Timed("start_ns", "TRY(start_ns + duration_ns)"),
    },
}

_CALL_KEY = ("start_ns", "end_ns", "pid", "tid", "name")

# The key of the rows of a table: two events of a thread never have the same start, end and name.
KEYS: Mapping[str, tuple[str, ...]] = {
    "raw.cpu_op": _CALL_KEY,
    "raw.module_call": _CALL_KEY,
    "raw.module_entry": _CALL_KEY,
    "raw.python_call": _CALL_KEY,
    "raw.mstx": (*_CALL_KEY, "domain"),
    "raw.queue_call": ("start_ns", "end_ns", "pid", "tid", "is_enqueue", "correlation_id"),
    "raw.host_api": ("start_ns", "end_ns", "pid", "tid", "level", "connection_id"),
    "raw.device_task": (*_CALL_KEY, "task_id", "connection_id"),
    "raw.copy_task": (*_CALL_KEY, "connection_id"),
    "raw.communication_op": (*_CALL_KEY, "connection_id"),
    "raw.communication_task": _CALL_KEY,
    "raw.kernel_detail": ("start_ns", "duration_ns", "name", "stream_id", "task_id"),
    "raw.memory_block": ("allocated_ns", "size_kib", "name", "released_ns", "device"),
}
