"""The one way to open DuckDB: every connection has the same settings, macros and nothing of the caller's variables."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

# What the SQL reads with getvariable(), and what it is unless something else is said.
Variables = Mapping[str, int | bool | str | list[str] | None]
_DEFAULTS: Variables = {
    "nesting_tolerance_ns": 0,
    "step_id": None,
    "device_id": None,
    "first_device_id": None,
    "module_source": "auto",
    "module_domains": ["Module"],
    "by_instance": False,
    "depth": None,
    "audit_links": False,
    "profile": "",
    "rank_id": None,
    "text_salt": 0,
}

# The interval that ends at outer_end_ns and started no later than start_ns covers [start_ns, end_ns]. With a tolerance,
# one that has not ended at start_ns may end that much too early; touching neighbours never cover each other.
# text_id numbers the texts of sources that do not, by a hash of 63 bits.
_MACROS = r"""
CREATE MACRO covers(outer_end_ns, start_ns, end_ns) AS
    outer_end_ns >= end_ns
    OR (outer_end_ns > start_ns AND outer_end_ns + getvariable('nesting_tolerance_ns') >= end_ns);

-- The smallest value that at least `percent` of all values do not exceed, of values with the number of those up to each.
CREATE MACRO nearest_rank(value, count_up_to, count_of_all, percent) AS
    min(value) FILTER (count_up_to * 100 >= count_of_all * percent);

-- Over all values of a group, in integers up to the root: so it does not depend on the order in which they come.
CREATE MACRO standard_deviation(value) AS
    sqrt((count(value) * sum(value::HUGEINT * value) - sum(value) * sum(value))::DOUBLE) / count(value);

CREATE MACRO class_of_traced_module(recorded_name) AS
    coalesce(nullif(regexp_extract(recorded_name, '(?s)^nn\.Module: (.+?)(_\d+)?$', 1), ''), recorded_name);

CREATE MACRO known(text) AS if(text IN ('', 'N/A', 'NULL'), NULL, text);

CREATE MACRO text_id(text) AS if(text IS NULL, NULL, (hash(text, getvariable('text_salt')) >> 1)::BIGINT);

CREATE MACRO thread_id(pid, tid) AS TRY(pid * 4294967296 + tid);

CREATE MACRO ns_of_us(microseconds) AS TRY((TRY_CAST(microseconds AS DECIMAL(30, 3)) * 1000)::BIGINT);

-- The same for text that mostly has 16 digits and three decimals: 0.09 us a value, not 0.26. Shorter text can be 1.5e3.
CREATE MACRO ns_of_us_timestamp(microseconds) AS
    CASE
        WHEN length(microseconds) > 15 AND instr(microseconds, '.') = length(microseconds) - 3
        THEN TRY_CAST(replace(microseconds, '.', '') AS BIGINT)
        ELSE ns_of_us(microseconds)
    END;

-- The same for up to 12 digits before the point: 0.03 us a value, not 0.14.
CREATE MACRO ns_of_us_duration(microseconds) AS TRY((TRY_CAST(microseconds AS DECIMAL(18, 3)) * 1000)::BIGINT);
"""


def connect(
    variables: Variables | None = None,
    threads: int | None = None,
    temp_directory: Path | None = None,
    buffer_bytes: int | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open an in-memory database that the SQL of this project can run in.

    `variables` are those that differ from the defaults. What does not fit into buffer_bytes spills to temp_directory.
    """
    config = {"threads": threads, "memory_limit": None if buffer_bytes is None else f"{buffer_bytes}B"}
    connection = duckdb.connect(config={name: value for name, value in config.items() if value is not None})
    connection.execute(_MACROS)
    # An ASOF join of few rows would be a nested loop; but behind filters DuckDB takes a million rows for few.
    connection.execute("SET asof_loop_join_threshold = 0")
    if temp_directory is not None:
        connection.execute("SET temp_directory = $path", {"path": str(temp_directory)})
    prepare(connection, variables)
    return connection


def prepare(connection: duckdb.DuckDBPyConnection, variables: Variables | None = None) -> None:
    """Give a connection or a cursor the settings and variables that it does not inherit."""
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET python_enable_replacements = false")
    # In Jupyter without ipywidgets the bar is off, and DuckDB refuses to hear of it.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    for name, value in {**_DEFAULTS, **(variables or {})}.items():
        cast = "::BIGINT" if value is None else ""
        connection.execute(f"SET VARIABLE {quote(name)} = $value{cast}", {"value": value})


def quote(identifier: str) -> str:
    """Quote a name for use as an SQL identifier."""
    return '"' + identifier.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Quote a text for use in an SQL statement that takes no parameters, such as COPY."""
    return "'" + text.replace("'", "''") + "'"
