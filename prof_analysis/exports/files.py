"""Export to csv, parquet and json: one file per table, with all ranks and the columns of the API."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path

import duckdb

from prof_analysis.common import frames
from prof_analysis.common.errors import QueryError, reason_of
from prof_analysis.common.files import replacing
from prof_analysis.engine.quotes import quote, quote_text
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
