"""Reads tables of an SQLite file into DuckDB: read-only, fast, and with a count of cells of the wrong type.

The reader is the Arrow project's ADBC driver, whose batches DuckDB reads directly.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from shutil import copy2
from urllib.parse import quote as percent_encode

import adbc_driver_manager as adbc
import adbc_driver_sqlite
import duckdb

from prof_analysis.common.errors import InputError, reason_of, remedy_of
from prof_analysis.common.input_files import check_regular
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import run
from prof_analysis.sources.readers.sqlite_cell import Cell
from prof_analysis.sources.readers.sqlite_journal import names_another_file
from prof_analysis.sources.readers.sqlite_length import missing_bytes

_BATCH_ROWS = "65536"  # 3 million rows of 4 columns: 1.26 s with the driver's default of 1,024 rows, 0.90 s with this


@dataclass(frozen=True)
class SqliteFile:
    """An SQLite file that can be read: its path, the URI to open, and its tables with the declared types of their columns."""

    path: Path
    uri: str
    tables: Mapping[str, Mapping[str, str]]


_NO_TRUST = "PRAGMA trusted_schema = OFF"
# Neither views nor virtual tables, which run what their author wrote or code of an extension.
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"


@contextmanager
def open_sqlite(path: Path, known_tables: Collection[str] | None) -> Iterator[SqliteFile]:
    """Open the known tables of an SQLite file, or all, without changing it, and check that nobody else changes it meanwhile.

    With a journal next to it, a read-only reader would see stale rows or none: then a copy is read.
    Raises InputError when the file is not an SQLite database, is damaged, is cut off, or is being written.
    """
    sidecars = sidecars_of(path)
    before = [_identity(one) for one in (path, *sidecars)]
    with temporary_folder() if sidecars else nullcontext(path.parent) as folder:
        try:
            readable = _copy_with_journal(path, sidecars, folder) if sidecars else path.absolute()
            uri = f"file:{percent_encode(os.fsencode(readable), safe='')}?mode=ro&immutable=1"
            with _reading(uri) as reader:
                _check_encoding(path, reader)
                names = [row[0] for row in reader.execute(_TABLES)]
                tables = {
                    name: {row[1]: row[2].upper() for row in reader.execute(f"PRAGMA table_info({quote(name)})")}
                    for name in names
                    if known_tables is None or name in known_tables
                }
            if missing := missing_bytes(readable):
                raise sqlite3.DatabaseError(f"it is cut off: its last {missing:,} bytes are missing")
            yield SqliteFile(path, uri, tables)
        except (sqlite3.Error, adbc.Error, UnicodeError) as error:
            raise _unreadable(path, error) from error
    if sidecars_of(path) != sidecars or [_identity(one) for one in (path, *sidecars)] != before:
        raise InputError(f"{path}: changed while it was read; wait until the profiler has finished writing it", path=path)


def sidecars_of(path: Path) -> list[Path]:
    """Return the journals next to a database, which hold a part of its rows."""
    return [side for suffix in ("-wal", "-journal") if (side := path.with_name(path.name + suffix)).is_file()]


def _copy_with_journal(path: Path, sidecars: list[Path], folder: Path) -> Path:
    """Copy a file and its journal, and let SQLite apply the journal to the copy, so that several readers can open it."""
    for original in (path, *sidecars):
        copy2(original, folder / original.name)
    copy = folder / path.name
    if names_another_file(copy):
        raise InputError(
            f"{path}: its journal names another file, which SQLite would delete; remove {path.name}-journal", path=path
        )
    with closing(sqlite3.connect(copy)) as writer:
        writer.execute(_NO_TRUST)
        writer.execute("SELECT count(*) FROM sqlite_master").fetchall()
        writer.execute("PRAGMA journal_mode = DELETE").fetchall()
    return copy


def _unreadable(path: Path, error: Exception) -> InputError:
    if remedy := remedy_of(error):
        return InputError(f"{path}: cannot be read ({reason_of(error)}){remedy}")
    message = f"{path}: not a readable SQLite database ({reason_of(error)}); copy it again, or parse the profile again"
    return InputError(message, path=path)


def query(file: SqliteFile, sql: str) -> list[tuple[object, ...]]:
    """Run a small query. Characters that are not UTF-8 become U+FFFD."""
    with _reading(file.uri) as reader:
        return reader.execute(sql).fetchall()


@contextmanager
def _reading(uri: str) -> Iterator[sqlite3.Connection]:
    """Open a database whose schema a stranger may have written: its definitions can only compute."""
    with closing(sqlite3.connect(uri, uri=True)) as reader:
        reader.execute(_NO_TRUST)
        reader.text_factory = _decode
        yield reader


def _check_encoding(path: Path, reader: sqlite3.Connection) -> None:
    (encoding,) = reader.execute("PRAGMA encoding").fetchone()
    if encoding != "UTF-8":
        message = f"{path}: holds its texts in {encoding}, which no profiler writes; write it anew in UTF-8 (sqlite3: .dump)"
        raise InputError(message, path=path)


def copy_table(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    source: str,
    cells: list[Cell],
    target: str,
    ranges: Sequence[Sequence[str]] = (("true",),),
    on_read: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Copy columns into the new DuckDB table `target`; `source` is the SQLite text after FROM, up to a condition in WHERE.

    Rows come in the order of the ranges; only columns of integers can be read so. Ranges of a group are read at the same time,
    and on_read is called after each group. Returns, by column, how many values are not of the column's type; they are NULL in
    the copy. The first try takes the types of the schema as true; only if some cells are not of them, each cell is checked.
    """
    try:
        _stream(connection, file, source, cells, target, ranges, on_read)
        _look_at_large_numbers(connection, cells, target)
        doubtful = [
            cell
            for cell in cells
            if (cell.is_number_as_text or cell.type in ("DOUBLE", "BLOB")) and _has_null(connection, target, cell.column)
        ]
    except (duckdb.Error, _UnannouncedError):
        connection.execute(f"DROP TABLE IF EXISTS {target}")
        _copy_checked(connection, file, source, cells, target)
        doubtful = cells
    return _count_rejected(file, source, doubtful) if doubtful else {}


class _UnannouncedError(Exception):
    """Cells that are not of the type that the schema declares."""


def _stream(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    source: str,
    cells: list[Cell],
    target: str,
    ranges: Sequence[Sequence[str]],
    on_read: Callable[[], None],
) -> None:
    """Stream rows into DuckDB as they are, behind a typed dummy. Ranges without rows, or with NULL alone, are of integers."""
    rows = ", ".join(f"{cell.as_it_is} AS {quote(cell.column)}" for cell in cells)
    first, *others = [[f"SELECT {rows} FROM {source} AND {one}" for one in group] for group in ranges]
    first[0] = f"SELECT {_dummy(cells)} UNION ALL {first[0]}"
    names = [quote(cell.column) for cell in cells]
    typed = ", ".join(f"{cell.typed} AS {name}" for cell, name in zip(cells, names, strict=True))
    _store(connection, file, first, typed, target)
    on_read()
    types = {row[0]: row[1] for row in run(connection, f"DESCRIBE {target}").fetchall()}
    if any(types[cell.column] != cell.type for cell in cells):
        raise _UnannouncedError
    # INSERT would cast cells of another type.
    of_type = ", ".join(f"CASE typeof({name}) WHEN 'BIGINT' THEN {name} ELSE error('type') END" for name in names)
    for group in others:
        _insert(connection, file, group, of_type, f"INSERT INTO {target}")
        on_read()


def _look_at_large_numbers(connection: duckdb.DuckDBPyConnection, cells: list[Cell], target: str) -> None:
    """Check that all numbers that are text have 19 digits; for more than 64 bits SQLite gives the largest number."""
    numbers = [quote(cell.column) for cell in cells if cell.is_number_as_text]
    if not numbers:
        return
    are_large = " AND ".join(
        f"coalesce(min({number}) >= 1000000000000000000 AND max({number}) < 9223372036854775807, true)" for number in numbers
    )
    if run(connection, f"SELECT {are_large} FROM {target}").fetchone() != (True,):
        raise _UnannouncedError


def _copy_checked(connection: duckdb.DuckDBPyConnection, file: SqliteFile, source: str, cells: list[Cell], target: str) -> None:
    """Copy a table in which some cells are not of their column's type: these become NULL; bytes that are not UTF-8, U+FFFD."""
    rows = ", ".join(cell.checked for cell in cells)
    if any(cell.type == "VARCHAR" for cell in cells):
        _store_texts(connection, cells, query(file, f"SELECT {rows} FROM {source}"), target)
        return
    names = ", ".join(quote(cell.column) for cell in cells)
    try:
        _store(connection, file, [f"SELECT {_dummy(cells)} UNION ALL SELECT {rows} FROM {source}"], names, target)
    except duckdb.Error as error:
        raise _unreadable(file.path, error) from error


def _dummy(cells: list[Cell]) -> str:
    """Return a row for SELECT that has the types of the cells: the driver types a column by its first rows."""
    return ", ".join(f"{cell.dummy} AS {quote(cell.column)}" for cell in cells)


def _store(connection: duckdb.DuckDBPyConnection, file: SqliteFile, queries: list[str], columns: str, target: str) -> None:
    """Store the results of SQLite queries one after the other, without the first row of all."""
    _insert(connection, file, queries, columns, f"CREATE TABLE {target} AS")
    connection.execute(f"DELETE FROM {target} WHERE rowid = 0")


def _insert(connection: duckdb.DuckDBPyConnection, file: SqliteFile, queries: list[str], columns: str, into: str) -> None:
    """Store the results of SQLite queries one after the other. DuckDB reads them at the same time."""
    views = [f"stream {number} {into}" for number in range(len(queries))]
    with ExitStack() as opened:
        for view, sql in zip(views, queries, strict=True):
            database = opened.enter_context(adbc_driver_sqlite.connect(file.uri))
            reader = opened.enter_context(adbc.AdbcConnection(database))
            with adbc.AdbcStatement(reader) as setting:
                setting.set_sql_query(_NO_TRUST)
                setting.execute_update()
            statement = opened.enter_context(adbc.AdbcStatement(reader))
            statement.set_options(**{"adbc.sqlite.query.batch_rows": _BATCH_ROWS})
            statement.set_sql_query(sql)
            rows, _ = statement.execute_query()
            connection.register(view, rows)
            opened.callback(connection.unregister, view)
        in_order = " UNION ALL ".join(f"SELECT {columns} FROM {quote(view)}" for view in views)
        run(connection, f"{into} {in_order}")


def _store_texts(connection: duckdb.DuckDBPyConnection, cells: list[Cell], rows: list[tuple[object, ...]], target: str) -> None:
    import pyarrow

    texts = {"VARCHAR": pyarrow.string(), "BLOB": pyarrow.binary()}
    arrow_types = {"BIGINT": pyarrow.int64(), "DOUBLE": pyarrow.float64(), **texts}
    columns = [pyarrow.array([row[n] for row in rows], arrow_types[cell.type]) for n, cell in enumerate(cells)]
    view = f"texts of {target}"
    connection.register(view, pyarrow.table(columns, [cell.column for cell in cells]))
    connection.execute(f"CREATE TABLE {target} AS FROM {quote(view)}")
    connection.unregister(view)


def _has_null(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> bool:
    row = run(connection, f"SELECT count(*) > count({quote(column)}) FROM {table}").fetchone()
    return bool(row and row[0])


def _count_rejected(file: SqliteFile, source: str, cells: list[Cell]) -> dict[str, int]:
    """Return by column how many values are not of its type, of the columns that have such values, in one scan of the rows."""
    counts = ", ".join(f"total({cell.in_file} IS NOT NULL AND ({cell.checked}) IS NULL)" for cell in cells)
    (row,) = query(file, f"SELECT {counts} FROM {source}")
    return {cell.column: int(float(str(count))) for cell, count in zip(cells, row, strict=True) if count}


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = check_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason_of(error)})", path=path) from error
    return status.st_size, status.st_mtime_ns


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
