"""Backward work belongs to the module of the forward op whose gradient it computes; gradient hooks belong to no module."""

from pathlib import Path
from typing import Any

import pytest

from fixtures.text_export import export_text
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from prof_analysis.common.options import Source
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

Rows = list[tuple[Any, ...]]
ENGINE = "autograd::engine::evaluate_function: "
HOOKS = f"{ENGINE}torch::autograd::AccumulateGrad"
PLACES = "SELECT op_name, parent_module, module, reason FROM module.kernel ORDER BY op_id"


def ask(folder: Path, query: str) -> Rows:
    with open_profile(folder) as profile:
        return [tuple(row.values()) for row in profile.sql(query, arrow=True).to_pylist()]


def forward(name: str, start: int, end: int, number: int = -1, tid: int = 1) -> Op:
    return Op(name, start, end, tid=tid, sequence_number=number)


def backward(name: str, start: int, end: int, number: int = -1, thread: int = 1, of: int | None = None) -> Op:
    """An op on the autograd thread 9 that launches a kernel; a backward op where it has a number or a recorded forward op."""
    kernels = (Kernel(name, 1000 + start, 1010 + start),)
    is_backward = number >= 0 or of is not None
    return Op(name, start, end, kernels, 9, of, number, thread if is_backward else 0)


def engine(name: str, start: int, end: int) -> Op:
    return Op(name, start, end, tid=9)


FORWARD = [forward("aten::addmm", 20, 30, 5), forward("aten::relu", 60, 70, 6)]
NET = [Range("Net", 0, 100), Range("Linear", 10, 40), Range("ReLU", 50, 80)]


@pytest.mark.slow
def test_gradient_hooks_belong_to_no_module_and_interrupt_no_run(tmp_path: Path) -> None:
    """Between two backward ops of a Linear, gradients are accumulated, reduced and communicated."""
    ops = [
        forward("aten::mul", 20, 25, 4),
        forward("aten::add", 30, 35, 5),
        backward("AddBackward0", 210, 220, 5),
        engine(HOOKS, 230, 260),
        backward("reducer::mul_out", 235, 240),
        Op("c10d::allreduce_", 245, 255, (Kernel("hcom_allReduce_", 1500, 1600, "communication"),), tid=9),
        backward("MulBackward0", 270, 280, 4),
    ]
    write_profile(tmp_path, ops, [Range("Linear", 10, 40)])
    linear = (None, None, "gradient hooks")
    assert ask(tmp_path, PLACES) == [
        ("AddBackward0", "", "[Backward]Linear", None),
        ("reducer::mul_out", *linear),
        ("c10d::allreduce_", *linear),
        ("MulBackward0", "", "[Backward]Linear", None),
    ]
    assert ask(tmp_path, "SELECT module, op_name FROM module.statistic") == [
        ("[Backward]Linear", "AddBackward0"),
        ("[Backward]Linear", "MulBackward0"),
    ]
    coverage = (
        "SELECT kind, location, reason, kernel_count, kernel_duration_ns, top_ops FROM module.coverage WHERE kernel_count > 0"
    )
    assert ask(tmp_path, coverage) == [
        ("compute", "inside modules", None, 2, 20, None),
        ("compute", "outside modules", "gradient hooks", 1, 10, "reducer::mul_out"),
        ("communication", "outside modules", "gradient hooks", 1, 100, "c10d::allreduce_"),
    ]


@pytest.mark.slow
def test_the_backward_of_an_op_that_ran_in_a_backward_is_of_the_module_that_comes_first(tmp_path: Path) -> None:
    """Double backward: autograd's thread makes nodes too, and numbers them by itself."""
    ops = [
        forward("aten::tanh", 20, 30, 5),
        engine(f"{ENGINE}TanhBackward0", 200, 250),
        Op("TanhBackward0", 205, 245, tid=9, sequence_number=5, forward_thread_id=1),
        forward("aten::tanh_backward", 210, 220, 0, tid=9),
        engine(f"{ENGINE}TanhBackwardBackward0", 300, 350),
        backward("TanhBackwardBackward0", 305, 345, 0, thread=2),
        backward("aten::mul", 310, 320),
        backward("TanhBackward0", 400, 410, 5),
    ]
    write_profile(tmp_path, ops, [Range("Net", 0, 100), Range("Tanh", 10, 40)])
    assert ask(tmp_path, PLACES) == [
        ("TanhBackwardBackward0", "Net", "[Backward]Tanh", None),
        ("aten::mul", "Net", "[Backward]Tanh", None),
        ("TanhBackward0", "Net", "[Backward]Tanh", None),
    ]


@pytest.mark.slow
def test_a_module_inside_backward_work_of_no_module_is_outermost_and_in_the_backward(tmp_path: Path) -> None:
    ops = [
        forward("CheckpointFunction", 520, 530, 5),
        engine(f"{ENGINE}CheckpointFunctionBackward", 600, 700),
        backward("CheckpointFunctionBackward", 605, 695, 5),
        backward("aten::mm", 620, 630),
        engine(HOOKS, 800, 900),
        backward("aten::add_", 820, 830),
    ]
    write_profile(tmp_path, ops, [Range("Net", 610, 650, 9), Range("Hook", 810, 850, 9)])
    assert ask(tmp_path, PLACES) == [
        ("CheckpointFunctionBackward", None, None, "outside every module"),
        ("aten::mm", "", "[Backward]Net", None),
        ("aten::add_", "", "Hook", None),
    ]


def calls(*starts: int) -> list[Range]:
    """A call of another module at each start."""
    return [Range(chr(ord("A") + number), start, start + 90) for number, start in enumerate(starts)]


def modules(folder: Path, source: Source = "auto") -> list[str]:
    """The module of each kernel in the order of their ops."""
    with open_profile(folder, source=source) as profile:
        return [
            row["module"]
            for row in profile.sql("SELECT module FROM module.kernel ORDER BY op_start_ns", arrow=True).to_pylist()
        ]


# Two threads, one after the other, run forward before the first backward begins.
PIPELINE = [
    op for start in (1000, 2000) for op in (forward("mm", start + 10, start + 20, 0), forward("mul", start + 30, start + 40, 1))
]


@pytest.mark.parametrize("source", ["db", "text"])
@pytest.mark.slow
def test_a_recorded_pair_decides_which_of_several_forward_ops_with_a_number_is_meant(tmp_path: Path, source: Source) -> None:
    ops = [
        *PIPELINE,
        Op("MulBackward0", 3010, 3020, (Kernel("k", 4000, 4010),), 9, 1, 1, 1),
        Op("MmBackward0", 3030, 3040, (Kernel("k", 4020, 4030),), 9, 0, 0, 1),
        Op("MulBackward0", 3110, 3120, (Kernel("k", 4040, 4050),), 9, 3, 1, 1),
        Op("MmBackward0", 3130, 3140, (Kernel("k", 4060, 4070),), 9, 2, 0, 1),
    ]
    database = write_profile(tmp_path, ops, calls(1000, 2000))
    export_text(database, TextStyle())
    assert modules(tmp_path, source) == ["[Backward]A", "[Backward]A", "[Backward]B", "[Backward]B"]


@pytest.mark.slow
def test_without_forward_threads_the_recorded_pairs_serve(tmp_path: Path) -> None:
    ops = [*FORWARD, backward("ReluBackward0", 210, 220, 6, of=1), backward("AddmmBackward0", 230, 240, 5, of=0)]
    edit(write_profile(tmp_path, ops, NET), "ALTER TABLE PYTORCH_API DROP COLUMN fwdThreadId")
    assert ask(tmp_path, PLACES) == [
        ("ReluBackward0", "Net", "[Backward]ReLU", None),
        ("AddmmBackward0", "Net", "[Backward]Linear", None),
    ]


def test_of_several_devices_in_a_database_each_has_its_kernels_and_the_pairs_of_the_process(tmp_path: Path) -> None:
    """A launch that two ops name, on another device, pairs no ops."""
    ops = [
        Op("aten::linear", 15, 35),
        Op("aten::addmm", 20, 30, (Kernel("k0", 500, 510), Kernel("k1", 500, 511, device=1)), sequence_number=5),
        Op("AddmmBackward0", 230, 240, (Kernel("b1", 600, 610, device=1),), 9, 1, 5, 1),
    ]
    map_ = "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER); INSERT INTO RANK_DEVICE_MAP VALUES (0, 0), (1, 1);"
    shared = "INSERT INTO CONNECTION_IDS SELECT 0, connectionId FROM CONNECTION_IDS WHERE id = 1 AND connectionId < 6000"
    edit(write_profile(tmp_path, ops, NET), map_ + shared)
    pairs = "SELECT rank_id, forward_op_id, backward_op_id FROM trace.forward_backward"
    assert ask(tmp_path, pairs) == [(0, 2, 3), (1, 2, 3)]
    assert ask(tmp_path, "SELECT rank_id, name, module FROM module.kernel ORDER BY ALL") == [
        (0, "k0", "Linear"),
        (1, "b1", "[Backward]Linear"),
        (1, "k1", "Linear"),
    ]
