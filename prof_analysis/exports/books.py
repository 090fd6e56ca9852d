"""The workbooks of an export, and the rows of their sheets."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from unicodedata import normalize

import duckdb

from prof_analysis.engine.database import cursor_of
from prof_analysis.engine.table_file import Table
from prof_analysis.exports.names import file_name
from prof_analysis.exports.sheets import Sheet, sheet_of, sheet_of_msprof_analyze
from prof_analysis.sources.rank import Rank

# Names of files have at most 255 bytes, which include a digest and a suffix.
_MAX_NAME_BYTES = 230
Rows = Iterator[tuple[Any, ...]]


@dataclass(frozen=True)
class Book:
    """A workbook: its name, its sheets with their rows, and the ranks of these.

    `part` is its number where ranks have too many rows for one workbook; 0 where it is the sheet of msprof-analyze alone.
    """

    name: str
    sheets: Sequence[tuple[Sheet, Rows]]
    ranks: Sequence[Rank]
    part: int = 0
    parts: int = 1


def books(
    connection: duckdb.DuckDBPyConnection,
    ranks: Sequence[Rank],
    tables: Sequence[tuple[Table, str]],
    first_name: str,
    most_rows: int,
) -> Iterator[Book]:
    """Yield the workbooks, whose rows must be read before the next one is taken.

    A row is the depth in the tree, or NULL, and the values of the columns.

    There is one workbook over all ranks; a further one begins with the rank that would make a sheet longer than `most_rows`.
    For each rank that has rows of ModuleStatistic there is one as msprof-analyze makes it. The rows of ranks are read in one
    pass over all of them: a query for each rank would open the files of all, so that the time would grow with the square of
    their number.
    """
    of_ranks = [table for table, _ in tables if table.grain == "rank"]
    parts = _parts_of(connection, ranks, of_ranks, most_rows)
    name = file_name(first_name)
    names = [name, *(f"{name}_part{number}" for number in range(2, len(parts) + 1))]
    numbers = Counter((rank.run, rank.rank_id) for rank in ranks)
    has_clear_ranks = all(rank.rank_id is not None and numbers[rank.run, rank.rank_id] == 1 for rank in ranks)
    with ExitStack() as opened:

        def stream(table: Table, sheet: Sheet) -> _Stream:
            return _Stream(opened.enter_context(cursor_of(connection)), table, sheet)

        streams = []
        for table, export_name in tables:
            in_front = _in_front(connection, table)
            streams.append(stream(table, sheet_of(table, export_name, in_front, has_clear_ranks)))
        streams.sort(key=lambda one: one.place)
        for number, (part, members) in enumerate(zip(names, parts, strict=True), 1):
            profiles = {rank.profile for rank in members}
            sheets = [one.sheet_of(profiles) for one in streams if number == 1 or one.is_of_ranks]
            yield Book(part, sheets, members, number, len(parts))
        _assert_all_read(streams)
        peers = [(table, peer) for table in of_ranks if (peer := sheet_of_msprof_analyze(table))]
        for table, peer in peers:
            rows = stream(table, peer)
            named = _names_of(ranks, f"{name}_", names)
            for rank in ranks:
                if rows.has_rows_of(rank.profile):
                    yield Book(named[rank], [rows.sheet_of({rank.profile})], [rank])
            _assert_all_read([rows])


def _in_front(connection: duckdb.DuckDBPyConnection, table: Table) -> list[str]:
    """Return the columns of a table that its head does not document: run, profile and rank_id."""
    documented = {column.shown_name for column in table.columns}
    return [name for name in connection.sql(f"FROM {table.name} LIMIT 0").columns if name not in documented]


def _parts_of(
    connection: duckdb.DuckDBPyConnection, ranks: Sequence[Rank], tables: Iterable[Table], most_rows: int
) -> list[list[Rank]]:
    """Return the ranks of each workbook: as many as fit with all their rows on one sheet for each table, at least one."""
    counts = {}
    for table in tables:
        counted = dict(connection.execute(f"SELECT profile, count(*) FROM {table.name} GROUP BY profile").fetchall())
        if sum(counted.values()) > most_rows:
            counts[table.name] = counted
    parts: list[list[Rank]] = [[]]
    rows = Counter[str]()
    for rank in ranks:
        of_rank = Counter({name: counted.get(rank.profile, 0) for name, counted in counts.items()})
        if parts[-1] and any(rows[name] + count > most_rows for name, count in of_rank.items()):
            parts.append([])
            rows.clear()
        parts[-1].append(rank)
        rows += of_rank
    return parts


def _assert_all_read(streams: Iterable["_Stream"]) -> None:
    assert not any(one.is_left() for one in streams), "the rows of ranks come in another order than the ranks"


class _Stream:
    """The rows of a sheet, read in one pass over all ranks, rank after rank."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, table: Table, sheet: Sheet) -> None:
        self._sheet = sheet
        self.place = sheet.place
        self.is_of_ranks = table.grain == "rank"
        key = "profile" if self.is_of_ranks else "NULL"
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

    def has_rows_of(self, profile: str) -> bool:
        return self._next is not None and self._next[0] == profile

    def is_left(self) -> bool:
        return self._next is not None

    def sheet_of(self, profiles: Collection[str]) -> tuple[Sheet, Rows]:
        """Return the sheet without empty optional columns, and the rows of ranks; of a table over ranks all rows."""
        keys = {*profiles} if self.is_of_ranks else {None}
        shown = [
            position
            for position, column in enumerate(self._sheet.columns)
            if not keys.isdisjoint(self._with_values.get(column, keys))
        ]
        if len(shown) == len(self._sheet.columns) or not keys:
            return self._sheet, self._taken(keys)
        sheet = replace(self._sheet, columns=tuple(self._sheet.columns[position] for position in shown))
        return sheet, ((depth, *(row[position] for position in shown)) for depth, *row in self._taken(keys))

    def _taken(self, keys: Collection[str | None]) -> Rows:
        while self._next is not None and self._next[0] in keys:
            row = self._next[1:]
            self._next = next(self._rows, None)
            yield row


def _rows(result: duckdb.DuckDBPyConnection) -> Rows:
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
