"""Copies tables of a database of Nsight Systems: the rows of one device and its processes, each table once.

The texts of NVTX events are parsed then, since each op has a text of its own.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from queue import SimpleQueue

import duckdb

from prof_analysis.engine.database import cursor_of
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import run
from prof_analysis.sources.nsys.devices import condition_of_host, condition_of_work, devices_of
from prof_analysis.sources.nsys.metrics import condition_of_metrics
from prof_analysis.sources.nsys.payloads import set_schemas
from prof_analysis.sources.nsys.raw_tables import EVENT_TEXTS, NVTX, PARTS, PAYLOADS, PLACES
from prof_analysis.sources.nsys.tables import ALLOCATIONS, FILE_TABLES, METRICS, RANGES, TEXTS, WORK
from prof_analysis.sources.readers.event_tables import stored
from prof_analysis.sources.readers.sqlite_cell import Cell
from prof_analysis.sources.readers.sqlite_file import SqliteFile, copy_table
from prof_analysis.sources.readers.sqlite_ranges import ranges_of, rows_by_id
from prof_analysis.sources.remarks import Remark

# The place of remarks on tables of the file, between those on the whole file and those on raw tables.
OF_TABLE = 1
# In a file without texts, nothing has a name.
_EMPTY_TEXTS = "CREATE TABLE stored.file_text (id BIGINT, text VARCHAR)"
_DOMAINS = """
SELECT map_from_entries(list((concat(process, '/', id), name)))
FROM (
    SELECT part.domainId AS id, part.globalTid >> 24 AS process, min(coalesce(part.text, recorded.text)) AS name
    FROM {part} AS part
    LEFT JOIN stored.file_text AS recorded ON recorded.id = part.textId
    WHERE part.eventType = 75 AND part.domainId IS NOT NULL
    GROUP BY ALL
    HAVING name IS NOT NULL
)
"""
# What the name of a domain is read from.
DOMAIN = frozenset(("domainId", "globalTid", "eventType", "text", "textId"))


def copy_tables(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    columns: dict[str, set[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Copy the wanted columns of the tables of the file, several tables at a time; columns that it lacks are NULL."""
    if TEXTS not in columns or TEXTS not in file.tables:
        columns.pop(TEXTS, None)
        connection.execute(_EMPTY_TEXTS)
    cells = {table: rows_by_id(file, table) * (1 + len(columns[table])) for table in columns}
    size, all_cells = file.path.stat().st_size, max(sum(cells.values()), 1)
    cursors: SimpleQueue[duckdb.DuckDBPyConnection] = SimpleQueue()
    for _ in range(threads):
        cursors.put(connection if threads == 1 else cursor_of(connection))

    def copy(table: str) -> list[Remark]:
        cursor = cursors.get()
        try:
            share = Fraction(size * cells[table], all_cells)
            return _copy(cursor, file, table, columns[table], threads, lambda part: on_bytes(int(share * part)))
        finally:
            cursors.put(cursor)

    # The longest first: a thread that began it last would work on it alone.
    order = sorted(columns, key=lambda table: -cells[table])
    with ThreadPoolExecutor(threads) as pool:
        remarks = [remark for found in pool.map(copy, order) for remark in found]
    if TEXTS in columns:
        connection.execute(
            f"CREATE TABLE stored.file_text AS SELECT id, min(value) AS text FROM {stored(f'file {TEXTS}')} GROUP BY id"
        )
    return remarks


def _copy(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    table: str,
    columns: set[str],
    threads: int,
    on_part: Callable[[Fraction], None],
) -> list[Remark]:
    declared = {name.lower(): type_ for name, type_ in file.tables[table].items()}
    cells = [
        Cell(column, type_, column.lower(), declared[column.lower()])
        for column, type_ in FILE_TABLES[table].items()
        if column in columns and column.lower() in declared
    ]
    are_numbers = all(cell.type == "BIGINT" for cell in cells)
    groups = ranges_of(file, table, threads) if are_numbers else [["true"]]
    to_read = cells or [Cell("nothing_read", "BIGINT", "rowid", "INTEGER")]
    source = f"{quote(table)} NOT INDEXED WHERE {_condition(connection, file, table)}"
    rejected = copy_table(
        connection, file, source, to_read, stored(f"file {table}"), groups, lambda: on_part(Fraction(1, len(groups)))
    )
    return [
        Remark(
            (OF_TABLE, table, 0, list(FILE_TABLES[table]).index(column)),
            tuple(name for name, parts in PARTS.items() if any(part.table == table for part in parts)),
            f"{file.path}: {count} value{'s' * (count > 1)} of {table}.{column} {'are' if count > 1 else 'is'} not of type "
            f"{FILE_TABLES[table][column]} and {'are' if count > 1 else 'is'} taken as unknown",
        )
        for column, count in rejected.items()
    ]


def _condition(connection: duckdb.DuckDBPyConnection, file: SqliteFile, table: str) -> str:
    """Return the SQLite condition of the rows that the rank has in a table."""
    devices = devices_of(file)
    ((number,),) = run(connection, "SELECT getvariable('device_id')").fetchall()
    device = devices.get(number) or next(iter(devices.values()))
    if table in (*WORK, ALLOCATIONS):
        return "true" if len(devices) == 1 else condition_of_work(file, table, device)
    if table == METRICS:
        return condition_of_metrics(connection)
    if "globalTid" in file.tables[table]:
        return condition_of_host(device, is_only=len(devices) == 1)
    return "true"


def rows_of(file: SqliteFile, table: str) -> str:
    """Return the rows of a table as its parts read them: with NULL in columns that the file lacks."""
    declared = {name.lower() for name in file.tables[table]}
    missing = [f"NULL::{type_} AS {quote(c)}" for c, type_ in FILE_TABLES[table].items() if c.lower() not in declared]
    return f"(SELECT {', '.join(['rowid', '*', *missing])} FROM {stored(f'file {table}')})"


def parse_events(connection: duckdb.DuckDBPyConnection, file: SqliteFile, columns: Iterable[str], made: Iterable[str]) -> None:
    """Make the table of NVTX events of its copy: with their names and what else is in their texts."""
    rows, expressions = rows_of(file, RANGES), {column: NVTX[column] for column in made}
    if "domain" in expressions:
        connection.execute(f"SET VARIABLE nvtx_domains = ({_DOMAINS.format(part=rows)})")
    if "payload" in expressions and ("binaryData" not in columns or not set_schemas(connection, file)):
        expressions["payload"] = "json"
    joins, texts = "", {}
    for text, (column, id_column) in EVENT_TEXTS.items():
        found = [f"part.{column}"] if column in columns else []
        # In most files no id is there: to join a million rows in order takes as long as to parse them.
        if id_column in columns and run(connection, f"SELECT 1 FROM {rows} WHERE {id_column} IS NOT NULL LIMIT 1").fetchall():
            joins += f" LEFT JOIN stored.file_text AS {text}_by_id ON {text}_by_id.id = part.{id_column}"
            found.append(f"{text}_by_id.text")
        texts[text] = f"coalesce({', '.join(found)})" if found else "NULL::VARCHAR"
    kept = [f"part.{quote(column)}" for column in columns if column not in {"text", "textId", *PAYLOADS}]
    shown = ", ".join([*kept, *(f"{sql} AS {quote(name)}" for name, sql in expressions.items())]) or "NULL AS nothing_read"
    with_texts = ", ".join(["part.*", *(f"{sql} AS {text}" for text, sql in texts.items())])
    in_order = "ORDER BY part.rowid" if joins else ""
    places = ", ".join(f"{sql} AS {place}" for place, sql in PLACES.items())
    events = f"SELECT *, {places} FROM (SELECT {with_texts} FROM {rows} AS part{joins} {in_order})"
    run(connection, f"CREATE TABLE stored.nvtx AS SELECT {shown} FROM ({events}) AS part")
    connection.execute(f"DROP TABLE {stored(f'file {RANGES}')}")
