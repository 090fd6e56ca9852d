"""The tables and columns that are read from a profiler database, the keys of rows, and the reasons for missing tables.

Only known tables and columns are read. A column that a version lacks is staged as NULL, a table that it lacks without rows; a
renamed column gets its present name.
"""

from collections.abc import Container, Mapping

from prof_analysis.engine.tables import ROW_ID
from prof_analysis.sources.ascend_beside import device_info, recorded, replays
from prof_analysis.sources.readers.bounds import Timed

_I = "BIGINT"
_T = "VARCHAR"
_D = "DOUBLE"

_CALL = {ROW_ID: _I, "startNs": _I, "endNs": _I, "globalTid": _I}

# DuckDB name -> (SQLite name, columns and their types). row_id is not read, DuckDB numbers the rows. PYTORCH_API holds several
# kinds of calls, which OP_ROWS, PYTHON_ROWS and NAMED_ROWS separate. The ops come first: a thread that began the longest table
# last would work on it alone.
TABLES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "raw.framework_op": (
        "PYTORCH_API",
        {**_CALL, "connectionId": _I, "name": _I, "sequenceNumber": _I, "fwdThreadId": _I, "inputDtypes": _I,
         "inputShapes": _I, "callchainId": _I},
    ),
    "raw.callchain": ("PYTORCH_CALLCHAINS", {"id": _I, "stack": _I, "stackDepth": _I}),
    "raw.chain": ("PYTORCH_CALLCHAINS", {"id": _I, "first_id": _I}),
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
         "taskId": _I, "modelId": _I, "taskType": _I, "contextId": _I},
    ),
    "raw.memcpy_info": ("MEMCPY_INFO", {"globalTaskId": _I, "size": _I, "memcpyOperation": _I}),
    "raw.enum_memcpy_operation": ("ENUM_MEMCPY_OPERATION", {"id": _I, "name": _T}),
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
         "groupName": _I, "opId": _I, "algType": _I, "dataType": _I, "count": _I, "rankSize": _I},
    ),
    "raw.communication_task_info": (
        "COMMUNICATION_TASK_INFO",
        {"globalTaskId": _I, "opId": _I, "taskType": _I, "planeId": _I, "isMaster": _I, "transportType": _I, "linkType": _I,
         "srcRank": _I, "dstRank": _I, "size": _I},
    ),
    "raw.enum_data_type": ("ENUM_HCCL_DATA_TYPE", {"id": _I, "name": _T}),
    "raw.enum_link": ("ENUM_HCCL_LINK_TYPE", {"id": _I, "name": _T}),
    "raw.enum_transport": ("ENUM_HCCL_TRANSPORT_TYPE", {"id": _I, "name": _T}),
    "raw.npu_info": ("NPU_INFO", {"id": _I, "name": _T}),
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
    "raw.op_memory": (
        "OP_MEMORY",
        {ROW_ID: _I, "name": _I, "size": _I, "allocationTime": _I, "releaseTime": _I, "activeReleaseTime": _I,
         "allocationTotalActive": _I, "streamPtr": _I, "deviceId": _I},
    ),
    "raw.memory_record": (
        "MEMORY_RECORD",
        {ROW_ID: _I, "component": _I, "timestamp": _I, "totalAllocated": _I, "totalReserved": _I, "totalActive": _I,
         "deviceId": _I},
    ),
    "raw.npu_op_mem": (
        "NPU_OP_MEM",
        {ROW_ID: _I, "operatorName": _I, "addr": _I, "type": _I, "size": _I, "timestampNs": _I, "globalTid": _I,
         "totalAllocate": _I, "totalReserve": _I, "component": _I, "deviceId": _I},
    ),
    "raw.npu_mem": ("NPU_MEM", {ROW_ID: _I, "type": _I, "ddr": _I, "hbm": _I, "timestampNs": _I, "deviceId": _I}),
    "raw.npu_module_mem": (
        "NPU_MODULE_MEM",
        {ROW_ID: _I, "moduleId": _I, "timestampNs": _I, "totalReserved": _I, "deviceId": _I},
    ),
    "raw.enum_module": ("ENUM_MODULE", {"id": _I, "name": _T}),
}  # fmt: skip

# The raw tables of some rows of PYTORCH_API, of which with a task queue 3.0 of 5.2 million are ops; others by their names.
OP_ROWS = "raw.framework_op"
PYTHON_ROWS = "raw.python_call"
# A module call, what PyTorch does first in each of them, and the function of PyTorch that does the same.
NAMED_ROWS: Mapping[str, tuple[str, ...]] = {
    "raw.module_call": ("nn.Module: *", "<built-in*_get_tracing_state*", "*torch/_tensor.py(*): __len__"),
    "raw.enqueue": ("Enqueue*",),
    "raw.dequeue": ("Dequeue*",),
    "raw.dequeue_thread": ("Dequeue*",),
}
ONCE_EACH = "raw.dequeue_thread"
# Of PYTORCH_CALLCHAINS: for each chain the first one with its frames, and the frames of these.
CHAINS = "raw.chain"
FRAMES = "raw.callchain"

_CALL_KEY = ("startNs", "endNs", "globalTid", "name")

# The keys of rows. A task can be executed more than once, but not twice at the same time; of two descriptions of a task, the
# first takes precedence. A column that the file declares unique is not checked.
KEYS: Mapping[str, tuple[str, ...]] = {
    "raw.framework_op": (*_CALL_KEY, "connectionId"),
    "raw.module_call": _CALL_KEY,
    "raw.python_call": _CALL_KEY,
    "raw.callchain": ("id", "stackDepth"),
    "raw.enqueue": ("startNs", "endNs", "globalTid", "connectionId"),
    "raw.dequeue": ("startNs", "endNs", "globalTid", "connectionId"),
    "raw.task": ("startNs", "globalTaskId"),
    "raw.compute_task_info": ("globalTaskId",),
    "raw.communication_schedule_task_info": ("globalTaskId",),
    "raw.memcpy_info": ("globalTaskId",),
    "raw.communication_task_info": ("globalTaskId", "opId"),
    "raw.communication_op": ("startNs", "endNs", "opName", "connectionId", "deviceId"),
    "raw.mstx_events": ("endNs", "startNs", "eventType", "globalTid", "message", "connectionId"),
    "raw.cann_api": ("startNs", "endNs", "globalTid", "connectionId"),
    "raw.gc_record": ("startNs", "endNs", "globalTid"),
    "raw.overlap_analysis": ("startNs", "endNs", "type", "deviceId"),
    "raw.step_time": ("id", "startNs", "endNs"),
    "raw.task_pmu_info": ("globalTaskId", "name", "value"),
    "raw.op_memory": ("allocationTime", "size", "name", "releaseTime", "deviceId"),
}
COUNTERS = "raw.task_pmu_info"
# Columns in which each value links only a few rows, so the same value in more than FEW_LINKS rows, all there are, is damage.
LINKS: Mapping[str, tuple[str, ...]] = {
    "raw.connection_ids": ("id", "connectionId"),
    "raw.framework_op": ("connectionId",),
    "raw.enqueue": ("connectionId",),
    "raw.dequeue": ("connectionId",),
}
FEW_LINKS = 10
# Of a task that both describe, the first one takes precedence.
DESCRIPTIONS = ("raw.compute_task_info", "raw.communication_schedule_task_info")

RAW_COLUMNS: Mapping[str, Mapping[str, str]] = {
    **{name: columns for name, (_, columns) in TABLES.items()},
    device_info.TABLE: device_info.COLUMNS,
    **{name: columns for name, columns in recorded.COLUMNS.items() if name not in TABLES},
    **replays.COLUMNS,
}

KNOWN_TABLES = frozenset(table for table, _ in TABLES.values()) | {"RANK_DEVICE_MAP", "NPU_INFO", "SESSION_TIME_INFO"}
MEMORY_TABLES = ("OP_MEMORY", "MEMORY_RECORD", "NPU_OP_MEM", "NPU_MEM", "NPU_MODULE_MEM")
KERNEL_TABLES = ("COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_SCHEDULE_TASK_INFO")

# The times of rows by the clocks of host and device; where a database holds several devices, of the rank's own.
_CALL_TIMES = Timed("startNs", "endNs")
_DEVICE_TIMES = Timed(
    "startNs",
    "endNs",
    "(getvariable('device_id') IS NULL OR coalesce(deviceId, getvariable('first_device_id')) = getvariable('device_id'))",
)
CLOCKS: Mapping[str, Mapping[str, Timed]] = {
    "host": {
        **dict.fromkeys(
            (OP_ROWS, "raw.module_call", PYTHON_ROWS, "raw.enqueue", "raw.dequeue", "raw.mstx_events", "raw.cann_api",
             "raw.gc_record", "raw.step_time"),
            _CALL_TIMES,
        ),
        "raw.op_memory": Timed("allocationTime", "coalesce(releaseTime, allocationTime)"),
        "raw.memory_record": Timed("timestamp", "timestamp"),
    },
    "device": dict.fromkeys(("raw.task", "raw.communication_op", "raw.overlap_analysis"), _DEVICE_TIMES),
}  # fmt: skip

# Columns that hold an id into STRING_IDS.
TEXT_REFERENCES = frozenset(
    ("name", "inputDtypes", "inputShapes", "taskType", "opType", "inputFormats", "inputDataTypes", "outputFormats",
     "outputDataTypes", "outputShapes", "hf32Eligible", "opName", "message", "domainId", "groupName", "algType",
     "operatorName", "component", "stack")
)  # fmt: skip

NAMES = frozenset(("name", "opName", "message", "domainId", "operatorName"))

# Present name -> name before 2026.
FORMER_NAMES = {"blockNum": "blockdim", "mixBlockNum": "mixblockdim"}


def gaps(tables: Container[str]) -> list[str]:
    """Name the data that a database with these tables lacks, and the reasons."""
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
