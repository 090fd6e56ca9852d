"""The levels of a comparison below and beside modules: ops, kernels, communication, steps, idle time, and the whole."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import prof_analysis
from prof_analysis.profile.comparison import Comparison
from tests.compare.runs import STEP, Work, write_run
from tests.helpers.frames import arrow_of


def values(rows: Iterable[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    """The values of some columns."""
    return [tuple(row[column] for column in columns) for row in rows]


def compared(tmp_path: Path, base: Iterable[Iterable[Work]], new: Iterable[Iterable[Work]], **options: Any) -> Comparison:
    """Compare a run that does the first work with one that does the second."""
    runs = {"base": base, "new": new}
    folders = [write_run(tmp_path / name, [tuple(step) for step in steps]) for name, steps in runs.items()]
    return prof_analysis.compare(*folders, **options)


@pytest.mark.slow
def test_communication_differs_by_type(tmp_path: Path) -> None:
    def step(duration: int, type_: str = "hcom_allReduce_") -> list[Work]:
        return [Work("aten::mm"), Work("c10d::op", (duration,), type_, kind="communication")]

    with compared(tmp_path, [step(100), step(102)], [step(150), step(152)]) as comparison:
        (row,) = arrow_of(comparison.communication()).to_pylist()
        (idle_base,) = comparison.rows("SELECT base FROM runs.comparison_summary WHERE figure = 'exposed communication'")
    columns = "operation", "kind", "change", "base_op_count", "new_op_count", "base_ns", "new_ns", "base_transit_ns", "is_noise"
    assert values([row], *columns) == [("allreduce", "collective", "slower", 1, 1, 101, 151, None, False)]
    assert idle_base["base"] == 101


@pytest.mark.slow
def test_steps_stand_side_by_side_and_outliers_say_why(tmp_path: Path) -> None:
    def step(duration: int, gap: int = 0) -> list[Work]:
        return [Work("aten::mm", (10,)), Work("aten::add", (duration,), gap=gap)]

    # The host collects garbage while the device waits for the second op of step 3.
    collected = [(3 * STEP + 151, 3 * STEP + 190)]
    base = write_run(tmp_path / "base", [step(500), step(100), step(101), step(100)])
    steps = [step(100), step(100), step(100, gap=2000), step(300), step(100)]
    new = write_run(tmp_path / "new", steps, collections=collected)
    with prof_analysis.compare(base, new, skip_steps=(1,)) as comparison:
        rows = arrow_of(comparison.steps()).to_pylist()
        (size,) = comparison.rows("FROM runs.comparison")
    columns = "place", "base_step_id", "new_step_id", "base_ns", "new_ns", "difference_ns", "base_outlier", "is_base_compared"
    assert values(rows, *columns) == [
        (1, 1, 1, 510, 110, -400, "first step (warm-up)", False),
        (2, 2, 2, 110, 110, 0, None, True),
        (3, 3, 3, 111, 2110, 1999, None, True),
        (4, 4, 4, 110, 310, 200, None, True),
        (5, None, 5, None, 110, None, None, None),
    ]
    assert [row["new_outlier"] for row in rows] == [None, None, "idle", "computing", None]
    assert (size["base_unit_count"], size["new_unit_count"]) == (3, 4)
