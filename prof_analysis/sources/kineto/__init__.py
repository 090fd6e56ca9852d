"""The source `kineto`: the trace that torch.profiler writes on GPUs of NVIDIA and AMD, one JSON file a rank."""

from prof_analysis.sources.kineto.inspection import (
    end_of,
    find,
    host_of,
    identity_of,
    inspect,
    job_of,
    least_ranks_of,
    takes,
    usual_files_of,
)
from prof_analysis.sources.kineto.staging import RAW_COLUMNS, stage

NAME = "kineto"
LABEL = "the trace of torch.profiler"
RESULTS = ("a trace of torch.profiler on a GPU (*.json, also .gz)",)
INNER_FOLDERS: tuple[str, ...] = ()
IS_READ_ONCE = True
DEVICE_KIND = "GPU"

__all__ = [
    "DEVICE_KIND", "INNER_FOLDERS", "IS_READ_ONCE", "LABEL", "NAME", "RAW_COLUMNS", "RESULTS",
    "end_of", "find", "host_of", "identity_of", "inspect", "job_of", "least_ranks_of", "stage", "takes",
    "usual_files_of",
]  # fmt: skip
