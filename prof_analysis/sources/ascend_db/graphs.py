"""Finds the kernels of replayed graphs in a database, for the profiles of their captures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.sources.ascend_beside import replays
from prof_analysis.sources.ascend_db.tables import FORMER_NAMES, RAW_COLUMNS
from prof_analysis.sources.graphs.captured import Inputs, Launch
from prof_analysis.sources.graphs.eager import launches_of
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query
from prof_analysis.sources.remarks import Remark

_NO_MODEL = 4294967295
_READ = {
    "TASK": {"startNs", "endNs", "deviceId", "streamId", "taskId", "modelId", "globalTaskId"},
    "COMPUTE_TASK_INFO": {"globalTaskId", "name", "opType"},
    "STRING_IDS": {"id", "value"},
}
# Staging reads columns, and leaves no table with what all of these say.
_TASKS = f"""
    SELECT task.deviceId, task.modelId, task.streamId, task.taskId, task.startNs, task.endNs, name.value, type.value, {{blocks}}
    FROM TASK AS task
    JOIN COMPUTE_TASK_INFO AS info ON info.globalTaskId = task.globalTaskId
    LEFT JOIN STRING_IDS AS name ON name.id = info.name
    LEFT JOIN STRING_IDS AS type ON type.id = info.opType
    WHERE task.streamId IN (SELECT streamId FROM TASK WHERE modelId <> {_NO_MODEL})
"""
Stage = Callable[
    [duckdb.DuckDBPyConnection, Sequence[Path], Mapping[str, frozenset[str]], int, Callable[[int], None]], list[Remark]
]


def stage_replays(
    connection: duckdb.DuckDBPyConnection, file: SqliteFile, captures: Sequence[Path], stage: Stage, order: tuple[int, str, int]
) -> list[Remark]:
    """Stage the ops and modules of the replayed graphs in a database from those of captures, which `stage` reads."""
    tasks = _tasks_of(file)
    if not tasks:
        return []

    def read(
        path: Path, variables: Mapping[str, Any], settings: Mapping[str, str]
    ) -> tuple[list[Launch], dict[object, Inputs]]:
        def stage_capture(capture: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]]) -> None:
            stage(capture, (path,), wanted, 1, lambda _: None)

        return launches_of("ascend_db", RAW_COLUMNS, stage_capture, variables, settings, 1)

    return replays.stage_replays(connection, captures, tasks, read, order, by_number=True)


def _tasks_of(file: SqliteFile) -> list[replays.Task]:
    """Return the compute kernels on the streams of graphs."""
    if not all(columns <= file.tables.get(table, {}).keys() for table, columns in _READ.items()):
        return []
    known = file.tables["COMPUTE_TASK_INFO"]
    blocks = next((f"info.{name}" for name in ("blockNum", FORMER_NAMES["blockNum"]) if name in known), "NULL")
    return list(replays.tasks_of(query(file, _TASKS.format(blocks=blocks)), no_model=_NO_MODEL))
