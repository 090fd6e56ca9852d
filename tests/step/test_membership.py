"""What a step is: the same for every question, whatever the order of rows, and for steps that overlap or come again."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

# Id, start and end; the last begun counts, of equal ones the longest, and one without length has nothing.
STEPS = [(7, 100, 400), (8, 200, 300), (8, 200, 250), (9, 300, 300), (9, 500, 600), (7, 700, 800)]
# When something starts, and the step that it is of.
MOMENTS = [(50, None), (100, 7), (199, 7), (200, 8), (299, 8), (300, None), (399, None), (500, 9), (650, None), (799, 7)]


def write(folder: Path, steps: list[tuple[int, int, int]]) -> Path:
    """At each moment a module with an op and its kernel, and a range of the user."""
    ops = [Op(f"op{at}", at, at + 3, (Kernel(f"k{at}", 10 * at, 10 * at + 5),)) for at, _ in MOMENTS]
    ranges = [Range("Net", at, at + 4) for at, _ in MOMENTS] + [
        Range(f"r{at}", at, at + 1, domain="default") for at, _ in MOMENTS
    ]
    write_profile(folder / "a_ascend_pt", ops, ranges, steps=steps)
    return folder


@pytest.mark.parametrize(("step_id", "order"), quick([(7, 1), (8, -1), (9, -1)], 1))
def test_all_questions_mean_the_same_by_a_step(tmp_path: Path, step_id: int, order: int) -> None:
    moments = [at for at, step in MOMENTS if step == step_id]
    write(tmp_path, STEPS[::order])
    with open_profile(tmp_path, step_id=step_id) as profile:
        build_at_once(profile, "module.kernel", "step-time", "op-stats", "module-stats", "mstx-stats", "kernel-stats")
        (kernels,) = arrow_of(profile.kernel_stats()).to_pylist()
        (step,) = arrow_of(profile.step_time()).to_pylist()
        ops = arrow_of(profile.op_stats())["name"].to_pylist()
        (module,) = arrow_of(profile.module_tree()).to_pylist()
        ranges = arrow_of(profile.mstx_stats()).to_pylist()
        assert sorted(arrow_of(profile.kernels())["name"].to_pylist()) == sorted(f"k{at}" for at in moments)
    assert (kernels["kernel_count"], kernels["total_ns"]) == (len(moments), 5 * len(moments))
    assert (step["step_id"], step["computing_ns"]) == (step_id, 5 * len(moments))
    assert sorted(ops) == sorted(f"op{at}" for at in moments)
    assert (module["calls"], module["kernel_duration_ns"]) == (len(moments), 5 * len(moments))
    assert sorted(row["message"] for row in ranges if row["domain"] == "default") == sorted(f"r{at}" for at in moments)


@pytest.mark.slow
def test_of_all_steps_each_thing_is_of_one(tmp_path: Path) -> None:
    write(tmp_path, STEPS)
    with open_profile(tmp_path) as profile:
        profile.rows("SELECT 1 FROM step.kernel_step, mstx.event, step.period LIMIT 0")

        def steps_of(query: str) -> dict[Any, Any]:
            return {row["at"]: row["step_id"] for row in profile.rows(query)}

        assert steps_of("SELECT start_ns // 10 AS at, step_id FROM step.kernel_step") == dict(MOMENTS)
        assert steps_of("SELECT start_ns AS at, step_id FROM mstx.event WHERE domain = 'default'") == dict(MOMENTS)
        periods = [tuple(row.values())[2:] for row in profile.rows("FROM step.period ORDER BY start_ns")]
    assert periods == [(7, 100, 200), (8, 200, 300), (9, 500, 600), (7, 700, 800)]


def test_what_wraps_a_step_is_no_op_of_the_framework(tmp_path: Path) -> None:
    ops = [
        Op("ProfilerStep#1", 0, 1000, (Kernel("by the wrapper", 5, 9),)),
        Op("ProfilerStep#2", 1000, 2000),
        Op("aten::mm", 100, 110, (Kernel("k", 200, 230),)),
        Op("ProfilerStepX", 300, 310),
    ]
    write_profile(tmp_path / "a_ascend_pt", ops)
    with open_profile(tmp_path) as profile:
        build_at_once(profile, "op-stats", "step-time")
        per_rank = arrow_of(profile.op_stats()).to_pylist()
        (step,) = arrow_of(profile.step_time()).to_pylist()
    assert [tuple(row.values())[2:] for row in per_rank] == [
        ("aten::mm", None, 1, 10, 10, 1, 30, 30, 1.0, None),
        ("ProfilerStepX", None, 1, 10, 10, 0, 0, 0, 0.0, None),
    ]
    assert step["computing_ns"] == 34, "its kernels count where kernels do"


def test_steps_that_overlap_on_the_device_share_its_time(realdata: Path) -> None:
    """The host of this recording is up to 160 ms ahead: spans of steps add up to 1.87 s of 1.23 s."""
    with open_profile(realdata / "gpu_more" / "torch_compile_old_nccl") as profile:
        build_at_once(profile, "step-time", "free-time", "step.kernel_step")
        kernels = profile.rows("SELECT step_id, kind, start_ns, end_ns FROM step.kernel_step WHERE step_id IS NOT NULL")
        steps = profile.rows("FROM step.time WHERE step_id IS NOT NULL")
        (in_gaps,) = profile.rows("SELECT sum(total_ns)::BIGINT AS ns FROM free.cause WHERE step_id IS NOT NULL")

    def covered(*kinds: str) -> int:
        """How long kernels of these kinds run, by a walk along their starts."""
        total, reached = 0, 0
        for start, end in sorted((one["start_ns"], one["end_ns"]) for one in kernels if one["kind"] in kinds):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
        return total

    first, last = min(one["start_ns"] for one in kernels), max(one["end_ns"] for one in kernels)
    own = [[one for one in kernels if one["step_id"] == step["step_id"]] for step in steps]
    assert sum(max(one["end_ns"] for one in kernel) - min(one["start_ns"] for one in kernel) for kernel in own) > last - first

    def all_of(*columns: str) -> int:
        return sum(step[column] for step in steps for column in columns)

    assert all_of("stage_ns", "bubble_ns") + sum(step["idle_before_ns"] or 0 for step in steps) == last - first
    assert all_of("computing_ns") == covered("compute")
    assert all_of("communication_ns") == covered("communication")
    assert all_of("computing_ns", "communication_not_overlapped_ns") == covered("compute", "communication")
    assert all_of("free_ns") == in_gaps["ns"] == last - first - covered("compute", "communication", "copy")
    assert [step["kernel_count"] for step in steps] == [len(kernel) for kernel in own]
