"""The source `ascend_db`: the SQLite database of the profiler."""

from prof_analysis.sources.ascend_db.staging import IS_READ_ONCE, LABEL, NAME, RAW_COLUMNS, stage

__all__ = ["IS_READ_ONCE", "LABEL", "NAME", "RAW_COLUMNS", "stage"]
