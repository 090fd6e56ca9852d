"""Stages the ops and modules of the kernels of replayed graphs, from annotations and captures.

The kernels of a graph and their order are the same in each replay, so a graph is looked at once. What is found is a template
for all of its replays: the ops of its kernels and the ranges around them, in an order.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import duckdb

from prof_analysis.sources.kineto.alignment import Aligned, best_capture
from prof_analysis.sources.kineto.annotations import Annotation, annotations_of, named_parts
from prof_analysis.sources.kineto.captures import Capture, Place, Range, token
from prof_analysis.sources.readers.event_tables import stored

# What the SQL below reads of the raw tables.
NEEDS: Mapping[str, frozenset[str]] = {
    "raw.string": frozenset(("text_id", "text")),
    "raw.runtime_call": frozenset(("name", "pid", "tid", "start_ns", "correlation")),
    "raw.device_work": frozenset(
        (
            *("event_id", "name", "is_kernel", "correlation", "stream_id", "start_ns", "end_ns", "graph_id", "graph_node_id"),
            *("module_fqn", "annotation", "autograd_phase"),
        )
    ),
    "raw.module_call": frozenset(("pid", "tid", "start_ns", "end_ns")),
}

# The kernels of each replay, in the order of the nodes where all have one, else stream by stream in the order of time.
_GRAPH_KERNELS = """
    CREATE OR REPLACE TEMP TABLE graph_kernel AS
    WITH launch AS (
        SELECT correlation, min(start_ns) AS start_ns, arg_min(thread_id(pid, tid), start_ns) AS tid
        FROM raw.runtime_call
        JOIN raw.string ON string.text_id = runtime_call.name
        WHERE contains(text, 'GraphLaunch') AND correlation <> 0
        GROUP BY correlation
    ),
    work AS (
        SELECT device_work.*, launch.start_ns AS launch_ns, launch.tid AS launch_tid,
               dense_rank() OVER (ORDER BY correlation, if(correlation <> 0, NULL, graph_id)) AS replay_id
        FROM raw.device_work
        LEFT JOIN launch USING (correlation)
        WHERE (nullif(graph_node_id, 0) IS NOT NULL OR launch.correlation IS NOT NULL) AND end_ns >= device_work.start_ns
    )
    SELECT event_id, name, is_kernel, stream_id, graph_node_id, module_fqn, annotation, autograd_phase, replay_id,
           nullif(correlation, 0) AS launch_id, launch_tid,
           coalesce(launch_ns, min(start_ns) OVER replay) AS start_ns, work.start_ns AS kernel_ns,
           has_nodes,
           row_number() OVER (
               PARTITION BY replay_id
               ORDER BY if(has_nodes, graph_node_id, NULL), if(has_nodes, NULL, stream_id), start_ns, event_id
           ) - 1 AS position
    FROM (SELECT *, count(nullif(graph_node_id, 0)) OVER (PARTITION BY replay_id)
                    = count(*) OVER (PARTITION BY replay_id) AS has_nodes FROM work) AS work
    WINDOW replay AS (PARTITION BY replay_id)
"""
# Replays of equal graphs share a template: that of the first of them.
_REPLAYS = """
    CREATE OR REPLACE TEMP TABLE graph_replay AS
    WITH replay AS (
        SELECT replay_id, min(launch_id) AS launch_id, min(start_ns) AS start_ns, min(launch_tid) AS launch_tid,
               hash(list((name, graph_node_id, if(has_nodes, NULL, stream_id), module_fqn, annotation, autograd_phase)
                         ORDER BY position)) AS graph
        FROM graph_kernel
        GROUP BY replay_id
    ),
    in_module AS (
        SELECT DISTINCT replay_id
        FROM replay
        JOIN raw.module_call ON thread_id(pid, tid) = launch_tid
            AND module_call.start_ns <= replay.start_ns AND module_call.end_ns >= replay.start_ns
    )
    SELECT replay.*, min(replay_id) OVER (PARTITION BY graph) AS template_id, in_module.replay_id IS NOT NULL AS is_in_module
    FROM replay
    LEFT JOIN in_module USING (replay_id)
"""
_GRAPHS = """
    SELECT template_id, list((kernel_ns, string.text, is_kernel, stream_id, has_nodes, graph_node_id,
                              [module_fqn, annotation, autograd_phase]) ORDER BY position)
    FROM graph_kernel
    JOIN graph_replay USING (replay_id)
    LEFT JOIN raw.string ON string.text_id = graph_kernel.name
    WHERE replay_id = template_id
    GROUP BY template_id
    ORDER BY template_id
"""
_ROWS = {
    # An op of a template is known by where it begins.
    "raw.replayed_op": """
        SELECT -(2 * row_number() OVER (ORDER BY replay_id, start) + 1) AS op_id, launch_id, -replay_id AS tid,
               text_id(op.name) AS name, is_op, start_ns + start AS start_ns, start_ns + stop AS end_ns
        FROM graph_replay JOIN template_op AS op USING (template_id)
    """,
    "raw.replayed_range": """
        SELECT -row_number() OVER (ORDER BY replay_id, start) AS range_id, launch_id, -replay_id AS tid, is_module,
               text_id(range.name) AS name, is_backward, start_ns + start AS start_ns, start_ns + stop AS end_ns
        FROM graph_replay JOIN template_range AS range USING (template_id)
        WHERE NOT (is_around AND is_in_module)
    """,
    "raw.replayed_kernel": """
        SELECT event_id, op.op_id, template.known_by, template.modules_by
        FROM graph_kernel
        JOIN graph_replay USING (replay_id)
        JOIN template_kernel AS template USING (template_id, position)
        JOIN (SELECT -(2 * row_number() OVER (ORDER BY replay_id, start) + 1) AS op_id, replay_id, start
              FROM graph_replay JOIN template_op USING (template_id)) AS op USING (replay_id, start)
    """,
}


class Fits(NamedTuple):
    """How well captures fit: the number of graphs, of those that fit none, of those that fit one without names, and of those
    of which nothing is known."""

    graphs: int
    unfit: int
    unnamed: int
    unknown: int


class _Kernel(NamedTuple):
    """A kernel of a graph; `has_nodes`: nodes give its order in the graph; `annotation` is that of the trace itself."""

    start_ns: int
    name: str | None
    is_kernel: bool
    stream_id: int | None
    has_nodes: bool
    node_id: int | None
    annotation: tuple[str | None, ...]


class _Templates(NamedTuple):
    """The rows of the templates."""

    ops: list[dict[str, Any]]
    ranges: list[dict[str, Any]]
    kernels: list[dict[str, Any]]


def has_replays(connection: duckdb.DuckDBPyConnection) -> bool:
    """Look for the kernels of replayed graphs in the raw tables, and return whether there are any."""
    connection.execute(_GRAPH_KERNELS)
    connection.execute(_REPLAYS)
    return bool(connection.execute("SELECT 1 FROM graph_replay LIMIT 1").fetchall())


def holds_captures(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a graph is captured in the trace itself."""
    begun = "SELECT 1 FROM raw.runtime_call JOIN raw.string ON text_id = name WHERE contains(text, 'BeginCapture') LIMIT 1"
    return bool(connection.execute(begun).fetchall())


def stage_replays(
    connection: duckdb.DuckDBPyConnection,
    wanted: Mapping[str, frozenset[str]],
    annotations: Mapping[int, Annotation],
    captures: Sequence[Capture],
) -> Fits:
    """Stage the ops and ranges of the replays that has_replays() found. Returns how well the captures fit."""
    import pyarrow

    made = _Templates([], [], [])
    graphs = connection.execute(_GRAPHS).fetchall()
    fits: list[Aligned | None] = []
    unknown = 0
    for template_id, rows in graphs:
        kernels = [_Kernel(*row) for row in rows]
        fits.append(_fit(kernels, captures))
        places = _places(kernels, annotations, fits[-1])
        unknown += not places
        _add_template(made, template_id, places)
    schemas = {
        "template_op": (
            made.ops,
            {"template_id": "int64", "name": "string", "is_op": "bool", "start": "int64", "stop": "int64"},
        ),
        "template_range": (
            made.ranges,
            {"template_id": "int64", "name": "string", "start": "int64", "stop": "int64"}
            | {"is_module": "bool", "is_around": "bool", "is_backward": "bool"},
        ),
        "template_kernel": (
            made.kernels,
            {"template_id": "int64", "position": "int64", "start": "int64"} | {"known_by": "string", "modules_by": "string"},
        ),
    }
    for name, (rows, columns) in schemas.items():
        types = pyarrow.schema([(column, pyarrow.type_for_alias(type_)) for column, type_ in columns.items()])
        connection.register(name, pyarrow.Table.from_pylist(rows, types))
    for name, rows_of in _ROWS.items():
        if name in wanted:
            columns_of = ", ".join(sorted(wanted[name])) or "NULL"
            names = f" ({columns_of})" if wanted[name] else ""
            connection.execute(f"INSERT INTO {stored(name)}{names} SELECT {columns_of} FROM ({rows_of})")
    connection.execute(f"""
        INSERT INTO {stored("raw.string")}
        SELECT text_id(name), name
        FROM (
            SELECT name FROM template_op
            UNION SELECT name FROM template_range
            UNION SELECT unnest([domain_of_annotation(name), name_in_domain(name)]) FROM template_range WHERE NOT is_module
        ) AS used
        WHERE name IS NOT NULL AND text_id(name) NOT IN (SELECT text_id FROM {stored("raw.string")})
    """)
    for name in schemas:
        connection.unregister(name)
    unnamed = sum(fit is not None and None in fit.capture.tokens for fit in fits)
    return Fits(len(graphs), fits.count(None), unnamed, unknown)


def _fit(kernels: Sequence[_Kernel], captures: Sequence[Capture]) -> Aligned | None:
    """Return the capture that fits, by the order of the nodes; where that fits none, by the order of time on each stream."""
    fit = _fit_in_order(kernels, captures, by_node=kernels[0].has_nodes)
    if fit is None and kernels[0].has_nodes:
        order = sorted(range(len(kernels)), key=lambda one: (kernels[one].stream_id or 0, kernels[one].start_ns))
        if by_time := _fit_in_order([kernels[one] for one in order], captures, by_node=False):
            launched = dict(zip(order, by_time.positions, strict=True))
            return Aligned(by_time.capture, [launched[one] for one in range(len(kernels))])
    return fit


def _fit_in_order(kernels: Sequence[_Kernel], captures: Sequence[Capture], *, by_node: bool) -> Aligned | None:
    tokens = [token(one.name, one.is_kernel) or "" for one in kernels]
    streams = [one.stream_id or 0 for one in kernels]
    return best_capture(tokens, None if by_node or len(set(streams)) == 1 else streams, captures)


def _places(
    kernels: Sequence[_Kernel], annotations: Mapping[int, Annotation], fit: Aligned | None
) -> dict[int, tuple[str, str | None, Place]]:
    """Return the source of the op and ranges of each kernel of a graph, by its position, and its place; others are unknown."""
    fields = ("module_fqn", "name", "autograd_phase")
    merged = annotations_of(
        {
            position: {field: value for field, value in zip(fields, one.annotation, strict=True) if value}
            for position, one in enumerate(kernels)
            if any(one.annotation)
        }
    )
    found: dict[int, tuple[str, str | None, Place]] = {}
    for position, one in enumerate(kernels):
        launched = None if fit is None else fit.positions[position]
        place = None if fit is None or launched is None else fit.capture.launches[launched].place
        annotation = (annotations.get(one.node_id) if one.node_id else None) or merged.get(position)
        if place is not None:
            found[position] = ("capture", "capture" if place.ranges else None, place)
        if annotation is not None and annotation.modules:
            known_by = "annotation" if place is None else "capture"
            op = place or Place(position, annotation.name, ())
            place = op._replace(ranges=_ranges(annotation), is_backward=annotation.is_backward)
            found[position] = (known_by, "annotation", place)
    return found


def _ranges(annotation: Annotation) -> tuple[Range, ...]:
    return tuple(Range(path, name, is_module=True) for name, path in named_parts(annotation.modules))


def _add_template(made: _Templates, template_id: int, places: Mapping[int, tuple[str, str | None, Place]]) -> None:
    """Add a graph: its ranges and ops as a tree, in the order of its kernels, numbered where each begins and ends."""
    tree: dict[Any, Any] = {}
    for position, (known_by, modules_by, place) in places.items():
        node = tree
        for range_ in place.ranges:
            node = node.setdefault((place.is_backward, range_), {})
        what = {"position": position, "known_by": known_by, "modules_by": modules_by}
        node.setdefault((place.op, place.name, place.is_op), []).append(what)
    numbers = iter(range(10**9))

    def add(node: dict[Any, Any]) -> None:
        for key, inside in node.items():
            start = next(numbers)
            if isinstance(inside, list):
                made.ops.append({
                    "template_id": template_id, "name": key[1], "is_op": key[2], "start": start, "stop": next(numbers)
                })  # fmt: skip
                made.kernels.extend({"template_id": template_id, "start": start, **what} for what in inside)
            else:
                is_backward, range_ = key
                add(inside)
                made.ranges.append({
                    "template_id": template_id, "name": range_.name, "start": start, "stop": next(numbers),
                    "is_module": range_.is_module, "is_around": range_.is_around, "is_backward": is_backward,
                })  # fmt: skip

    add(tree)
