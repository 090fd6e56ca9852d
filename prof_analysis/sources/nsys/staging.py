"""Stages a database of Nsight Systems: makes the raw tables of the copied tables of the file."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import duckdb

from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import run
from prof_analysis.engine.tables import create_schemas, store_view
from prof_analysis.sources.nsys.copying import DOMAIN, OF_TABLE, copy_tables, parse_events, rows_of
from prof_analysis.sources.nsys.devices import homeless_pids, only_pid
from prof_analysis.sources.nsys.metrics import set_metrics
from prof_analysis.sources.nsys.payloads import payload_columns
from prof_analysis.sources.nsys.raw_tables import (
    CLOCKS,
    EVENT_TEXTS,
    KEYS,
    NVTX,
    PARTS,
    PAYLOADS,
    PLACES,
    RAW_COLUMNS,
    Part,
    Text,
)
from prof_analysis.sources.nsys.session import base_time, recording_of
from prof_analysis.sources.nsys.tables import ALLOCATIONS, FILE_TABLES, KERNELS, KNOWN_TABLES, RANGES, TEXTS
from prof_analysis.sources.readers.bounds import set_bounds
from prof_analysis.sources.readers.event_tables import begin_anew, have_equal_ids, stored
from prof_analysis.sources.readers.repeated import drop_repeated, remark_of, with_keys
from prof_analysis.sources.readers.sqlite_file import SqliteFile, open_sqlite, query
from prof_analysis.sources.remarks import Remark

_LACKING, _OF_RAW = OF_TABLE - 1, OF_TABLE + 1
_FILE_COLUMN = re.compile(r'\bpart\.(?:"(\w+)"|(\w+))')


def _expressions(part: Part, columns: Iterable[str]) -> list[str]:
    """Return the expressions of the rows of a part, and of the columns that are wanted."""
    found = [part.condition]
    for column in columns:
        if (one := part.columns.get(column)) is not None:
            found += [one.key, one.text] if isinstance(one, Text) else [one]
    return found


_OF_PARTS = (sql for its_parts in PARTS.values() for part in its_parts for sql in _expressions(part, part.columns))
_SQL = " ".join(["text_id()", *PLACES.values(), *NVTX.values(), *_OF_PARTS])


def stage(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Stage the wanted columns of the raw tables, of the device that the variable `device_id` names, or of the only one.

    `on_bytes` gets for each table of the file its part of the size. Returns remarks. Raises InputError when the file cannot be
    read.
    """
    (path,) = files
    wanted = with_keys(wanted, KEYS)
    create_macros(connection, _SQL)
    create_schemas(connection, wanted)
    with open_sqlite(path, KNOWN_TABLES) as file:
        for variable, value in {"base_time_ns": base_time(file), "only_pid": only_pid(file)}.items():
            connection.execute(f"SET VARIABLE {variable} = $value", {"value": value})
        set_metrics(connection, file, "raw.metric_sample" in wanted)
        parts = {name: [part for part in PARTS[name] if part.table in file.tables] for name in PARTS if name in wanted}
        of_events = (
            _used({sql for name in parts for part in parts[name] for sql in _expressions(part, wanted[name])}) & NVTX.keys()
        )
        columns = _file_columns(parts, wanted, of_events)
        if "payload" in of_events:
            columns[RANGES] -= PAYLOADS - payload_columns(file)
        remarks = copy_tables(connection, file, columns, threads, on_bytes)
        if RANGES in columns:
            parse_events(connection, file, columns[RANGES], of_events)
        texts: list[str] = []
        for name, its_parts in parts.items():
            remarks += _make(connection, file, name, its_parts, wanted[name], texts)
        if "raw.string" in wanted:
            found = " UNION ".join(["SELECT NULL::BIGINT AS text_id, NULL::VARCHAR AS text", *texts])
            connection.execute(f"CREATE TABLE {stored('raw.string')} AS FROM ({found}) WHERE text IS NOT NULL")
            store_view(connection, "raw.string", RAW_COLUMNS["raw.string"], ("text_id", "text"))
        for table in (*(f"file {table}" for table in columns if table != RANGES), *(f"texts {n}" for n in range(len(texts)))):
            connection.execute(f"DROP TABLE {stored(table)}")
        connection.execute("DROP TABLE stored.file_text; DROP TABLE IF EXISTS stored.nvtx")
        if "raw.string" in wanted and have_equal_ids(connection):
            begin_anew(connection)
            return stage(connection, files, wanted, threads, on_bytes)
        set_bounds(connection, recording_of(file), wanted, CLOCKS)
        begun = _begun_before(file) if "raw.memory_event" in wanted else ()
        return [*_lacking(file), *begun, *remarks]


def _lacking(file: SqliteFile) -> Iterable[Remark]:
    """Yield what the file lacks, or what is left out of it."""
    if homeless := homeless_pids(file):
        said = "1 process has" if len(homeless) == 1 else f"{len(homeless)} processes have"
        tables = ("raw.nvtx_op", "raw.nvtx_range", "raw.nvtx_mark", "raw.runtime_call")
        sentence = f"{file.path}: {said} calls or NVTX ranges and no work on a device: these are of no rank and left out"
        yield Remark((_LACKING, "", 0, 0), tables, sentence)
    if TEXTS not in file.tables:
        sentence = f"{file.path}: no {TEXTS} (its writer was cut off), so nothing has a name; export it again"
        yield Remark((_LACKING, "", 0, 1), tuple(PARTS), sentence)


def _begun_before(file: SqliteFile) -> Iterable[Remark]:
    """Yield that memory was allocated before the recording, where work ran before the first allocation."""
    if "start" in file.tables.get(ALLOCATIONS, {}) and "start" in file.tables.get(KERNELS, {}):
        first, of_kernels = (f"(SELECT min(start) FROM {table})" for table in (ALLOCATIONS, KERNELS))
        if query(file, f"SELECT {of_kernels} < {first}") == [(1,)]:
            sentence = (
                f"{file.path}: kernels ran before the first event of memory: what was allocated before the recording counts "
                "only where it was released in it"
            )
            yield Remark((_LACKING, "", 0, 2), ("raw.memory_event",), sentence)


def _used(expressions: Iterable[str]) -> set[str]:
    """Return the columns that expressions of `part` use."""
    return {quoted or plain for sql in expressions for quoted, plain in _FILE_COLUMN.findall(sql)}


def _file_columns(
    parts: Mapping[str, Sequence[Part]], wanted: Mapping[str, frozenset[str]], of_events: Iterable[str]
) -> dict[str, set[str]]:
    """Return the columns to read of each table of the file; `of_events` are the columns of NVTX that are made of them."""
    found: dict[str, set[str]] = {}
    for name, its_parts in parts.items():
        for part in its_parts:
            found.setdefault(part.table, set()).update(_used(_expressions(part, wanted[name])))
    if RANGES in found:
        made = " ".join(NVTX[column] for column in of_events)
        of_texts = (columns for text, columns in EVENT_TEXTS.items() if re.search(rf"\b{text}\b", made))
        found[RANGES] |= {*_used([made]), *chain(*of_texts)}
        found[RANGES] |= DOMAIN if "domain" in of_events else set()
    if any(columns & {"textId", "nameId", "demangledName"} for columns in found.values()):
        found[TEXTS] = set(FILE_TABLES[TEXTS])
    return {table: columns & FILE_TABLES[table].keys() for table, columns in found.items()}


def _make(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    name: str,
    parts: Sequence[Part],
    wanted: frozenset[str],
    texts: list[str],
) -> list[Remark]:
    """Make a raw table of its parts, each row once; add to `texts` the queries of the texts whose ids it has."""
    types = RAW_COLUMNS[name]
    columns = {column: type_ for column, type_ in types.items() if column in wanted}
    made = ", ".join(f"{quote(column)} {type_}" for column, type_ in columns.items()) or "nothing_read BIGINT"
    connection.execute(f"CREATE TABLE {stored(name)} ({made})")
    remarks: list[Remark] = []
    for part in parts:
        rows, joins, values = ("stored.nvtx" if part.table == RANGES else rows_of(file, part.table)), [], []
        for column in columns:
            one = part.columns.get(column, "NULL")
            if isinstance(one, Text):
                its_texts = stored(f"texts {len(texts)}")
                lookup = "LEFT JOIN stored.file_text AS recorded ON recorded.id = key" if one.is_id else ""
                run(
                    connection,
                    f"CREATE TABLE {its_texts} AS SELECT key, text_id({one.text}) AS text_id, {one.text} AS text FROM"
                    f" (SELECT DISTINCT {one.key} AS key FROM {rows} AS part WHERE {part.condition}) {lookup}",
                )
                joins.append(f"LEFT JOIN {its_texts} AS text_{len(texts)} ON text_{len(texts)}.key = {one.key}")
                values.append(f"text_{len(texts)}.text_id")
                if one.is_id:
                    remarks += _lost_names(connection, file, name, part, one, its_texts)
                texts.append(f"SELECT text_id, text FROM {its_texts}")
            else:
                values.append(one)
        selected = f"SELECT {', '.join(values) or 'NULL'} FROM {rows} AS part {' '.join(joins)} WHERE {part.condition}"
        run(connection, f"INSERT INTO {stored(name)} {selected}")
    repeated = drop_repeated(connection, name, KEYS[name], list(columns)) if name in KEYS else 0
    store_view(connection, name, types, columns)
    what = " and ".join(dict.fromkeys(part.table for part in parts))
    return [*remarks, *remark_of((name,), repeated, what, (_OF_RAW, name, 0, 0), file.path)]


def _lost_names(
    connection: duckdb.DuckDBPyConnection, file: SqliteFile, name: str, part: Part, text: Text, its_texts: str
) -> Iterable[Remark]:
    """Yield how many rows have the id of a text that the file lacks; nothing where it has no texts at all."""
    lost = f"SELECT key FROM {its_texts} WHERE text IS NULL AND key IS NOT NULL"
    if TEXTS in file.tables and run(connection, f"{lost} LIMIT 1").fetchall():
        rows = f"{rows_of(file, part.table)} AS part WHERE {text.key} IN ({lost})"
        ((count,),) = run(connection, f"SELECT count(*) FROM {rows}").fetchall()
        have = "rows have" if count > 1 else "row has"
        sentence = f"{file.path}: {count} {have.partition(' ')[0]} of {part.table} {have.partition(' ')[2]} no known name"
        yield Remark((OF_TABLE, part.table, 1, 0), (name,), f"{sentence}: {TEXTS} lacks the text", "name")
