"""Drops rows that a file holds twice, as damaged and merged files do: the first of equal rows is kept."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import duckdb

from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import run
from prof_analysis.sources.remarks import Remark

# The parts of a key that may be NULL.
_OPTIONAL = frozenset(("connectionId", "connection_id", "deviceId", "stream_id", "task_id", "domain"))


def with_keys(wanted: Mapping[str, frozenset[str]], keys: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return the wanted columns and the key columns, so that the rows that are left out never depend on the question."""
    return {name: columns | frozenset(keys.get(name, ())) for name, columns in wanted.items()}


def drop_repeated(connection: duckdb.DuckDBPyConnection, name: str, key: Sequence[str], columns: Collection[str]) -> int:
    """Delete the rows of a staged table that repeat the key of an earlier row, and return their number.

    `columns` are those that were staged. A row that lacks a part of its key stays. Most files are sorted by the first part:
    then only neighbours can be equal, and the check of 3 million rows takes 10 ms, else 340 ms.
    """
    here = [column for column in key if column in columns]
    if any(column not in _OPTIONAL for column in key if column not in here):
        return 0
    table, first = f"stored.{quote(name)}", quote(here[0])
    has_all = " AND ".join(f"{quote(column)} IS NOT NULL" for column in here if column not in _OPTIONAL)
    neighbours = f"(SELECT {first}, lag({first}) OVER () AS before FROM {table})"
    ((is_unsorted, has_equal),) = run(
        connection, f"SELECT bool_or({first} < before OR {first} IS NULL), bool_or({first} = before) FROM {neighbours}"
    ).fetchall()
    if not is_unsorted and not has_equal:
        return 0
    suspects = has_all
    if not is_unsorted:
        suspects += f" AND {first} IN (SELECT {first} FROM {neighbours} WHERE {first} = before)"
    parts = ", ".join(map(quote, here))
    repeated = f"SELECT hash({parts}) FROM {table} WHERE {suspects} GROUP BY 1 HAVING count(*) > 1"
    ((count,),) = run(
        connection,
        f"""
        DELETE FROM {table}
        WHERE rowid IN (
            SELECT rowid
            FROM (FROM {table} SELECT *, rowid WHERE {suspects} AND hash({parts}) IN ({repeated}))
            QUALIFY row_number() OVER (PARTITION BY {parts} ORDER BY rowid) > 1
        )
    """,
    ).fetchall()
    return int(count)


def may_repeat(connection: duckdb.DuckDBPyConnection, name: str, owner: str, kind: str) -> bool:
    """Return whether a staged table, grouped by owner, can have equal rows, which is much faster than to find them.

    It can where an owner occurs again further down, or has more rows than there are kinds, or two neighbours are equal.
    """
    table, of, its = f"stored.{quote(name)}", quote(owner), quote(kind)
    ((found,),) = run(
        connection,
        f"""
        WITH owner AS (SELECT {of}, count(*) AS row_count FROM {table} GROUP BY {of})
        SELECT
            count(*) FILTER ({of} IS DISTINCT FROM owner_before) > (SELECT count(*) FROM owner)
            OR bool_or({of} = owner_before AND {its} = kind_before)
            OR (SELECT max(row_count) FROM owner) > (SELECT count(DISTINCT {its}) FROM {table})
        FROM (SELECT {of}, {its}, lag({of}) OVER () AS owner_before, lag({its}) OVER () AS kind_before FROM {table})
    """,
    ).fetchall()
    return bool(found)


def remark_of(
    tables: tuple[str, ...], count: int, what: str, place: tuple[int, str, int, int], file: Path, *, needs_all: bool = False
) -> list[Remark]:
    """Remark how many rows of a part of a file were left out; `what` is its name. Without such rows there is no remark."""
    many = (f"{file}: ", f" rows of {what} repeat earlier ones and are left out")
    sentence = f"{file}: 1 row of {what} repeats an earlier one and is left out"
    return [Remark(place, tables, sentence, many=many, count=count, needs_all=needs_all)] if count else []
