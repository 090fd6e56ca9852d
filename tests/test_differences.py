"""Where prof-analysis differs from msprof-analyze 26.2.0 on purpose: one test for each row of the README's table."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, module_stats, open_profile
from tests.small_profile import Kernel, Op, Range, edit, write_profile


def rows(path: Path, **options: Any) -> list[tuple[str, str, str, int, int]]:
    """Path, op, kernels, total and count of each row of module_stats."""
    frame = module_stats(path, **options)
    return [
        (f"{row.parent_module}/{row.module}", row.op_name, row.kernel_list, row.total_kernel_duration_ns, row.op_count)
        for row in frame.itertuples()
    ]


def test_threads_never_mix(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Left", 0, 100, tid=1), Range("Right", 10, 90, tid=2)],
        ops=[
            Op("op_left", 20, 30, (Kernel("k1", 200, 203),), tid=1),
            Op("op_right", 40, 50, (Kernel("k2", 210, 215),), tid=2),
            Op("op_loader", 60, 70, (Kernel("k3", 220, 227),), tid=3),
        ],
    )
    assert rows(tmp_path) == [("/Left", "op_left", "k1", 3, 1), ("/Right", "op_right", "k2", 5, 1)]


def test_modules_nest_to_any_depth(tmp_path: Path) -> None:
    depth = 40
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range(f"M{level}", level, 1000 - level) for level in range(depth)],
        ops=[Op("op", 500, 510, (Kernel("k", 2000, 2007),))],
    )
    assert rows(tmp_path) == [("/".join(f"M{level}" for level in range(depth)), "op", "k", 7, 1)]


def test_a_straddling_op_takes_nothing_from_its_module(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("A", 0, 1000), Range("B", 100, 500)],
        ops=[
            Op("op1", 110, 120, (Kernel("k1", 2000, 2001),)),
            Op("straddles", 200, 600, (Kernel("k2", 2010, 2012),)),
            Op("op3", 300, 310, (Kernel("k3", 2020, 2023),)),
        ],
    )
    assert rows(tmp_path) == [("A/B", "op1", "k1", 1, 1), ("/A", "straddles", "k2", 2, 1), ("A/B", "op3", "k3", 3, 1)]


def test_equal_ops_on_two_threads_are_two(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("A", 0, 100, tid=1), Range("A", 0, 100, tid=2)],
        ops=[
            Op("op", 10, 20, (Kernel("k", 200, 203),), tid=1),
            Op("op", 10, 20, (Kernel("k", 210, 215),), tid=2),
        ],
    )
    assert rows(tmp_path) == [("/A", "op", "k", 8, 2)]


def test_a_kernel_counts_once(tmp_path: Path) -> None:
    database = write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("A", 0, 100)],
        ops=[Op("outer", 10, 50), Op("inner", 20, 40, (Kernel("k", 200, 203),))],
    )
    edit(database, "INSERT INTO CONNECTION_IDS SELECT 0, connectionId FROM CONNECTION_IDS WHERE id = 1")
    assert rows(tmp_path) == [("/A", "inner", "k", 3, 1)]


def test_times_are_exact_beside_a_null(tmp_path: Path) -> None:
    epoch = 1_700_000_000_000_000_000
    database = write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("A", epoch, epoch + 1000)],
        ops=[
            Op("op", epoch + 123, epoch + 130, (Kernel("k", epoch + 2001, epoch + 2124),)),
            Op("lost", epoch + 200, epoch + 210, (Kernel("k", epoch + 3001, epoch + 3002),)),
        ],
    )
    edit(database, "UPDATE PYTORCH_API SET endNs = NULL WHERE connectionId = 1")
    with pytest.warns(ProfAnalysisWarning, match="1 ops were set aside"):
        assert rows(tmp_path) == [("/A", "op", "k", 123, 1)]
    with open_profile(tmp_path) as profile:
        assert profile.ops()[["start_ns", "end_ns"]].values.tolist() == [[epoch + 123, epoch + 130]]


def test_a_broken_rank_does_not_stop_the_others(tmp_path: Path, command: Callable[..., Result]) -> None:
    for rank in (0, 1):
        write_profile(
            tmp_path / f"r{rank}_ascend_pt",
            ranges=[Range("A", 0, 100)],
            ops=[Op("op", 10, 20, (Kernel("k", 200, 203),))],
            rank=rank,
        )
    broken = tmp_path / "r1_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_1.db"
    broken.write_bytes(b"not a database" * 100)
    result = command("module-stats", "-d", tmp_path)
    assert result.exit_code == 1
    assert str(broken) in result.stderr
    with closing(sqlite3.connect(tmp_path / "cluster_analysis_output" / "cluster_analysis.db")) as written:
        assert written.execute("SELECT rankID, module, opName FROM ModuleStatistic").fetchall() == [(0, "A", "op")]


def test_nothing_to_write_is_an_error(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", ops=[Op("op", 10, 20, (Kernel("k", 200, 203),))])
    result = command("module-stats", "-d", tmp_path)
    assert result.exit_code == 2
    assert "no module ranges" in result.stderr
    assert not (tmp_path / "cluster_analysis_output").exists()
    with pytest.raises(InputError, match="no module ranges"):
        module_stats(tmp_path)


def test_every_folder_counts(tmp_path: Path) -> None:
    for folder, rank in (("a", None), ("b", None), ("c", 3), ("d", 3)):
        write_profile(
            tmp_path / f"{folder}_ascend_pt",
            ranges=[Range("A", 0, 100)],
            ops=[Op("op", 10, 20, (Kernel("k", 200, 203),))],
            rank=rank,
        )
    frame = module_stats(tmp_path)
    assert frame["profile"].tolist() == ["c_ascend_pt", "d_ascend_pt", "a_ascend_pt", "b_ascend_pt"]
    assert frame["rank_id"].fillna(-1).tolist() == [3, 3, -1, -1]


def test_step_id_selects(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        steps=[(7, 0, 100), (8, 100, 200)],
        ranges=[Range("A", 0, 90), Range("A", 100, 190)],
        ops=[Op("op", 10, 20, (Kernel("k", 150, 153),)), Op("op", 110, 120, (Kernel("k", 250, 255),))],
    )
    assert rows(tmp_path) == [("/A", "op", "k", 8, 2)]
    assert rows(tmp_path, step_id=7) == [("/A", "op", "k", 3, 1)]
    assert rows(tmp_path, step_id=8) == [("/A", "op", "k", 5, 1)]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("A", 0, 100)],
        ops=[Op("op", 10, 20, (Kernel("k", 200, 203),)), Op("optimizer", 110, 120, (Kernel("k", 210, 215),))],
        unlinked=[Kernel("k", 220, 227)],
    )
    with open_profile(tmp_path) as profile:
        assert [tuple(row) for row in profile.coverage().drop(columns=["profile", "rank_id"]).itertuples(index=False)] == [
            ("compute", "inside modules", 1, 3, 3 / 15),
            ("compute", "outside modules", 1, 5, 5 / 15),
            ("compute", "linked to no op", 1, 7, 7 / 15),
        ]
