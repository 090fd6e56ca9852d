"""MFU by op, module and rank: sums over sums, what is left out, avgMFU of ModuleStatistic, exports and the command."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import InputError, open_profile
from prof_analysis.analyses.answering import answer_of
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Matmul, Op, Range, write_chip, write_profile

MATMUL: dict[str, Any] = {"inputs": "64,32;32,48", "outputs": "64,48"}
FLOPS = 2 * 64 * 32 * 48
PEAK_PER_US = 24 * 1800 * 8192


def write_two_layers(folder: Path) -> None:
    """Net holds two Layers, each with a matmul after a cast, and between them an attention that no shape tells of."""
    attention = Matmul(
        "fa", 500, 900, type="FlashAttentionScore", core="MIX_AIC", types="FLOAT16;FLOAT16;FLOAT16", inputs="64,32;64,32;64,32"
    )
    cast: dict[str, Any] = {"type": "Cast", "core": "AI_VECTOR_CORE"}
    ops = [
        Op("aten::linear", 110, 120, (Matmul("cast", 200, 240, **cast), Matmul("mm", 240, 340, **MATMUL))),
        Op("npu::fa", 160, 170, (attention,)),
        Op("aten::linear", 210, 220, (Matmul("cast", 1000, 1040, **cast), Matmul("mm", 1040, 1090, **MATMUL))),
        Op("aten::mm", 310, 320, (Matmul("outside", 1200, 1300, **MATMUL),)),
    ]
    write_profile(folder, ops, [Range("Net", 100, 300), Range("Layer", 105, 150), Range("Layer", 205, 250)])
    write_chip(folder)


def share(flops: int, duration_ns: int) -> float:
    return flops * 1000 / (PEAK_PER_US * duration_ns)


@pytest.mark.slow
def test_roll_ups_are_sums_over_sums_and_show_what_is_left_out(tmp_path: Path) -> None:
    write_two_layers(tmp_path)
    with open_profile(tmp_path) as profile:
        modules, ranks, ops = (arrow_of(profile.mfu(level)).to_pylist() for level in ("module", "rank", "op"))
    net: dict[str, Any] = {
        "profile": tmp_path.name,
        "rank_id": 0,
        "parent_module": "",
        "module": "Net",
        "depth": 1,
        "mfu": pytest.approx(share(2 * FLOPS, 1100), rel=0.001),
        "efficiency": pytest.approx(share(2 * FLOPS, 150)),
        "known_flops": 2 * FLOPS,
        "possible_flops": PEAK_PER_US * 150 // 1000,
        "flops": 2 * FLOPS,
        "achieved_tflops": pytest.approx(2 * FLOPS / 150 / 1000),
        "peak_tflops": pytest.approx(353.8944),
        "efficiency_at_measured_clock": None,
        "at_peak_ps": 2 * FLOPS * 10**6 // PEAK_PER_US,
        "elapsed_ns": 1100,
        "duration_ns": 630,
        "cube_duration_ns": 550,
        "flops_duration_ns": 150,
        "known_duration_ns": 150,
        "known_share": pytest.approx(150 / 630),
        "cube_known_share": pytest.approx(150 / 550),
        "mac_duration_ns": 0,
        "mac_ratio": None,
        "kernel_count": 5,
        "flops_sources": "shapes",
        "peaks": "fp16 353.9 TFLOPS (info.json.0: 24 cores x 1800 MHz x 8192)",
        "reasons": says("shapes do not fit"),
    }
    layers = {
        **net,
        "parent_module": "Net",
        "module": "Layer",
        "depth": 2,
        "duration_ns": 230,
        "cube_duration_ns": 150,
        "known_share": pytest.approx(150 / 230),
        "cube_known_share": 1.0,
        "mac_duration_ns": 0,
        "mac_ratio": None,
        "kernel_count": 4,
        "reasons": None,
    }
    assert modules == [net, layers]
    everything = {
        **{name: value for name, value in net.items() if name not in ("parent_module", "module", "depth")},
        "mfu": pytest.approx(share(3 * FLOPS, 1100), rel=0.001),
        "efficiency": pytest.approx(share(3 * FLOPS, 250)),
        "at_peak_ps": 2 * FLOPS * 10**6 // PEAK_PER_US + FLOPS * 10**6 // PEAK_PER_US,
        "known_flops": 3 * FLOPS,
        "possible_flops": PEAK_PER_US * 250 // 1000,
        "flops": 3 * FLOPS,
        "achieved_tflops": pytest.approx(3 * FLOPS / 250 / 1000),
        "duration_ns": 730,
        "cube_duration_ns": 650,
        "flops_duration_ns": 250,
        "known_duration_ns": 250,
        "known_share": pytest.approx(250 / 730),
        "cube_known_share": pytest.approx(250 / 650),
        "mac_duration_ns": 0,
        "mac_ratio": None,
        "kernel_count": 6,
    }
    assert ranks == [everything]
    assert [(row["op_name"], row["type"], row["input_shapes"], row["efficiency"], row["kernel_count"]) for row in ops] == [
        ("npu::fa", "FlashAttentionScore", '"64,32;64,32;64,32"', None, 1),
        ("aten::linear", "MatMulV3", '"64,32;32,48"', pytest.approx(share(2 * FLOPS, 150)), 2),
        ("aten::mm", "MatMulV3", '"64,32;32,48"', pytest.approx(share(FLOPS, 100)), 1),
    ]


@pytest.mark.slow
def test_avg_mfu_is_the_mean_of_ratios_and_only_there_with_a_value(tmp_path: Path) -> None:
    write_two_layers(tmp_path / "a_ascend_pt")
    mean = f"{round((share(FLOPS, 100) + share(FLOPS, 50)) / 2 * 100, 2)}%"
    with open_profile(tmp_path) as profile:
        assert profile.module_stats()["avg_mfu"].fillna("").tolist() == [mean, ""]
        assert profile.table("mfu.module_mfu")["avg_mfu"].tolist() == [mean, ""]
        (written,) = profile.export(tmp_path)
    with closing(sqlite3.connect(written)) as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(ModuleStatistic)")]
    assert columns[-3:] == ["opCount", "avgMFU", "rankID"]


@pytest.mark.slow
def test_the_command_writes_the_tables_and_prints_the_peak(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_two_layers(tmp_path / "a_ascend_pt")
    result = command("mfu", "-d", tmp_path, "--by", "op", "--peak_tflops", "fp16=376", "--export_type", "db")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("MFU "))
    without = says("without FLOPs", "400 ns in 1 kernel", "61.5%", "shapes do not fit")
    assert lines[first : first + 4] == [
        says("MFU at least 0.1%", "1.10 us of 1 rank", "idle time included"),
        says("efficiency 0.6%", "known FLOPs", "38.5% of the time of kernels that may multiply", "34.2% of compute time"),
        says("peak", "fp16 376.0 TFLOPS", "given for fp16"),
        without,
    ]
    assert lines.count(without) == 1, "a reason is said once"
    with closing(sqlite3.connect(tmp_path / "cluster_analysis_output" / "cluster_analysis.db")) as database:
        rows = database.execute("SELECT * FROM OperatorMFU").fetchall()
        columns = [row[1:3] for row in database.execute("PRAGMA table_info(OperatorMFU)")]
        module_columns = [row[1:3] for row in database.execute("PRAGMA table_info(ModuleMFU)")]
    assert rows[0][:6] == (0, "aten::linear", "mm", 240, 340, 100.0)
    assert columns == [
        ("rank_id", "INTEGER"), ("op_name", "TEXT"), ("kernel_name", "TEXT"), ("kernel_start(ns)", "INTEGER"),
        ("kernel_end(ns)", "INTEGER"), ("kernel_duration(ns)", "REAL"), ("mfu", "REAL"), ("actual_tflops", "REAL"),
        ("chip_peak_tflops", "REAL"), ("flops", "REAL"), ("flops_op_name", "TEXT"), ("input_shapes", "TEXT"),
        ("output_shapes", "TEXT"),
    ]  # fmt: skip
    assert module_columns == [
        ("rank_id", "INTEGER"), ("parent_module", "TEXT"), ("module", "TEXT"), ("op_name", "TEXT"), ("kernel_list", "TEXT"),
        ("total_kernel_duration(ns)", "REAL"),
        ("avg_kernel_duration(ns)", "REAL"), ("op_count", "INTEGER"), ("avg_mfu", "TEXT"),
    ]  # fmt: skip
    with open_profile(tmp_path) as profile:
        for level in ("module", "kernel"):
            facts = answer_of(profile, "mfu", 10, by=level).facts
            assert facts["level"] == level
            assert {row["efficiency"] is None for row in facts["heaviest"]} <= {False, level in ("op", "kernel")}
    assert command("mfu", "-d", tmp_path, "--peak-tflops", "fp16").exit_code == 2


@pytest.mark.slow
def test_without_modules_ops_answer(tmp_path: Path) -> None:
    write_profile(tmp_path, unlinked=[Matmul("mm", 0, 100, **MATMUL)])
    with open_profile(tmp_path) as profile:
        assert answer_of(profile, "mfu", 10).facts["level"] == "op"
        with pytest.raises(InputError, match="no module ranges"):
            profile.mfu()


@pytest.mark.slow
def test_nothing_is_lost_between_kernels_and_roll_ups(tmp_path: Path) -> None:
    generate(tmp_path, Shape(steps=2, layers=1, gradient_hooks=True), ranks=1, seed=3)
    with open_profile(tmp_path) as profile:
        kernels, ops, rank = profile.mfu("kernel"), profile.mfu("op"), profile.mfu("rank")
        outermost = profile.mfu("module").query("depth == 1")
        statistic = profile.kernels().query("kind == 'compute'")
    assert rank["duration_ns"].tolist() == [statistic["duration_ns"].sum()]
    assert ops["flops"].sum() == kernels.dropna(subset="efficiency")["flops"].sum() == rank["flops"].sum() > 0
    assert ops["duration_ns"].sum() == kernels["duration_ns"].sum() == rank["cube_duration_ns"].sum()
    assert outermost["flops"].sum() == kernels.dropna(subset=["efficiency", "path_id"])["flops"].sum()
    assert outermost["duration_ns"].sum() == statistic.dropna(subset="path_id")["duration_ns"].sum()
    assert (kernels["efficiency"].isna() == kernels["reason"].notna()).all()
    mfu = kernels["flops"] * 1000 / (kernels["duration_ns"] * PEAK_PER_US)
    assert (kernels["efficiency"] - mfu).abs().max() < 1e-12


@pytest.mark.slow
def test_figures_over_all_ranks_are_sums_over_sums_also_of_a_rank_whose_flops_take_no_part(tmp_path: Path) -> None:
    """A rank whose time is long and FLOPs are few counts in full; 1 FLOP in a second leaves an MFU of next to 0."""
    tiny: dict[str, Any] = {"inputs": "1,1;1,1", "outputs": "1,1"}
    ranks = {
        "a_ascend_pt": [Matmul("mm", 200, 300, **MATMUL), Matmul("float", 400, 500, **MATMUL, types="FLOAT;FLOAT")],
        "b_ascend_pt": [Matmul("mm", 200, 1_000_000_200, **tiny), Matmul("cast", 0, 50, type="Cast", core="AI_VECTOR_CORE")],
    }
    for rank, (name, kernels) in enumerate(ranks.items()):
        ops = [Op("aten::linear", 110, 120, tuple(kernels))]
        write_profile(tmp_path / name, ops, [Range("Net", 100, 150)], rank=rank)
        write_chip(tmp_path / name)
    with open_profile(tmp_path) as profile:
        profile.mfu("rank")
        rows = profile.table("across.mfu", arrow=True).to_pylist()
    flops, known = FLOPS + 2, 100 + 1_000_000_000
    at_peak_ps, elapsed_ns = FLOPS * 10**6 // PEAK_PER_US, 300 + 1_000_000_200  # 2 FLOPs take less than a picosecond.
    everything: dict[str, Any] = {
        "level": "all",
        "parent_module": None,
        "module": None,
        "op_name": None,
        "type": None,
        "input_shapes": None,
        "rank_count": 2,
        "mfu": pytest.approx(at_peak_ps / elapsed_ns / 1000),
        "efficiency": pytest.approx(share(flops, known)),
        "known_flops": flops,
        "possible_flops": PEAK_PER_US * 100 // 1000 + PEAK_PER_US * 1_000_000,
        "flops": 2 * FLOPS + 2,
        "achieved_tflops": pytest.approx((2 * FLOPS + 2) / (known + 100) / 1000),
        "peak_tflops": pytest.approx(353.8944),
        "at_peak_ps": at_peak_ps,
        "elapsed_ns": elapsed_ns,
        "duration_ns": known + 100 + 50,
        "cube_duration_ns": known + 100,
        "flops_duration_ns": known + 100,
        "known_duration_ns": known,
        "known_share": pytest.approx(known / (known + 150)),
        "cube_known_share": pytest.approx(known / (known + 100)),
        "mac_duration_ns": 0,
        "mac_ratio": None,
        "kernel_count": 4,
        "reasons": says("FLOAT ran as HF32", "give its peak", "fp32=99.5"),
    }
    op = {"op_name": "aten::linear", "type": "MatMulV3", "rank_count": 1, "peak_tflops": pytest.approx(353.8944)}
    assert rows == [
        everything,
        {**everything, "level": "module", "parent_module": "", "module": "Net"},
        {
            **everything, **op, "level": "op", "input_shapes": '"1,1;1,1"', "mfu": 0.0, "at_peak_ps": 0, "reasons": None,
            "efficiency": pytest.approx(share(2, 10**9)),
            "known_flops": 2, "possible_flops": PEAK_PER_US * 1_000_000, "flops": 2, "achieved_tflops": 2e-12,
            "duration_ns": 10**9, "cube_duration_ns": 10**9, "flops_duration_ns": 10**9, "known_duration_ns": 10**9,
            "known_share": 1.0, "cube_known_share": 1.0, "mac_duration_ns": 0, "mac_ratio": None, "kernel_count": 1,
        },
        {
            **everything, **op, "level": "op", "input_shapes": '"64,32;32,48"',
            "efficiency": pytest.approx(share(FLOPS, 100)),
            "known_flops": FLOPS, "possible_flops": PEAK_PER_US * 100 // 1000, "flops": 2 * FLOPS,
            "achieved_tflops": pytest.approx(2 * FLOPS / 200 / 1000), "duration_ns": 200, "cube_duration_ns": 200,
            "flops_duration_ns": 200, "known_duration_ns": 100, "known_share": 0.5, "cube_known_share": 0.5,
            "mac_duration_ns": 0,
            "mac_ratio": None,
            "kernel_count": 2,
        },
    ]  # fmt: skip
