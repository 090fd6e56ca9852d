"""Answers, tables and texts on the terminal, as lines in which nothing from a profile can control the terminal."""

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from prof_analysis.answers.answer import Answer, Sentences, ShownTable
from prof_analysis.answers.words import as_text
from prof_analysis.visible import visible


def print_answer(answer: Answer, written: Iterable[Path]) -> None:
    """Print the blocks of an answer, with an empty line after each, and the files that were written."""
    out = console()
    for block in answer.blocks:
        if isinstance(block, Sentences):
            for line in block.lines:
                out.print(text_of(line))
        else:
            out.print(_grid(block))
        out.print()
    print_files(written)


def print_files(written: Iterable[Path]) -> None:
    """Print the files that were written."""
    out = console()
    for file in written:
        out.print(text_of(f"wrote {file}"))


def _grid(table: ShownTable) -> Grid:
    left = sum(column.format == "text" for column in table.columns)
    grid = grid_of(*(column.header for column in table.columns), left=left)
    for row in table.rows:
        grid.add_row(
            *(
                text_of(as_text(value, column.format), "dim" if value is None and column.format == "text" else "")
                for value, column in zip(row, table.columns, strict=True)
            )
        )
    return grid


def grid_of(*headers: str, left: int) -> Grid:
    """Return a table without lines whose last columns, `left` of them, are texts and the others numbers."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for position, header in enumerate(headers):
        grid.add_column(text_of(header), justify="right" if position < len(headers) - left else "left", overflow="fold")
    return grid


def console() -> Console:
    """Return the console: as wide as the terminal; into a pipe or file, lines are not cut."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=10_000)


def text_of(value: object, style: str = "") -> Text:
    """Return a value as one line without markup or control characters. All that is printed passes through here."""
    return Text(visible(str(value)), style)
