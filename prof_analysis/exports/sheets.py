"""The layouts of sheets in a workbook: those of modules in an order of their own, others like the table, all with the rank."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from prof_analysis.engine.quotes import quote
from prof_analysis.engine.table_file import Column as TableColumn
from prof_analysis.engine.table_file import Table
from prof_analysis.exports.names import header
from prof_analysis.exports.provenance import OF_RANKS

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
    meaning: str = ""


@dataclass(frozen=True)
class Sheet:
    """A sheet: its title, what a row is, its columns, and the number of leading columns in which equal neighbours are merged.

    `in_front` is the number of columns that say of which rank a row is. `depth` is the source of the depth of a row in a tree,
    whose rows fold; the first column behind these has its names. Sheets come by `place`, then in the order of tables. One of
    prose is read on paper: its columns are narrow, its rows as high as their texts.
    """

    title: str
    columns: tuple[Column, ...]
    summary: str = ""
    merged: int = 0
    depth: str = "NULL"
    in_front: int = 0
    place: int = 1
    is_prose: bool = False


# The sheet of msprof-analyze, with its headings.
_OF_MSPROF_ANALYZE = (
    Column("parent_module", "Parent Module"),
    Column("module", "Module"),
    Column("op_name", "Op Name"),
    Column("kernel_list", "Kernel List"),
    Column("total_kernel_duration_ns", "Total Kernel Duration(ns)", NUMBER),
    Column("avg_kernel_duration_ns", "Avg Kernel Duration(ns)", FRACTION),
    Column("op_count", "Op Count", NUMBER),
    Column("avg_mfu", "Avg MFU", EFFICIENCY, is_optional=True),
)
# Table -> its sheet, the place of this, and columns with their number formats, where these do not follow from the table.
_OWN: dict[str, tuple[str, int, tuple[Column, ...]]] = {
    "module.statistic": ("Rows", 1, tuple(replace(one, header=header(one.source)) for one in _OF_MSPROF_ANALYZE)),
    "module.tree": (
        "Tree",
        0,
        (
            Column("module", "Module"),
            Column("calls", "Calls", NUMBER),
            Column("kernel_duration_share", "Share of all kernel time", PERCENT),
            Column("kernel_duration_ns", "Kernel duration (ns)", NUMBER),
            Column("own_kernel_duration_ns", "Own kernel duration (ns)", NUMBER),
            Column("avg_kernel_duration_ns", "Avg kernel duration (ns)", FRACTION),
            Column("parent_module", "Parent module"),
        ),
    ),
    "module.coverage": (
        "Coverage",
        1,
        (
            Column("kind", "Kernels"),
            Column("location", "Location"),
            Column("reason", "Reason"),
            Column("kernel_duration_share", "Share of the kind", PERCENT),
            Column("kernel_duration_ns", "Kernel duration (ns)", NUMBER),
            Column("kernel_count", "Kernel count", NUMBER),
            Column("top_ops", "Top ops"),
        ),
    ),
}
# A table with these is a tree, whose rows come in its order.
_TREE_COLUMNS = {"parent_module", "module", "depth"}


def sheet_of(table: Table, export_name: str, in_front: Sequence[str], has_clear_ranks: bool) -> Sheet:
    """Return the sheet of a table: with all its columns, unless it has its own layout.

    `in_front` are the columns that the head does not document: run, profile and rank_id. The folder of a rank comes last, and
    only where the number of a rank does not identify it.
    """
    columns = {column.name: column for column in table.columns}
    is_tree = columns.keys() >= _TREE_COLUMNS
    title, place, of_table = _OWN.get(table.name) or (export_name, 1, tuple(map(_plain, _in_place(columns, is_tree))))
    meanings = {column.shown_name: column.meaning for column in table.columns}
    shown = [
        replace(
            column,
            adds_up=column.source in (*table.sums, *map(quote, table.sums)),
            meaning=meanings.get(column.source.strip('"'), ""),
        )
        for column in of_table
    ]
    first = [
        Column(quote(name), header(name), ID if name == "rank_id" else None, meaning=OF_RANKS.get(name, ""))
        for name in in_front
        if name != "profile"
    ]
    last = [Column("profile", "Profile", meaning=OF_RANKS["profile"])] if "profile" in in_front and not has_clear_ranks else []
    return Sheet(
        title,
        (*first, *shown, *last),
        table.summary,
        depth="depth" if is_tree else "NULL",
        in_front=len(first),
        place=place,
    )


def sheet_of_msprof_analyze(table: Table) -> Sheet | None:
    """Return the sheet that msprof-analyze makes of a rank, with merged cells, of the one table that has it."""
    return Sheet("Sheet1", _OF_MSPROF_ANALYZE, merged=2) if table.name == "module.statistic" else None


def _in_place(columns: dict[str, TableColumn], is_tree: bool) -> Iterable[TableColumn]:
    if not is_tree:
        return columns.values()
    others = [column for name, column in columns.items() if name not in _TREE_COLUMNS]
    return (columns["module"], *others, columns["parent_module"])


def _plain(column: TableColumn) -> Column:
    source, title = quote(column.shown_name), header(column.shown_name)
    if _EFFICIENCY.search(column.shown_name):
        return Column(source, title, EFFICIENCY)
    if column.format == "text":
        return Column(source, title)
    if column.shown_type == "DOUBLE":
        return Column(source, title, PERCENT if column.format == "share" else FRACTION)
    return Column(source, title, ID if _IDS.search(column.shown_name) else NUMBER, is_rounded="flops" in column.name)
