"""Export to xlsx: one workbook over all ranks.

Its first sheet, About, says what it is and has the answer of the command in units that people read; a sheet Findings has what
the answer explains in words. Then each table is a sheet, with the rank in front, and the last one, Columns, says what their
columns mean. Of module statistics each rank has a workbook too, with the rows in the layout of msprof-analyze. Rows are
streamed, however many they are. Cells are cut at the limit of the format, with a warning. Where the rows of all ranks do not
fit on a sheet, further ranks are in further workbooks; a longer table of one rank continues in further sheets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, count, islice
from pathlib import Path
from tempfile import gettempdir
from types import SimpleNamespace
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import duckdb
from openpyxl import Workbook
from openpyxl.writer.excel import ExcelWriter

from prof_analysis.analyses.answer import Answer
from prof_analysis.common.errors import OutputError, reason_of
from prof_analysis.common.files import replacing
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.table_file import Table
from prof_analysis.exports.about import Line, about, ranks_in_words
from prof_analysis.exports.books import Book, Rows, books
from prof_analysis.exports.cells import MAX_CHARACTERS, Page
from prof_analysis.exports.first_sheet import write_first_sheet
from prof_analysis.exports.human import findings_of
from prof_analysis.exports.names import file_name
from prof_analysis.exports.provenance import Origin
from prof_analysis.exports.sheets import Column, Sheet
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
    origin: Origin,
    answers: Mapping[str, Answer],
    warnings: list[str],
) -> list[Path]:
    """Write a workbook with the rows of all ranks, such as StepTime/step_time.xlsx, and return the files.

    Where their rows do not fit on a sheet, further ranks are in step_time_part2.xlsx and so on. For each rank that has module
    statistics there is a workbook as msprof-analyze makes it, ModuleStatistic/module_statistic_0.xlsx. Its name has the rank id
    if only one folder has this id, else the folder's name; where two such names would be one file, or the name is too long for
    a file, it ends in a digest of the folder's name. A warning of each workbook with cut cells, and of ranks in further ones,
    is added to `warnings`.
    """
    tables = [(documented[table], name) for table, name in exports.items()]
    first_name = folder_name(exports, documented)
    folder = folder / first_name
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({reason_of(error)}); give another folder with -o", path=folder) from error
    written, parts = [], 1
    for book in books(connection, ranks, tables, first_name, MAX_ROWS - 2):  # The headings and the sums are rows too.
        target = folder / f"{book.name}.xlsx"
        lines, sheets = _all_sheets(book, origin, answers) if book.part else ([], book.sheets)
        with replacing(target) as unfinished, temporary_folder() as scratch:
            cut = _write_workbook(lines, sheets, unfinished, scratch)
        if cut:
            warnings.append(
                f"{target}: {cut} {'cell was' if cut == 1 else 'cells were'} cut at {MAX_CHARACTERS:,} characters; "
                "db, csv and parquet hold the whole texts"
            )
        if book.part and book.parts > 1:
            warnings.append(
                f"{target}: part {book.part} of {book.parts}, {ranks_in_words(book.ranks)}: all ranks together have more rows "
                f"than a sheet; parquet and duckdb hold them in one file"
            )
        written.append(target)
        parts = max(parts, book.parts)
    _remove_parts(folder / file_name(first_name), parts)
    return written


def _remove_parts(book: Path, parts: int) -> None:
    """Remove what an earlier export of more rows has left."""
    for number in count(parts + 1):
        file = book.with_name(f"{book.name}_part{number}.xlsx")
        if not file.is_file():
            return
        try:
            file.unlink()
        except OSError as error:
            raise OutputError(
                f"{file}: is outdated and cannot be removed ({reason_of(error)}); remove it", path=file
            ) from error


def _all_sheets(book: Book, origin: Origin, answers: Mapping[str, Answer]) -> tuple[list[Line], Sequence[tuple[Sheet, Rows]]]:
    """Return the lines of the first sheet of a workbook, and its other sheets: findings, the tables, and their columns."""
    if book.part > 1:
        answers = {run: replace(answer, blocks=()) for run, answer in answers.items()}
    findings = findings_of(answers)
    sheets = [*([findings] if findings else []), *book.sheets, _columns_of([sheet for sheet, _ in book.sheets])]
    return [*about(book, [sheet for sheet, _ in sheets], origin, answers)], sheets


def _columns_of(sheets: Iterable[Sheet]) -> tuple[Sheet, Rows]:
    """Return the sheet that says what the columns of the others mean."""
    columns = tuple(Column("", name) for name in ("Sheet", "Column", "Name in SQL", "Meaning"))
    rows = (
        (None, sheet.title, column.header, column.source.strip('"'), column.meaning)
        for sheet in sheets
        for column in sheet.columns
    )
    return Sheet("Columns", columns, "One row is a column of a sheet, with its meaning.", is_prose=True), rows


def folder_name(exports: Mapping[str, str], documented: Mapping[str, Table]) -> str:
    """Return the name of the folder of workbooks, and of the workbook: that of the first table of ranks, if any."""
    first, *_ = exports.values()
    return next((name for table, name in exports.items() if documented[table].grain == "rank"), first)


def _write_workbook(lines: Sequence[Line], sheets: Iterable[tuple[Sheet, Rows]], target: Path, scratch: Path) -> int:
    """Write a workbook: a first sheet of lines if there are some, and sheets. Return the number of cells that were cut."""
    book = Workbook(write_only=True)
    try:
        try:
            if lines:
                write_first_sheet(book, lines, scratch)
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
