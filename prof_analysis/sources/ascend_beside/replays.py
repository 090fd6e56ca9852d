"""Stages the ops and modules of replayed ACL graphs, from the profile of the capture, which runs the model without graphs too.

A graph that was captured is a model: its kernels carry the number of the model, run on streams of its own, and have the numbers
of their tasks there, which rise in each replay. Kernels of operators that users wrote lack the number of the model.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from prof_analysis.common.errors import InputError
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import store_view
from prof_analysis.sources.graphs.alignment import Aligned, best_capture
from prof_analysis.sources.graphs.captured import Inputs, Launch
from prof_analysis.sources.graphs.eager import captures_like, token_of
from prof_analysis.sources.graphs.templates import Known, add_template, no_templates, stage_templates
from prof_analysis.sources.remarks import Remark

_I, _B, _T = "BIGINT", "BOOLEAN", "VARCHAR"
COLUMNS: Mapping[str, Mapping[str, str]] = {
    "raw.replayed_op": {
        **dict.fromkeys(("op_id", "tid", "parent_id", "name", "input_dims", "start_ns", "end_ns"), _I), "is_op": _B,
    },
    "raw.replayed_range": {
        **dict.fromkeys(("range_id", "tid", "name", "start_ns", "end_ns"), _I), "is_backward": _B, "is_around": _B,
    },
    "raw.replayed_kernel": {
        **dict.fromkeys(("start_ns", "end_ns", "op_id", "tid"), _I), "known_by": _T, "modules_by": _T,
    },
}  # fmt: skip
# The options that say which marks are modules, with which the profile of the capture is read too.
_VARIABLES = ("module_domains", "module_source", "nesting_tolerance_ns")
_SQL = "text_id() domain_of_annotation() name_in_domain()"
_REPLAYS = """
    CREATE OR REPLACE TEMP TABLE graph_kernel AS FROM numbered_task;
    CREATE OR REPLACE TEMP TABLE graph_replay AS
    WITH replay AS (
        SELECT replay_id, min(start_ns) AS start_ns, hash(list((name, type, stream_id, blocks) ORDER BY position)) AS graph
        FROM graph_kernel
        GROUP BY replay_id
    )
    SELECT replay_id, start_ns, NULL::BIGINT AS launch_id, false AS is_in_module, min(replay_id) OVER (PARTITION BY graph)
               AS template_id
    FROM replay
"""


class Task(NamedTuple):
    """A compute kernel on a stream of a graph."""

    device: int
    model: int | None
    stream: int
    task: int
    start_ns: int
    end_ns: int
    name: str | None
    type: str | None
    blocks: int | None


def tasks_of(rows: Iterable[Sequence[Any]], *, no_model: int) -> Iterator[Task]:
    """Yield the tasks with their numbers and times; a damaged one is left out."""
    for device, model, stream, task, start_ns, end_ns, name, type_, blocks in rows:
        if all(isinstance(value, int) for value in (stream, task, start_ns, end_ns)):
            yield Task(
                device if isinstance(device, int) else 0,
                model if isinstance(model, int) and model != no_model else None,
                stream, task, start_ns, end_ns,
                name if isinstance(name, str) else None,
                type_ if isinstance(type_, str) else None,
                blocks if isinstance(blocks, int) else None,
            )  # fmt: skip


def create_tables(connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]], *, has_captures: bool) -> bool:
    """Create the wanted raw tables of replays, without rows; with captures all of them.

    Returns whether they must be filled. Without captures none is; with captures they are filled at once, be it that some are
    wanted later.
    """
    names = [name for name in COLUMNS if name in wanted]
    if names and has_captures:
        with suppress(duckdb.CatalogException):
            connection.execute(f"SELECT 1 FROM stored.{quote(names[0])} LIMIT 0")
            return False
        names = list(COLUMNS)
    for name in names:
        definition = ", ".join(f"{quote(column)} {type_}" for column, type_ in COLUMNS[name].items())
        connection.execute(f"CREATE TABLE stored.{quote(name)} ({definition})")
        store_view(connection, name, COLUMNS[name], COLUMNS[name])
    return bool(names) and has_captures


def stage_replays(
    connection: duckdb.DuckDBPyConnection,
    files: Iterable[Path],
    tasks: Iterable[Task],
    read: Callable[[Path, Mapping[str, Any], Mapping[str, str]], tuple[list[Launch], dict[object, Inputs]]],
    order: tuple[int, str, int],
    *,
    by_number: bool,
) -> list[Remark]:
    """Fill the raw tables of replays from profiles of captures, and return remarks.

    `tasks` are the compute kernels on the streams of graphs. `read` returns the kernels without graphs of a profile, and the
    inputs of their ops; it gets variables and settings of DuckDB. `by_number` as in stage_templates().
    """
    create_macros(connection, _SQL)
    graphs = _graphs(connection, tasks)
    if not graphs:
        return []
    names = ", ".join(f"getvariable('{name}')" for name in _VARIABLES)
    (values,) = connection.execute(f"SELECT {names}").fetchall()
    ((memory, folder),) = connection.execute(
        "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
    ).fetchall()
    said: list[str] = []
    recorded: list[tuple[list[Launch], dict[object, Inputs]]] = []
    for file in files:
        try:
            variables = dict(zip(_VARIABLES, values, strict=True))
            recorded.append(read(file, variables, {"memory_limit": memory, "temp_directory": folder}))
        except InputError as error:
            said.append(f"{error}; this capture is left out")
            continue
        if not recorded[-1][0]:
            said.append(f"{file}: holds no kernel that ran without a graph, so it does not tell what the graphs are; "
                        "profile the run of the model before the capture too")  # fmt: skip
    made, unfit = no_templates(), 0
    for template_id, kernels in graphs:
        fit = _fit(kernels, recorded)
        unfit += fit is None
        places = {} if fit is None else _places(fit)
        add_template(made, template_id, places, fit.inputs if fit else {})
    stage_templates(connection, made, {name: frozenset(columns) for name, columns in COLUMNS.items()}, by_number=by_number)
    if unfit:
        said.append(
            f"{unfit} of {len(graphs)} replayed graphs are like no run of the model in the profile of the capture, since the "
            "types or order of their kernels differ, or several runs are alike and in other modules"
        )
    return [Remark((*order, number), tuple(COLUMNS), sentence) for number, sentence in enumerate(said)]


def _graphs(
    connection: duckdb.DuckDBPyConnection, tasks: Iterable[Task]
) -> list[tuple[int, list[tuple[str | None, str | None, int, int | None]]]]:
    """Number the replays, and return the first of each graph with its kernels: name, type, stream and blocks."""
    import pyarrow

    columns = ("replay_id", "position", "stream_id", "start_ns", "end_ns", "name", "type", "blocks")
    types = {"name": pyarrow.string(), "type": pyarrow.string()}
    schema = pyarrow.schema([(column, types.get(column, pyarrow.int64())) for column in columns])
    values = zip(*_numbered(tasks), strict=True)
    arrays = [list(value) for value in values] or [[] for _ in columns]
    connection.register("numbered_task", pyarrow.table(dict(zip(columns, arrays, strict=True)), schema))
    connection.execute(_REPLAYS)
    connection.unregister("numbered_task")
    found = connection.execute("""
        SELECT template_id, list((name, type, stream_id, blocks) ORDER BY position)
        FROM graph_kernel
        JOIN graph_replay USING (replay_id)
        WHERE replay_id = template_id
        GROUP BY template_id
        ORDER BY template_id
    """)
    return found.fetchall()


def _numbered(tasks: Iterable[Task]) -> Iterator[tuple[object, ...]]:
    """Yield the number of the replay of each task, its position there, and the task: one begins where numbers of tasks fall.

    A task without the number of a model belongs to that of its stream.
    """
    listed = list(tasks)
    models: dict[tuple[int, int], set[int]] = {}
    for one in listed:
        if one.model is not None:
            models.setdefault((one.device, one.stream), set()).add(one.model)
    of_stream = {stream: found.pop() for stream, found in models.items() if len(found) == 1}
    of_model: dict[tuple[int, int], list[Task]] = {}
    for one in listed:
        model = of_stream.get((one.device, one.stream)) if one.model is None else one.model
        if model is not None:
            of_model.setdefault((one.device, model), []).append(one)
    number = 0
    for _, found in sorted(of_model.items()):
        number, position = number + 1, 0
        last: dict[int, int] = {}
        for one in sorted(found, key=lambda task: (task.start_ns, task.stream, task.task)):
            if one.task <= last.get(one.stream, -1):
                number, position = number + 1, 0
                last.clear()
            last[one.stream] = one.task
            yield (number, position, one.stream, one.start_ns, one.end_ns, one.name, one.type, one.blocks)
            position += 1


def _fit(
    kernels: Sequence[tuple[str | None, str | None, int, int | None]],
    recorded: Iterable[tuple[list[Launch], dict[object, Inputs]]],
) -> Aligned | None:
    """Return the run without a graph that a graph is like; None without one."""
    tokens = [token_of(name, type_, is_of_graph=True) for name, type_, _, _ in kernels]
    captures = [one for launches, inputs in recorded for one in captures_like(tokens, launches, inputs)]
    streams = [stream for _, _, stream, _ in kernels]
    grids = [None if blocks is None else str(blocks) for *_, blocks in kernels]
    return best_capture(tokens, None if len(set(streams)) == 1 else streams, grids, captures)


def _places(fit: Aligned) -> dict[int, Known]:
    """Return what is known of each kernel of a graph by its position."""
    found: dict[int, Known] = {}
    for position, launched in enumerate(fit.positions):
        if launched is not None:
            place = fit.capture.launches[launched].place
            found[position] = Known("capture", "capture" if place.ranges else None, place)
    return found
