"""The Python API: what each method gives, column by column and type by type."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from prof_analysis import Profile, open_profile
from prof_analysis.sources.ascend_beside.profiler_info import (
    NO_CLOCK,
    NO_GRAPH_CALLS,
    NO_HOST_CALLS,
    NO_STACKS,
    why_no_memory,
    why_no_transfers,
)
from tests.helpers.answers import NO_COUNTERS, answered_without, unanswered
from tests.helpers.api import OPS, RANGES, of_both, rows
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, write_profile

SHAPES, TYPES = '"16,16;16,16"', "FLOAT16;FLOAT16"


def test_module_stats_in_every_column(shared: Profile) -> None:
    table = shared.table("module.statistic", arrow=True)
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "parent_module": pa.string(),
            "module": pa.string(),
            "op_name": pa.string(),
            "kernel_list": pa.string(),
            "total_kernel_duration_ns": pa.int64(),
            "avg_kernel_duration_ns": pa.float64(),
            "op_count": pa.int64(),
            "avg_mfu": pa.string(),
            "op_chain": pa.string(),
        }
    )
    assert rows(table) == of_both(
        ("Net", "Layer", "aten::mm", "mm_kernel, hcom_allReduce_", 140, 140.0, 1, None, "aten::mm"),
        ("", "Net", "aten::add", "add_kernel", 10, 10.0, 1, None, "aten::add"),
    )


def test_module_tree_in_every_column(shared: Profile) -> None:
    table = shared.table("module.tree", arrow=True)
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "parent_module": pa.string(),
            "module": pa.string(),
            "depth": pa.int64(),
            "calls": pa.int64(),
            "own_kernel_duration_ns": pa.int64(),
            "kernel_duration_ns": pa.int64(),
            "kernel_duration_share": pa.float64(),
            "avg_kernel_duration_ns": pa.float64(),
        }
    )
    assert rows(table) == of_both(
        ("", "Net", 1, 1, 10, 150, 0.5, 150.0),
        ("Net", "Layer", 2, 1, 140, 140, 140 / 300, 140.0),
    )


def test_coverage_in_every_column(shared: Profile) -> None:
    table = shared.table("module.coverage", arrow=True)
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "kind": pa.string(),
            "location": pa.string(),
            "reason": pa.string(),
            "kernel_count": pa.int64(),
            "kernel_duration_ns": pa.int64(),
            "kernel_duration_share": pa.float64(),
            "top_ops": pa.string(),
        }
    )
    assert rows(table) == of_both(
        ("compute", "inside modules", None, 2, 50, 0.25, None),
        ("compute", "outside modules", "outside every module", 1, 50, 0.25, "aten::item"),
        ("compute", "linked to no op", "no host launch", 1, 100, 0.5, None),
        ("communication", "inside modules", None, 1, 100, 1.0, None),
        ("communication", "outside modules", None, 0, 0, 0.0, None),
        ("communication", "linked to no op", None, 0, 0, 0.0, None),
    )


def test_kernels_in_every_column(shared: Profile) -> None:
    table = shared.table("module.kernel", arrow=True)
    op_ids = dict(rows(shared.sql("SELECT DISTINCT name, op_id FROM trace.op", arrow=True)))
    interval_ids = dict(rows(shared.sql("SELECT DISTINCT name, interval_id FROM module.interval", arrow=True)))
    path_ids = dict(rows(shared.sql("SELECT DISTINCT module, path_id FROM module.path", arrow=True)))
    assert [len(ids) for ids in (op_ids, interval_ids, path_ids)] == [3, 2, 2]
    assert len(set(rows(table.select(["profile", "kernel_id"])))) == 10
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "kernel_id": pa.int64(),
            "kind": pa.string(),
            "name": pa.string(),
            "type": pa.string(),
            "core": pa.string(),
            "device_id": pa.int64(),
            "stream_id": pa.int64(),
            "start_ns": pa.int64(),
            "end_ns": pa.int64(),
            "duration_ns": pa.int64(),
            "input_shapes": pa.string(),
            "input_types": pa.string(),
            "output_shapes": pa.string(),
            "location": pa.string(),
            "reason": pa.string(),
            "link": pa.string(),
            "module_by": pa.string(),
            "op_id": pa.int64(),
            "op_name": pa.string(),
            "op_start_ns": pa.int64(),
            "op_end_ns": pa.int64(),
            "interval_id": pa.int64(),
            "instance_id": pa.int64(),
            "path_id": pa.int64(),
            "parent_module": pa.string(),
            "module": pa.string(),
        }
    )
    compute = ("Mul", "AI_CORE", 0, 2)
    described = (SHAPES, TYPES, SHAPES)
    reduce = "hcom_allReduce_"
    inside = ("inside modules", None, "recorded", "op")
    mm, add, item = (
        (op_ids[name], name, *times)
        for name, *times in (("aten::mm", 110, 120), ("aten::add", 130, 140), ("aten::item", 300, 310))
    )
    layer = (*inside, *mm, *[interval_ids["Layer"]] * 2, path_ids["Layer"], "Net", "Layer")
    net = (*inside, *add, *[interval_ids["Net"]] * 2, path_ids["Net"], "", "Net")
    outside = ("outside modules", "outside every module", "recorded", None, *item, *[None] * 5)
    found = table.drop_columns(["kernel_id"]).sort_by([("profile", "ascending"), ("start_ns", "ascending")])
    assert rows(found) == of_both(
        ("compute", "mm_kernel", *compute, 1000, 1040, 40, *described, *layer),
        ("communication", f"{reduce}_904_1_1", reduce, *[None] * 3, 1050, 1150, 100, *[None] * 3, *layer),
        ("compute", "add_kernel", *compute, 1200, 1210, 10, *described, *net),
        ("compute", "copy_kernel", *compute, 1300, 1350, 50, *described, *outside),
        ("compute", "lost_kernel", *compute, 1400, 1500, 100, *described, "linked to no op", "no host launch", *[None] * 11),
    )


def test_ops_in_every_column(shared: Profile) -> None:
    table = shared.table("trace.op", arrow=True)
    assert len(set(rows(table.select(["profile", "op_id"])))) == 6
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "op_id": pa.int64(),
            "tid": pa.int64(),
            "name": pa.string(),
            "start_ns": pa.int64(),
            "end_ns": pa.int64(),
            "duration_ns": pa.int64(),
            "is_step": pa.bool_(),
            "sequence_number": pa.int64(),
            "forward_thread_id": pa.int64(),
            "input_shapes": pa.string(),
            "input_types": pa.string(),
        }
    )
    assert rows(table.drop_columns(["op_id"])) == of_both(
        (1, "aten::mm", 110, 120, 10, False, None, 0, None, None),
        (1, "aten::add", 130, 140, 10, False, 5, 0, "2,3;3,4", "float;float"),
        (1, "aten::item", 300, 310, 10, False, None, 0, None, None),
    )


def test_ranks_in_every_column(two: Path) -> None:
    with open_profile(two) as profile:
        table = profile.ranks(arrow=True)
    texts = pa.list_(pa.string())
    assert table.schema == pa.schema(
        {
            "profile": pa.string(),
            "rank_id": pa.int32(),
            "rank_id_from": pa.string(),
            "device_id": pa.int32(),
            "profiler_level": pa.string(),
            "source": pa.string(),
            "modules_from": pa.string(),
            "answers": texts,
            "may_answer": texts,
            "unanswered": texts,
            "better_recording": pa.string(),
            "missing": texts,
            "unread": texts,
            "left_out": pa.string(),
            "files": texts,
            "folder": pa.string(),
            "metadata": texts,
        }
    )
    lacks = {
        "transfers": why_no_transfers({}),
        "counters": NO_COUNTERS,
        "graph_calls": NO_GRAPH_CALLS,
        "clock": NO_CLOCK,
        "host_calls": NO_HOST_CALLS,
        "reported_host_calls": "no reported figures of host calls in this format",
        "static_memory": "no planned memory of compiled graphs (static_op_mem.csv)",
        "stacks": NO_STACKS,
        "memory": why_no_memory({}),
    }
    answers = list(answered_without(*lacks))
    reasons = [f"{command}: {reason}" for command, reason in unanswered(lacks)]
    recording = 'prof_analysis.collect.profiler("result", level=2)'
    expected: list[tuple[Any, ...]] = []
    for name, rank in (("a_ascend_pt", 0), ("b_ascend_pt", 3)):
        file = f"ascend_pytorch_profiler_{rank}.db"
        expected.append(
            (
                name,
                rank,
                file,
                None,
                None,
                "ascend_db",
                "mstx",
                answers,
                [],
                reasons,
                says(f"record with {recording}", "api-stats, stacks, pmu-stats, memory"),
                [],
                [],
                None,
                [file],
                str(two / name),
                [],
            )
        )
    assert rows(table) == expected


@pytest.mark.parametrize(
    ("method", "table_name"),
    {
        "module_stats": "module.statistic",
        "module_tree": "module.tree",
        "coverage": "module.coverage",
        "kernels": "module.kernel",
        "ops": "trace.op",
        "kernel_stats": "kernels.statistic",
        "op_stats": "op.statistic",
        "communication_stats": "communication.statistic",
        "mstx_stats": "mstx.statistic",
    }.items(),
)
def test_a_frame_is_the_arrow_table_with_integers_that_stay_integers(shared: Profile, method: str, table_name: str) -> None:
    ask: Callable[[], pd.DataFrame] = getattr(shared, method)
    frame, table = ask(), shared.table(table_name, arrow=True)
    assert isinstance(frame, pd.DataFrame)
    assert sorted(frame.columns) == sorted(table.column_names), "a frame has them in another order"
    assert frame["rank_id"].dtype == pd.Int32Dtype()
    for field in table.schema:
        column = table[field.name]
        if pa.types.is_integer(field.type):
            plain = str(field.type)
            assert frame[field.name].dtype == (plain.capitalize() if column.null_count else plain)
        if not pa.types.is_list(field.type):
            assert [None if pd.isna(value) else value for value in frame[field.name]] == column.to_pylist()


@pytest.mark.slow
def test_op_chain_names_the_ops_around_the_launching_op(tmp_path: Path) -> None:
    write_profile(
        tmp_path / "a_ascend_pt",
        [
            Op("ProfilerStep#3", 0, 500),
            Op("aten::linear", 110, 140),
            Op("aten::addmm", 120, 130, (Kernel("k", 1000, 1010),)),
            Op("aten::other_thread", 100, 200, tid=2),
        ],
        RANGES[:1],
    )
    with open_profile(tmp_path) as profile:
        stats = profile.module_stats()
    assert stats[["op_name", "op_chain"]].values.tolist() == [["aten::addmm", "aten::linear > aten::addmm"]]


def test_a_frame_keeps_columns_of_equal_names_apart(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        assert profile.sql("SELECT 1 AS a, NULL::BIGINT AS a").iloc[0, 0] == 1


def test_other_integers_and_truth_values_stay_what_they_are_with_null(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(tmp_path) as profile:
        frame = profile.sql("FROM (VALUES (1::SMALLINT, 1::UBIGINT, true), (NULL, NULL, NULL)) AS t (s, u, b)")
    assert frame.dtypes.astype(str).tolist() == ["Int16", "UInt64", "boolean"]


def test_a_frame_begins_with_names_and_ends_with_what_only_locates_a_row(shared: Profile) -> None:
    assert list(shared.module_stats().columns) == [
        "rank_id", "module", "op_name", "total_kernel_duration_ns", "avg_kernel_duration_ns", "op_count", "avg_mfu",
        "kernel_list", "op_chain", "parent_module", "profile",
    ]  # fmt: skip
    assert list(shared.kernels().columns)[:6] == ["rank_id", "module", "op_name", "name", "type", "duration_ns"]
    assert list(shared.table("module.tree").columns) == shared.table("module.tree", arrow=True).column_names
