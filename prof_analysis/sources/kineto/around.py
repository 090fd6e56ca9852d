"""Reads the parts of a Kineto trace around its list of events: the profiler, the devices and the job."""

import json
import re
import zlib
from collections import deque
from contextlib import closing
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from prof_analysis.common import input_files
from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.sources.rank import object_in
from prof_analysis.sources.readers.marks import opened
from prof_analysis.sources.readers.trace_file import TraceFile

BASE = "baseTimeNanoseconds"
JOB = "distributedInfo"
_READ = (BASE, JOB, "deviceProperties", "computeProperties")
# Names that Megatron-LM gives to its process groups.
_PURPOSES = {
    "TENSOR_MODEL_PARALLEL_GROUP": "tp",
    "PIPELINE_MODEL_PARALLEL_GROUP": "pp",
    "DATA_PARALLEL_GROUP": "dp",
    "CONTEXT_PARALLEL_GROUP": "cp",
    "EXPERT_MODEL_PARALLEL_GROUP": "ep",
}
_TAIL_BYTES = 4 * 2**20
_END_OF_LIST = re.compile(r'\]\s*,\s*(?=")')
_EVENT = '"ph"'
_PIECE_BYTES = 2**20


def around_events(path: Path) -> dict[str, Any]:
    """Return the keys of the object in a file, without the list of events; an empty object for a bare list.

    Metadata is before or after the events: these are read where those lack the time base or the job. Raises InputError where
    the file does not begin as a trace.
    """
    return _read_now(path)[0]


def unread_around(path: Path) -> tuple[str, ...]:
    """Return sentences about metadata of a file that cannot be read. Raises InputError as around_events() does."""
    return _read_now(path)[1]


def _read_now(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        state = input_files.check_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason_of(error)})", path=path) from error
    return _read(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)  # Finding runs, inspecting and staging ask for the same files; a packed one is unpacked to its end.
def _read(path: Path, size: int, changed_ns: int) -> tuple[dict[str, Any], tuple[str, ...]]:  # noqa: ARG001
    """Return the keys of the object in a file of this size and time of change, and sentences about what cannot be read."""
    reader = TraceFile(path, lambda _: None)
    with closing(reader.blocks()) as blocks:
        next(blocks, None)
    if not reader.is_object:
        return {}, ()
    unread = []
    before = _object(_text(reader.head + b"]}"))
    found = before or {}
    if before is None:
        unread.append("what stands before its events")
    if not {BASE, JOB} <= found.keys():
        after = _object_at_end(_tail(path))
        if after is None:
            unread.append("what stands after its events")
        found = {**(after or {}), **found}
    found.pop("traceEvents", None)
    values = {key: parsed(value) for key, value in found.items()}
    unread += [f"the text of {key}" for key in _READ if str(values.get(key))[:1] in "{[" and isinstance(values.get(key), str)]
    return _as_now(values), tuple(
        f"{path}: {what} is no JSON that can be read, so the job, the devices or the time may be unknown" for what in unread
    )


def time_base(around: dict[str, Any]) -> int:
    """Return the moment to which times are relative, Unix ns; 0 where they are absolute."""
    base = around.get(BASE)
    return base if isinstance(base, int) and 0 <= base < 2**62 else 0


def purpose_of_group(description: object) -> str | None:
    """Return the purpose of a process group: tp, pp, dp, cp or ep, else the framework's description; None without one."""
    if not isinstance(description, str) or description in ("", "undefined"):
        return None
    name = description.removeprefix("mesh_")
    return _PURPOSES.get(name, name if name in _PURPOSES.values() else description)


def _as_now(around: dict[str, Any]) -> dict[str, Any]:
    """Return the keys in the names of today; those of 2021 for devices differ."""
    devices = around.get("computeProperties")
    if "deviceProperties" in around or not isinstance(devices, list):
        return around
    named = [{"numSms": one.get("multiProcessorCount"), **one} for one in devices if isinstance(one, dict)]
    return {**around, "deviceProperties": named}


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace").lstrip("\ufeff")


def _object(text: str) -> dict[str, Any] | None:
    try:
        return object_in(text)
    except ValueError:
        return None


def parsed(value: Any) -> Any:
    """Return a value that some writers write as a JSON text inside the JSON."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _object_at_end(tail: bytes) -> dict[str, Any] | None:
    """Return the keys that follow the list of events: the text after its `],`, which comes after the last event.

    Return None where keys that are read follow it and cannot be read.
    """
    text = _text(tail)
    last = text.rfind(_EVENT)
    for end in islice(_END_OF_LIST.finditer(text, max(0, last)), 1000):
        if found := _object("{" + text[end.end() :]):
            return found
    return None if last >= 0 and any(f'"{key}"' in text[last:] for key in _READ) else {}


def _tail(path: Path) -> bytes:
    pieces = deque([b""], maxlen=_TAIL_BYTES // _PIECE_BYTES)
    try:
        if path.suffix != ".gz":
            with input_files.opened(path) as file:
                file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
                return file.read(_TAIL_BYTES)
        with opened(path) as content:
            while piece := content.read(_PIECE_BYTES):
                pieces.append(piece)
    except (OSError, EOFError, zlib.error):
        return b""  # A file that was cut off has no end.
    return b"".join(pieces)
