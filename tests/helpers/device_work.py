"""Profiles whose kernels run one after the other, each launched by an op of its own, for rules about work on the device."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.helpers.small_profile import Kernel, Op, Range, write_chip, write_profile

US = 1000
START = 1_767_225_600_000_000_000


def work(length: int, **others: Any) -> Kernel:
    """Return a kernel of so many us, of the type Mul on cores that multiply matrices unless `others` say otherwise."""
    return Kernel(others.pop("name", "kernel"), 0, length * US, **others)


def matmul(length: int, **others: Any) -> Kernel:
    return work(length, **{"type": "MatMulV3", "types": "FLOAT;FLOAT", **others})


def vector(length: int, **others: Any) -> Kernel:
    return work(length, **{"core": "AI_VECTOR_CORE", **others})


def cast(length: int, from_type: str, to_type: str, **others: Any) -> Kernel:
    return vector(length, **{"type": "Cast", "types": from_type, "output_types": to_type, "inputs": "8,8", **others})


def one_after_another(folder: Path, kernels: list[Kernel], cores: int | None = 24, inside: int = 99, **others: Any) -> None:
    """Write a profile in which aten::op0 launches the first kernel, and so on; the first `inside` ops are in a module Block."""
    ops, now = [], START
    for number, kernel in enumerate(kernels):
        start = START + 10 * US * number
        ops.append(Op(f"aten::op{number}", start, start + 5 * US, (replace(kernel, start=now, end=now + kernel.end),)))
        now += kernel.end
    ranges = [Range("Block", START - US, START + 10 * US * inside - US)] if inside else []
    write_profile(folder / "0_ascend_pt", ops, ranges, **others)
    if cores:
        write_chip(folder / "0_ascend_pt", cores)
