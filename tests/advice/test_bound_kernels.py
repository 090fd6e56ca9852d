"""Kernels that moving data binds, and kernels that nothing keeps busy, by their counters."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

RATIOS = ("aiv_vec_ratio", "aiv_scalar_ratio", "aiv_mte2_ratio", "aiv_mte3_ratio")


def counted(name: str, start: int, end: int, *ratios: float, inputs: str = "1024,512") -> Kernel:
    """A vector kernel with the ratios of its pipes."""
    pmu = dict(zip(RATIOS, ratios, strict=True))
    return Kernel(name, start, end, core="AI_VECTOR_CORE", type=name, pmu=pmu, inputs=inputs, outputs=inputs, types="FLOAT16")


def matmul(start: int, inputs: str, outputs: str, pmu: dict[str, float]) -> Kernel:
    types = "FLOAT16;FLOAT16"
    name = "MatMulV3"
    return Kernel(name, start, start + 100_000, type=name, inputs=inputs, outputs=outputs, types=types, pmu=pmu)


KERNELS = (
    # 2 MiB in 1 us are the best rate; this takes 100 us for the same, and computes for 20.
    counted("Mul", 1000, 2000, 0.5, 0.1, 0.4, 0.3),
    counted("Add", 10_000, 110_000, 0.2, 0.1, 0.9, 0.3),
    # The same, but its size is not known.
    counted("Sort", 200_000, 300_000, 0.2, 0.1, 0.3, 0.85, inputs="?"),
    # Nothing is busy.
    counted("TopK", 400_000, 440_000, 0.25, 0.5, 0.1, 0.1),
    # Nothing is busy, for less than 20 us.
    counted("Less", 500_000, 510_000, 0.1, 0.1, 0.1, 0.1),
    # Computing binds it.
    counted("Exp", 600_000, 700_000, 0.95, 0.1, 0.5, 0.1),
)


def test_what_keeps_kernels_busy(tmp_path: Path) -> None:
    write_profile(tmp_path / "0_ascend_pt", [Op("aten::op", 100, 200, KERNELS)], [Range("Net", 50, 300)])
    with open_profile(tmp_path) as profile:
        busiest = profile.rows("SELECT * EXCLUDE (profile, rank_id, module, op_name) FROM pmu.busiest ORDER BY type")
        rules = ("memory_bound", "no_bound")
        columns = "rank_id, module, op, kernel_type, evidence, count, time_ns, win_ns, kind"
        found = [row for rule in rules for row in profile.rows(f"SELECT {columns} FROM advice.{rule}")]
    assert [tuple(row.values()) for row in busiest] == [
        ("Add", "memory", 90, 1, 100_000, 100_000, 100_000, 90_000, 20_000, 100_000, 20_000),
        ("Exp", "compute", 95, 1, 100_000, 100_000, 100_000, 95_000, 50_000, 100_000, 95_000),
        ("Less", "compute", 10, 1, 10_000, 10_000, 10_000, 1000, 1000, 10_000, 1000),
        ("Mul", "compute", 50, 1, 1000, 1000, 1000, 500, 400, 1000, 1000),
        ("Sort", "memory", 85, 1, 100_000, 100_000, 100_000, 85_000, 20_000, 0, None),
        ("TopK", "scalar", 50, 1, 40_000, 40_000, 40_000, 20_000, 10_000, 40_000, 10_000),
    ]
    figures = {row["kernel_type"]: (row["count"], row["time_ns"], row["win_ns"], row["kind"]) for row in found}
    assert figures == {
        "Add": (1, 100_000, 80_000, "upper bound"),
        "Sort": (1, 100_000, None, "hint"),
        "TopK": (1, 40_000, 20_000, "upper bound"),
    }
    assert {(row["rank_id"], row["module"], row["op"]) for row in found} == {(0, "Net", "aten::op")}
    said = {row["kernel_type"]: row["evidence"] for row in found}
    for kernel, shown in (("Add", ("90.0%", "20.0 us")), ("Sort", ("85.0%", "not known")), ("TopK", ("scalar", "50.0%"))):
        assert all(figure in said[kernel] for figure in shown), said[kernel]


@pytest.mark.slow
def test_a_matmul_that_another_rule_explains_is_no_finding_of_the_counters(tmp_path: Path) -> None:
    """Both take 100 us and keep nothing busy for long; that of 1 row is known to be slow for what it computes."""
    pmu = {"aic_mac_ratio": 0.3, "aic_mte2_ratio": 0.5}
    at = {"row": (1000, "1,1024;1024,1024", "1,1024"), "square": (200_000, "1024,1024;1024,1024", "1024,1024")}
    ops = [
        Op(f"aten::{name}", 100 + n, 101 + n, (matmul(start, inputs, outputs, pmu),))
        for n, (name, (start, inputs, outputs)) in enumerate(at.items())
    ]
    write_profile(tmp_path / "0_ascend_pt", ops)
    with open_profile(tmp_path, peak_tflops={"fp16": 30}) as profile:
        rules = ("no_bound", "slow_matmul")
        found = profile.rows(f"SELECT rule, op FROM advice.finding_of_rank WHERE rule IN {rules} ORDER BY ALL")
    assert [tuple(row.values()) for row in found] == [("no_bound", "aten::square"), ("slow_matmul", "aten::row")]


@pytest.mark.slow
def test_kernels_whose_cores_wait_for_each_other_are_named_so(tmp_path: Path) -> None:
    """A sort of 100 us, in which a core works for 10 us on average: the last steps of it run on few."""
    ratios = dict(zip(RATIOS, (0.5, 0.3, 0.1, 0.1), strict=True))
    kernels = tuple(
        Kernel(name, start, start + 100_000, core="AI_VECTOR_CORE", type=name, pmu={**ratios, "aiv_total_time": time})
        for name, start, time in (("Sort", 10_000, 10_000), ("Even", 200_000, 99_000))
    )
    write_profile(tmp_path / "0_ascend_pt", [Op("aten::op", 100, 200, kernels)])
    with open_profile(tmp_path) as profile:
        rows = profile.rows("SELECT kernel_type, evidence, win_ns, what_to_do FROM advice.no_bound ORDER BY kernel_type")
    even, sort = rows
    assert even["evidence"] == says("busiest part", "(computing)", "49.0%", "100.0 us")
    assert "waits for others" not in even["evidence"]
    assert (sort["evidence"], sort["win_ns"]) == (
        says("busiest part", "(computing)", "5.0%", "100.0 us", "10.0%", "waits for others"),
        95_000,
    )
    assert "even out the blocks" in sort["what_to_do"]
    assert "even out the blocks" not in even["what_to_do"]
