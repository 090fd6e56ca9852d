"""Rules of the device on small profiles: each case of a rule, with the whole finding."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import Profile, open_profile
from tests.helpers.device_work import START, US, cast, matmul, one_after_another, vector, work
from tests.helpers.says import says

SAID = ("title", "module", "op", "kernel_type", "evidence", "count", "time_ns", "win_ns", "kind")
BOUND = "upper bound"


def of_rule(profile: Profile, rule: str) -> list[tuple[Any, ...]]:
    """Return what a rule found, after its query has shown rows."""
    rows = profile.rows(f"FROM advice.{rule} ORDER BY title, module, op, kernel_type")
    for row in rows:
        assert profile.rows(row["sql"]), row["sql"]
        assert row["doc"] == "docs/rules.md#" + rule.replace("_", "-")
        assert row["what_to_do"].endswith(".")
    return [tuple(row[name] for name in SAID) for row in rows]


@pytest.mark.slow
def test_kernels_on_cpus_of_the_device_have_their_types_and_those_outside_the_steps_do_not_count(tmp_path: Path) -> None:
    cpu = {"type": "NonZero", "core": "AI_CPU", "types": "DOUBLE;INT64"}
    one_after_another(tmp_path, [work(30, **cpu), work(50, **cpu)], steps=[(7, START - US, START + 8 * US)])
    evidence = says("1 kernel", "AI CPU", "30.0 us", "DOUBLE;INT64")
    with open_profile(tmp_path) as profile:
        assert of_rule(profile, "ai_cpu") == [
            (says("on CPUs of the device"), "Block", "aten::op0", "NonZero", evidence, 1, 30_000, 30_000, BOUND)
        ]


def test_casts_are_a_pair_in_one_module_and_shape_and_each_is_in_one_pair(tmp_path: Path) -> None:
    kernels = [
        cast(10, "DT_BF16", "FLOAT"),
        cast(20, "DT_BF16", "FLOAT"),
        cast(40, "FLOAT", "DT_BF16"),
        cast(80, "FLOAT", "DT_BF16", inputs="4,4"),
        cast(160, "DT_BF16", "DT_BF16"),
        cast(320, "FLOAT", "DT_BF16"),
    ]
    one_after_another(tmp_path / "modules", kernels, inside=5)
    title = says("Data types", "there and back")
    with open_profile(tmp_path / "modules") as profile:
        assert of_rule(profile, "format_conversion") == [
            (title, "Block", None, None, says("2 kernels", "50.0 us", "Cast"), 2, 50_000, 50_000, BOUND)
        ]
    one_after_another(tmp_path / "none", kernels, inside=0)
    with open_profile(tmp_path / "none") as profile:
        assert [row[4] for row in of_rule(profile, "format_conversion")] == [says("4 kernels", "390.0 us", "Cast")]


@pytest.mark.slow
def test_the_faster_type_is_off_on_or_not_recorded(tmp_path: Path) -> None:
    kernels = [matmul(90, hf32="NO"), matmul(80, hf32="YES"), matmul(70), matmul(60, types="DT_BF16;DT_BF16", hf32="NO")]
    one_after_another(tmp_path, kernels)
    off = says("FP32 matrices are not multiplied", "faster type")
    unknown = says("not recorded whether FP32 matrices", "faster type")
    not_said = says("1 kernel", "70.0 us", "does not say", "HF32")
    with open_profile(tmp_path) as profile:
        assert of_rule(profile, "hf32_off") == [
            (off, "Block", "aten::op0", "MatMulV3", says("1 kernel", "90.0 us", "not in HF32"), 1, 90_000, 45_000, BOUND),
            (unknown, "Block", "aten::op2", "MatMulV3", not_said, 1, 70_000, None, "hint"),
        ]
        # Only 60 of 300 us are in half precision: FP32 is no exception.
        assert of_rule(profile, "full_precision") == []
    given = {"hf32_off.hf32_speedup": 4, "full_precision.least_half_share": 0.2}
    with open_profile(tmp_path, thresholds=given) as profile:
        assert [row[-2] for row in of_rule(profile, "hf32_off")] == [67_500, None]
        # BF16 is four times as fast as FP32, twice as fast as HF32; where it is not known which of them it is, 16 times.
        found = [(row[2], row[-2]) for row in of_rule(profile, "full_precision")]
        assert found == [("aten::op0", 67_500), ("aten::op1", 40_000), ("aten::op2", 65_625)]


@pytest.mark.slow
def test_vectors_in_full_precision_count_inside_modules(tmp_path: Path) -> None:
    float32 = {"types": "FLOAT;FLOAT"}
    kernels = [vector(20, **float32), vector(21, **float32), cast(30, "FLOAT", "DT_BF16"), vector(500, **float32)]
    one_after_another(tmp_path, [matmul(90, types="DT_BF16;DT_BF16"), *kernels], inside=4)
    title = says("Vectors are in FP32", "matrices in half precision")
    evidence = says("2 kernels in FP32", "(aten::op1, aten::op2)", "41.0 us", "100.0%")
    with open_profile(tmp_path) as profile:
        assert of_rule(profile, "full_precision") == [(title, "Block", None, None, evidence, 2, 41_000, 20_500, BOUND)]


@pytest.mark.slow
def test_numbers_of_blocks_that_cannot_be_are_not_known(tmp_path: Path) -> None:
    one_after_another(tmp_path, [matmul(90, blocks=blocks) for blocks in (-5, 0, 2**63 - 1)])
    with open_profile(tmp_path) as profile:
        rows = profile.rows("SELECT op_name, least_blocks, idle_ns FROM kernels.work ORDER BY op_name")
        assert [tuple(row.values()) for row in rows] == [
            ("aten::op0", None, None),
            ("aten::op1", None, None),
            ("aten::op2", 2**63 - 1, 1),
        ]
        assert of_rule(profile, "block_dim") == []
