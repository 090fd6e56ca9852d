"""How full a launch makes a GPU: from what its trace has of each kernel, weighted by time, and unknown where it cannot be."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.analyses.answer import Sentences, ShownTable
from prof_analysis.analyses.answers.pmu_stats import pmu_stats
from tests.helpers.frames import arrow_of
from tests.helpers.kineto import kernel, launch, module, op, write_trace
from tests.helpers.says import says


def launched(occupancy: float, blocks: float, warps: float, registers: int, shared: int) -> dict[str, Any]:
    """The counters of a launch."""
    return {
        "est. achieved occupancy %": occupancy,
        "blocks per SM": blocks,
        "warps per SM": warps,
        "registers per thread": registers,
        "shared memory": shared,
    }


TRACE = [
    module("Net_0", 0, 9_000, number=1),
    op("aten::mm", 1_000, 8_000, 1),
    launch(2_000, 3_000, 1, 1),
    launch(4_000, 5_000, 2, 1),
    launch(6_000, 7_000, 3, 1),
    kernel("full", 10_000, 40_000, 1, arguments=launched(100, 135.5, 542, 18, 0)),
    # Kineto cannot tell the occupancy of kernels with much shared memory, and writes 0.
    kernel("gemm", 50_000, 60_000, 2, arguments=launched(0, 1.0, 12, 168, 231_424)),
    # A block on one of 132 multiprocessors: the 0 is a rounded 0.2 %.
    kernel("tiny", 70_000, 80_000, 3, arguments=launched(0, 0.007576, 0.121, 32, 528)),
    kernel("Memcpy HtoD (Pageable -> Device)", 90_000, 95_000, 3, category="gpu_memcpy"),
]
FIGURES = (
    "occupancy", "occupancy_duration_ns", "few_blocks_ns", "blocks_per_sm", "warps_per_sm", "registers_per_thread",
    "shared_memory_bytes", "known_share", "bound", "reason", "aic_duration_ns",
)  # fmt: skip
NO_RATIOS = says("set of counters", "no ratios of pipes")


def test_occupancy_by_type_op_and_module(tmp_path: Path) -> None:
    write_trace(tmp_path / "trace.json", TRACE)
    with open_profile(tmp_path) as profile:
        types = arrow_of(profile.pmu_stats()).to_pylist()
        ops = arrow_of(profile.pmu_stats("op")).to_pylist()
        (of_module,) = arrow_of(profile.pmu_stats("module")).to_pylist()
    by_type = [
        ("full", 1.0, 30_000, 0, 135.5, 542.0, 18.0, 0.0, 1.0, None, NO_RATIOS, 0),
        ("gemm", None, 0, 0, 1.0, 12.0, 168.0, 231_424.0, 1.0, None, NO_RATIOS, 0),
        ("tiny", 0.0, 10_000, 10_000, 0.007576, 0.121, 32.0, 528.0, 1.0, None, NO_RATIOS, 0),
    ]
    assert [(row["type"], *(row[name] for name in FIGURES)) for row in types] == by_type
    assert {row["op_name"] for row in ops} == {"aten::mm"}
    assert [(row["type"], *(row[name] for name in FIGURES)) for row in ops] == by_type
    of_all = [0.75, 40_000, 10_000, 81.501515, 327.6242, 50.8, 46_390.4, 1.0, None, NO_RATIOS, 0]
    assert [of_module[name] for name in FIGURES] == [pytest.approx(one) if isinstance(one, float) else one for one in of_all]


@pytest.mark.slow
def test_the_screen_shows_what_the_trace_has(tmp_path: Path) -> None:
    """Not the bounds of pipes, of which it has nothing, nor cores."""
    write_trace(tmp_path / "trace.json", TRACE)
    with open_profile(tmp_path) as profile:
        _, (table, sentences) = pmu_stats(profile, 10)
    assert isinstance(table, ShownTable)
    assert isinstance(sentences, Sentences)
    assert [column.header for column in table.columns] == [
        "type", "kernel time", "occupancy", "too few blocks", "blocks per SM", "warps per SM", "registers",
        "shared memory", "with counters", "kind",
    ]  # fmt: skip
    assert table.rows[2] == ("tiny", 10_000, 0.0, 1.0, 0.007576, 0.121, 32.0, 528.0, 1.0, "compute")
    assert sentences.lines == (
        says(
            "mean occupancy 75.0%", "known for 80.0%", "20.0% of the time in kernels with fewer blocks than SMs",
            "100.0% of the kernel time has counters", "1 rank",
        ),
    )  # fmt: skip
