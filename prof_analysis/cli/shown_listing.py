"""The output of `ranks`, `sql` and `cache ls`."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from prof_analysis.analyses import overview
from prof_analysis.analyses.spoken import heading, word
from prof_analysis.cli.lines import console, text_of
from prof_analysis.cli.options import ScreenOptions
from prof_analysis.cli.screen import view_of
from prof_analysis.cli.terminal import View, print_grid
from prof_analysis.languages import said

if TYPE_CHECKING:
    from prof_analysis.run.cache.entries import Entry


def print_ranks(rows: list[dict[str, Any]], screen: ScreenOptions) -> None:
    """Print a table of ranks, and each answer and each reason once, with the ranks that it is about."""
    out = console()
    headers = list(overview.columns_of(rows[0]))
    grid = [[word(header, overview.cell(value)) for header, value in overview.columns_of(row).items()] for row in rows]
    print_grid(
        [heading(header) for header in headers],
        [header not in overview.NUMBERS for header in headers],
        grid,
        view_of(screen, headers, heading),
    )
    out.print()
    for sentence in overview.sentences(rows):
        out.print(text_of(said(sentence)))


def print_entries(entries: "Iterable[Entry]") -> None:
    """Print the kept entries, one line each."""
    rows = [
        (
            entry.profile,
            f"{entry.size_bytes:,}",
            said("unchanged" if entry.is_current else "changed or gone"),
            ", ".join(entry.tables),
        )
        for entry in entries
    ]
    print_grid(tuple(map(said, ("profile", "size", "input", "tables"))), (True, False, True, True), rows, View())


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]], view: View) -> None:
    """Print the rows of an answer."""
    are_texts = [not any(isinstance(row[place], int | float) for row in rows) for place in range(len(columns))]
    print_grid(columns, are_texts, [["NULL" if value is None else value for value in row] for row in rows], view)
