"""The layouts of sheets in a workbook: those of modules as users of msprof-analyze know them, others like the table."""

from collections.abc import Mapping
from dataclasses import dataclass

from prof_analysis.engine.database import quote
from prof_analysis.engine.tables import Column as TableColumn
from prof_analysis.engine.tables import Table
from prof_analysis.exports.names import header

NUMBER, FRACTION, PERCENT = "#,##0", "#,##0.00", "0.0%"


@dataclass(frozen=True)
class Column:
    """A column of a sheet: its source, its header, its width, and the number format if it holds numbers.

    An optional column is left out where no row has a value. A summed column has numbers even where a spreadsheet rounds them;
    in others, such as moments and ids, every digit counts.
    """

    source: str
    header: str
    width: int
    number_format: str | None = None
    is_optional: bool = False
    is_summed: bool = False


@dataclass(frozen=True)
class Sheet:
    """A sheet: its title, its columns, and the number of leading columns in which equal neighbours are merged."""

    title: str
    columns: tuple[Column, ...]
    merged: int = 0


_STATISTIC = (
    Column("parent_module", "Parent Module", 40),
    Column("module", "Module", 40),
    Column("op_name", "Op Name", 40),
    Column("kernel_list", "Kernel List", 50),
    Column("total_kernel_duration_ns", "Total Kernel Duration(ns)", 10, NUMBER),
    Column("avg_kernel_duration_ns", "Avg Kernel Duration(ns)", 10, FRACTION),
    Column("op_count", "Op Count", 10, NUMBER),
    Column("avg_mfu", "Avg MFU", 10, is_optional=True),
)
_TREE = (
    Column("repeat('    ', depth - 1) || module", "Module", 60),
    Column("calls", "Calls", 10, NUMBER),
    Column("kernel_duration_share", "Share Of All Kernel Time", 14, PERCENT),
    Column("kernel_duration_ns", "Kernel Duration(ns)", 20, NUMBER),
    Column("own_kernel_duration_ns", "Own Kernel Duration(ns)", 20, NUMBER),
    Column("avg_kernel_duration_ns", "Avg Kernel Duration(ns)", 20, FRACTION),
    Column("parent_module", "Parent Module", 80),
)
_COVERAGE = (
    Column("kind", "Kernels", 20),
    Column("location", "Location", 24),
    Column("reason", "Reason", 28),
    Column("kernel_duration_share", "Share Of The Kind", 14, PERCENT),
    Column("kernel_duration_ns", "Kernel Duration(ns)", 20, NUMBER),
    Column("kernel_count", "Kernel Count", 14, NUMBER),
    Column("top_ops", "Top Ops", 60),
)
_OF_MODULES: Mapping[str, tuple[Sheet, ...]] = {
    "module.statistic": (Sheet("Sheet1", _STATISTIC, merged=2), Sheet("Rows", _STATISTIC)),
    "module.tree": (Sheet("Tree", _TREE),),
    "module.coverage": (Sheet("Coverage", _COVERAGE),),
}


def sheets_of(table: Table, export_name: str) -> tuple[Sheet, ...]:
    """Return the sheets of a table: one with all its columns, unless the table has its own layout."""
    return _OF_MODULES.get(table.name) or (Sheet(export_name, tuple(map(_plain, table.columns))),)


def _plain(column: TableColumn) -> Column:
    source, title = quote(column.shown_name), header(column.shown_name)
    if column.format == "text":
        return Column(source, title, 40)
    if column.shown_type == "DOUBLE":
        return Column(source, title, 14, PERCENT if column.format == "share" else FRACTION)
    return Column(source, title, 14, NUMBER, is_summed="flops" in column.name)
