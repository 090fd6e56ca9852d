"""Stages the figures that the profiler itself computed for a rank: communication, steps and kernel types; and its groups.

These files lie next to the databases and the text exports, and can be all that is left of a rank: communication.json,
communication_matrix.json, step_trace_time.csv and profiler_metadata.json; or analysis.db, which holds the same, and is read
where the others hold nothing; and op_statistic.csv. A value that a file lacks, or holds in another form, is NULL.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.common.input_files import COMMUNICATION_BYTES, FIGURES_BYTES, whole
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import store_view
from prof_analysis.sources.ascend_beside import input_pipeline
from prof_analysis.sources.ascend_beside.analysis_db import (
    DATABASE,
    STEP_TABLE,
    devices_of_database,
    rows_of_file,
    tables_with_rows,
)
from prof_analysis.sources.ascend_beside.matrix import totals_of
from prof_analysis.sources.ascend_beside.recorded_figures import BOUND_OF_TIMES, KIB, MB, MS, STEP_TIMES, TIMES, US, whole_of
from prof_analysis.sources.rank import json_object, number
from prof_analysis.sources.readers.csv_file import copy_columns
from prof_analysis.sources.readers.csv_numbers import notation_of
from prof_analysis.sources.remarks import Remark

_I = "BIGINT"
_T = "VARCHAR"

_CALL_TIMES = {"call_count": "count", "total_ns": "time(us)", "min_ns": "min(us)", "max_ns": "max(us)"}
_KERNEL_TIMES = {"kernel_count": "count", "total_ns": "total time(us)", "min_ns": "min time(us)", "max_ns": "max time(us)"}

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "raw.recorded_communication": {"name": _T, "group_name": _T, "step": _T, "kind": _T, "start_ns": _I,
                                   **dict.fromkeys(TIMES, _I)},
    "raw.recorded_transfer": {"name": _T, "group_name": _T, "step": _T, "link": _T, "size_bytes": _I, "duration_ns": _I},
    "raw.recorded_link": {"kind": _T, "type": _T, "group_name": _T, "step": _T, "pair": _T, "link": _T, "size_bytes": _I,
                          "duration_ns": _I},
    "raw.recorded_step": {"device_id": _I, "step": _T, **dict.fromkeys(STEP_TIMES, _I), "file": _T},
    "raw.recorded_kernel_type": {"device_id": _I, "type": _T, "core": _T, **dict.fromkeys(_KERNEL_TIMES, _I)},
    "raw.recorded_host_call": {"device_id": _I, "level": _T, "name": _T, **dict.fromkeys(_CALL_TIMES, _I)},
    "raw.recorded_static_memory": {"device_id": _I, "op": _T, "model": _T, "graph_id": _I, "first_node": _I, "last_node": _I,
                                   "size_bytes": _I},
    "raw.metadata": {"name": _T, "value": _T},
    **input_pipeline.COLUMNS,
}  # fmt: skip

_DATABASE_OF_MINDSPORE = "communication_analyzer.db"
COMMUNICATION = "communication.json"
MATRIX = "communication_matrix.json"
STEPS = "step_trace_time.csv"
KERNELS = "op_statistic.csv"
CALLS = "api_statistic.csv"
STATIC = "static_op_mem.csv"  # memory of compiled graphs
METADATA = "profiler_metadata.json"
SUMS = (KERNELS, CALLS)
TEXTS = (MATRIX, STEPS, *SUMS, STATIC, METADATA, *input_pipeline.FILES)  # the others are next to communication.json

_KINDS = ("p2p", "collective")
_TOTAL_OF_ALL = re.compile(r"(?i)total")
# Files that are read only for tables that no file before them holds.
_INSTEAD = (*input_pipeline.FILES, DATABASE)
SETTINGS = "ENV_VARIABLES"
_METADATA = (
    "parallel_group_info",
    "distributed_args",
    SETTINGS,
)  # Others may hold private values; of these, trace.* keeps a few.


def role_of(file: Path) -> str:
    """Return the name that torch_npu gives to a file of this kind: others put the time or the rank into some names."""
    if file.name == _DATABASE_OF_MINDSPORE:
        return DATABASE
    match = re.fullmatch(r"(op_statistic|api_statistic|static_op_mem)(_.*)?\.csv", file.name)
    return f"{match[1]}.csv" if match else input_pipeline.role_of(file) or file.name


def is_recorded(file: Path) -> bool:
    """Return whether only this module reads a file, by its name."""
    return role_of(file) in (*TEXTS, DATABASE)


def has_settings(file: Path) -> bool:
    """Return whether a file is the metadata of the profiler and holds environment variables of the run."""
    return file.name == METADATA and isinstance(json_object(file).get(SETTINGS), dict)


def in_databases(files: Iterable[Path]) -> set[str]:
    """Return which tables have rows that tell of one device in an analysis.db among the files; none where it cannot be read."""
    found: set[str] = set()
    for file in files:
        if role_of(file) == DATABASE:
            with suppress(InputError):  # Staging reports what cannot be read.
                rows = tables_with_rows(file)
                found |= rows & {STEP_TABLE} if len(devices_of_database(file)) > 1 else rows
    return found


def devices_of_figures(files: Iterable[Path]) -> list[int]:
    """Return the devices that a step_trace_time.csv or op_statistic.csv, or after these an analysis.db, reports, in order."""
    found: set[int] = set()
    for file in files:
        with suppress(InputError, OSError, csv.Error):  # Staging reports what cannot be read.
            if role_of(file) in (STEPS, KERNELS):
                lines = io.StringIO(whole(file, FIGURES_BYTES).decode("utf-8-sig", "replace"), newline="")
                rows = ({str(head).strip().lower(): cell for head, cell in row.items()} for row in csv.DictReader(lines))
                found.update(device for row in rows if (device := number(str(row.get("device_id")).strip())) is not None)
            elif role_of(file) == DATABASE and not found:
                found.update(devices_of_database(file))
    return sorted(found)


def stage_recorded(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], wanted: Mapping[str, frozenset[str]], group: int
) -> list[Remark]:
    """Stage the wanted tables of COLUMNS from the files that hold them. Returns remarks about what cannot be read.

    The database holds the same as the texts, so it is read only for tables that these do not hold. `group` orders the remarks.
    """
    remarks: list[Remark] = []
    for name in sorted(wanted.keys() & COLUMNS.keys()):
        rows: list[tuple[Any, ...]] = []
        for place, file in enumerate(sorted(files, key=_order)):
            if rows and role_of(file) in _INSTEAD:
                continue
            try:
                read = _rows(connection, file, name)
                rows += read
                found = _of_untimed_operators(file, name, read) + input_pipeline.said_of_cut(file, name)
            except (InputError, OSError, ValueError, ArithmeticError, RecursionError, AttributeError, TypeError) as error:
                reason = str(error) if isinstance(error, InputError) else f"{file}: cannot be read ({reason_of(error)})"
                what = "the input pipeline" if input_pipeline.role_of(file) else "communication and steps"
                found = [f"{reason}; its figures of {what} are left out"]
            remarks += [Remark((group, name, place, 0), (name,), sentence) for sentence in found]
        _store(connection, name, rows)
    return remarks


def _order(file: Path) -> int:
    """Return the place of a file among those that hold the same, of which the first with rows is read."""
    role = role_of(file)
    return _INSTEAD.index(role) + 1 if role in _INSTEAD else 0


def _of_untimed_operators(file: Path, name: str, rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """Warn of the communication operators of a file whose time is not a number."""
    if name != "raw.recorded_communication":
        return []
    index = list(COLUMNS[name]).index("elapse_ns")
    count = sum(row[index] is None for row in rows)
    what = f"{file}: no time that is a number in {count} of {len(rows)} communication operators"
    return [f"{what}; where no kernel shows them, they are left out"] if count else []


def _rows(connection: duckdb.DuckDBPyConnection, file: Path, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of a raw table that a file holds."""
    if role_of(file) == DATABASE:
        return rows_of_file(file, name)
    if input_pipeline.role_of(file):
        return list(input_pipeline.rows_of(file, name))
    if (file.name, name) in _ENTRIES:
        # Numbers stay texts until they are used: one out of all bounds then loses only its own figure.
        text = whole(file, COMMUNICATION_BYTES).decode("utf-8", "replace")
        entries = json.loads(text, parse_float=str, parse_int=str)
        return list(_ENTRIES[file.name, name](entries))
    if (role_of(file), name) in _OF_CSV:
        return _OF_CSV[role_of(file), name](connection, file)
    if (file.name, name) == (METADATA, "raw.metadata"):
        content = json_object(file)
        return [(key, json.dumps(content[key])) for key in _METADATA if key in content]
    return []


def _entries(steps: Any) -> Iterator[tuple[str, str, str, str | None, Any]]:
    """Yield the entries of a communication file: step, kind, the name before the @, the group after it, and the entry.

    A name without @ has no group; of these, only those of operators count, not the totals of all (Total Op Info).
    """
    for step, kinds in steps.items():
        for kind in _KINDS:
            for key, entry in kinds.get(kind, {}).items():
                name, is_named, group = key.rpartition("@")
                if is_named or not _TOTAL_OF_ALL.match(group):
                    yield step, kind, name or group, group if is_named else None, entry


def _operators(steps: Any) -> Iterator[tuple[Any, ...]]:
    for step, kind, name, group, entry in _entries(steps):
        times = entry.get("Communication Time Info", {})
        heads = (f"{column.removesuffix('_ns').capitalize()} Time(ms)" for column in TIMES)
        start = whole_of(times.get("Start Timestamp(us)"), US, BOUND_OF_TIMES)
        yield name, group, step, kind, start, *(whole_of(times.get(head), MS) for head in heads)


def _transfers(steps: Any) -> Iterator[tuple[Any, ...]]:
    for step, _, name, group, entry in _entries(steps):
        for link, moved in entry.get("Communication Bandwidth Info", {}).items():
            size, duration = (
                whole_of(moved.get("Transit Size(MB)"), MB),
                whole_of(moved.get("Transit Time(ms)"), MS),
            )
            if link != "SDMA" and size:  # SDMA is the sum of all others except RDMA.
                yield name, group, step, link, size, duration


def _links(steps: Any) -> Iterator[tuple[Any, ...]]:
    entries = list(_entries(steps))
    what_of = totals_of({key for _, _, key, _, _ in entries})
    for step, kind, key, group, pairs in entries:
        if what := what_of(key):
            for pair, moved in pairs.items():
                size, duration = (
                    whole_of(moved.get("Transit Size(MB)"), MB),
                    whole_of(moved.get("Transit Time(ms)"), MS),
                )
                yield kind, what, group, step, pair, moved.get("Transport Type"), size, duration


_ENTRIES: Mapping[tuple[str, str], Callable[[Any], Iterator[tuple[Any, ...]]]] = {
    (COMMUNICATION, "raw.recorded_communication"): _operators,
    (COMMUNICATION, "raw.recorded_transfer"): _transfers,
    (MATRIX, "raw.recorded_link"): _links,
}


def _steps(connection: duckdb.DuckDBPyConnection, file: Path) -> list[tuple[Any, ...]]:
    rows = _cells(connection, file, {"device_id": "device_id", "step": "step"}, STEP_TIMES)
    return [(whole_of(row[0]), row[1], *(whole_of(cell, US) for cell in row[2:]), STEPS) for row in rows]


def _kernels(connection: duckdb.DuckDBPyConnection, file: Path) -> list[tuple[Any, ...]]:
    rows = _cells(connection, file, {"device_id": "device_id", "type": "op type", "core": "core type"}, _KERNEL_TIMES)
    return [(whole_of(row[0]), *row[1:3], whole_of(row[3]), *(whole_of(cell, US) for cell in row[4:])) for row in rows]


def _calls(connection: duckdb.DuckDBPyConnection, file: Path) -> list[tuple[Any, ...]]:
    rows = _cells(connection, file, {"device_id": "device_id", "level": "level", "name": "api name"}, _CALL_TIMES)
    return [(number(row[0]), *row[1:3], whole_of(row[3]), *(whole_of(cell, US) for cell in row[4:])) for row in rows]


def _static_memory(connection: duckdb.DuckDBPyConnection, file: Path) -> list[tuple[Any, ...]]:
    texts = {"device_id": "device_id", "op": "op name", "model": "model name"}
    numbers = {"graph_id": "graph id", "first_node": "node index start", "last_node": "node index end", "size_kib": "size(kb)"}
    rows = _cells(connection, file, texts, numbers)
    return [(number(row[0]), *row[1:3], *map(whole_of, row[3:6]), whole_of(row[6], KIB)) for row in rows]


_OF_CSV: Mapping[tuple[str, str], Callable[[duckdb.DuckDBPyConnection, Path], list[tuple[Any, ...]]]] = {
    (STEPS, "raw.recorded_step"): _steps,
    (KERNELS, "raw.recorded_kernel_type"): _kernels,
    (CALLS, "raw.recorded_host_call"): _calls,
    (STATIC, "raw.recorded_static_memory"): _static_memory,
}


def _cells(
    connection: duckdb.DuckDBPyConnection, file: Path, texts: Mapping[str, str], numbers: Mapping[str, str]
) -> list[tuple[Any, ...]]:
    """Return the cells of a CSV file: texts, then numbers in a notation that Decimal reads."""
    copy_columns(connection, file, {column: (head,) for column, head in {**texts, **numbers}.items()}, "stored.recorded_cell")
    notation = notation_of(connection, "stored.recorded_cell", numbers)
    cells = ", ".join([*texts, *(notation.number(column) for column in numbers)])
    rows = connection.execute(f"SELECT {cells} FROM stored.recorded_cell ORDER BY row_number").fetchall()
    connection.execute("DROP TABLE stored.recorded_cell")
    return rows


def _store(connection: duckdb.DuckDBPyConnection, name: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Store rows. Each column passes as one JSON text: Arrow would cost a small profile a third of its time for imports."""
    types = COLUMNS[name]
    cells = ", ".join(f"unnest(from_json(?, '[\"{type_}\"]')) AS {quote(column)}" for column, type_ in types.items())
    values = [
        json.dumps([_text(row[index]) if type_ == _T else row[index] for row in rows])
        for index, type_ in enumerate(types.values())
    ]
    connection.execute(f"CREATE TABLE stored.{quote(name)} AS SELECT {cells}", values)
    store_view(connection, name, types, types)


def _text(value: object) -> str | None:
    """Return a text without lone surrogates, which are not UTF-8."""
    return None if value is None else str(value).encode("utf-8", "replace").decode("utf-8")
