"""A slow layer, recomputation, a slow step and graphs compiled in each step, planted into generated runs of each form."""

import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fixtures.cost import planted_cost
from fixtures.events import covered, events_of, union
from fixtures.generate import generate
from fixtures.kineto_export import export_kineto
from fixtures.shape import Shape
from fixtures.step import COMMUNICATION, COMPUTE
from fixtures.text_style import TextStyle
from fixtures.trace import Rank, make_rank
from fixtures.truth import Truth
from prof_analysis import open_profile
from tests.helpers.asking import found_by
from tests.helpers.says import says

PLAIN = Shape(steps=5, layers=5, world=1, pmu=False, unlinked_kernels=0, spread=3)
SLOW = "Qwen2DecoderLayer[3]/Qwen2MLP[0]/SiLU[0]"
LAYER = "Qwen2ForCausalLM/Qwen2Model/Qwen2DecoderLayer"
BUSY = COMPUTE, COMMUNICATION
RULES = "unlike_layer", "recomputation", "first_steps", "uneven_steps", "graph_fallback", "sync_batch_norm"
Row = dict[str, Any]


def run_of(folder: Path, form: str, shape: Shape) -> tuple[Shape, Truth]:
    """Write a run in a form, and give what was written: a GPU has no task queue."""
    shape = replace(shape, task_queue=False, schedule_kernels=False) if form == "kineto" else shape
    truth = generate(folder, shape, ranks=1, style=TextStyle(exports="text" if form == "text" else "db"))
    if form == "kineto":
        (database,) = folder.rglob("ascend_pytorch_profiler_0.db")
        export_kineto(database, folder / "gpu" / "rank0.json", 0, 1)
        shutil.rmtree(database.parent.parent)
    return shape, truth


def figures(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("title", "module", "op", "kernel_type", "count", "time_ns", "win_ns", "kind"))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["db", "text", "kineto"])
def test_a_slow_layer_takes_the_planted_time_longer(tmp_path: Path, form: str) -> None:
    shape, truth = run_of(tmp_path, form, replace(PLAIN, steps=2, layers=6, spread=0, slower=SLOW, slower_by=900))
    (cost,) = planted_cost(truth.kernel_owner, shape, 0).to_pylist()
    assert cost["module_instance"].endswith(f"/{SLOW}")
    planted = cost["new_ns"] - cost["base_ns"]
    with open_profile(tmp_path) as profile:
        (row,) = found_by(profile, *RULES)
        (sibling,) = profile.rows("FROM module.sibling WHERE module = 'Qwen2DecoderLayer' AND number = 3")
    # The device waits for the host after each kernel, so a faster one wins nothing.
    title = says("layer takes longer")
    assert figures(row) == (title, f"{LAYER}[3]", None, None, 2, planted, 0, "upper bound")
    usual = sibling["usual_ns"]
    assert sibling["total_ns"] == 2 * usual + planted
    assert (sibling["sibling_count"], sibling["deviation_ns"], sibling["slower_op"]) == (5, 0, "aten::silu")
    assert row["evidence"] == says(
        f"take {shown(usual + planted / 2)} in the median", f"{planted / 2 / usual * 100:.1f}% more", "usual for 5",
        f"({shown(usual)})", f"aten::silu, {sibling['slower_type']}", f"{shown(planted)} more in 2 calls", "0 can be won",
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("form", ["db", "text", "kineto"])
def test_what_runs_again_costs_its_kernels_and_the_idle_time_before_them(tmp_path: Path, form: str) -> None:
    shape, truth = run_of(tmp_path, form, replace(PLAIN, steps=2, layers=2, recompute=True))
    with open_profile(tmp_path) as profile:
        (row,) = found_by(profile, *RULES)
        (fact,) = profile.rows("SELECT * EXCLUDE (profile, rank_id) FROM module.recomputed")
    # Ops of the forward directly inside the backward of a checkpoint; its own backward is in tasks inside that.
    again = [
        kernel
        for kernel in truth.kernel_owner.to_pylist()
        if "CheckpointFunctionBackward > " in (kernel["op_chain"] or "")
        and kernel["op_chain"].count("evaluate_function") == 1
        and "Qwen2DecoderLayer" in kernel["module_path"]
    ]
    by_kind = {
        kind: [kernel["end_ns"] - kernel["start_ns"] for kernel in again if kernel["kind"] == kind]
        for kind in ("compute", "communication")
    }
    busy = union((event.start, event.end) for event in events_of(make_rank(shape, 0, 0)) if event.kernel.kind in BUSY)
    starts = {kernel["start_ns"] for kernel in again if kernel["kind"] in by_kind}
    idle = sum(start - end for (_, end), (start, _) in pairwise(busy) if start in starts)
    parts = sum(by_kind["compute"]), sum(by_kind["communication"]), idle
    calls = 2 * shape.layers
    path = LAYER.rpartition("/")
    assert tuple(fact.values()) == (path[0], path[2], calls, len(by_kind["compute"]), *parts)
    title = says("runs again in the backward")
    assert figures(row) == (title, LAYER, None, None, calls, sum(parts), sum(parts), "upper bound")
    assert row["evidence"] == says(
        "4 calls", f"{shown(parts[0])} of compute kernels", f"{shown(parts[1])} of communication",
        f"idle for {shown(parts[2])}", "memory is not recorded (profile_memory=True)",
    )  # fmt: skip


def shown(time: float) -> str:
    """Return a time as sentences show it."""
    return f"{time / 1e6:.1f} ms" if time >= 1e6 else f"{time / 1e3:.1f} us"


@pytest.mark.slow
def test_the_first_step_is_unlike_the_rest(tmp_path: Path) -> None:
    shape, _ = run_of(tmp_path, "db", replace(PLAIN, slow_step=0, slower_by=100))
    with open_profile(tmp_path) as profile:
        (row,) = found_by(profile, *RULES)
    first, *later = lengths(make_rank(shape, 0, 0))
    mean = sum(later) / len(later)
    assert figures(row) == (says("first recorded steps"), None, None, None, 1, None, None, "hint")
    assert row["evidence"] == says(
        f"step 10 takes {shown(first)}", f"the 4 after {shown(mean)} on average", f"{first / mean:.1f} times as long"
    )


def lengths(rank: Rank) -> list[int]:
    """Return how long each step takes: from the end of the one before on the device, the first from its start on the host."""
    number = next(op for op in rank.step.ops if op.name.startswith("ProfilerStep"))
    ends = [int(rank.host[0, number.start])]
    for step_id in range(rank.shape.first_step, rank.shape.first_step + rank.shape.steps):
        ends.append(max(event.end for event in events_of(rank) if event.step_id == step_id and event.kernel.kind in BUSY))
    return [end - before for before, end in pairwise(ends)]


@pytest.mark.slow
def test_a_step_far_above_the_others_takes_the_planted_time_longer(tmp_path: Path) -> None:
    shape, _ = run_of(tmp_path, "db", replace(PLAIN, slow_step=3, slower_by=100))
    with open_profile(tmp_path) as profile:
        (row,) = found_by(profile, *RULES)
    times = lengths(make_rank(shape, 0, 0))
    excess = times[3] - sorted(times)[2]
    title = says("few steps take far longer")
    assert figures(row) == (title, None, None, None, 1, excess, excess, "upper bound")
    assert row["evidence"] == says("1 of 5 steps", "longer than the median")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["db", pytest.param("kineto", marks=pytest.mark.slow)])
def test_graphs_compiled_in_each_step_cost_the_idle_time_of_the_device(tmp_path: Path, form: str) -> None:
    shape, _ = run_of(tmp_path, form, replace(PLAIN, steps=3, layers=1, compiling=500))
    with open_profile(tmp_path) as profile:
        (row,) = found_by(profile, *RULES)
        by_step = profile.rows("SELECT step_id, compilation_count, host_ns, idle_ns FROM graph.compilation")
    rank = make_rank(shape, 0, 0)
    op = next(op for op in rank.step.ops if op.name.startswith("_compile"))
    compiling = [(int(step[op.start]), int(step[op.end])) for step in rank.host]
    busy = [(event.start, event.end) for event in events_of(rank) if event.kernel.kind in BUSY]
    first, last = min(busy)[0], max(end for _, end in busy)
    truth = []
    for step_id, (start, end) in enumerate(compiling, shape.first_step):
        within = max(start, first), min(end, last)
        truth.append((step_id, 1, end - start, max(0, within[1] - within[0]) - covered(busy, *within)))
    assert [tuple(one.values()) for one in by_step] == truth
    idle = sum(one[3] for one in truth)
    assert figures(row) == (says("Graphs are compiled", "after the first"), None, None, None, 3, idle, idle, "upper bound")


@pytest.mark.slow
def test_a_run_without_a_defect_has_no_finding(tmp_path: Path) -> None:
    run_of(tmp_path, "db", PLAIN)
    with open_profile(tmp_path) as profile:
        assert found_by(profile, *RULES) == []
