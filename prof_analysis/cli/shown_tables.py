"""The output of `tables`: a line for each table, the columns in which words were found, or all columns."""

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from prof_analysis.analyses.words import several
from prof_analysis.cli.lines import Console, Line, console, text_of
from prof_analysis.engine.schemas import schemas
from prof_analysis.engine.table_file import Column, Table

Documented = Sequence[tuple[Table, Sequence[Column]]]
_ONE_ROW = "One row is "


def print_list(tables: Documented) -> None:
    """Print a line for each table below the description of its folder; on a terminal, lines are cut."""
    out = console()
    for folder, members in groupby(tables, key=lambda one: one[0].name.partition(".")[0]):
        of_folder = [table for table, _ in members]
        _print_line(out, text_of(folder, "bold") + text_of(f"  {schemas().get(folder, 'your own tables')}", "dim"))
        width = max(len(table.name) for table in of_folder)
        for table in of_folder:
            _print_line(out, text_of(f"  {table.name:<{width}}  {table.summary.removeprefix(_ONE_ROW)}"))
        out.print()
    out.print(text_of(f"{several(len(tables), 'table')}; search: `prof-analysis tables WORD...`", "dim"))
    out.print(text_of(f"columns of one: `prof-analysis tables {tables[0][0].name}`", "dim"))


def print_found(tables: Documented) -> None:
    """Print tables in which words were found, each with the columns in which they were."""
    out = console()
    for table, columns in tables:
        _print_head(out, table)
        _print_columns(out, columns)
    out.print()
    out.print(text_of(f"{several(len(tables), 'table')}; all columns: `prof-analysis tables {tables[0][0].name}`", "dim"))


def print_columns(tables: Documented) -> None:
    """Print the documentation of tables."""
    out = console()
    for number, (table, columns) in enumerate(tables):
        if number:
            out.print()
        _print_head(out, table)
        _print_columns(out, columns)
        if table.grain == "rank":
            _print_wrapped(out, "  ", "In front: profile, the folder of the rank, and rank_id.")


def _print_head(out: Console, table: Table) -> None:
    out.print(text_of(table.name, "bold"))
    _print_wrapped(out, "  ", table.summary)


def _print_columns(out: Console, columns: Sequence[Column]) -> None:
    """Print the names of columns, and beside each its type and meaning."""
    names = max((len(column.shown_name) for column in columns), default=0)
    for column in columns:
        _print_wrapped(out, f"    {column.shown_name:<{names}}  ", f"{column.shown_type}: {column.meaning}")


def _print_wrapped(out: Console, begin: str, text: str) -> None:
    """Print a text whose further lines begin where the first one does."""
    width = max(out.width - len(begin), 20)
    for number, line in enumerate(wrap(text, width, break_long_words=False, break_on_hyphens=False)):
        out.print(text_of(f"{' ' * len(begin) if number else begin}{line}"))


def _print_line(out: Console, line: Line) -> None:
    out.print(line, is_cut=True)
