"""Memory of the device compared: by op and module, what was allocated per step and what was alive at the peak."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

import prof_analysis
from prof_analysis import InputError
from tests.compare.runs import STEP, Work, write_run
from tests.helpers.small_profile import DATABASE
from tests.memory.test_ascend_records import Row, add_memory

WORK = [Work("aten::mm"), Work("aten::apply", is_inside=False)]
COLUMNS = (
    "parent_module", "module", "op_name", "part", "base_live_bytes", "new_live_bytes", "live_difference_bytes", "base_bytes",
    "new_bytes", "difference_bytes", "base_block_count", "new_block_count",
)  # fmt: skip


def write(folder: Path, size: int, before: int, with_memory: bool = True) -> Path:
    """Two steps: a block that its module releases, and one of 512 bytes after the modules that stays."""
    write_run(folder, [WORK, WORK])
    blocks: list[Row] = []
    records: list[Row] = []
    total = before
    for begin in (STEP, 2 * STEP):
        blocks.append(("aten::mm", size, begin + 110, begin + 5000, begin + 5000, 1, 77, 0))
        blocks.append(("aten::apply", 512, begin + 30_110, None, None, 1, 77, 0))
        for at, change in ((110, size), (5000, -size), (30_110, 512)):
            total += change
            records.append(("PTA", begin + at, total, 10_000, total, 77, 0))
    if with_memory:
        add_memory(folder / "r0_ascend_pt" / DATABASE.format(rank=0), blocks, records)
    return folder


# What runs of which the second one allocates more differ in.
ROWS = [
    ("Net[0]", "Layer[0]", "aten::mm", "blocks", 1024, 3072, 2048, 1024, 3072, 2048, 1, 1),
    (None, None, None, "allocated before", 4096, 5000, 904, 0, 0, 0, 0, 0),
    (None, None, "aten::apply", "blocks", 512, 512, 0, 512, 512, 0, 1, 1),
]


def found(base: Path, new: Path, **options: Any) -> list[tuple[Any, ...]]:
    with prof_analysis.compare(base, new, **options) as comparison:
        return [tuple(row[column] for column in COLUMNS) for row in comparison.rows("FROM runs.memory_comparison")]


@pytest.mark.slow
def test_each_op_has_what_it_allocated_and_what_of_it_lived_at_the_peak(tmp_path: Path) -> None:
    runs = write(tmp_path / "base", 1024, 4096), write(tmp_path / "new", 3072, 5000)
    assert found(*runs) == ROWS


@pytest.mark.slow
def test_without_a_step_and_per_run_memory_is_that_of_all_units(tmp_path: Path) -> None:
    runs = write(tmp_path / "base", 1024, 4096), write(tmp_path / "new", 3072, 5000)
    # A step that is left out does not count as a step; the peak stays that of the whole recording.
    assert found(*runs, skip_steps=[1]) == ROWS
    per_run = [(*row[:7], *(2 * figure for figure in row[7:])) for row in ROWS]
    assert found(*runs, per="run") == per_run


@pytest.mark.slow
def test_equal_ranks_show_no_difference(tmp_path: Path, command: Callable[..., Result]) -> None:
    runs = write(tmp_path / "base", 1024, 4096), write(tmp_path / "new", 1024, 4096)
    result = command("compare", *runs)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "memory of the device: nothing changed" in result.stdout
    assert "memory of  " not in result.stdout


@pytest.mark.slow
def test_the_screen_and_the_files_have_it_where_both_runs_recorded_it(tmp_path: Path, command: Callable[..., Result]) -> None:
    runs = write(tmp_path / "base", 1024, 4096), write(tmp_path / "new", 3072, 5000)
    result = command("compare", *runs, "-o", tmp_path, "--export-type", "csv")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "memory of" in result.stdout
    assert "2.00 KiB" in result.stdout
    file = tmp_path / "cluster_analysis_output" / "memory_comparison.csv"
    assert file.read_text().splitlines()[1].startswith("new,Net[0],Layer[0],aten::mm,framework,blocks,1024.0,3072.0,2048.0,")


@pytest.mark.slow
def test_without_memory_on_one_side_there_is_no_such_level(tmp_path: Path) -> None:
    runs = write(tmp_path / "base", 1024, 4096), write(tmp_path / "new", 3072, 5000, with_memory=False)
    with prof_analysis.compare(*runs) as comparison:
        assert "memory_comparison.csv" not in {file.name for file in comparison.export(tmp_path, "csv")}
        with pytest.raises(InputError, match="collect with profile_memory=True"):
            comparison.memory()


@pytest.mark.slow
def test_two_equal_ranks_of_alexnet_differ_in_nothing(realdata: Path) -> None:
    """For them msprof-analyze reports that aten::item went from 0 to 124 MB."""
    ranks = realdata / "alexnet_ddp_910b" / "db" / "level1"
    with prof_analysis.compare(ranks / "rank0_ascend_pt", ranks / "rank1_ascend_pt") as comparison:
        changed = comparison.rows("FROM runs.memory_comparison WHERE live_difference_bytes <> 0 OR difference_bytes <> 0")
        peaks = comparison.rows(
            "SELECT role, sum(new_live_bytes) AS bytes FROM runs.memory_comparison GROUP BY role ORDER BY 1"
        )
    assert changed == []
    assert [tuple(row.values()) for row in peaks] == [("framework", 1_245_688_832), ("operators", 76_611_584)]
