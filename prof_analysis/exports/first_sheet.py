"""Writes the first sheet of a workbook: lines of text over its whole width, and tables."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.styles import Border, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.cell_range import CellRange

from prof_analysis.exports.about import Line
from prof_analysis.exports.cells import (
    COLOR,
    LINE_HEIGHT,
    SheetWriter,
    fitting,
    lines_of,
    plain_text,
    print_one_page_wide,
    styled,
    width_of,
)
from prof_analysis.exports.sheets import NUMBER, Column

TITLE = "About"
# In characters: the least width of the first column and of the page, the most of the first column and of others.
_LABELS, _PAGE, _WIDEST_NAME, _WIDEST = 18, 90, 40, 26
_MOST_LINES = 12
_SIZES = {"title": 16, "heading": 13}


def write_first_sheet(book: Workbook, lines: Iterable[Line], folder: Path) -> None:
    """Add a sheet of lines to a workbook, which waits in `folder`; what is exact stands beside the page, and is not printed."""
    lines = list(lines)
    widths = _widths(lines)
    sheet: Any = book.create_sheet(TITLE)
    sheet.sheet_view.showGridLines = False
    for position, width in enumerate([*widths, 3, *_exact_widths(lines)], 1):
        sheet.column_dimensions[get_column_letter(position)].width = width
    print_one_page_wide(sheet, sum(widths))
    sheet.print_area = f"A1:{get_column_letter(len(widths))}{len(lines)}"
    sheet._writer = SheetWriter(sheet, str(folder / "about.xml"))
    sheet._writer.write_top()
    for number, line in enumerate(lines, 1):
        first = 1 if line.look in ("title", "heading", "text") else 2
        if line.look not in ("columns", "row"):
            sheet.merged_cells.ranges.add(CellRange(None, first, number, len(widths), number))
        height = _height(line, widths, sum(widths[first - 1 :]))
        sheet.row_dimensions[number].height = height
        sheet.append(list(_cells(sheet, line, len(widths))))
    sheet.close()


def _widths(lines: Sequence[Line]) -> list[int]:
    """Return the widths of the columns of the page: those of all tables share them."""
    widths = list(_widths_of([(line.values, line.look == "columns") for line in lines if line.look in ("columns", "row")]))
    names, *others = widths or [_LABELS]
    widths = [max(_LABELS, min(names, _WIDEST_NAME)), *(min(width, _WIDEST) for width in others)]
    # Texts run over the whole page, which tables may leave empty.
    return widths if sum(widths) >= _PAGE else [*widths, _PAGE - sum(widths)]


def _exact_widths(lines: Sequence[Line]) -> Iterator[int]:
    yield from _widths_of([(line.exact, line.look == "columns") for line in lines if line.exact])


def _widths_of(rows: Sequence[tuple[tuple[Any, ...], bool]]) -> Iterator[int]:
    """Yield the width of each column of rows, each with whether it has the headings."""
    headings = zip_longest(*(values for values, is_heading in rows if is_heading), fillvalue="")
    figures = zip_longest(*(values for values, is_heading in rows if not is_heading))
    for names, values in zip_longest(headings, figures, fillvalue=()):
        yield max((width_of(Column("", name), values) for name in names if name), default=_LABELS)


def _height(line: Line, widths: Sequence[int], page: int) -> float:
    size = _SIZES.get(line.look)
    if size:
        return size * 1.3 + (14 if line.look == "heading" else 4)
    if line.look in ("columns", "row"):
        pairs = zip(line.values, widths, strict=False)
        spared = 2 if line.look == "row" else -2  # Headings have the widths that they need.
        texts = [(value, width - spared) for value, width in pairs if isinstance(value, str)]
        return LINE_HEIGHT * max((lines_of(text, width, _MOST_LINES) for text, width in texts), default=1)
    return LINE_HEIGHT * min(_MOST_LINES, lines_of(str(line.values[-1]), page, _MOST_LINES))


def _cells(sheet: Any, line: Line, count: int) -> Iterator[Cell | None]:
    """Yield the cells of a line: those of the page, and beside it those that are exact."""
    formats = line.formats or (None,) * len(line.values)
    for value, number_format in zip(line.values, formats, strict=True):
        yield _cell(sheet, line, value, number_format)
    if line.exact:
        yield from [None] * (count + 1 - len(line.values))
        for value in line.exact:
            yield _cell(sheet, line, value, None if line.look == "columns" else NUMBER)


def _cell(sheet: Any, line: Line, value: Any, number_format: str | None) -> Cell:
    cell = styled(sheet, number_format, is_heading=line.look == "columns")
    if line.look not in ("columns", "row"):
        cell.border = Border()
        is_label = line.look == "labelled" and value is line.values[0]
        cell.font = Font("Calibri", _SIZES.get(line.look, 11), bold=line.look in _SIZES or is_label)
        if line.look == "title":
            cell.fill = PatternFill("solid", COLOR)
    if isinstance(value, str):
        cell.value = fitting(plain_text(value)) or None
        cell.data_type = "s"  # Whatever it begins with.
    else:
        cell.value = value
    return cell
