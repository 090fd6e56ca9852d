"""Stages a trace of Kineto. The id of a text is a hash, so all texts of a profile are checked to have different ids."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb

from prof_analysis.common.errors import InputError
from prof_analysis.engine.database import connect
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.tables import create_schemas
from prof_analysis.sources.graphs.captured import Capture
from prof_analysis.sources.kineto import captures, replays
from prof_analysis.sources.kineto import columns as kineto_columns
from prof_analysis.sources.kineto.annotations import is_of_annotations, read_annotations
from prof_analysis.sources.kineto.around import JOB, around_events, parsed, purpose_of_group, time_base
from prof_analysis.sources.kineto.links import link_by_external_ids, with_external_ids
from prof_analysis.sources.rank import number
from prof_analysis.sources.readers.bounds import Recording, known_recording, set_bounds
from prof_analysis.sources.readers.event_tables import (
    CALLED,
    ID,
    EventTables,
    begin_anew,
    create_raw_tables,
    have_equal_ids,
    stored,
)
from prof_analysis.sources.readers.repeated import drop_repeated, remark_of, with_keys
from prof_analysis.sources.remarks import Remark

RAW_COLUMNS: Mapping[str, Mapping[str, str]] = {
    name: {column: "BIGINT" if type_ == ID else type_ for column, type_ in columns.items()}
    for name, columns in kineto_columns.TABLES.items()
}
_EVENTS = EventTables(
    kineto_columns.EVENT,
    kineto_columns.ARGUMENTS,
    kineto_columns.BLOCK,
    kineto_columns.EVENTS,
    kineto_columns.NAMES,
    kineto_columns.FREQUENT,
    kineto_columns.RENAMED,
)
_OF_FILE, _REPEATED, _OF_REPLAYS = range(3)


# What staging calls: the expressions of columns, names of replayed ops, and ids of texts. To create all macros takes 50 ms.
_SQL = f"{kineto_columns.BLOCK} {kineto_columns.EVENTS} {CALLED} thread_id() domain_of_annotation() name_in_domain()"


def stage(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Stage the wanted columns of the raw tables from a trace. `on_bytes` gets the size of each piece of it as it is read.

    Returns remarks. Raises InputError when the file cannot be read.
    """
    file, *companions = files
    create_macros(connection, _SQL)
    wanted = with_keys(wanted, kineto_columns.KEYS)
    needs_replays = bool(wanted.keys() & kineto_columns.REPLAYED.keys())
    if needs_replays:
        wanted = {
            name: wanted.get(name, frozenset()) | replays.NEEDS.get(name, frozenset()) for name in {*wanted, *replays.NEEDS}
        }
    if any(name in wanted for tables in kineto_columns.CLOCKS.values() for name in tables):
        wanted = {**wanted, kineto_columns.RECORDING: frozenset(RAW_COLUMNS[kineto_columns.RECORDING])}
    wanted = with_external_ids(wanted)
    create_schemas(connection, wanted)
    create_raw_tables(connection, wanted, RAW_COLUMNS)
    around = around_events(file)
    connection.execute("SET VARIABLE base_time_ns = $base", {"base": time_base(around)})
    _stage_around(connection, around, wanted)
    texts_lock = Lock() if "raw.string" in wanted else None
    lost = _EVENTS.stage(connection, file, wanted, texts_lock, threads, on_bytes)
    link_by_external_ids(connection, wanted)
    remarks = [Remark((_OF_FILE, "", 0, 0), tuple(kineto_columns.EVENTS), sentence) for sentence in lost]
    for name in wanted.keys() & kineto_columns.KEYS.keys():
        count = drop_repeated(connection, name, kineto_columns.KEYS[name], wanted[name])
        remarks += remark_of((name,), count, "the trace", (_REPEATED, name, 0, 0), file)
    if needs_replays:
        remarks += _stage_replays(connection, file, companions, wanted, threads, on_bytes)
    if texts_lock and have_equal_ids(connection):
        begin_anew(connection)
        return stage(connection, files, wanted, threads, on_bytes)
    if kineto_columns.RECORDING in wanted:
        set_bounds(connection, _recording_of(connection), wanted, kineto_columns.CLOCKS)
        connection.execute(f"DROP TABLE {stored(kineto_columns.RECORDING)} CASCADE")
    return remarks


def _recording_of(connection: duckdb.DuckDBPyConnection) -> Recording | None:
    """Return the time that was recorded, by the profiler's own events; None where it has none."""
    moments = f"SELECT min(start_ns), max(end_ns) FROM {stored(kineto_columns.RECORDING)} WHERE end_ns >= start_ns"
    return known_recording(*connection.execute(moments).fetchall()[0])


def _stage_replays(
    connection: duckdb.DuckDBPyConnection,
    file: Path,
    companions: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Stage the ops and modules of replayed graphs, from the files beside a trace and from captures in the trace itself."""
    if not replays.has_replays(connection):
        return []
    annotations, problems = read_annotations([one for one in companions if is_of_annotations(one)])
    ((memory, folder),) = connection.execute(
        "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
    ).fetchall()
    settings = {"memory_limit": memory, "temp_directory": folder}
    recorded: list[Capture] = []
    for companion in (one for one in companions if not is_of_annotations(one)):
        found, problem = _captures_of(companion, settings, threads, on_bytes)
        recorded += found
        problems += problem
    if replays.holds_captures(connection):
        recorded += _captures_of(file, settings, threads, lambda _: None)[0]
    fits = replays.stage_replays(connection, wanted, annotations, recorded)
    if recorded and fits.unfit:
        problems.append(
            f"{file}: {fits.unfit} of {fits.graphs} replayed graphs fit none of {len(recorded)} captures, since the numbers, "
            "names or order of their kernels differ, or several captures fit and name other ops or modules"
        )
    if fits.unknown and not recorded:
        problems.append(
            f"{file}: of {fits.unknown} replayed graphs only the launch is known, which counts as the op of their "
            "kernels; give a recording of the capture (--capture)"
        )
    if fits.unnamed:
        problems.append(
            f"{file}: {fits.unnamed} of {fits.graphs} replayed graphs got the ops of their captures by the number and order of "
            "kernels alone, since the captures have no names of kernels; record the warm-up before each capture too"
        )
    return [Remark((_OF_REPLAYS, sentence, 0, 0), tuple(kineto_columns.REPLAYED), sentence) for sentence in problems]


def _captures_of(
    file: Path, settings: Mapping[str, str], threads: int, on_bytes: Callable[[int], None]
) -> tuple[list[Capture], list[str]]:
    """Return the captures in a trace, or the reason for their absence; the trace has a database of its own meanwhile."""
    with closing(connect({"base_time_ns": 0}, threads, macros=False)) as connection:
        create_macros(connection, _SQL)
        for setting, value in settings.items():
            connection.execute(f"SET {setting} = $value", {"value": value})
        create_schemas(connection, captures.NEEDS)
        create_raw_tables(connection, captures.NEEDS, RAW_COLUMNS)
        try:
            _EVENTS.stage(connection, file, captures.NEEDS, Lock(), threads, on_bytes)
        except InputError as error:
            return [], [f"{error}; this capture is left out"]
        found = captures.captures_of(connection)
    return found, [] if found else [
        f"{file}: holds no capture of a graph, from a call of StreamBeginCapture to StreamEndCapture"
    ]


def _stage_around(
    connection: duckdb.DuckDBPyConnection, around: Mapping[str, Any], wanted: Mapping[str, frozenset[str]]
) -> None:
    """Stage devices and process groups of the file, these in the form in which torch_npu writes them."""
    rows: dict[str, list[dict[str, Any]]] = {
        "raw.device": [
            {
                "device_id": one.get("id"),
                "name": one.get("name") or None,
                "core_count": one.get("numSms"),
                "memory_bytes": one.get("totalGlobalMem"),
                "compute_major": one.get("computeMajor"),
            }
            for one in _objects(around.get("deviceProperties"))
        ],
        "raw.metadata": [
            {"name": "parallel_group_info", "value": json.dumps(groups_of(around))},
            {"name": "distributed_args", "value": json.dumps(_size_of_job(around))},
        ],
    }
    for name in wanted.keys() & rows.keys():
        for row in rows[name]:
            values = {c: row[c] for c in RAW_COLUMNS[name] if c in wanted[name]} or {"nothing_read": None}
            casts = ", ".join(f"TRY_CAST(${c} AS {RAW_COLUMNS[name].get(c, 'BIGINT')})" for c in values)
            connection.execute(f"INSERT INTO {stored(name)} SELECT {casts}", values)


def groups_of(around: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the process groups that a file names: the purpose of each, its ranks, and the position of the own rank."""
    job = around.get(JOB)
    if not isinstance(job, dict):
        return {}
    found: dict[str, dict[str, Any]] = {}
    for one in _objects(job.get("pg_config")):
        ranks = parsed(one.get("ranks"))  # A text in traces on demand.
        if isinstance(ranks, list) and all(isinstance(one_rank, int) for one_rank in ranks):
            position = ranks.index(rank) if (rank := number(job.get("rank"))) in ranks else None
            label = purpose_of_group(one.get("pg_desc"))
            found[str(one.get("pg_name"))] = {"group_name": label, "group_rank": position, "global_ranks": ranks}
    return found


def _size_of_job(around: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of ranks of the job, as torch_npu writes it, where the file says it."""
    job = around.get(JOB)
    size = number(job.get("world_size")) if isinstance(job, dict) else None
    return {} if size is None else {"world_size": size}


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
