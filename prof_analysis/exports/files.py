"""Export to csv, parquet and json: one file per table, with all ranks and the columns of the API."""

import os
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import duckdb

from prof_analysis.common import frames
from prof_analysis.common.errors import OutputError, QueryError, reason_of
from prof_analysis.engine.database import quote, quote_text
from prof_analysis.exports.names import file_name

# What begins a formula (also in full width), behind any blank, tab, line end or sign of no width: importers drop these.
_FORMULA = r"^[\p{Z}\p{C}]*[=+\-@\x{FF0B}\x{FF0D}\x{FF1D}\x{FF20}]"

FORMATS = {"csv": "FORMAT csv, HEADER", "parquet": "FORMAT parquet", "json": "FORMAT json, ARRAY true"}


def write(connection: duckdb.DuckDBPyConnection, folder: Path, exports: Mapping[str, str], file_format: str) -> list[Path]:
    """Write a file for each table, and return the files."""
    written = []
    for table, name in exports.items():
        target = folder / f"{file_name(name)}.{file_format}"
        with replacing(target) as unfinished:
            rows = _without_formulas(connection, table) if file_format == "csv" else f"FROM {table}"
            connection.execute(f"COPY ({rows}) TO {quote_text(str(unfinished))} ({FORMATS[file_format]})")
        written.append(target)
    return written


def _without_formulas(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """Return a query that puts an apostrophe before texts that a spreadsheet would take for a formula."""
    columns = [
        f"{_no_formula(quote(name), type_)} AS {quote(name)}"
        for name, type_, *_ in connection.execute(f"DESCRIBE {table}").fetchall()
    ]
    return f"SELECT {', '.join(columns)} FROM {table}"


def _no_formula(cell: str, type_: str) -> str:
    return f"if(regexp_matches({cell}, '{_FORMULA}'), chr(39) || {cell}, {cell})" if type_ == "VARCHAR" else cell


def _named(column: str) -> str:
    """Return the name of a column with the apostrophe that a cell would have."""
    first = next((sign for sign in column if unicodedata.category(sign)[0] not in "CZ"), "")
    return f"'{column}" if unicodedata.normalize("NFKC", first) in ("=", "+", "-", "@") else column


def write_rows(rows: duckdb.DuckDBPyRelation, target: Path) -> None:
    """Write the rows of a query as csv of RFC 4180. Its columns may have names from a profile, as those of a PIVOT do."""
    names = [_named(name) for name in frames.unique(rows.columns)]
    cells = [
        f"{_no_formula(f'#{n}', str(type_))} AS {quote(name)}"
        for n, (name, type_) in enumerate(zip(names, rows.types, strict=True), start=1)
    ]
    with replacing(target) as unfinished:
        to = f"TO {quote_text(str(unfinished))} (FORMAT csv, HEADER, NEW_LINE '\r\n')"
        try:
            rows.query("rows_of_query", f"COPY (SELECT {', '.join(cells)} FROM rows_of_query) {to}")
        except (duckdb.DataError, duckdb.ProgrammingError) as error:  # of the query, not of the disk
            raise QueryError(f"the query failed: {reason_of(error)}") from error


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path beside the target to write to; on success the file replaces the target, else it is removed."""
    with unfinished_beside(target) as unfinished:
        yield unfinished
        flush(unfinished)
        unfinished.replace(target)


@contextmanager
def unfinished_beside(target: Path) -> Iterator[Path]:
    """Yield a path beside the target that no other writer uses; a file that is there at the end is removed.

    Raises OutputError, which names the target, in place of an error of the disk or of DuckDB.
    """
    unfinished = target.with_name(f".{uuid4().hex}.unfinished")
    try:
        yield unfinished
    except OutputError:  # It already names the file that cannot be written.
        raise
    except (OSError, duckdb.Error) as error:
        raise OutputError(
            f"{target}: cannot be written ({reason_of(error)}); give another folder with -o", path=target
        ) from error
    finally:
        with suppress(OSError):  # The error that matters is already being raised.
            unfinished.unlink(missing_ok=True)


def flush(file: Path) -> None:
    """Wait until a file is on the disk. It is opened for update, since Windows flushes only such files."""
    with file.open("r+b") as opened:
        os.fsync(opened.fileno())
