"""However the work is divided, the answer is the same: every column, every row, in the same order."""

import random
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import open_profile
from prof_analysis.analyses import ANALYSES
from prof_analysis.engine import dropping
from prof_analysis.run import job, machine
from tests.helpers.asking import build_at_once
from tests.helpers.places import SAMPLE

TABLES = ("module.statistic", "module.tree", "module.coverage", "kernels.statistic", "across.module")


def answers(folder: Path, **options: Any) -> dict[str, pa.Table]:
    with open_profile(folder, **options) as profile:
        build_at_once(profile, *TABLES)
        return {table: profile.table(table, arrow=True) for table in TABLES}


def any_shape(seed: int) -> Shape:
    draw = random.Random(seed)
    switches = ("recompute", "gradient_hooks", "double_backward", "relaunch", "equal_sequences", "overlapping_ranges", "pmu")
    return Shape(
        steps=draw.randint(1, 2),
        mode=draw.choice(["training", "inference"]),
        queue_threads=draw.randint(1, 3),
        **cast(Any, {switch: draw.random() < 0.5 for switch in switches}),
    )


SHAPES: list[Any] = [
    Shape(steps=1, recompute=True, queue_threads=2, gradient_hooks=True),
    *(pytest.param(any_shape(seed), id=str(seed), marks=pytest.mark.slow) for seed in range(10)),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.slow
def test_threads_processes_memory_and_store_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: Shape
) -> None:
    profiles, store = tmp_path / "profiles", tmp_path / "store"
    generate(profiles, shape, ranks=2, seed=4)
    expected = answers(profiles, workers=1, threads=1)
    assert all(table.num_rows for table in expected.values())
    with monkeypatch.context() as processes_however_small:
        processes_however_small.setattr(machine, "_WORTH_PROCESSES_BYTES", 0)
        found = answers(profiles, workers=2, threads=4, memory_limit=400_000_000, cache=store)
    assert found == expected, "in processes with two threads each and little memory"
    assert answers(profiles, cache=store) == expected, "from the store"


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("module-stats", "step-time"), id="two"),
        pytest.param(tuple(sorted(ANALYSES)), id="all", marks=pytest.mark.slow),
    ],
)
def test_tables_that_are_dropped_early_answer_as_those_of_few_rows_that_stay(
    monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    (folder,) = (SAMPLE / "decoder_training").glob("node0_4242_*")
    asked = sorted({table for name in names for table in ANALYSES[name].tables})

    def rows() -> dict[str, pa.Table]:
        with open_profile(folder) as profile:
            build_at_once(profile, *asked)
            return {table: profile.table(table, arrow=True) for table in asked}

    of_few_rows = rows()
    monkeypatch.setattr(job, "FEW_ROWS_BYTES", -1)
    monkeypatch.setattr(dropping, "MANY_ROWS", 0)
    assert rows() == of_few_rows
