"""Helpers that several tests of the tables share."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.engine.building import build
from prof_analysis.engine.database import connect
from prof_analysis.engine.planning import Plan
from prof_analysis.engine.tables import documented_tables, shown_select, source_tables
from tests.helpers.places import SAMPLE
from tests.helpers.small_profile import (
    DATABASE,
)

SAMPLE_FOLDER = "decoder_training/node0_4242_20260101000000000_ascend_pt"


SAMPLE_DATABASE = SAMPLE / SAMPLE_FOLDER / DATABASE.format(rank=0)


TABLES = sorted(name for name, table in documented_tables().items() if table.grain == "rank")


# What the sample has no row of, and what it has only where its links are audited.
EMPTY = {
    "trace.op_stack", "trace.stack_frame", "stack.around", "stack.call_stack", "stack.every_frame", "stack.forward_op",
    "stack.frame", "stack.frame_call", "stack.op", "stack.source_line", "stack.chosen_path", "stack.op_of_module",
    "trace.op_input", "mfu.op_attention", "mfu.op_convolution", "mfu.op_flops", "mfu.op_form", "mfu.op_kernel",
    "mfu.op_product", "mfu.op_shape", "mfu.product_peak",
    "clock.delayed", "clock.loss", "clock.waited",
    "free.awaited", "free.edge", "critical.beside", "critical.alone", "critical.stretched", "critical.contention",
    "trace.set_aside", "trace.set_aside_call", "trace.mark", "trace.reported_cost", "trace.frame", "trace.gc", "trace.overlap",
    "trace.replayed_op", "trace.replayed_range", "trace.replayed_kernel", "module.bare_launch", "module.replay",
    "module.replayed", "module.link_audit", "module.doubtful_pair", "module.undecided_backward_op",
    "module.lost_launch", "module.unlinked_kernel", "module.unpaired_task", "module.lost_backward",
    "module.crossing", "module.crossing_time", "module.edge_call", "module.cut", "module.unplaced_call",
    "module.unplaced_interval", "trace.module_begin", "module.open_call", "module.cut_time", "module.doubted_call",
    "module.doubted_time",
    "module.recorded_pair", "module.misplaced_launch", "module.direct_launching", "step.selected", "kernels.in_step",
    "step.overlap_audit", "step.reported_audit", "step.reported_total", "kernels.statistic_audit", "kernels.step_audit",
    "step.reported_comparison", "step.reported_doubt", "step.task_time",
    "trace.reported_kernel_type", "kernels.reported",
    "trace.reported_communication", "trace.reported_transfer", "trace.reported_link", "trace.reported_step",
    "trace.parallelism", "trace.setting", "communication.reported",
    "layer.overlap", "layer.boundary", "layer.core",
    "layer.cut", "layer.kind", "layer.period", "layer.instance", "layer.statistic",
    "layer.by_index", "layer.pass_layer", "layer.sibling",
    "graph.by_step", "graph.compilation", "graph.eager_op", "module.recomputed", "op.sync_batch_norm",
    "graph.event", "graph.inference", "graph.entry", "graph.execution", "graph.preparation", "graph.call", "graph.statistic",
    "kernels.on_cpu", "communication.p2p", "pipeline.p2p",
    "mfu.attention", "mfu.attention_mark", "mfu.audit", "mfu.convolution", "mfu.fused_matmul", "mfu.marked_flops",
    "mfu.marked_kernel", "mfu.plain_shape", "mfu.recorded", "mfu.recorded_range", "trace.mstx_task",
    "mfu.grouped_matmul", "mfu.counted", "mfu.matrix_unit", "mfu.unsure_shape", "mfu.vector_shape",
    "allocation.kept", "allocation.out_of_memory", "trace.out_of_memory", "trace.device_memory", "trace.set_aside_memory",
    "trace.set_aside_rule", "trace.device_process", "trace.named_collective",
    "trace.grouped_matmul", "experts.kernel",
    "experts.shape", "experts.call", "experts.expert", "experts.load", "experts.parallel_group",
    "compare.root_call", "compare.kernel_of_call", "op.beside", "op.recursive_call", "op.recursive_name",
    "roofline.bandwidth",
}  # fmt: skip


def raw_columns(source: str) -> Mapping[str, Mapping[str, str]]:
    columns: Mapping[str, Mapping[str, str]] = importlib.import_module(f"prof_analysis.sources.{source}").RAW_COLUMNS
    return columns


@contextmanager
def built(
    plan: Plan,
    database: Path = SAMPLE_DATABASE,
    threads: int = 2,
    audit_links: bool = False,
    step_id: int | None = None,
    module: str | None = None,
    staged: list[set[str]] | None = None,
    kept: tuple[str, ...] | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    from prof_analysis.sources import ascend_db

    device_infos = sorted(database.parent.parent.glob("PROF_*/device_*/info.json.*"))
    with connect({"audit_links": audit_links, "step_id": step_id, "module": module}, threads) as connection:
        sizes: list[int] = []

        def stage(columns: Mapping[str, frozenset[str]]) -> None:
            assert ascend_db.stage(connection, (database, *device_infos), columns, threads, sizes.append) == []
            if staged is not None:
                staged.append(set(columns))

        stage(plan.raw_columns)
        build(connection, "ascend_db", plan, stage, kept)
        yield connection


def shown(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(shown_select(source_tables("ascend_db")[table])).fetchall()
