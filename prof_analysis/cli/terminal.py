"""Answers, tables and texts on the terminal, as lines in which nothing from a profile can control the terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from prof_analysis.answers.answer import Answer, Sentences, ShownTable
from prof_analysis.answers.words import as_text, several
from prof_analysis.cli.layout import GAP, lay_out
from prof_analysis.visible import visible


@dataclass(frozen=True)
class View:
    """Which columns of tables are shown: all, whatever the width of the terminal; or some of them, by their headers."""

    wide: bool = False
    columns: Sequence[str] = ()


def print_answer(answer: Answer, written: Sequence[Path], view: View = View()) -> None:
    """Print the blocks of an answer and the files that were written, with an empty line between them."""
    out = console()
    for number, block in enumerate(answer.blocks):
        if number:
            out.print()
        if isinstance(block, Sentences):
            for line in block.lines:
                out.print(text_of(line))
        else:
            _print_shown(block, view)
    if written:
        out.print()
        print_files(written)


def print_files(written: Iterable[Path]) -> None:
    """Print the files that were written."""
    out = console()
    for file in written:
        out.print(text_of(f"wrote {file}"))


def _print_shown(table: ShownTable, view: View) -> None:
    headers = [column.header for column in table.columns]
    are_texts = [column.format == "text" for column in table.columns]
    cells = [[as_text(value, column.format) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]
    print_grid(headers, are_texts, cells, view)


def print_grid(headers: Sequence[str], are_texts: Sequence[bool], rows: Iterable[Sequence[object]], view: View) -> None:
    """Print a table: a line for each row, and below it the columns that the terminal has no room for."""
    chosen = [headers.index(name) for name in view.columns if name in headers] or range(len(headers))
    shown = [[visible(str(row[n])) for n in chosen] for row in [headers, *rows]]
    out = console()
    width = out.width if out.is_terminal and not view.wide else None
    laid = lay_out(shown[0], [are_texts[n] for n in chosen], shown[1:], width)
    for number, line in enumerate(laid.lines):
        style = "" if number else "bold"
        out.print(Text((" " * GAP).join(line).rstrip(), style), no_wrap=True, overflow="ignore", crop=False)
    if laid.left_out:
        more = f"{several(len(laid.left_out), 'more column')}: {', '.join(laid.left_out)} (--wide, --columns)"
        out.print(Text(more, "dim"))


def console() -> Console:
    """Return the console: as wide as the terminal; into a pipe or file, lines are not cut."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=10_000)


def text_of(value: object, style: str = "") -> Text:
    """Return a value as one line without markup or control characters. All that is printed passes through here."""
    return Text(visible(str(value)), style)
