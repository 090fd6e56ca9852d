"""The source `memory_snapshot`: what the allocator of PyTorch held, and its history, as `_dump_snapshot` writes them."""

from typing import TYPE_CHECKING, Any

from prof_analysis.sources.memory_snapshot.inspection import (
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

if TYPE_CHECKING:
    from prof_analysis.sources.memory_snapshot.staging import RAW_COLUMNS, stage

NAME = "memory_snapshot"
LABEL = "a memory snapshot of PyTorch"
RESULTS = ("a memory snapshot of PyTorch (*.pickle)",)
INNER_FOLDERS: tuple[str, ...] = ()
IS_READ_ONCE = True
DEVICE_KIND = None

__all__ = [
    "DEVICE_KIND", "INNER_FOLDERS", "IS_READ_ONCE", "LABEL", "NAME", "RAW_COLUMNS", "RESULTS",
    "end_of", "find", "host_of", "identity_of", "inspect", "job_of", "least_ranks_of", "stage", "takes",
    "usual_files_of",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what stages on first use: its raw tables follow from the heads of many tables, and few profiles have snapshots."""
    if name not in ("RAW_COLUMNS", "stage"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from prof_analysis.sources.memory_snapshot import staging

    return getattr(staging, name)
