"""Times of a csv are read in whatever notation it has them; they are unknown only where all together show a loss."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from prof_analysis.engine.database import connect
from prof_analysis.sources.readers.csv_numbers import lost_digits, notation_of

STAMP_NS = 1_736_413_971_558_972_912


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(threads=1) as opened:
        yield opened


def read(connection: duckdb.DuckDBPyConnection, starts: list[str], durations: list[str]) -> tuple[list[object], list[str]]:
    """The times of two columns, and which of these lost digits."""
    connection.execute(
        "CREATE OR REPLACE TABLE cell AS SELECT unnest($starts) AS start, unnest($durations) AS duration",
        {"starts": starts, "durations": durations},
    )
    notation = notation_of(connection, "cell", ["start", "duration"])
    rows = connection.execute(f"SELECT {notation.time_ns('start')}, {notation.time_ns('duration')} FROM cell").fetchall()
    return [time for row in rows for time in row], lost_digits(connection, "cell", ["start", "duration"], notation)


@pytest.mark.parametrize(
    ("start", "duration"),
    [
        ("1736413971558972.912", "1234.5"),
        ("+1736413971558972.9120", "1234.500000"),
        ("1736413971558972,912", "1234,5"),
        ("1,736,413,971,558,972.912", "1,234.5"),
        ("1.736.413.971.558.972,912", "1.234,5"),
        ("1 736 413 971 558 972,912", "1 234,5"),
        ("1\u202f736\u202f413\u202f971\u202f558\u202f972,912", "1\u00a0234,5"),
        ("1'736'413'971'558'972.912", "1\u2019234.5"),
        ('="1736413971558972.912"', "'1234.5"),
        ("1736413971558972.912\t", " 1234.5"),
        ("1.736413971558972912E+15", "1.2345e3"),
        ("1,736413971558972912e15", "1,2345E+03"),
        ("1736413971558972912e-3", "12345e-1"),
    ],
)
def test_a_time_is_the_same_in_every_notation(start: str, duration: str, connection: duckdb.DuckDBPyConnection) -> None:
    assert read(connection, [start], [duration]) == ([STAMP_NS, 1_234_500], [])


def test_what_a_comma_means_is_known_from_the_other_numbers_of_the_file(connection: duckdb.DuckDBPyConnection) -> None:
    thousands, decimals = ["1,736,413,971,558,972.912"], ["1736413971558972,912"]
    assert read(connection, thousands, ["1,234"]) == ([STAMP_NS, 1_234_000], [])
    assert read(connection, decimals, ["1,234"]) == ([STAMP_NS, 1_234], [])
    assert read(connection, ["1.736.413.971.558.972,912"], ["1.234"]) == ([STAMP_NS, 1_234_000], [])


@pytest.mark.parametrize(
    "starts",
    [
        ["1736413971558970", "1736413971558972", "1736413971559000"],
        ["1736413971558970.000", "1736413971558980.000", "1736413971558990.010"],
        ["1736413971558970", "1736413971558980"],
        ["1736413971558970"] * 5,
        ["10", "20", "30", "40"],
        ["1.73641397155897e15", "1.736413971558971e15", "1.736413971559e+15"],
    ],
    ids=["some end in 0", "decimals", "two by chance", "one time", "from 0", "zeros left out"],
)
def test_times_that_may_be_whole_are_taken_as_they_are(starts: list[str], connection: duckdb.DuckDBPyConnection) -> None:
    assert read(connection, starts, ["1"] * len(starts))[1] == []


@pytest.mark.parametrize(
    "starts",
    [
        ["1736413971558970", "1736413971558980", "1736413971558990"],
        ["1736413971558970.0", "1736413971558980.0", "1736413971558990.0", "N/A"],
        ["1,736,413,971,558,970", "1,736,413,971,558,980", "1,736,413,971,558,990"],
        ["1.73641E+15"],
        ["1,73641E+15", "1,73641E+15"],
        ["1.73641397155897E+15", "1.7364139715589E+15"],
    ],
    ids=["15 digits", "with a point", "thousands", "6 digits", "comma", "15 digits and exponent"],
)
def test_times_that_all_lost_digits_are_found(starts: list[str], connection: duckdb.DuckDBPyConnection) -> None:
    assert read(connection, starts, ["1"] * len(starts))[1] == ["start"]


def test_durations_are_cut_only_where_an_exponent_says_so(connection: duckdb.DuckDBPyConnection) -> None:
    starts = ["1736413971558972.912"] * 3
    assert read(connection, starts, ["10", "20", "30"])[1] == []
    assert read(connection, starts, ["5e-03", "1.5e+00", "2.125e+01"]) == (
        [STAMP_NS, 5, STAMP_NS, 1500, STAMP_NS, 21250],
        [],
    )
    assert read(connection, starts, ["1.23E+06", "4.56E-01", "7.89E+00"])[1] == ["duration"]
