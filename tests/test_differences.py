"""Where prof-analysis differs from msprof-analyze 26.2.0 on purpose: one test for each row of the README's table.

Slow are those whose promise the tests of its analysis hold in more detail.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, module_stats, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, Queue, Range, edit, write_profile


def rows(path: Path, **options: Any) -> list[tuple[str, str, str, int, int]]:
    """Path, op, kernels, total and count of each row of module_stats."""
    frame = module_stats(path, **options)
    return [
        (
            f"{row['parent_module']}/{row['module']}",
            *(row[name] for name in ("op_name", "kernel_list", "total_kernel_duration_ns", "op_count")),
        )
        for row in arrow_of(frame).to_pylist()
    ]


def outside(path: Path) -> list[tuple[str, str, int]]:
    """Reason, op and time of each kernel outside modules."""
    with open_profile(path) as profile:
        kernels = profile.kernels().query("location == 'outside modules'").sort_values("start_ns")
    return [tuple(row) for row in kernels[["reason", "op_name", "duration_ns"]].itertuples(index=False)]


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


@pytest.mark.slow
def test_modules_nest_to_any_depth(tmp_path: Path) -> None:
    depth = 40
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range(f"M{level}", level, 1000 - level) for level in range(depth)],
        ops=[Op("op", 500, 510, (Kernel("k", 2000, 2007),))],
    )
    assert rows(tmp_path) == [("/".join(f"M{level}" for level in range(depth)), "op", "k", 7, 1)]


@pytest.mark.slow
def test_gradient_hooks_are_in_no_module(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Linear", 0, 100)],
        ops=[
            Op("aten::t", 10, 20),
            Op("aten::addmm", 30, 40, (Kernel("k1", 1000, 1001),)),
            Op("autograd::engine::evaluate_function: AddmmBackward0", 200, 230, tid=2),
            Op("AddmmBackward0", 210, 220, (Kernel("k2", 1010, 1012),), tid=2, backward_of=1),
            Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 230, 260, tid=2),
            Op("reducer::mul_out", 232, 240, (Kernel("scale", 1020, 1024),), tid=2),
            Op("HcclAllreduce", 242, 250, (Kernel("reduce", 1030, 1038, "communication"),), tid=2),
            Op("autograd::engine::evaluate_function: TBackward0", 260, 290, tid=2),
            Op("TBackward0", 270, 280, (Kernel("k3", 1040, 1056),), tid=2, backward_of=0),
        ],
    )
    assert rows(tmp_path) == [
        ("/Linear", "aten::addmm", "k1", 1, 1),
        ("/[Backward]Linear", "AddmmBackward0", "k2", 2, 1),
        ("/[Backward]Linear", "TBackward0", "k3", 16, 1),
    ]
    assert outside(tmp_path) == [("gradient hooks", "reducer::mul_out", 4), ("gradient hooks", "HcclAllreduce", 8)]


@pytest.mark.slow
def test_what_lies_between_backward_ops_is_not_theirs(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Linear", 0, 100)],
        ops=[
            Op("aten::t", 10, 20),
            Op("aten::addmm", 30, 40),
            Op("AddmmBackward0", 210, 220, (Kernel("k1", 1000, 1001),), tid=2, backward_of=1),
            Op("HcclAllreduce", 230, 240, (Kernel("reduce", 1010, 1012, "communication"),), tid=2),
            Op("aten::rand", 250, 260, (Kernel("rand", 1020, 1024),), tid=1),
            Op("TBackward0", 270, 280, (Kernel("k2", 1030, 1038),), tid=2, backward_of=0),
        ],
    )
    assert rows(tmp_path) == [
        ("/[Backward]Linear", "AddmmBackward0", "k1", 1, 1),
        ("/[Backward]Linear", "TBackward0", "k2", 8, 1),
    ]
    assert outside(tmp_path) == [("outside every module", "HcclAllreduce", 2), ("outside every module", "aten::rand", 4)]


@pytest.mark.slow
def test_a_bias_gradient_belongs_to_its_module(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Linear", 0, 100)],
        ops=[
            Op("aten::addmm", 30, 40),
            Op("autograd::engine::evaluate_function: AddmmBackward0", 200, 250, tid=2),
            Op("AddmmBackward0", 210, 220, (Kernel("k1", 1000, 1001),), tid=2, backward_of=0),
            Op("aten::sum", 230, 240, (Kernel("bias", 1010, 1012),), tid=2),
        ],
    )
    assert rows(tmp_path) == [
        ("/[Backward]Linear", "AddmmBackward0", "k1", 1, 1),
        ("/[Backward]Linear", "aten::sum", "bias", 2, 1),
    ]


@pytest.mark.slow
def test_sequence_numbers_pair_what_the_writer_left_unpaired(tmp_path: Path) -> None:
    """Two threads count from 0. The writer knows one pair per number, and of that the last forward and the last backward op."""
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Left", 0, 100, tid=1), Range("Right", 200, 300, tid=2)],
        ops=[
            Op("aten::mm", 10, 20, tid=1, sequence_number=0),
            Op("aten::mul", 210, 220, tid=2, sequence_number=0),
            Op("MmBackward0", 410, 420, (Kernel("k1", 1000, 1001),), 3, sequence_number=0, forward_thread_id=1),
            Op("MmBackward0", 430, 440, (Kernel("k2", 1010, 1012),), 3, sequence_number=0, forward_thread_id=1),
            Op("MulBackward0", 450, 460, (Kernel("k3", 1020, 1024),), 3, 1, sequence_number=0, forward_thread_id=2),
        ],
    )
    assert rows(tmp_path) == [
        ("/[Backward]Left", "MmBackward0", "k1", 1, 1),
        ("/[Backward]Left", "MmBackward0", "k2", 2, 1),
        ("/[Backward]Right", "MulBackward0", "k3", 4, 1),
    ]


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_op_that_launches_again_after_an_inner_op_keeps_its_kernel(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Linear", 0, 100)],
        ops=[Op("aten::linear", 10, 60), Op("aten::mm", 20, 40)],
        launches=[
            Launch(12, 14, (Kernel("k1", 1000, 1001),), recorded_op=0),
            Launch(25, 35, (Kernel("k2", 1010, 1012),), recorded_op=1),
            Launch(50, 55, (Kernel("bias", 1020, 1024),)),
        ],
    )
    assert rows(tmp_path) == [("/Linear", "aten::linear", "k1, bias", 5, 1), ("/Linear", "aten::mm", "k2", 2, 1)]
    with open_profile(tmp_path) as profile:
        assert profile.kernels().set_index("name")["link"].to_dict() == {"k1": "recorded", "bias": "derived", "k2": "recorded"}


@pytest.mark.slow
def test_links_through_several_queue_threads_are_set_right(tmp_path: Path) -> None:
    """Thread 9 takes the first task out after thread 8 took the second, so the writer pairs them crosswise."""
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("Left", 0, 100), Range("Right", 100, 200)],
        ops=[Op("op_left", 10, 60), Op("op_right", 110, 160)],
        queues=[Queue(1, (20, 30), (170, 180), dequeue_tid=9), Queue(2, (120, 130), (140, 150), dequeue_tid=8)],
        launches=[
            Launch(142, 148, (Kernel("k_right", 1000, 1001),), tid=8, recorded_op=0),
            Launch(172, 178, (Kernel("k_left", 1010, 1012),), tid=9, recorded_op=1),
        ],
    )
    assert rows(tmp_path) == [("/Left", "op_left", "k_left", 2, 1), ("/Right", "op_right", "k_right", 1, 1)]
    with open_profile(tmp_path) as profile:
        assert profile.kernels()["link"].tolist() == ["corrected", "corrected"]
        audit = profile.table("module.link_audit")
    assert audit[["recorded_op", "derived_op", "kernel_count", "kernel_duration_ns"]].values.tolist() == [
        ["op_left", "op_right", 1, 1],
        ["op_right", "op_left", 1, 2],
    ]


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
    with pytest.warns(ProfAnalysisWarning, match="ops set aside because"):
        assert rows(tmp_path) == [("/A", "op", "k", 123, 1)]
    with open_profile(tmp_path) as profile:
        assert profile.ops()[["start_ns", "end_ns"]].values.tolist() == [[epoch + 123, epoch + 130]]


@pytest.mark.slow
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
    result = command("module-stats", "-d", tmp_path, "--export_type", "db")
    assert result.exit_code == 1
    assert str(broken) in result.stderr
    with closing(sqlite3.connect(tmp_path / "cluster_analysis_output" / "cluster_analysis.db")) as written:
        assert written.execute("SELECT rankID, module, opName FROM ModuleStatistic").fetchall() == [(0, "A", "op")]


@pytest.mark.slow
def test_nothing_to_write_is_an_error(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", ops=[Op("op", 10, 20, (Kernel("k", 200, 203),))])
    result = command("module-stats", "-d", tmp_path)
    assert result.exit_code == 2
    assert "no module ranges" in result.stderr
    assert not (tmp_path / "cluster_analysis_output").exists()
    with pytest.raises(InputError, match="no module ranges"):
        module_stats(tmp_path)


@pytest.mark.slow
def test_modules_that_only_the_python_tracer_saw(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ops=[Op("op", 10, 20, (Kernel("k", 200, 203),))],
        frames=[Frame("nn.Module: Linear_0", 0, 100)],
    )
    assert rows(tmp_path) == [("/Linear", "op", "k", 3, 1)]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        ranges=[Range("A", 0, 100)],
        ops=[Op("op", 10, 20, (Kernel("k", 200, 203),)), Op("optimizer", 110, 120, (Kernel("k", 210, 215),))],
        unlinked=[Kernel("k", 220, 227)],
    )
    with open_profile(tmp_path) as profile:
        coverage = profile.sql("SELECT * EXCLUDE (profile, rank_id) FROM module.coverage", arrow=True)
        assert [tuple(row.values()) for row in coverage.to_pylist()] == [
            ("compute", "inside modules", None, 1, 3, 3 / 15, None),
            ("compute", "outside modules", "outside every module", 1, 5, 5 / 15, "optimizer"),
            ("compute", "linked to no op", "no host launch", 1, 7, 7 / 15, None),
        ]
