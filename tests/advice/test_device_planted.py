"""Rules of the device on generated runs: what was planted is found with its time, and without it the rules are silent."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.clock import CLOCK_MHZ
from fixtures.defects import CASTS, COPIED, FEW_CORES, FORMAT, FULL, MODULE, ON_CPU, planted
from fixtures.generate import generate
from fixtures.recipes_of_devices import clock_kernel_type
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from fixtures.trace import Rank, make_rank
from prof_analysis import open_profile
from tests.helpers.says import says

# The host runs ahead, so each kernel counts with all its time.
PLAIN = Shape(steps=2, layers=1, paced=False, communication=False, schedule_kernels=False, unlinked_kernels=0)
WASTEFUL = replace(PLAIN, wasteful=True, clock_low=1200)
RULES = ("ai_cpu", "block_dim", "cube_idle", "format_conversion", "full_precision", "hf32_off", "low_clock")
Row = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """What the rules found in a run, and its ranks as the generator has them."""

    rows: list[Row]
    ranks: list[Rank]


def run_of(folder: Path, shape: Shape, form: str) -> Run:
    generate(folder, shape, ranks=2, style=TextStyle(exports="text" if form == "text" else "db"))
    found = " UNION ALL BY NAME ".join(f"SELECT '{rule}' AS rule, * FROM advice.{rule}" for rule in RULES)
    with open_profile(folder) as profile:
        rows = profile.rows(f"{found} ORDER BY ALL")
    return Run(rows, [make_rank(replace(shape, world=2), number, 0) for number in range(2)])


@pytest.fixture(scope="module", params=["db", pytest.param("text", marks=pytest.mark.slow)])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield run_of(tmp_path_factory.mktemp("wasteful"), WASTEFUL, request.param)


TITLES = {
    ON_CPU: says("on CPUs of the device"),
    FEW_CORES: says("cores of the device without work"),
    FULL: says("Matrices are multiplied in FP32", "half precision"),
    CASTS: says("Data types", "there and back"),
    FORMAT: says("converted between formats"),
    COPIED: says("Tensors are copied"),
}
NO_HF32 = says("FP32 matrices are not multiplied", "faster type")


@pytest.mark.slow
def test_what_is_planted_is_found_with_its_time(run: Run) -> None:
    columns = ("rank_id", "rule", "title", "op", "kernel_type", "count", "time_ns", "win_ns", "kind")
    found = [tuple(row[name] for name in columns) for row in run.rows if row["module"] == MODULE]
    expected: list[tuple[Any, ...]] = []
    for rank in run.ranks:
        cost = planted(rank)
        cpu, few, full = (cost[kind] for kind in (ON_CPU, FEW_CORES, FULL))
        # A core does 8,192 operations in a cycle in BF16, 4,096 in HF32 and 2,048 in FP32.
        quarter, half = (full.duration_ns - full.duration_ns // times for times in (4, 2))
        of_rank = [
            ("ai_cpu", TITLES[ON_CPU], "aclnnNonzero", "NonZero", cpu.count, cpu.duration_ns, cpu.duration_ns),
            ("block_dim", TITLES[FEW_CORES], "aclnnBmm", "BatchMatMulV2", few.count, few.idle_ns, few.idle_ns),
            ("full_precision", TITLES[FULL], "aclnnMatmul", "MatMulV2", full.count, full.duration_ns, quarter),
            ("hf32_off", NO_HF32, "aclnnMatmul", "MatMulV2", full.count, full.duration_ns, half),
        ]
        conversions = [
            ("format_conversion", TITLES[kind], None, None, cost[kind].count, cost[kind].duration_ns, cost[kind].duration_ns)
            for kind in (CASTS, FORMAT, COPIED)
        ]
        expected += [(rank.rank, *row, "upper bound") for row in (*of_rank, *conversions)]
    assert sorted(found, key=without_title) == sorted(expected, key=without_title)


def without_title(row: tuple[Any, ...]) -> str:
    """What sorts rows whose titles are known by some of their words."""
    return str((*row[:2], *row[3:]))


def test_a_low_clock_costs_at_most_what_the_cycles_say(run: Run) -> None:
    found = [(row["rank_id"], row["count"], row["time_ns"], row["win_ns"]) for row in run.rows if row["rule"] == "low_clock"]
    expected = []
    for rank in run.ranks:
        # By type: rank, type, kernels, time, clock, kernels below the rated clock, time lost. A CPU has a clock of its own.
        types = [row for row in clock_kernel_type(rank) if row[1] != "NonZero"]
        lost = sum(row[6] for row in types)
        expected.append((rank.rank, sum(row[5] for row in types), lost, lost))
        assert lost > 0
    assert found == expected
    assert all(f"instead of {CLOCK_MHZ} MHz" in row["evidence"] for row in run.rows if row["rule"] == "low_clock")


@pytest.mark.slow
def test_without_what_is_planted_the_rules_are_silent(tmp_path: Path) -> None:
    """But for what every generated run has: attention on 20 of 24 cores, and vector kernels that nothing runs beside."""
    rows = run_of(tmp_path, PLAIN, "db").rows
    found = {(row["rule"], row["module"] == MODULE, row["kernel_type"]) for row in rows}
    attention = {("block_dim", False, kernel_type) for kernel_type in ("FlashAttentionScore", "FlashAttentionScoreGrad")}
    assert found == {*attention, ("cube_idle", False, None)}


@pytest.mark.slow
def test_where_the_device_waits_for_the_host_nothing_is_won(tmp_path: Path) -> None:
    rows = run_of(tmp_path, replace(WASTEFUL, paced=True, clock_low=0), "db").rows
    waiting = [row for row in rows if row["module"] == MODULE]
    assert len(waiting) == 2 * 7
    for row in waiting:
        assert row["win_ns"] < row["time_ns"]
        assert "waits for the host" in row["evidence"]
