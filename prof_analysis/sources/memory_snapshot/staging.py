"""Stages a memory snapshot: each of its lists is a raw table, with the names of the file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import create_schemas, store_view
from prof_analysis.sources.memory_snapshot import beside
from prof_analysis.sources.memory_snapshot.reading import LACKING, read, table_of, texts_of
from prof_analysis.sources.memory_snapshot.unpickling import COLUMNS, TEXTS
from prof_analysis.sources.readers.event_tables import stored
from prof_analysis.sources.remarks import Remark

# Raw table -> the list of the snapshot that it holds. Column "number" is the place in that list.
_LISTS: Mapping[str, str] = {f"raw.snapshot_{table}": table for table in COLUMNS}
RAW_COLUMNS: Mapping[str, Mapping[str, str]] = {
    **{
        name: {"number": "BIGINT", **{column: "VARCHAR" if column in TEXTS else "BIGINT" for column in COLUMNS[table]}}
        for name, table in _LISTS.items()
    },
    **beside.COLUMNS,
}


def stage(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Stage the wanted columns of the raw tables from a snapshot, and from the files of the profile beside it.

    Returns remarks. Raises InputError where a file cannot be read.
    """
    file, *others = files
    create_macros(connection, "")
    create_schemas(connection, wanted)
    ((spill,),) = connection.execute("SELECT current_setting('temp_directory')").fetchall()
    with temporary_folder(Path(spill) if spill and Path(spill).is_dir() else None) as folder:
        found = read(file, folder)
        texts = texts_of(folder)
        for name, columns in ((name, columns) for name, columns in wanted.items() if name in _LISTS):
            rows = table_of(folder, _LISTS[name], texts)
            kept = [column for column in RAW_COLUMNS[name] if column in columns]
            chosen = ", ".join(f"{quote(column)}::{RAW_COLUMNS[name][column]} AS {quote(column)}" for column in kept)
            connection.register("_rows", rows)
            try:
                connection.execute(
                    f"CREATE TABLE {stored(name)} AS SELECT {chosen or 'NULL::BIGINT AS nothing_read'} FROM _rows"
                )
            finally:
                connection.unregister("_rows")
            store_view(connection, name, RAW_COLUMNS[name], columns)
    on_bytes(file.stat().st_size)
    of_profile = {name: columns for name, columns in wanted.items() if name in beside.COLUMNS}
    remarks = beside.stage_beside(connection, others, of_profile, threads, on_bytes) if of_profile else []
    return [*remarks, *_remarks(file, found)]


def _remarks(file: Path, found: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield what a snapshot lacks, and how much of it is damaged."""
    for number, (key, why) in enumerate(LACKING.items()):
        if not found[key]:
            yield Remark((number, "", 0, 0), tuple(_LISTS), f"{file}: {why}")
    if found["damaged"]:
        one = f"{file}: 1 entry of the snapshot describes no memory and is left out"
        many = (f"{file}: ", " entries of the snapshot describe no memory and are left out")
        yield Remark((len(LACKING), "", 0, 0), tuple(_LISTS), one, many=many, count=found["damaged"])
