"""The columns of CSV files of text exports: where each column of their raw tables stands in the file."""

from collections.abc import Mapping

from prof_analysis.sources.ascend_beside import folders
from prof_analysis.sources.readers.event_tables import ID

_I = "BIGINT"
_T = "VARCHAR"
_D = "DOUBLE"

# Column of raw.kernel_detail -> (type, names in the header, newest first; the last ones are of msprof's op_summary).
DETAILS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "step_id": (_I, ("step id",)),
    "device_id": (_I, ("device_id",)),
    "model_id": (_I, ("model id",)),
    "task_id": (_I, ("task id",)),
    "stream_id": (_I, ("stream id",)),
    "name": (ID, ("name", "op name")),
    "type": (ID, ("type", "op type")),
    "core": (ID, ("accelerator core", "task type")),
    "start_ns": (_I, ("start time(us)", "task start time(us)", "task start time")),
    "duration_ns": (_I, ("duration(us)", "task duration(us)")),
    "block_num": (_I, ("block num", "block dim")),
    "mix_block_num": (_I, ("mix block num", "mix block dim")),
    "input_shapes": (ID, ("input shapes",)),
    "input_types": (ID, ("input data types",)),
    "input_formats": (ID, ("input formats",)),
    "output_shapes": (ID, ("output shapes",)),
    "output_types": (ID, ("output data types",)),
    "output_formats": (ID, ("output formats",)),
    "hf32_eligible": (ID, ("hf32 eligible",)),
    "cube_time_us": (_D, ("aicore_time(us)",)),
    "cube_cycles": (_D, ("aic_total_cycles", "total_cycles")),
    "cube_utilization_percent": (_D, ("cube_utilization(%)",)),
}

# Columns whose cells can have several lines, which match these patterns: lists of tensors, one per line.
_SHAPES, _WORDS = r"[0-9,;\s\"\[\]-]*", r"[A-Za-z0-9_;/\s\"]*"
DETAIL_LINES: Mapping[str, str] = {
    "input_shapes": _SHAPES, "input_types": _WORDS, "input_formats": _WORDS,
    "output_shapes": _SHAPES, "output_types": _WORDS, "output_formats": _WORDS,
}  # fmt: skip

# The same for raw.operator_detail, which is used where there is no trace_view.json.
OPERATORS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "name": (ID, ("name",)),
    "input_shapes": (ID, ("input shapes",)),
    "host_self_ns": (_I, ("host self duration(us)",)),
    "host_total_ns": (_I, ("host total duration(us)",)),
    "device_self_ns": (_I, ("device self duration(us)",)),
    "device_total_ns": (_I, ("device total duration(us)",)),
}

OPERATOR_LINES: Mapping[str, str] = {"input_shapes": r"(?s).*"}

# What these files call KB and MB is KiB and MiB.
BLOCKS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "name": (ID, ("name",)),
    "size_kib": (_D, ("size(kb)",)),
    "allocated_ns": (_I, ("allocation time(us)",)),
    "released_ns": (_I, ("release time(us)",)),
    "reusable_ns": (_I, ("active release time(us)",)),
    "allocated_mib": (_D, ("allocation total allocated(mb)",)),
    "reserved_mib": (_D, ("allocation total reserved(mb)",)),
    "active_mib": (_D, ("allocation total active(mb)",)),
    "released_allocated_mib": (_D, ("release total allocated(mb)",)),
    "released_reserved_mib": (_D, ("release total reserved(mb)",)),
    "released_active_mib": (_D, ("release total active(mb)",)),
    "stream": (_I, ("stream ptr",)),
    "device": (_T, ("device type",)),
}
RECORDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "component": (_T, ("component",)),
    "time_ns": (_I, ("timestamp(us)",)),
    "allocated_mib": (_D, ("total allocated(mb)",)),
    "reserved_mib": (_D, ("total reserved(mb)",)),
    "active_mib": (_D, ("total active(mb)",)),
    "device": (_T, ("device type", "device")),
}
_NO_LINES: Mapping[str, str] = {}

# File -> its raw table, its columns, and those whose cells can have several lines; any other CSV file has kernels.
CSV_FILES = {
    folders.OPERATOR_DETAILS: ("raw.operator_detail", OPERATORS, OPERATOR_LINES),
    folders.OPERATOR_MEMORY: ("raw.memory_block", BLOCKS, _NO_LINES),
    folders.MEMORY_RECORD: ("raw.memory_record", RECORDS, _NO_LINES),
    folders.MODULE_MEMORY: ("raw.module_memory", RECORDS, _NO_LINES),
}
KERNEL_FILE = ("raw.kernel_detail", DETAILS, DETAIL_LINES)
