"""Chains of kernels that one fused op replaces: which sequences are one, and what their kernels cost."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.small_profile import Kernel, Launch, Op, Range, edit, write_profile

# Types of kernels in their order on a stream -> the chains in it, each with the places of its first and last kernel.
CHAINS = {
    "Cast Pows ReduceMean Adds Rsqrt Mul Cast Mul": [("RMSNorm", 1, 8)],
    "Mul ReduceMeanD Add Sqrt Reciprocal Mul": [("RMSNorm", 1, 6)],
    "ReduceMean Sub Square ReduceMean Adds Rsqrt Mul Mul Add": [("LayerNorm", 1, 9)],
    "MatMulV2 Swish MatMulV2 Mul": [("SwiGLU", 2, 4)],
    "Swish Slice Mul": [("SwiGLU", 1, 3)],
    "Sigmoid Mul Mul": [("SwiGLU", 1, 3)],
    "Gelu Mul": [("GeGLU", 1, 2)],
    "Muls Pows Muls Add Muls Tanh Adds Mul": [("GELU", 1, 8)],
    "Mul Neg ConcatD Mul Add Mul Neg ConcatD Mul Add": [("rotary embedding", 1, 10)],
    "BatchMatMulV2 Muls Add SoftmaxV2 Cast BatchMatMulV2": [("attention", 1, 6)],
    "BatchMatMulV2 RealDiv MaskedFill SoftmaxV2 DropOutDoMask BatchMatMulV2": [("attention", 1, 6)],
    "ReduceMax Sub Exp ReduceSum RealDiv": [("softmax", 1, 5)],
    "ArgMaxWithValue Sub Index Mul Exp ReduceSum Log Sub RealDiv": [("cross entropy", 1, 9)],
    "ForeachMulScalar ForeachAddcmulScalar ForeachSqrt ForeachAddcdivScalar": [("optimizer", 1, 4)],
    "Lerp Mul Addcmul Sqrt RealDiv Adds Addcdiv Lerp Mul Addcmul Sqrt RealDiv Adds Addcdiv": [("optimizer", 1, 14)],
    "Swish Mul Fill Gelu Mul": [("SwiGLU", 1, 2), ("GeGLU", 4, 5)],
    # What is fused already, or not done by a fused op.
    "RmsNorm SwiGlu RotaryMul FlashAttentionScore ApplyAdamWV2": [],
    "MatMulV2 SoftmaxV2 TopKV2 MatMulV2": [],
    "Mul Add Mul Add Swish Add": [],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, int, int]]]:
    """Return the chains of all sequences, each on a stream of its own."""
    folder = tmp_path_factory.mktemp("chains")
    sequences = {stream: types.split() for stream, types in enumerate(CHAINS, 10)}
    kernels = tuple(
        Kernel(type_, 1000 + 10 * place, 1005 + 10 * place, type=type_, stream=stream)
        for stream, types in sequences.items()
        for place, type_ in enumerate(types)
    )
    write_profile(folder / "0_ascend_pt", [Op("all", 100, 200, kernels)])
    with open_profile(folder) as profile:
        rows = profile.rows("SELECT pattern, stream, first_place, last_place FROM chain.found ORDER BY stream, first_place")
    chains: dict[str, list[tuple[str, int, int]]] = {types: [] for types in CHAINS}
    for row in rows:
        chains[list(CHAINS)[row["stream"] - 1]].append((row["pattern"], row["first_place"], row["last_place"]))
    return chains


@pytest.mark.parametrize("types", CHAINS)
def test_a_sequence_of_kernels_is_the_chains_that_it_computes(types: str, found: dict[str, list[tuple[str, int, int]]]) -> None:
    assert found[types] == CHAINS[types]


def test_single_ops_of_an_optimizer_are_a_chain_where_its_step_is_recorded(tmp_path: Path) -> None:
    kernels = tuple(
        Kernel("k", 1000 + 10 * place, 1005 + 10 * place, type=kind) for place, kind in enumerate(("Mul", "Add", "Add"))
    )
    ops = [Op("Optimizer.step#SGD.step", 100, 200), Op("aten::mul", 110, 190, kernels), Op("aten::add", 300, 310, kernels[:0])]
    write_profile(tmp_path / "0_ascend_pt", ops)
    with open_profile(tmp_path) as profile:
        rows = profile.rows("SELECT pattern, module, parts, chain_count, kernel_count, duration_ns FROM chain.cost")
    assert [tuple(row.values()) for row in rows] == [("optimizer", None, "aten::mul, aten::mul, aten::mul", 1, 3, 15)]


def test_a_chain_costs_its_critical_time_and_gaps_without_one_pass_over_its_data(tmp_path: Path) -> None:
    """Silu and mul, a matmul between them; the copy moves 4 MiB in 2 us, so the 6 MiB of a fused op take 3 us."""
    big, half = "1048576", "524288,1"
    copy = Kernel("copy", 0, 2000, type="TensorMove", inputs=big, outputs=big, types="FLOAT16")
    silu = Kernel("silu", 10_000, 19_000, type="Swish", inputs="1048576,1", outputs="1048576,1", types="FLOAT16")
    matmul = Kernel("mm", 20_000, 30_000, type="MatMulV2", inputs=f"{half};{half}", outputs="1,1", types="FLOAT16;FLOAT16")
    mul = Kernel("mul", 30_000, 45_000, type="Mul", inputs="2097152,1", outputs="2097152,1", types="FLOAT16")
    # Launched long before, so the gap between 19000 and 20000 is one of the device.
    launches = [Launch(100 + 10 * place, 105 + 10 * place, (kernel,)) for place, kernel in enumerate((copy, silu, matmul, mul))]
    ops = [Op("aten::silu", 100, 200)]
    write_profile(tmp_path / "0_ascend_pt", ops, [Range("MLP", 50, 300)], launches=launches)
    with open_profile(tmp_path) as profile:
        rows = profile.rows("FROM chain.cost")
    assert [tuple(row.values()) for row in rows] == [
        ("0_ascend_pt", 0, "SwiGLU", "MLP", "aten::silu, aten::silu", 1, 2, 24_000, 24_000, 1000, 0, 3000, 0, 0, 22_000)
    ]


def test_where_the_device_waits_for_the_host_afterwards_launches_are_won(tmp_path: Path) -> None:
    silu = Kernel("silu", 1000, 1010, type="Swish")
    mul = Kernel("mul", 2000, 2010, type="Mul")
    late = Kernel("late", 9000, 9010, type="Fill")
    launches = [Launch(500, 505, (silu,)), Launch(1500, 1505, (mul,)), Launch(8500, 8505, (late,))]
    write_profile(tmp_path / "0_ascend_pt", [Op("aten::silu", 400, 8600)], launches=launches)
    with open_profile(tmp_path) as profile:
        rows = profile.rows("FROM chain.cost")
    assert [tuple(row.values()) for row in rows] == [
        ("0_ascend_pt", 0, "SwiGLU", None, "aten::silu, aten::silu", 1, 2, 20, 0, 0, 1000, 0, 0, 0, 1000)
    ]


def test_hostile_names_are_no_patterns(tmp_path: Path) -> None:
    """Names that look like marks of the sequence, or like expressions."""
    kernels = tuple(
        Kernel(name, 1000 + 10 * place, 1005 + 10 * place, type=name)
        for place, name in enumerate(("<Swish>", "Swish", "(?:.*)", "Mul", "'; DROP TABLE x; --", "Swish", "Mul"))
    )
    database = write_profile(tmp_path / "0_ascend_pt", [Op("aten::silu", 100, 200, kernels)])
    edit(database, "UPDATE COMPUTE_TASK_INFO SET opType = 99999 WHERE rowid = 3;")
    with open_profile(tmp_path) as profile:
        rows = profile.rows("SELECT pattern, first_place, last_place FROM chain.found")
    assert [tuple(row.values()) for row in rows] == [("SwiGLU", 6, 7)]
