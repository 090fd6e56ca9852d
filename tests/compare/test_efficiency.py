"""`compare --efficiency`: MFU and what bounds modules in base and new run."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from prof_analysis import compare, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.small_profile import Matmul, Op, Range, write_chip, write_profile

COMPUTES = {"aic_mac_ratio": 0.9, "aic_mte2_ratio": 0.2, "aicore_time": 1.0}
LOADS = {"aic_mac_ratio": 0.2, "aic_mte2_ratio": 0.9, "aicore_time": 1.0}


def run_of(folder: Path, times: tuple[int, int], counters: dict[str, float]) -> Path:
    """A run of one rank: two linear modules in a net, each with one product that takes such a time."""
    ops, ranges, start = [], [Range("Net", 0, 1000)], 1_000
    for number, duration in enumerate(times):
        kernel = Matmul(
            "mm", start, start + duration, inputs="4096,4096;4096,4096", outputs="4096,4096", types="DT_BF16;DT_BF16",
            pmu=counters,
        )  # fmt: skip
        ops.append(Op("aten::mm", 10 + 100 * number, 50 + 100 * number, (kernel,)))
        ranges.append(Range("Linear", 5 + 100 * number, 60 + 100 * number))
        start += duration
    write_profile(folder / "a_ascend_pt", ops, ranges)
    write_chip(folder / "a_ascend_pt")
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return run_of(tmp_path / "one", (600_000, 600_000), COMPUTES), run_of(tmp_path / "two", (600_000, 900_000), LOADS)


@pytest.mark.slow
def test_each_module_has_the_mfu_that_each_run_has_by_itself(runs: tuple[Path, Path]) -> None:
    alone = []
    for run in runs:
        with open_profile(run, instances=True) as profile:
            by_module = {
                f"{row['parent_module']}/{row['module']}".lstrip("/"): (row["mfu"], row["efficiency"])
                for row in arrow_of(profile.mfu()).to_pylist()
            }
            by_module[""] = by_module["Net[0]"]  # All kernels are in it.
            alone.append(by_module)
    with compare(*runs) as comparison:
        found = arrow_of(comparison.efficiency()).to_pylist()
    paths = ["/".join(filter(None, (row["parent_module"], row["module"]))) for row in found]
    assert paths == ["", "Net[0]", "Net[0]/Linear[0]", "Net[0]/Linear[1]"]
    for path, row in zip(paths, found, strict=True):
        of_both = (row["base_mfu"], row["base_efficiency"]), (row["new_mfu"], row["new_efficiency"])
        assert of_both == (alone[0][path], alone[1][path])
        assert row["mfu_difference"] == row["new_mfu"] - row["base_mfu"]
        assert row["efficiency_difference"] == row["new_efficiency"] - row["base_efficiency"]
    assert [(row["base_bound"], row["new_bound"]) for row in found] == [(None, None), *[("compute", "memory")] * 3]
    assert {row["run"] for row in found} == {"new"}


@pytest.mark.slow
def test_only_with_the_option_it_is_shown_and_written(
    runs: tuple[Path, Path], tmp_path: Path, command: Callable[..., Result]
) -> None:
    words = ("compare", *runs, "-o", tmp_path / "out", "--export-type", "csv")
    usual = command(*words)
    assert usual.exit_code == 0
    assert "efficiency" not in usual.stdout
    assert not list((tmp_path / "out").rglob("efficiency_comparison.csv"))
    result = command(*words, "--efficiency")
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("Net[0]/Linear[1]")]
    assert line.split()[-3:] == ["compute", "->", "memory"]
    assert len(list((tmp_path / "out").rglob("efficiency_comparison.csv"))) == 1
