"""The raw tables of a trace of Kineto: the events that they are made of.

The format is that of libkineto/src/output_json.cpp in pytorch/kineto. Categories of 2022 had other names: Operator, Runtime,
Kernel, Memcpy, Memset; those of other devices have others: xpu_runtime, mtia_runtime, mtia_ccp_events, privateuse1_runtime.
"""

from collections.abc import Mapping

from prof_analysis.sources.readers.bounds import Timed
from prof_analysis.sources.readers.event_tables import ID, Columns

_I = "BIGINT"
_T = "VARCHAR"
_B = "BOOLEAN"
_D = "DOUBLE"
# Columns in which a text such as NULL is a name like others.
NAMES = ("name", "class")

# Column -> the counter of a kernel.
_COUNTERS: Mapping[str, str] = {
    "occupancy_percent": "est. achieved occupancy %",
    "blocks_per_sm": "blocks per SM",
    "warps_per_sm": "warps per SM",
    "registers_per_thread": "registers per thread",
    "shared_memory_bytes": "shared memory",
}

ARGUMENTS = {
    "External id": _I, "Sequence number": _I, "Fwd thread id": _I, "Input Dims": _T, "Input type": _T, "Concrete Inputs": _T,
    "Python id": _I, "Python parent id": _I, "correlation": _I, "device": _I, "stream": _I, "graph id": _I,
    "graph node id": _I, "Collective name": _T,
    "In msg nelems": _I, "Out msg nelems": _I, "Group size": _I, "dtype": _T, "bytes": _I, "Process Group Name": _T,
    "kernel": _T, "module_fqn": _T, "name": _T, "autograd_phase": _T,
    "Addr": _I, "Block bytes": _I, "Total Allocated": _I, "Total Reserved": _I, "Device Type": _I, "Device Id": _I,
    "Call stack": _T, "grid": _T, "block": _T,
    **dict.fromkeys(_COUNTERS.values(), _D),
}  # fmt: skip
# What an allocator gave differs in case alone from what a copy or collective moved.
RENAMED = {"Bytes": "Block bytes"}
EVENT = {"ph": _T, "cat": _T, "name": _T, "pid": _I, "tid": _I, "ts": _T, "dur": _T, "id": _T}

# Times are relative to a moment that the head of the file names, or absolute.
BLOCK: Mapping[str, str] = {
    **{name: f"event.{name}" for name in ("ph", "cat", "name", "pid", "tid", "dur", "id", "args")},
    "start_ns": "TRY(ns_of_us_timestamp(event.ts) + getvariable('base_time_ns'))",
    # DuckDB adds up what two expressions have in common outside of TRY, so they have no sum in common.
    "end_ns": "TRY(ns_of_us_timestamp(event.ts) + (getvariable('base_time_ns') + ns_of_us_duration(event.dur)))",
}

_THREAD: Columns = {"pid": (_I, "pid"), "tid": (_I, "tid")}
_CALL: Columns = {
    "event_id": (_I, "event_id"),
    "name": (ID, "name"),
    **_THREAD,
    "start_ns": (_I, "start_ns"),
    "end_ns": (_I, "end_ns"),
}
_PYTHON_ID: Columns = {"python_id": (_I, 'args."Python id"')}
_PYTHON_IDS: Columns = {**_PYTHON_ID, "caller_id": (_I, 'args."Python parent id"')}

# Categories of work on the device. Of more than two words in one list DuckDB makes a join.
_IS_WORK = (
    "(cat IN ('kernel', 'Kernel') OR cat IN ('gpu_memcpy', 'Memcpy') OR cat IN ('gpu_memset', 'Memset')"
    " OR cat = 'mtia_ccp_events')"
)
# What runs on the device names it and the stream; without a category, that is what tells it from all else.
_IS_ON_STREAM = "args.device IS NOT NULL AND args.stream IS NOT NULL"
# Categories with a device and a stream that are no work: calls on the host, waits and marks on the stream, and annotations.
_IS_NO_WORK = (
    "regexp_matches(cat, '(_runtime|_driver|_annotation)$|^(cuda_sync|cuda_event|overhead|cpu_op|Runtime|Operator|ac2g)$')"
)

# Raw table -> (the condition of its events, its columns: type, and the expression that gives them).
EVENTS: Mapping[str, tuple[str, Columns]] = {
    "raw.cpu_op": (
        "ph = 'X' AND cat IN ('cpu_op', 'Operator')",
        {
            **_CALL,
            "external_id": (_I, 'args."External id"'),
            "sequence_number": (_I, 'args."Sequence number"'),
            "forward_thread_id": (_I, 'args."Fwd thread id"'),
            "input_dims": (ID, 'list_of_shapes(args."Input Dims")'),
            "input_types": (ID, 'list_of_words(args."Input type")'),
        },
    ),
    # A table of its own, since only FLOPs need it.
    "raw.op_input": (
        "ph = 'X' AND cat IN ('cpu_op', 'Operator')",
        {
            "event_id": (_I, "event_id"),
            "input_dims": (ID, 'list_of_shapes(args."Input Dims")'),
            "input_types": (ID, 'list_of_words(args."Input type")'),
            "input_values": (ID, 'args."Concrete Inputs"'),
        },
    ),
    # The same for stacks.
    "raw.op_stack": (
        "ph = 'X' AND cat IN ('cpu_op', 'Operator') AND args.\"Call stack\" IS NOT NULL",
        {"event_id": (_I, "event_id"), "stack": (ID, 'args."Call stack"')},
    ),
    "raw.module_call": (
        # A comparison looks at the first four characters before all others: starts_with() takes 0.1 us more for a row.
        "ph = 'X' AND cat = 'python_function' AND name >= 'nn.Module: ' AND name < 'nn.Module:!'",
        {**_CALL, **_PYTHON_IDS, "class": (ID, "class_of_traced_module(name)")},
    ),
    # What PyTorch does first in each call of a module.
    "raw.module_entry": (
        "ph = 'X' AND cat = 'python_function' AND name >= '<built-in method _get_tracing_state'"
        " AND name < '<built-in method _get_tracing_statf'",
        {**_CALL, **_PYTHON_IDS},
    ),
    "raw.python_call": ("ph = 'X' AND cat = 'python_function'", {**_CALL, **_PYTHON_ID}),
    "raw.annotation": ("ph = 'X' AND cat = 'user_annotation'", _CALL),
    "raw.runtime_call": (
        "ph = 'X' AND (lower(cat) IN ('runtime', 'driver') OR ends_with(cat, '_runtime') OR ends_with(cat, '_driver'))",
        {
            **_CALL,
            "correlation": (_I, "args.correlation"),
            "external_id": (_I, 'args."External id"'),
            "kernel": (_T, "args.kernel"),
        },
    ),
    # An event with a duration is whole, whatever its phase.
    "raw.device_work": (
        f"(ph = 'X' OR dur IS NOT NULL) AND ({_IS_WORK} OR (cat IS NULL AND {_IS_ON_STREAM}))",
        {
            **_CALL,
            # Where a writer puts a number or nothing of sense, the name is lost.
            "name": (ID, r"if(regexp_matches(name, '\pL'), name, NULL)"),
            "is_kernel": (
                _B,
                "coalesce(if(cat = 'mtia_ccp_events', name IS DISTINCT FROM 'dma_request', lower(cat) = 'kernel'),"
                " NOT regexp_matches(name, '^Mem(cpy|set) '), true)",
            ),
            "correlation": (_I, "args.correlation"),
            "external_id": (_I, 'args."External id"'),
            "device_id": (_I, "coalesce(args.device, pid)"),
            "stream_id": (_I, "coalesce(args.stream, tid)"),
            "size_bytes": (_I, "args.bytes"),
            "graph_id": (_I, 'args."graph id"'),
            "graph_node_id": (_I, 'args."graph node id"'),
            # What PyTorch merges of its annotations into a trace.
            "module_fqn": (_T, "args.module_fqn"),
            "annotation": (_T, "args.name"),
            "autograd_phase": (_T, "args.autograd_phase"),
            "collective": (ID, 'args."Collective name"'),
            "group_name": (ID, 'args."Process Group Name"'),
            "data_type": (_T, "args.dtype"),
            "element_count": (_I, 'args."In msg nelems"'),
            "output_count": (_I, 'args."Out msg nelems"'),
            "group_size": (_I, 'args."Group size"'),
            "grid": (_T, "args.grid"),
            "block": (_T, "args.block"),
            **{column: (_D, f'args."{counter}"') for column, counter in _COUNTERS.items()},
        },
    ),
    # What runs on the device and is not among it: events without a duration, and categories that are not known.
    "raw.other_work": (
        f"CASE WHEN {_IS_WORK} THEN ph <> 'X' AND dur IS NULL"
        f" WHEN {_IS_ON_STREAM} THEN if(cat IS NULL, ph <> 'X' AND dur IS NULL, NOT {_IS_NO_WORK}) ELSE false END",
        {"phase": (_T, "ph"), "category": (_T, "cat"), "start_ns": (_I, "start_ns"), "end_ns": (_I, "end_ns")},
    ),
    # Bytes of a release are negative. Device type 0 is the host.
    "raw.memory_event": (
        "cat = 'cpu_instant_event' AND name = '[memory]'",
        {
            "event_id": (_I, "event_id"),
            **_THREAD,
            "start_ns": (_I, "start_ns"),
            "address": (_I, "args.Addr"),
            "size_bytes": (_I, 'args."Block bytes"'),
            "allocated_bytes": (_I, 'args."Total Allocated"'),
            "reserved_bytes": (_I, 'args."Total Reserved"'),
            "device_type": (_I, 'args."Device Type"'),
            "device_id": (_I, 'args."Device Id"'),
        },
    ),
    "raw.out_of_memory": (
        "cat = 'cpu_instant_event' AND name = '[OutOfMemory]'",
        {
            "event_id": (_I, "event_id"),
            **_THREAD,
            "start_ns": (_I, "start_ns"),
            "size_bytes": (_I, 'args."Block bytes"'),
            "allocated_bytes": (_I, 'args."Total Allocated"'),
            "reserved_bytes": (_I, 'args."Total Reserved"'),
            "device_type": (_I, 'args."Device Type"'),
            "device_id": (_I, 'args."Device Id"'),
        },
    ),
    # What the profiler says of the time that it recorded.
    "raw.recording": ("ph = 'X' AND cat = 'Trace'", {"start_ns": (_I, "start_ns"), "end_ns": (_I, "end_ns")}),
    "raw.flow": (
        "ph IN ('s', 'f') AND cat IN ('fwdbwd', 'forward_backward')",
        {
            "event_id": (_I, "event_id"),
            "is_start": (_B, "ph = 's'"),
            "flow_id": (_I, "TRY_CAST(id AS BIGINT)"),
            **_THREAD,
            "start_ns": (_I, "start_ns"),
        },
    ),
}

RECORDING = "raw.recording"
# The times of rows by the clocks of host and device.
_EVENT_TIMES = Timed("start_ns", "end_ns")
CLOCKS: Mapping[str, Mapping[str, Timed]] = {
    "host": {
        **dict.fromkeys(
            ("raw.cpu_op", "raw.module_call", "raw.annotation", "raw.runtime_call", "raw.python_call"), _EVENT_TIMES
        ),
        "raw.memory_event": Timed("start_ns", "start_ns"),
    },
    "device": {"raw.device_work": _EVENT_TIMES},
}

# With stacks, two of three events are calls of Python functions.
FREQUENT = ("cat = 'python_function'", ("raw.module_call", "raw.module_entry", "raw.python_call"))

# Tables that are made of the parts of the file around the events.
AROUND: Mapping[str, Mapping[str, str]] = {
    "raw.metadata": {"name": _T, "value": _T},
    "raw.device": {"device_id": _I, "name": _T, "core_count": _I, "memory_bytes": _I, "compute_major": _I},
}

# Tables that are made of the others, of annotations of kernels and of captures.
_ON_LANE: Mapping[str, str] = {"launch_id": _I, "tid": _I, "name": ID, "start_ns": _I, "end_ns": _I}
_INPUTS: Mapping[str, str] = {"input_dims": ID, "input_types": ID, "input_values": ID}
REPLAYED: Mapping[str, Mapping[str, str]] = {
    "raw.replayed_op": {"op_id": _I, **_ON_LANE, "parent_id": _I, "is_op": _B, **_INPUTS},
    "raw.replayed_range": {"range_id": _I, **_ON_LANE, "is_module": _B, "is_backward": _B},
    "raw.replayed_kernel": {"event_id": _I, "op_id": _I, "known_by": _T, "modules_by": _T},
}

TABLES: Mapping[str, Mapping[str, str]] = {
    "raw.string": {"text_id": _I, "text": _T},
    **AROUND,
    **REPLAYED,
    **{name: {column: type_ for column, (type_, _) in columns.items()} for name, (_, columns) in EVENTS.items()},
}

# The key of the rows of a table. Times of 2022 are whole microseconds, so two events of a thread can agree in all but an id.
KEYS: Mapping[str, tuple[str, ...]] = {
    "raw.cpu_op": ("start_ns", "external_id", "end_ns", "pid", "tid", "name"),
    "raw.module_call": ("start_ns", "python_id", "end_ns", "pid", "tid", "name"),
    "raw.module_entry": ("start_ns", "python_id", "end_ns", "pid", "tid", "name"),
    "raw.python_call": ("start_ns", "python_id", "end_ns", "pid", "tid", "name"),
    "raw.runtime_call": ("start_ns", "correlation", "end_ns", "pid", "tid", "name"),
    "raw.device_work": ("start_ns", "correlation", "end_ns", "pid", "tid", "name"),
}
