"""Keeps of text exports the rows of one device, where msprof wrote those of several into the same files."""

from collections.abc import Mapping

import duckdb

from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import source_tables
from prof_analysis.sources.ascend_beside import device_info

# The tables of a device by its process in the trace. Calls on the host are of all devices.
_OF_PROCESSES = (
    "raw.device_task", "raw.copy_task", "raw.communication_op", "raw.communication_task", "raw.mstx_task", "raw.overlap",
    "raw.core_clock", "raw.thread", "raw.plane", "raw.process",
)  # fmt: skip
_DETAILS = "raw.kernel_detail"
_PROCESS = "trace.device_process"


def with_devices(
    connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]], known: Mapping[str, Mapping[str, str]]
) -> dict[str, frozenset[str]]:
    """Return the wanted columns, with those that say of which device a row is where the files are of several."""
    found = dict(wanted)
    if _device_of(connection) is None:
        return found
    needed = {"raw.process": frozenset(known["raw.process"]), device_info.TABLE: frozenset(("device_id",))}
    needed[_DETAILS] = frozenset(("device_id",))
    needed |= {name: frozenset(("pid",)) for name in ("raw.device_task", "raw.communication_op", "raw.core_clock")}
    needed |= {name: frozenset(("pid",)) for name in _OF_PROCESSES if name in wanted and name not in needed}
    return found | {name: found.get(name, frozenset()) | columns for name, columns in needed.items()}


def keep_own(connection: duckdb.DuckDBPyConnection, staged: Mapping[str, frozenset[str]]) -> None:
    """Drop the rows of other devices; rows of no known device are of the first one."""
    device = _device_of(connection)
    if device is None:
        return
    own, first = device
    is_other = f"coalesce(device_id, {first:d}) <> {own:d}"
    connection.execute(
        f"CREATE TEMP TABLE other_process AS SELECT pid FROM ({source_tables('ascend_text')[_PROCESS].body}) WHERE {is_other}"
    )
    for name in _OF_PROCESSES:
        if name in staged:
            connection.execute(f"DELETE FROM stored.{quote(name)} WHERE pid IN (FROM other_process)")
    connection.execute(f"DROP TABLE other_process; DELETE FROM stored.{quote(_DETAILS)} WHERE {is_other}")


def _device_of(connection: duckdb.DuckDBPyConnection) -> tuple[int, int] | None:
    """Return the device of the rank, and the first one in its files; None where these are of one device."""
    variables = "getvariable('device_id'), getvariable('first_device_id')"
    ((own, first),) = connection.execute(f"SELECT {variables}").fetchall()
    return None if own is None else (int(own), int(first))
