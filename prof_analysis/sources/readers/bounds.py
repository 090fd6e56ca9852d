"""Finds between which times a row can lie, from what the files say of the time that was recorded, else from most of the rows.

Trace tables leave out what lies beyond, by is_host_time() and is_device_time(); trace.set_aside counts it. Where nothing does,
which a look at the first and last times shows, the bounds stay open.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import duckdb

_HOUR = 3_600_000_000_000
# A collective waits for half an hour at most: 1,836 s by default.
_LONGEST_WAIT = 2_000_000_000_000
# What says that it recorded for longer is damaged.
_LONGEST_NS = 24 * _HOUR
# Without a statement, so many medians of the distances from the middle are taken for the length: of rows that come evenly, four
# are all.
_MEDIANS = 10
_FEWEST_ROWS = 3
# More rows than that are no damage, but a recording of several times.
_ONE_IN = 20


class Recording(NamedTuple):
    """The time that was recorded, by the clock of the host."""

    first_ns: int
    last_ns: int

    @property
    def length_ns(self) -> int:
        """How long it is."""
        return self.last_ns - self.first_ns


class Timed(NamedTuple):
    """The columns or expressions of a raw table that have the start and the end of its rows, and the condition of rows."""

    start: str
    end: str
    condition: str = "true"


@dataclass(frozen=True)
class _Seen:
    """The rows of a clock, and the first start, the last end and the longest time in them."""

    clock: str
    rows: str
    first_ns: int
    last_ns: int
    longest_ns: int


def known_recording(first_ns: object, last_ns: object) -> Recording | None:
    """Return the recording that a file names; None where these cannot be its first and last moments."""
    if not isinstance(first_ns, int) or not isinstance(last_ns, int) or not 0 < last_ns - first_ns <= _LONGEST_NS:
        return None
    return Recording(first_ns, last_ns)


def set_bounds(
    connection: duckdb.DuckDBPyConnection,
    recording: Recording | None,
    staged: Mapping[str, Iterable[str]],
    clocks: Mapping[str, Mapping[str, Timed]],
) -> None:
    """Set the bounds of each clock on whose tables a row lies outside of the recording by more than its length.

    `staged` has the columns of each staged table, `clocks` for host and device the tables with their times. What was
    recorded is not believed where most rows last longer. Where most rows of a clock lie far outside of it, this clock is off:
    then the bounds lie around the middle one of its rows. Without a recording, an hour is the least length; where all rows
    of the other clock lie within a tenth of that, it is 2,000 s.
    """
    looked_at = [(clock, _rows_of(tables, staged)) for clock, tables in clocks.items()]
    seen = [found for clock, rows in looked_at if rows and (found := _look(connection, clock, rows))]
    if recording and not any(_is_outside(one, recording) for one in seen):
        return
    if recording and _last_longer(connection, seen, recording.length_ns):
        recording = None
    for one in seen:
        least = min(_HOUR, _least_length(other for other in seen if other is not one))
        if _is_outside(one, recording) if recording else one.last_ns - one.first_ns > least:
            bounds = _bounds_of(connection, one, recording, least)
            for name, value in bounds.items():
                connection.execute(f"SET VARIABLE {one.clock}_{name} = ({value})::BIGINT")


def _least_length(others: Iterable[_Seen]) -> int:
    """Return how long a recording is taken to last at least, from the rows of the other clocks."""
    return min((max(_LONGEST_WAIT, _MEDIANS * (one.last_ns - one.first_ns)) for one in others), default=_HOUR)


def _rows_of(tables: Mapping[str, Timed], staged: Mapping[str, Iterable[str]]) -> str:
    """Return the SELECT of the times of the staged tables that have them."""
    return " UNION ALL ".join(
        f"SELECT {timed.start} AS start_ns, {timed.end} AS end_ns FROM {name} WHERE {timed.condition}"
        for name, timed in tables.items()
        if set(re.findall(r"\b[a-z]\w*\b(?!\()", f"{timed.start} {timed.end}")) <= set(staged.get(name, ()))
    )


def _look(connection: duckdb.DuckDBPyConnection, clock: str, rows: str) -> _Seen | None:
    """Look at the rows of a clock that do not end before they start; None where there are none."""
    rows = f"(SELECT start_ns, end_ns FROM ({rows}) WHERE end_ns >= start_ns)"
    ((first, last, longest),) = connection.execute(
        f"SELECT min(start_ns), max(end_ns), max(coalesce(TRY(end_ns - start_ns), {2**63 - 1})) FROM {rows}"
    ).fetchall()
    return None if first is None else _Seen(clock, rows, first, last, longest)


def _is_outside(seen: _Seen, recording: Recording) -> bool:
    """Return whether a row lies outside of a recording by more than its length, or lasts longer."""
    length = recording.length_ns
    return seen.first_ns < recording.first_ns - length or seen.last_ns > recording.last_ns + length or seen.longest_ns > length


def _last_longer(connection: duckdb.DuckDBPyConnection, seen: Iterable[_Seen], length: int) -> bool:
    """Return whether most rows last longer."""
    rows = " UNION ALL ".join(f"FROM {one.rows}" for one in seen)
    ((count, longer),) = connection.execute(
        f"SELECT count(*), count(*) FILTER (end_ns::HUGEINT - start_ns > {length}) FROM ({rows})"
    ).fetchall()
    return bool(longer * 2 > count)


def _bounds_of(connection: duckdb.DuckDBPyConnection, seen: _Seen, recording: Recording | None, least: int) -> dict[str, int]:
    """Return the bounds of a clock: from when to when a row can lie, and how long it can be; none where these are unknown."""
    ((count, middle),) = connection.execute(f"SELECT count(*), quantile_disc(start_ns, 0.5) FROM {seen.rows}").fetchall()
    if recording:
        length = recording.length_ns
        first, last = recording.first_ns - length, recording.last_ns + length
        ((outside,),) = connection.execute(
            f"SELECT count(*) FROM {seen.rows} WHERE start_ns > {last} OR end_ns < {first}"
        ).fetchall()
        if outside * 2 > count:  # The middle may be the first moment, or the last.
            first, last = middle - 2 * length, middle + 2 * length
    else:
        if count < _FEWEST_ROWS:
            return {}
        distance = f"quantile_disc(abs(start_ns::HUGEINT - {middle}), 0.5)"
        ((usual,),) = connection.execute(f"SELECT {distance} FROM {seen.rows}").fetchall()
        length = max(int(usual) * _MEDIANS, least)
        first, last = middle - 2 * length, middle + 2 * length
        ((outside,),) = connection.execute(
            f"SELECT count(*) FROM {seen.rows}"
            f" WHERE start_ns < {first} OR end_ns > {last} OR end_ns::HUGEINT - start_ns > {length}"
        ).fetchall()
        if outside > max(1, count // _ONE_IN):
            return {}
    bounds = {"from_ns": first, "to_ns": last, "longest_ns": length}
    return {name: min(max(value, -(2**63)), 2**63 - 1) for name, value in bounds.items()}
