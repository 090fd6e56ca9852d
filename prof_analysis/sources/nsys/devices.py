"""Finds which devices a database has, and which processes ran on each: a device is a rank."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from prof_analysis.sources.nsys.tables import CALLS, CUDA_DEVICES, DRIVER_CALLS, GRAPHS, KERNELS, RANGES, WORK
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query

# A global id has the process above its lowest 24 bits, which are the thread.
_PID = "({} >> 24 & 16777215)"
_HOST_TABLES = (RANGES, CALLS, DRIVER_CALLS)


@dataclass
class Device:
    """A device of a database: what chooses its work, and the processes whose calls and ranges are those of its rank.

    `work` has pairs of a process and the number that the process gives the device; the process is None where the database does
    not say it, and there are no pairs where it has no devices. `pids` are the processes that ran kernels on this device, and
    those that ran none at all and copied.
    """

    work: list[tuple[int | None, int]] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)

    @property
    def knows_pids(self) -> bool:
        """Whether the database says the processes of work."""
        return any(pid is not None for pid, _ in self.work)


def devices_of(file: SqliteFile) -> Mapping[int | None, Device]:
    """Return the devices that a database has work of, by number; a single one without number where it has none."""
    status = file.path.stat()
    return _devices_of(file.path, (status.st_size, status.st_mtime_ns), _Unhashed(file))


@dataclass(frozen=True)
class _Unhashed:
    """A file beside the key of a kept answer, of which it is no part."""

    file: SqliteFile = field(compare=False)


@lru_cache(maxsize=64)  # To look through all kernels takes a tenth of the time of reading them.
def _devices_of(_path: Path, _state: tuple[int, int], unhashed: _Unhashed) -> Mapping[int | None, Device]:
    file = unhashed.file
    physical = _physical_devices(file)
    kernels: dict[int, set[int]] = {}
    others: dict[int, set[int]] = {}
    found: dict[int | None, Device] = {}
    for table in WORK:
        for pid, number in _used(file, table):
            device = physical.get((pid, number), number)
            found.setdefault(device, Device()).work.append((pid, number))
            if pid is not None:
                (kernels if table in (KERNELS, GRAPHS) else others).setdefault(pid, set()).add(device)
    # Each process of a job often has a few copies on device 0 beside the work on its own.
    for pid, devices in ({**others, **kernels}).items():
        for device in devices:
            found[device].pids.add(pid)
    return {device: found[device] for device in sorted(found, key=lambda one: one or 0)} or {None: Device()}


def homeless_pids(file: SqliteFile) -> set[int]:
    """Return the processes that have calls or ranges and no device; where all rows are of one device, none."""
    devices = devices_of(file)
    if len(devices) < 2 or not any(device.knows_pids for device in devices.values()):
        return set()
    return _pids_of(file, _HOST_TABLES) - {pid for device in devices.values() for pid in device.pids}


def only_pid(file: SqliteFile) -> int | None:
    """Return the process that launched all work, where work has no process: up to 2020 it had none."""
    if all("globalPid" in file.tables[table] for table in WORK if table in file.tables):
        return None
    pids = _pids_of(file, (CALLS, DRIVER_CALLS))
    return pids.pop() if len(pids) == 1 else None


def _pids_of(file: SqliteFile, tables: Iterable[str]) -> set[int]:
    return {
        int(str(row[0]))
        for table in tables
        if "globalTid" in file.tables.get(table, {})
        for row in query(file, f"SELECT DISTINCT {_PID.format('globalTid')} FROM {table} WHERE typeof(globalTid) = 'integer'")
    }


def condition_of_work(file: SqliteFile, table: str, device: Device) -> str:
    """Return the SQLite condition of the rows of a device in a table of work."""
    columns = file.tables[table]
    numbers = ", ".join(sorted({str(number) for _, number in device.work}))
    if "deviceId" not in columns or not numbers:
        return "true"
    if "globalPid" not in columns or any(pid is None for pid, _ in device.work):
        return f"deviceId IN ({numbers})"
    pairs = ", ".join(f"({pid}, {number})" for pid, number in sorted({(pid or 0, number) for pid, number in device.work}))
    return f"({_PID.format('globalPid')}, deviceId) IN (VALUES {pairs})"


def condition_of_host(device: Device, is_only: bool) -> str:
    """Return the SQLite condition of the rows of calls and ranges of the rank of a device."""
    if is_only or not device.knows_pids:
        return "true"
    return f"{_PID.format('globalTid')} IN ({', '.join(map(str, sorted(device.pids)))})"


def _used(file: SqliteFile, table: str) -> list[tuple[int | None, int]]:
    """Return the pairs of process and device in a table of work."""
    columns = file.tables.get(table, {})
    if "deviceId" not in columns:
        return []
    pid = _PID.format("globalPid") if "globalPid" in columns else "NULL"
    rows = query(file, f"SELECT DISTINCT {pid}, deviceId FROM {table} WHERE typeof(deviceId) = 'integer'")
    return [(pid if isinstance(pid, int) else None, int(str(number))) for pid, number in rows]


def _physical_devices(file: SqliteFile) -> dict[tuple[int | None, int], int]:
    """Return the device of the host that a process means by a number, where CUDA_VISIBLE_DEVICES may have changed that."""
    if not {"gpuId", "cudaId", "pid"} <= file.tables.get(CUDA_DEVICES, {}).keys():
        return {}
    rows = query(
        file,
        f"SELECT pid, cudaId, min(gpuId) FROM {CUDA_DEVICES}"
        " WHERE typeof(pid) = 'integer' AND typeof(cudaId) = 'integer' AND typeof(gpuId) = 'integer'"
        " GROUP BY pid, cudaId HAVING count(DISTINCT gpuId) = 1",
    )
    return {(int(str(pid)), int(str(number))): int(str(gpu)) for pid, number, gpu in rows}
