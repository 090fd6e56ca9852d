"""Rules on planted GPU traces whose host does something inside steps, and chains of kernels that one op could replace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import found_by
from tests.helpers.kineto import HEAD, event, kernel, launch, op, write_trace
from tests.helpers.slow import quick

US, MS = 1000, 1_000_000
H100 = {**HEAD, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}]}
# What the host does in the middle of a step: events from a moment on, given the number of the step.
Work = Callable[[int, int], list[str]]


def found(folder: Path, events: list[str], rule: str) -> list[dict[str, Any]]:
    with open_profile(write_trace(folder / "trace.json", events, H100)) as profile:
        return found_by(profile, rule)


def steps(work: Work, lasts: int, in_steps: tuple[int, ...]) -> list[str]:
    """Four steps of five products of 1 ms, launched as the one before ends; in some, the host works after the third."""
    events, at, number = [], 0, 0
    for step in range(1, 5):
        begin = at
        for place in range(5):
            number += 1
            events += [op("aten::mm", at + 10 * US, at + 30 * US, number), launch(at + 15 * US, at + 20 * US, number, number)]
            events += [kernel("gemm", at + 30 * US, at + 30 * US + MS, number)]
            at += MS + 20 * US
            if place == 2 and step in in_steps:
                events += work(at, step)
                at += lasts
        events += [event("user_annotation", f"ProfilerStep#{step}", begin, at)]
    return events


def call(name: str, of_op: str, lasts: int, category: str = "cuda_runtime") -> Work:
    """An op whose call of the runtime takes nearly all of its time."""

    def work(at: int, step: int) -> list[str]:
        arguments = {"External id": 9000 + step, "correlation": 90_000 + step}
        inside = event(category, name, at + 10 * US, at + lasts - 10 * US, arguments=arguments)
        return [op(of_op, at, at + lasts, 9000 + step), inside]

    return work


def compilation(at: int, step: int) -> list[str]:  # noqa: ARG001
    return [event("user_annotation", "_compile.compile_inner (dynamo_timed)", at, at + 8 * MS)]


@pytest.mark.parametrize(
    ("rule", "work", "lasts", "in_steps", "said"),
    quick(
        [
            pytest.param(
                "synchronise",
                call("cudaStreamSynchronize", "aten::nonzero", 2 * MS),
                2 * MS,
                (2, 3),
                "aten::nonzero",
                id="nonzero",
            ),
            pytest.param(
                "synchronise", call("cudaStreamSynchronize", "aten::nonzero", 0), 25 * US, (), None, id="no synchronise"
            ),
            pytest.param(
                "allocator_stall", call("cudaMalloc", "aten::empty", 3 * MS), 3 * MS, (2, 3), "aten::empty", id="cudaMalloc"
            ),
            pytest.param(
                "allocator_stall", call("hipFree", "aten::empty", 3 * MS), 3 * MS, (2, 3), "aten::empty", id="hipFree"
            ),
            pytest.param(
                "op_compilation",
                call("cuModuleLoadData", "triton_poi_fused", 3 * MS, "cuda_driver"),
                3 * MS,
                (2, 3),
                "cuModuleLoadData",
                id="Triton loads a kernel",
            ),
            pytest.param("op_compilation", call("cuLaunchKernel", "aten::mm", 3 * MS), 0, (), None, id="nothing is loaded"),
            pytest.param("graph_fallback", compilation, 8 * MS, (3,), "one compilation in one step", id="Dynamo compiles anew"),
            pytest.param("graph_fallback", compilation, 8 * MS, (1,), None, id="Dynamo compiles in the first step"),
        ],
        0,
        2,
        4,
        6,
    ),
)
def test_first_time_work_and_waits_inside_steps(
    tmp_path: Path, rule: str, work: Work, lasts: int, in_steps: tuple[int, ...], said: str | None
) -> None:
    rows = found(tmp_path, steps(work, lasts, in_steps), rule)
    if said is None:
        assert [row for row in rows if row["win_ns"]] == []
        return
    (row,) = rows
    assert said in f"{row['op']} {row['evidence']}"
    # Without the cause the steps are shorter by it, but for the launch that follows.
    planted = lasts * len(in_steps)
    assert abs(row["win_ns"] - planted) <= len(in_steps) * 200 * US


ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}>"
ATTENTION = {
    "aten::bmm": "gemm_a",
    "aten::div": "DivFunctor",
    "aten::_softmax": "softmax_warp_forward",
    "aten::baddbmm": "gemm_b",
}
NORM = {"aten::pow": "pow_tensor_scalar", "aten::mean": "MeanOps", "aten::add": "AddFunctor", "aten::rsqrt": "rsqrt_kernel"}
RMS_NORM = {**NORM, "aten::mul": "MulFunctor"}
SWIGLU = {"aten::silu": "silu_kernel", "aten::mul": "MulFunctor"}


@pytest.mark.parametrize(
    ("ops", "pattern"),
    quick(
        [
            pytest.param(ATTENTION, "attention", id="attention"),
            pytest.param(RMS_NORM, "RMSNorm", id="RMSNorm"),
            pytest.param(SWIGLU, "SwiGLU", id="SwiGLU"),
            pytest.param(NORM, None, id="a norm that is not there to its end"),
            pytest.param({"aten::silu": "silu_kernel", "aten::add": "AddFunctor"}, None, id="an activation that gates nothing"),
        ],
        0,
    ),
)
def test_chains_that_one_op_could_replace(tmp_path: Path, ops: dict[str, str], pattern: str | None) -> None:
    """Twenty chains of kernels of 100 us, and another product behind each."""
    dims = {"Input Dims": [[64, 4096], [64, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}
    events, number, on_device = [event("user_annotation", "ProfilerStep#1", 0, 50 * MS)], 0, 5 * MS
    for _ in range(20):
        for name, function in [*ops.items(), ("aten::mm", "gemm")]:
            number += 1
            at = 10 * US * number
            events += [op(name, at, at + 5 * US, number, arguments=dims), launch(at + US, at + 2 * US, number, number)]
            events += [kernel(ELEMENTWISE.format(function), on_device, on_device + 100 * US, number)]
            on_device += 100 * US
    rows = found(tmp_path, events, "unfused_chain")
    assert [row["title"].split(" ")[0].lower() for row in rows] == ([] if pattern is None else [pattern.lower()])
    # One kernel takes the place of the chain.
    assert [row["win_ns"] for row in rows] == ([] if pattern is None else [20 * (len(ops) - 1) * 100 * US])
