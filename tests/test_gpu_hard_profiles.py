"""Hard runs written as GPU traces, each with the truth that its generator kept: every kernel is where it belongs."""

import gzip
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pytest

from fixtures.generate import generate
from fixtures.kineto_export import export_kineto
from fixtures.shape import Shape
from fixtures.text_export import export_text
from fixtures.truth import Truth
from prof_analysis import open_profile
from tests.test_hard_profiles import plain

# A GPU has neither a task queue nor helper kernels.
GPU = Shape(task_queue=False, schedule_kernels=False)
EASY: dict[str, Any] = {"nn_module_ranges": "instead"}
ALL: dict[str, Any] = {
    "forward_threads": 2,
    "equal_sequences": True,
    "restarted_sequences": "micro_batch",
    "depth": 40,
    "recompute": True,
    "micro_batches": 3,
    "double_backward": True,
    "gradient_hooks": True,
    "open_ranges": True,
    "overlapping_ranges": True,
    "graph_replay": True,
    "edge_cut": True,
    "bare_launches": True,
    "nn_module_ranges": "instead",
    "bias_gradient": True,
    "backward_communication": True,
    "lost_link_every": 7,
}
SMALL: dict[str, Any] = {**EASY, "recompute": True, "bias_gradient": True, "lost_link_every": 7, "steps": 1, "layers": 1}
QUICK = {"a few of them": SMALL}
SLOW = {
    "all at once": ALL,
    "modules of the Python tracer": EASY,
    "ranges of record_function": {},
    **{name: {name: value} for name, value in ALL.items() if name != "nn_module_ranges"},
}
KERNELS = """
    SELECT rank_id, kind, name AS kernel_name, start_ns, end_ns, op_name, reason,
           if(parent_module = '', module, parent_module || '/' || module) AS module_path,
           starts_with(module, '[Backward]') AS backward
    FROM module.kernel
"""


def gpu_run(folder: Path, shape: Shape, ranks: int = 2) -> tuple[Path, Truth]:
    """A run written as one trace a rank, and its truth."""
    truth = generate(folder / "npu", shape, ranks)
    for number, db in enumerate(sorted((folder / "npu").rglob("ascend_pytorch_profiler_*.db"))):
        export_kineto(db, folder / "gpu" / f"rank{number}.json{'.gz' * number}", number, ranks)
    return folder / "gpu", truth


@pytest.mark.parametrize(
    "switches",
    [
        *(pytest.param(switches, id=name) for name, switches in QUICK.items()),
        *(pytest.param(switches, id=name, marks=pytest.mark.slow) for name, switches in SLOW.items()),
    ],
)
def test_every_kernel_of_a_gpu_trace_is_where_it_belongs(switches: dict[str, Any], tmp_path: Path) -> None:
    traces, truth = gpu_run(tmp_path, replace(GPU, **switches))
    with open_profile(traces) as profile:
        owner = profile.sql(KERNELS)
        tree = profile.module_tree().rename(columns={"own_kernel_duration_ns": "own_ns", "kernel_duration_ns": "inclusive_ns"})
    expected = truth.kernel_owner.to_pandas()
    pd.testing.assert_frame_equal(plain(owner), plain(expected[list(owner.columns)]))
    expected_tree = truth.module_tree.to_pandas()
    columns = [column for column in expected_tree.columns if column in tree.columns]
    assert {"own_ns", "inclusive_ns"} <= set(columns)
    pd.testing.assert_frame_equal(plain(tree[columns]), plain(expected_tree[columns]))


def name_as_nccl(traces: Path) -> None:
    """Give the collectives of traces the names that NCCL gives them: HCCL numbers them, so that no two calls are alike."""
    for trace in sorted(traces.iterdir()):
        packed = trace.suffix == ".gz"
        content = gzip.decompress(trace.read_bytes()) if packed else trace.read_bytes()
        content = re.sub(rb"hcom_(\w+?)__\d+_\d+_\d+", rb"ncclDevKernel_\1", content)
        trace.write_bytes(gzip.compress(content) if packed else content)


def answers(folder: Path, source: Literal["auto", "db", "text"] = "auto") -> list[pd.DataFrame]:
    """What the five tables say of a run but for names: of profiles, cores, kernels and their types."""
    with open_profile(folder, source=source) as profile:
        statistic, kernels, coverage = profile.module_stats(), profile.kernel_stats(), profile.coverage()
        others = [profile.module_tree(), coverage.query("kernel_count > 0"), profile.step_time()]
    nccl = (r"ncclDevKernel_(\w+)", r"hcom_\1_")
    statistic["kernel_list"] = statistic["kernel_list"].str.replace(*nccl, regex=True)
    # A GPU records no types: its type is the name of the kernel, of which that of an NPU is a part.
    for pattern, type_ in (nccl, (r"^aclnn.*_", ""), (r"^trans_(\w+)_\d+$", r"\1"), (r"MatMulV[23]", "MatMul")):
        kernels["type"] = kernels["type"].str.replace(pattern, type_, regex=True)
    of_type = kernels.groupby(["rank_id", "kind", "type"])
    by_type = of_type.agg({"kernel_count": "sum", "total_ns": "sum", "min_ns": "min", "max_ns": "max", "share": "sum"})
    tables = [statistic, by_type.reset_index(), *others]
    return [one.drop(columns=["profile", "avg_mfu", "top_ops"], errors="ignore").reset_index(drop=True) for one in tables]


@pytest.mark.slow
def test_a_run_gives_the_same_answers_whether_a_db_a_text_export_or_a_gpu_writes_it(tmp_path: Path) -> None:
    """ModuleStatistic, KernelStatistic, ModuleTree, ModuleCoverage and StepTime."""
    traces, _ = gpu_run(tmp_path, replace(GPU, gradient_hooks=True, recompute=True, micro_batches=1))
    for db in sorted((tmp_path / "npu").rglob("ascend_pytorch_profiler_*.db")):
        export_text(db)
    name_as_nccl(traces)
    of_gpu, of_db, of_text = answers(traces), answers(tmp_path / "npu", "db"), answers(tmp_path / "npu", "text")
    for gpu, npu, text in zip(of_gpu, of_db, of_text, strict=True):
        assert len(gpu)
        pd.testing.assert_frame_equal(gpu, npu)
        pd.testing.assert_frame_equal(text, npu)
