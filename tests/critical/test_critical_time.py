"""How much of the time of a kernel can be won: what the device is busy for less without it, against plain arithmetic."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from prof_analysis import open_profile
from tests.helpers.chain import built
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile

Interval = tuple[int, int]


def busy_ns(intervals: Iterable[Interval]) -> int:
    """Return how long at least one of them runs."""
    total, reached = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def kernel(kind: str, start: int, end: int, stream: int, shapes: str = "8,8") -> Kernel:
    return Kernel(kind, start, end, stream=stream, type=kind, inputs=shapes, types="FLOAT16")


def written(folder: Path, kernels: Iterable[Kernel]) -> Path:
    write_profile(folder / "0_ascend_pt", [Op("aten::op", 100, 200, tuple(kernels))])
    return folder


def critical_by_type(kernels: Iterable[Kernel]) -> Counter[str]:
    """Return the critical time of kernels by type, of the tables alone."""
    rows: list[dict[str, object]] = [
        {
            "kernel_id": number,
            "kind": "compute",
            "type": one.type,
            "input_shapes": one.inputs,
            "start_ns": one.start,
            "end_ns": one.end,
        }
        for number, one in enumerate(kernels)
    ]
    of_step = [{name: row[name] for name in ("kernel_id", "kind", "start_ns", "end_ns")} for row in rows]
    found = Counter[str]()
    given: dict[str, list[dict[str, object]]] = {
        "step.kernel_step": of_step,
        "trace.kernel": rows,
        "free.gap": [],
        "clock.offset": [{"offset_ns": 0}],
    }
    for row in built("critical.kernel", given):
        found[str(rows[int(str(row["kernel_id"]))]["type"])] += int(str(row["critical_ns"]))
    return found


def test_the_kernels_of_a_type_win_what_the_device_is_busy_for_less_without_them() -> None:
    draw = random.Random(34)
    kernels: list[Kernel] = []
    for stream in range(4):
        now = 1000
        for _ in range(15):
            now += draw.choice([0, draw.randint(1, 300)])
            end = now + draw.randint(1, 400)
            # No two have the same shapes, so that none is known to be stretched.
            kernels.append(kernel(draw.choice("ABC"), now, end, stream, f"{len(kernels) + 1},8"))
            now = end
    ran = {type_: [(one.start, one.end) for one in kernels if one.type == type_] for type_ in "ABC"}
    every = [interval for of_type in ran.values() for interval in of_type]
    expected = {
        type_: busy_ns(every) - busy_ns(interval for other, of_type in ran.items() if other != type_ for interval in of_type)
        for type_ in ran
    }
    assert critical_by_type(kernels) == expected
    assert all(0 < expected[type_] < busy_ns(ran[type_]) for type_ in ran)


# Four times beside Experts for as long as these take, twice by themselves for 20 ns.
STRETCHED = (
    *(kernel("Experts", 1000 * n, 1000 * n + 300, 1) for n in range(1, 5)),
    *(kernel("Matmul", 1000 * n + 5, 1000 * n + 305 + n, 2) for n in range(1, 5)),
    kernel("Matmul", 6000, 6020, 2),
    kernel("Matmul", 7000, 7020, 2),
)


def test_contention_is_a_finding_with_its_neighbour_and_a_win_of_the_critical_time_alone(tmp_path: Path) -> None:
    with open_profile(written(tmp_path, STRETCHED)) as profile:
        (found,) = profile.rows("FROM advice.contention")
    assert (found["kernel_type"], found["count"], found["time_ns"], found["win_ns"]) == ("Matmul", 4, 4 * 300 + 10 - 80, 30)
    assert found["evidence"] == says("4 of 6 kernels", "beside Experts", "303 ns on average", "equal ones")
    assert "Experts" in found["what_to_do"]
