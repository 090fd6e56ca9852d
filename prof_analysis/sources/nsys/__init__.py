"""The source `nsys`: the SQLite database that Nsight Systems exports of a report, with several devices and processes."""

from prof_analysis.sources.nsys.finding import find, takes
from prof_analysis.sources.nsys.inspection import (
    end_of,
    host_of,
    identity_of,
    inspect,
    job_of,
    least_ranks_of,
    usual_files_of,
)
from prof_analysis.sources.nsys.raw_tables import RAW_COLUMNS
from prof_analysis.sources.nsys.staging import stage

NAME = "nsys"
LABEL = "the database of Nsight Systems"
RESULTS = ("a database of Nsight Systems (nsys export --type sqlite)",)
INNER_FOLDERS: tuple[str, ...] = ()
IS_READ_ONCE = False
DEVICE_KIND = "GPU"

__all__ = [
    "DEVICE_KIND", "INNER_FOLDERS", "IS_READ_ONCE", "LABEL", "NAME", "RAW_COLUMNS", "RESULTS",
    "end_of", "find", "host_of", "identity_of", "inspect", "job_of", "least_ranks_of", "stage", "takes",
    "usual_files_of",
]  # fmt: skip
