"""Export to xlsx: one workbook per rank, as readable as that of msprof-analyze and laid out like it.

Sheet1 is the module statistic with merged Parent Module and Module cells. Merged cells cannot be filtered, so Rows is the same
without merging, with a filter. Tree and Coverage are module.tree and module.coverage. Rows are streamed, whatever their number;
cells and sheets are cut at the limits of the format, and the warnings say so.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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

from prof_analysis.exports.files import replacing
from prof_analysis.rank import Rank
from prof_analysis.ranks import store_file

MAX_CHARACTERS = 32_767
MAX_ROWS = 1_048_576

_NUMBER, _FRACTION, _PERCENT = "#,##0", "#,##0.00", "0.0%"
_FONT = "Times New Roman"


@dataclass(frozen=True)
class Column:
    """A column of a sheet: where it comes from, its header, its width, and the number format if it holds numbers."""

    source: str
    header: str
    width: int
    number_format: str | None = None


_STATISTIC = (
    Column("parent_module", "Parent Module", 40),
    Column("module", "Module", 40),
    Column("op_name", "Op Name", 40),
    Column("kernel_list", "Kernel List", 50),
    Column("total_kernel_duration_ns", "Total Kernel Duration(ns)", 10, _NUMBER),
    Column("avg_kernel_duration_ns", "Avg Kernel Duration(ns)", 10, _FRACTION),
    Column("op_count", "Op Count", 10, _NUMBER),
)
_TREE = (
    Column("repeat('    ', depth - 1) || module", "Module", 60),
    Column("calls", "Calls", 10, _NUMBER),
    Column("kernel_duration_share", "Share Of All Kernel Time", 14, _PERCENT),
    Column("kernel_duration_ns", "Kernel Duration(ns)", 20, _NUMBER),
    Column("own_kernel_duration_ns", "Own Kernel Duration(ns)", 20, _NUMBER),
    Column("avg_kernel_duration_ns", "Avg Kernel Duration(ns)", 20, _FRACTION),
    Column("parent_module", "Parent Module", 80),
)
_COVERAGE = (
    Column("kind", "Kernels", 20),
    Column("place", "Place", 24),
    Column("reason", "Reason", 28),
    Column("kernel_duration_share", "Share Of The Kind", 14, _PERCENT),
    Column("kernel_duration_ns", "Kernel Duration(ns)", 20, _NUMBER),
    Column("kernel_count", "Kernel Count", 14, _NUMBER),
    Column("top_ops", "Top Ops", 60),
)


def write(
    connection: duckdb.DuckDBPyConnection,
    stores: Mapping[Rank, Path],
    folder: Path,
    warnings: list[str],
) -> list[Path]:
    """Write ModuleStatistic/module_statistic_{rank}.xlsx of each rank that has rows; give the files.

    The name holds the rank id where only one folder has it, else the folder's name. What had to be cut is added to `warnings`.
    """
    written = []
    (folder / "ModuleStatistic").mkdir(exist_ok=True)
    for rank, store in stores.items():
        count_of_rows = connection.execute("SELECT count(*) FROM read_parquet($1)", [_file(store, "module.statistic")])
        if count_of_rows.fetchall() == [(0,)]:
            continue
        has_own_number = [other.rank_id for other in stores].count(rank.rank_id) == 1 and rank.rank_id is not None
        name = str(rank.rank_id) if has_own_number else re.sub(r"[^\w.-]", "_", rank.profile)
        target = folder / "ModuleStatistic" / f"module_statistic_{name}.xlsx"
        with replacing(target) as unfinished:
            cut = _write_workbook(connection, store, unfinished)
        if cut:
            warnings.append(
                f"{target}: {cut} cells were cut at {MAX_CHARACTERS:,} characters; db, csv and parquet hold them whole"
            )
        written.append(target)
    return written


def _write_workbook(connection: duckdb.DuckDBPyConnection, store: Path, target: Path) -> int:
    book = Workbook(write_only=True)
    try:
        cut = 0
        for title, table, columns, merged in (
            ("Sheet1", "module.statistic", _STATISTIC, 2),
            ("Rows", "module.statistic", _STATISTIC, 0),
            ("Tree", "module.tree", _TREE, 0),
            ("Coverage", "module.coverage", _COVERAGE, 0),
        ):
            query = f"SELECT {', '.join(column.source for column in columns)} FROM read_parquet($1)"
            result = connection.execute(query, [_file(store, table)])
            cut += _write_sheets(book, title, columns, _rows(result), merged)
        book.save(target)
        return cut
    finally:
        for sheet in book.worksheets:
            with suppress(Exception):  # What failed is on its way already; an open sheet would print a second traceback.
                sheet.close()


def _write_sheets(book: Workbook, title: str, columns: Sequence[Column], rows: Iterator[tuple[Any, ...]], merged: int) -> int:
    """Write rows to a sheet, and to further ones when they are more than a sheet holds. Give how many cells were cut."""
    cut = 0
    row = next(rows, None)
    for part in count(1):
        sheet = book.create_sheet(title if part == 1 else f"{title} ({part})")
        sheet.freeze_panes = "A2"
        sheet.page_setup.orientation = "landscape"
        sheet.page_setup.fitToHeight = 0
        sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
        for position, column in enumerate(columns, 1):
            sheet.column_dimensions[get_column_letter(position)].width = column.width
        sheet.row_dimensions[1].height = 27
        sheet.append(_header(sheet, columns))
        cells = _body(sheet, columns)
        runs = _Runs(sheet, merged)
        number = 1
        while row is not None and number < MAX_ROWS:
            number += 1
            cut += _fill(cells, row)
            for position in runs.repeated(number, row):
                cells[position].value = None
            sheet.append(cells)
            row = next(rows, None)
        runs.close(number)
        if not merged:
            sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{number}"
        for position, column in enumerate(columns, 1):
            if column.number_format == _PERCENT:
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


def _file(store: Path, table: str) -> str:
    return str(store_file(store, table))
