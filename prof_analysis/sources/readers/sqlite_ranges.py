"""Cuts a table of an SQLite file into ranges of rows, which can be read at the same time."""

from itertools import pairwise

from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query

_RANGE_ROWS = 500_000
_MOST_RANGES = 32  # each has 4 MB in its first rows


def rows_by_id(file: SqliteFile, table: str) -> int:
    """Return the number of rows of a table, by the last row id; 0 with a key, whose ids need not be numbers of rows."""
    if query(file, f"SELECT 1 FROM pragma_table_info({quote_text(table)}) WHERE pk OR lower(name) = 'rowid'"):
        return 0
    ((last,),) = query(file, f"SELECT coalesce(max(rowid), 0) FROM {quote(table)}")
    return int(str(last))


def ranges_of(file: SqliteFile, table: str, at_once: int) -> list[list[str]]:
    """Return the SQLite conditions that cut a table into ranges of rows, in groups of so many, in order.

    For few rows, and with a key, it is a single one.
    """
    rows = rows_by_id(file, table)
    count = min(rows // _RANGE_ROWS, _MOST_RANGES)
    if count < 2:
        return [["true"]]
    ends = [rows * number // count for number in range(1, count)]
    between = [f"rowid > {before} AND rowid <= {end}" for before, end in pairwise(ends)]
    ranges = [f"rowid <= {ends[0]}", *between, f"rowid > {ends[-1]}"]
    return [ranges[start : start + at_once] for start in range(0, count, at_once)]
