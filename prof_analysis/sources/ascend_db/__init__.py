"""The source `ascend_db`: the SQLite database that torch_npu, msprof or MindSpore writes."""

from prof_analysis.sources.ascend_beside.folders import FOLDERS, INNER_FOLDERS, find
from prof_analysis.sources.ascend_beside.identity import identity_of
from prof_analysis.sources.ascend_beside.job import end_of, host_of, job_of, least_ranks_of, usual_files_of
from prof_analysis.sources.ascend_db.inspection import inspect, takes
from prof_analysis.sources.ascend_db.staging import stage
from prof_analysis.sources.ascend_db.tables import RAW_COLUMNS

NAME = "ascend_db"
LABEL = "the profiler database"
RESULTS = (*FOLDERS, "a profiler database")
IS_READ_ONCE = False
DEVICE_KIND = "NPU"

__all__ = [
    "DEVICE_KIND", "INNER_FOLDERS", "IS_READ_ONCE", "LABEL", "NAME", "RAW_COLUMNS", "RESULTS",
    "end_of", "find", "host_of", "identity_of", "inspect", "job_of", "least_ranks_of", "stage", "takes",
    "usual_files_of",
]  # fmt: skip
