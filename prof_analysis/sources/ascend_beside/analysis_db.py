"""Reads analysis.db, which holds the same figures of communication and steps as the texts beside it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from prof_analysis.common.errors import InputError
from prof_analysis.engine.quotes import quote
from prof_analysis.sources.ascend_beside.matrix import totals_of
from prof_analysis.sources.ascend_beside.recorded_figures import BOUND_OF_TIMES, MB, MS, STEP_TIMES, TIMES, US, whole_of
from prof_analysis.sources.rank import number
from prof_analysis.sources.readers.sqlite_file import SqliteFile, open_sqlite, query

DATABASE = "analysis.db"
STEP_TABLE = "StepTraceTime"
_TABLES = ("CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix", STEP_TABLE)


def tables_with_rows(file: Path) -> set[str]:
    """Return which tables of an analysis.db have rows. Raises InputError where it cannot be read."""
    if not file.stat().st_size:
        raise InputError(f"{file}: is empty; copy it again", path=file)
    with open_sqlite(file, _TABLES) as database:
        return {table for table in database.tables if query(database, f"SELECT 1 FROM {table} LIMIT 1")}


def devices_of_database(file: Path) -> set[int]:
    """Return the devices whose steps an analysis.db reports. Raises InputError where it cannot be read."""
    with open_sqlite(file, (STEP_TABLE,)) as database:
        return _devices(database)


def _devices(database: SqliteFile) -> set[int]:
    """Return the devices whose steps a database reports."""
    return {device for row in _select(database, STEP_TABLE, ("deviceId",)) if (device := number(row[0])) is not None}


def rows_of_file(file: Path, name: str) -> list[tuple[Any, ...]]:
    """Return the rows of a raw table that an analysis.db holds. Raises InputError where it cannot be read."""
    with open_sqlite(file, _TABLES) as database:
        return list(_rows_of_database(database, name))


def _rows_of_database(database: SqliteFile, name: str) -> Iterator[tuple[Any, ...]]:
    if name != "raw.recorded_step" and len(_devices(database)) > 1:
        return  # Nothing says of which device an operator is.
    if name == "raw.recorded_communication":
        columns = ("hccl_op_name", "group_name", "step", "type", "start_timestamp", *TIMES.values())
        for row in _select(database, "CommAnalyzerTime", columns):
            yield *row[:4], whole_of(row[4], US, BOUND_OF_TIMES), *(whole_of(cell, MS) for cell in row[5:])
    elif name == "raw.recorded_transfer":
        columns = ("hccl_op_name", "group_name", "step", "transport_type", "transit_size", "transit_time")
        # A row is about one size of packets; size and time of the link are the same in all of these rows.
        for operator, group, step, link, *moved in _select(database, "CommAnalyzerBandwidth", columns):
            if link != "SDMA" and (size := whole_of(moved[0], MB)):
                yield operator, group, step, link, size, whole_of(moved[1], MS)
    elif name == "raw.recorded_link":
        columns = ("type", "hccl_op_name", "group_name", "step", "src_rank", "dst_rank", "transport_type", "transit_size",
                   "transit_time")  # fmt: skip
        rows = _select(database, "CommAnalyzerMatrix", columns)
        what_of = totals_of({str(row[1]) for row in rows})
        for kind, key, group, step, source, destination, link, *moved in rows:
            if what := what_of(str(key)):
                sizes = (whole_of(moved[0], MB), whole_of(moved[1], MS))
                yield kind, what, group, step, f"{source}-{destination}", link, *sizes
    elif name == "raw.recorded_step":
        figures = [head.replace("(not overlapped)", "_not_overlapped") for head in STEP_TIMES.values()]
        for row in _select(database, STEP_TABLE, ("deviceId", "step", *figures)):
            yield whole_of(row[0]), row[1], *(whole_of(cell, US) for cell in row[2:]), DATABASE


def _select(database: SqliteFile, table: str, columns: Iterable[str]) -> list[tuple[object, ...]]:
    """Return the cells of these columns; rows that are equal in all of them are repeats and count once."""
    known = database.tables.get(table, {})
    shown = ", ".join(quote(column) if column in known else "NULL" for column in columns)
    return list(dict.fromkeys(query(database, f"SELECT {shown} FROM {table} ORDER BY rowid"))) if known else []
