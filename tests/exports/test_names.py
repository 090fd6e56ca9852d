"""What tables and columns are called in exports follows one rule from their names in the engine."""

import pytest

from prof_analysis.exports.names import camel_case, file_name, header


@pytest.mark.parametrize(
    ("column", "in_database", "in_sheet"),
    [
        ("module", "module", "Module"),
        ("total_kernel_duration_ns", "totalKernelDuration(ns)", "Total kernel duration (ns)"),
        ("kernel_duration_share", "kernelDurationShare", "Kernel duration share"),
        ("p95_ns", "p95(ns)", "P95 (ns)"),
        ("win_ns_per_step", "winPerStep(ns)", "Win per step (ns)"),
        ("mean_tflops", "meanTFLOPS", "Mean TFLOPS"),
        ("columns", "columns", "Columns"),
    ],
)
def test_a_column_in_exports(column: str, in_database: str, in_sheet: str) -> None:
    assert (camel_case(column), header(column)) == (in_database, in_sheet)


def test_a_file_is_named_after_its_table() -> None:
    assert file_name("KernelStatisticAllRanks") == "kernel_statistic_all_ranks"
