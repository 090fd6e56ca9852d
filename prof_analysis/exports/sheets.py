"""The layouts of sheets in a workbook: those of modules as users of msprof-analyze know them, others like the table."""

import re
from dataclasses import dataclass, replace

from prof_analysis.engine.quotes import quote
from prof_analysis.engine.table_file import Column as TableColumn
from prof_analysis.engine.table_file import Table
from prof_analysis.exports.names import header

NUMBER, FRACTION, PERCENT, EFFICIENCY, ID = "#,##0", "#,##0.00", "0.0%", "0.00%", "0"
_IDS = re.compile(r"(^|_)(id|rank|tid|layer|pass|position|plane)$")
_EFFICIENCY = re.compile(r"^(avg_)?mfu$|^efficiency")


@dataclass(frozen=True)
class Column:
    """A column of a sheet: its source, its header, and the number format if it holds numbers.

    An optional column is left out where no row has a value. A rounded column has numbers even where a spreadsheet rounds them;
    in others, such as moments and ids, every digit counts. A column that adds up has its sum below.
    """

    source: str
    header: str
    number_format: str | None = None
    is_optional: bool = False
    is_rounded: bool = False
    adds_up: bool = False


@dataclass(frozen=True)
class Sheet:
    """A sheet: its title, its columns, and the number of leading columns in which equal neighbours are merged.

    `depth` is the source of the depth of a row in a tree, whose rows fold. Sheets come by `place`, then in the order of tables.
    """

    title: str
    columns: tuple[Column, ...]
    merged: int = 0
    depth: str = "NULL"
    place: int = 1


_STATISTIC = (
    Column("parent_module", "Parent Module"),
    Column("module", "Module"),
    Column("op_name", "Op Name"),
    Column("kernel_list", "Kernel List"),
    Column("total_kernel_duration_ns", "Total Kernel Duration(ns)", NUMBER),
    Column("avg_kernel_duration_ns", "Avg Kernel Duration(ns)", FRACTION),
    Column("op_count", "Op Count", NUMBER),
    Column("avg_mfu", "Avg MFU", EFFICIENCY, is_optional=True),
)
_TREE = (
    Column("module", "Module"),
    Column("calls", "Calls", NUMBER),
    Column("kernel_duration_share", "Share Of All Kernel Time", PERCENT),
    Column("kernel_duration_ns", "Kernel Duration(ns)", NUMBER),
    Column("own_kernel_duration_ns", "Own Kernel Duration(ns)", NUMBER),
    Column("avg_kernel_duration_ns", "Avg Kernel Duration(ns)", FRACTION),
    Column("parent_module", "Parent Module"),
)
_COVERAGE = (
    Column("kind", "Kernels"),
    Column("location", "Location"),
    Column("reason", "Reason"),
    Column("kernel_duration_share", "Share Of The Kind", PERCENT),
    Column("kernel_duration_ns", "Kernel Duration(ns)", NUMBER),
    Column("kernel_count", "Kernel Count", NUMBER),
    Column("top_ops", "Top Ops"),
)
# A table with these is a tree, whose rows come in its order.
_TREE_COLUMNS = {"parent_module", "module", "depth"}


def sheets_of(table: Table, export_name: str) -> tuple[Sheet, ...]:
    """Return the sheets of a table: one with all its columns, unless the table has its own layout."""
    if table.name == "module.statistic":
        # Merged cells can neither be filtered nor sorted, so the sheet of msprof-analyze comes last.
        return (Sheet("Rows", _with_sums(_STATISTIC, table.sums)), Sheet("Sheet1", _STATISTIC, merged=2, place=2))
    if table.name == "module.tree":
        return (Sheet("Tree", _with_sums(_TREE, table.sums), depth="depth", place=0),)
    if table.name == "module.coverage":
        return (Sheet("Coverage", _with_sums(_COVERAGE, table.sums)),)
    columns = {column.name: column for column in table.columns}
    if not columns.keys() >= _TREE_COLUMNS:
        return (Sheet(export_name, _with_sums(tuple(map(_plain, table.columns)), table.sums)),)
    others = [column for name, column in columns.items() if name not in _TREE_COLUMNS]
    in_place = (columns["module"], *others, columns["parent_module"])
    return (Sheet(export_name, _with_sums(tuple(map(_plain, in_place)), table.sums), depth="depth"),)


def _with_sums(columns: tuple[Column, ...], sums: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(replace(column, adds_up=column.source in (*sums, *map(quote, sums))) for column in columns)


def _plain(column: TableColumn) -> Column:
    source, title = quote(column.shown_name), header(column.shown_name)
    if _EFFICIENCY.search(column.shown_name):
        return Column(source, title, EFFICIENCY)
    if column.format == "text":
        return Column(source, title)
    if column.shown_type == "DOUBLE":
        return Column(source, title, PERCENT if column.format == "share" else FRACTION)
    return Column(source, title, ID if _IDS.search(column.shown_name) else NUMBER, is_rounded="flops" in column.name)
