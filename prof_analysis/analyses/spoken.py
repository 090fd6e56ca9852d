"""Answers in the language of those who read them. Facts, which programs read, stay as they are."""

from dataclasses import replace
from typing import Any

from prof_analysis.analyses.answer import Answer, Block, Entry, Sentences, ShownColumn, ShownTable
from prof_analysis.languages import ENGLISH, language, said

# The headings of columns whose cells are words of ours. All other cells are names, but for what stands in parentheses.
_OF_WORDS = frozenset(
    (
        *("a step", "answer", "bound", "by", "category", "cause", "change", "clock", "finding", "found by", "group by"),
        *("input", "kernel time", "kind", "launch", "lies", "main cause", "memory", "part", "phase", "purpose", "read from"),
        *("reason", "role", "state", "status", "time of", "type of", "wait", "what", "where", "why"),
        *("why FLOPs lack", "why no layers"),
    )
)
# What ends the name of a column; the catalogue says it as {0} ns.
_UNITS = ("ns", "bytes", "count", "share", "id", "ids", "mhz")


def spoken(answer: Answer) -> Answer:
    """Return an answer whose blocks are in the language that is shown."""
    return answer if language() == ENGLISH else replace(answer, blocks=tuple(map(_spoken, answer.blocks)))


def _spoken(block: Block) -> Block:
    if isinstance(block, Sentences):
        return Sentences(tuple(map(said, block.lines)))
    if isinstance(block, Entry):
        texts = tuple((said(label), said(text)) for label, text in block.texts)
        return replace(block, heading=said(block.heading), texts=texts)
    columns = tuple(ShownColumn(heading(column.header), column.format) for column in block.columns)
    rows = tuple(tuple(_cell(column, value) for column, value in zip(block.columns, row, strict=True)) for row in block.rows)
    return ShownTable(columns, rows, None if block.bar is None else heading(block.bar))


def heading(header: str) -> str:
    """Return a heading in the language that is shown; of the name of a column, the unit behind the rest."""
    whole = said(header)
    name, _, unit = header.rpartition(" ")
    if whole != header or not name or unit not in _UNITS:
        return whole
    return said(f"{{0}} {unit}").replace("{0}", said(name))


def _cell(column: ShownColumn, value: Any) -> Any:
    if column.format == "tree":
        depth, name = value
        return depth, word(column.header, name)
    return word(column.header, value) if column.format == "text" else value


def word(header: str, cell: Any) -> Any:
    """Return a cell below a heading: in the language that is shown, where it is a word of ours and no name."""
    if isinstance(cell, bool):
        return said("yes" if cell else "no")
    is_ours = isinstance(cell, str) and (
        cell in ("yes", "no") or header in _OF_WORDS or (cell.startswith("(") and cell.endswith(")"))
    )
    return said(cell) if is_ours else cell
