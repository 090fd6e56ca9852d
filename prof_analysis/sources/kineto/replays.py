"""Stages the ops and modules of the kernels of replayed graphs, from annotations and captures."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import duckdb

from prof_analysis.sources.graphs.alignment import Aligned, best_capture
from prof_analysis.sources.graphs.captured import Capture, Place, Range
from prof_analysis.sources.graphs.templates import Known, add_template, no_templates, stage_templates
from prof_analysis.sources.kineto.annotations import Annotation, annotations_of, named_parts
from prof_analysis.sources.kineto.captures import token

# What the SQL below reads of the raw tables.
NEEDS: Mapping[str, frozenset[str]] = {
    "raw.string": frozenset(("text_id", "text")),
    "raw.runtime_call": frozenset(("name", "pid", "tid", "start_ns", "correlation")),
    "raw.device_work": frozenset(
        (
            *("event_id", "name", "is_kernel", "correlation", "stream_id", "start_ns", "end_ns", "graph_id", "graph_node_id"),
            *("module_fqn", "annotation", "autograd_phase", "grid"),
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
    SELECT event_id, name, is_kernel, stream_id, graph_node_id, grid, module_fqn, annotation, autograd_phase, replay_id,
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
               hash(list((name, graph_node_id, grid, if(has_nodes, NULL, stream_id), module_fqn, annotation, autograd_phase)
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
    SELECT template_id, list((kernel_ns, string.text, is_kernel, stream_id, has_nodes, graph_node_id, grid,
                              [module_fqn, annotation, autograd_phase]) ORDER BY position)
    FROM graph_kernel
    JOIN graph_replay USING (replay_id)
    LEFT JOIN raw.string ON string.text_id = graph_kernel.name
    WHERE replay_id = template_id
    GROUP BY template_id
    ORDER BY template_id
"""


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
    grid: str | None
    annotation: tuple[str | None, ...]


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
    made = no_templates()
    graphs = connection.execute(_GRAPHS).fetchall()
    fits: list[Aligned | None] = []
    unknown = 0
    for template_id, rows in graphs:
        kernels = [_Kernel(*row) for row in rows]
        fits.append(_fit(kernels, captures))
        places = _places(kernels, annotations, fits[-1])
        unknown += not places
        add_template(made, template_id, places, fits[-1].inputs if fits[-1] else {})
    stage_templates(connection, made, wanted)
    unnamed = sum(fit is not None and None in fit.capture.tokens for fit in fits)
    return Fits(len(graphs), fits.count(None), unnamed, unknown)


def _fit(kernels: Sequence[_Kernel], captures: Sequence[Capture]) -> Aligned | None:
    """Return the capture that fits, by the order of the nodes; where that fits none, by the order of time on each stream."""
    fit = _fit_in_order(kernels, captures, by_node=kernels[0].has_nodes)
    if fit is None and kernels[0].has_nodes:
        order = sorted(range(len(kernels)), key=lambda one: (kernels[one].stream_id or 0, kernels[one].start_ns))
        if by_time := _fit_in_order([kernels[one] for one in order], captures, by_node=False):
            launched = dict(zip(order, by_time.positions, strict=True))
            return by_time._replace(positions=[launched[one] for one in range(len(kernels))])
    return fit


def _fit_in_order(kernels: Sequence[_Kernel], captures: Sequence[Capture], *, by_node: bool) -> Aligned | None:
    tokens = [token(one.name, one.is_kernel) or "" for one in kernels]
    streams = [one.stream_id or 0 for one in kernels]
    in_order = by_node or len(set(streams)) == 1
    return best_capture(tokens, None if in_order else streams, [one.grid for one in kernels], captures)


def _places(kernels: Sequence[_Kernel], annotations: Mapping[int, Annotation], fit: Aligned | None) -> dict[int, Known]:
    """Return what is known of each kernel of a graph, by its position; others are unknown."""
    fields = ("module_fqn", "name", "autograd_phase")
    merged = annotations_of(
        {
            position: {field: value for field, value in zip(fields, one.annotation, strict=True) if value}
            for position, one in enumerate(kernels)
            if any(one.annotation)
        }
    )
    found: dict[int, Known] = {}
    for position, one in enumerate(kernels):
        launched = None if fit is None else fit.positions[position]
        place = None if fit is None or launched is None else fit.capture.launches[launched].place
        annotation = (annotations.get(one.node_id) if one.node_id else None) or merged.get(position)
        if place is not None:
            found[position] = Known("capture", "capture" if place.ranges else None, place)
        if annotation is not None and annotation.modules:
            known_by = "annotation" if place is None else "capture"
            op = place or Place(position, annotation.name, ())
            ranges = _ranges(annotation)
            around = tuple(one._replace(depth=len(ranges)) for one in op.around)
            place = op._replace(ranges=ranges, is_backward=annotation.is_backward, around=around)
            found[position] = Known(known_by, "annotation", place)
    return found


def _ranges(annotation: Annotation) -> tuple[Range, ...]:
    return tuple(Range(path, name, is_module=True) for name, path in named_parts(annotation.modules))
