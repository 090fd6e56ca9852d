"""The workbooks of an export, and the rows of their sheets."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from typing import Any
from unicodedata import normalize

import duckdb

from prof_analysis.engine.database import cursor_of
from prof_analysis.engine.table_file import Table
from prof_analysis.exports.names import file_name
from prof_analysis.exports.sheets import Sheet, sheets_of
from prof_analysis.sources.rank import Rank

# Names of files have at most 255 bytes, which include a digest and a suffix.
_MAX_NAME_BYTES = 230


def books(
    connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank], tables: Iterable[tuple[Table, str]], first_name: str
) -> Iterator[tuple[str, list[tuple[Sheet, Iterator[tuple[Any, ...]]]]]]:
    """Yield the name of each workbook and its sheets, whose rows must be read before the next workbook is taken.

    A row is the depth in the tree, or NULL, and the values of the columns.

    There is a workbook for each rank that has rows of the first table of ranks, one for each table over all ranks, and one for
    all tables over runs. The sheets of ranks are read in parallel, each in one pass over all ranks: a query for each rank would
    open the files of all ranks, so that the time would grow with the square of their number.
    """
    of_ranks = [(table, name) for table, name in tables if table.grain == "rank"]
    others = [[(table, name)] for table, name in tables if table.grain not in ("rank", "runs")]
    others += [of_runs] if (of_runs := [(table, name) for table, name in tables if table.grain == "runs"]) else []
    names = _names_of(ranks, f"{file_name(first_name)}_", [file_name(book[0][1]) for book in others])
    with ExitStack() as opened:

        def streams(table: Table, name: str, key: str) -> list[_Stream]:
            sheets = sheets_of(table, name)
            return [_Stream(opened.enter_context(cursor_of(connection)), table, sheet, key) for sheet in sheets]

        sheets = [stream for table, name in of_ranks for stream in streams(table, name, "profile")]
        in_place = sorted(sheets, key=lambda stream: stream.place)
        for rank in ranks if sheets else ():
            if sheets[0].has_rows_of(rank.profile):
                yield names[rank], [stream.sheet_of(rank.profile) for stream in in_place]
            for stream in sheets:
                stream.skip(rank.profile)
        assert not any(map(_Stream.is_left, sheets)), "the rows of ranks come in another order than the ranks"
        for book in others:
            rows = [stream for table, name in book for stream in streams(table, name, "NULL")]
            yield file_name(book[0][1]), [stream.sheet_of(None) for stream in rows]


class _Stream:
    """The rows of a sheet, read in one pass over all ranks, rank after rank."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, table: Table, sheet: Sheet, key: str) -> None:
        self._sheet = sheet
        self.place = sheet.place
        self._with_values = {
            column: {
                row[0]
                for row in connection.execute(
                    f"SELECT DISTINCT {key} FROM {table.name} WHERE {column.source} IS NOT NULL"
                ).fetchall()
            }
            for column in sheet.columns
            if column.is_optional
        }
        columns = ", ".join(column.source for column in sheet.columns)
        self._rows = _rows(connection.execute(f"SELECT {key}, {sheet.depth}, {columns} FROM {table.name}"))
        self._next = next(self._rows, None)

    def has_rows_of(self, profile: str | None) -> bool:
        return self._next is not None and self._next[0] == profile

    def is_left(self) -> bool:
        return self._next is not None

    def sheet_of(self, profile: str | None) -> tuple[Sheet, Iterator[tuple[Any, ...]]]:
        """Return the sheet without empty optional columns, and its rows."""
        shown = [
            position
            for position, column in enumerate(self._sheet.columns)
            if profile in self._with_values.get(column, (profile,))
        ]
        sheet = replace(self._sheet, columns=tuple(self._sheet.columns[position] for position in shown))
        if len(shown) == len(self._sheet.columns):
            return sheet, self._taken(profile)
        return sheet, ((depth, *(row[position] for position in shown)) for depth, *row in self._taken(profile))

    def skip(self, profile: str | None) -> None:
        """Skip the rest of a rank's rows."""
        for _ in self._taken(profile):
            pass

    def _taken(self, profile: str | None) -> Iterator[tuple[Any, ...]]:
        while self._next is not None and self._next[0] == profile:
            row = self._next[1:]
            self._next = next(self._rows, None)
            yield row


def _rows(result: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while batch := result.fetchmany(1000):
        yield from batch


def _names_of(ranks: Iterable[Rank], beginning: str, taken: Iterable[str]) -> dict[Rank, str]:
    """Return the names of the workbooks of ranks, all different even where the disk ignores case."""
    numbers = Counter(rank.rank_id for rank in ranks)
    numbered = {rank: f"{beginning}{rank.rank_id}" for rank in ranks if rank.rank_id is not None and numbers[rank.rank_id] == 1}
    named = {rank: beginning + re.sub(r"[^\w.-]", "_", rank.profile) for rank in ranks if rank not in numbered}
    uses = Counter(_as_file(name) for name in (*taken, *numbered.values(), *named.values()))
    for rank, name in named.items():
        if uses[_as_file(name)] > 1 or len(name.encode()) > _MAX_NAME_BYTES:
            shortened = name.encode()[:_MAX_NAME_BYTES].decode(errors="ignore")
            named[rank] = f"{shortened}-{sha256(rank.profile.encode(errors='surrogateescape')).hexdigest()[:12]}"
    return numbered | named


def _as_file(name: str) -> str:
    """Return a form of a name that is equal for two names that may be one file: disks may ignore case or forms of a letter."""
    return normalize("NFC", name).casefold()
