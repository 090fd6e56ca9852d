"""Finds the columns of kernel_details.csv that are hardware counters (PMU), of any chip and set of metrics, and stages them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from prof_analysis.sources.readers.csv_file import copy_columns, read_header

# The columns that describe a kernel, by the names of all versions and of msprof's op_summary.
_DESCRIBING = frozenset(
    (
        "step id", "device_id", "model name", "model id", "task id", "stream id", "infer id", "op name", "name", "op type",
        "type", "op state", "task type", "accelerator core", "task start time(us)", "start time(us)", "task duration(us)",
        "duration(us)", "task wait time(us)", "wait time(us)", "block num", "block dim", "mix block num", "mix block dim",
        "grid dim", "hf32 eligible", "input shapes", "input data types", "input formats", "output shapes",
        "output data types", "output formats", "context id",
    )
)  # fmt: skip
# The raw tables of counters.
TABLES: Mapping[str, Mapping[str, str]] = {
    "raw.pmu_column": {"column_number": "BIGINT", "metric": "TEXT_ID", "unit": "VARCHAR"},
    "raw.pmu_cell": {"row_number": "BIGINT", "column_number": "BIGINT", "value": "DOUBLE"},
}

_WITH_UNIT = re.compile(r"(.*\S)\s*\(([^()]+)\)")
# Name in the csv -> name in the database.
_NAMES_IN_DATABASE = {"aicore_time": "aic_total_time", "aiv_time": "aiv_total_time"}


@dataclass(frozen=True)
class Counter:
    """A column of counters: its name in the header in lower case, the name of the metric in databases, and the unit."""

    header: str
    metric: str
    unit: str | None


def counters_of(names: Iterable[str]) -> Iterator[Counter]:
    """Yield the columns of a header that are counters: all that do not describe the kernel, so that new counters are found."""
    for name in dict.fromkeys(names):
        header = name.lower()
        if header and header not in _DESCRIBING and not header.startswith("unnamed"):
            match = _WITH_UNIT.fullmatch(name)
            metric, unit = (match[1], match[2]) if match else (name, None)
            yield Counter(header, _NAMES_IN_DATABASE.get(metric.lower(), metric), unit)


def has_counters(names: Iterable[str]) -> bool:
    """Return whether a header has counters: every set has the time of the cores."""
    return any(name.lower().startswith(("aic", "aiv")) for name in names)


def stage_counters(
    connection: duckdb.DuckDBPyConnection,
    file: Path,
    wanted: Mapping[str, frozenset[str]],
    insert: Callable[[str, Mapping[str, tuple[Mapping[str, tuple[str, str]], str]]], None],
    first_row: int = 0,
    first_column: int = 0,
) -> None:
    """Stage the counters of kernel_details.csv: in raw.pmu_column their names and units, in raw.pmu_cell one row per number.

    `insert` inserts rows into raw tables, by their columns, each with a type and an expression, and a condition. Rows are
    numbered from `first_row` on, and columns from `first_column`: a file may be one of several slices.
    Raises InputError when the file cannot be read.
    """
    counters = list(counters_of(read_header(file)[1]))
    if not counters:
        return
    columns = [f"counter_{number}" for number in range(len(counters))]
    headers = {column: (counter.header,) for column, counter in zip(columns, counters, strict=True)}
    copy_columns(connection, file, headers, "stored.counter_row")
    connection.execute(
        "CREATE TABLE stored.counter AS "
        f"SELECT unnest(range(len($metrics))) + {first_column} AS column_number, unnest($metrics) AS metric, "
        "unnest($units) AS unit",
        {"metrics": [counter.metric for counter in counters], "units": [counter.unit for counter in counters]},
    )
    numbers = ", ".join(f"TRY_CAST(replace({column}, ',', '.') AS DOUBLE)" for column in columns)
    cells = (
        f"(SELECT row_number + {first_row} AS row_number, unnest(range({len(columns)})) + {first_column} AS column_number, "
        f"unnest([{numbers}]::DOUBLE[]) AS value"
        " FROM stored.counter_row)"
    )
    for name, rows, condition in (
        ("raw.pmu_column", "stored.counter", "true"),
        ("raw.pmu_cell", cells, "value IS NOT NULL"),
    ):
        if chosen := wanted.get(name):
            columns_of = {column: (type_, column) for column, type_ in TABLES[name].items() if column in chosen}
            insert(rows, {name: (columns_of, condition)})
    connection.execute("DROP TABLE stored.counter_row; DROP TABLE stored.counter")
