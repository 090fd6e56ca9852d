"""How much of the time of a kernel can be won: what the device is busy for less without it, against plain arithmetic."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from prof_analysis import open_profile
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


def critical_by_type(folder: Path) -> dict[str, int]:
    query = """
        SELECT kernel.type, sum(critical.critical_ns)::BIGINT AS critical_ns
        FROM module.kernel
        JOIN critical.kernel AS critical USING (kernel_id)
        GROUP BY kernel.type
    """
    with open_profile(folder) as profile:
        return {row["type"]: row["critical_ns"] for row in profile.rows(query)}


def test_the_kernels_of_a_type_win_what_the_device_is_busy_for_less_without_them(tmp_path: Path) -> None:
    draw = random.Random(34)
    kernels: list[Kernel] = []
    for stream in range(4):
        now = 1000
        for _ in range(60):
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
    assert critical_by_type(written(tmp_path, kernels)) == expected
    assert all(0 < expected[type_] < busy_ns(ran[type_]) for type_ in ran)


def test_beside_an_equally_long_kernel_only_what_lasts_longer_can_be_won(tmp_path: Path) -> None:
    kernels = [kernel("Long", 1000, 2000, 1), kernel("Beside", 1010, 2015, 2), kernel("Next", 2015, 2100, 1)]
    assert critical_by_type(written(tmp_path, kernels)) == {"Long": 10, "Beside": 15, "Next": 85}


# Four times beside Experts for as long as these take, twice by themselves for 20 ns.
STRETCHED = (
    *(kernel("Experts", 1000 * n, 1000 * n + 300, 1) for n in range(1, 5)),
    *(kernel("Matmul", 1000 * n + 5, 1000 * n + 305 + n, 2) for n in range(1, 5)),
    kernel("Matmul", 6000, 6020, 2),
    kernel("Matmul", 7000, 7020, 2),
)


def test_a_kernel_that_another_one_stretches_does_not_cover_it(tmp_path: Path) -> None:
    # Matmul wins what lasts longer, 6 to 9 ns, and its 40 ns elsewhere; Experts all but the 20 ns that Matmul takes anyway.
    assert critical_by_type(written(tmp_path, STRETCHED)) == {"Matmul": 6 + 7 + 8 + 9 + 40, "Experts": 4 * (300 - 20)}


def test_contention_is_a_finding_with_its_neighbour_and_a_win_of_the_critical_time_alone(tmp_path: Path) -> None:
    with open_profile(written(tmp_path, STRETCHED)) as profile:
        (found,) = profile.rows("FROM advice.contention")
    assert (found["kernel_type"], found["count"], found["time_ns"], found["win_ns"]) == ("Matmul", 4, 4 * 300 + 10 - 80, 30)
    assert found["evidence"].startswith("4 of 6 kernels run beside Experts and take 303 ns on average, where equal ones ")
    assert "Experts" in found["what_to_do"]


def test_kernels_that_take_as_long_elsewhere_are_not_stretched(tmp_path: Path) -> None:
    """A little longer beside others; and beside them and elsewhere, but with other shapes."""
    longer = [kernel("Matmul", 8000 + 200 * n, 8160 + 200 * n, 2) for n in range(3)]
    smaller = [kernel("Matmul", 9000 + 200 * n, 9010 + 200 * n, 2, "1,8") for n in range(3)]
    beside = [one for one in STRETCHED if one.start < 6000]
    with open_profile(written(tmp_path, [*beside, *longer, *smaller])) as profile:
        assert profile.rows("FROM advice.contention") == []
        assert profile.rows("FROM critical.stretched") == []


def test_computing_beside_communication_can_be_won(tmp_path: Path) -> None:
    kernels = [kernel("Long", 1000, 2000, 1), Kernel("hcom_allReduce_", 900, 2000, kind="communication", stream=3)]
    assert critical_by_type(written(tmp_path, kernels))["Long"] == 1000
