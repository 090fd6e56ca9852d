"""Reads columns of a CSV file into DuckDB by their names, whoever wrote or re-saved it; each cell as the text in it."""

import csv
import io
import os
import re
from collections.abc import Container, Mapping
from pathlib import Path

import duckdb

from prof_analysis.database import quote, quote_text
from prof_analysis.errors import InputError, reason_of

_MAX_HEADER_BYTES = 2**20
_ENCODINGS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def read_header(path: Path) -> tuple[str, list[str]]:
    """The delimiter of a CSV file, and the names of its columns.

    Raises InputError when the file cannot be read or its first line is no header.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(_MAX_HEADER_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason_of(error)})") from error
    if begin[:2] in _ENCODINGS:
        raise InputError(f"{path}: is UTF-16 text, as a spreadsheet saves it; save it as CSV UTF-8, or export it again")
    line = re.split(rb"[\r\n]", begin.removeprefix(b"\xef\xbb\xbf"), maxsplit=1)[0].decode("utf-8", "replace")
    if not line.strip():
        raise InputError(f"{path}: {'begins with an empty line' if begin else 'is empty'}; export it again")
    delimiter = max(",;\t", key=line.count)
    try:
        names = next(csv.reader(io.StringIO(line), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"{path}: its first line is no header ({error}); export it again") from error
    return delimiter, [" ".join(name.split()) for name in names]


def copy_columns(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    columns: Mapping[str, tuple[str, ...]],
    target: str,
    of_lines: Container[str] = (),
) -> list[str]:
    """Copy columns into the new DuckDB table `target`, all VARCHAR, with row_number, the number of the row.

    Cells of the columns `of_lines` may hold line breaks; elsewhere they are the sign of a quote that is not closed.
    `columns` has for each column its possible names in the file, in lower case; one that the file lacks is NULL. White space
    around a cell is dropped, and what stands for no value (N/A, NULL, nothing) is NULL. Gives warnings about lines that are
    left out. Raises InputError when the file cannot be read.
    """
    delimiter, names = read_header(path)
    positions = {name.lower(): position for position, name in reversed(list(enumerate(names)))}
    cells = []
    for column, known_as in columns.items():
        position = next((positions[name] for name in known_as if name in positions), None)
        cell = "NULL::VARCHAR" if position is None else f"trim({_column(position)}, {_WHITE_SPACE})"
        cells.append(f"if({cell} IN ('', 'N/A', 'NULL'), NULL, {cell}) AS {quote(column)}")
    file_columns = ", ".join(f"{quote_text(f'column_{position}')}: 'VARCHAR'" for position in range(len(names)))
    # Without `parallel = false` DuckDB refuses line breaks in cells beside rows that are too short.
    rows = (
        f"read_csv({quote_text(str(path))}, auto_detect = false, header = false, skip = 1, columns = {{{file_columns}}}, "
        f"delim = {quote_text(delimiter)}, quote = '\"', escape = '\"', strict_mode = false, null_padding = true, "
        "parallel = false, store_rejects = true, rejects_limit = 0, rejects_table = 'rejected_rows', "
        "rejects_scan = 'rejected_scans')"
    )
    try:
        connection.execute(
            f"CREATE TABLE {target} AS SELECT row_number() OVER () AS row_number, {', '.join(cells)} FROM {rows}"
        )
        found = connection.execute("SELECT count(DISTINCT line), min(line) FROM rejected_rows").fetchone()
        connection.execute("DROP TABLE rejected_rows; DROP TABLE rejected_scans")
    except duckdb.Error as error:
        raise InputError(f"{path}: cannot be read as CSV ({reason_of(error)}); export it again") from error
    rejected, line = found or (0, None)
    warnings = [f"{path}: {rejected:,} lines cannot be read and are left out, the first is line {line:,}"] if rejected else []
    texts = ", ".join(["''", *(quote(column) for column in columns if column not in of_lines)])
    broken = connection.execute(f"SELECT count(*) FROM {target} WHERE contains(concat({texts}), chr(10))").fetchall()[0][0]
    if broken:
        warnings.append(f"{path}: {broken:,} rows reach over several lines, since a quote is not closed; export it again")
    if not _ends_a_line(path):
        connection.execute(f"DELETE FROM {target} WHERE row_number = (SELECT max(row_number) FROM {target})")
        warnings.append(f"{path}: breaks off within a line, which is left out, so later rows may be missing; copy it again")
    return warnings


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() in (b"\r", b"\n")


_WHITE_SPACE = "' ' || chr(9) || chr(10) || chr(13)"


def _column(position: int) -> str:
    return quote(f"column_{position}")
