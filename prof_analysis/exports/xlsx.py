"""Export to xlsx: one workbook per rank, as readable as that of msprof-analyze and laid out like it.

Of module statistic, Sheet1 has merged Parent Module and Module cells. Merged cells cannot be filtered, so Rows is the same
without merging, with a filter. Other tables are a sheet each; one over all ranks is a workbook of its own. Rows are streamed,
whatever their number; cells and sheets are cut at the limits of the format, and the warnings say so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
from openpyxl import Workbook
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.formatting.rule import DataBarRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.cell_range import CellRange
from openpyxl.worksheet.properties import PageSetupProperties

from prof_analysis.database import quote_text
from prof_analysis.exports.files import replacing
from prof_analysis.exports.names import file_name
from prof_analysis.exports.sheets import PERCENT, Column, Sheet, sheets_of
from prof_analysis.rank import Rank
from prof_analysis.store import table_file
from prof_analysis.tables import Table, documented_tables

MAX_CHARACTERS = 32_767
MAX_ROWS = 1_048_576

_FONT = "Times New Roman"


def write(
    connection: duckdb.DuckDBPyConnection,
    stores: Mapping[Rank, Path],
    folder: Path,
    exports: Mapping[str, str],
    warnings: list[str],
) -> list[Path]:
    """Write ModuleStatistic/module_statistic_{rank}.xlsx, or what the first table is called, of each rank that has rows of it.

    The name holds the rank id where only one folder has it, else the folder's name. A table over all ranks goes into a workbook
    beside them. Gives the files. What had to be cut is added to `warnings`.
    """
    tables = {documented_tables()[table]: name for table, name in exports.items()}
    of_ranks = {table: name for table, name in tables.items() if not table.is_across_ranks}
    first, first_name = next(iter(tables.items()))
    of_ranks = {table: name for table, name in tables.items() if table.is_of_each_rank}
    first, first_name = next(iter((of_ranks or tables).items()))
    folder = folder / first_name
    folder.mkdir(exist_ok=True)
    books: dict[Path, dict[Table, str]] = {}
    for rank, store in stores.items() if of_ranks else ():
        rows = {table: f"read_parquet({quote_text(str(table_file(store, table.name)))})" for table in of_ranks}
        if connection.execute(f"SELECT 1 FROM {rows[first]} LIMIT 1").fetchall():
            books[folder / f"{file_name(first_name)}_{_name_of(rank, stores)}.xlsx"] = rows
    for table, name in tables.items():
        if not table.is_of_each_rank:
            books[folder / f"{file_name(name)}.xlsx"] = {table: table.name}
    for target, rows in books.items():
        with replacing(target) as unfinished:
            cut = _write_workbook(connection, rows, tables, unfinished)
        if cut:
            warnings.append(
                f"{target}: {cut} cells were cut at {MAX_CHARACTERS:,} characters; db, csv and parquet hold them whole"
            )
    return list(books)


def _name_of(rank: Rank, ranks: Iterable[Rank]) -> str:
    has_own_number = [other.rank_id for other in ranks].count(rank.rank_id) == 1 and rank.rank_id is not None
    return str(rank.rank_id) if has_own_number else re.sub(r"[^\w.-]", "_", rank.profile)


def _write_workbook(
    connection: duckdb.DuckDBPyConnection, rows_of: Mapping[Table, str], names: Mapping[Table, str], target: Path
) -> int:
    book = Workbook(write_only=True)
    try:
        cut = 0
        for table, rows in rows_of.items():
            for layout in sheets_of(table, names[table]):
                shown = replace(layout, columns=tuple(_with_values(connection, rows, layout.columns)))
                result = connection.execute(f"SELECT {', '.join(column.source for column in shown.columns)} FROM {rows}")
                cut += _write_sheets(book, shown, _rows(result))
        book.save(target)
        return cut
    finally:
        for sheet in book.worksheets:
            with suppress(Exception):  # What failed is on its way already; an open sheet would print a second traceback.
                sheet.close()


def _with_values(connection: duckdb.DuckDBPyConnection, rows: str, columns: Iterable[Column]) -> Iterator[Column]:
    for column in columns:
        if (
            not column.is_optional
            or connection.execute(f"SELECT 1 FROM {rows} WHERE {column.source} IS NOT NULL LIMIT 1").fetchall()
        ):
            yield column


def _write_sheets(book: Workbook, layout: Sheet, rows: Iterator[tuple[Any, ...]]) -> int:
    """Write rows to a sheet, and to further ones when they are more than a sheet holds. Give how many cells were cut."""
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
            cut += _fill(cells, row)
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
        if row is None:
            return cut
    raise AssertionError("count() never ends")


class _Runs:
    """Merges the cells of the first columns over neighbouring rows that agree in this column and all before it."""

    def __init__(self, sheet: Any, columns: int) -> None:
        self._sheet = sheet
        self._first: list[tuple[Any, int]] = [(None, 0)] * columns

    def repeated(self, number: int, row: tuple[Any, ...]) -> list[int]:
        """The positions in this row that only repeat the row before."""
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
            # Not by add(), which compares with every range so far.
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
    """One styled cell per column, filled anew for each row: the writer keeps nothing of it."""
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


def _fill(cells: list[Cell], row: tuple[Any, ...]) -> int:
    """Put the values of a row into the cells; a text stays a text, whatever it begins with. Give how many were cut."""
    cut = 0
    for cell, value in zip(cells, row, strict=True):
        if isinstance(value, str):
            text = ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)
            fitting = _fitting(text)
            cut += fitting != text
            cell.value = fitting
            cell.data_type = "s"
        else:
            cell.value = value
    return cut


def _fitting(text: str) -> str:
    """The part of a text that a cell holds; the format counts UTF-16 units."""
    if 2 * len(text) <= MAX_CHARACTERS:
        return text
    return text.encode("utf-16-le")[: 2 * MAX_CHARACTERS].decode("utf-16-le", "ignore")


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := result.fetchmany(1000):
        yield from batch
