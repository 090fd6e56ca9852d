"""Finds the devices of a database of Nsight Systems and the capabilities of each, without staging it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from prof_analysis.common.answer_options import Options
from prof_analysis.common.capabilities import CAPABILITIES, lacking
from prof_analysis.common.errors import InputError
from prof_analysis.engine.quotes import quote_text
from prof_analysis.sources.identity import MOST_TIMES, Identity
from prof_analysis.sources.nsys.devices import Device, condition_of_host, condition_of_work, devices_of
from prof_analysis.sources.nsys.finding import is_report
from prof_analysis.sources.nsys.metrics import is_clock, metrics_of
from prof_analysis.sources.nsys.session import base_time, host_of_session, recording_of
from prof_analysis.sources.nsys.tables import (
    ALLOCATIONS,
    CALLS,
    COPIES,
    CUDA_DEVICES,
    DEVICES,
    DRIVER_CALLS,
    FILLS,
    GRAPHS,
    KERNELS,
    KNOWN_TABLES,
    RANGES,
    TEXTS,
    WORK,
)
from prof_analysis.sources.rank import Rank, readable
from prof_analysis.sources.readers.sqlite_file import SqliteFile, open_sqlite, query

_MINUTE_NS = 60 * 10**9
_EXPORT = "nsys export --type sqlite"
# Texts of ops have what emit_nvtx appends.
_OPS = ("*, op_id = [0-9]*", "*, seq = [0-9]*")
_MODULES = ("nn.Module: *", "{'Module': '*")
_FSDP = "FSDP::pre_forward (*"
_COLLECTIVES = (
    *("nccl*Kernel*", "*cross_device_reduce_*", "*all_reduce_kernel*", "*allreduce_fusion_kernel*", "*allreduce_prototype*"),
    *("*deep_ep::*", "*dpsk::ep::*", "*mscclpp*", "*nvshmem*", "*moeA2A*", "*EpDispatch*"),
)

_NO_KERNELS = "no kernels; record them with nsys profile --trace=cuda,nvtx (if anything ran on the device)"
_NO_OPS = "no ops; put torch.autograd.profiler.emit_nvtx() around the steps that are recorded"
_NO_SHAPES = "no shapes of ops; set record_shapes=True of torch.autograd.profiler.emit_nvtx"
_NO_MODULES = "no ranges that name modules: none of {}, of hooks or of FSDP; see the page GPU traces for what to record"
_NO_COMMUNICATION = "no collectives of NCCL or others that are known"
_NO_HOST_CALLS = "no calls into CUDA; record them with nsys profile --trace=cuda,nvtx"
_NO_MARKS = "no ranges or marks of NVTX; put torch.cuda.nvtx.range around what you want to see"
_NO_COUNTERS = "the file does not name its devices (TARGET_INFO_GPU), so blocks per multiprocessor are not known"
_NO_CLOCK = f"no {CAPABILITIES['clock']}; record them with nsys profile --gpu-metrics-devices=all"
_NO_SAMPLES = f"no {CAPABILITIES['samples']}; record them with nsys profile --gpu-metrics-devices=all"
_NO_MEMORY = (
    f"no {CAPABILITIES['memory']}; record what CUDA hands out with nsys profile --cuda-memory-usage=true, and PyTorch's "
    "allocator, which Nsight Systems does not see, with torch.profiler"
)
_NO_STACKS = f"no {CAPABILITIES['stacks']} of ops; record them with torch.profiler and with_stack=True"
_NO_GRAPH_CALLS = "no graphs of TorchAir, which compiles for NPUs alone"
_NO_SETTINGS = "environment variables of Nsight Systems are not read: they hold names and keys of their users"


def inspect(result: Path, profile: str, options: Options) -> list[Rank]:
    """Return the ranks of a database, one for each device that did work; a single one, left out, where it cannot be read."""
    rank = Rank(profile, result, inputs=(result,), files=(readable(Path(result.name)),))
    if is_report(result):
        name = readable(Path(result.name))
        command = f"{_EXPORT} -o {readable(Path(result.stem))}.sqlite {name}"
        return [replace(rank, left_out=f"{result}: is a report that only Nsight Systems reads; export it: {command}")]
    try:
        if not result.stat().st_size:
            raise InputError(f"{result}: is empty; export it again: {_EXPORT}", path=result)
        with open_sqlite(result, KNOWN_TABLES) as file:
            if not any(table in file.tables for table in (*WORK, RANGES, CALLS)):
                said = "holds neither kernels nor calls nor NVTX ranges; record with nsys profile --trace=cuda,nvtx"
                raise InputError(f"{result}: {said}, and export it: {_EXPORT}", path=result)
            devices = devices_of(file)
            return [_rank_of(rank, file, number, devices, options) for number in devices]
    except InputError as error:
        return [replace(rank, left_out=str(error))]


def _rank_of(rank: Rank, file: SqliteFile, number: int | None, devices: Mapping[int | None, Device], options: Options) -> Rank:
    has_several = len(devices) > 1
    device = devices[number]
    modules_from = _modules_from(file, condition_of_host(device, not has_several), options)
    reasons = _reasons(file, number, device, has_several, modules_from, options)
    first = next(one for one in devices)
    return replace(
        rank,
        profile=f"{rank.profile}/device_{number}" if has_several else rank.profile,
        device_id=number,
        first_device_id=first if has_several else None,
        rank_id=number,
        rank_id_from=None if number is None else "the number of the device",
        lacks=lacking(reasons),
        missing=tuple(dict.fromkeys(one for one in reasons.values() if one and one not in (_NO_GRAPH_CALLS, _NO_SETTINGS))),
        modules_from=modules_from,
    )


def _reasons(
    file: SqliteFile, number: int | None, device: Device, has_several: bool, modules_from: str | None, options: Options
) -> dict[str, str | None]:
    """Return the capabilities, each with the reason why the rank lacks it; None where it has it."""
    of_host = condition_of_host(device, not has_several)

    def has_work(*tables: str) -> bool:
        return any(
            _has_rows(file, table, condition_of_work(file, table, device) if has_several else "true")
            for table in tables
            if table in file.tables
        )

    has_compute = has_work(KERNELS, GRAPHS)
    no_kernels = None if has_compute or has_work(COPIES, FILLS) else _NO_KERNELS
    no_compute = None if has_compute else _NO_KERNELS
    no_ops = None if _has_text(file, of_host, _OPS) else _NO_OPS
    metrics = metrics_of(file, number).values()
    return {
        "modules": None if modules_from else no_kernels or _NO_MODULES.format(", ".join(options.domains)),
        "kernels": no_kernels,
        "ops": no_ops,
        "communication": no_compute or (None if _has_name(file, _COLLECTIVES) else _NO_COMMUNICATION),
        "compute": no_compute,
        "shapes": no_ops or no_compute or (None if _has_text(file, of_host, ("*, sizes = [[]*",)) else _NO_SHAPES),
        "counters": no_compute or (None if _knows_multiprocessors(file) else _NO_COUNTERS),
        "samples": None if metrics else _NO_SAMPLES,
        "clock": None if any(map(is_clock, metrics)) else _NO_CLOCK,
        "host_calls": None if any(_has_rows(file, table, of_host) for table in (CALLS, DRIVER_CALLS)) else _NO_HOST_CALLS,
        "graph_calls": _NO_GRAPH_CALLS,
        "stacks": _NO_STACKS,
        "marks": None if _has_range(file, of_host) else _NO_MARKS,
        "memory": None if has_work(ALLOCATIONS) else _NO_MEMORY,
        "settings": _NO_SETTINGS,
        "kernel_types": None,
    }


def _knows_multiprocessors(file: SqliteFile) -> bool:
    columns = {DEVICES: "smCount", CUDA_DEVICES: "numMultiprocessors"}
    has_grid = "gridX" in file.tables.get(KERNELS, {})
    return has_grid and any(
        _has_rows(file, table, f"{column} > 0") for table, column in columns.items() if column in file.tables.get(table, {})
    )


def _has_rows(file: SqliteFile, table: str, condition: str) -> bool:
    return table in file.tables and bool(query(file, f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1"))


def _has_name(file: SqliteFile, patterns: tuple[str, ...]) -> bool:
    """Return whether a text is the name of a kernel of one of these patterns."""
    return "value" in file.tables.get(TEXTS, {}) and _has_rows(file, TEXTS, _is_like("value", patterns))


def _is_like(column: str, patterns: tuple[str, ...]) -> str:
    return "(" + " OR ".join(f"{column} GLOB {quote_text(pattern)}" for pattern in patterns) + ")"


def _has_text(file: SqliteFile, of_host: str, patterns: tuple[str, ...]) -> bool:
    """Return whether an NVTX range has a text of one of these patterns, of its own or a registered one."""
    return _has_range_where(file, of_host, lambda text: _is_like(text, patterns))


def _has_range(file: SqliteFile, of_host: str) -> bool:
    """Return whether there is a range or mark that is no op."""
    return _has_range_where(
        file, of_host, lambda text: f"{text} IS NOT NULL AND (NOT {_is_like(text, _OPS)} OR {text} GLOB '[^:]*:[^:]*')"
    )


def _has_range_where(file: SqliteFile, of_host: str, condition: Callable[[str], str]) -> bool:
    columns = file.tables.get(RANGES, {})
    if "globalTid" not in columns:
        of_host = "true"
    is_range = f"{of_host} AND eventType IN (34, 59, 60)" if "eventType" in columns else of_host
    if "text" in columns and _has_rows(file, RANGES, f"{is_range} AND {condition('text')}"):
        return True
    if "textId" not in columns or "value" not in file.tables.get(TEXTS, {}):
        return False
    ids = f"SELECT id FROM {TEXTS} WHERE {condition('value')}"
    return bool(query(file, f"{ids} LIMIT 1")) and _has_rows(file, RANGES, f"{is_range} AND textId IN ({ids})")


def _modules_from(file: SqliteFile, of_host: str, options: Options) -> str | None:
    """Return the kind of marks of modules; None without any."""
    marked = tuple(pattern for domain in options.domains for pattern in (f"{domain}[^a-zA-Z]*", domain))
    if "mstx" in options.marks and (_has_text(file, of_host, marked) or _has_domain(file, options.domains)):
        return "mstx"
    if "nn.Module" in options.marks:
        if _has_text(file, of_host, _MODULES):
            return "nn.Module"
        if _has_text(file, of_host, (_FSDP,)):
            return "FSDP"
    return None


def _has_domain(file: SqliteFile, names: tuple[str, ...]) -> bool:
    """Return whether the file names one of these as an NVTX domain."""
    if not {"eventType", "text"} <= file.tables.get(RANGES, {}).keys():
        return False
    return _has_rows(file, RANGES, f"eventType = 75 AND text IN ({', '.join(map(quote_text, names))})")


def job_of(rank: Rank) -> tuple[int, str | None] | None:  # noqa: ARG001
    """Return None: a database does not say how many ranks the job has."""
    return None


def least_ranks_of(rank: Rank) -> int | None:  # noqa: ARG001
    """Return None: operators name no ranks."""
    return None


def usual_files_of(rank: Rank) -> frozenset[str]:  # noqa: ARG001
    """Return nothing: a database is all that there is of its ranks."""
    return frozenset()


def end_of(rank: Rank) -> int | None:
    """Return the end of the recording to the minute: all devices of a host end at once, and all hosts of a job soon after."""
    with open_sqlite(rank.inputs[0], KNOWN_TABLES) as file:
        recording = recording_of(file)
    return None if recording is None else recording.last_ns // _MINUTE_NS * _MINUTE_NS


def host_of(rank: Rank) -> str | None:  # noqa: ARG001
    """Return None: devices of several hosts have the same numbers, and are of one job."""
    return None


def identity_of(rank: Rank) -> Identity:
    """Return the identity of a rank by its database."""
    with open_sqlite(rank.inputs[0], KNOWN_TABLES) as file:
        recording = recording_of(file)
        return Identity(
            recording=None if recording is None else (recording.first_ns, recording.last_ns),
            host=host_of_session(file),
            chip=_chip(file, rank.device_id),
            times={"database": _first_times(file, rank)},
        )


def _chip(file: SqliteFile, device: int | None) -> str | None:
    if device is None or not {"id", "name"} <= file.tables.get(DEVICES, {}).keys():
        return None
    names = {row[0] for row in query(file, f"SELECT name FROM {DEVICES} WHERE id = {device:d}")}
    (name,) = names if len(names) == 1 else (None,)
    return name if isinstance(name, str) and name else None


def _first_times(file: SqliteFile, rank: Rank) -> tuple[object, ...]:
    """Return when the first kernels of the device began, since the begin of the session."""
    if not {"start", "deviceId"} <= file.tables.get(KERNELS, {}).keys():
        return ()
    devices, base = devices_of(file), base_time(file)
    device = devices.get(rank.device_id)
    condition = condition_of_work(file, KERNELS, device) if device else "true"
    rows = query(file, f"SELECT start FROM {KERNELS} WHERE {condition} LIMIT {MOST_TIMES}")
    return tuple(base + row[0] for row in rows if isinstance(row[0], int))
