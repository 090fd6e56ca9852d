"""The first sheet of a workbook: what it is, and the answer of its command in units that people read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from prof_analysis.analyses import ANALYSES
from prof_analysis.analyses.answer import Answer, Sentences, ShownTable
from prof_analysis.analyses.spoken import spoken
from prof_analysis.analyses.words import several
from prof_analysis.common.version import __version__
from prof_analysis.exports.books import Book
from prof_analysis.exports.human import Figures, human_table
from prof_analysis.exports.provenance import Origin
from prof_analysis.exports.sheets import Sheet
from prof_analysis.languages import said
from prof_analysis.sources.rank import Rank

_UNITS = (
    "A column with (ns) has whole nanoseconds: 1 ms is 1,000,000 ns. 1 GiB is 1,073,741,824 bytes. A share is a part of a "
    "whole, in percent. A moment is ns since 1970, UTC; integers of more than 15 digits are texts, since a spreadsheet would "
    "round them. An empty cell is a value that is not known."
)
# So many ranks, and folders, are named.
_NAMED = 16


@dataclass(frozen=True)
class Line:
    """A line of the first sheet: its look, its values, and the number formats of these.

    `exact` are values beside the page, in ns and bytes, which are not printed.
    """

    look: Literal["title", "heading", "text", "labelled", "columns", "row"]
    values: tuple[Any, ...]
    exact: tuple[Any, ...] = ()
    formats: tuple[str | None, ...] = ()


def about(book: Book, sheets: Iterable[Sheet], origin: Origin, answers: Mapping[str, Answer]) -> Iterator[Line]:
    """Yield the lines: question and answer, what each sheet has, where the data come from, and what is missing."""
    for line in _lines(book, sheets, origin, {run: spoken(answer) for run, answer in answers.items()}):
        is_ours = line.look not in ("columns", "row")
        yield replace(line, values=tuple(map(said, line.values))) if is_ours else line


def _lines(book: Book, sheets: Iterable[Sheet], origin: Origin, answers: Mapping[str, Answer]) -> Iterator[Line]:
    first = next(iter(answers.values()), None)
    analysis = ANALYSES.get(first.command) if first else None
    question, _, shown = (analysis.meaning if analysis else next(iter(sheets)).summary).partition("\n\n")
    yield Line("title", (question,))
    if shown:
        yield Line("text", (shown,))
    for run, answer in answers.items():
        if answer.blocks:
            yield Line("heading", (f"Answer for {run}" if run else "Answer",))
            yield from _answered(answer)
    problems = dict.fromkeys(text for answer in answers.values() for text in (*answer.failures, *answer.warnings))
    if problems:
        yield Line("heading", ("Warnings",))
        yield from (Line("text", (text,)) for text in problems)
    yield Line("heading", ("Sheets",))
    yield from (Line("labelled", (sheet.title, _first_sentence(sheet.summary))) for sheet in sheets)
    yield Line("heading", ("Origin",))
    if book.parts > 1:
        yield Line("labelled", ("Part", f"{book.part} of {book.parts}: {ranks_in_words(book.ranks)}"))
    elif book.ranks:
        yield Line("labelled", ("Ranks", ranks_in_words(book.ranks)))
    yield Line("labelled", ("Read from", _named(origin.inputs, "\n")))
    yield Line("labelled", ("Command", origin.command))
    yield Line("labelled", ("Written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC by prof-analysis {__version__}"))
    yield Line("labelled", ("Units", _UNITS))


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def ranks_in_words(ranks: Sequence[Rank]) -> str:
    """Return how many ranks there are, and which: a row of numbers as its ends, others by number or folder."""
    numbers = [rank.rank_id for rank in ranks]
    begin = numbers[0]
    if begin is not None and len(ranks) > 2 and numbers == [*range(begin, begin + len(ranks))]:
        return f"{several(len(ranks), 'rank')}: {begin} to {numbers[-1]}"
    names = [rank.profile if rank.rank_id is None else str(rank.rank_id) for rank in ranks]
    return f"{several(len(ranks), 'rank')}: {_named(names, ', ')}"


def _named(names: Sequence[str], separator: str) -> str:
    more = len(names) - _NAMED
    return separator.join([*names[:_NAMED], *([f"and {more:,} more"] if more > 0 else [])])


def _answered(answer: Answer) -> Iterator[Line]:
    for block in answer.blocks:
        if isinstance(block, Sentences):
            yield from (Line("text", (line,)) for line in block.lines)
        elif isinstance(block, ShownTable) and block.rows:
            table = human_table(block)
            yield Line("columns", _headers(table.shown), _headers(table.exact))
            formats = tuple(one.column.number_format for one in table.shown)
            for row in range(len(block.rows)):
                yield Line("row", _row(table.shown, row), _row(table.exact, row), formats)


def _headers(columns: Iterable[Figures]) -> tuple[str, ...]:
    return tuple(one.column.header for one in columns)


def _row(columns: Iterable[Figures], row: int) -> tuple[Any, ...]:
    return tuple(one.values[row] for one in columns)
