"""The source `ascend_text`: the files that torch_npu writes with ExportType.Text."""

from prof_analysis.sources.ascend_text.staging import IS_READ_ONCE, LABEL, NAME, RAW_COLUMNS, stage

__all__ = ["IS_READ_ONCE", "LABEL", "NAME", "RAW_COLUMNS", "stage"]
