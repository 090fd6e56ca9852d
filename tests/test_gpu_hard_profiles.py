"""Hard runs written as GPU traces, each with the truth that its generator kept: every kernel is where it belongs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fixtures.generate import generate
from fixtures.kineto_export import export_kineto
from fixtures.shape import Shape
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
QUICK = {"all at once": ALL}
SLOW = {
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


def test_a_run_gives_the_same_answers_whether_an_npu_or_a_gpu_writes_it(tmp_path: Path) -> None:
    """But for the names of profiles and ops, and for what a format does not record: cores, and types of kernels."""
    traces, _ = gpu_run(tmp_path, replace(GPU, gradient_hooks=True, recompute=True))
    answers = []
    for folder in (traces, tmp_path / "npu"):
        with open_profile(folder) as profile:
            steps = profile.step_time().drop(columns=["profile"])
            tree = profile.module_tree().drop(columns=["profile"])
            coverage = profile.coverage().drop(columns=["profile"]).query("kernel_count > 0")
            kernels = profile.kernel_stats().groupby(["rank_id", "kind"])[["kernel_count", "total_ns"]].sum()
        answers.append((steps, tree, coverage.reset_index(drop=True), kernels))
    for gpu, npu in zip(*answers, strict=True):
        pd.testing.assert_frame_equal(gpu, npu)
