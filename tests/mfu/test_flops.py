"""FLOPs by the shapes of kernels: every operator family, each format, and the reason where shapes cannot tell."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Matmul, write_profile

MASKED = says("what the mask leaves out", "not in the shapes")
LENGTHS = says("lengths of the sequences are", "not in the shapes")
PAGED = says("lengths of the sequences", "paged cache", "not in the shapes")
ROWS = says("rows of the groups", "not in the shapes")
LAYOUT = says("shapes fit several layouts")
MISFIT = says("shapes do not fit")


@dataclass(frozen=True)
class Case:
    """A kernel as the profile describes it, and its FLOPs, or why there are none and what they are at most."""

    type: str | None
    inputs: str
    outputs: str
    flops: int | None = None
    reason: Any = None
    upper_bound: int | None = None
    padded: int | None = None
    source: str = "shapes"
    types: str = "DT_BF16;DT_BF16;DT_BF16"
    formats: str = "ND;ND;ND;ND"
    output_formats: str = "ND;ND;ND;ND"
    core: str = "AI_CORE"

    def kernel(self, number: int) -> Kernel:
        return Matmul(
            f"kernel_{number:03}",
            1000 * number,
            1000 * number + 500,
            type=self.type,
            core=self.core,
            inputs=self.inputs,
            types=self.types,
            outputs=self.outputs,
            formats=self.formats,
            output_formats=self.output_formats,
        )


def nz(*formats: str) -> str:
    return ";".join("FRACTAL_NZ" if one == "nz" else "ND" for one in formats)


FRACTAL_2048 = 2 * 2048 * 1024 * 512
INT8 = "INT8;INT8;FLOAT"
ATTENTION_TYPES = "DT_BF16;DT_BF16;DT_BF16;DT_BF16;UINT8;DT_BF16;BOOL;INT64;INT64;INT64"
DENSE = 2 * 32 * 4096 * 4096 * (128 + 128)
STATISTICS = "1,32,4096,8;1,32,4096,8;;"
INFERENCE_TYPES = "DT_BF16;DT_BF16;DT_BF16;DT_UNDEFINED;INT8;INT64;INT64;" + 7 * "DT_UNDEFINED;" + "INT32"

MATMULS = [
    Case("MatMul", "64,32;32,48", "64,48", 2 * 64 * 32 * 48),
    Case("MatMulV2", "32,64;32,48", "64,48", 2 * 64 * 32 * 48),  # the first input transposed
    Case("MatMulV3", "64,32;48,32;48", "64,48", 2 * 64 * 32 * 48),  # the second, and a bias
    Case("MatMulCommon", "32,64;48,32", "64,48", 2 * 64 * 32 * 48),  # both
    Case("MatMulV2", "64,64;64,64", "64,64", 2 * 64**3),
    Case("MatMulV2", "4,64,32;48,32", "4,64,48", 2 * 4 * 64 * 32 * 48),
    Case("MatMulV2", "4,64,32;32,48", "256,48", 2 * 256 * 32 * 48),  # leading dims folded into rows
    Case("MatMulV2", "256,32;32,48", "4,64,48", 2 * 256 * 32 * 48),
    Case("BatchMatMul", "8,64,32;8,32,48", "8,64,48", 2 * 8 * 64 * 32 * 48),
    Case("BatchMatMulV2", "2,4,64,32;2,4,48,32", "2,4,64,48", 2 * 8 * 64 * 32 * 48),
    Case("BatchMatMulV3", "2,1,64,32;1,4,32,48", "2,4,64,48", 2 * 8 * 64 * 32 * 48),  # broadcast on both sides
    Case("BatchMatMulV2", "64,32;8,32,48", "8,64,48", 2 * 8 * 64 * 32 * 48),
    Case("TransposeBatchMatMul", "100,8,512;8,512,128", "100,8,128", 2 * 8 * 100 * 512 * 128),
    Case("TransposeBatchMatMul", "8,100,512;8,512,128", "100,1024", 2 * 8 * 100 * 512 * 128),
    Case(
        "MatMulV2",
        "64,128,16,16;32,64,16,16",
        "32,128,16,16",
        FRACTAL_2048,
        source="padded shapes",
        formats=nz("nz", "nz"),
        output_formats="FRACTAL_NZ",
    ),
    Case("MatMulV2", "2048,1024;32,64,16,16", "2048,512", FRACTAL_2048, formats=nz("nd", "nz")),
    Case(
        "MatMulV2",
        "2048,1000;32,63,16,16",
        "2048,500",
        2 * 2048 * 1000 * 500,
        padded=2 * 2048 * 1008 * 512,
        formats=nz("nd", "nz"),
    ),
    Case("QuantBatchMatmulV3", "64,1024;1024,512;512", "64,512", 2 * 64 * 1024 * 512, types=INT8),
    Case(
        "QuantBatchMatmulV4", "64,1024;16,64,16,32;512", "64,512", 2 * 64 * 1024 * 512, types=INT8, formats=nz("nd", "nz", "nd")
    ),
    Case("WeightQuantBatchMatmulV2", "64,1024;1024,512;512", "64,512", 2 * 64 * 1024 * 512, types="DT_BF16;INT8;DT_BF16"),
    Case("WeightQuantBatchMatmulV2", "64,1024;1024,64;512", "64,512", 2 * 64 * 1024 * 512, types="DT_BF16;INT32;DT_BF16"),
    Case("BatchMatMulNd", "16,1,128;16,128,512", "16,1,512", 2 * 16 * 128 * 512),
    Case("QuantBatchMatmulV3", "64,1024;1024,512", "64,512", 2 * 64 * 1024 * 512, types=INT8, formats=nz("nd", "nz")),
    Case("AllGatherMatmul", "64,128;128,96", "512,96;512,128", 2 * 512 * 128 * 96),
    Case("MatmulReduceScatter", "512,128;128,96", "64,96", 2 * 512 * 128 * 96),
    Case("MatmulAllReduce", "64,128;128,96", "64,96", 2 * 64 * 128 * 96),
]
# Of grouped matmuls the shapes hold a buffer, which the groups can fill in part: all of its rows are the most there can be.
GROUPED = [
    Case(type_, inputs, outputs, reason=ROWS, upper_bound=2 * 96 * 64 * 48, types=types, formats=formats)
    for type_, inputs, outputs, types, formats in (
        ("GroupedMatmul", "96,64;4,64,48;;;;;;4", "96,48", Case.types, Case.formats),
        ("GroupedMatmul", "96,64;4,48,64;;;;;;4", "96,48", Case.types, Case.formats),
        ("GroupedMatmul", "96,64;64,48;64,48;;;;;;2", "96,48", Case.types, Case.formats),  # a tensor a weight
        ("GroupedMatmul", "96,64;96,48;;;;;;4", "4,64,48", Case.types, Case.formats),  # the gradient of the weights
        ("GroupedMatmulSwigluQuant", "96,64;4,64,48", "96,24", INT8, Case.formats),
        ("GroupedMatmulSwigluQuantV2", "96,64;4,64,48", "96,24", INT8, nz("nd", "nz")),
        ("GroupedMatmulFinalizeRouting", "96,64;4,64,48", "12,48", INT8, Case.formats),
        ("WeightQuantGroupedMatmul", "96,64;4,64,48", "96,48", "DT_BF16;INT8", Case.formats),
    )
]
# A tensor for the rows of each group says them: rows, weights, then bias, scales and the list of groups.
SEPARATE = [
    Case("GroupedMatmul", "30,64;66,64;64,48;64,48;;;;;;2", "30,48;66,48", 2 * 96 * 64 * 48),
    Case("GroupedMatmul", "30,64;66,64;64,48;64,48;48;48;;;;;2", "96,48", 2 * 96 * 64 * 48),  # one output
    Case("GroupedMatmul", "30,64;66,64;48,64;48,64", "30,48;66,48", 2 * 96 * 64 * 48),  # weights that are turned
    Case("GroupedMatmul", "30,64;66,32;64,48;32,16", "30,48;66,16", 2 * (30 * 64 * 48 + 66 * 32 * 16)),
    Case("GroupedMatmul", "0,64;66,64;9,64;64,48;64,48;64,48", "0,48;66,48;9,48", 2 * 75 * 64 * 48),  # nobody asked the first
    Case("GroupedMatmulSwigluQuant", "30,64;66,64;64,48;64,48;48;48;30;66", "30,24;66,24;30;66", 2 * 96 * 64 * 48, types=INT8),
]
CONVOLUTIONS = [
    Case(
        "Conv2D",
        "8,3,32,32;16,3,5,5;16",
        "8,16,28,28",
        2 * 8 * 28 * 28 * 16 * 3 * 25,
        formats="NCHW;NCHW;ND",
        output_formats="NCHW",
    ),
    Case(
        "Conv2D", "8,12,32,32;16,3,5,5", "8,16,28,28", 2 * 8 * 28 * 28 * 16 * 3 * 25, formats="NCHW;NCHW", output_formats="NCHW"
    ),  # four groups
    Case(
        "Conv2D",
        "8,1,32,32,16;25,1,16,16",
        "8,1,28,28,16",
        2 * 8 * 28 * 28 * 16 * 3 * 25,
        padded=2 * 8 * 28 * 28 * 16 * 16 * 25,
        formats="NC1HWC0;FRACTAL_Z",
        output_formats="NC1HWC0",
    ),
    Case(
        "Conv2D",
        "8,2,32,32,16;50,1,16,16",
        "8,1,28,28,16",
        2 * 8 * 28 * 28 * 16 * 32 * 25,
        source="padded shapes",
        formats="NC1HWC0;FRACTAL_Z",
        output_formats="NC1HWC0",
    ),
    Case(
        "Conv2DBackpropInput",
        "4;16,3,5,5;8,16,28,28",
        "8,3,32,32",
        2 * 8 * 28 * 28 * 16 * 3 * 25,
        types="INT32;FLOAT16;FLOAT16",
        formats="ND;NCHW;NCHW",
        output_formats="NCHW",
    ),
    Case(
        "Conv2DBackpropFilter",
        "8,3,32,32;4;8,16,28,28",
        "16,3,5,5",
        2 * 8 * 28 * 28 * 16 * 3 * 25,
        types="FLOAT16;INT32;FLOAT16",
        formats="NCHW;ND;NCHW",
        output_formats="NCHW",
    ),
    Case(
        "Conv3D",
        "2,3,8,32,32;16,3,3,5,5",
        "2,16,6,28,28",
        2 * 2 * 6 * 28 * 28 * 16 * 3 * 75,
        formats="NCDHW;NCDHW",
        output_formats="NCDHW",
    ),
]
ATTENTIONS = [
    # Without a mask and with the statistics of the softmax, the shapes tell all: any layout, shared keys, Dq other than Dv.
    Case("FlashAttentionScore", "1,32,4096,128;1,32,4096,128;1,32,4096,128;;;;;;;", STATISTICS + "1,32,4096,128", DENSE),
    Case("FlashAttentionScore", "4096,1,4096;4096,1,1024;4096,1,1024;;;;;;;", STATISTICS + "4096,1,4096", DENSE),
    Case("FlashAttentionScore", "1,4096,4096;1,4096,1024;1,4096,1024;;;;;;;", STATISTICS + "1,4096,4096", DENSE),
    Case(
        "FlashAttentionScore",
        "1,4096,32,192;1,4096,32,192;1,4096,32,128;;;;;;;",
        STATISTICS + "1,4096,32,128",
        2 * 32 * 4096 * 4096 * (192 + 128),
    ),
    Case(
        "FlashAttentionScoreGrad",
        "1,32,4096,128;1,32,4096,128;1,32,4096,128;1,32,4096,128;1,32,4096,8;1,32,4096,8",
        "1,32,4096,128",
        DENSE // 2 * 5,
        types="DT_BF16;DT_BF16;DT_BF16;DT_BF16;FLOAT;FLOAT",
    ),
    Case(
        "FlashAttentionScore",
        "4096,1,4096;4096,1,1024;4096,1,1024;;;;2048,2048;;;",
        STATISTICS + "4096,1,4096",
        reason=MASKED,
        upper_bound=DENSE,
    ),
    Case(
        "FlashAttentionScore",
        "4096,32,128;4096,32,128;4096,32,128;;;;;;4;4",
        "4096,32,8;4096,32,8;;4096,32,128",
        reason=LENGTHS,
        upper_bound=DENSE,
    ),
    Case(
        "FlashAttentionScore", "32,32,32,64;32,32,32,64;32,32,32,64;;;;;;;", "32,32,32,64", 2 * 32 * 32 * 32 * 32 * 128
    ),  # whatever the layout
    Case(
        "FlashAttentionScore",
        "1,32,64,64;1,32,64,64;1,32,64,64;;;;;;;",
        "1,32,64,64",
        reason=LAYOUT,
        upper_bound=2 * 32 * 64 * 64 * 128,
    ),
    Case("FlashAttentionScore", "4096,4096;4096,4096;4096,4096", "4096,4096", reason=MISFIT),
    Case("FusedInferAttentionScore", "2,100,512;2,300,512;2,300,512", "2,100,512", 2 * 2 * 100 * 300 * 1024),
    Case("PromptFlashAttention", "1,8,100,64;1,2,300,64;1,2,300,64", "1,8,100,64", 2 * 8 * 100 * 300 * 128),
    Case(
        "FusedInferAttentionScore",
        "4112,4,128;4112,1,128;4112,1,128;;2048,2048;2;2",
        "4112,4,128",
        reason=LENGTHS,
        upper_bound=2 * 4 * 4112 * 4112 * 256,
    ),
    Case(
        "FusedInferAttentionScore",
        "16,4,128;12550,128,128;12550,128,128;;2048,2048;16;16;;;;;;;;16,512",
        "16,4,128",
        reason=PAGED,
        upper_bound=2 * 16 * 4 * 512 * 128 * 256,
    ),
    Case("IncreFlashAttention", "4,1,512;4,300,512;4,300,512;;;4", "4,1,512", reason=LENGTHS, upper_bound=2 * 4 * 300 * 1024),
    Case(
        "PagedAttentionMaskKernel",
        "16,4,128;200,128,1,128;200,128,1,128;16,8;16",
        "16,4,128",
        reason=PAGED,
        upper_bound=2 * 16 * 4 * 8 * 128 * 256,
        types="DT_BF16;DT_BF16;DT_BF16;INT32;INT32",
    ),
]
UNKNOWN = [
    Case("MatMulV2", "64,32;33,48", "64,48", reason=MISFIT),
    Case("MatMulV2", "64,-1;-1,48", "64,48", reason=MISFIT),
    Case("MatMulV2", "64,x;32,48", "64,48", reason=MISFIT),
    Case("MatMulV2", "64;64", "1", reason=MISFIT),
    Case("MatMulV2", "9999999999,9999999999;9999999999,48", "9999999999,48", reason=MISFIT),
    Case("MatMulV2", "4398046511104,1;1,4398046511104", "1,1", reason=MISFIT),
    Case("Conv2D", "8,3,32,32", "8,16,28,28", reason=MISFIT, formats="NCHW", output_formats="NCHW"),
    Case("GroupedMatmul", "96,64;4,65,48", "96,48", reason=MISFIT),
    Case("LightningIndexer", "8,3,32,32", "8,16,28,28", reason=says("no formula for the operator type"), core="MIX_AIC"),
    Case(None, "64,32;32,48", "64,48", reason=says("operator type", "not recorded")),
]
CASES = [*MATMULS, *GROUPED, *SEPARATE, *CONVOLUTIONS, *ATTENTIONS, *UNKNOWN]
# What stands before and behind a convolution: its weight without padding. Of the other weight there are two.
TRANSFORMS = [
    Matmul(
        "to_z",
        0,
        1,
        type="TransData",
        core="AI_VECTOR_CORE",
        inputs="16,3,5,5",
        outputs="25,1,16,16",
        formats="NCHW",
        output_formats="FRACTAL_Z",
    ),
    Matmul(
        "to_z",
        1,
        2,
        type="TransData",
        core="AI_VECTOR_CORE",
        inputs="16,20,5,5",
        outputs="50,1,16,16",
        formats="NCHW",
        output_formats="FRACTAL_Z",
    ),
    Matmul(
        "from_z",
        2,
        3,
        type="TransData",
        core="AI_VECTOR_CORE",
        inputs="50,1,16,16",
        outputs="16,24,5,5",
        formats="FRACTAL_Z",
        output_formats="NCHW",
    ),
]


def attention_types(case: Case) -> Case:
    if case.types != Case.types or "ttention" not in (case.type or ""):
        return case
    types = INFERENCE_TYPES if "Infer" in (case.type or "") or "Incre" in (case.type or "") else ATTENTION_TYPES
    return Case(**{**vars(case), "types": types, "core": "MIX_AIC"})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("flops")
    kernels = [attention_types(case).kernel(number) for number, case in enumerate(CASES)]
    write_profile(folder, unlinked=[*kernels, *TRANSFORMS])
    with open_profile(folder) as profile:
        rows = arrow_of(profile.mfu("kernel")).to_pylist()
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=[f"{case.type} {case.inputs}" for case in CASES])
def test_flops_of(found: dict[str, dict[str, Any]], number: int, case: Case) -> None:
    row = found[f"kernel_{number:03}"]
    expected = {
        "flops": case.flops,
        "padded_flops": case.padded or case.flops,
        "flops_upper_bound": case.upper_bound,
        "flops_source": None if case.flops is None else case.source,
    }
    assert {name: row[name] for name in expected} == expected
    if case.flops is None:
        assert row["reason"] == case.reason
        assert row["efficiency"] is None


def test_kernels_that_multiply_nothing_have_no_row(found: dict[str, dict[str, Any]]) -> None:
    assert sorted(found) == [f"kernel_{number:03}" for number in range(len(CASES))]


@pytest.mark.slow
def test_shapes_that_were_not_recorded_are_a_reason(tmp_path: Path) -> None:
    bare = Matmul("bare", 0, 10, inputs="N/A", outputs="N/A", types="N/A")
    write_profile(tmp_path, unlinked=[bare, Matmul("mm", 20, 30, outputs="16,16")])
    with open_profile(tmp_path) as profile:
        kernels = profile.mfu("kernel")
    assert kernels["reason"].tolist()[:1] == [says("shapes", "not recorded")]
    assert kernels["flops"].tolist()[1] == 2 * 16**3
