"""What rules of the device judge: kernels by module, op and description, cores, and names that have a role."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers import kineto
from tests.helpers.device_work import US, cast, matmul, one_after_another, vector, work
from tests.helpers.says import says


def test_facts_of_kernels_that_leave_the_device_unused(tmp_path: Path) -> None:
    """36 blocks on 24 cores take as long as 48: a quarter of the cores has no work."""
    kernels = [
        matmul(90, blocks=16, hf32="NO"),
        matmul(90, blocks=36, hf32="NO"),
        vector(10, types="DT_BF16;FLOAT", blocks=48),
        cast(20, "FLOAT", "DT_BF16", blocks=12),
        work(30, type="NonZero", types="BOOL", core="AI_CPU", blocks=0),
    ]
    one_after_another(tmp_path, kernels)
    with open_profile(tmp_path) as profile:
        found = [
            tuple(row.values()) for row in profile.rows("SELECT * EXCLUDE (profile, phase) FROM kernels.work ORDER BY op_name")
        ]
    rank, both, float32, nothing = (0, "compute", "Block"), "DT_BF16;FLOAT", "FLOAT;FLOAT", [None] * 5
    few, many, of_cast = ((16, 16, 24, 30_000, 30_000), (36, 36, 24, 22_500, 22_500), (12, 12, 48, 15_000, 15_000))
    ns, cast_ns, from_to = (90_000, 90_000), (20_000, 20_000), ("FLOAT", "DT_BF16")
    assert found == [
        (*rank, "aten::op0", "MatMulV3", "matrix", None, True, "fp32", "hf32", float32, float32, 1, *ns, *few),
        (*rank, "aten::op1", "MatMulV3", "matrix", None, True, "fp32", "hf32", float32, float32, 1, *ns, *many),
        (*rank, "aten::op2", "Mul", "vector", None, False, "mixed", None, both, both, 1, 10_000, 10_000, 48, 48, 48, 0, 0),
        (*rank, "aten::op3", "Cast", "vector", "type conversion", False, "fp32", None, *from_to, 1, *cast_ns, *of_cast),
        (*rank, "aten::op4", "NonZero", "cpu", None, False, None, None, "BOOL", "BOOL", 1, 30_000, 30_000, *nothing),
    ]  # fmt: skip


NPU_NAMES = [
    ("trans_TransData_3", "TransData", "format conversion"),
    ("aclnnMatmul_TransData_TransData", "TransData", "format conversion"),
    ("aclnnCast_CastAiCore_Cast", "Cast", "type conversion"),
    ("CastAiCore", "CastAiCore", "type conversion"),
    ("aclnnContiguous_SliceAiCore_Slice", "Slice", "copy"),
    ("aclnnInplaceCopy_TensorMoveAiCore_TensorMove", "TensorMove", "copy"),
    ("Transpose12", "TransposeD", "copy"),
    ("aclnnSlice_SliceAiCore_Slice", "Slice", None),
    ("aclnnForecast_Broadcast", "Broadcast", None),
    ("aclnnAdd_AddAiCore_Add", "Add", None),
]
AT = "void at::native::"
GPU_NAMES = [
    ("void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true>(x)", "format conversion"),
    ("batched_transpose_16x32_half", "format conversion"),
    ("transpose_NCHW2CNHW_V2_2D_WG_off64", "format conversion"),
    (f"{AT}(anonymous namespace)::max_pool_forward_nchw<c10::BFloat16>(int)", None),
    (f"{AT}vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(at::T&)>(int)", "type conversion"),
    (f"{AT}unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(T&), LoadWithCast<1> >(int)", "type conversion"),
    (f"{AT}elementwise_kernel<4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda> >(x)", "copy"),
    ("triton_poi_fused__to_copy_1", "type conversion"),
    ("triton_poi_fused_clone_2", "copy"),
    ("triton_red_fused__to_copy_mean_pow_0", None),
    (f"{AT}(anonymous namespace)::CatArrayBatchedCopy<at::native::OpaqueType<2u>, unsigned int, 4>(x)", None),
]


@pytest.mark.slow
def test_only_names_of_what_moves_or_converts_data_have_a_role(tmp_path: Path) -> None:
    one_after_another(tmp_path / "npu", [work(10, name=name, type=type_) for name, type_, _ in NPU_NAMES])
    kernels = [kineto.kernel(name, 10 * US * n, 10 * US * n + US, n + 1) for n, (name, _) in enumerate(GPU_NAMES)]
    kineto.write_trace(tmp_path / "gpu" / "rank0.json", kernels)
    for folder, names in (("npu", [(name, role) for name, _, role in NPU_NAMES]), ("gpu", GPU_NAMES)):
        with open_profile(tmp_path / folder) as profile:
            found = {(row["name"], row["role"]) for row in profile.rows("SELECT name, role FROM kernels.role")}
        assert found == {(name, role) for name, role in names if role}


@pytest.mark.slow
def test_a_gpu_has_blocks_and_the_types_of_its_ops(tmp_path: Path) -> None:
    """ROCm counts threads in the grid of some launches."""
    float32, half = ["float", "float"], ["c10::BFloat16", "c10::BFloat16"]
    kernels = [
        ("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32>(x)", "cudaLaunchKernel", float32, [11, 3, 1]),
        ("Cijk_Ailk_Bljk_BBS_BH_MT64", "hipExtModuleLaunchKernel", half, [8448, 1, 1]),
        ("ampere_bf16_gemm", "cudaLaunchKernel", half, [132, 1, 1]),
        ("unknown_grid_gemm", "cudaLaunchKernel", half, "many"),
    ]
    events = []
    for number, (name, call, types, grid) in enumerate(kernels):
        at = 10 * US * number
        given = {"Input Dims": [[512, 512], [512, 512]], "Input type": types}
        shape = {"grid": grid, "block": [256, 1, 1]}
        events += [
            kineto.op("aten::mm", at, at + 8 * US, number + 1, arguments=given),
            kineto.launch(at + US, at + 2 * US, number + 1, name=call),
            kineto.kernel(name, at + 100 * US, at + 109 * US, number + 1, arguments=shape),
        ]
    chip = {"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 132}]}
    kineto.write_trace(tmp_path / "rank0.json", events, {**kineto.HEAD, **chip})
    columns = "type, least_blocks, core_count, idle_ns, data_type, faster_type, input_types"
    with open_profile(tmp_path) as profile:
        found = [tuple(row.values()) for row in profile.rows(f"SELECT {columns} FROM kernels.work ORDER BY type")]
        evidence = [row["evidence"] for row in profile.rows("FROM advice.hf32_off")]
    joined = ";".join(half)
    assert found == [
        ("Cijk_Ailk_Bljk_BBS_BH_MT64", 33, 132, 6750, "bf16", None, joined),
        ("ampere_bf16_gemm", 132, 132, 0, "bf16", None, joined),
        ("cutlass::Kernel2", 33, 132, 6750, "fp32", "tf32", "float;float"),
        ("unknown_grid_gemm", None, 132, None, "bf16", None, joined),
    ]
    assert evidence == [says("1 kernel", "FP32", "9.0 us", "not in TF32")]
