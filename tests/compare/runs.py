"""Writes small runs: the same ops in each step, in a module Layer inside a module Net, unless a test says otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.small_profile import Kernel, Op, Range, write_profile

# A step of the host lasts so many ns, and so does one on the device.
STEP = 100_000


@dataclass(frozen=True)
class Work:
    """An op that launches kernels of one type one after the other, each of these durations; `gap` is idle time before them."""

    name: str
    durations: tuple[int, ...] = (100,)
    type: str = "Mul"
    shapes: str = "4,4"
    is_inside: bool = True
    gap: int = 0
    kind: str = "compute"


def write_run(
    folder: Path,
    steps: Sequence[Sequence[Work]],
    rank: int = 0,
    collections: Sequence[tuple[int, int]] = (),
    layer: str = "Layer",
) -> Path:
    """Write a rank whose steps do this work, and return the folder. `collections` are garbage collections: start and end."""
    ops: list[Op] = []
    ranges: list[Range] = []
    periods: list[tuple[int, int, int]] = []
    for number, work in enumerate(steps):
        begin = device = (number + 1) * STEP
        periods.append((number + 1, begin, begin + STEP))
        ranges += [Range("Net", begin + 10, begin + 20_000), Range(layer, begin + 20, begin + 10_000)]
        inside = outside = 0
        for one in work:
            inside, outside = inside + one.is_inside, outside + (not one.is_inside)
            start = begin + (100 * inside if one.is_inside else 30_000 + 100 * outside)
            device += one.gap
            kernels = []
            for duration in one.durations:
                name = f"{one.type}_{len(ops)}" if one.kind == "compute" else one.type
                kernels.append(Kernel(name, device, device + duration, one.kind, type=one.type, inputs=one.shapes))
                device += duration
            ops.append(Op(one.name, start, start + 50, tuple(kernels)))
    write_profile(
        folder / f"r{rank}_ascend_pt", ops, ranges, steps=periods, rank=rank, collections=[(*c, 1) for c in collections]
    )
    return folder
