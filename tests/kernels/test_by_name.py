"""`kernel-stats --by name`, `--by shapes` and `--by cpu`."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from prof_analysis import open_profile
from tests.helpers.api import rows
from tests.helpers.frames import arrow_of
from tests.helpers.peer import run_recipe
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

SMALL = Kernel("add_1", 0, 10, type="Add", inputs="2", types="FLOAT")
WIDE = replace(SMALL, inputs="4")
KERNELS = [
    *(replace(SMALL, start=start, end=start + length) for start, length in ((0, 10), (20, 30), (60, 10), (80, 50))),
    replace(WIDE, start=200, end=300),
    Kernel("gather_7", 300, 340, type="Gather", core="AI_CPU", inputs="N/A", types="INT64"),
    Kernel("hcom_allReduce_", 400, 490, kind="communication"),
]
OPS = [Op("aten::add", 0, 10, tuple(KERNELS[:5])), Op("aten::gather", 20, 30, tuple(KERNELS[5:]))]


@pytest.mark.slow
def test_each_name_and_each_shape_is_a_row_with_its_spread(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, [Range("Net", 15, 40)])
    with open_profile(tmp_path) as profile:
        by_name = [row[2:] for row in rows(arrow_of(profile.kernel_stats("name")))]
        # kind, name, type, core, kernels, total, share, mean, deviation, min, quartiles, p95, max
        deviation = pytest.approx(((30**2 + 10**2 + 30**2 + 10**2 + 60**2) / 5) ** 0.5)
        assert by_name == [
            ("compute", "add_1", "Add", "AI_CORE", 5, 200, 200 / 240, 40.0, deviation, 10, 10, 30, 50, 100, 100),
            ("communication", "hcom_allReduce__904_6_1", "hcom_allReduce_", None, 1, 90, 1.0, 90.0, 0.0, *(90,) * 6),
            ("compute", "gather_7", "Gather", "AI_CPU", 1, 40, 40 / 240, 40.0, 0.0, *(40,) * 6),
        ]
        assert rows(arrow_of(profile.kernel_stats("name", across_ranks=True))) == by_name
        by_shapes = [row[2:] for row in rows(arrow_of(profile.kernel_stats("shapes")))]
        deviation = pytest.approx((((15**2) * 2 + 5**2 + 25**2) / 4) ** 0.5)
        of_add = "compute", "add_1", "Add", "AI_CORE"
        assert by_shapes == [
            (*of_add, '"2"', "FLOAT", 4, 100, 100 / 240, 25.0, deviation, 10, 10, 10, 30, 50, 50),
            (*of_add, '"4"', "FLOAT", 1, 100, 100 / 240, 100.0, 0.0, *(100,) * 6),
            (*by_name[1][:4], None, None, *by_name[1][4:]),
            (*by_name[2][:4], None, "INT64", *by_name[2][4:]),
        ]
        assert rows(arrow_of(profile.kernel_stats("shapes", across_ranks=True))) == by_shapes
        on_cpu = ("gather_7", "Gather", "aten::gather", "", "Net", 1, 40)
        assert [row[2:] for row in rows(arrow_of(profile.kernel_stats("cpu")))] == [on_cpu]
        assert rows(arrow_of(profile.kernel_stats("cpu", across_ranks=True))) == [(*on_cpu, 40 / 240)]


SCREENS = {
    "name": """
kernel  total  share of kind  kernels  mean  deviation  min  1st quartile  median  3rd quartile  max  type  core  kind
gather_7  40 ns  16.7%  1  40 ns  0 ns  40 ns  40 ns  40 ns  40 ns  40 ns  Gather  AI_CPU  compute

compute 240 ns in 6 kernels; communication 90 ns in 1 kernel; 1 rank
--filter leaves out 87.9% of the time of all kernels
""",
    "cpu": """
kernel    op            module  total  share of computing  kernels  type    inside
gather_7  aten::gather  -       40 ns               16.7%        1  Gather  -

compute 240 ns in 6 kernels; communication 90 ns in 1 kernel; 1 rank
""",
}


@pytest.mark.parametrize("by", quick(SCREENS, 0))
def test_the_screen_of_each_row(tmp_path: Path, command: Callable[..., Result], by: str) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    result = command("kernel-stats", "-d", tmp_path, "--by", by, "--filter", "gather")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.split() for line in result.stdout.splitlines()] == [
        line.split() for line in SCREENS[by].removeprefix("\n").splitlines()
    ]


@pytest.mark.slow
def test_tables_are_written_for_the_rows_that_are_asked(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    result = command("kernel-stats", "-d", tmp_path, "--by", "shapes", "-o", tmp_path / "out", "--export-type", "csv")
    assert result.exit_code == 0
    assert sorted(file.name for file in (tmp_path / "out").rglob("*.csv")) == [
        "kernel_by_shapes.csv",
        "kernel_by_shapes_all_ranks.csv",
        "kernel_statistic.csv",
        "kernel_statistic_all_ranks.csv",
    ]


@pytest.mark.slow
def test_kernels_by_shapes_equal_compute_op_sum_of_msprof_analyze(realdata: Path, tmp_path: Path) -> None:
    """The peer's quartiles lie between two times, so they are left out; its deviation is that of a sample."""
    shutil.copytree(realdata / "alexnet_ddp_910b" / "db" / "level1", tmp_path / "profiles")
    with closing(sqlite3.connect(run_recipe("compute_op_sum", tmp_path / "profiles", tmp_path / "peer"))) as written:
        peer = written.execute(
            "SELECT Rank, OpName, OpType, TaskType, nullif(InputShapes, 'N/A'), Count, SumNs, MinNs, MaxNs, MeanNs, StdNs "
            "FROM ComputeOpPerRankStatsByOpName ORDER BY 1, 2, 3, 4, 5"
        ).fetchall()
    with open_profile(tmp_path / "profiles") as profile:
        ours = profile.sql(
            """
            SELECT
                rank_id, name, type, core, input_shapes, kernel_count, total_ns, min_ns, max_ns, mean_ns,
                stddev_ns * sqrt(kernel_count / nullif(kernel_count - 1, 0)) AS deviation_ns
            FROM kernels.by_shapes
            WHERE kind = 'compute'
            ORDER BY 1, 2, 3, 4, 5
            """,
            arrow=True,
        )
    assert len(peer) > 100
    assert len(ours) == len(peer)
    for of_ours, of_peer in zip(rows(ours), peer, strict=True):
        deviation = None if of_ours[5] == 1 else pytest.approx(of_peer[10])
        assert of_ours == (*of_peer[:9], pytest.approx(of_peer[9]), deviation)
