"""No table compares every row of one table with every row of another: at a million kernels that never ends."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator

import duckdb
import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis.engine.building import build
from prof_analysis.engine.database import connect
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.parsing import nodes
from prof_analysis.engine.planning import Plan, make_plan
from prof_analysis.engine.tables import documented_tables, source_tables

TABLES = [name for name, table in documented_tables().items() if table.grain == "rank"]
PAIRWISE = {"NESTED_LOOP_JOIN", "BLOCKWISE_NL_JOIN", "CROSS_PRODUCT"}
# Table -> why all pairs are few; what begins with "db: " or "text: " is so in that source alone.
ALLOWED = {
    "api.call": "the periods of the chosen step are few; one row says how many kernels there are",
    "stack.chosen": "one row says how long all kernels ran",
    "stack.chosen_path": "one row is the name that --module has",
    "stack.by_op": "the periods of the chosen step are few",
    "stack.cost": "the periods of the chosen step are few",
    "stack.frame_call": "one row says whether stacks are recorded with ops",
    "compare.root_call": "one row says whether there are steps",
    "compare.kernel_of_unit": "one row says whether there are steps, and one whether there are root calls",
    "compare.unit": "one row says what units are",
    "compare.module_unit": "one row is the unit of a whole run",
    "kernels.engine_time": "one row says whether there are steps",
    "kernels.work": "one row says whether there are steps; a row an engine of a device",
    "kernels.step": "text: one row says whether there are ops",
    "kernels.reported": "one row says whether there are kernels",
    "kernels.statistic_audit": "one row says whether kernels have types",
    "kernels.step_audit": "two kinds",
    "op.by_shape": "the periods of the chosen step are few",
    "allocation.moment": "threads that run tasks are few; one row says which it is if there is one",
    "trace.memory_block": "db: one row says whether the framework recorded blocks",
    "allocation.out_of_memory": "attempts that failed are few",
    "allocation.step": "steps, and the few allocators",
    "allocation.kept": "the last step is one row",
    "module.sibling": "one row says whether there are steps",
    "module.recomputed": "one row says whether kernels have steps",
    "graph.by_step": "one row says whether a graph is replayed",
    "op.sync_batch_norm": "one row says whether there are steps",
    "module.tree": "the periods of the chosen step are few; the time of all kernels is one row",
    "module.coverage": "three kinds, three locations",
    "module.doubtful_launch": "one row says how many queue threads there are",
    "module.range": "one row says what marks modules",
    "module.unlinked_kernel": "one row says how long all kernels ran",
    "pipeline.p2p": "the steps with passes are few",
    "trace.set_aside": "db: one row says whether operators have numbers",
    "module.step_count": "the periods of the chosen step are few; one row says whether a module began in none",
    "module.chosen_domain": "the chosen domains are few",
    "module.op_chain": "the rows of the statistic, and blocks of 256 ops",
    "step.duration": "the first step is one row; the offset of the clock is one",
    "step.time": "one row says whether there are steps; the offset of the clock is one",
    "timeline.step": "one row says whether there are steps",
    "timeline.usual_free_gap": "there is one usual step",
    "timeline.usual_module_kernel": "there is one usual step",
    "clock.loss": "one row says whether there are steps",
    "clock.rated": "a row a device",
    "clock.latency": "one row counts the kernels, and one what is usual among them",
    "clock.offset": "a row each",
    "clock.span": "one row says when kernels ran",
    "step.copy": "one row says whether there are steps",
    "step.communication": "one row says whether groups have labels",
    "step.overlap_audit": "four kinds",
    "step.reported_comparison": "two kinds",
    "step.reported_audit": "two kinds; the time of tasks is one row",
    "step.task_time": "one row says whether there are steps",
    "trace.reported_step": "one row says whether a device of the file has kernels",
    "chain.cost": "one row says whether there are steps, and one how fast data is moved",
    "chain.found": "a row a stream and the few patterns; distinct chains and patterns",
    "critical.contention": "one row says whether there are steps",
    "free.longest_gap": "one row says whether the host is recorded",
    "graph.eager_op": "one row says from when to when graphs are replayed",
    "critical.wait": "the offset of the clock is one row",
    "graph.execution": "the offset of the clock is one row",
    "graph.compilation": "the offset of the clock is one row",
    "critical.host_gap": "one row says how fast a kernel can start; one says whether calls are recorded",
    "critical.kernel": "one row says whether calls are recorded",
    "free.cause": "the causes are few",
    "free.edge": "the recording is one row, and gaps that take a tenth of it are few; the offset of the clock is one row",
    "free.host_part": "where threads are waited for in a few phases only, DuckDB compares these with all moments",
    "free.host_phase": "one row is the usual gap",
    "free.cause_of_op": "one row says when kernels ran",
    "free.host_stretch": "the threads that launch, four sets of things; one row says how far the last one reaches",
    "free.longest": "the longest gaps are 100",
    "free.unknown_cause": "one row says what was collected",
    "free.host_stack": "the longest gaps are 100",
    "free.host_call": "the longest gaps are 100",
    "layer.segment_kernel": "the anchor is one row",
    "layer.anchor": "the thresholds are one row",
    "layer.segment": "the thresholds are one row",
    "layer.period": "how many kernels there are is one row",
    "layer.boundary": "the thresholds are one row",
    "layer.cut": "a profile has two layers at its edges, and few kinds of layers",
    "layer.instance": "the thresholds are one row",
    "layer.kernel_layer": "where layers begin and end is one row",
    "layer.structure": "one row",
    "mfu.chip": "a row a device",
    "mfu.peak": "devices, data types",
    "mfu.by_level": "the time from the first kernel to the last is one row",
    "mfu.kernel_efficiency": "the time from the first kernel to the last is one row",
    "mfu.shape": "one row says whether ops are described",
    "mfu.utilisation": "one row says what the chip can do",
    "mfu.matmul": "a row a shape, and its few tensors",
    "mfu.fused_matmul": "a row a shape, and its few tensors",
    "mfu.grouped_matmul": "a row a shape, and its few tensors",
    "mfu.vector_shape": "one row says whether the chip has two kinds of cores",
    "mfu.marked_kernel": "attention ops whose forward and backward overlap a mark",
    "pmu.busiest": "one row says whether there are steps, and one how fast data is moved",
    "roofline.matmul": "one row says whether there are steps, and one how fast data is moved",
    "communication.reported": "one row says how far the clocks are apart, and one how many kernels lost their names",
    "communication.link": "one row says whether there are planes",
    "communication.packet": "one row says whether there are planes",
    "communication.exposed": "one row says whether there are steps",
    "communication.approach": "two kinds of stretches; the causes are few",
    "pipeline.mark": "one row says what marks passes",
    "pipeline.pass": "the position of the rank is one row",
    "compare.device": "one row",
    "communication.job_size": "one row",
    "compare.communication_unit": "one row says how many ranks the profile knows of",
    "communication.parallel_rank": "one row",
    "communication.breakdown": "the few reasons that a source gives",
    "module.lost_launch": "one row says whether a link is left; so is the time of all kernels",
    "step.kernel_step": "one row says whether the step of a kernel is known",
    "module.lost_backward": "one row says the time of all kernels",
    "module.kernel": "a thread is cut at its start and at its end at most",
    "module.edge_call": "a thread has one row that says where its whole calls begin and end",
    "module.cut": "there are two edges, and a thread has a row for each",
    "module.doubted_call": "one row says whether there is a backward; a thread has one row of each sign",
    "module.doubted_time": "one row says how many calls there are",
    "module.open_call": "a thread has one row that says how many calls it has",
    "module.unplaced_call": "a thread of the engine has one row, and classes of modules are few",
    "module.crossing_time": "one row says the time of all kernels",
    "trace.queue": "db: one row says whether a link is left",
    "trace.copy": "one row says whether there are operators",
    "trace.communication_task": "text: one row says whether there are planes",
    "trace.chip": "text: one row says how many devices there are",
    "trace.mark": "text: one row says which process it is",
    "trace.reported_cost": "text: one row says whether there are ops",
    "trace.gc": "text: one row says which process it is",
    "trace.host_api": "text: one row says which process it is",
    "trace.stream_wait": "text: one row says which process it is",
    "trace.kernel": "one row says whether there are operators; or whether there is an Overlap Analysis, how exact times are",
    "trace.launch": "text: one row says which process it is",
    "trace.range": "text: one row says which process it is",
    "trace.step": "text: one row says whether there are ops",
}


@pytest.fixture(scope="module", params=["db", pytest.param("text", marks=pytest.mark.slow)])
def everything(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, duckdb.DuckDBPyConnection]]:
    """The name of a source, and all tables as it makes them of a generated rank whose links are all audited."""
    folder, source = tmp_path_factory.mktemp("plans"), f"ascend_{request.param}"
    shape = Shape(steps=3, queue_threads=2, recompute=True, gradient_hooks=True)
    generate(folder, shape, ranks=1, seed=1, style=TextStyle(exports=request.param))
    module = importlib.import_module(f"prof_analysis.sources.{source}")
    names = ("ascend_pytorch_profiler*.db", "trace_view.json", "kernel_details.csv", "communication.json")
    files = tuple(file for name in names for file in folder.rglob(name))
    plan = make_plan(source, module.RAW_COLUMNS, TABLES)
    with connect({"audit_links": True}, threads=1) as connection:
        module.stage(connection, files, {**plan.raw_columns, **plan.deferred_raw_columns}, threads=1, on_bytes=[].append)
        build(connection, source, Plan(plan.order, plan.columns, frozenset()), no_more)
        yield source, connection


def no_more(columns: object) -> None:
    """All was staged before."""


def is_pairwise(node: dict[str, object]) -> bool:
    """Whether a node of a plan is a join that compares all rows; or in a hash join all of a thread, or half of all."""
    name, info = str(node.get("name", "")), node.get("extra_info")
    if name != "HASH_JOIN" or not isinstance(info, dict):
        return name in PAIRWISE
    conditions = [info["Conditions"]] if isinstance(info["Conditions"], str) else info["Conditions"]
    if all(re.fullmatch(r"\w*tid = \w*tid", one) for one in conditions):
        return False
    return not any(map(is_key, conditions))


def is_key(condition: str) -> bool:
    """Whether a hash join finds rows by a condition.

    An equality in parentheses is compared for each pair, a boolean has two values, and of a thread there can be all rows.
    """
    while condition != (shorter := re.sub(r"\([^()]*\)", "", condition)):
        condition = shorter
    sides = re.split(r" = | IS NOT DISTINCT FROM ", condition)
    return len(sides) == 2 and not all(re.fullmatch(r"\w*tid|(is|has)_\w+", side) for side in sides)


@pytest.mark.slow
def test_no_plan_compares_all_rows_of_two_large_tables(everything: tuple[str, duckdb.DuckDBPyConnection]) -> None:
    source, connection = everything
    assert connection.execute("SELECT count(*) > 300 FROM module.derived_link").fetchall() == [(True,)]
    pairwise = set()
    for name in TABLES:
        body = source_tables(source)[name].body
        with functions_for(connection, body):
            row = connection.execute(f"EXPLAIN (FORMAT json) {body}").fetchone()
        assert row is not None
        if any(map(is_pairwise, nodes(json.loads(row[1])))):
            pairwise.add(name)
    other = "text: " if source == "ascend_db" else "db: "
    assert pairwise == {name for name, reason in ALLOWED.items() if not reason.startswith(other)}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ("kernel_id = kernel_id", False),
        ("core_id IS NOT DISTINCT FROM core_id", False),
        (["path = path", "is_backward = is_backward"], False),
        (["(op_id // 256) = block_id", "tid = tid", "end_ns >= end_ns"], False),
        ("CAST(location AS VARCHAR) = location", False),
        ("data_type = CASE  WHEN ((type IN ('bf16', 'fp32'))) THEN ('fp16') ELSE type END", False),
        ("tid = tid", False),
        (["is_backward = is_backward", "(path = array_slice(path, [], len(path)))"], True),
        ("has_mask = has_mask", True),
        (["tid = tid", "start_ns <= start_ns"], True),
        (["tid = tid", "(name = left(other, 3))"], True),
        ("CASE  WHEN ((prefix = 'aic_')) THEN (aic_runs) ELSE true END", True),
    ],
)
def test_a_hash_join_without_a_key_is_pairwise(conditions: str | list[str], expected: bool) -> None:
    assert is_pairwise({"name": "HASH_JOIN", "extra_info": {"Conditions": conditions}}) == expected
