"""The cells of a sheet in a workbook: their values, widths and looks."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from math import isfinite
from textwrap import wrap
from typing import Any

from rich.cells import cell_len
from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_rowcol_to_cell
from xlsxwriter.worksheet import Worksheet

from prof_analysis.exports.sheets import EFFICIENCY, PERCENT, Column, Sheet

MAX_CHARACTERS = 32_767
# A spreadsheet keeps 15 digits of a number.
ROUNDED = 10**15
# Characters that XML cannot hold.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PERCENTAGE = re.compile(r"\d+(\.\d+)?%")
# The widest column, in characters; longer texts are wrapped.
_WIDEST = 60
# The arrow of the filter covers the end of a heading.
_ARROW = 3
_SHORT_HEADING = 26
_LINE_HEIGHT = 15
# A row is no higher than this many lines: a longer text is whole in the formula bar.
_MOST_LINES = 5
_DEEPEST_OUTLINE = 7
_WIDEST_ON_PAPER = 300
_A4 = 9
_COLOR, _LINES_COLOR = "#AFEEEE", "#BFBFBF"
_BAR = {"type": "data_bar", "min_type": "num", "min_value": 0, "max_type": "num", "max_value": 1, "bar_color": _COLOR}


class Styles:
    """The formats of a workbook, each made once."""

    def __init__(self, book: Workbook) -> None:
        self._book = book
        self.of = cache(self._made)

    def _made(
        self, font: str | None, number_format: str | None, indent: int = 0, is_bold: bool = False, is_heading: bool = False
    ) -> Format:
        """Make a format, of texts where there is no number format."""
        return self._book.add_format(
            {
                **({"font_name": font} if font else {}),
                **({"num_format": number_format} if number_format else {"text_wrap": True}),
                **({"indent": indent} if indent else {}),
                **({"bg_color": _COLOR} if is_heading else {}),
                "bold": is_bold or is_heading,
                "border": 1,
                **({} if font else {"border_color": _LINES_COLOR}),
                "valign": "vcenter",
            }
        )


class PlainText(Worksheet):
    """A worksheet whose texts are never markup: XlsxWriter takes a text such as <r>...</r> for its own."""

    def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
        self._xml_inline_string(string, True, attributes)


class Page:
    """A sheet of a workbook that is written row after row. `next_row` is the number of the next row, `cut` that of cut cells.

    `first_rows` decide how wide the columns are.
    """

    def __init__(
        self, book: Workbook, title: str, layout: Sheet, styles: Styles, first_rows: Sequence[tuple[Any, ...]]
    ) -> None:
        self._sheet = book.add_worksheet(title, PlainText)
        self._columns = layout.columns
        self._styles = styles
        # As the sheet of msprof-analyze has it.
        self._font = "Times New Roman" if layout.merged else None
        # Numbers end where texts begin: so texts are set off.
        self._text_indent = 0 if layout.merged else 1
        self._formats = [
            styles.of(self._font, column.number_format, 0 if column.number_format else self._text_indent)
            for column in layout.columns
        ]
        self._widths = [_width(column, position, first_rows) for position, column in enumerate(layout.columns, 1)]
        self._sums: list[float] = [0 for _ in layout.columns]
        self._runs: list[tuple[Any, int]] = [(None, 0)] * layout.merged
        self.next_row = 1
        self.cut = 0
        self._write_headings()

    def _write_headings(self) -> None:
        lines = 1
        for position, (column, width) in enumerate(zip(self._columns, self._widths, strict=True)):
            indent = 0 if column.number_format else self._text_indent
            self._sheet.write_string(0, position, column.header, self._styles.of(self._font, None, indent, is_heading=True))
            self._sheet.set_column(position, position, width)
            lines = max(lines, len(wrap(column.header, width - _ARROW)))
        self._sheet.set_row(0, lines * _LINE_HEIGHT + 3)

    def write(self, row: tuple[Any, ...]) -> None:
        """Write a row: its depth in a tree, or None, and the values of the columns.

        A text stays a text, whatever it begins with. An integer that a spreadsheet would round becomes a text, unless its
        column is rounded; a percentage becomes a number.
        """
        depth, *values = row
        number, sheet = self.next_row, self._sheet
        repeated = self._repeated(values) if self._runs else ()
        lines = 1
        styles = self._formats
        if depth:
            styles = [self._styles.of(self._font, None, indent=depth), *styles[1:]]
        for position, (value, column, style) in enumerate(zip(values, self._columns, styles, strict=True)):
            shown = None if position in repeated else self._shown(value, column)
            if column.adds_up and value is not None:
                self._sums[position] += value
            if shown is None:
                sheet.write_blank(number, position, None, style)
            elif isinstance(shown, str):
                sheet.write_string(number, position, shown, style)
                if 2 * len(shown) > self._widths[position] or "\n" in shown:
                    lines = max(lines, _lines(shown, self._widths[position]))
            elif isinstance(shown, bool):
                sheet.write_boolean(number, position, shown, style)
            else:
                sheet.write_number(number, position, shown, style)
        height = min(lines, _MOST_LINES) * _LINE_HEIGHT if lines > 1 else None
        if height or depth:
            sheet.set_row(number, height, None, {"level": min(depth - 1, _DEEPEST_OUTLINE)} if depth else None)
        self.next_row += 1

    def _shown(self, value: Any, column: Column) -> Any:
        """Return the text, number or truth value that a cell shows."""
        if isinstance(value, str):
            if column.number_format and _PERCENTAGE.fullmatch(value):
                return round(float(value[:-1]) / 100, 9)
            text = _ILLEGAL.sub("\ufffd", value) if _ILLEGAL.search(value) else value
            fitting = _fitting(text)
            self.cut += fitting != text
            return fitting or None
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
            # Not with merge_range(), which would go back to rows that are written already.
            self._sheet.merge.append([first, position, last, position])

    def finish(self) -> None:
        """Write the sums below the rows, and what a sheet has once."""
        sheet, columns, last = self._sheet, self._columns, self.next_row - 1
        for position, (_, first) in enumerate(self._runs):
            self._merge(position, first, last)
        if last and any(column.adds_up for column in columns):
            self._write_sums(last)
        for position, column in enumerate(columns):
            if column.number_format in (PERCENT, EFFICIENCY):
                sheet.conditional_format(1, position, max(last, 1), position, _BAR)
        if not self._runs:
            sheet.autofilter(0, 0, last, len(columns) - 1)
        sheet.freeze_panes(1, 0 if self._runs or columns[0].number_format else 1)
        sheet.outline_settings(symbols_below=False)
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{last + 2}"})
        sheet.set_landscape()
        sheet.set_paper(_A4)
        sheet.repeat_rows(0)
        sheet.repeat_columns(0, 0)
        if sum(self._widths) <= _WIDEST_ON_PAPER:
            sheet.fit_to_pages(1, 0)

    def _write_sums(self, last: int) -> None:
        """Write a row of sums, which follow the filter."""
        for position, (column, total) in enumerate(zip(self._columns, self._sums, strict=True)):
            indent = 0 if column.number_format else self._text_indent
            style = self._styles.of(self._font, column.number_format, indent, is_bold=True)
            if column.adds_up:
                cells = f"{xl_rowcol_to_cell(1, position)}:{xl_rowcol_to_cell(last, position)}"
                self._sheet.write_formula(last + 1, position, f"=SUBTOTAL(9,{cells})", style, total)
            elif position == 0:
                self._sheet.write_string(last + 1, position, "Total", style)
            else:
                self._sheet.write_blank(last + 1, position, None, style)


def _width(column: Column, position: int, rows: Iterable[tuple[Any, ...]]) -> int:
    """Return a width for the heading in two or three lines and the values in rows, as far as it is useful."""
    lines = 2 if len(column.header) <= _SHORT_HEADING else 3
    width = max(map(len, column.header.split()))
    while len(wrap(column.header, width)) > lines:
        width += 1
    width += _ARROW
    for row in rows:
        value = row[position]
        if isinstance(value, str):
            indent = 2 * (row[0] or 1) if position == 1 else 2
            width = max(width, min(_WIDEST, indent + max(map(_length, value[: 2 * _WIDEST].split("\n")))))
        elif isinstance(value, int | float):
            width = max(width, len(f"{value:,}" if isinstance(value, int) else f"{value:,.2f}") + 2)
    return width


@lru_cache(maxsize=1024)  # Names repeat, but each may be long.
def _lines(text: str, width: int) -> int:
    """Return about how many lines a text takes."""
    parts = text[: _WIDEST * _MOST_LINES].split("\n")
    return sum(1 if _length(part) <= width else len(wrap(part, width - 6, break_on_hyphens=False)) for part in parts)


def _length(line: str) -> int:
    """Return about how wide a line is with space around it, in digits; some letters are wider."""
    return cell_len(line) * 11 // 10 + 3


def _fitting(text: str) -> str:
    """Return the part of a text that fits into a cell; the format counts UTF-16 units."""
    if 2 * len(text) <= MAX_CHARACTERS:
        return text
    return text.encode("utf-16-le")[: 2 * MAX_CHARACTERS].decode("utf-16-le", "ignore")
