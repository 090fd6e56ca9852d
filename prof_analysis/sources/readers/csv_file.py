"""Reads columns of a CSV file into DuckDB by their names, whatever program wrote or re-saved it; each cell is a text."""

import csv
import io
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import duckdb

from prof_analysis.common.errors import InputError, reason_of, remedy_of
from prof_analysis.common.input_files import opened
from prof_analysis.engine.database import quote_path
from prof_analysis.engine.quotes import quote, quote_text

_MAX_HEADER_BYTES = 2**20
_MAX_ROW_BYTES = 2**20
_NOTHING = ("", "N/A", "NULL")
_ENCODINGS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def read_header(path: Path) -> tuple[str, list[str]]:
    """Return the delimiter of a CSV file, and the names of its columns.

    Raises InputError when the file cannot be read or its first line is not a header.
    """
    try:
        with opened(path) as file:
            begin = file.read(_MAX_HEADER_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason_of(error)})", path=path) from error
    if begin[:2] in _ENCODINGS:
        raise InputError(
            f"{path}: is UTF-16 text, as spreadsheets save it; save it as CSV UTF-8, or export it again", path=path
        )
    line = re.split(rb"[\r\n]", begin.removeprefix(b"\xef\xbb\xbf"), maxsplit=1)[0].decode("utf-8", "replace")
    if not line.strip():
        raise InputError(f"{path}: {'begins with an empty line' if begin else 'is empty'}; export it again", path=path)
    if len(begin) < _MAX_HEADER_BYTES and not re.search(rb"[\r\n]", begin):
        raise InputError(f"{path}: breaks off within its first line; copy it again, or export it again", path=path)
    delimiter = max(",;\t", key=line.count)
    try:
        names = next(csv.reader(io.StringIO(line), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path}: its first line is not a header ({error}); export it again", path=path) from error
    return delimiter, [" ".join(name.split()) for name in names]


def copy_columns(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    columns: Mapping[str, tuple[str, ...]],
    target: str,
    of_lines: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Copy columns into the new DuckDB table `target`, all VARCHAR, with row_number, the number of the row.

    `columns` has for each column its possible names in the file, in lower case; a column that the file lacks is NULL. White
    space around a cell is dropped, and a cell that means no value (N/A, NULL, empty) is NULL. `of_lines` has the columns whose
    cells may hold line breaks, where they match its pattern; other line breaks show that a quote is not closed.
    Returns warnings about lines that are left out. Raises InputError when the file cannot be read.
    """
    delimiter, names = read_header(path)
    positions = {name.lower(): position for position, name in reversed(list(enumerate(names)))}
    found = {column: next((positions[name] for name in known_as if name in positions), None)
             for column, known_as in columns.items()}  # fmt: skip
    cells = []
    for column, position in found.items():
        cell = "NULL::VARCHAR" if position is None else f"trim({_column(position)}, {_WHITE_SPACE})"
        cells.append(f"if({cell} IN {_NOTHING}, NULL, {cell}) AS {quote(column)}")
    file_columns = ", ".join(f"{quote_text(f'column_{position}')}: 'VARCHAR'" for position in range(len(names)))
    # Without `parallel = false` DuckDB refuses files that have both line breaks in cells and rows that are too short.
    rows = (
        f"read_csv({quote_path(path)}, hive_partitioning = false, auto_detect = false, header = false, skip = 1, "
        f"columns = {{{file_columns}}}, "
        f"delim = {quote_text(delimiter)}, quote = '\"', escape = '\"', strict_mode = false, null_padding = true, "
        "parallel = false, store_rejects = true, rejects_limit = 0, rejects_table = 'rejected_rows', "
        "rejects_scan = 'rejected_scans')"
    )
    try:
        connection.execute(
            f"CREATE TABLE {target} AS SELECT row_number() OVER () AS row_number, {', '.join(cells)} FROM {rows}"
        )
        rejected = connection.execute("SELECT count(DISTINCT line), min(line) FROM rejected_rows").fetchone()
        connection.execute("DROP TABLE rejected_rows; DROP TABLE rejected_scans")
    except duckdb.Error as error:
        remedy = remedy_of(error) or "; export it again"
        raise InputError(f"{path}: cannot be read as CSV ({reason_of(error)}){remedy}", path=path) from error
    count, line = rejected or (0, None)
    lines = (
        f"{count:,} lines cannot be read and are left out, the first is"
        if count > 1
        else "1 line cannot be read and is left out:"
    )
    warnings = [f"{path}: {lines} line {line:,}"] if count else []
    broken = " OR ".join(_is_broken(quote(column), of_lines.get(column)) for column in columns)
    ((count,),) = connection.execute(f"SELECT count(*) FILTER ({broken or 'false'}) FROM {target}").fetchall()
    if count:
        spans = "1 row spans" if count == 1 else f"{count:,} rows span"
        warnings.append(f"{path}: {spans} several lines, since a quote is not closed; export it again")
    last_columns = [column for column, position in found.items() if position == len(names) - 1]
    return warnings + _check_last_row(connection, path, delimiter, len(names), target, last_columns)


def _is_broken(cell: str, lines: str | None) -> str:
    """Return the SQL condition that a cell holds further rows of the file: it has line breaks and does not match `lines`."""
    is_of_lines = f"contains({cell}, chr(10))"
    return f"({is_of_lines} AND NOT regexp_full_match({cell}, {quote_text(lines)}))" if lines else is_of_lines


def _check_last_row(
    connection: duckdb.DuckDBPyConnection, path: Path, delimiter: str, column_count: int, target: str, last_columns: list[str]
) -> list[str]:
    """Leave out the last row where the file breaks off in it, which the number of its cells shows. Returns a warning about it.

    The last cell is known to be whole only where a quote or tab ends it, or another row has the same cell; else it is unknown.
    """
    last_row = f"row_number = (SELECT max(row_number) FROM {target})"
    try:
        row = _unended_row(path)
        if not row.strip():
            return []
        cells = next(csv.reader(io.StringIO(row), delimiter=delimiter, strict=True), [])
    except UnicodeDecodeError:
        return []  # The row cannot be read, and is counted so already.
    except csv.Error:
        cells = []
    if len(cells) < column_count:
        connection.execute(f"DELETE FROM {target} WHERE {last_row}")
        return [f"{path}: breaks off within a line, which is left out, so later rows may be missing; copy it again"]
    is_doubtful = len(cells) == column_count and cells[-1].strip() not in _NOTHING and not row.rstrip(" ").endswith(('"', "\t"))
    doubtful = [column for column in last_columns if is_doubtful and not _occurs_before(connection, target, column)]
    for column in doubtful:
        connection.execute(f"UPDATE {target} SET {quote(column)} = NULL WHERE {last_row}")
    cell = "its last cell may be cut and is taken as unknown" if doubtful else "it is whole"
    return [f"{path}: has no line end after its last row; {cell}, but if the file was cut off, later rows are missing"]


def _occurs_before(connection: duckdb.DuckDBPyConnection, target: str, column: str) -> bool:
    """Return whether another row has the same cell in a column as the last row."""
    last_cell = f"SELECT max_by({quote(column)}, row_number) FROM {target}"
    ((count,),) = connection.execute(f"SELECT count(*) FROM {target} WHERE {quote(column)} = ({last_cell})").fetchall()
    return bool(count > 1)


def _unended_row(path: Path) -> str:
    """Return the last row of a file if no line end follows it; else ""."""
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _MAX_ROW_BYTES))
        text = file.read()
    if text.endswith((b"\r", b"\n")):
        return ""
    begin, quotes = len(text), 0
    while begin > 0:
        line_end, begin = begin, max(text.rfind(b"\n", 0, begin - 1), text.rfind(b"\r", 0, begin - 1)) + 1
        quotes += text.count(b'"', begin, line_end)
        if quotes % 2 == 0:  # Before a line inside a cell, a quote is open.
            break
    return text[begin:].decode()


_WHITE_SPACE = "' ' || chr(9) || chr(10) || chr(13)"


def _column(position: int) -> str:
    return quote(f"column_{position}")
