"""Export to xlsx: one workbook per rank, with the layout of msprof-analyze.

For module statistics, Sheet1 has merged Parent Module and Module cells. Merged cells cannot be filtered, so the sheet Rows has
the same rows without merging and with a filter. Every other table is one sheet; a table over all ranks has its own workbook.
Rows are streamed, however many they are. Cells are cut at the limit of the format, with a warning; long tables continue in
further sheets.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import duckdb
from openpyxl import Workbook
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.formatting.rule import DataBarRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.cell_range import CellRange
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.writer.excel import ExcelWriter

from prof_analysis.engine.tables import Table
from prof_analysis.errors import OutputError, reason_of
from prof_analysis.exports.books import books
from prof_analysis.exports.files import replacing
from prof_analysis.exports.sheets import PERCENT, Column, Sheet
from prof_analysis.sources.rank import Rank

MAX_CHARACTERS = 32_767
MAX_ROWS = 1_048_576
# A spreadsheet keeps 15 digits of a number.
ROUNDED = 10**15
# Characters that XML cannot hold.
_ILLEGAL = re.compile(f"{ILLEGAL_CHARACTERS_RE.pattern}|[\ufffe\uffff]")

_FONT = "Times New Roman"


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
    # The workbook of a rank has the name of the first table of ranks.
    first_name = next((name for table, name in tables if table.grain == "rank"), tables[0][1])
    folder = folder / first_name
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({reason_of(error)}); give another folder with -o", path=folder) from error
    written = []
    for name, sheets in books(connection, ranks, tables, first_name):
        target = folder / f"{name}.xlsx"
        with replacing(target) as unfinished:
            cut = _write_workbook(sheets, unfinished)
        if cut:
            warnings.append(
                f"{target}: {cut} {'cell was' if cut == 1 else 'cells were'} cut at {MAX_CHARACTERS:,} characters; "
                "db, csv and parquet hold the whole texts"
            )
        written.append(target)
    return written


def _write_workbook(sheets: Iterable[tuple[Sheet, Iterator[tuple[Any, ...]]]], target: Path) -> int:
    """Write the sheets of a workbook, and return the number of cells that were cut."""
    book = Workbook(write_only=True)
    try:
        try:
            cut = sum(_write_sheets(book, sheet, rows) for sheet, rows in sheets)
        except OSError as error:  # openpyxl collects each sheet in a temporary file.
            raise OutputError(
                f"{target.parent}: temporary files cannot be written ({reason_of(error)}); set TMPDIR to a larger disk",
                path=target.parent,
            ) from error
        # Not with save(), which leaves the file open when the disk is full: closing it late would print a traceback.
        with ZipFile(target, "w", ZIP_DEFLATED) as archive:
            ExcelWriter(book, archive).save()
        return cut
    finally:
        for sheet in book.worksheets:
            with suppress(Exception):  # The error is already being raised; an open sheet would print a second traceback.
                sheet.close()


def _write_sheets(book: Workbook, layout: Sheet, rows: Iterator[tuple[Any, ...]]) -> int:
    """Write rows to a sheet, and to further sheets when one is full. Return the number of cells that were cut."""
    cut = 0
    columns = layout.columns
    row = next(rows, None)
    for part in count(1):
        sheet = book.create_sheet(layout.title if part == 1 else f"{layout.title} ({part})")
        sheet.freeze_panes = "A2"
        sheet.page_setup.orientation = "landscape"
        sheet.page_setup.fitToHeight = 0
        sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
        for position, column in enumerate(columns, 1):
            sheet.column_dimensions[get_column_letter(position)].width = column.width
        sheet.row_dimensions[1].height = 27
        sheet.append(_header(sheet, columns))
        cells = _body(sheet, columns)
        runs = _Runs(sheet, layout.merged)
        number = 1
        while row is not None and number < MAX_ROWS:
            number += 1
            cut += _fill(cells, row, columns)
            for position in runs.repeated(number, row):
                cells[position].value = None
            sheet.append(cells)
            row = next(rows, None)
        runs.close(number)
        if not layout.merged:
            sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{number}"
        for position, column in enumerate(columns, 1):
            if column.number_format == PERCENT:
                letter = get_column_letter(position)
                bar = DataBarRule("num", 0, "num", 1, color="AFEEEE")  # type: ignore[no-untyped-call]
                sheet.conditional_formatting.add(f"{letter}2:{letter}{max(number, 2)}", bar)
        sheet.close()
        if row is None:
            return cut
    raise AssertionError("count() never ends")


class _Runs:
    """Runs of neighbouring rows that agree in a column and all columns before it: their cells are merged."""

    def __init__(self, sheet: Any, columns: int) -> None:
        self._sheet = sheet
        self._first: list[tuple[Any, int]] = [(None, 0)] * columns

    def repeated(self, number: int, row: tuple[Any, ...]) -> list[int]:
        """Return the positions in this row that only repeat the row before."""
        repeated = []
        for position, (key, first) in enumerate(self._first):
            if row[: position + 1] == key:
                repeated.append(position)
            else:
                self._merge(position, first, number - 1)
                self._first[position] = (row[: position + 1], number)
        return repeated

    def close(self, last: int) -> None:
        for position, (_, first) in enumerate(self._first):
            self._merge(position, first, last)

    def _merge(self, position: int, first: int, last: int) -> None:
        if 0 < first < last:
            # Not with add(), which compares with all earlier ranges.
            self._sheet.merged_cells.ranges.add(CellRange(None, position + 1, first, position + 1, last))


def _header(sheet: Any, columns: Sequence[Column]) -> list[Cell]:
    cells = _body(sheet, columns)
    for cell, column in zip(cells, columns, strict=True):
        cell.value = column.header
        cell.font = Font(name=_FONT, bold=True)
        cell.fill = PatternFill("solid", fgColor="AFEEEE")
        cell.alignment = Alignment(vertical="center", wrap_text=True)
    return cells


def _body(sheet: Any, columns: Sequence[Column]) -> list[Cell]:
    """Return one styled cell per column. They are filled again for each row, since the writer keeps no cells."""
    side = Side(style="thin")
    cells = []
    for column in columns:
        cell = WriteOnlyCell(sheet)
        cell.font = Font(name=_FONT)
        cell.alignment = Alignment(vertical="center")
        cell.border = Border(side, side, side, side)
        if column.number_format:
            cell.number_format = column.number_format
        cells.append(cell)
    return cells


def _fill(cells: list[Cell], row: tuple[Any, ...], columns: Sequence[Column]) -> int:
    """Put the values of a row into the cells, and return the number of cells that were cut.

    A text stays a text, whatever it begins with. An integer that a spreadsheet would round becomes a text, unless its column
    is summed.
    """
    cut = 0
    for cell, value, column in zip(cells, row, columns, strict=True):
        if isinstance(value, int) and abs(value) >= ROUNDED and not column.is_summed:
            cell.value = str(value)
            cell.data_type = "s"
        elif isinstance(value, str):
            text = _ILLEGAL.sub("\ufffd", value)
            fitting = _fitting(text)
            cut += fitting != text
            cell.value = fitting
            cell.data_type = "s"
        else:
            cell.value = value
    return cut


def _fitting(text: str) -> str:
    """Return the part of a text that fits into a cell; the format counts UTF-16 units."""
    if 2 * len(text) <= MAX_CHARACTERS:
        return text
    return text.encode("utf-16-le")[: 2 * MAX_CHARACTERS].decode("utf-16-le", "ignore")
