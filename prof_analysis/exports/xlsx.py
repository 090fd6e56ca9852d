"""Export to xlsx: one workbook per rank, as readable as that of msprof-analyze and laid out like it.

Of module statistic, Sheet1 has merged Parent Module and Module cells. Merged cells cannot be filtered, so Rows is the same
without merging, with a filter. Other tables are a sheet each; one over all ranks is a workbook of its own. Rows are streamed,
whatever their number; cells and sheets are cut at the limits of the format, and the warnings say so.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from unicodedata import normalize
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

from prof_analysis.engine.database import parquet_rows
from prof_analysis.engine.tables import Table
from prof_analysis.errors import OutputError, reason_of
from prof_analysis.exports.files import replacing
from prof_analysis.exports.names import file_name
from prof_analysis.exports.sheets import PERCENT, Column, Sheet, sheets_of
from prof_analysis.run.store import RankStore
from prof_analysis.sources.rank import Rank

MAX_CHARACTERS = 32_767
MAX_ROWS = 1_048_576
# A spreadsheet keeps 15 digits of a number.
ROUNDED = 10**15
# What XML cannot hold.
_ILLEGAL = re.compile(f"{ILLEGAL_CHARACTERS_RE.pattern}|[\ufffe\uffff]")
# Names of files have at most 255 bytes; a digest and an ending come after these.
_MAX_NAME_BYTES = 230

_FONT = "Times New Roman"


def write(
    connection: duckdb.DuckDBPyConnection,
    stores: Mapping[Rank, RankStore],
    folder: Path,
    exports: Mapping[str, str],
    documented: Mapping[str, Table],
    warnings: list[str],
) -> list[Path]:
    """Write ModuleStatistic/module_statistic_{rank}.xlsx, or what the first table is called, of each rank that has rows of it.

    The name holds the rank id where only one folder has it, else the folder's name; where two such names would be one file, or
    one is too long for a file, it ends in a digest of the folder's name. A table over all ranks goes into a workbook beside
    them. Gives the files. What had to be cut is added to `warnings`.
    """
    tables = {documented[table]: name for table, name in exports.items()}
    of_ranks = {table: name for table, name in tables.items() if table.grain == "rank"}
    first, first_name = next(iter((of_ranks or tables).items()))
    folder = folder / first_name
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({reason_of(error)}); give another folder with -o", path=folder) from error
    not_of_ranks = {table: file_name(name) for table, name in tables.items() if table.grain != "rank"}
    names = _names_of(stores, f"{file_name(first_name)}_", not_of_ranks.values())
    books: dict[Path, dict[Table, str]] = {}
    for rank, store in stores.items() if of_ranks else ():
        rows = {table: parquet_rows([store.file(table.name)]) for table in of_ranks}
        if connection.execute(f"SELECT 1 FROM {rows[first]} LIMIT 1").fetchall():
            books[folder / f"{names[rank]}.xlsx"] = rows
    for table, file in not_of_ranks.items():
        books[folder / f"{file}.xlsx"] = {table: table.name}
    for target, rows in books.items():
        with replacing(target) as unfinished:
            cut = _write_workbook(connection, rows, tables, unfinished)
        if cut:
            warnings.append(
                f"{target}: {cut} cells were cut at {MAX_CHARACTERS:,} characters; db, csv and parquet hold them whole"
            )
    return list(books)


def _names_of(ranks: Iterable[Rank], beginning: str, taken: Iterable[str]) -> dict[Rank, str]:
    """The names of the workbooks of ranks, each another one, also where upper and lower case are one."""
    numbers = Counter(rank.rank_id for rank in ranks)
    numbered = {rank: f"{beginning}{rank.rank_id}" for rank in ranks if rank.rank_id is not None and numbers[rank.rank_id] == 1}
    named = {rank: beginning + re.sub(r"[^\w.-]", "_", rank.profile) for rank in ranks if rank not in numbered}
    uses = Counter(_as_file(name) for name in (*taken, *numbered.values(), *named.values()))
    for rank, name in named.items():
        if uses[_as_file(name)] > 1 or len(name.encode()) > _MAX_NAME_BYTES:
            shortened = name.encode()[:_MAX_NAME_BYTES].decode(errors="ignore")
            named[rank] = f"{shortened}-{sha256(rank.profile.encode(errors='surrogateescape')).hexdigest()[:12]}"
    return numbered | named


def _as_file(name: str) -> str:
    """What names of the same file have in common where the disk does not tell cases or forms of a letter apart."""
    return normalize("NFC", name).casefold()


def _write_workbook(
    connection: duckdb.DuckDBPyConnection, rows_of: Mapping[Table, str], names: Mapping[Table, str], target: Path
) -> int:
    book = Workbook(write_only=True)
    try:
        try:
            cut = sum(_write_table(book, connection, table, rows, names[table]) for table, rows in rows_of.items())
        except OSError as error:  # openpyxl collects each sheet in a temporary file.
            raise OutputError(
                f"{target.parent}: temporary files cannot be written ({reason_of(error)}); set TMPDIR to a larger disk",
                path=target.parent,
            ) from error
        # Not by save(), which leaves the file open where the disk is full, so that closing it late prints a traceback.
        with ZipFile(target, "w", ZIP_DEFLATED) as archive:
            ExcelWriter(book, archive).save()
        return cut
    finally:
        for sheet in book.worksheets:
            with suppress(Exception):  # What failed is on its way already; an open sheet would print a second traceback.
                sheet.close()


def _write_table(book: Workbook, connection: duckdb.DuckDBPyConnection, table: Table, rows: str, name: str) -> int:
    """Write the sheets of a table. Give how many cells were cut."""
    cut = 0
    for layout in sheets_of(table, name):
        shown = replace(layout, columns=tuple(_with_values(connection, rows, layout.columns)))
        result = connection.execute(f"SELECT {', '.join(column.source for column in shown.columns)} FROM {rows}")
        cut += _write_sheets(book, shown, _rows(result))
    return cut


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


def _fill(cells: list[Cell], row: tuple[Any, ...], columns: Sequence[Column]) -> int:
    """Put the values of a row into the cells. Give how many were cut.

    A text stays a text, whatever it begins with. An integer that a spreadsheet would round becomes a text, unless it is summed.
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
    """The part of a text that a cell holds; the format counts UTF-16 units."""
    if 2 * len(text) <= MAX_CHARACTERS:
        return text
    return text.encode("utf-16-le")[: 2 * MAX_CHARACTERS].decode("utf-16-le", "ignore")


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := result.fetchmany(1000):
        yield from batch
