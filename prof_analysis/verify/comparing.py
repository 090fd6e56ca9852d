"""Compares a table of ours with that of msprof-analyze, row by row in every column that both have."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from prof_analysis.common.errors import InputError
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.run.given_tables import SCHEMA
from prof_analysis.verify.pairs import Pair

# By how much two floats may differ that were added up in another order.
_OF_FLOATS = 1e-9
AGREES, KNOWN, DIFFERS, ONLY_HERE, ONLY_THERE = "agrees", "known", "differs", "only here", "only there"


@dataclass(frozen=True)
class Difference:
    """A row that does not agree: what names it, how, the columns that differ, each with both values, and the known case."""

    names: Mapping[str, str | None]
    how: str
    values: Mapping[str, tuple[str | None, str | None]]
    case: str | None


@dataclass(frozen=True)
class Compared:
    """A pair that was compared: how many rows agree, those that do not, and the columns that only one of both has."""

    pair: Pair
    agreeing: int
    differences: Sequence[Difference]
    columns: Sequence[str]
    only_here: Sequence[str]
    only_there: Sequence[str]

    def count(self, how: str) -> int:
        """Return how many rows agree, differ in a known way, or differ otherwise, by the constants above."""
        if how == AGREES:
            return self.agreeing
        return sum((KNOWN if one.case else one.how) == how for one in self.differences)


def compare(connection: duckdb.DuckDBPyConnection, pair: Pair) -> Compared:
    """Compare a table of ours, which lies in `connection`, with that of msprof-analyze in the schema `msprof_analyze`.

    A table that msprof-analyze did not write has no rows: it writes none where it found nothing.
    Raises InputError where the table lacks a column that names its rows.
    """
    theirs = _columns(connection, pair.beside.table)
    keys = {name: theirs.get(_plain(name)) for name in pair.beside.keys}
    if theirs and (lacking := [name for name, there in keys.items() if there is None]):
        has = ", ".join(theirs.values())
        raise InputError(
            f"{pair.beside.table}: has no column {lacking[0]}, but {has}; it was written by another version of msprof-analyze"
        )
    shared = {name: theirs[_plain(name)] for name in pair.types if name not in keys and _plain(name) in theirs}
    _join(connection, pair, keys, shared, is_there=bool(theirs))
    cases = _cases(connection, pair)
    rows = connection.execute("SELECT * FROM difference ORDER BY difference_id")
    names = [column[0] for column in rows.description or ()]
    differences = [_difference(dict(zip(names, row, strict=True)), pair, cases) for row in rows.fetchall()]
    (agreeing,) = connection.execute("SELECT count(*) FROM compared WHERE side = 'both' AND len(differing) = 0").fetchall()[0]
    named = {_plain(name) for name in pair.types}
    return Compared(
        pair,
        agreeing,
        differences,
        list(shared),
        [name for name in pair.types if theirs and name not in keys and name not in shared],
        [there for plain, there in theirs.items() if plain not in named],
    )


def _plain(name: str) -> str:
    """Return a name as both spell it: `totalKernelDuration(ns)` and `total_kernel_duration_ns` are one."""
    return re.sub(r"[\W_]", "", name).lower()


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Return the columns of a table of msprof-analyze by their plain names; none where it is not there."""
    found = connection.execute(
        "SELECT column_name FROM duckdb_columns() WHERE schema_name = $schema AND table_name = $table ORDER BY column_index",
        {"schema": SCHEMA, "table": table},
    ).fetchall()
    return {_plain(name): name for (name,) in found}


def _join(
    connection: duckdb.DuckDBPyConnection,
    pair: Pair,
    keys: Mapping[str, str | None],
    shared: Mapping[str, str],
    is_there: bool,
) -> None:
    """Make the tables `compared`, a row for each row of both, and `difference`, those of them that do not agree."""
    types = {name: "BIGINT" if type_ == "INTEGER" else type_ for name, type_ in pair.types.items()}
    values = [name for name in types if name not in keys]
    here = ", ".join(f"{quote(name)}::{type_} AS {quote(name)}" for name, type_ in types.items())
    # A column that only ours has is NULL there, so that the SELECT of known cases can name it.
    named = {
        **dict.fromkeys(types, "NULL"),
        **{name: quote(column) for name, column in (*keys.items(), *shared.items()) if column},
    }
    as_there = {name: type_ if name in keys else _of_theirs(type_) for name, type_ in types.items()}
    there = ", ".join(f"TRY_CAST({named[name]} AS {type_}) AS {quote(name)}" for name, type_ in as_there.items())
    read = f"SELECT {there} FROM {SCHEMA}.{quote(pair.beside.table)}"
    if not is_there:
        read = f"SELECT {', '.join(f'NULL::{type_} AS {quote(name)}' for name, type_ in as_there.items())} WHERE false"
    # Rows with the same names pair in the order of their figures.
    same = ", ".join(_word(quote(name)) for name in keys)
    order = ", ".join(quote(name) for name in values) or "1"
    number = f"row_number() OVER (PARTITION BY {same} ORDER BY {order}) AS number_of_equals"
    on = " AND ".join(f"{_word(f'here.{quote(name)}')} = {_word(f'there.{quote(name)}')}" for name in keys)
    differing = ", ".join(f"CASE WHEN NOT {_equal(name, types[name])} THEN {quote_text(name)} END" for name in shared)
    both = "here.number_of_equals IS NOT NULL AND there.number_of_equals IS NOT NULL"
    shown = ", ".join(
        (
            *(f"coalesce(here.{quote(name)}::VARCHAR, there.{quote(name)}::VARCHAR) AS {quote(name)}" for name in keys),
            *(f"here.{quote(name)} AS {quote(f'{name}_here')}" for name in values),
            *(f"there.{quote(name)} AS {quote(f'{name}_there')}" for name in values),
        )
    )
    connection.execute(f"""
        CREATE OR REPLACE TEMP TABLE compared AS
        WITH here AS (SELECT *, {number} FROM (SELECT {here} FROM {pair.table})),
        there AS (SELECT *, {number} FROM ({read}))
        SELECT
            CASE WHEN {both} THEN 'both' WHEN there.number_of_equals IS NULL THEN 'here' ELSE 'there' END AS side,
            CASE WHEN {both} THEN list_filter([{differing or "NULL"}]::VARCHAR[], lambda one: one IS NOT NULL) ELSE [] END
                AS differing,
            {shown}
        FROM here
        FULL JOIN there ON {on} AND here.number_of_equals = there.number_of_equals
    """)
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE difference AS
        SELECT row_number() OVER (ORDER BY ALL) AS difference_id, *
        FROM compared
        WHERE side <> 'both' OR len(differing) > 0
    """.replace("ORDER BY ALL", f"ORDER BY side, {', '.join(quote(name) for name in keys)}")
    )


def _of_theirs(type_: str) -> str:
    """Return the type in which a value of msprof-analyze is read: it writes whole numbers as floats."""
    return "DOUBLE" if type_ in ("BIGINT", "DOUBLE") else type_


def _word(value: str) -> str:
    """Return the expression of a value as a text that is never NULL: what is not recorded is N/A or "" there, and NULL here."""
    return f"coalesce(known({value}::VARCHAR), '')"


def _equal(name: str, type_: str) -> str:
    """Return the condition that two values are the same: to the unit for whole numbers, to the last decimal of a DECIMAL."""
    here, there = f"here.{quote(name)}", f"there.{quote(name)}"
    if type_ == "VARCHAR":
        return f"{_word(here)} = {_word(there)}"
    if match := re.fullmatch(r"DECIMAL\(\d+, ?(\d+)\)", type_):
        are_near = f"abs({here} - {there}) <= {10 ** -int(match[1]):.{match[1]}f}"
    elif type_ == "DOUBLE":
        are_near = f"abs({here} - {there}) <= {_OF_FLOATS!r} * abs({there})"
    else:
        are_near = f"{here}::DOUBLE = {there}"
    return f"coalesce({are_near}, {here} IS NULL AND {there} IS NULL)"


def _cases(connection: duckdb.DuckDBPyConnection, pair: Pair) -> dict[int, str]:
    """Return the known case that explains a row, by the number of the difference."""
    return dict(connection.execute(pair.known).fetchall()) if pair.known else {}


def _difference(row: Mapping[str, object], pair: Pair, cases: Mapping[int, str]) -> Difference:
    names = {name: _shown(row[name]) for name in pair.beside.keys}
    how = {"both": DIFFERS, "here": ONLY_HERE, "there": ONLY_THERE}[str(row["side"])]
    columns = [str(name) for name in _listed(row["differing"])]
    values = {name: (_shown(row[f"{name}_here"]), _shown(row[f"{name}_there"])) for name in columns}
    return Difference(names, how, values, cases.get(int(str(row["difference_id"]))))


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _shown(value: object) -> str | None:
    """Return a value as it is compared: a float of a whole number without its point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)
