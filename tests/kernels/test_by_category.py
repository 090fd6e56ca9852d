"""Kernels by what they compute or move: the times of categories add up to those of all kernels, of every kind."""

from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import Profile, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.cli import Command
from tests.helpers.small_profile import Kernel, Matmul, Op, write_profile


def assert_sums_close(profile: Profile) -> None:
    """Hold the times and counts of categories against those of all selected kernels, to the nanosecond."""
    build_at_once(profile, "kernels.selected", "kernels.by_category", "across.kernel_by_category")
    kernels = "SELECT sum(duration_ns)::BIGINT, count(*) FROM kernels.selected"
    categories = "SELECT sum(total_ns)::BIGINT, sum(kernel_count)::BIGINT FROM {}"
    (expected,) = profile.rows(kernels)
    for table in ("kernels.by_category", "across.kernel_by_category"):
        (found,) = profile.rows(categories.format(table))
        assert tuple(found.values()) == tuple(expected.values())
    shares = profile.rows("SELECT sum(share) AS share FROM across.kernel_by_category")
    assert shares[0]["share"] == pytest.approx(1)


def test_the_times_of_categories_add_up_to_those_of_all_kernels(tmp_path: Path) -> None:
    names = ("", "Mul<4>", "'; DROP", "MatMul" * 400, "\U0001f600", "aclnnAdd_AddAiCore_Add", "N/A")
    kernels = tuple(Kernel(name, 1000 + 97 * at, 1000 + 97 * at + at, type=name) for at, name in enumerate(names * 3, 1))
    ours = Op("aten::mm", 100, 200, (*kernels, Matmul("mm", 9000, 9300, inputs="16,100;100,10", outputs="16,10")))
    write_profile(tmp_path / "0_ascend_pt", [ours])
    with open_profile(tmp_path) as profile:
        assert_sums_close(profile)
        rows = {row["category"]: row for row in profile.rows("FROM across.kernel_by_category")}
    # 2 x 16 x 100 x 10 FLOPs in 300 ns.
    assert (rows["matrix product"]["flops"], rows["matrix product"]["flops_ns"]) == (32000, 300)


def test_a_rate_of_a_part_of_a_category_says_so(tmp_path: Path, command: Command) -> None:
    known = Matmul("mm", 9000, 9300, inputs="16,100;100,10", outputs="16,10")
    unknown = Matmul("mm", 9400, 10300, inputs="", outputs="")
    write_profile(tmp_path / "0_ascend_pt", [Op("aten::mm", 100, 200, (known, unknown))])
    shown = command("kernel-stats", tmp_path, "--by", "category").stdout
    assert "the TFLOP/s of matrix product are of 25.0% of its time" in shown
    write_profile(tmp_path / "whole_ascend_pt", [Op("aten::mm", 100, 200, (known,))])
    assert "of its time" not in command("kernel-stats", tmp_path / "whole_ascend_pt", "--by", "category").stdout


def test_the_categories_of_a_step_add_up_to_its_kernels(tmp_path: Path) -> None:
    generate(tmp_path, Shape(steps=2, layers=1))
    for step in (None, 10):
        with open_profile(tmp_path, step_id=step) as profile:
            assert_sums_close(profile)


@pytest.mark.slow
def test_kernels_of_real_profiles_have_a_category(realdata: Path) -> None:
    traces = ("alexnet_ddp_910b_mstx", "alexnet_ddp_910a", "qwen3_0.6b_pp2dp2_910b", "glm5_1_vllm_a3", "serving/sglang_decode")
    for folder in (*traces, "gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "gpu_more/torch_compile_old_nccl"):
        with open_profile(realdata / folder) as profile:
            assert_sums_close(profile)
            other = profile.rows("SELECT share FROM across.kernel_by_category WHERE category = 'other'")
        assert not other or other[0]["share"] < 0.001, folder
