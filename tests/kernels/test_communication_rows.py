"""kernel_details.csv of a graph has an operator twice, as such and as its kernels on a stream: its time counts once."""

from pathlib import Path

import pytest

from prof_analysis import compare, open_profile

HEAD = "Device_id,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us)"
COMPUTE = "0,1,2,MatMul1,MatMulV3,AI_CORE,100.000,30.000"
# One operator of one kernel, one of two, and one whose own row is missing.
OPERATORS = [
    "0,N/A,N/A,hcom_allReduce__360_1_21,hcom_allReduce_,COMMUNICATION,200.000,20.000",
    "0,N/A,N/A,hcom_allGather__360_2_21,hcom_allGather_,COMMUNICATION,300.000,90.000",
]
KERNELS = [
    "0,2,215,AivKernel,hcom_allReduce_,COMMUNICATION,200.000,20.000",
    "0,3,215,AivKernel,hcom_allGather_,COMMUNICATION,300.000,40.000",
    "0,4,215,AivKernel,hcom_allGather_,COMMUNICATION,350.000,40.000",
    "0,5,216,AivKernel,hcom_allGather_,COMMUNICATION,500.000,15.000",
]


def write(folder: Path, rows: list[str]) -> Path:
    folder.mkdir(parents=True)
    (folder / "kernel_details.csv").write_text("\n".join([HEAD, COMPUTE, *rows, ""]))
    return folder


def times(folder: Path) -> list[tuple[object, ...]]:
    with open_profile(folder) as profile:
        found = profile.rows("SELECT kind, type, kernel_count, total_ns FROM kernels.statistic ORDER BY ALL")
    return [tuple(row.values()) for row in found]


@pytest.mark.slow
def test_an_operator_counts_once_with_or_without_a_row_of_its_own(tmp_path: Path) -> None:
    both = times(write(tmp_path / "both", [*OPERATORS, *KERNELS]))
    assert both == [
        ("communication", "hcom_allGather_", 2, 105_000),
        ("communication", "hcom_allReduce_", 1, 20_000),
        ("compute", "MatMulV3", 1, 30_000),
        ("schedule", "hcom_allGather_", 2, 80_000),
        ("schedule", "hcom_allReduce_", 1, 20_000),
    ]
    # Without the rows of operators, what their kernels show is all that is known of them.
    assert times(write(tmp_path / "kernels", KERNELS)) == [
        ("communication", "hcom_allGather_", 3, 95_000),
        ("communication", "hcom_allReduce_", 1, 20_000),
        ("compute", "MatMulV3", 1, 30_000),
    ]


@pytest.mark.slow
def test_a_comparison_counts_an_operator_once(tmp_path: Path) -> None:
    base, new = (write(tmp_path / name, [*OPERATORS, *KERNELS]) for name in ("base", "new"))
    with compare(base, new) as comparison:
        (total,) = comparison.rows("SELECT sum_ns, kernel_count FROM runs.comparison_total WHERE side = 'base'")
        kinds = comparison.rows(
            "SELECT kind, sum(base_sum_ns)::BIGINT AS ns FROM runs.kernel_comparison GROUP BY kind ORDER BY ALL"
        )
    assert total == {"sum_ns": 155_000, "kernel_count": 4}
    assert [tuple(row.values()) for row in kinds] == [("communication", 125_000), ("compute", 30_000)]
