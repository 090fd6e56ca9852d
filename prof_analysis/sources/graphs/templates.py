"""Stages the ops and modules of replayed graphs.

The kernels of a graph and their order are the same in each replay, so a graph is looked at once. What is found is a template
for all of its replays: the ops of its kernels and the ranges around them, in an order.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import duckdb

from prof_analysis.sources.graphs.captured import Inputs, Place
from prof_analysis.sources.readers.event_tables import stored

# Of temporary tables: graph_kernel (event_id, replay_id, position), a kernel of a replay; and graph_replay (replay_id,
# template_id, launch_id, start_ns, is_in_module), a replay and whether its launch lies in a module.
_OP_IDS = """
    SELECT -(2 * row_number() OVER (ORDER BY replay_id, start) + 1) AS op_id, replay_id, start, op.* EXCLUDE (start),
           graph_replay.launch_id, start_ns AS replay_ns
    FROM graph_replay JOIN template_op AS op USING (template_id)
"""
_ROWS = {
    # An op of a template is known by where it begins.
    "raw.replayed_op": f"""
        WITH op AS ({_OP_IDS})
        SELECT op.op_id, op.launch_id, -op.replay_id AS tid, around.op_id AS parent_id, op.is_op,
               template_text_id(op.name) AS name, template_text_id(op.shapes) AS input_dims,
               template_text_id(op.types) AS input_types, template_text_id(op.input_values) AS input_values,
               op.replay_ns + op.start AS start_ns, op.replay_ns + op.stop AS end_ns
        FROM op
        LEFT JOIN op AS around ON around.replay_id = op.replay_id AND around.start = op.parent
    """,
    "raw.replayed_range": """
        SELECT -row_number() OVER (ORDER BY replay_id, start) AS range_id, launch_id, -replay_id AS tid, is_module,
               template_text_id(range.name) AS name, is_backward, is_around,
               start_ns + start AS start_ns, start_ns + stop AS end_ns
        FROM graph_replay JOIN template_range AS range USING (template_id)
        WHERE NOT (is_around AND is_in_module)
    """,
    "raw.replayed_kernel": f"""
        SELECT graph_kernel.*, op.op_id, -op.replay_id AS tid, template.known_by, template.modules_by
        FROM graph_kernel
        JOIN graph_replay USING (replay_id)
        JOIN template_kernel AS template USING (template_id, position)
        JOIN ({_OP_IDS}) AS op USING (replay_id, start)
    """,
}
# The texts of templates, those without text left out.
_TEXTS = """
    SELECT name
    FROM (
        SELECT unnest([name, shapes, types, input_values]) AS name FROM template_op
        UNION SELECT name FROM template_range
        UNION SELECT unnest([domain_of_annotation(name), name_in_domain(name)]) FROM template_range WHERE NOT is_module
    )
    WHERE name IS NOT NULL
"""
# The texts get ids of their own in raw.string, made of the text.
_BY_TEXT = f"""
    CREATE OR REPLACE TEMP MACRO template_text_id(text) AS text_id(text);
    INSERT INTO {stored("raw.string")}
    SELECT text_id(name), name FROM ({_TEXTS}) WHERE text_id(name) NOT IN (SELECT text_id FROM {stored("raw.string")})
"""
# The texts get the ids that raw.string_ids has, and new ones below those of trace.string.
_BY_NUMBER = f"""
    INSERT INTO {stored("raw.string_ids")}
    SELECT -(1::BIGINT << 40) - row_number() OVER (ORDER BY name), name
    FROM ({_TEXTS}) WHERE name NOT IN (SELECT value FROM {stored("raw.string_ids")} WHERE value IS NOT NULL);
    CREATE OR REPLACE TEMP TABLE template_text AS
    SELECT value, min(id) AS id FROM {stored("raw.string_ids")} WHERE value IN ({_TEXTS}) GROUP BY value;
    CREATE OR REPLACE TEMP MACRO template_text_id(text) AS (SELECT id FROM template_text WHERE value = text)
"""
_SCHEMAS: Mapping[str, Mapping[str, str]] = {
    "template_op": {
        **{"template_id": "int64", "name": "string", "is_op": "bool", "start": "int64", "stop": "int64", "parent": "int64"},
        **{"shapes": "string", "types": "string", "input_values": "string"},
    },
    "template_range": {
        **{"template_id": "int64", "name": "string", "start": "int64", "stop": "int64"},
        **{"is_module": "bool", "is_around": "bool", "is_backward": "bool"},
    },
    "template_kernel": {
        **{"template_id": "int64", "position": "int64", "start": "int64"},
        **{"known_by": "string", "modules_by": "string"},
    },
}


class Known(NamedTuple):
    """What is known of a kernel of a graph, and the words of trace.replayed_kernel for what says it."""

    known_by: str
    modules_by: str | None
    place: Place


Templates = Mapping[str, list[dict[str, Any]]]


def no_templates() -> Templates:
    """Return tables of templates without rows."""
    return {name: [] for name in _SCHEMAS}


def add_template(made: Templates, template_id: int, kernels: Mapping[int, Known], inputs: Mapping[object, Inputs]) -> None:
    """Add a graph: its ranges and ops as a tree, in the order of its kernels, numbered where each begins and ends.

    `inputs` are those of ops by their keys; of the ops around that of a kernel, only those with inputs are kept.
    """
    tree: dict[Any, Any] = {}
    for position, known in kernels.items():
        place, node = known.place, tree
        around = [one for one in place.around if one.key in inputs]
        for depth, range_ in enumerate((*place.ranges, None)):
            for one in around:
                if one.depth == depth:
                    node = node.setdefault((one.key, one.name, True), ({}, []))[0]
            if range_ is not None:
                node = node.setdefault((place.is_backward, range_), ({}, []))[0]
        what = {"position": position, "known_by": known.known_by, "modules_by": known.modules_by}
        node.setdefault((place.op, place.name, place.is_op), ({}, []))[1].append(what)
    numbers = iter(range(10**9))

    def add(node: dict[Any, Any], parent: int | None) -> None:
        for key, (inside, launched) in node.items():
            start = next(numbers)
            is_op = len(key) == 3
            add(inside, start if is_op else parent)
            where = {"template_id": template_id, "start": start, "stop": next(numbers)}
            if is_op:
                shapes, types, values = inputs.get(key[0], (None, None, None))
                texts = {"shapes": shapes, "types": types, "input_values": values}
                made["template_op"].append(where | {"name": key[1], "is_op": key[2], "parent": parent, **texts})
                made["template_kernel"].extend({"template_id": template_id, "start": start, **what} for what in launched)
            else:
                is_backward, range_ = key
                facts = {"is_module": range_.is_module, "is_around": range_.is_around, "is_backward": is_backward}
                made["template_range"].append(where | {"name": range_.name, **facts})

    add(tree, None)


def stage_templates(
    connection: duckdb.DuckDBPyConnection, made: Templates, wanted: Mapping[str, frozenset[str]], *, by_number: bool = False
) -> None:
    """Stage the wanted columns of the raw tables of replays, and their texts, whose ids are made of the text or are numbers."""
    import pyarrow

    for name, columns in _SCHEMAS.items():
        types = pyarrow.schema([(column, pyarrow.type_for_alias(type_)) for column, type_ in columns.items()])
        connection.register(name, pyarrow.Table.from_pylist(made[name], types))
    connection.execute(_BY_NUMBER if by_number else _BY_TEXT)
    for name, rows_of in _ROWS.items():
        if name in wanted:
            columns_of = ", ".join(sorted(wanted[name])) or "NULL"
            names = f" ({columns_of})" if wanted[name] else ""
            connection.execute(f"INSERT INTO {stored(name)}{names} SELECT {columns_of} FROM ({rows_of})")
    for name in _SCHEMAS:
        connection.unregister(name)
