"""Export to xlsx: one workbook per rank.

For module statistics the sheets are Tree, whose modules fold, Rows, which can be filtered, Coverage, and Sheet1, which has the
rows in the layout of msprof-analyze, with merged Parent Module and Module cells. Every other table is one sheet; a table over
all ranks has its own workbook, and all tables over runs are in one. Rows are streamed, however many they are. Cells are cut at
the limit of the format, with a warning; long tables continue in further sheets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, count, islice
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import duckdb
from openpyxl import Workbook
from openpyxl.writer.excel import ExcelWriter

from prof_analysis.common.errors import OutputError, reason_of
from prof_analysis.common.files import replacing
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.table_file import Table
from prof_analysis.exports.books import books
from prof_analysis.exports.cells import MAX_CHARACTERS, Page
from prof_analysis.exports.sheets import Sheet
from prof_analysis.sources.rank import Rank

MAX_ROWS = 1_048_576
# A sheet's name has at most this many characters.
_MAX_TITLE = 31
# The rows that decide how wide the columns are.
_MEASURED_ROWS = 500


def write(
    connection: duckdb.DuckDBPyConnection,
    ranks: Sequence[Rank],
    folder: Path,
    exports: Mapping[str, str],
    documented: Mapping[str, Table],
    warnings: list[str],
) -> list[Path]:
    """Write a workbook for each rank that has rows of the first table, such as ModuleStatistic/module_statistic_0.xlsx.

    The name has the rank id if only one folder has this id, else the folder's name; where two such names would be one file, or
    the name is too long for a file, it ends in a digest of the folder's name. A table over all ranks has a workbook beside
    these. Return the files. A warning of each workbook with cut cells is added to `warnings`.
    """
    tables = [(documented[table], name) for table, name in exports.items()]
    first_name = folder_name(exports, documented)
    folder = folder / first_name
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({reason_of(error)}); give another folder with -o", path=folder) from error
    written = []
    for name, sheets in books(connection, ranks, tables, first_name):
        target = folder / f"{name}.xlsx"
        with replacing(target) as unfinished, temporary_folder() as scratch:
            cut = _write_workbook(sheets, unfinished, scratch)
        if cut:
            warnings.append(
                f"{target}: {cut} {'cell was' if cut == 1 else 'cells were'} cut at {MAX_CHARACTERS:,} characters; "
                "db, csv and parquet hold the whole texts"
            )
        written.append(target)
    return written


def folder_name(exports: Mapping[str, str], documented: Mapping[str, Table]) -> str:
    """Return the name of the folder of workbooks; the workbook of a rank has the name of the first table of ranks."""
    first, *_ = exports.values()
    return next((name for table, name in exports.items() if documented[table].grain == "rank"), first)


def _write_workbook(sheets: Iterable[tuple[Sheet, Iterator[tuple[Any, ...]]]], target: Path, scratch: Path) -> int:
    """Write the sheets of a workbook, and return the number of cells that were cut."""
    book = Workbook(write_only=True)
    try:
        try:
            cut = sum(_write_sheet(book, sheet, rows, scratch) for sheet, rows in sheets)
        except OSError as error:  # Each sheet waits in a temporary file.
            raise OutputError(
                f"{gettempdir()}: temporary files cannot be written ({reason_of(error)}); set TMPDIR to a larger disk",
                path=Path(gettempdir()),
            ) from error
        # Not with save(), which leaves the file open when the disk is full: closing it late would print a traceback.
        with ZipFile(target, "w", ZIP_DEFLATED) as archive:
            ExcelWriter(book, archive).save()
        return cut
    except BaseException:
        _discard(book)
        raise


def _discard(book: Workbook) -> None:
    """Close the sheets of a workbook: an open one would print a second traceback."""
    archive: Any = SimpleNamespace(write=lambda *_: None)
    writer = ExcelWriter(book, archive)
    for sheet in book.worksheets:
        with suppress(Exception):  # The error is already being raised.
            writer.write_worksheet(sheet)


def _write_sheet(book: Workbook, layout: Sheet, rows: Iterator[tuple[Any, ...]], scratch: Path) -> int:
    """Write rows to a sheet, and to further sheets when one is full. Return the number of cells that were cut."""
    rows_of_page = MAX_ROWS - any(column.adds_up for column in layout.columns)
    first_rows = list(islice(rows, _MEASURED_ROWS))
    rows = chain(first_rows, rows)
    row = next(rows, None)
    cut = 0
    for part in count(1):
        ending = "" if part == 1 else f" ({part})"
        page = Page(book, layout.title[: _MAX_TITLE - len(ending)] + ending, layout, first_rows, scratch)
        while row is not None and page.next_row <= rows_of_page:
            page.write(row)
            row = next(rows, None)
        page.finish()
        cut += page.cut
        if row is None:
            return cut
    raise AssertionError("count() never ends")
