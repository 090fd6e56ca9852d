"""The parts of an answer. The terminal, JSON and every other output read the same objects."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from types import MappingProxyType
from typing import Annotated, Any

from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import ShownFormat, percent, several
from prof_analysis.common.errors import InputError
from prof_analysis.common.option_docs import SHOW, Doc
from prof_analysis.engine.quotes import quote

# So many rows are shown where nobody asks for another number.
USUAL_ROWS = 10
# The findings of a command: values by name; some are lists of rows.
Facts = dict[str, Any]
# The option of an answer that heaviest_of() takes.
Sort = Annotated[
    str | None,
    Doc(
        "Sort by this column, by its heading or its name in exports: the largest first, texts from A.",
        SHOW,
        spelled="calls",
        value="COLUMN",
    ),
]


@dataclass(frozen=True)
class ShownColumn:
    """A column as people see it: its header and the format of its values."""

    header: str
    format: ShownFormat


@dataclass(frozen=True)
class ShownTable:
    """A table as people see it: first the name of a row, then its figures, the most telling first.

    A time may be a pair: the time, and its share of another or None. A terminal draws a bar for the shares of one column.
    """

    columns: tuple[ShownColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    bar: str | None = None


@dataclass(frozen=True)
class Sentences:
    """Sentences, one line each."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A heading, and below it texts with labels, which a terminal wraps between words; a command is one line, to be copied."""

    heading: str
    texts: tuple[tuple[str, str], ...]
    command: str | None = None


Block = ShownTable | Sentences | Entry


@dataclass(frozen=True)
class Answer:
    """The answer of a command: facts for programs, and blocks that show the same to people, in their order."""

    command: str
    facts: Facts
    blocks: tuple[Block, ...]
    warnings: tuple[str, ...]
    failures: tuple[str, ...]

    @property
    def headers(self) -> list[str]:
        """Return the headings of all tables."""
        return [column.header for block in self.blocks if isinstance(block, ShownTable) for column in block.columns]


# The source of a shown column: a column of the rows, or a format and a function that computes the value from a row.
Source = str | tuple[ShownFormat, Callable[[Mapping[str, Any]], Any]]


def table_of(
    table: str, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Source], bar: str | None = None
) -> ShownTable:
    """Return rows of a documented table as people see them; `columns` maps headers to their sources.

    The share with bars is that in the column `bar`, by default in the first one that is a share of something.
    """
    from prof_analysis.engine.tables import documented_tables

    formats: dict[str, ShownFormat] = {"profile": "text"}  # It precedes the columns that heads document.
    formats |= {column.shown_name: column.format for column in documented_tables()[table].columns}
    made = [(formats[one], itemgetter(one)) if isinstance(one, str) else one for one in columns.values()]
    shown = tuple(ShownColumn(header, format_) for header, (format_, _) in zip(columns, made, strict=True))
    bar = bar or next((header for header in columns if header.startswith("share of ")), None)
    return ShownTable(shown, tuple(tuple(get(row) for _, get in made) for row in rows), bar)


def said(*lines: str) -> Sentences:
    """Return lines as a block of sentences."""
    return Sentences(lines)


def size_of(profile: Tables, table: str, of_ranks: str | None = None) -> Facts:
    """Return the number of ranks of a table, or of another one, and the number of its rows."""
    (ranks,) = profile.rows(f"SELECT count(DISTINCT profile) AS ranks FROM {of_ranks or table}")
    return {**ranks, **profile.rows(f"SELECT count(*) AS rows FROM {table}")[0]}


def job_of(profile: Tables) -> tuple[Facts, list[str]]:
    """Return how many ranks of the job are here, and a line that says so where some are missing."""
    (job,) = profile.rows("FROM across.job") or [{"sentence": None}]
    return {"job": job}, [job["sentence"]] if job["sentence"] else []


def heaviest_of(
    profile: Tables, table: str, top: int, columns: Mapping[str, Source] = MappingProxyType({}), sort: str | None = None
) -> list[dict[str, Any]]:
    """Return the first rows of a table whose heaviest rows come first; with `sort` in the order of a column.

    `sort` is a heading of `columns`, or the name of a column of the table. Numbers come largest first, texts from A.
    Raises InputError where it is neither.
    """
    if sort is None:
        return profile.rows(f"FROM {table} LIMIT {top:d}")
    from prof_analysis.engine.tables import documented_tables

    of_table = {column.shown_name: column for column in documented_tables()[table].columns}
    column = of_table.get(str(columns.get(sort, sort)))
    if column is None:
        raise InputError(f"--sort: there is no column {sort}; the columns are {', '.join(columns)}")
    order = "ASC" if column.format == "text" else "DESC"
    in_place = f"(SELECT *, row_number() OVER () AS place FROM {table})"
    return profile.rows(
        f"SELECT * EXCLUDE (place) FROM {in_place} ORDER BY {quote(column.shown_name)} {order} NULLS LAST, place LIMIT {top:d}"
    )


def left_out_lines(rows: int, shown: list[dict[str, Any]], share: float | None = None) -> list[str]:
    """Return a line about the rows that --filter left out; no line if it left out none."""
    if not rows:
        return []
    if not shown:
        return [f"no name contains the text of --filter, which leaves out {several(rows, 'row')}"]
    of_time = "" if share is None else f", with {percent(share)} of the device time of all ops"
    return [f"--filter leaves out {several(rows, 'row')}{of_time}"]
