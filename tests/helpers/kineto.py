"""Writes small traces as torch.profiler writes them on GPUs."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

BASE_NS = 1_751_410_836_000_000_000
PID = 100
Arguments = Mapping[str, Any]
# The keys before the events that every new trace has.
HEAD: dict[str, Any] = {"schemaVersion": 1, "with_stack": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS}


def event(
    category: str, name: str, start: int, end: int, tid: int | str = 1, pid: int | str = PID, arguments: Arguments | None = None
) -> str:
    """An event with times in ns after the base, as JSON with three decimals, which is how Kineto writes microseconds."""
    one = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid}
    text, args = json.dumps(one)[:-1], json.dumps(dict(arguments or {}))
    return f'{text}, "ts": {start // 1000}.{start % 1000:03}, "dur": {_us(end - start)}, "args": {args}}}'


def _us(ns: int) -> str:
    sign, size = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{size // 1000}.{size % 1000:03}"


def op(name: str, start: int, end: int, external: int, tid: int = 1, arguments: Arguments | None = None) -> str:
    """A framework op; `external` is its id."""
    return event("cpu_op", name, start, end, tid, arguments={"External id": external, **(arguments or {})})


def module(name: str, start: int, end: int, tid: int = 1, number: int = 1) -> str:
    """A module call of the Python tracer, such as Linear_0."""
    return event(
        "python_function", f"nn.Module: {name}", start, end, tid, arguments={"Python id": number, "Python module id": 0}
    )


def launch(
    start: int, end: int, correlation: int, external: int | None = None, tid: int = 1, name: str = "cudaLaunchKernel"
) -> str:
    """A call of the runtime that puts work on the device."""
    link = {} if external is None else {"External id": external}
    return event("cuda_runtime", name, start, end, tid, arguments={"correlation": correlation, **link})


def kernel(
    name: str,
    start: int,
    end: int,
    correlation: int,
    stream: int = 7,
    category: str = "kernel",
    arguments: Arguments | None = None,
) -> str:
    """A piece of work on the device."""
    of_device = {"device": 0, "stream": stream, "correlation": correlation}
    return event(category, name, start, end, stream, 0, {**of_device, **(arguments or {})})


def memory(size: int, address: int, at: int, totals: tuple[int, int], tid: int = 1, device: tuple[int, int] = (1, 0)) -> str:
    """An allocation of device memory, or with a negative size a release; `device` is its type and number."""
    allocated, reserved = totals
    args = {"Total Reserved": reserved, "Total Allocated": allocated, "Bytes": size, "Addr": address}
    args |= {"Device Type": device[0], "Device Id": device[1]}
    one = {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": PID, "tid": tid}
    return f'{json.dumps(one)[:-1]}, "ts": {at // 1000}.{at % 1000:03}, "args": {json.dumps(args)}}}'


def flow(number: int, start: int, tid: int, *, is_start: bool) -> str:
    """An end of the flow from a forward op to its backward op."""
    phase = "s" if is_start else "f"
    one = {
        "ph": phase,
        "id": number,
        "pid": PID,
        "tid": tid,
        "cat": "fwdbwd",
        "name": "fwdbwd",
        **({} if is_start else {"bp": "e"}),
    }
    return f'{json.dumps(one)[:-1]}, "ts": {start // 1000}.{start % 1000:03}}}'


def write_trace(
    path: Path, events: Iterable[str], head: dict[str, Any] | None = None, tail: dict[str, Any] | None = None
) -> Path:
    """Write an object with these events, and keys before and after them; packed where the name ends with .gz."""
    before = "".join(f"{json.dumps(key)}: {json.dumps(value)}, " for key, value in (HEAD if head is None else head).items())
    after = "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in (tail or {}).items())
    listed = ",\n  ".join(events)
    text = f'{{{before}"traceEvents": [\n  {listed}\n  ]{after}}}\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())
    return path
