"""Finds the metrics of devices that a database of Nsight Systems has samples of: their names, and which are the clock."""

import duckdb

from prof_analysis.engine.statements import run
from prof_analysis.sources.nsys.devices import devices_of
from prof_analysis.sources.nsys.tables import METRIC_NAMES, METRICS
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query

_CLOCK = "GPC Clock Frequency"


def metrics_of(file: SqliteFile, device: int | None) -> dict[int, str]:
    """Return the names of the metrics of a device by number; of all devices where it has none: its number is another one."""
    if METRICS not in file.tables or not {"typeId", "metricId", "metricName"} <= file.tables.get(METRIC_NAMES, {}).keys():
        return {}
    sql = (
        f"SELECT typeId * 65536 + metricId, metricName FROM {METRIC_NAMES} WHERE typeof(metricName) = 'text' ORDER BY 1, 2 DESC"
    )
    names = {number: str(name) for number, name in query(file, sql) if isinstance(number, int)}
    # The lowest 8 bits of a type are the number of the device.
    return {number: name for number, name in names.items() if number >> 16 & 255 == device} or names


def is_clock(name: str) -> bool:
    """Return whether a metric is the clock of the multiprocessors."""
    return name.startswith(_CLOCK)


def set_metrics(connection: duckdb.DuckDBPyConnection, file: SqliteFile, are_all: bool) -> None:
    """Set the variables that are read of metrics: names by number, the numbers of the clock, and those of the wanted ones."""
    ((device,),) = run(connection, "SELECT getvariable('device_id')").fetchall()
    names = metrics_of(file, next(iter(devices_of(file))) if device is None else device)
    clocks = [number for number, name in names.items() if is_clock(name)]
    given = {"numbers": list(names), "names": list(names.values())}
    connection.execute("SET VARIABLE metric_names = map($numbers::BIGINT[], $names::VARCHAR[])", given)
    for variable, numbers in {"clock_metrics": clocks, "wanted_metrics": list(names) if are_all else clocks}.items():
        connection.execute(f"SET VARIABLE {variable} = $numbers::BIGINT[]", {"numbers": numbers})


def condition_of_metrics(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the SQLite condition of the samples of the wanted metrics."""
    ((numbers,),) = run(connection, "SELECT getvariable('wanted_metrics')").fetchall()
    return f"typeId * 65536 + metricId IN ({', '.join(map(str, numbers))})"
