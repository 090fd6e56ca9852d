"""Damages of memory snapshots: of the first file."""

import os
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.trials.registry import damage

Said = str | None
Row = dict[str, Any]
_RING = "a history that begins later looks the same: times, addresses and stacks of events, sizes and addresses of segments"


class _Attack:
    """An object whose pickle runs a command when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch attacked",)


def _first(folder: Path) -> Path | None:
    return next(iter(sorted(folder.rglob("*.pickle"))), None)


def _edit(folder: Path, change: Callable[[Row], str | None]) -> Said:
    """Change what the first snapshot holds."""
    file = _first(folder)
    if file is None:
        return None
    content = pickle.loads(file.read_bytes())
    said = change(content)
    file.write_bytes(pickle.dumps(content, 4))
    return said


def _events(content: Row) -> Iterable[Row]:
    return (event for events in content["device_traces"] for event in events)


def _blocks(content: Row) -> list[Row]:
    return [block for segment in content["segments"] for block in segment["blocks"]]


@damage("memory_snapshot")
def cut_off(folder: Path) -> Said:
    """Cut the file in the middle."""
    file = _first(folder)
    if file is None:
        return None
    os.truncate(file, file.stat().st_size // 2)
    return f"{file.name} cut to {file.stat().st_size} bytes"


@damage("memory_snapshot")
def emptied(folder: Path) -> Said:
    """Leave nothing of the file."""
    file = _first(folder)
    if file is None:
        return None
    os.truncate(file, 0)
    return f"{file.name} is empty"


@damage("memory_snapshot")
def runs_a_command(folder: Path) -> Said:
    """Put an object into it whose pickle runs a command."""

    def change(content: Row) -> str:
        content["segments"].append(_Attack())
        return "an object that runs a command"

    return _edit(folder, change)


@damage("memory_snapshot")
def lists_without_end(folder: Path) -> Said:
    """Let it hold 30 million empty lists."""
    file = _first(folder)
    if file is None:
        return None
    file.write_bytes(b"\x80\x04}\x94\x8c\x08segments\x94" + b"]" * 30_000_000)
    return "30 million lists"


@damage("memory_snapshot")
def no_history(folder: Path) -> Said:
    """Leave no events."""

    def change(content: Row) -> str:
        content["device_traces"] = [[] for _ in content["device_traces"]]
        return "no events"

    return _edit(folder, change)


@damage("memory_snapshot")
def no_frames(folder: Path) -> Said:
    """Leave no frames."""

    def change(content: Row) -> str:
        for one in (*_events(content), *_blocks(content)):
            one["frames"] = []
        return "no frames"

    return _edit(folder, change)


@damage("memory_snapshot", untold=_RING)
def a_late_ring(folder: Path) -> Said:
    """Take out the first half of the events."""

    def change(content: Row) -> str:
        content["device_traces"] = [events[len(events) // 2 :] for events in content["device_traces"]]
        return "the second half of the events"

    return _edit(folder, change)


@damage("memory_snapshot")
def segments_without_blocks(folder: Path) -> Said:
    """Take the blocks out of the first segment that has some."""

    def change(content: Row) -> str:
        segment = next(one for one in content["segments"] if one["allocated_size"])
        segment["blocks"] = []
        return "a segment without blocks"

    return _edit(folder, change)


@damage("memory_snapshot")
def sizes_below_zero(folder: Path) -> Said:
    """Make the sizes of some events negative."""

    def change(content: Row) -> str:
        some = list(_events(content))[::3]
        for event in some:
            event["size"] = -event["size"]
        return f"{len(some)} sizes below 0"

    return _edit(folder, change)


@damage("memory_snapshot")
def texts_in_place_of_numbers(folder: Path) -> Said:
    """Write the sizes of blocks as texts."""

    def change(content: Row) -> str:
        blocks = _blocks(content)
        for block in blocks:
            block["size"] = str(block["size"])
        return f"{len(blocks)} sizes as texts"

    return _edit(folder, change)


@damage("memory_snapshot")
def numbers_in_place_of_events(folder: Path) -> Said:
    """Put numbers between the events."""

    def change(content: Row) -> str:
        for events in content["device_traces"]:
            events[::] = [one for event in events for one in (event, 7)]
        return "a number behind each event"

    return _edit(folder, change)


@damage("memory_snapshot")
def an_unknown_state(folder: Path) -> Said:
    """Give blocks a state that no allocator has."""

    def change(content: Row) -> str:
        blocks = [block for block in _blocks(content) if block["state"] == "active_allocated"]
        for block in blocks:
            block["state"] = "half_free"
        return f"{len(blocks)} blocks of an unknown state"

    return _edit(folder, change)
