"""The source `ascend_text`: the files that torch_npu writes with ExportType.Text."""

from prof_analysis.sources.ascend_beside.folders import FOLDERS, INNER_FOLDERS, find
from prof_analysis.sources.ascend_beside.identity import identity_of
from prof_analysis.sources.ascend_beside.job import end_of, host_of, job_of, least_ranks_of, usual_files_of
from prof_analysis.sources.ascend_text.inspection import inspect, takes
from prof_analysis.sources.ascend_text.staging import RAW_COLUMNS, stage

NAME = "ascend_text"
LABEL = "the text exports"
RESULTS = (*FOLDERS, "trace_view.json (also .gz)", "kernel_details.csv")
IS_READ_ONCE = True
DEVICE_KIND = "NPU"

__all__ = [
    "DEVICE_KIND", "INNER_FOLDERS", "IS_READ_ONCE", "LABEL", "NAME", "RAW_COLUMNS", "RESULTS",
    "end_of", "find", "host_of", "identity_of", "inspect", "job_of", "least_ranks_of", "stage", "takes",
    "usual_files_of",
]  # fmt: skip
