"""Generated runs with Python stacks, in each form, against what the generator knows of each kernel and op."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from fixtures.generate import generate
from fixtures.kineto_export import export_kineto
from fixtures.shape import Shape
from fixtures.stacks import CALL_IMPL, FRAMEWORK, MAIN_FRAME, Cost, Stack, costs_of
from fixtures.text_style import TextStyle
from fixtures.trace import make_rank
from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.slow import quick

NPU = Shape(steps=2, layers=1, world=1, pmu=False, communication=False)
GPU = replace(NPU, task_queue=False, schedule_kernels=False)
# What runs again in the backward is called by Python code; gradients are scaled in hooks.
HARD: dict[str, Any] = {"recompute": True, "gradient_hooks": True, "micro_batches": 2}
FORMS = [f"{form}, {stacks}" for form in ("db", "text", "kineto") for stacks in ("chains", "functions")]
Row = tuple[Any, ...]


@pytest.fixture(scope="module", params=quick([*FORMS, *(f"{form}, hard" for form in FORMS)], 1))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Cost]]:
    """The folder of a form of the run, and the truth."""
    form, stacks, *hard = request.param.split(", ")
    folder = tmp_path_factory.mktemp(form)
    shape = replace(GPU if form == "kineto" else NPU, stacks=stacks, **(HARD if hard else {}))
    generate(folder, shape, ranks=1, style=TextStyle(exports="text" if form == "text" else "db"))
    if form == "kineto":
        (database,) = folder.rglob("ascend_pytorch_profiler_0.db")
        export_kineto(database, folder / "gpu" / "rank0.json", 0, 1)
        shutil.rmtree(database.parent.parent)
    return folder, costs_of(make_rank(shape, 0, 0))


def of_user(stack: Stack) -> Stack:
    return tuple(frame for frame in stack if frame not in FRAMEWORK)


def expected_stacks(costs: Iterable[Cost], all_ns: int, chosen: Callable[[Stack], Stack] = tuple) -> list[Row]:
    """Stack, reason, launches, device time, share, its part in the backward, ops, host time."""
    sums: dict[tuple[str | None, str | None], list[int]] = defaultdict(lambda: [0] * 5)
    for cost in costs:
        stack, reason = cost.stack, cost.reason
        if stack is not None:
            stack = chosen(stack)
            reason = None if stack else "no user code"
        row = sums[";".join(stack) if stack else None, reason]
        backward = cost.device_ns * bool(cost.is_backward)
        for n, part in enumerate((cost.kernels, cost.device_ns, backward, cost.ops, cost.host_ns)):
            row[n] += part
    return sorted(((*key, *r[:2], r[1] / all_ns, *r[2:]) for key, r in sums.items()), key=repr)


def expected_frames(costs: Iterable[Cost], all_ns: int) -> list[Row]:
    """Frame, reason, launches, own and all device time, share, its part in the backward, own and all host time."""
    sums: dict[tuple[str | None, str | None], list[int]] = defaultdict(lambda: [0] * 6)
    for cost in costs:
        for frame in set(cost.stack or [None]):
            is_own = frame is None or (cost.stack is not None and frame == cost.stack[-1])
            row = sums[frame, cost.reason]
            backward = cost.device_ns * bool(cost.is_backward)
            parts = (cost.kernels, cost.device_ns * is_own, cost.device_ns, backward, cost.host_ns * is_own, cost.host_ns)
            for n, part in enumerate(parts):
                row[n] += part
    return sorted(((*key, r[0], r[1], r[2], r[2] / all_ns, *r[3:]) for key, r in sums.items()), key=repr)


def found(folder: Path, by: Literal["frame", "stack"], **options: Any) -> list[Row]:
    """The rows, with one word for the reason for which a form knows no launch."""
    with open_profile(folder, **options) as profile:
        rows = arrow_of(profile.stacks(by)).to_pylist()
    edge = "cut at the profile edge"
    return sorted((tuple("no host launch" if cell == edge else cell for cell in row.values())[2:] for row in rows), key=repr)


def test_time_by_stack_and_by_frame(run: tuple[Path, list[Cost]]) -> None:
    folder, costs = run
    all_ns = sum(cost.device_ns for cost in costs)
    assert found(folder, "stack") == expected_stacks(costs, all_ns)
    assert found(folder, "frame") == expected_frames(costs, all_ns)


@pytest.mark.slow
def test_chosen_frames(run: tuple[Path, list[Cost]]) -> None:
    folder, costs = run
    all_ns = sum(cost.device_ns for cost in costs)
    assert found(folder, "stack", user_code=True) == expected_stacks(costs, all_ns, of_user)

    def below(stack: Stack) -> Stack:
        first = next(n for n, frame in enumerate(stack) if "qwen2mlp" in frame)
        return stack[first:]

    inside = [cost for cost in costs if cost.stack and any("qwen2mlp" in frame for frame in cost.stack)]
    assert found(folder, "stack", under="Qwen2MLP") == expected_stacks(inside, all_ns, below)


@pytest.mark.slow
def test_work_of_a_module(run: tuple[Path, list[Cost]]) -> None:
    folder, costs = run
    all_ns = sum(cost.device_ns for cost in costs)
    chosen = [
        cost for cost in costs if cost.module_path and "/Qwen2MLP/Linear/" in f"/{cost.module_path.replace('[Backward]', '')}/"
    ]
    assert sum(cost.device_ns for cost in chosen) > 0
    assert found(folder, "stack", module="Qwen2MLP/Linear") == expected_stacks(chosen, all_ns)


@pytest.mark.slow
def test_lines_of_ops(run: tuple[Path, list[Cost]]) -> None:
    folder, costs = run
    expected: dict[str | None, int] = defaultdict(int)
    for cost in costs:
        if cost.device_ns and (cost.stack or cost.reason in ("op without stack", "gradient hooks")):
            expected[of_user(cost.stack)[-1] if cost.stack else None] += cost.device_ns
    with open_profile(folder) as profile:
        rows = arrow_of(profile.op_stats(source_line=True)).to_pylist()
    lines: dict[str | None, int] = defaultdict(int)
    for row in rows:
        lines[row["source_line"]] += row["device_self_ns"]
    assert {line: time for line, time in lines.items() if time} == expected


def test_flame_graphs_hold_the_same_stacks(run: tuple[Path, list[Cost]], tmp_path: Path) -> None:
    folder, costs = run
    all_ns = sum(cost.device_ns for cost in costs)
    with open_profile(folder) as profile:
        profile.export(tmp_path, "collapsed", "stacks")
    (file,) = tmp_path.rglob("*.collapsed.txt")
    lines = [line.rsplit(" ", 1) for line in file.read_text().splitlines()]
    known = {line: int(time) for line, time in lines if line.startswith((MAIN_FRAME, CALL_IMPL))}
    assert known == {row[0]: row[3] for row in expected_stacks(costs, all_ns) if row[0] and row[3]}
    assert sum(int(time) for _, time in lines) == all_ns
    assert sum(CALL_IMPL in line for line in known) > 5
