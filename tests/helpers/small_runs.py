"""Writes small runs for comparisons: what a test says of steps, modules and kernels becomes a profile."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.small_profile import Kernel, Op, Range, write_profile

# An op and the time of the kernel that it launches.
Work = tuple[str, int]


@dataclass(frozen=True)
class Module:
    """A call of a module, with the ops and modules in it in order."""

    name: str
    inside: tuple["Work | Module", ...] = ()


def module(name: str, *inside: "Work | Module") -> Module:
    return Module(name, inside)


def write_run(
    folder: Path,
    steps: Sequence[Sequence[Work | Module]],
    rank: int = 0,
    first_step: int | None = 1,
    unlinked: Sequence[int] = (),
    before: Sequence[Work] = (),
) -> Path:
    """Write a rank whose steps do this one after the other; without `first_step` there are no profiler steps.

    `unlinked` are the times of kernels that no op launched, `before` is work before the first step.
    """
    ops: list[Op] = []
    ranges: list[Range] = []
    kernels: list[Kernel] = []

    def kernel(name: str, duration: int) -> Kernel:
        start = 1_000_000 + sum(one.end - one.start + 5 for one in kernels)
        kernels.append(Kernel(name, start, start + duration))
        return kernels[-1]

    def place(one: Work | Module, at: int) -> int:
        if isinstance(one, Module):
            end = at + 1
            for inner in one.inside:
                end = place(inner, end)
            ranges.append(Range(one.name, at, end))
            return end + 1
        ops.append(Op(one[0], at, at + 2, (kernel(f"{one[0]}_kernel", one[1]),)))
        return at + 3

    at = 1000
    for one in before:
        at = place(one, at)
    periods = []
    for number, step in enumerate(steps, first_step or 0):
        start = at
        for node in step:
            at = place(node, at)
        periods.append((number, start, at))
        at += 10
    of_none = [kernel("lost", duration) for duration in unlinked]
    write_profile(folder / f"rank{rank}_ascend_pt", ops, ranges, of_none, periods if first_step is not None else (), rank)
    return folder
