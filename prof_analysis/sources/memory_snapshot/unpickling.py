"""Reads a memory snapshot of PyTorch, a pickle, in a process of its own: `python -I unpickling.py MEMORY SECONDS [DIR] <FILE`.

A pickle is a program, and a stranger may have written it. The C unpickler is fast (Python's own takes 30 times as long), but
allocates what the file says: so this process has a limit of memory and of time, and the unpickler refuses each name that the
file asks for. The process writes what it found to stdout, as JSON, and each column of numbers to a file of the folder, if there
is one: 8 bytes a number, UNKNOWN where there is none. Texts are numbers too, places in the list of all texts.

It imports nothing but Python's own, so it starts in 20 ms and maps little memory beside the file's.
"""

import gc
import json
import os
import pickle
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

UNKNOWN = -(2**63)
# Each column of numbers by its table; those of TEXTS are places in the list of texts, the others are as in the file.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "segment": (
        *("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream", "segment_type"),
        *("is_expandable", "stack"),
    ),
    "block": ("segment", "address", "size", "requested_size", "state", "stack"),
    "event": ("device", "action", "address", "size", "stream", "time_us", "device_free", "stack"),
    "stack": ("stack", "depth", "frame"),
    "frame": ("name", "filename", "line"),
    "annotation": ("device", "stage", "name", "time_us"),
}
TEXTS = frozenset(("segment_type", "state", "action", "name", "filename", "stage"))
# So many times of events tell one recording from another.
_TOLD_TIMES = 256
_MOST_DEVICES = 4096


class RefusedError(Exception):
    """The reason why a file cannot be read as a snapshot."""


class _Data(pickle.Unpickler):
    """An unpickler of numbers, texts, lists and dicts: whoever asks for a class, a function or an object elsewhere is refused.

    A class of the registry of extensions comes by find_class(), too.
    """

    def find_class(self, module: str, name: str) -> Any:
        raise RefusedError(
            f"it asks for the class or function {module}.{name}"[:300] + ", which a snapshot never does and could run code"
        )

    def persistent_load(self, pid: Any) -> Any:  # noqa: ARG002
        raise RefusedError("it asks for an object outside the file, which a snapshot never does")


def load(content: Any) -> Any:
    """Return the data in a pickle. Raises RefusedError with the reason where it cannot be read."""
    try:
        return _Data(content).load()
    except (RefusedError, MemoryError):
        raise
    except EOFError as error:
        raise RefusedError("it is cut off") from error
    except Exception as error:  # A damaged pickle can raise anything.
        text = " ".join(str(error).split())[:120]
        if "truncated" in text or "exhausted" in text:
            raise RefusedError("it is cut off") from error
        raise RefusedError(f"it is damaged, or no pickle of plain data ({type(error).__name__}: {text})") from error


def limit(memory_bytes: int, seconds: int) -> None:
    """Let the system end this process beyond these limits. Only Linux holds to a limit of memory; see reading.py for others."""
    if sys.platform != "linux":
        return
    import resource

    for kind, most in ((resource.RLIMIT_AS, memory_bytes), (resource.RLIMIT_CPU, seconds)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def parts(data: Any) -> dict[str, Any]:
    """Return the parts of a snapshot. Raises RefusedError where the data is none."""
    if isinstance(data, list | tuple):  # torch.cuda.memory_snapshot() returns the segments alone.
        return {"segments": data}
    if isinstance(data, dict) and ("segments" in data or "device_traces" in data):
        return data
    raise RefusedError("it holds no memory snapshot: there are no segments and no device_traces in it")


def summary(data: Any) -> dict[str, Any]:
    """Return the devices of a snapshot, whether it has events and frames, and by device the last and the first times."""
    found = parts(data)
    traces = found.get("device_traces")
    lists = enumerate(traces if isinstance(traces, list | tuple) else [])
    events = {device: known for device, one in lists if (known := _dicts(one))}
    segments = _dicts(found.get("segments"))
    devices = {one.get("device") for one in segments} | events.keys()
    blocks = (block for segment in segments for block in _dicts(segment.get("blocks")))
    times = {
        device: [time for one in of_device if type(time := one.get("time_us")) is int] for device, of_device in events.items()
    }
    return {
        "devices": sorted(device for device in devices if type(device) is int and 0 <= device < _MOST_DEVICES),
        "has_events": bool(events),
        "has_frames": any(_of_today(one).get("frames") for one in blocks)
        or any(one.get("frames") for of_device in events.values() for one in of_device),
        "times_us": {device: [max(known), *known[:_TOLD_TIMES]] for device, known in times.items() if known},
    }


def _dicts(rows: Any) -> list[dict[Any, Any]]:
    return [row for row in rows if type(row) is dict] if isinstance(rows, list | tuple) else []


class _Texts(dict[Any, int]):
    """The number of each text. What is no text has none."""

    def __missing__(self, text: Any) -> int:
        if type(text) is not str:
            return UNKNOWN
        self[text] = number = len(self)
        return number

    def numbers(self, texts: Sequence[Any]) -> list[int]:
        try:
            return [self[text] for text in texts]
        except TypeError:  # A list, say.
            return [self[text] if type(text) is str else UNKNOWN for text in texts]


class Snapshot:
    """The columns of a snapshot, made of its dicts and lists. A file can name one list a million times: each is read once."""

    def __init__(self, data: Any) -> None:
        self.texts = _Texts()
        self.columns: dict[str, dict[str, array[int]]] = {
            table: {name: array("q") for name in names} for table, names in COLUMNS.items()
        }
        self.damaged = 0
        self._seen: set[int] = set()
        self._frames: dict[tuple[int, ...], int] = {}
        self._frame_of: dict[int, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._stack_of: dict[int, int] = {}
        self._stack_of_ids: dict[tuple[int, ...], int] = {}
        data = parts(data)
        self._add_segments(self._rows(data.get("segments")))
        traces = data.get("device_traces")
        for device, events in enumerate(traces if isinstance(traces, list | tuple) else []):
            self._add_events(device, self._rows(events))
        self._add("annotation", self._rows(data.get("external_annotations")))

    def _rows(self, rows: Any) -> list[dict[Any, Any]]:
        """Return the dicts of a list; those of a list that was read before are none."""
        if not isinstance(rows, list | tuple) or id(rows) in self._seen:
            self.damaged += rows is not None
            return []
        self._seen.add(id(rows))
        known = [row for row in rows if type(row) is dict]
        self.damaged += len(rows) - len(known)
        return known

    def _add(self, table: str, rows: Sequence[Mapping[Any, Any]], **others: Iterable[int]) -> None:
        """Add rows to a table: the columns that are given, and those of the rows."""
        for name in COLUMNS[table]:
            if name in others:
                self.columns[table][name].extend(others[name])
                continue
            values = [row.get(name) for row in rows]
            self.columns[table][name].extend(self.texts.numbers(values) if name in TEXTS else _numbers(values))

    def _add_segments(self, segments: Sequence[Mapping[Any, Any]]) -> None:
        self._add("segment", segments, stack=[self._stack(one.get("frames")) for one in segments])
        for number, segment in enumerate(segments):
            blocks = [_of_today(block) for block in self._rows(segment.get("blocks"))]
            self._add(
                "block",
                blocks,
                segment=[number] * len(blocks),
                address=_addresses(segment.get("address"), blocks),
                stack=[self._stack(block.get("frames")) for block in blocks],
            )

    def _add_events(self, device: int, events: Sequence[Mapping[Any, Any]]) -> None:
        addresses = _numbers([event.get("addr") for event in events])
        stacks = [self._stack(event.get("frames")) for event in events]
        self._add("event", events, device=[device] * len(events), address=addresses, stack=stacks)

    def _stack(self, frames: Any) -> int:
        """Return the number of a stack, the same for equal frames; UNKNOWN for one without frames."""
        if not isinstance(frames, list | tuple) or not frames:
            return UNKNOWN
        known = self._stack_of.get(id(frames))
        if known is not None:
            return known
        same = tuple(map(id, frames))  # Most lists have the same dicts as one before; equal dicts are few.
        number = self._stack_of_ids.get(same)
        if number is None:
            number = self._stack_of_ids[same] = self._stack_of_frames(tuple(map(self._frame, frames)))
        self._stack_of[id(frames)] = number
        return number

    def _stack_of_frames(self, frames: tuple[int, ...]) -> int:
        number = self._stacks.get(frames)
        if number is None:
            self._stacks[frames] = number = len(self._stacks)
            columns = self.columns["stack"]
            columns["stack"].extend([number] * len(frames))
            columns["depth"].extend(range(len(frames)))
            columns["frame"].extend(frames)
        return number

    def _frame(self, frame: Any) -> int:
        known = self._frame_of.get(id(frame))
        if known is not None:
            return known
        name, filename, line = map(frame.get, COLUMNS["frame"]) if type(frame) is dict else (None, None, None)
        key = (*self.texts.numbers([name, filename]), *_numbers([line]))
        number = self._frames.get(key)
        if number is None:
            self._frames[key] = number = len(self._frames)
            for name, value in zip(COLUMNS["frame"], key, strict=True):
                self.columns["frame"][name].append(value)
        self._frame_of[id(frame)] = number
        return number

    def write(self, folder: Path) -> None:
        """Write each column to a file of a folder, and all texts as one with the places of their ends."""
        for table, columns in self.columns.items():
            for name, numbers in columns.items():
                (folder / f"{table}.{name}").write_bytes(numbers.tobytes())
        ends = array("q", [0])
        with (folder / "texts").open("wb") as file:
            for text in self.texts:
                ends.append(ends[-1] + file.write(text.encode("utf-8", "replace")))
        (folder / "texts.end").write_bytes(ends.tobytes())


def _numbers(values: Sequence[Any]) -> Iterable[int]:
    """Return whole numbers of 64 bits, UNKNOWN in place of all else."""
    try:
        return array("q", values)
    except (TypeError, OverflowError):
        return [value if isinstance(value, int) and -(2**63) < value < 2**63 else UNKNOWN for value in values]


def _of_today(block: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a block as PyTorch writes it today. Before, the newest entry of `history` had what is in the block itself now."""
    history = block.get("history")
    if "frames" in block or not isinstance(history, list) or not history or type(history[0]) is not dict:
        return block
    last = history[0]
    before = {"address": last.get("addr"), "requested_size": last.get("real_size"), "frames": last.get("frames")}
    return {**before, **block}


def _addresses(begin: Any, blocks: Sequence[Mapping[Any, Any]]) -> Iterator[int]:
    """Yield the address of each block; where it is not written, the end of the block before it."""
    (next_one,) = _numbers([begin])
    for block in blocks:
        address, size = _numbers([block.get("address"), block.get("size")])
        address = next_one if address == UNKNOWN else address
        yield address
        next_one = UNKNOWN if UNKNOWN in (address, size) or address + size >= 2**63 else address + size


def main(memory_bytes: str, seconds: str, folder: str | None = None) -> None:
    """Read the snapshot at stdin; print what was found, or why it cannot be read."""
    gc.disable()  # Nothing here is garbage before the end, and to look for it takes as long as the reading.
    found: dict[str, Any]
    try:
        limit(int(memory_bytes), int(seconds))
        with open(0, "rb", buffering=2**20, closefd=False) as content:
            data = load(content)
        if folder is None:
            found = summary(data)
        else:
            snapshot = Snapshot(data)
            snapshot.write(Path(folder))
            found = {"damaged": snapshot.damaged, **summary(data)}
    except RefusedError as error:
        found = {"refused": str(error)}
    except MemoryError:
        found = {
            "refused": f"it would fill more than {int(memory_bytes) // 2**20} MB of memory, more than a snapshot of its size"
        }
    sys.stdout.write(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)  # To free a million dicts one by one takes a third of the time.


if __name__ == "__main__":
    main(*sys.argv[1:])
