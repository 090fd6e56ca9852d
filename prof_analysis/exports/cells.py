"""The cells of a sheet in a workbook: their values, widths and looks."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.formatting.rule import DataBarRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._writer import WorksheetWriter
from openpyxl.worksheet.cell_range import CellRange
from openpyxl.worksheet.page import PageMargins
from openpyxl.worksheet.properties import PageSetupProperties
from rich.cells import cell_len

from prof_analysis.exports.sheets import EFFICIENCY, PERCENT, Column, Sheet

MAX_CHARACTERS = 32_767
# A spreadsheet keeps 15 digits of a number.
ROUNDED = 10**15
# Characters that XML cannot hold or keep, and the _ of a text that a spreadsheet would decode, such as _x0041_ for A.
_SPECIAL = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_CODES = {"_": "_x005F_", "\r": "_x000D_"}
_PERCENTAGE = re.compile(r"\d+(\.\d+)?%")
# The widest column, in characters; longer texts are wrapped.
_WIDEST = 60
# What a file adds to a width: 5 pixels, where a digit has 7.
_MARGIN = 5 / 7
# The arrow of the filter covers the end of a heading.
_ARROW = 3
_SHORT_HEADING = 26
LINE_HEIGHT = 15
# A row is no higher than this many lines: a longer text is whole in the formula bar.
_MOST_LINES = 5
# A row has at most 409 points.
_HIGHEST = 27
_DEEPEST_OUTLINE = 7
_DEEPEST_INDENT = 250
# So wide a sheet fits on an upright page without being smaller than it should; wider ones are printed across.
_WIDEST_UPRIGHT = 95
# The widest column of a sheet of prose.
_WIDEST_PROSE = 44
_A4 = 9
COLOR, _LINES_COLOR = "FFAFEEEE", "FFBFBFBF"


class Page:
    """A sheet of a workbook that is written row after row. `next_row` is the number of the next row, `cut` that of cut cells.

    `first_rows` decide how wide the columns are. What is written waits in a file in `folder` for the end of the workbook.
    """

    def __init__(self, book: Workbook, title: str, layout: Sheet, first_rows: Sequence[tuple[Any, ...]], folder: Path) -> None:
        self._sheet: Any = book.create_sheet(title)
        self._columns = layout.columns
        self._branch_at = layout.in_front
        # The cells that stay in sight: those in front, and the name of a row if it is one.
        self._fixed = layout.in_front + (layout.columns[layout.in_front].number_format is None)
        self._widest = _WIDEST_PROSE if layout.is_prose else _WIDEST
        self._most_lines = _HIGHEST if layout.is_prose else _MOST_LINES
        self._is_merged = layout.merged > 0
        # The cells are filled again for each row, since the writer keeps none.
        self._cells = [self._styled(column.number_format) for column in layout.columns]
        self._branches: dict[int, Cell] = {}
        indented = layout.in_front + 1 if layout.depth != "NULL" else None
        self._widths = [
            _width(column, position, first_rows, self._widest, position == indented)
            for position, column in enumerate(layout.columns, 1)
        ]
        self._runs: list[tuple[Any, int]] = [(None, 0)] * layout.merged
        self.next_row = 1
        self.cut = 0
        self._set_up(max((row[0] or 1 for row in first_rows), default=1))
        self._sheet._writer = SheetWriter(self._sheet, str(folder / f"{len(book.worksheets)}.xml"))
        self._sheet._writer.write_top()
        self._write_headings()

    def _styled(
        self, number_format: str | None, indent: int | None = None, is_bold: bool = False, is_heading: bool = False
    ) -> Cell:
        return styled(self._sheet, number_format, indent, is_bold=is_bold, is_heading=is_heading, is_ours=not self._is_merged)

    def _set_up(self, deepest: int) -> None:
        """Set the parts of a file before the rows, and how the sheet is printed."""
        sheet = self._sheet
        sheet.freeze_panes = f"{get_column_letter(1 if self._is_merged else self._fixed + 1)}2"
        sheet.sheet_properties.outlinePr.summaryBelow = False
        sheet.sheet_format.outlineLevelRow = min(deepest - 1, _DEEPEST_OUTLINE)
        for position, width in enumerate(self._widths, 1):
            sheet.column_dimensions[get_column_letter(position)].width = width + _MARGIN
        sheet.print_title_rows = "1:1"
        print_one_page_wide(sheet, sum(self._widths))

    def _write_headings(self) -> None:
        cells = []
        for column in self._columns:
            cell = self._styled(None, 0 if column.number_format else None, is_heading=True)
            cell.value = column.header
            cells.append(cell)
        lines = max(len(wrap(column.header, width - _ARROW)) for column, width in zip(self._columns, self._widths, strict=True))
        self._append(cells, lines * LINE_HEIGHT + 3)

    def _append(self, cells: list[Cell], height: int | None = None, depth: int | None = None) -> None:
        if height or depth:
            dimension = self._sheet.row_dimensions[self.next_row]
            dimension.height = height
            dimension.outlineLevel = min((depth or 1) - 1, _DEEPEST_OUTLINE)
        self._sheet.append(cells)
        # It is in the file now: so memory does not grow with the rows.
        self._sheet.row_dimensions.pop(self.next_row, None)
        self.next_row += 1

    def write(self, row: tuple[Any, ...]) -> None:
        """Write a row: its depth in a tree, or None, and the values of the columns.

        A text stays a text, whatever it begins with. An integer that a spreadsheet would round becomes a text, unless its
        column is rounded; a percentage becomes a number.
        """
        depth, *values = row
        repeated = self._repeated(values) if self._runs else ()
        lines = 1
        cells = self._cells
        if depth:
            cells = [*cells]
            cells[self._branch_at] = self._branch(depth)
        for position, (cell, value, column) in enumerate(zip(cells, values, self._columns, strict=True)):
            shown = None if position in repeated else self._shown(value, column)
            cell.value = shown
            if isinstance(shown, str):
                cell.data_type = "s"
                if 2 * len(shown) > self._widths[position] or "\n" in shown:
                    lines = max(lines, lines_of(shown, self._widths[position], self._most_lines))
        self._append(cells, min(lines, self._most_lines) * LINE_HEIGHT if lines > 1 else None, depth)

    def _branch(self, depth: int) -> Cell:
        """Return the first cell of a row in a tree."""
        if depth not in self._branches:
            self._branches[depth] = self._styled(None, min(depth, _DEEPEST_INDENT))
        return self._branches[depth]

    def _shown(self, value: Any, column: Column) -> Any:
        """Return the text, number or truth value that a cell shows."""
        if isinstance(value, str):
            if column.number_format and _PERCENTAGE.fullmatch(value):
                return round(float(value[:-1]) / 100, 9)
            text = plain_text(value)
            fit = fitting(text)
            self.cut += fit != text
            return fit or None
        if isinstance(value, int) and abs(value) >= ROUNDED and not column.is_rounded:
            return str(value)
        if isinstance(value, float) and not isfinite(value):
            return str(value)
        return value

    def _repeated(self, values: list[Any]) -> list[int]:
        """Return the leading positions that only repeat the row before, and merge the runs that end."""
        repeated = []
        for position, (key, first) in enumerate(self._runs):
            if values[: position + 1] == key:
                repeated.append(position)
            else:
                self._merge(position, first, self.next_row - 1)
                self._runs[position] = (values[: position + 1], self.next_row)
        return repeated

    def _merge(self, position: int, first: int, last: int) -> None:
        if 0 < first < last:
            # Not with add(), which compares with all earlier ranges.
            self._sheet.merged_cells.ranges.add(CellRange(None, position + 1, first, position + 1, last))

    def finish(self) -> None:
        """Write the sums below the rows, and the parts of a file after them."""
        sheet, columns, last = self._sheet, self._columns, self.next_row - 1
        for position, (_, first) in enumerate(self._runs):
            self._merge(position, first, last)
        if last > 1 and any(column.adds_up for column in columns):
            self._write_sums(last)
        for position, column in enumerate(columns, 1):
            if column.number_format in (PERCENT, EFFICIENCY):
                letter = get_column_letter(position)
                bar = DataBarRule("num", 0, "num", 1, color=COLOR)  # type: ignore[no-untyped-call]
                sheet.conditional_formatting.add(f"{letter}2:{letter}{max(last, 2)}", bar)
        if not self._is_merged:
            sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{last}"
        sheet.close()

    def _write_sums(self, last: int) -> None:
        """Write a row of sums, which follow the filter. They have no values until a spreadsheet opens the file."""
        cells = []
        for position, column in enumerate(self._columns, 1):
            cell = self._styled(column.number_format, is_bold=True)
            if column.adds_up:
                letter = get_column_letter(position)
                cell.value = f"=SUBTOTAL(9,{letter}2:{letter}{last})"
            elif position == 1:
                cell.value = "Total"
            cells.append(cell)
        self._append(cells)


class SheetWriter(WorksheetWriter):
    """A writer of openpyxl whose file lies where we say: its own would stay in the temporary folder of a killed process."""

    def cleanup(self) -> None:
        """Remove the file."""
        Path(str(self.out)).unlink()


def styled(
    sheet: Any,
    number_format: str | None,
    indent: int | None = None,
    *,
    is_bold: bool = False,
    is_heading: bool = False,
    is_ours: bool = True,
) -> Cell:
    """Return an empty cell, for texts where there is no number format; one that is not ours looks like msprof-analyze's."""
    cell = WriteOnlyCell(sheet)
    cell.font = Font("Calibri" if is_ours else "Times New Roman", 11, bold=is_bold or is_heading)
    side = Side("thin", _LINES_COLOR if is_ours else None)
    cell.border = Border(side, side, side, side)
    if is_heading:
        cell.fill = PatternFill("solid", COLOR)
    if number_format:
        cell.number_format = number_format
        cell.alignment = Alignment(vertical="center")
    else:
        # Numbers end where texts begin: so texts are set off.
        set_off = int(is_ours) if indent is None else indent
        # An indent counts only in a text that is set left.
        cell.alignment = Alignment("left" if set_off else None, "center", wrap_text=True, indent=set_off)
    return cell


def print_one_page_wide(sheet: Any, width: float) -> None:
    """Print a sheet of this width, in characters, on pages one beside none, upright or across."""
    sheet.page_setup.orientation = "portrait" if width <= _WIDEST_UPRIGHT else "landscape"
    sheet.page_setup.paperSize = _A4
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_setup.fitToHeight = 0
    sheet.page_margins = PageMargins(left=0.4, right=0.4, top=0.5, bottom=0.7, footer=0.4)
    sheet.oddFooter.left.text = "&A"
    sheet.oddFooter.right.text = "&P / &N"


def plain_text(text: str) -> str:
    """Return a text as a spreadsheet shows it: what XML cannot hold is replaced, and what looks like a code stays as it is."""
    return _SPECIAL.sub(lambda found: _CODES.get(found[0], "\ufffd"), text)


def width_of(column: Column, values: Iterable[Any]) -> int:
    """Return a width for the heading and the values of a column, as far as it is useful."""
    return _width(column, 1, ((None, value) for value in values), _WIDEST, False)


def _width(column: Column, position: int, rows: Iterable[tuple[Any, ...]], widest: int, is_indented: bool) -> int:
    """Return a width for the heading in two or three lines and the values in rows, as far as it is useful."""
    lines = 2 if len(column.header) <= _SHORT_HEADING else 3
    width = max(map(len, column.header.split()))
    while len(wrap(column.header, width)) > lines:
        width += 1
    width += _ARROW
    for row in rows:
        value = row[position]
        if isinstance(value, str):
            indent = 2 * (row[0] or 1) if is_indented else 2
            width = max(width, min(widest, indent + max(map(_length, value[: 2 * widest].split("\n")))))
        elif isinstance(value, int | float):
            width = max(width, len(f"{value:,}" if isinstance(value, int) else f"{value:,.2f}") + 2)
    return width


@lru_cache(maxsize=1024)  # Names repeat, but each may be long.
def lines_of(text: str, width: int, most: int) -> int:
    """Return about how many lines a text takes, of which the cell has room for `most`."""
    parts = text[: width * most].split("\n")
    return sum(1 if _length(part) <= width else len(wrap(part, max(1, width - 6), break_on_hyphens=False)) for part in parts)


def _length(line: str) -> int:
    """Return about how wide a line is with space around it, in digits; some letters are wider."""
    return cell_len(line) * 11 // 10 + 3


def fitting(text: str) -> str:
    """Return the part of a text that fits into a cell; the format counts UTF-16 units."""
    if 2 * len(text) <= MAX_CHARACTERS:
        return text
    return text.encode("utf-16-le")[: 2 * MAX_CHARACTERS].decode("utf-16-le", "ignore")
