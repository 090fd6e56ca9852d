"""FLOPs on GPUs: by the inputs of ops, each op once, divided among its kernels."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from prof_analysis.engine.rows_of import Row, rows_of
from tests.helpers.empty_database import empty_database
from tests.helpers.frames import arrow_of
from tests.helpers.kineto import HEAD, kernel, launch, op, write_trace
from tests.helpers.places import CHECKOUT
from tests.helpers.says import says

H100 = {**HEAD, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]}
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas"
BF16, FLOAT, FP8 = "c10::BFloat16", "float", "c10::Float8_e4m3fn"
Dims = Sequence[Any]
LONG_NS = 1_000_000


def inputs(dims: Dims, values: Sequence[str] = (), type_: str = BF16) -> dict[str, Any]:
    """The arguments of an op with tensors of these dims, of one type, and values for the inputs from the first on."""
    values = [*values, *[""] * (len(dims) - len(values))]
    types = ["Scalar" if value else type_ if one else "" for one, value in zip(dims, values, strict=True)]
    return {"Input Dims": dims, "Input type": types, "Concrete Inputs": values}


def found(folder: Path, events: list[str], head: dict[str, Any] = H100, **options: Any) -> list[dict[str, Any]]:
    with open_profile(write_trace(folder / "trace.json", events, head), **options) as profile:
        rows: list[dict[str, Any]] = arrow_of(profile.mfu("kernel")).to_pylist()
    return rows


def ops_in_turn(ops: Iterable[tuple[str, dict[str, Any]]], kernel_name: str = GEMM) -> list[str]:
    """Ops that launch a kernel each, which takes long enough for any FLOPs here."""
    events = []
    for number, (name, arguments) in enumerate(ops, start=1):
        start, on_device = 1000 * number, number * LONG_NS
        events += [
            op(name, start, start + 100, number, arguments=arguments),
            launch(start + 10, start + 20, number, number),
            kernel(kernel_name, on_device, on_device + LONG_NS, number),
        ]
    return events


def one_op(name: str, arguments: dict[str, Any], kernel_name: str = GEMM) -> list[str]:
    """An op that launches one kernel."""
    return ops_in_turn([(name, arguments)], kernel_name)


def values_at(count: int, **at: str) -> list[str]:
    """Values of an op with this many inputs: position_9="True" is the ninth one."""
    return [at.get(f"position_{number}", "") for number in range(1, count + 1)]


# One image of 16 x 16 with 8 channels; 12 output channels.
CONVOLUTION: Dims = [[2, 8, 16, 16], [12, 8, 3, 3], [], [], [], [], [], [], []]
Q, K, V = [2, 8, 32, 64], [2, 2, 48, 64], [2, 2, 48, 16]  # Four heads share a key; Dv is not Dq.
SQUARE = [2, 8, 32, 64]
NO_VALUES = [""] * 16


KNOWN: list[tuple[str, dict[str, Any], int]] = [
    ("aten::mm", inputs([[64, 32], [32, 48]]), 2 * 64 * 32 * 48),
    ("aten::addmm", inputs([[48], [64, 32], [32, 48], [], []]), 2 * 64 * 32 * 48),
    ("aten::bmm", inputs([[5, 64, 32], [5, 32, 48]]), 2 * 5 * 64 * 32 * 48),
    ("aten::baddbmm", inputs([[5, 64, 48], [5, 64, 32], [5, 32, 48], [], []]), 2 * 5 * 64 * 32 * 48),
    ("aten::linear", inputs([[3, 7, 32], [48, 32], []]), 2 * 3 * 7 * 32 * 48),
    ("aten::addmv", inputs([[64], [64, 32], [32], [], []]), 2 * 64 * 32),
    ("aten::_scaled_mm", inputs([[64, 32], [32, 48], [], [], [], [], [], []], type_=FP8), 2 * 64 * 32 * 48),
    ("aten::_int_mm", inputs([[64, 32], [32, 48]], type_="signed char"), 2 * 64 * 32 * 48),
    ("aten::_grouped_mm", inputs([[4, 64, 32], [4, 32, 48], [], [], []]), 2 * 4 * 64 * 32 * 48),
    # Padding 1, stride 2: 8 x 8 positions. A list of one number is meant for both dims.
    (
        "aten::convolution",
        inputs(CONVOLUTION, ["", "", "", "[2, 2]", "[1]", "[1, 1]", "False", "[0, 0]", "1"]),
        2 * 2 * 8 * 8 * 12 * 8 * 9,
    ),
    # Two groups: the weight has the channels of one. Dilation 2: a window of 5 x 5.
    (
        "aten::_convolution",
        inputs(
            [[2, 8, 16, 16], [12, 4, 3, 3], *[[]] * 11],
            ["", "", "", "[1, 1]", "[0, 0]", "[2, 2]", "False", "[0, 0]", "2", *["False"] * 4],
        ),
        2 * 2 * 12 * 12 * 12 * 4 * 9,
    ),
    # Transposed: each position of the input meets each element of the weight.
    (
        "aten::convolution",
        inputs([[2, 8, 16], [8, 12, 4], *[[]] * 7], ["", "", "", "[2]", "[1]", "[1]", "True", "[0]", "1"]),
        2 * 2 * 16 * 8 * 12 * 4,
    ),
    # Without a batch.
    (
        "aten::convolution",
        inputs([[8, 16, 16], *CONVOLUTION[1:]], ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]),
        2 * 8 * 8 * 12 * 8 * 9,
    ),
    (
        "aten::convolution_backward",
        inputs(
            [[2, 12, 8, 8], [2, 8, 16, 16], [12, 8, 3, 3], *[[]] * 8],
            ["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"],
        ),
        2 * (2 * 2 * 8 * 8 * 12 * 8 * 9),
    ),
    # The first layer needs no gradient of its input.
    (
        "aten::convolution_backward",
        inputs(
            [[2, 12, 33], [2, 8, 16], [8, 12, 4], *[[]] * 8],
            ["", "", "", "[0]", "[2]", "[1]", "[1]", "True", "[0]", "1", "[False, True, True]"],
        ),
        2 * 2 * 16 * 8 * 12 * 4,
    ),
    (
        "aten::_scaled_dot_product_flash_attention",
        inputs([Q, K, V, [], [], [], []], ["", "", "", "0.", "False", "False", "0.125"]),
        2 * 2 * 8 * (64 + 16) * 32 * 48,
    ),
    # A causal mask from the upper left: row r has r + 1 columns.
    (
        "aten::_scaled_dot_product_efficient_attention",
        inputs([Q, K, V, *[[]] * 5], ["", "", "", "", "False", "0.1", "True", ""]),
        2 * 2 * 8 * (64 + 16) * 32 * 33 // 2,
    ),
    # From the lower right: 16 columns more in each row.
    (
        "flash_attn::_flash_attn_forward",
        inputs(
            [[2, 32, 8, 64], [2, 48, 2, 64], [2, 48, 2, 16], *[[]] * 8],
            ["", "", "", "0.", "0.125", "True", "-1", "-1", "0.", "", "False"],
        ),
        2 * 2 * 8 * (64 + 16) * (32 * 33 // 2 + 32 * 16),
    ),
    # A window of the 4 keys before the diagonal: the first of 32 rows have fewer.
    (
        "flash_attn::_flash_attn_forward",
        inputs(
            [[2, 32, 8, 64], [2, 32, 8, 64], [2, 32, 8, 64], *[[]] * 8],
            ["", "", "", "0.", "0.125", "True", "4", "0", "0.", "", "False"],
        ),
        2 * 2 * 8 * 128 * (32 * 5 - 10),
    ),
    # The ends of a single sequence say nothing new.
    (
        "flash_attn::_flash_attn_varlen_forward",
        {
            "Input Dims": [[32, 8, 64], [32, 2, 64], [32, 2, 64], [2], [2], *[[]] * 9],
            "Input type": [BF16, BF16, BF16, "int", "int", *["Scalar"] * 7, "", "Scalar"],
            "Concrete Inputs": [*[""] * 5, "32", "32", "0.", "0.125", "True", "-1", "-1", "0.", ""],
        },
        2 * 8 * 128 * 32 * 33 // 2,
    ),
    (
        "aten::_scaled_dot_product_flash_attention_backward",
        inputs(
            [SQUARE, SQUARE, SQUARE, SQUARE, SQUARE, [2, 8, 32], *[[]] * 9],
            values_at(15, position_9="32", position_10="32", position_11="0.", position_12="True"),
        ),
        2 * 2 * 8 * (3 * 64 + 2 * 64) * 32 * 33 // 2,
    ),
    (
        "aten::_efficient_attention_backward",
        inputs(
            [[2, 32, 8, 64]] * 4 + [[], [2, 32, 8, 64], [], [], [], [], [2, 8, 32], *[[]] * 5],
            values_at(16, position_9="32", position_10="32", position_12="0.", position_15="0", position_16="False"),
        ),
        2 * 2 * 8 * 5 * 64 * 32 * 32,
    ),
]


LENGTHS = says("lengths of the sequences are", "not in the shapes")
MISFIT = says("shapes do not fit the op")
VARLEN = {
    "Input Dims": [[32, 8, 64], [32, 2, 64], [32, 2, 64], [5], [5], *[[]] * 9],
    "Input type": [BF16, BF16, BF16, "int", "int", *["Scalar"] * 7, "", "Scalar"],
    "Concrete Inputs": [*[""] * 5, "16", "16", "0.", "0.125", "True", "-1", "-1", "0.", ""],
}


MASKED = says("what the mask leaves out", "not in the shapes")
UNKNOWN: list[tuple[str, dict[str, Any], int | None, Any]] = [
    (
        "aten::_grouped_mm",
        inputs([[64, 32], [4, 32, 48], [4], [], []]),
        2 * 64 * 32 * 48,
        says("rows of the groups", "not in the shapes"),
    ),
    ("flash_attn::_flash_attn_varlen_forward", VARLEN, 2 * 8 * 128 * 32 * 32, LENGTHS),
    (
        "aten::_flash_attention_forward",
        {
            "Input Dims": [*[[2, 32, 8, 64]] * 3, *[[]] * 10, [2], []],
            "Input type": [*[BF16] * 3, "", "", *["Scalar"] * 6, "", "", "int", ""],
            "Concrete Inputs": values_at(15, position_8="0.", position_9="True", position_10="False"),
        },
        2 * 2 * 8 * 128 * 32 * 32,
        LENGTHS,
    ),
    (
        "aten::_efficient_attention_forward",
        inputs([*[[2, 32, 8, 64]] * 3, *[[]] * 11], values_at(14, position_9="0.", position_10="1", position_14="16")),
        2 * 2 * 8 * 128 * 32 * 32,
        MASKED,
    ),
    (
        "aten::scaled_dot_product_attention",
        inputs([SQUARE, SQUARE, SQUARE, [32, 32], *[[]] * 4], ["", "", "", "", "0.", "False", "", "False"]),
        2 * 2 * 8 * 128 * 32 * 32,
        MASKED,
    ),
    (
        "aten::_scaled_dot_product_flash_attention",
        {key: value for key, value in inputs([SQUARE] * 3 + [[]] * 4).items() if key != "Concrete Inputs"},
        2 * 2 * 8 * 128 * 32 * 32,
        says("not recorded", "causal"),
    ),
    ("aten::mm", inputs([[64, 32], [31, 48]]), None, MISFIT),
    ("aten::mm", inputs([[64, 32]]), None, MISFIT),
    ("aten::mm", inputs([[-64, 32], [32, 48]]), None, MISFIT),
    ("aten::mm", inputs([[[64], [32]], [32, 48]]), None, MISFIT),
    ("aten::mm", inputs([["a", "b"], [32, 48]]), None, MISFIT),
    ("aten::mm", inputs([[10**30, 32], [32, 48]]), None, MISFIT),
    ("aten::bmm", inputs([[9999999999] * 3] * 2), None, MISFIT),
    ("aten::mm", inputs([[2000000, 2000000], [2000000, 9999999999]]), None, says("shapes", "too large")),
    ("aten::mm", {}, None, says("shapes", "not recorded")),
    (
        "aten::mm",
        inputs([[64, 32], [32, 48]], type_="c10::complex<float>"),
        None,
        says("no formula for the data type complex<float>"),
    ),
    ("aten::convolution", inputs(CONVOLUTION, ["", "", "", "[1]", "[1]", "[1]", "True", "[0]", "1"]), None, MISFIT),
    ("aten::convolution", inputs(CONVOLUTION, ["", "", "", "[0, 0]", "[1]", "[1]", "False", "[0]", "1"]), None, MISFIT),
    ("aten::convolution", inputs(CONVOLUTION, ["", "", "", "[1, x]", "[1]", "[1]", "False", "[0]", "1"]), None, MISFIT),
    ("aten::convolution", inputs(CONVOLUTION, ["", "", "", "[1]", "[1]", f"[{10**19}]", "False", "[0]", "1"]), None, MISFIT),
    (
        "aten::convolution",
        {key: value for key, value in inputs(CONVOLUTION).items() if key != "Concrete Inputs"},
        None,
        says("values of the inputs", "not recorded"),
    ),
    ("mine::matmul", inputs([[64, 32], [32, 48]]), None, says("no formula for the op mine::matmul")),
]


def test_flops_follow_from_the_inputs_of_the_op_or_have_a_reason(tmp_path: Path) -> None:
    asked = [(name, arguments) for name, arguments, _ in KNOWN] + [(name, arguments) for name, arguments, *_ in UNKNOWN]
    rows = found(tmp_path, ops_in_turn(asked))
    columns = ("op_name", "flops", "flops_source", "flops_upper_bound", "input_shapes")
    assert [tuple(row[column] for column in columns) for row in rows[: len(KNOWN)]] == [
        (name, flops, "op shapes", None, ";".join(",".join(map(str, dims)) for dims in arguments["Input Dims"]))
        for name, arguments, flops in KNOWN
    ]
    of_unknown = ("op_name", "flops", "flops_upper_bound", "reason", "efficiency", "mfu")
    assert [tuple(row[column] for column in of_unknown) for row in rows[len(KNOWN) :]] == [
        (name, None, at_most, reason, None, None) for name, _, at_most, reason in UNKNOWN
    ]


@pytest.mark.slow
def test_kernels_without_ops_have_a_reason(tmp_path: Path) -> None:
    """One before the recording began, and two of a graph that is replayed."""
    events = [
        op("aten::relu", 10, 20, 9, arguments=inputs([[4, 4]])),
        launch(30, 40, 6, name="cudaGraphLaunch"),
        kernel(GEMM, 50, 60, 99),
        kernel(GEMM, 60, 70, 6),
        kernel("void at::native::elementwise_kernel<4>(int)", 70, 80, 6),
    ]
    rows = found(tmp_path, events)
    reasons = [says("no op in the profile"), says("no op launched it", "replay of a graph")]
    assert [(row["name"], row["reason"]) for row in rows] == [(GEMM, reason) for reason in reasons]


MATMUL = inputs([[64, 32], [32, 48]])
FLOPS = 2 * 64 * 32 * 48


@pytest.mark.slow
def test_only_the_innermost_op_with_a_formula_counts(tmp_path: Path) -> None:
    """linear holds addmm, and launches a copy of its own."""
    rows = found(
        tmp_path,
        [
            op("aten::linear", 100, 300, 1, arguments=inputs([[64, 32], [48, 32], [48]])),
            op("aten::copy_", 110, 140, 2, arguments=inputs([[64, 32]])),
            launch(120, 130, 5, 2),
            op("aten::addmm", 150, 250, 3, arguments=inputs([[48], [64, 32], [32, 48], [], []])),
            launch(160, 170, 6, 3),
            kernel("void at::native::elementwise_kernel<4>(int)", 400, 500, 5),
            kernel(GEMM, 500, 900, 6),
        ],
    )
    assert [(row["name"], row["op_name"], row["flops"]) for row in rows] == [(GEMM, "aten::addmm", FLOPS)]


@pytest.mark.slow
def test_kernels_that_multiply_share_the_flops_of_their_op(tmp_path: Path) -> None:
    """By time, to the last one: a copy, a product in two parts, and their sum. Where no name says it multiplies, all share."""
    events = [
        op("aten::mm", 100, 300, 1, arguments=MATMUL),
        *(launch(100 + 10 * number, 105 + 10 * number, number, 1) for number in range(1, 5)),
        kernel("void at::native::elementwise_kernel<4>(int)", 400, 500, 1),
        kernel(GEMM, 500, 900, 2),
        kernel(GEMM, 900, 1200, 3),
        kernel("void cublasLt::splitKreduce_kernel<32>(int)", 1200, 1337, 4),
        op("aten::mm", 310, 390, 2, arguments=MATMUL),
        launch(320, 330, 6, 2),
        launch(340, 350, 7, 2),
        kernel("mystery_a", 2000, 2300, 6),
        kernel("mystery_b", 2300, 2400, 7),
    ]
    rows = found(tmp_path, events)
    shared = [FLOPS * 400 // 837, FLOPS * 700 // 837 - FLOPS * 400 // 837, FLOPS - FLOPS * 700 // 837]
    assert [row["flops"] for row in rows] == [*shared, FLOPS * 3 // 4, FLOPS // 4]


FP32_KERNELS: dict[str, tuple[str, float | None]] = {
    "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x32x8_cublas": ("tf32", 494.7),
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(int)": ("tf32", 494.7),
    "ampere_sgemm_32x32_sliced1x4_nn": ("fp32", 66.9),
    "Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128": ("fp32", 66.9),
    "Cijk_Ailk_Bljk_S_MX_B_Bias_HA_S_SAV_UserArgs_MT16x16x128": ("tf32", 494.7),
    "nvjet_tss_64x8_64x16_4x1_v_bz_TNT": ("fp32 or tf32", None),
}


def test_fp32_is_tf32_where_the_kernel_says_so(tmp_path: Path) -> None:
    events = ops_in_turn([("aten::mm", inputs([[64, 32], [32, 48]], type_=FLOAT))] * len(FP32_KERNELS), "KERNEL")
    for name in FP32_KERNELS:
        place = next(place for place, text in enumerate(events) if '"KERNEL"' in text)
        events[place] = events[place].replace("KERNEL", name)
    unknown = says("FP32 ran as TF32", "give its peak", "fp32=67")
    rows = found(tmp_path, events)
    assert [(row["name"], row["data_type"], row["peak_tflops"], row["reason"], row["flops"]) for row in rows] == [
        (name, data_type, peak, None if peak else unknown, FLOPS) for name, (data_type, peak) in FP32_KERNELS.items()
    ]


# Device, cores, type -> its peak, and where that is from or why there is none.
DEVICES: list[tuple[str, int | None, str, float | None, Any]] = [
    ("NVIDIA H100 80GB HBM3", 132, BF16, 989.4, "data sheet of NVIDIA H100 SXM"),
    ("NVIDIA H100 PCIe", 114, BF16, 756, "data sheet of NVIDIA H100 PCIe"),
    ("NVIDIA H100 NVL", 132, FP8, 1670.5, "data sheet of NVIDIA H100 NVL"),
    ("NVIDIA H200", 132, "c10::Half", 989.5, "data sheet of NVIDIA H200"),
    ("NVIDIA H200 NVL", 132, BF16, 835.5, "data sheet of NVIDIA H200 NVL"),
    ("NVIDIA B200", 148, BF16, 2250, "data sheet of NVIDIA B200"),
    ("A100-SXM4-40GB", 108, "double", 19.5, "data sheet of NVIDIA A100"),
    ("NVIDIA L4", None, BF16, 121, "data sheet of NVIDIA L4"),
    ("NVIDIA L40S", 142, BF16, 362.05, "data sheet of NVIDIA L40S"),
    ("AMD Instinct MI210", 104, BF16, 181, "data sheet of AMD Instinct MI210"),
    ("AMD Instinct MI250X/MI250", 110, BF16, 191.5, "data sheet of AMD Instinct MI250X"),
    ("AMD Instinct MI300X VF", 304, FP8, 2614.9, "data sheet of AMD Instinct MI300X"),
    ("AMD Instinct MI325X", 304, "signed char", 2614.9, "data sheet of AMD Instinct MI325X"),
    ("AMD Instinct MI350X", 256, BF16, 2306.9, "data sheet of AMD Instinct MI350X"),
    ("AMD Instinct MI355X", 256, BF16, 2516.6, "data sheet of AMD Instinct MI355X"),
    (
        "AMD Instinct MI300X", 38, BF16, None,
        says("a part of AMD Instinct MI300X", "38 of 304 cores", "give the peak of bf16"),
    ),
    (
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, BF16, None,
        says("a part of NVIDIA H100 SXM", "16 of 132 cores", "give the peak of bf16"),
    ),
    ("NVIDIA L4", 58, "double", None, says("no peak of fp64", "NVIDIA L4", "give it")),
    ("NVIDIA L40", 142, BF16, None, says("no peak of bf16", "NVIDIA L40", "give it")),
    ("NVIDIA GeForce RTX 9090", 58, BF16, None, says("no peak of bf16", "NVIDIA GeForce RTX 9090", "give it")),
    ("", 304, BF16, None, says("does not name the device", "give the peak of bf16")),
]  # fmt: skip


TYPES = {BF16: "bf16", FP8: "fp8", "c10::Half": "fp16", "double": "fp64", "signed char": "int8"}


def test_the_name_of_a_device_and_its_cores_say_which_data_sheet_holds() -> None:
    given: dict[str, list[Row]] = {
        "mfu.cube_kernel": [{"kernel_id": n, "shape_id": n, "device_id": n} for n in range(len(DEVICES))],
        "mfu.shape": [{"shape_id": n, "data_type": TYPES[type_]} for n, (_, _, type_, *_) in enumerate(DEVICES)],
        "mfu.chip": [
            {"device_id": n, "product": name or None, "core_count": cores, "origin": "deviceProperties"}
            for n, (name, cores, *_) in enumerate(DEVICES)
        ],
        "mfu.product_peak": [*product_peaks()],
    }
    rows = sorted(
        (row["device_id"], row["peak_tflops"], row["peak_from"] or row["reason"]) for row in rows_of("mfu.peak", given)
    )
    assert rows == [(n, peak, said) for n, (*_, peak, said) in enumerate(DEVICES)]


def product_peaks() -> list[dict[str, object]]:
    """Return the data sheets; a profile without inputs of ops needs none."""
    assert rows_of("mfu.product_peak", {}) == []
    return rows_of("mfu.product_peak", {"trace.op_input": [{"op_id": 1}]})


def test_the_guide_has_the_peaks_of_the_data_sheets() -> None:
    guide = (CHECKOUT / "docs" / "mfu.md").read_text(encoding="utf-8")
    table = guide.partition("(table mfu.product_peak)")[2].split("\n\n")[1]
    lines = re.findall(r"^\| (?:NVIDIA |AMD Instinct )?(.*) \|$", table, re.MULTILINE)
    header, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    said = {
        (product, type_.lower()): float(peak)
        for row in rows
        for product in row[0].partition(", one of")[0].split(", ")
        for types, peak in zip(header[1:], row[1:], strict=True)
        for type_ in types.split(", ")
        if peak
    }
    makers = re.compile("^(NVIDIA|AMD Instinct) ")
    assert {(makers.sub("", str(row["product"])), row["data_type"]): row["tflops"] for row in product_peaks()} == said


@pytest.mark.slow
def test_the_peak_is_that_of_the_data_sheet_without_sparsity(tmp_path: Path) -> None:
    """Of the device on which the kernel ran: here a host has one of each."""
    properties = [{"id": number, "name": name, "numSms": cores} for number, (name, cores, *_) in enumerate(DEVICES, start=1)]
    events = ops_in_turn([("aten::mm", inputs([[64, 32], [32, 48]], type_=type_)) for _, _, type_, *_ in DEVICES])
    for number in range(len(DEVICES)):
        events[3 * number + 2] = events[3 * number + 2].replace('"device": 0', f'"device": {number + 1}')
    rows = found(tmp_path, events, {**HEAD, "deviceProperties": properties})
    assert [(row["peak_tflops"], row["peak_from"] or row["reason"], row["efficiency"]) for row in rows] == [
        (peak, said, pytest.approx(FLOPS / LONG_NS / 1000 / peak) if peak else None) for *_, peak, said in DEVICES
    ]


@pytest.mark.slow
def test_a_peak_that_the_user_gives_comes_first(tmp_path: Path) -> None:
    events = one_op("aten::mm", inputs([[64, 32], [32, 48]], type_=FP8))
    (row,) = found(tmp_path, events, HEAD, peak_tflops={"fp8": 100.0})
    assert (row["peak_tflops"], row["peak_from"], row["data_type"]) == (100.0, "given for fp8", "fp8")
    assert row["efficiency"] == pytest.approx(FLOPS / LONG_NS / 1000 / 100)


def test_what_is_around_the_events_is_read_after_them_too(tmp_path: Path) -> None:
    """Lists follow the name of the device there."""
    tail = {**H100, "distributedInfo": {"rank": 3, "pg_config": [{"ranks": [0, 1], "pg_name": "0"}]}, "last": 1}
    path = write_trace(tmp_path / "trace.json", one_op("aten::mm", MATMUL), {}, tail)
    with open_profile(path) as profile:
        rows = profile.sql("SELECT rank_id, product FROM trace.chip", arrow=True).to_pylist()
    assert rows == [{"rank_id": 3, "product": "NVIDIA H100 80GB HBM3"}]


def test_without_shapes_there_is_a_reason(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "trace.json", one_op("aten::mm", {}), H100)
    with open_profile(path) as profile:
        (rank,) = json.loads(json.dumps(profile.ranks().to_dict("records"), default=str))
    assert "mfu" not in rank["answers"]
    assert "record_shapes=True of torch.profiler.profile" in str(rank)


# Name of a kernel -> whether it multiplies matrices.
MULTIPLIES = {
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas": True,
    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2>(int)": True,
    "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT": True,
    "Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1": True,
    "void gemv2T_kernel_val<int, int, float, float, float, float, 128>(int)": True,
    "void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)": True,
    "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32": True,
    "_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffle": True,
    "void implicit_convolve_sgemm<float, float, 1024>(int)": True,
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7": True,
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>(int)": True,
    "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<int>(int)": True,
    "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention)": True,
    "attn_fwd": True,
    "void ck_tile::kentry<256, 2, ck_tile::FmhaFwdKernel<int> >(int)": True,
    "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<int> > >(int)": True,
    "kernel_unified_attention_2d": True,
    "triton_tem_fused_mm_0": True,
    "fused_moe_kernel": True,
    "void at::native::elementwise_kernel<128, cutlass::bfloat16_t>(int)": False,
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>(int)": False,
    "void convertTensor_kernel<float, float>(float)": False,
    "void cudnn::engines_precompiled::nchwToNhwcKernel<float>(int)": False,
    "void flash::flash_bwd_dot_do_o_kernel<true>(int)": False,
    "void flash::flash_bwd_convert_dq_kernel<int>(int)": False,
    "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16>(int)": False,
    "void ck_tile::kentry<64, 2, ck_tile::FmhaBwdOGradDotOKernel<int> >(int)": False,
    "void ck_tile::kentry<64, 1, ck_tile::Rmsnorm2dFwd<int> >(int)": False,
    "void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<int> >(int)": False,
    "SubTensorOpWithCastTensor1d": False,
    "batched_transpose_32x32_half": False,
    "triton_poi_fused_convolution_relu_0": False,
    "triton_red_fused_native_layer_norm_mm_3": False,
}


def test_names_say_which_kernels_multiply_matrices() -> None:
    with empty_database() as connection:
        found = connection.execute(
            "SELECT name, multiplies_matrices(name) FROM unnest($names) AS named (name)",
            {"names": list(MULTIPLIES)},
        ).fetchall()
    assert dict(found) == MULTIPLIES
