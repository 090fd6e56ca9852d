"""No table joins by keys that may be NULL on both sides, unless what is not known shall find no partner."""

import pytest

from prof_analysis.engine.tables import documented_tables, source_tables
from prof_analysis.sources import NAMES
from tests.helpers.null_keys import NullKeys

NONE = "NULL says that there is none, and none is no partner"
LOST = "texts that the profile lost are not the same text"
NOT_NULL = "it is not NULL there: a WHERE, or a row of another table, sees to it"
DEVICE = "a device that is not recorded is told by itself: where there is one device, both mean it"
ELSE = "it is looked for in another way, and NULL is not that way"
# Table and join -> why NULL shall find nothing.
MEANT = {
    ("across.collective", "previous.kernel_id = approach.previous_id"): NONE,
    ("across.expert_call", "paired_call.kernel_id = call.next_id"): NONE,
    ("across.link_packet", "seen_rank.group_name = packet.group_name"): "positions in groups without a name are not comparable",
    ("across.link_packet", "usual.peer_count = alike.peer_count"): NOT_NULL,
    ("across.timeline_event", "call.tid = launch.call_tid"): NONE,
    ("across.timeline_event", "start.tid = launch.tid"): NONE,
    ("advice.byte_alignment", "aligned.packet_bytes = packet.packet_bytes"): "only packets of known size are compared",
    ("allocation.block_op", "USING name_id"): LOST,
    ("allocation.span", "event.device_id = edge.device_id"): DEVICE,
    ("allocation.step", "block.allocated_ns = first.time_ns"): NONE,
    ("chain.cost", "interval.forward_op_id = forward_op.op_id"): NONE,
    ("chain.cost", "interval.forward_op_id = parent.parent_id"): NONE,
    ("clock.kernel", "USING device_id"): DEVICE,
    ("clock.kernel", "at_end.device_id = computing.device_id"): DEVICE,
    ("clock.kernel", "at_start.device_id = computing.device_id"): DEVICE,
    ("clock.rated", "chip.device_id = seen_clock.device_id"): DEVICE,
    ("clock.slow_device", "USING device_id"): DEVICE,
    ("compare.module_node", "node.path = path.path"): NOT_NULL,
    ("critical.contention", "of_type.type_id = pair_of_types.type_id"): "kernels of no known type are not compared with others",
    ("flame.op", "chained.op_id = kernel_op.op_id"): NONE,
    ("flame.op", "named_op.parent_id = chained.op_id"): NONE,
    ("free.cause_of_op", "copying_op.host_api_id = part.host_api_id"): ELSE,
    ("free.cause_of_op", "copying_op.op_id = part.op_id"): ELSE,
    ("kernels.core", "chip.device_id = used_engine.device_id"): DEVICE,
    ("layer.sibling", "USING layer"): NOT_NULL,
    ("mfu.chip", "chip.device_id = device.device_id"): DEVICE,
    ("mfu.measured_clock", "clock.device_id = cube_kernel.device_id"): DEVICE,
    ("module.call", "before.name_id = again.name_id"): LOST,
    ("module.coverage", "top_op.reason = total.reason"): NOT_NULL,
    ("module.cut", "frequency.name_id = left_over.name_id"): LOST,
    ("module.edge_call", "USING name_id"): LOST,
    ("module.edge_call", "inside.name_id = interval.name_id"): LOST,
    ("module.sibling", "deviating.name_id = counted_call.name_id"): LOST,
    ("module.sibling", "slower.name_id = deviating.name_id"): LOST,
    ("module.statistic_row", "USING op_id"): NOT_NULL,
    ("module.tree", "USING path"): NOT_NULL,
    ("module.unplaced_call", "inside.name_id = outermost.name_id"): LOST,
    ("mstx.work", "USING range_id"): NOT_NULL,
    ("op.beside", "USING parent_id"): NONE,
    ("op.launch", "USING name_id"): LOST,
    ("op.recursive_name", "directly.name_id = through_others.around_name_id"): LOST,
    ("pmu.kernel_counters", "chip.device_id = counted.device_id"): DEVICE,
    ("roofline.bandwidth", "USING type_id"): "kernels of no known type may compute anything",
    ("roofline.memory", "USING op_id"): NONE,
    ("roofline.memory", "moving.op_name_id = kernel.op_name_id"): LOST,
    ("roofline.moved", "moving.op_name_id = kernel.op_name_id"): LOST,
    ("runs.communication_comparison", "role.group_role = row_of_rank.group_role"): NONE,
    ("runs.matched_path", "found.base_path = pair.base_path"): "a module that the base lacks is in the other half of the union",
    (
        "runs.matched_path",
        "found.new_path = pair.new_path",
    ): "a module that the new run lacks is in the other half of the union",
    ("runs.matched_path", "of_side.pair = rank.pair"): NONE,
    ("runs.memory_comparison", "step.step_id = memory.step_id"): NONE,
    ("runs.step_comparison", "collection.step_id = time.step_id"): NOT_NULL,
    ("step.duration", "USING step_id"): NOT_NULL,
    ("timeline.launch", "USING host_op_id"): NONE,
    ("timeline.launch", "USING launch_id"): NONE,
}


def test_no_key_that_may_be_null_is_joined() -> None:
    """By `IS NOT DISTINCT FROM`, or with a reason above: a group of ranks without a name once vanished from the answer."""
    keys = NullKeys(documented_tables())
    bodies = {(name, table.body) for name, table in documented_tables().items()}
    bodies |= {(name, table.body) for source in NAMES for name, table in source_tables(source).items()}
    found = {(name, join) for name, body in bodies if body.lstrip() for join in keys.joins(body)}
    assert found == set(MEANT)


@pytest.mark.parametrize(
    ("body", "joins"),
    [
        ("SELECT a.x FROM t.a JOIN t.b ON a.x = b.x AND a.y = b.y", {"a.x = b.x"}),
        ("SELECT a.x FROM t.a JOIN t.b USING (x, y)", {"USING x"}),
        ("SELECT a.x FROM t.a JOIN t.b ON a.x IS NOT DISTINCT FROM b.x", set()),
        ("WITH c AS (SELECT x AS z FROM t.a WHERE x > 1) SELECT z FROM c JOIN t.b ON b.x = c.z", set()),
        ("WITH c AS (SELECT x AS z FROM t.a UNION ALL SELECT 1) SELECT z FROM c JOIN t.b ON b.x = c.z", {"b.x = c.z"}),
        ("WITH c AS (SELECT b.y FROM t.a LEFT JOIN t.b USING (y)) SELECT c.y FROM c JOIN t.a ON a.x = c.y", {"a.x = c.y"}),
    ],
)
def test_a_join_by_such_a_key_is_found(body: str, joins: set[str]) -> None:
    keys = NullKeys({})
    keys.heads = {"t.a": {"x": True, "y": False}, "t.b": {"x": True, "y": False}}
    assert keys.joins(body) == joins
