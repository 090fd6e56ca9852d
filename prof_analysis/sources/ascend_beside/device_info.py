"""Stages info.json, which describes the devices of a rank; it lies next to databases and to text exports.

A file is PROF_*/device_N/info.json.N. Its numbers may be written as texts. A value that it lacks is NULL.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import store_view
from prof_analysis.sources.rank import json_object

TABLE = "raw.device_info"
COLUMNS: Mapping[str, str] = {
    "file": "VARCHAR",
    "device_id": "BIGINT",
    "core_count": "BIGINT",
    "vector_core_count": "BIGINT",
    "clock_mhz": "BIGINT",
}

_NAME = re.compile(r"info\.json\.(\d{1,9})")
_LARGEST = 10**6


def is_device_info(file: Path) -> bool:
    """Return whether this module reads a file, by its name."""
    return _NAME.fullmatch(file.name) is not None


def stage_device_info(connection: duckdb.DuckDBPyConnection, files: Iterable[Path]) -> None:
    """Stage one row for each file for which is_device_info() is true."""
    target = f"stored.{quote(TABLE)}"
    definition = ", ".join(f"{quote(column)} {type_}" for column, type_ in COLUMNS.items())
    connection.execute(f"CREATE TABLE {target} ({definition})")
    store_view(connection, TABLE, COLUMNS, COLUMNS)
    for file in files:
        if match := _NAME.fullmatch(file.name):
            connection.execute(f"INSERT INTO {target} VALUES (?, ?, ?, ?, ?)", [file.name, int(match[1]), *_figures(file)])


def chip_of(file: Path) -> str | None:
    """Return the fields that tell kinds of devices apart; None where the file does not have them."""
    cores, _, clock_mhz = _figures(file)
    return None if cores is None or clock_mhz is None else f"a device of {cores} cores and {clock_mhz} MHz"


def _figures(file: Path) -> tuple[int | None, int | None, int | None]:
    """Return the number of cube cores, that of vector cores, and the rated clock of the cube cores in MHz.

    Of chips with one kind of core the file says 0 vector cores, which gives None.
    """
    devices = json_object(file).get("DeviceInfo")
    device = devices[0] if isinstance(devices, list) and devices and isinstance(devices[0], dict) else {}
    return _number(device.get("ai_core_num")), _number(device.get("aiv_num")), _number(device.get("aic_frequency"))


def _number(value: Any) -> int | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return round(number) if 0 < number < _LARGEST else None
