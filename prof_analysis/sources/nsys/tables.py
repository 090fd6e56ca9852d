"""The tables and columns that are read from a database of Nsight Systems.

A table is there only where it has rows, and columns vary by version: a column that a database lacks is NULL, a table that it
lacks has no rows. The format is that of the chapter "SQLite Schema Reference" of the User Guide of Nsight Systems.
"""

from collections.abc import Mapping

_I = "BIGINT"
_T = "VARCHAR"

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
COPIES = "CUPTI_ACTIVITY_KIND_MEMCPY"
FILLS = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPHS = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
# The tables of work on a device.
WORK = (KERNELS, COPIES, FILLS, GRAPHS)
CALLS = "CUPTI_ACTIVITY_KIND_RUNTIME"
# Up to 2020, calls of the driver had a table of their own.
DRIVER_CALLS = "CUPTI_ACTIVITY_KIND_DRIVER"
RANGES = "NVTX_EVENTS"
TEXTS = "StringIds"
SCHEMAS = "NVTX_PAYLOAD_SCHEMAS"
ENTRIES = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
GRAPH_NODES = "CUDA_GRAPH_NODE_EVENTS"
METRICS = "GPU_METRICS"
METRIC_NAMES = "TARGET_INFO_GPU_METRICS"
DEVICES = "TARGET_INFO_GPU"
CUDA_DEVICES = "TARGET_INFO_CUDA_DEVICE"
ALLOCATIONS = "CUDA_GPU_MEMORY_USAGE_EVENTS"

_TIMES = {"start": _I, "end": _I}
_ON_DEVICE = {**_TIMES, "deviceId": _I, "streamId": _I, "correlationId": _I, "globalPid": _I}
_CALL = {**_TIMES, "globalTid": _I, "correlationId": _I, "nameId": _I}

# Table of the file -> the columns that are read of it.
FILE_TABLES: Mapping[str, Mapping[str, str]] = {
    TEXTS: {"id": _I, "value": _T},
    KERNELS: {
        **_ON_DEVICE,
        **dict.fromkeys(("demangledName", "shortName", "mangledName", "graphNodeId", "graphId"), _I),
        **dict.fromkeys(("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread"), _I),
        **dict.fromkeys(("staticSharedMemory", "dynamicSharedMemory"), _I),
    },
    COPIES: {**_ON_DEVICE, **dict.fromkeys(("bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"), _I)},
    FILLS: {**_ON_DEVICE, **dict.fromkeys(("bytes", "memKind", "graphNodeId"), _I)},
    GRAPHS: {**_ON_DEVICE, "graphId": _I, "graphExecId": _I},
    CALLS: _CALL,
    DRIVER_CALLS: _CALL,
    RANGES: {
        **_TIMES, "eventType": _I, "text": _T, "textId": _I, "globalTid": _I, "domainId": _I, "jsonText": _T, "jsonTextId": _I,
        "binaryData": "BLOB",
    },
    GRAPH_NODES: dict.fromkeys(("start", "globalTid", "graphNodeId", "originalGraphNodeId"), _I),
    METRICS: {"timestamp": _I, "typeId": _I, "metricId": _I, "value": _I},
    METRIC_NAMES: {"typeId": _I, "metricId": _I, "metricName": _T},
    ALLOCATIONS: {
        **dict.fromkeys(("start", "globalPid", "deviceId", "streamId", "correlationId"), _I),
        **dict.fromkeys(("address", "bytes", "memKind", "memoryOperationType"), _I),
    },
    CUDA_DEVICES: {"gpuId": _I, "numMultiprocessors": _I},
    DEVICES: {
        "id": _I, "name": _T, "totalMemory": _I, "smCount": _I, "clockRate": _I, "computeMajor": _I
    },
}  # fmt: skip
KNOWN_TABLES = frozenset((
    *FILE_TABLES,
    *(SCHEMAS, ENTRIES),
    *("TARGET_INFO_SESSION_START_TIME", "ANALYSIS_DETAILS", "TARGET_INFO_SYSTEM_ENV"),
    *("META_DATA_EXPORT", "PROCESSES"),
))  # fmt: skip
