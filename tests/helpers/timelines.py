"""Reads a timeline as trace viewers do: events by their times, slices on the stack of their track, arrows by their numbers.

The rules are those of Perfetto's trace processor. It takes events in the order of times, those of equal times as they are in
the file. A slice is inside the one that has not ended on its track; an event of an arrow belongs to the slice of its track that
began last.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

Event = dict[str, Any]
_TEXT, _NUMBER, _TIME = (
    {"type": "string"},
    {"type": "integer", "minimum": 0},
    {"type": "string", "pattern": r"^[0-9]+\.[0-9]{3}$"},
)


def _event(phase: str, least: tuple[str, ...], **more: object) -> Mapping[str, object]:
    properties = {"ph": {"const": phase}, "pid": _NUMBER, "tid": _NUMBER, "name": _TEXT, "args": {"type": "object"}, **more}
    return {"properties": properties, "required": ["ph", "pid", "name", *least], "additionalProperties": False}


_PLACED = ("tid", "ts")
# What the Trace Event Format demands of the events that we write, and no more.
_EVENTS = {
    "X": _event("X", (*_PLACED, "dur", "cat"), ts=_TIME, dur=_TIME, cat=_TEXT),
    "i": _event("i", (*_PLACED, "cat", "s"), ts=_TIME, cat=_TEXT, s={"const": "t"}),
    "C": _event("C", ("ts", "args"), ts=_TIME),
    "M": _event("M", ("tid", "args")),
    **{phase: _event(phase, (*_PLACED, "cat", "id"), ts=_TIME, cat=_TEXT, id=_NUMBER) for phase in "st"},
    "f": _event("f", (*_PLACED, "cat", "id", "bp"), ts=_TIME, cat=_TEXT, id=_NUMBER, bp={"const": "e"}),
}
_VALIDATORS = {phase: Draft202012Validator(schema) for phase, schema in _EVENTS.items()}


@dataclass
class Slice:
    """A slice with the one around it; times are ns."""

    track: str
    name: str
    category: str
    start: int
    end: int
    args: Mapping[str, Any]
    around: "Slice | None" = None

    @property
    def path(self) -> str:
        """The names of the slices around it and its own."""
        return self.name if self.around is None else f"{self.around.path} > {self.name}"


@dataclass
class Timeline:
    """The slices of a file in the order of times, and its arrows: the slices that each leads through, from launch to kernel."""

    slices: list[Slice] = field(default_factory=list)
    arrows: dict[int, list[Slice]] = field(default_factory=dict)
    marks: list[tuple[str, str, int]] = field(default_factory=list)
    base_ns: int = 0


def events_of(file: Path) -> list[Event]:
    """Return the events of a file."""
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        found: list[Event] = json.load(opened)["traceEvents"]
    return found


def ns(time: str) -> int:
    """Return a time of a file in ns: digits, and a point before the last three. No float is on the way."""
    return int(time.replace(".", ""))


def read(file: Path) -> Timeline:
    """Return a timeline; fail where a reader would drop a slice or an arrow, or show it at another place."""
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        whole = json.load(opened)
    assert list(whole) == ["traceEvents", "baseTimeNanoseconds"]
    events = whole["traceEvents"]
    for event in events[:20_000]:
        _VALIDATORS[event["ph"]].validate(event)
    tracks = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    assert len({f"{pid}{tid}" for pid, tid in tracks}) == len(tracks), "MindStudio Insight joins both numbers"
    found = Timeline(base_ns=whole["baseTimeNanoseconds"])
    stacks: dict[tuple[int, int], list[Slice]] = {place: [] for place in tracks}
    phases: dict[int, str] = {}
    for event in sorted((one for one in events if one["ph"] in "Xistf"), key=lambda one: ns(one["ts"])):
        place, at = (event["pid"], event["tid"]), ns(event["ts"])
        stack = stacks[place]
        if event["ph"] in "stf":
            assert stack, "an arrow needs a slice"
            assert stack[-1].start <= at <= stack[-1].end, "an arrow begins and ends in a slice"
            found.arrows.setdefault(event["id"], []).append(stack[-1])
            phases[event["id"]] = phases.get(event["id"], "") + event["ph"]
            continue
        while stack and stack[-1].end <= at and not (stack[-1].start == at == stack[-1].end and event["ph"] == "i"):
            stack.pop()
        if event["ph"] == "i":
            found.marks.append((tracks[place], event["name"], at))
            continue
        one = Slice(tracks[place], event["name"], event["cat"], at, at + ns(event["dur"]), event.get("args", {}))
        if stack:
            assert one.end <= stack[-1].end, f"{one} crosses {stack[-1]}"
            one.around = stack[-1]
        stack.append(one)
        found.slices.append(one)
    assert set(phases.values()) <= {"sf", "stf"}, set(phases.values())
    return found
