"""An op that holds a whole step, such as DistributedDataParallel.forward, hides no cause planted in it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.kineto_export import export_run
from fixtures.shape import Shape
from fixtures.stall_truth import stall_truth
from fixtures.text_style import TextStyle
from fixtures.trace import make_rank
from prof_analysis import open_profile
from tests.helpers import kineto

WRAPPER = "DistributedDataParallel.forward"
# The host runs ahead of the device, and copies inputs at the beginning of each step.
SHAPE = Shape(
    mode="inference",
    steps=2,
    layers=3,
    host_pace=50,
    communication=False,
    schedule_kernels=False,
    task_queue=False,
    world=1,
    pmu=False,
    wrapper=WRAPPER,
    copies=3,
    stall_ns=20_000_000,
)
# What is planted -> the work that the device waits for, the op and the call.
PLANTED = {
    "python": ("between ops", None, None),
    "python_synchronise": ("synchronise", WRAPPER, "aclrtSynchronizeStream"),
    "synchronise": ("synchronise", "aten::nonzero", "aclrtSynchronizeStream"),
    "copy": ("copy", "aten::item", "aclrtSynchronizeStream"),
    "data_loading": ("load data", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", None),
    "garbage_collection": ("collect garbage", WRAPPER, None),
    "compile": ("compile", "aten::sort", "aclopCompileAndExecute"),
    "allocate": ("allocate", "aten::sort", "aclrtMalloc"),
}


def made(folder: Path, shape: Shape, form: str) -> Path:
    generate(folder, shape, ranks=1, style=TextStyle(exports="text") if form == "text" else None)
    if form != "kineto":
        return folder
    export_run(folder, folder / "gpu")
    return folder / "gpu"


@pytest.mark.parametrize("form", ["db", "text", "kineto"])
@pytest.mark.parametrize("stall", list(PLANTED))
@pytest.mark.slow
def test_a_cause_inside_a_wrapper_keeps_its_name_and_its_time(tmp_path: Path, stall: Any, form: str) -> None:
    if form == "kineto" and stall not in ("python", "data_loading"):
        pytest.skip("of the calls of the host, the exported trace has the launches alone")
    shape = replace(SHAPE, stall=stall)
    truth = stall_truth(make_rank(shape, 0, 0))
    with open_profile(made(tmp_path, shape, form)) as profile:
        (longest,) = profile.rows(
            "SELECT work, op, call, sum(total_ns)::BIGINT AS total_ns FROM free.cause_of_op WHERE NOT is_between_steps "
            "AND decade_ns >= 10_000_000 GROUP BY ALL ORDER BY total_ns DESC LIMIT 1"
        )
        rules = profile.rows("SELECT rule, op FROM advice.finding WHERE rule IN ('launch_bound', 'host_copy')")
    assert (longest["work"], longest["op"], longest["call"]) == PLANTED[stall]
    if stall == "python":
        assert truth.idle_ns <= longest["total_ns"] <= truth.idle_ns * 1.01
    else:
        assert longest["total_ns"] == truth.idle_ns
    assert rules == ([{"rule": "host_copy", "op": "aten::item"}] if stall == "copy" else [])


@pytest.mark.slow
def test_a_gpu_trace_names_the_same_causes(tmp_path: Path) -> None:
    """In the wrapper, the host waits without an op up to 1500 us, then runs Python alone up to 1800, then copies a value."""
    us = 1000
    events = [
        kineto.op("Model.forward", 900 * us, 3000 * us, 1),
        kineto.op("aten::mul", 910 * us, 990 * us, 2),
        kineto.launch(980 * us, 985 * us, 11, 2),
        kineto.kernel("first", 1000 * us, 1050 * us, 11),
        kineto.event("cuda_runtime", "cudaDeviceSynchronize", 1040 * us, 1500 * us),
        kineto.op("aten::add", 1800 * us, 1850 * us, 3),
        kineto.launch(1840 * us, 1845 * us, 12, 3),
        kineto.kernel("second", 1850 * us, 1900 * us, 12),
        kineto.op("aten::item", 1910 * us, 2400 * us, 4),
        kineto.op("aten::_local_scalar_dense", 1911 * us, 2399 * us, 5),
        kineto.launch(1920 * us, 1925 * us, 13, 5, name="cudaMemcpyAsync"),
        kineto.kernel("Memcpy DtoH (Device -> Pageable)", 1930 * us, 1932 * us, 13, category="gpu_memcpy"),
        kineto.event("cuda_runtime", "cudaStreamSynchronize", 1926 * us, 2390 * us),
        kineto.op("aten::sub", 2450 * us, 2500 * us, 6),
        kineto.launch(2490 * us, 2495 * us, 14, 6),
        kineto.kernel("third", 2500 * us, 2600 * us, 14),
    ]
    kineto.write_trace(tmp_path / "rank0.json", events)
    with open_profile(tmp_path) as profile:
        rows = profile.rows(
            "SELECT work, op, call, sum(total_ns)::BIGINT // 1000 AS total_us FROM free.cause_of_op "
            "WHERE work IN ('synchronise', 'between ops', 'copy') GROUP BY ALL ORDER BY ALL"
        )
    assert [tuple(row.values()) for row in rows] == [
        ("between ops", None, None, (1800 - 1500) + (1910 - 1900) + (2450 - 2400)),
        ("copy", "aten::item", "cudaStreamSynchronize", 2390 - 1932),
        ("synchronise", "Model.forward", "cudaDeviceSynchronize", 1500 - 1050),
    ]
