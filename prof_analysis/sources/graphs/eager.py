"""Finds what a graph was captured of among kernels that ran without one.

On Ascend nothing runs on the device while a graph is captured, so no kernels name the launches of that time. But engines run
the model before they capture it, and the profile of the capture holds these runs with ops and modules. A recording of one pass
without graphs serves as well.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any

import duckdb

from prof_analysis.engine.building import build
from prof_analysis.engine.database import connect
from prof_analysis.engine.planning import make_plan
from prof_analysis.sources.graphs.captured import Capture, Inputs, Launch, Place, Range

# The kernels that begin like the graph are told by so many in a row; of a graph that lost its first ones, by others of it.
_IN_A_ROW, _ANCHORS = 3, 4
# To align runs that differ from the graph takes long: so many that have most in common are tried.
_MOST_RUNS = 32
# What lies deeper in modules counts as directly in those around it.
_MOST_AROUND = 200
# The order of launches is that of the host, and of the kernels of one op that of the device.
_KERNELS = """
    SELECT kernel.kernel_id, name.text, type.text, traced.block_num, kernel.op_id, kernel.link IS NOT NULL, op_name.text,
           kernel.interval_id
    FROM module.kernel
    JOIN trace.kernel AS traced USING (kernel_id)
    LEFT JOIN trace.string AS name ON name.text_id = kernel.name_id
    LEFT JOIN trace.string AS type ON type.text_id = kernel.type_id
    LEFT JOIN trace.string AS op_name ON op_name.text_id = kernel.op_name_id
    WHERE kernel.kind = 'compute' AND traced.model_id IS NULL
    ORDER BY coalesce(kernel.op_start_ns, kernel.start_ns), kernel.start_ns, kernel.kernel_id
"""
_CALLS = """
    SELECT call.interval_id, call.range_id, call.parent_range_id, call.is_backward, name.text
    FROM module.call
    JOIN module.interval ON interval.interval_id = call.range_id
    LEFT JOIN trace.string AS name ON name.text_id = interval.name_id
"""
_INPUTS = """
    SELECT op.op_id, shapes.text, types.text
    FROM trace.op
    JOIN trace.string AS shapes ON shapes.text_id = op.input_shapes_id
    LEFT JOIN trace.string AS types ON types.text_id = op.input_types_id
"""
_TABLES = ("module.kernel", "module.interval", "module.call", "trace.op", "trace.kernel", "trace.string")
# Of the kernels of graphs, names are those of binaries, MatMulV2_ND_ND_FP16_98883, and types may be others: SliceAiCore for
# Slice, MatMulCommon for MatMulV2. Without graphs a name is aclnnMatmul_MatMulCommon_MatMulV2: its last part is the type.
_OF_BINARY = re.compile(r"([A-Z][A-Za-z0-9]*)_")
_ENDING = re.compile(r"(?<=[a-z0-9])A[iI][cC]ore$")
# The binary of a kernel that a user wrote: muls_add_kernel_1, mla_preprocess_0_mix_aic.
_OF_USER = re.compile(r"_\d+(?:_mix_ai[cv])?$")

Stage = Callable[[duckdb.DuckDBPyConnection, Mapping[str, frozenset[str]]], None]


def token_of(name: str | None, type_: str | None, *, is_of_graph: bool) -> str:
    """Return the operator type of a kernel, as it is with and without graphs; where it has none, its name."""
    if is_of_graph and name and type_ and (match := _OF_BINARY.match(name)):
        # MemSet is a part of another operator, whose type it has.
        return match[1]
    return _OF_USER.sub("", _ENDING.sub("", type_ or name or ""))


def launches_of(
    source: str,
    raw_columns: Mapping[str, Mapping[str, str]],
    stage: Stage,
    variables: Mapping[str, Any],
    settings: Mapping[str, str],
    threads: int,
) -> tuple[list[Launch], dict[object, Inputs]]:
    """Return the kernels of a profile that ran without a graph, with ops and modules, and the inputs of their ops.

    `stage` stages raw tables of the profile in a database of its own.
    """
    with closing(connect(variables, threads)) as connection:
        for setting, value in settings.items():
            connection.execute(f"SET {setting} = $value", {"value": value})
        plan = make_plan(source, raw_columns, _TABLES)
        stage(connection, plan.raw_columns)
        build(connection, source, plan, lambda columns: stage(connection, columns))
        calls = {row[0]: row for row in connection.execute(_CALLS).fetchall()}
        inputs: dict[object, Inputs] = {
            op_id: Inputs(shapes, types, None) for op_id, shapes, types in connection.execute(_INPUTS).fetchall()
        }
        launches = []
        for kernel_id, name, type_, blocks, op_id, is_op, op_name, interval_id in connection.execute(_KERNELS).fetchall():
            ranges = _ranges_of(interval_id, calls)
            is_backward = bool(ranges) and calls[interval_id][3]
            place = Place(op_id if is_op else ("kernel", kernel_id), op_name, ranges, is_op, is_backward)
            grid = None if blocks is None else str(blocks)
            launches.append(Launch(token_of(name, type_, is_of_graph=False), place, grid))
    return launches, inputs


def _ranges_of(interval_id: int | None, calls: Mapping[int, Sequence[Any]]) -> tuple[Range, ...]:
    """Return the module calls around work, outermost first; of backward work those of its forward call."""
    found: list[Range] = []
    while interval_id is not None and interval_id in calls and len(found) < _MOST_AROUND:
        _, range_id, interval_id, _, name = calls[interval_id]
        found.append(Range(range_id, name or "", is_module=True))
    return tuple(reversed(found))


def captures_like(tokens: Sequence[str], launches: Sequence[Launch], inputs: Mapping[object, Inputs]) -> list[Capture]:
    """Return the runs among kernels without graphs that a graph of these kernels may have been captured of."""
    here = [one.token for one in launches]
    for anchor in range(0, max(len(tokens) - _IN_A_ROW, 0) + 1, max(len(tokens) // _ANCHORS, 1)):
        sought = list(tokens[anchor : anchor + _IN_A_ROW])
        starts = [
            at - anchor
            for at in range(anchor, len(here) - len(sought) + 1)
            if here[at] == sought[0] and here[at : at + len(sought)] == sought
        ]
        runs = [launches[start : start + len(tokens)] for start in starts]
        if equal := [run for run in runs if [one.token for one in run] == list(tokens)]:
            return [_capture(run, inputs) for run in equal]
        if runs:
            nearest = {tuple(one.token for one in run): run for run in runs}
            known: Counter[str | None] = Counter(tokens)
            in_order = sorted(nearest, key=lambda run: -(known & Counter(run)).total())
            return [_capture(nearest[run], inputs) for run in in_order[:_MOST_RUNS]]
    return []


def _capture(launches: Sequence[Launch], inputs: Mapping[object, Inputs]) -> Capture:
    """Return a run as a capture: the modules around all of it are around the capture."""
    paths = [one.place.ranges for one in launches]
    shared = 0
    while all(len(path) > shared for path in paths) and len({path[shared].key for path in paths}) == 1:
        shared += 1
    marked = tuple(
        one._replace(
            place=one.place._replace(
                ranges=tuple(range_._replace(is_around=depth < shared) for depth, range_ in enumerate(one.place.ranges))
            )
        )
        for one in launches
    )
    return Capture(marked, tuple(one.token for one in marked), inputs)
