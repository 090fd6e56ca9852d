"""op-stats on what training records: ops of the framework, and inside them records of what they launched."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from prof_analysis import InputError, open_profile
from prof_analysis.engine.rows_of import rows_of
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile


def kernel(duration: int, start: int = 5000) -> tuple[Kernel, ...]:
    return (Kernel("k", start, start + duration),)


# An op, its shapes, its times on the host, and the times of the kernels that it launched.
TRAINING = [
    Op("ProfilerStep#3", 0, 4000),
    Op("aclnnAdd", 10, 20, kernel(1)),  # in a step alone
    Op("forward", 100, 400),  # a record_function of the user
    Op("aclnnMul", 110, 130, kernel(2)),
    Op("aten::linear", 150, 300, input_shapes="8,4;\r\n2,4;\r\n"),
    Op("aten::addmm", 170, 290, input_shapes="2;\r\n8,4;\r\n4,2;\r\n"),
    Op("empty_tensor", 180, 190),  # launches nothing, whoever calls it
    Op("aclnnAddmm", 200, 250, kernel(10) + kernel(20)),
    Op("aclnnAdd", 260, 270),  # launches nothing this time
    Op("ConvolutionBackward0", 500, 700, sequence_number=7),
    Op("aten::convolution_backward", 510, 690, input_shapes="1,2,3"),
    Op("Conv2DBackpropInput", 520, 550, kernel(40)),
    Op("Conv2DBackpropFilter", 560, 600, kernel(50)),
    Op("Attention", 800, 900, sequence_number=8),  # a function of autograd
    Op("aclnnFlashAttentionScore", 820, 860, kernel(60)),
    Op("AttentionBackward", 1000, 1100, kernel(70), sequence_number=8),  # launches itself
    Op("vllm::unified_attention", 1200, 1300),
    Op("_attn_fwd", 1210, 1250, kernel(80)),  # a Triton kernel
    Op("c10d::allreduce_", 1400, 1600),
    Op("HcclAllreduce", 1410, 1590, input_shapes="64"),
    Op("HcclAllreduce", 1450, 1500, kernel(90)),
    Op("aten::outer", 1700, 1900),
    Op("Around", 1710, 1890, kernel(100)),  # has an op inside
    Op("aten::inner", 1720, 1800, kernel(110)),
    Op("aten::other", 2000, 2100),
    Op("my kernel", 2010, 2050, kernel(120)),  # no single word, so a record_function
    Op("aclnnMul", 2200, 2230, kernel(130), tid=2),  # on a thread without an op around
]
# name, shapes, calls, host self and total, kernels, device self and total, launches
EXPECTED = [
    ("aclnnMul", None, 2, 50, 50, 2, 132, 132, None),
    ("my kernel", None, 1, 40, 40, 1, 120, 120, None),
    ("aten::inner", None, 1, 80, 80, 1, 110, 110, None),
    ("Around", None, 1, 100, 180, 1, 100, 210, None),
    ("HcclAllreduce", "64", 1, 180, 180, 1, 90, 90, "HcclAllreduce"),
    ("aten::convolution_backward", "1,2,3", 1, 180, 180, 2, 90, 90, "Conv2DBackpropFilter, Conv2DBackpropInput"),
    ("vllm::unified_attention", None, 1, 100, 100, 1, 80, 80, "_attn_fwd"),
    ("AttentionBackward", None, 1, 100, 100, 1, 70, 70, None),
    ("Attention", None, 1, 100, 100, 1, 60, 60, "aclnnFlashAttentionScore"),
    ("aten::addmm", "2;8,4;4,2;", 1, 110, 120, 2, 30, 30, "aclnnAddmm"),
    ("aclnnAdd", None, 1, 10, 10, 1, 1, 1, None),
    ("forward", None, 1, 130, 300, 0, 0, 32, None),
    ("aten::other", None, 1, 60, 100, 0, 0, 120, None),
    ("aten::linear", "8,4;2,4;", 1, 30, 150, 0, 0, 30, None),
    ("ConvolutionBackward0", None, 1, 20, 200, 0, 0, 90, None),
    ("aten::outer", None, 1, 20, 200, 0, 0, 210, None),
    ("c10d::allreduce_", None, 1, 20, 200, 0, 0, 90, None),
    ("empty_tensor", None, 1, 10, 10, 0, 0, 0, None),
]
OWN_NS = 883


def facts_of(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    left_out = {"profile", "rank_id", "share"}
    return [tuple(value for name, value in row.items() if name not in left_out) for row in rows]


def test_what_an_op_launched_is_its_own_time_and_its_row_has_shapes(tmp_path: Path) -> None:
    write_profile(tmp_path / "0_ascend_pt", TRAINING)
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.op_stats()).to_pylist()
        (before,) = profile.rows("SELECT sum(kernel_count) AS kernels, sum(device_self_ns) AS device_ns FROM op.cost")
        (on_host,) = profile.rows("SELECT sum(host_self_ns) AS ns FROM op.cost JOIN trace.op USING (op_id) WHERE NOT is_step")
    assert facts_of(found) == EXPECTED
    assert [row["share"] for row in found] == [row[6] / OWN_NS for row in EXPECTED]
    assert before == {"kernels": sum(row[5] for row in EXPECTED), "device_ns": sum(row[6] for row in EXPECTED)}
    assert on_host == {"ns": sum(row[3] for row in EXPECTED)}


@pytest.mark.slow
def test_ranks_that_launched_by_other_operators_have_one_row_with_all_of_these(tmp_path: Path) -> None:
    for rank, name in enumerate(("aclnnMm", "MatMul", "aclnnMm")):
        ops = [Op("aten::mm", 0, 100, input_shapes="2,2;\r\n2,2"), Op(name, 10, 20, kernel(5))]
        write_profile(tmp_path / f"{rank}_ascend_pt", ops, rank=rank)
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.op_stats(across_ranks=True)).to_pylist()
    assert facts_of(found) == [("aten::mm", "2,2;2,2", 3, 300, 300, 3, 15, 15, "MatMul, aclnnMm")]


def test_a_filter_chooses_rows_of_screen_and_export_and_says_what_it_leaves_out(
    tmp_path: Path, command: Callable[..., Result]
) -> None:
    write_profile(tmp_path / "0_ascend_pt", TRAINING)
    words = ("op-stats", "-d", tmp_path, "--filter", "ATEN::", "-o", tmp_path, "--export_type", "csv")
    result = command(*words, "--sort", "device total", "--columns", "op,input shapes,device self,device total,share of ops")
    assert (result.exit_code, result.stderr) == (0, "")
    table, _, said, left_out, *_ = result.stdout.partition("\n\n")[0], "", *result.stdout.partition("\n\n")[2].splitlines()
    assert [" ".join(line.split()) for line in table.splitlines()] == [
        "op input shapes device self device total share of ops",
        "aten::outer - 0 ns 210 ns 0.0%",
        "aten::other - 0 ns 120 ns 0.0%",
        "aten::inner - 110 ns 110 ns 12.5%",
        "aten::convolution_backward 1,2,3 90 ns 90 ns 10.2%",
        "aten::addmm 2;8,4;4,2 30 ns 30 ns 3.4%",
        "aten::linear 8,4;2,4 0 ns 30 ns 0.0%",
    ]
    assert said.startswith("19 calls took ")
    assert left_out == says("--filter", "12 rows", "74.0% of the device time")
    for file in ("op_statistic.csv", "op_statistic_all_ranks.csv"):
        with (tmp_path / "cluster_analysis_output" / file).open(newline="") as rows:
            written = {row["name"]: row["share"] for row in csv.DictReader(rows)}
        assert written.keys() == {row[0] for row in EXPECTED if row[0].startswith("aten::")}
        assert float(written["aten::inner"]) == 110 / OWN_NS


def test_a_filter_finds_an_op_by_what_it_launched(tmp_path: Path) -> None:
    write_profile(tmp_path / "0_ascend_pt", TRAINING)
    with open_profile(tmp_path, filter="conv2d") as profile:
        for across_ranks in (False, True):
            found = arrow_of(profile.op_stats(across_ranks=across_ranks)).to_pylist()
            assert facts_of(found) == [row for row in EXPECTED if row[0] == "aten::convolution_backward"]


@pytest.mark.slow
def test_a_filter_that_fits_no_name_says_so(tmp_path: Path, command: Callable[..., Result]) -> None:
    text = "%_'; DROP TABLE x; --\x1b[2J"
    write_profile(tmp_path / "0_ascend_pt", [Op("aten::mm", 0, 10, kernel(3))])
    for name in ("op-stats", "kernel-stats"):
        result = command(name, "-d", tmp_path, "--filter", text)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.splitlines()[-1] == says("no name", "--filter", "leaves out 1 row")
        summary = json.loads(command(name, "-d", tmp_path, "--filter", text, "--json").stdout)["summary"]
        assert (summary["ranks"], summary["rows"], summary["rows_left_out"]) == (1, 0, 1)


def test_a_filter_of_kernel_stats_leaves_shares_and_totals_as_they_are(tmp_path: Path, command: Callable[..., Result]) -> None:
    kernels = (Kernel("a", 0, 30, type="MatMulV3"), Kernel("b", 50, 60, type="Add"), Kernel("c", 70, 80, type=None))
    write_profile(tmp_path / "0_ascend_pt", [Op("aten::mm", 0, 10, kernels)])
    columns = "type,total,share of kind"
    result = command("kernel-stats", "-d", tmp_path, "--filter", "matmul", "--columns", columns)
    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == [
        "type total share of kind",
        "MatMulV3 30 ns 60.0%",
        "",
        "compute 50 ns in 3 kernels; 1 rank",
        "--filter leaves out 2 rows",
    ]
    with open_profile(tmp_path, filter="matmul") as profile:
        for across_ranks in (False, True):
            found = arrow_of(profile.kernel_stats(across_ranks=across_ranks)).to_pylist()
            assert [(row["type"], row["total_ns"], row["share"]) for row in found] == [("MatMulV3", 30, 0.6)]


@pytest.mark.slow
def test_rows_are_sorted_by_any_column_and_another_one_is_an_error(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "0_ascend_pt", TRAINING)

    def first(column: str) -> list[str]:
        result = command("op-stats", "-d", tmp_path, "--sort", column, "--top", "2", "--columns", "op")
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout.splitlines()[1:3]

    assert [name.strip() for name in first("host total")] == ["forward", "ConvolutionBackward0"]
    assert [name.strip() for name in first("host_total_ns")] == [name.strip() for name in first("host total")]
    assert [name.strip() for name in first("op")] == ["Around", "Attention"]
    assert [name.strip() for name in first("launches")] == ["aten::convolution_backward", "HcclAllreduce"]
    result = command("op-stats", "-d", tmp_path, "--sort", "time")
    assert (result.exit_code, result.stdout) == (2, "")
    columns = "op, input shapes, device self, device total, share of ops, calls, kernels, host self, host total, launches"
    assert result.stderr == says("error: --sort: ", "no column time", columns)


def test_an_empty_filter_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="filter='': give a part of a name"):
        open_profile(tmp_path, filter="")


def test_devices_that_share_a_database_have_one_host() -> None:
    of_device: dict[str, int | bool | str | list[str] | None] = {
        "profile": "a_ascend_pt/device_12",
        "first_device_id": 0,
        "device_id": 12,
    }
    assert rows_of("op.host", {}, of_device) == [{"host_profile": "a_ascend_pt"}]
    assert rows_of("op.host", {}, {**of_device, "first_device_id": None}) == [{"host_profile": "a_ascend_pt/device_12"}]
