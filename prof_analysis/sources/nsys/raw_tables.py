"""The raw tables that are made of the tables of a database of Nsight Systems: the rows of each, and what its columns are."""

from collections.abc import Mapping
from typing import NamedTuple

from prof_analysis.sources.nsys.tables import (
    ALLOCATIONS,
    CALLS,
    COPIES,
    CUDA_DEVICES,
    DEVICES,
    DRIVER_CALLS,
    FILLS,
    GRAPH_NODES,
    GRAPHS,
    KERNELS,
    METRICS,
    RANGES,
)
from prof_analysis.sources.readers.bounds import Timed

_I = "BIGINT"
_T = "VARCHAR"
_B = "BOOLEAN"


class Text(NamedTuple):
    """A column of texts, staged as their ids: `text` is an expression of its key, the same for all rows with that key.

    With `is_id` the key is an id in StringIds, and the expression is one of `recorded`, the text there.
    """

    key: str
    text: str = "key"
    is_id: bool = False


class Part(NamedTuple):
    """Rows of a table of the file that go into a raw table: the columns that they have, by DuckDB's expressions of `part`.

    The columns of `part` are those of the file, and of NVTX_EVENTS those of NVTX beside. `condition` chooses rows.
    """

    table: str
    columns: Mapping[str, str | Text]
    condition: str = "true"


# Times are relative to the begin of the session, or absolute.
_TIME = "TRY(part.{} + getvariable('base_time_ns'))"
_SPAN = {"start_ns": _TIME.format("start"), "end_ns": _TIME.format('"end"')}
_THREAD = {"pid": "part.globalTid >> 24 & 16777215", "tid": "part.globalTid & 16777215"}
_WORK = {
    **_SPAN,
    "pid": "coalesce(part.globalPid >> 24 & 16777215, getvariable('only_pid'))",
    "correlation": "nullif(part.correlationId, 0)",
    "device_id": "coalesce(getvariable('device_id'), part.deviceId)",
    "stream_id": "part.streamId",
}
# Position of a table among those of work, in the lowest two bits of its ids.
_ID = "part.rowid * 4 + {}"
_SAMPLE = {"device_id": "part.typeId & 255", "start_ns": _TIME.format("timestamp")}
# The number of a metric, which each type of devices counts anew.
_METRIC = "TRY(part.typeId * 65536 + part.metricId)"
# Text of an NVTX event -> its column in the file, and that of its id.
EVENT_TEXTS: Mapping[str, tuple[str, str]] = {"whole": ("text", "textId"), "json": ("jsonText", "jsonTextId")}
# Place in the whole text -> how it is found. Texts are parsed once, since each op has a text of its own.
PLACES: Mapping[str, str] = {
    "seq_at": "place_in_nvtx(whole, ', seq = ')",
    "op_at": "place_in_nvtx(whole, ', op_id = ')",
    "sizes_at": "place_in_nvtx(whole, ', sizes = [')",
}
# Column of an NVTX event -> what it is made of, beside columns of the file: of its texts and the places in them.
NVTX: Mapping[str, str] = {
    "type": 'coalesce(part.eventType, if(part."end" IS NULL, 34, 59))',
    "name": "name_of_nvtx(whole, seq_at, op_at, sizes_at)",
    "is_op": "is_op_of_nvtx(whole, seq_at, op_at, sizes_at)",
    "sequence": "sequence_of_nvtx(whole, seq_at)",
    "sizes": "sizes_of_nvtx(whole, sizes_at)",
    "domain": "domain_of_nvtx(part.domainId, part.globalTid >> 24, whole)",
    "payload": "coalesce(json, payload_of_nvtx(part.binaryData))",
}
# The columns of payloads: as JSON, by the id of a text of JSON, or as bytes.
PAYLOADS = frozenset(("jsonText", "jsonTextId", "binaryData"))
# The numbers that are read from payloads.
COMMUNICATOR, SIZE, RANKS = PAYLOAD_NUMBERS = ("NCCL communicator ID", "Message size [bytes]", "No. of ranks")
_NVTX = {"event_id": "part.rowid", **_THREAD, "start_ns": _SPAN["start_ns"]}

# Raw table -> the rows that it has. Columns that a part lacks are NULL.
PARTS: Mapping[str, tuple[Part, ...]] = {
    "raw.device_work": (
        Part(
            KERNELS,
            {
                **_WORK,
                "event_id": _ID.format(0),
                # Other tools write the unnamed namespace so.
                "name": Text(
                    "coalesce(part.demangledName, part.shortName, part.mangledName)",
                    "replace(recorded.text, '<unnamed>', '(anonymous namespace)')",
                    is_id=True,
                ),
                "is_kernel": "true",
                "graph_id": "part.graphId",
                "graph_node_id": "part.graphNodeId",
                "block_count": "TRY(part.gridX * coalesce(part.gridY, 1) * coalesce(part.gridZ, 1))",
                "thread_count": "TRY(part.blockX * coalesce(part.blockY, 1) * coalesce(part.blockZ, 1))",
                "registers_per_thread": "part.registersPerThread",
                "shared_memory_bytes": "TRY(coalesce(part.staticSharedMemory, 0) + part.dynamicSharedMemory)",
            },
        ),
        Part(
            COPIES,
            {
                **_WORK,
                "event_id": _ID.format(1),
                "name": Text("name_of_copy(part.copyKind, part.srcKind, part.dstKind)"),
                "is_kernel": "false",
                "size_bytes": "part.bytes",
                "graph_node_id": "part.graphNodeId",
            },
        ),
        Part(
            FILLS,
            {
                **_WORK,
                "event_id": _ID.format(2),
                "name": Text("name_of_fill(part.memKind)"),
                "is_kernel": "false",
                "size_bytes": "part.bytes",
                "graph_node_id": "part.graphNodeId",
            },
        ),
        Part(
            GRAPHS,
            {
                **_WORK,
                "event_id": _ID.format(3),
                "name": Text("name_of_graph(part.graphId)"),
                "is_kernel": "true",
                "is_graph": "true",
                "graph_id": "coalesce(part.graphId, part.graphExecId)",
            },
        ),
    ),
    "raw.runtime_call": tuple(
        Part(
            table,
            {
                **_THREAD,
                **_SPAN,
                "event_id": f"part.rowid * 2 + {number}",
                "name": Text("part.nameId", "name_of_cuda_call(recorded.text)", is_id=True),
                "correlation": "nullif(part.correlationId, 0)",
            },
        )
        for number, table in enumerate((CALLS, DRIVER_CALLS))
    ),
    "raw.nvtx_op": (
        Part(
            RANGES,
            {
                **_NVTX,
                "end_ns": _SPAN["end_ns"],
                "name": Text("part.name"),
                "sequence_number": "part.sequence",
                "input_shapes": Text("part.sizes", "list_of_shapes(key)"),
            },
            condition="part.type IN (59, 60) AND part.is_op",
        ),
    ),
    "raw.nvtx_range": (
        Part(
            RANGES,
            {**_NVTX, "end_ns": _SPAN["end_ns"], "name": Text("part.name"), "domain": Text("part.domain")},
            condition="part.type IN (59, 60) AND NOT part.is_op",
        ),
    ),
    "raw.nvtx_mark": (
        Part(
            RANGES, {**_NVTX, "name": Text("part.name"), "domain": Text("part.domain")}, condition="part.type = 34"
        ),
    ),
    # Of the library of collectives, with what it says of each call.
    "raw.nccl_call": (
        Part(
            RANGES,
            {
                **_NVTX,
                "end_ns": _SPAN["end_ns"],
                "name": "part.name",
                "communicator": f"text_of_payload(part.payload, '{COMMUNICATOR}')",
                "size_bytes": f"number_of_payload(part.payload, '{SIZE}')",
                "rank_count": f"number_of_payload(part.payload, '{RANKS}')",
            },
            condition="part.type IN (59, 60) AND regexp_matches(part.name, '^nccl[A-Z]')",
        ),
    ),
    "raw.device": (
        Part(
            DEVICES,
            {
                "device_id": "part.id",
                "name": "part.name",
                "core_count": "nullif(part.smCount, 0)",
                "memory_bytes": "nullif(part.totalMemory, 0)",
                "clock_mhz": "nullif(part.clockRate // 1000000, 0)",
                "compute_major": "nullif(part.computeMajor, 0)",
            },
        ),
        Part(CUDA_DEVICES, {"device_id": "part.gpuId", "core_count": "nullif(part.numMultiprocessors, 0)"}),
    ),
    "raw.memory_event": (
        Part(
            ALLOCATIONS,
            {
                "event_id": "part.rowid",
                "pid": "part.globalPid >> 24 & 16777215",
                "start_ns": _SPAN["start_ns"],
                "correlation": "nullif(part.correlationId, 0)",
                "device_id": "coalesce(getvariable('device_id'), part.deviceId)",
                "stream_id": "part.streamId",
                "address": "part.address",
                "size_bytes": "part.bytes",
                "memory_kind": "part.memKind",
                "is_release": "part.memoryOperationType = 1",
            },
        ),
    ),
    "raw.graph_node": (
        Part(
            GRAPH_NODES,
            {
                **_THREAD,
                "start_ns": _SPAN["start_ns"],
                "node_id": "nullif(part.graphNodeId, 0)",
                "original_id": "nullif(part.originalGraphNodeId, 0)",
            },
        ),
    ),
    "raw.metric_sample": (
        Part(METRICS, {**_SAMPLE, "name": Text(_METRIC, "getvariable('metric_names')[key]"), "value": "part.value"}),
    ),
    "raw.clock_sample": (
        Part(
            METRICS,
            {**_SAMPLE, "clock_mhz": "mhz_of_metric(part.value)"},
            condition=f"list_contains(getvariable('clock_metrics'), {_METRIC})",
        ),
    ),
}  # fmt: skip

RAW_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "raw.string": {"text_id": _I, "text": _T},
    "raw.device_work": {
        **dict.fromkeys(("event_id", "name", "pid", "start_ns", "end_ns", "correlation", "device_id", "stream_id"), _I),
        **dict.fromkeys(("is_kernel", "is_graph"), _B),
        **dict.fromkeys(("size_bytes", "graph_id", "graph_node_id", "block_count", "thread_count"), _I),
        **dict.fromkeys(("registers_per_thread", "shared_memory_bytes"), _I),
    },
    "raw.runtime_call": dict.fromkeys(("event_id", "name", "pid", "tid", "start_ns", "end_ns", "correlation"), _I),
    "raw.nvtx_op": dict.fromkeys(
        ("event_id", "name", "pid", "tid", "start_ns", "end_ns", "sequence_number", "input_shapes"), _I
    ),
    "raw.nvtx_range": dict.fromkeys(("event_id", "name", "domain", "pid", "tid", "start_ns", "end_ns"), _I),
    "raw.nvtx_mark": dict.fromkeys(("event_id", "name", "domain", "pid", "tid", "start_ns"), _I),
    "raw.nccl_call": {
        **dict.fromkeys(("event_id", "pid", "tid", "start_ns", "end_ns", "size_bytes", "rank_count"), _I),
        **dict.fromkeys(("name", "communicator"), _T),
    },
    "raw.device": {
        "device_id": _I, "name": _T, **dict.fromkeys(("core_count", "memory_bytes", "clock_mhz", "compute_major"), _I)
    },
    "raw.memory_event": {
        **dict.fromkeys(("event_id", "pid", "start_ns", "correlation", "device_id", "stream_id"), _I),
        **dict.fromkeys(("address", "size_bytes", "memory_kind"), _I),
        "is_release": _B,
    },
    "raw.graph_node": dict.fromkeys(("pid", "tid", "start_ns", "node_id", "original_id"), _I),
    "raw.metric_sample": dict.fromkeys(("device_id", "start_ns", "name", "value"), _I),
    "raw.clock_sample": dict.fromkeys(("device_id", "start_ns", "clock_mhz"), _I),
}  # fmt: skip

# The keys of rows: a file that was merged holds some twice.
KEYS: Mapping[str, tuple[str, ...]] = {
    "raw.device_work": ("start_ns", "correlation", "end_ns", "pid", "device_id", "stream_id", "name"),
    "raw.runtime_call": ("start_ns", "correlation", "end_ns", "pid", "tid", "name"),
    "raw.memory_event": ("start_ns", "address", "is_release", "pid", "device_id", "size_bytes"),
    "raw.nvtx_op": ("start_ns", "end_ns", "pid", "tid", "name"),
    "raw.nvtx_range": ("start_ns", "end_ns", "pid", "tid", "name", "domain"),
}

_EVENT_TIMES = Timed("start_ns", "end_ns")
CLOCKS: Mapping[str, Mapping[str, Timed]] = {
    "host": {
        **dict.fromkeys(("raw.runtime_call", "raw.nvtx_op", "raw.nvtx_range"), _EVENT_TIMES),
        "raw.memory_event": Timed("start_ns", "start_ns"),
    },
    "device": {"raw.device_work": _EVENT_TIMES},
}
