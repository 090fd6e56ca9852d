"""Reads numbers of a CSV file in any notation: spreadsheets write them in the notation of their user's country."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb

from prof_analysis.engine.quotes import quote

# Blanks of any width, apostrophes and underscores separate thousands; spreadsheets keep texts as `="123"` and '123.
_NO_PART_OF_NUMBERS = r"[\s\x{a0}\x{2009}\x{202f}\x{2019}''_=\"]"
_GROUPS_BY_COMMA = r"^[+-]?\d{1,3}((,\d{3})+\.\d*|(,\d{3}){2,})$"
_GROUPS_BY_DOT = r"^[+-]?\d{1,3}((\.\d{3})+,\d*|(\.\d{3}){2,})$"

# A spreadsheet keeps 15 digits. A time stamp in us has 16 before the point, so each becomes a multiple of 10 us. Three such by
# chance occur once in 1000 files of whole microseconds, and never where there are decimals.
_CUT_NS = 10_000
_OF_16_DIGITS_NS = 10**18
_TOO_MANY_FOR_CHANCE = 3
_FIRST_ROWS = 1000


@dataclass(frozen=True)
class Notation:
    """The notation of numbers in a file: whether all are plain numbers, and the separator of thousands, if there is one."""

    is_plain: bool = True
    parts_thousands: str | None = None

    def number(self, cell: str) -> str:
        """Return the SQL of a cell as a number that DuckDB can cast."""
        if self.is_plain:
            return cell
        bare = f"regexp_replace({cell}, '{_NO_PART_OF_NUMBERS}', '', 'g')"
        whole = f"replace({bare}, '{self.parts_thousands}', '')" if self.parts_thousands else bare
        return f"replace({whole}, ',', '.')"

    def time_ns(self, cell: str) -> str:
        """Return the SQL of a cell in us as ns."""
        return f"ns_of_us({self.number(cell)})"


def notation_of(connection: duckdb.DuckDBPyConnection, table: str, columns: Iterable[str]) -> Notation:
    """Find the notation of the cells of a table: a comma or dot separates thousands if some number makes sense only so."""
    cells = f"(SELECT unnest([{', '.join(map(quote, columns))}]) AS cell FROM {table})"
    odd = f"{cells} WHERE cell IS NOT NULL AND TRY_CAST(cell AS DOUBLE) IS NULL"
    bare = f"(SELECT regexp_replace(cell, '{_NO_PART_OF_NUMBERS}', '', 'g') AS number FROM {odd})"
    ((count, by_comma, by_dot),) = connection.execute(f"""
        SELECT
            count(*),
            coalesce(bool_or(regexp_matches(number, '{_GROUPS_BY_COMMA}')), false),
            coalesce(bool_or(regexp_matches(number, '{_GROUPS_BY_DOT}')), false)
        FROM {bare}
    """).fetchall()
    return Notation(not count, None if by_comma == by_dot else "," if by_comma else ".")


def lost_digits(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str], notation: Notation) -> list[str]:
    """Return the columns of times whose numbers show, taken together, that a program cut their digits."""
    return [column for column in columns if _is_cut(connection, table, quote(column), notation)]


def _is_cut(connection: duckdb.DuckDBPyConnection, table: str, cell: str, notation: Notation) -> bool:
    """Return whether exponents exceed the number of digits, or all time stamps end in the same digits; first in a few rows."""
    exponents = f"""
        SELECT coalesce(max(exponent) >= max(length(digits)), false)
        FROM (
            SELECT
                TRY_CAST(regexp_extract(number, '[eE](.*)$', 1) AS BIGINT) AS exponent,
                regexp_replace(regexp_extract(number, '^(.*)[eE]', 1), '[^0-9]', '', 'g') AS digits
            FROM (SELECT {notation.number(cell)} AS number FROM {table} WHERE contains({cell}, 'e') OR contains({cell}, 'E'))
        )
    """

    def stamps(rows: str) -> str:
        return f"""
            SELECT coalesce(
                count(DISTINCT time_ns) >= {_TOO_MANY_FOR_CHANCE}
                AND min(time_ns) >= {_OF_16_DIGITS_NS} AND bool_and(time_ns % {_CUT_NS} = 0),
                false
            )
            FROM (SELECT {notation.time_ns(cell)} AS time_ns FROM {rows})
        """

    def answer(query: str) -> bool:
        return bool(connection.execute(query).fetchall()[0][0])

    return answer(exponents) or (answer(stamps(f"(FROM {table} LIMIT {_FIRST_ROWS})")) and answer(stamps(table)))
