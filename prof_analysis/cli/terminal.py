"""Answers, tables and texts on the terminal."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from prof_analysis.analyses.answer import Answer, Entry, Sentences, ShownTable
from prof_analysis.analyses.words import as_text, several
from prof_analysis.cli.layout import Column, lay_out
from prof_analysis.cli.lines import Console, console, is_terminal, plain, text_of
from prof_analysis.cli.signs import signs_of
from prof_analysis.common.visible import visible
from prof_analysis.languages import said

# What is in front of the lines of an entry, and how wide its labels are.
_INDENT, _LABEL = "   ", 10


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
        elif isinstance(block, Entry):
            _print_entry(block, out)
        else:
            _print_shown(block, view)
    if written:
        out.print()
        print_files(written)


def _print_entry(entry: Entry, out: Console) -> None:
    """Print a heading, and below it texts that keep their indentation where they are wrapped."""
    for line in _wrapped(entry.heading, "", out.width):
        out.print(text_of(line, "bold"), wraps=False)
    for label, text in entry.texts:
        for line in _wrapped(text, f"{_INDENT}{label:<{_LABEL}}", out.width):
            out.print(text_of(line), wraps=False)
    if entry.command:
        out.print(text_of(f"{_INDENT}{entry.command}"), wraps=False)


def _wrapped(text: str, before: str, width: int) -> list[str]:
    """Return a text in lines that break between words, the further ones below the first."""
    indent = " " * len(before) or _INDENT
    return wrap(
        visible(text), width, initial_indent=before, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def print_files(written: Iterable[Path]) -> None:
    """Print the files that were written."""
    out = console()
    for file in written:
        out.print(text_of(said(f"wrote {file}")))


def _print_shown(table: ShownTable, view: View) -> None:
    columns = []
    for n, column in enumerate(table.columns):
        values = [row[n] for row in table.rows]
        if column.format == "tree":
            depths, names = [depth for depth, _ in values], [visible(name) for _, name in values]
            columns.append(Column(visible(column.header), names, True, depths=depths))
            continue
        cells = [visible(as_text(value, column.format)) for value in values]
        shares = values if column.header == table.bar else ()
        columns.append(Column(visible(column.header), cells, column.format == "text", shares=shares))
    _print_columns(columns, view)


def print_grid(headers: Sequence[str], are_texts: Sequence[bool], rows: Iterable[Sequence[object]], view: View) -> None:
    """Print a table: a line for each row, and below it the columns that the terminal has no room for."""
    lines = list(rows)
    cells = [[visible(str(line[n])) for line in lines] for n in range(len(headers))]
    _print_columns([Column(visible(one), cells[n], are_texts[n]) for n, one in enumerate(headers)], view)


def _print_columns(columns: Sequence[Column], view: View) -> None:
    """Print a table; in a pipe or file it has neither bars nor guide lines, and its lines are whole."""
    by_header = {column.header: column for column in reversed(columns)}  # The first, where several have one name.
    chosen = [by_header[name] for name in map(visible, view.columns) if name in by_header] or columns
    out = console()
    signs = signs_of(sys.stdout.encoding) if is_terminal() else None
    laid = lay_out(chosen, out.width if signs and not view.wide else None, signs)
    for line in (*(text_of(plain(head), "bold") for head in laid.head), *laid.lines):
        out.print(line, wraps=False)
    if laid.left_out:
        more = said(f"{several(len(laid.left_out), 'more column')}:")
        out.print(text_of(f"{more} {', '.join(laid.left_out)} (--columns all)", "dim"))
