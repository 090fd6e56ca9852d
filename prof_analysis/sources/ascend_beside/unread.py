"""Files that the profilers write and that no command reads: what they hold, and which files hold the same."""

import re
from pathlib import Path

_TASKS = "kernel_details.csv, op_summary_*.csv or trace_view.json, or a database"
_HOST = "trace_view.json or msprof_*.json, or a database"
# Pattern of names -> what the file holds, and the files to give in its place; "" where there are none.
_FILES: tuple[tuple[str, str, str], ...] = (
    (r"task_time(_.*)?\.(csv|json)", "tasks of the device without names of kernels", _TASKS),
    (r"communication_statistic(_.*)?\.csv", "totals of communication operators by type", f"communication.json, {_TASKS}"),
    (r"(l2_cache|soc_pmu)(_.*)?\.csv", "counters of caches", _TASKS),
    (r"(data_preprocess|aicpu(_mi)?|dp)(_.*)?\.csv", "tasks of data preprocessing on AI CPUs", _TASKS),
    (r"fusion_op(_.*)?\.csv", "which operators were fused", _TASKS),
    (r"(step_trace|iteration_trace)_\d.*\.(csv|json)", "iterations of a model", f"step_trace_time.csv, {_TASKS}"),
    (r"(msproftx|acl|ge|runtime_api|hccl|thread_group|ai_stack_time|ge_op_execute)_\d.*\.(csv|json)",
     "calls on the host", _HOST),
    (r"(npu_mem|npu_op_mem|memory_pool)(_.*)?\.csv", "memory as msprof samples it",
     "operator_memory.csv, memory_record.csv or npu_module_mem.csv, or a database"),
    (r"(hccs|pcie|nic|roce|ub|ddr|hbm|llc_.*|dvpp|qos|acc_pmu|stars_.*|sys_mem|process_mem|cpu_usage|sys_cpu_usage"
     r"|process_cpu_usage|host_.*|os_runtime_statistic|ai_core_utilization|ai_vector_core_utilization|ai_cpu_.*|ctrl_cpu_.*"
     r"|ts_cpu_.*)(_.*)?\.(csv|json)", "samples of hardware or of the host", _TASKS),
    (r"(cluster_analysis|cluster_communication_analyzer)\.db", "figures of communication",
     "analysis.db, or a database of the profiler"),
    (r"prof_rule_.*\.json", "advice of msprof", _TASKS),
)  # fmt: skip


_INPUT = r"minddata_pipeline_.*\.(csv|json)|dataset\.csv"
_SETTINGS = r"profiler_(info(_\d+)?|metadata)\.json"


def why_no_profile(file: Path) -> str | None:
    """Say why a single file is no profile, by its name: none of it is read, or it lies beside what is; None for other files."""
    if re.fullmatch(_SETTINGS, file.name):
        return f"{file}: holds the settings of a recording; give the folder around it"
    if re.fullmatch(_INPUT, file.name):
        return f"{file}: holds what fed the device with data, which step-time shows with its kernels; give the folder around it"
    return why_unread(file)


def why_unread(file: Path) -> str | None:
    """Describe a file that no command reads, by its name, and name the one to give instead; None for other files."""
    for pattern, what, instead in _FILES:
        if re.fullmatch(pattern, file.name):
            return f"{file}: holds {what}, which no command reads; give {instead}"
    return None
