"""Rules on layers, graphs and SyncBatchNorm by small profiles: what they find, and what is no finding."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.kineto import HEAD, event, kernel, launch, memory, op, write_trace
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Launch, Op, Range, write_profile

MIB = 2**20
FIGURES = """
    SELECT title, module, op, kernel_type, evidence, count, time_ns, win_ns, kind
    FROM advice.{}
    ORDER BY title, time_ns DESC, module, op
"""


def found(path: Path, rule: str) -> list[tuple[Any, ...]]:
    """Return what a rule finds, and see that its evidence can be asked for."""
    with open_profile(path) as profile:
        rows = [tuple(row.values()) for row in profile.rows(FIGURES.format(rule))]
        for row in profile.rows(f"SELECT DISTINCT sql, doc FROM advice.{rule}"):
            assert profile.rows(row["sql"]) and row["doc"] == f"docs/rules.md#{rule.replace('_', '-')}"
    return rows


def write_layers(folder: Path, times: list[int], shapes: list[str] | None = None, has_modules: bool = True) -> Path:
    """Write a model of equal layers whose kernels take these times; the device never waits for the host."""
    ops, ranges, at = [], [Range("Net", 90, 900)] if has_modules else [], 1000
    for number, time in enumerate(times):
        start = 100 + 10 * number
        inputs = shapes[number] if shapes else "16,16;16,16"
        ops.append(Op("aten::mul", start + 1, start + 5, (Kernel("mul", at, at + time, inputs=inputs),)))
        ranges += [Range("Layer", start, start + 9)] if has_modules else []
        at += time
    return write_profile(folder / "a_ascend_pt", ops, ranges).parents[1]


def test_a_layer_that_takes_longer_wins_what_it_takes_beyond_the_median(tmp_path: Path) -> None:
    assert found(write_layers(tmp_path, [10, 10, 11, 30, 10]), "unlike_layer") == [
        (
            says("layer takes longer"), "Net/Layer[3]", None, None,
            says("take 30 ns", "200.0% more", "usual for 5", "(10 ns)", "aten::mul, Mul", "20 ns more in one call"),
            1, 20, 20, "upper bound",
        )
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("times", "shapes"),
    [
        pytest.param([10, 10, 10, 30], ["16,16"] * 3 + ["32,32"], id="other shapes are other work"),
        pytest.param([10, 10, 30], None, id="too few to compare"),
        pytest.param([10, 30, 10, 30, 10, 30, 10, 10], None, id="two kinds that run the same kernels"),
        pytest.param([10, 14, 7, 13, 8, 12, 9, 15], None, id="layers that differ anyway"),
        pytest.param([100, 100, 100, 109, 100], None, id="hardly longer"),
    ],
)
def test_layers_that_are_not_unlike_the_others(tmp_path: Path, times: list[int], shapes: list[str] | None) -> None:
    assert found(write_layers(tmp_path, times, shapes), "unlike_layer") == []


@pytest.mark.slow
def test_layers_are_found_in_kernels_where_no_modules_are_recorded(tmp_path: Path) -> None:
    types = ("MatMulV3", "Add", "Mul", "Cast", "SoftmaxV2")
    kernels, at = [], 1000
    for layer in range(8):
        for type_ in types:
            time = 50 if layer == 5 and type_ == "Mul" else 10
            kernels.append(Kernel(type_, at, at + time, type=type_))
            at += time
    folder = write_profile(tmp_path / "a_ascend_pt", unlinked=kernels).parents[1]
    assert [(row[1], *row[4:]) for row in found(folder, "unlike_layer")] == [
        (
            "layer 5",
            says("take 90 ns", "80.0% more", "usual for 8", "(50 ns)", "in Mul", "40 ns more in one call",
                 "shapes are not compared"),
            1, 40, None, "hint",
        )
    ]  # fmt: skip


# Steps 1, 2 and 4 replay a graph of three kernels, after an op that is launched by itself: the first time before any replay.
# Step 3 launches all by themselves.
def write_graph(folder: Path) -> Path:
    ops, launches, steps = [], [], []
    for number in range(1, 5):
        start, at = 1000 * number, 100_000 + 1000 * number
        steps.append((number, start, start + 1000))
        ops.append(Op("aten::add", start + 10, start + 20, (Kernel("add", at, at + 50),)))
        times = [(at + 50 + 100 * n, at + 150 + 100 * n) for n in range(3)]
        if number == 3:
            later = [(begin + 40 * n, end + 40 * n) for n, (begin, end) in enumerate(times, 1)]
            ops.append(Op("aten::mm", start + 30, start + 60, tuple(Kernel("mm", *span) for span in later)))
        else:
            launches.append(Launch(start + 30, start + 40, tuple(Kernel("mm", *span, model=7) for span in times)))
    return write_profile(folder / "a_ascend_pt", ops, steps=steps, launches=launches).parents[1]


@pytest.mark.slow
def test_a_step_without_the_graph_and_an_op_between_replays_are_found_with_the_idle_time_before_them(tmp_path: Path) -> None:
    folder = write_graph(tmp_path)
    with open_profile(folder) as profile:
        by_step = profile.rows("SELECT * EXCLUDE (profile, rank_id) FROM graph.by_step")
    # In step 3 there are 650 ns of idle time before the first kernel, then 40 before each of the others.
    assert [tuple(row.values()) for row in by_step] == [
        (1, 3, 300, 1, 50, 0),
        (2, 3, 300, 1, 50, 650),
        (3, 0, 0, 4, 350, 770),
        (4, 3, 300, 1, 50, 530),
    ]
    assert found(folder, "graph_fallback") == [
        (
            says("Ops run one by one", "graph"), None, "aten::add", None,
            says("2 of its kernels", "one by one", "graphs replay 9", "idle for 1.2 us"),
            2, 1180, 1180, "upper bound",
        ),
        (
            says("Steps run without the graph"), None, None, None,
            says("1 of 4 steps", "no graph", "4 kernels one by one", "idle for 770 ns"),
            1, 770, 770, "upper bound",
        ),
    ]  # fmt: skip


def test_eager_mode_with_a_few_replayed_kernels_is_no_graph_mode(tmp_path: Path) -> None:
    ops = [Op("aten::add", 10 + 10 * n, 15 + 10 * n, (Kernel("add", 1000 + 50 * n, 1010 + 50 * n),)) for n in range(5)]
    launches = [Launch(5, 6, (Kernel("mm", 900, 910, model=7),))]
    folder = write_profile(tmp_path / "a_ascend_pt", ops, launches=launches).parents[1]
    assert found(folder, "graph_fallback") == []


def test_a_gpu_trace_marks_compilations_with_annotations(tmp_path: Path) -> None:
    """Those inside another one are a part of it, and two threads may compile at once."""
    events = [
        *(event("user_annotation", f"ProfilerStep#{n}", 1000 * n, 1000 * n + 900) for n in (1, 2)),
        op("aten::mm", 1050, 1060, 1),
        launch(1051, 1055, 1, 1),
        kernel("first", 1060, 1100, 1),
        event("user_annotation", "_compile.compile_inner (dynamo_timed)", 2000, 2400),
        event("user_annotation", "inductor_compile (dynamo_timed)", 2100, 2200),
        event("user_annotation", "async_compile.wait (dynamo_timed)", 2300, 2500, tid=2),
        op("aten::mm", 2850, 2860, 2),
        launch(2851, 2855, 2, 2),
        kernel("second", 2450, 2470, 2),
    ]
    trace = write_trace(tmp_path / "rank0.json", events)
    assert found(trace, "graph_fallback") == [
        (
            says("Graphs are compiled", "after the first"), None, None, None,
            says("2 compilations in one step", "500 ns on the host", "idle for 450 ns"),
            2, 450, 450, "upper bound",
        )
    ]  # fmt: skip


def test_batches_normalised_over_ranks_cost_their_collectives(tmp_path: Path) -> None:
    ops, steps = [], [(7, 0, 5000)]
    for number in range(21):
        start, at = 100 + 100 * number, 10_000 + 100 * number
        # The last call lies outside the steps; each has 30 ns of idle time before it.
        inside = (Kernel("reduce", at, at + 20), Kernel("hcom_allGather_", at + 20, at + 70, kind="communication"))
        ops.append(Op("SyncBatchNorm", start if number < 20 else 6000, start + 20 if number < 20 else 6020))
        ops.append(Op("aten::mean", ops[-1].start + 1, ops[-1].start + 5, inside))
    folder = write_profile(tmp_path / "a_ascend_pt", ops, steps=steps).parents[1]
    assert found(folder, "sync_batch_norm") == [
        (
            says("SyncBatchNorm communicates"), None, "SyncBatchNorm", None,
            says("20 forward and 0 backward calls", "1.0 us in collectives", "400 ns in compute kernels", "idle for 570 ns"),
            20, 1570, 1570, "upper bound",
        )
    ]  # fmt: skip


def test_an_allocation_that_failed_is_found_by_its_op(tmp_path: Path) -> None:
    failed = memory(4 * MIB, 1, 2150, (3 * MIB, 7 * MIB)).replace("[memory]", "[OutOfMemory]")
    device = {"deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 8 * MIB}]}
    events = [
        op("aten::empty", 2100, 2200, 1),
        memory(MIB, 16, 2120, (3 * MIB, 7 * MIB)),
        failed,
    ]
    trace = write_trace(tmp_path / "rank0.json", events, {**HEAD, **device})
    assert found(trace, "out_of_memory") == [
        (
            says("allocation", "failed"), None, "aten::empty", None,
            says("one attempt", "of 4.0 MiB", "3.0 MiB were allocated", "7.0 MiB reserved", "of 8.0 MiB"),
            1, None, None, "hint",
        )
    ]  # fmt: skip
