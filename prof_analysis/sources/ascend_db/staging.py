"""Stages the tables of a profiler database: several at a time, each row once, and equal texts with the same id."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from queue import SimpleQueue

import duckdb

from prof_analysis.engine.database import cursor_of
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.statements import run
from prof_analysis.engine.tables import create_schemas, store_view
from prof_analysis.sources.ascend_beside import device_info, folders, profiler_info, recorded, replays
from prof_analysis.sources.ascend_db import chains, graphs, queue_threads
from prof_analysis.sources.ascend_db.lost_kernels import TASKS, said_of_lost_kernels
from prof_analysis.sources.ascend_db.rows import cells_of, rows_of
from prof_analysis.sources.ascend_db.tables import (
    CHAINS,
    CLOCKS,
    COUNTERS,
    DESCRIPTIONS,
    FEW_LINKS,
    FRAMES,
    KEYS,
    KNOWN_TABLES,
    LINKS,
    ONCE_EACH,
    OP_ROWS,
    TABLES,
    gaps,
)
from prof_analysis.sources.ascend_db.texts import lost_texts, merge_texts, number_texts
from prof_analysis.sources.readers.bounds import Recording, known_recording, set_bounds
from prof_analysis.sources.readers.repeated import drop_repeated, may_repeat, remark_of, with_keys
from prof_analysis.sources.readers.sqlite_cell import Cell
from prof_analysis.sources.readers.sqlite_file import SqliteFile, copy_table, open_sqlite, query
from prof_analysis.sources.readers.sqlite_ranges import ranges_of, rows_by_id
from prof_analysis.sources.remarks import Remark

# Warnings are in this order: what the database lacks, what its tables hold, one by one and together, and what lies beside it.
_LACKING, _OF_TABLE, _OF_BOTH, _BESIDE = range(4)
# Called with a raw table and the share of it that was read since the last call.
OnShare = Callable[[str, Fraction], None]


def stage(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Stage the wanted columns of the raw tables in DuckDB, from one database, several tables at a time.

    `on_bytes` gets for each table its part of the size of the input. Returns remarks. Raises InputError when it
    cannot be read.
    """
    path, *captures = (file for file in files if not device_info.is_device_info(file) and not recorded.is_recorded(file))
    create_schemas(connection, wanted)
    has_replays = replays.create_tables(connection, wanted, has_captures=bool(captures))
    if device_info.TABLE in wanted:
        device_info.stage_device_info(connection, files)
    beside = [file for file in files if recorded.is_recorded(file)]
    of_recorded = {name: columns for name, columns in wanted.items() if name not in TABLES and name not in replays.COLUMNS}
    lost = recorded.stage_recorded(connection, beside, of_recorded, _BESIDE)
    wanted = with_keys({name: columns for name, columns in wanted.items() if name in TABLES}, KEYS)
    if CHAINS in wanted:
        wanted[FRAMES] = frozenset(TABLES[FRAMES][1])
    if not wanted and not has_replays:
        on_bytes(sum(one.stat().st_size for one in files))
        return lost
    cursors: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for _ in range(threads):
        cursors.put(connection if threads == 1 else cursor_of(connection))
    with open_sqlite(path, KNOWN_TABLES) as file:
        with_ops = {OP_ROWS, ONCE_EACH} if wanted.keys() >= {OP_ROWS, ONCE_EACH} else set()
        names = [name for name in TABLES if name in wanted and name not in with_ops - {OP_ROWS} and name != CHAINS]
        sizes = _sizes(file, {name: len(wanted[name]) for name in names}, sum(one.stat().st_size for one in files))

        def stage_one(name: str) -> list[Remark]:
            cursor = cursors.get()
            try:
                if name in with_ops:
                    return _stage_ops(cursor, file, wanted, threads, on_share)
                if name == FRAMES:
                    return _stage_chains(cursor, file, threads, on_share)
                return _stage_table(cursor, file, name, wanted[name], threads, on_share)
            finally:
                cursors.put(cursor)

        def on_share(name: str, share: Fraction) -> None:
            on_bytes(int(sizes.get(name, 0) * share))

        with ThreadPoolExecutor(threads) as pool:
            remarks = [remark for table in pool.map(stage_one, names) for remark in table]
        if wanted.keys() >= set(DESCRIPTIONS):
            remarks += _describe_once(connection, file)
        if "globalTaskId" in wanted.get(TASKS, ()) and (said := said_of_lost_kernels(connection, file)):
            remarks.append(Remark((_OF_TABLE, TASKS, 4, 0), (TASKS,), said))
        if wanted.get("raw.string_ids") and "STRING_IDS" in file.tables:
            remarks += [_remark_of_lost_texts(file, *lost_text) for lost_text in lost_texts(connection, wanted)]
            number_texts(connection)
        merge_texts(connection, wanted)
        if has_replays:
            lost += graphs.stage_replays(connection, file, captures, stage, (_BESIDE, "captures", 0))
        set_bounds(connection, _recording_of(file), wanted, CLOCKS)
        lacking = [
            Remark((_LACKING, "", 0, number), tuple(TABLES), f"{path}: {gap}") for number, gap in enumerate(gaps(file.tables))
        ]
        return [*lacking, *remarks, *lost]


def _remark_of_lost_texts(file: SqliteFile, name: str, column: str, count: int) -> Remark:
    table = TABLES[name][0]
    rows = f"{count} rows of {table} have" if count > 1 else f"1 row of {table} has"
    sentence = f"{file.path}: {rows} no known {column}: STRING_IDS lacks the text"
    return Remark((_OF_TABLE, name, 2, list(TABLES[name][1]).index(column)), (name,), sentence, column)


def _remark_of_no_names(file: SqliteFile, name: str, column: str) -> Remark:
    table = TABLES[name][0]
    sentence = f"{file.path}: {table} has no column {column}, so all its rows have no name"
    return Remark((_OF_TABLE, name, 3, list(TABLES[name][1]).index(column)), (name,), sentence, column)


def _recording_of(file: SqliteFile) -> Recording | None:
    """Return the time that was recorded, by the database, else by profiler_info.json beside it."""
    if {"startTimeNs", "endTimeNs"} <= file.tables.get("SESSION_TIME_INFO", {}).keys():
        moments = "min(CAST(startTimeNs AS INTEGER)), max(CAST(endTimeNs AS INTEGER))"
        if found := known_recording(*query(file, f"SELECT {moments} FROM SESSION_TIME_INFO")[0]):
            return found
    return profiler_info.recording_of(folders.folder_of(file.path))


def _sizes(file: SqliteFile, columns: Mapping[str, int], input_bytes: int) -> dict[str, int]:
    """Return each raw table's part of the size of the input: that of its cells, with one more per row."""
    rows = {table: rows_by_id(file, table) for table in {TABLES[name][0] for name in columns} & file.tables.keys()}
    cells = {name: rows.get(TABLES[name][0], 0) * (1 + count) for name, count in columns.items()}
    all_cells = max(sum(cells.values()), 1)
    return {name: input_bytes * count // all_cells for name, count in cells.items()}


def _stage_ops(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_share: OnShare,
) -> list[Remark]:
    """Stage the ops and the queue threads, in one scan of the file where a look at some rows finds all queue threads."""
    if known := queue_threads.probe(file):
        others = queue_threads.of_others(known)
        remarks = _stage_table(connection, file, OP_ROWS, wanted[OP_ROWS], threads, on_share, others)
        if not queue_threads.are_among_ops(connection, file):
            queue_threads.store(connection, known)
            return remarks
        connection.execute(f"DROP TABLE stored.{quote(OP_ROWS)}")
    of_ops = _stage_table(connection, file, OP_ROWS, wanted[OP_ROWS], threads, on_share)
    return of_ops + _stage_table(connection, file, ONCE_EACH, wanted[ONCE_EACH], threads, on_share)


def _stage_chains(connection: duckdb.DuckDBPyConnection, file: SqliteFile, threads: int, on_share: OnShare) -> list[Remark]:
    """Stage the chains and their frames in one scan of the file."""
    found = chains.stage_chains(connection, file, threads, lambda parts: on_share(FRAMES, Fraction(1, parts)))
    if found is None:
        on_share(FRAMES, Fraction(1))
    for name in (FRAMES, CHAINS):
        types = TABLES[name][1]
        if found is None:
            run(connection, f"CREATE TABLE stored.{quote(name)} (nothing_read BIGINT)")
        store_view(connection, name, types, types if found else ())
    return _remarks_of(file, FRAMES, *(found or ({}, 0)))


def _stage_table(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    name: str,
    wanted: frozenset[str],
    threads: int,
    on_share: OnShare,
    beside: str = "false",
) -> list[Remark]:
    table, types = TABLES[name]
    target = f"stored.{quote(name)}"
    source = rows_of(file, name, beside)
    if source is None:
        run(connection, f"CREATE TABLE {target} (nothing_read BIGINT)")
        store_view(connection, name, types, ())
        on_share(name, Fraction(1))
        return []
    cells = cells_of(file, table, {column: type_ for column, type_ in types.items() if column in wanted})
    in_ranges = name != ONCE_EACH and all(cell.type == "BIGINT" for cell in cells)
    ranges = ranges_of(file, table, threads) if in_ranges else [["true"]]
    to_read = cells or [Cell("nothing_read", "BIGINT", "rowid", "INTEGER")]
    rejected = copy_table(connection, file, source, to_read, target, ranges, lambda: on_share(name, Fraction(1, len(ranges))))
    columns = [cell.column for cell in cells]
    constant = [
        column for column in LINKS.get(name, ()) if column in columns and _forget_constant(connection, file, name, column)
    ]
    key = KEYS.get(name, ())
    is_looked_at = bool(key) and _declared_key(file, table) not in key
    if name == COUNTERS and set(key) <= set(columns):
        is_looked_at = may_repeat(connection, name, *key[:2])
    repeated = drop_repeated(connection, name, key, columns) if is_looked_at else 0
    store_view(connection, name, types, columns)
    nameless = [_remark_of_no_names(file, name, column) for column in sorted(wanted & {"name", "opName"} - set(columns))]
    return [*_remarks_of(file, name, rejected, repeated, constant), *nameless]


def _remarks_of(
    file: SqliteFile, name: str, rejected: Mapping[str, int], repeated: int, constant: Sequence[str] = ()
) -> list[Remark]:
    table, types = TABLES[name]

    def about(kind: int, column: str, said: str) -> Remark:
        of_column = None if column in KEYS.get(name, ()) else column  # Keys are staged for every question.
        return Remark((_OF_TABLE, name, kind, list(types).index(column)), (name,), f"{file.path}: {said}", of_column)

    return [
        *(
            about(
                0,
                column,
                f"{count} values of {table}.{column} are not of type {types[column]} and are taken as unknown"
                if count > 1
                else f"1 value of {table}.{column} is not of type {types[column]} and is taken as unknown",
            )
            for column, count in rejected.items()
        ),
        *(about(1, column, f"all values of {table}.{column} are the same and are taken as unknown") for column in constant),
        *remark_of(
            (name,),
            repeated,
            f"{table} ({name.removeprefix('raw.')})" if table == "PYTORCH_API" else table,
            (_OF_TABLE, name, 2, 0),
            file.path,
        ),
    ]


def _forget_constant(connection: duckdb.DuckDBPyConnection, file: SqliteFile, name: str, column: str) -> bool:
    """Set a column of links to NULL where many rows all have the same value, which is damage.

    It is not damage where a single op has all the links, and so all have its id.
    """
    target = f"stored.{quote(name)}"
    ((is_constant, value),) = run(
        connection, f"SELECT count({column}) > {FEW_LINKS} AND min({column}) = max({column}), min({column}) FROM {target}"
    ).fetchall()
    if not is_constant or (column == "id" and not _has_other_links(file, value)):
        return False
    connection.execute(f"UPDATE {target} SET {column} = NULL")
    return True


def _has_other_links(file: SqliteFile, value: int) -> bool:
    """Return whether a call has links with another id."""
    has_ids = "connectionId" in file.tables.get("PYTORCH_API", {})
    return has_ids and bool(query(file, f"SELECT 1 FROM PYTORCH_API WHERE connectionId <> {value:d} LIMIT 1"))


def _declared_key(file: SqliteFile, table: str) -> str | None:
    """Return the column that the file declares as the key of a table; None without one, or if the key has several."""
    columns = [
        str(name) for name, position in query(file, f"SELECT name, pk FROM pragma_table_info({quote_text(table)})") if position
    ]
    return columns[0] if len(columns) == 1 else None


def _describe_once(connection: duckdb.DuckDBPyConnection, file: SqliteFile) -> list[Remark]:
    """Drop the tasks of the second table of descriptions that are in the first one too, and return a remark with the count."""
    first, second = DESCRIPTIONS
    if not all(TABLES[name][0] in file.tables for name in DESCRIPTIONS):
        return []
    known = [{row[0] for row in run(connection, f"DESCRIBE stored.{quote(name)}").fetchall()} for name in DESCRIPTIONS]
    if not all("globalTaskId" in columns for columns in known):
        return []
    ((count,),) = run(
        connection,
        f"DELETE FROM stored.{quote(second)} WHERE globalTaskId IN (SELECT globalTaskId FROM {first} SEMI JOIN {second} USING"
        " (globalTaskId))",
    ).fetchall()
    what = f"{TABLES[second][0]} (tasks of {TABLES[first][0]})"
    return remark_of(DESCRIPTIONS, count, what, (_OF_BOTH, "", 0, 0), file.path, needs_all=True)
