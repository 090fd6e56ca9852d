"""A recording of one forward alone that begins or ends in the middle of it says what it does not know."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers import kineto
from tests.helpers.small_profile import Frame, Kernel, Op, write_profile

# Of a call of Net: each module, when it begins and ends, the number of its call and that of the function that called it.
CALLS = (
    ("Net_0", 100, 900, 10, 5),
    ("Conv2d_0", 200, 300, 15, 13),
    ("Sequential_0", 400, 800, 20, 13),
    ("Conv2d_1", 500, 600, 25, 23),
    ("ReLU_0", 650, 700, 30, 23),
)
OPS = (220, 320, 420, 520, 660, 820)
STATE = "<built-in method _get_tracing_state of PyCapsule object at 0x7f>"
OUTSIDE = "cut at the profile edge"


def state(at: int, number: int, caller: int) -> str:
    """What PyTorch does first in a module call."""
    return kineto.event("python_function", STATE, at, at + 1, arguments={"Python id": number, "Python parent id": caller})


def write_trace(folder: Path, begin: int, end: int, more: Sequence[str] = ()) -> None:
    """Write what a recording from begin to end holds of a call of Net; each op launches a kernel of 1 us."""
    events = [*more]
    for name, start, stop, number, caller in CALLS:
        if begin <= start and stop <= end:
            ids = {"Python id": number, "Python parent id": caller, "Python module id": 0}
            events.append(kineto.event("python_function", f"nn.Module: {name}", start, stop, arguments=ids))
        if begin <= start + 2 and start + 3 <= end:
            events.append(state(start + 2, number + 2, number + 1))
    for number, start in enumerate(OPS, 1):
        if begin <= start and start + 10 <= end:
            events += [
                kineto.op("aten::a", start, start + 10, number),
                kineto.launch(start, start + 1, number, number),
                kineto.kernel("k", 50_000 + 2_000 * number, 51_000 + 2_000 * number, number),
            ]
    kineto.write_trace(folder / "rank0.json", events)


def found(folder: Path) -> tuple[list[str | None], list[str]]:
    """The path of each kernel, or why it has none, and the warnings of module calls that are not recorded."""
    with open_profile(folder, cache="none") as profile:
        profile.module_stats()
        rows = profile.rows("SELECT parent_module, module, reason FROM module.kernel ORDER BY start_ns")
        warnings = [one for one in profile.warnings if "module call" in one]
    return [row["reason"] or f"{row['parent_module']}/{row['module']}".removeprefix("/") for row in rows], warnings


def test_a_call_that_began_and_did_not_end_has_what_is_inside(tmp_path: Path) -> None:
    write_trace(tmp_path, 0, 640)
    paths, (warning, *_) = found(tmp_path)
    assert paths == [OUTSIDE] * 4
    assert "100.0%" in warning


@pytest.mark.slow
def test_instances_that_are_missing_are_a_sign(tmp_path: Path) -> None:
    """Conv2d_1 without Conv2d_0: the recording began after it, and may have begun in a call that holds all the others."""
    write_trace(tmp_path, 350, 1_000)
    paths, (warning,) = found(tmp_path)
    assert paths == ["Sequential", "Sequential/Conv2d", "Sequential/ReLU", "outside every module"]
    assert "3.0 us" in warning


@pytest.mark.slow
def test_without_numbers_of_functions_it_is_a_sign_alone(tmp_path: Path) -> None:
    frames = [Frame(STATE, start + 2, start + 3) for _, start, _, _, _ in CALLS[:-1]]
    frames += [Frame(f"nn.Module: {name}", start, stop) for name, start, stop, _, _ in CALLS if stop <= 640]
    ops = [Op("aten::a", at, at + 10, (Kernel("k", 10 * at, 10 * at + 100),)) for at in OPS[:4]]
    write_profile(tmp_path / "0_ascend_pt", ops, frames=frames)
    paths, (warning,) = found(tmp_path)
    assert paths == ["Conv2d", "outside every module", "outside every module", "Conv2d"]
    assert "200 ns" in warning
