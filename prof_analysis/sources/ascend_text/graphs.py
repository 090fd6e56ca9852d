"""Finds the kernels of replayed graphs in kernel_details.csv, for the profiles of their captures."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.sources.ascend_beside import folders, replays
from prof_analysis.sources.graphs.captured import Inputs, Launch
from prof_analysis.sources.graphs.eager import launches_of
from prof_analysis.sources.remarks import Remark

_NO_MODEL = 4294967295
# What is read of the raw tables.
NEEDS: Mapping[str, frozenset[str]] = {
    "raw.string": frozenset(("text_id", "text")),
    "raw.kernel_detail": frozenset(
        ("start_ns", "duration_ns", "name", "type", "device_id", "model_id", "stream_id", "task_id", "block_num")
    ),
}
_TASKS = f"""
    SELECT DISTINCT detail.device_id, detail.model_id, detail.stream_id, detail.task_id, detail.start_ns,
           TRY(detail.start_ns + detail.duration_ns), name.text, type.text, detail.block_num
    FROM raw.kernel_detail AS detail
    LEFT JOIN raw.string AS name ON name.text_id = detail.name
    LEFT JOIN raw.string AS type ON type.text_id = detail.type
    WHERE detail.stream_id IN (SELECT stream_id FROM raw.kernel_detail WHERE model_id <> {_NO_MODEL})
"""
Stage = Callable[
    [duckdb.DuckDBPyConnection, Sequence[Path], Mapping[str, frozenset[str]], int, Callable[[int], None]], list[Remark]
]


def stage_replays(
    connection: duckdb.DuckDBPyConnection,
    captures: Sequence[Path],
    stage: Stage,
    raw_columns: Mapping[str, Mapping[str, str]],
    order: tuple[int, str, int],
) -> list[Remark]:
    """Stage the ops and modules of the replayed graphs of a rank from those of captures, which `stage` reads."""

    def read(
        trace: Path, variables: Mapping[str, Any], settings: Mapping[str, str]
    ) -> tuple[list[Launch], dict[object, Inputs]]:
        files = [one for one in (trace, trace.with_name(folders.KERNEL_DETAILS)) if one.is_file()]

        def stage_capture(capture: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]]) -> None:
            stage(capture, files, wanted, 1, lambda _: None)

        return launches_of("ascend_text", raw_columns, stage_capture, variables, settings, 1)

    tasks = replays.tasks_of(connection.execute(_TASKS).fetchall(), no_model=_NO_MODEL)
    return replays.stage_replays(connection, captures, tasks, read, order, by_number=False)
