"""Reads tables of an SQLite file into DuckDB: read-only, fast, and with every odd cell accounted for.

The reader is the Arrow project's ADBC driver, whose batches DuckDB takes as they are.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory
from urllib.parse import quote as percent_encode

import adbc_driver_manager as adbc
import adbc_driver_sqlite
import duckdb

from prof_analysis.database import quote
from prof_analysis.errors import InputError, reason_of

_BATCH_ROWS = "65536"  # 3 million rows of 4 columns: 1.26 s with the driver's default of 1,024 rows, 0.90 s with this


@dataclass(frozen=True)
class SqliteFile:
    """An SQLite file that can be read: its path, what to open, and its tables with their columns' declared types."""

    path: Path
    uri: str
    tables: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Cell:
    """A column to read: its name and type in DuckDB, BIGINT or VARCHAR, its name in the file, and the type declared there."""

    column: str
    type: str
    file_column: str
    declared_type: str

    @property
    def is_number_as_text(self) -> bool:
        """Whether the file declares as TEXT what is a number, as it does the times of PYTORCH_API."""
        return self.type == "BIGINT" and "TEXT" in self.declared_type

    @property
    def checked(self) -> str:
        """An SQLite expression that is of the column's type or NULL. A REAL that may have lost digits is no number."""
        c = quote(self.file_column)
        if self.type == "VARCHAR":
            return f"CAST({c} AS TEXT)"
        return (
            f"CASE typeof({c}) WHEN 'integer' THEN {c}"
            f" WHEN 'real' THEN CASE WHEN abs({c}) < 9007199254740992 AND {c} = CAST({c} AS INTEGER)"
            f" THEN CAST({c} AS INTEGER) END"
            f" WHEN 'text' THEN CASE WHEN {c} <> '' AND {c} NOT GLOB '*[^0-9]*'"
            f" AND (length({c}) < 19 OR length({c}) = 19 AND {c} <= '9223372036854775807')"
            f" THEN CAST({c} AS INTEGER) END END"
        )


@contextmanager
def open_sqlite(path: Path) -> Iterator[SqliteFile]:
    """Make an SQLite file readable without changing it, and hold that nobody else changed it meanwhile.

    With a journal beside it, a read-only reader would see stale rows or none: then a copy is read.
    Raises InputError when the file is no SQLite database, is damaged, or is being written.
    """
    before = _identity(path)
    sidecars = [side for suffix in ("-wal", "-journal") if (side := path.with_name(path.name + suffix)).exists()]
    with TemporaryDirectory(prefix="prof_analysis_") as folder:
        uri = f"file:{percent_encode(str(path.absolute()))}?mode=ro&immutable=1"
        if sidecars:
            for original in (path, *sidecars):
                copy2(original, Path(folder, original.name))
            uri = f"file:{percent_encode(str(Path(folder, path.name)))}"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as reader:
                reader.text_factory = _decode
                names = [row[0] for row in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                tables = {
                    name: {row[1]: row[2].upper() for row in reader.execute(f"PRAGMA table_info({quote(name)})")}
                    for name in names
                }
            yield SqliteFile(path, uri, tables)
        except (sqlite3.Error, adbc.Error, duckdb.Error, UnicodeError) as error:
            raise InputError(
                f"{path}: not a readable SQLite database ({reason_of(error)}); copy it again, or parse the profile again"
            ) from error
    if _identity(path) != before:
        raise InputError(f"{path}: changed while it was read; wait until the profiler has finished writing it")


def query(file: SqliteFile, sql: str) -> list[tuple[object, ...]]:
    """Run a small query. Characters that are not UTF-8 become U+FFFD."""
    with closing(sqlite3.connect(file.uri, uri=True)) as reader:
        reader.text_factory = _decode
        return reader.execute(sql).fetchall()


def copy_table(
    connection: duckdb.DuckDBPyConnection, file: SqliteFile, table: str, cells: list[Cell], target: str
) -> dict[str, int]:
    """Copy columns of a table into the new DuckDB table `target`.

    Gives, by column, how many values are not of the column's type; they are NULL in the copy. The first try reads cells as they
    come; only when the file holds cells that its schema does not announce is every cell checked.
    """
    try:
        _stream(connection, file, table, cells, [quote(cell.file_column) for cell in cells], target)
        doubtful = [cell for cell in cells if cell.is_number_as_text and _has_null(connection, target, cell.column)]
    except (duckdb.Error, _OtherTypeError):
        connection.execute(f"DROP TABLE IF EXISTS {target}")
        if any(cell.type == "VARCHAR" for cell in cells):
            _copy_texts(connection, file, table, cells, target)
        else:
            _stream(connection, file, table, cells, [cell.checked for cell in cells], target)
        doubtful = cells
    counts = {cell.column: _count_rejected(file, table, cell) for cell in doubtful}
    return {column: count for column, count in counts.items() if count}


class _OtherTypeError(Exception):
    """The driver gave a column a type that its schema does not announce."""


def _stream(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    table: str,
    cells: list[Cell],
    expressions: list[str],
    target: str,
) -> None:
    """Stream rows into DuckDB. The driver types a column by its first rows, so the very first row is a typed dummy."""
    dummy = ["''" if cell.type == "VARCHAR" or cell.is_number_as_text else "0" for cell in cells]
    typed = ", ".join(f"{value} AS {quote(cell.column)}" for value, cell in zip(dummy, cells, strict=True))
    columns = ", ".join(
        f"TRY_CAST({quote(c.column)} AS BIGINT) AS {quote(c.column)}" if c.is_number_as_text else quote(c.column) for c in cells
    )
    with (
        adbc_driver_sqlite.connect(file.uri) as database,
        adbc.AdbcConnection(database) as reader,
        adbc.AdbcStatement(reader) as statement,
    ):
        statement.set_options(**{"adbc.sqlite.query.batch_rows": _BATCH_ROWS})
        statement.set_sql_query(f"SELECT {typed} UNION ALL SELECT {', '.join(expressions)} FROM {quote(table)}")
        rows, _ = statement.execute_query()
        view = f"stream of {target}"
        connection.register(view, rows)
        connection.execute(f"CREATE TABLE {target} AS SELECT {columns} FROM {quote(view)}")
        connection.unregister(view)
    connection.execute(f"DELETE FROM {target} WHERE rowid = 0")
    types = {row[0]: row[1] for row in connection.execute(f"DESCRIBE {target}").fetchall()}
    if any(types[cell.column] != cell.type for cell in cells):
        raise _OtherTypeError


def _copy_texts(connection: duckdb.DuckDBPyConnection, file: SqliteFile, table: str, cells: list[Cell], target: str) -> None:
    import pyarrow

    arrow_types = {"BIGINT": pyarrow.int64(), "VARCHAR": pyarrow.string()}
    rows = query(file, f"SELECT {', '.join(cell.checked for cell in cells)} FROM {quote(table)}")
    columns = [pyarrow.array([row[n] for row in rows], arrow_types[cell.type]) for n, cell in enumerate(cells)]
    view = f"texts of {target}"
    connection.register(view, pyarrow.table(columns, [cell.column for cell in cells]))
    connection.execute(f"CREATE TABLE {target} AS FROM {quote(view)}")
    connection.unregister(view)


def _has_null(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> bool:
    row = connection.execute(f"SELECT count(*) > count({quote(column)}) FROM {table}").fetchone()
    return bool(row and row[0])


def _count_rejected(file: SqliteFile, table: str, cell: Cell) -> int:
    column = quote(cell.file_column)
    kept = f"({cell.checked}) IS NOT NULL" if cell.type == "BIGINT" else f"typeof({column}) = 'text'"
    (row,) = query(file, f"SELECT count(*) FROM {quote(table)} WHERE {column} IS NOT NULL AND NOT {kept}")
    return int(str(row[0]))


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason_of(error)})") from error
    return status.st_size, status.st_mtime_ns


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
