"""The same recording as its text files could have it otherwise: traces, and the csv files beside them."""

import csv
import gzip
import json
import random
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.disturbed.databases import HOUR_NS, later

Event = dict[str, Any]
HOUR_US = HOUR_NS // 1000
CSV_TIME = re.compile(r"(Start Time|Timestamp|Start Timestamp|(Active )?(Allocation|Release) Time)\(us\)")
# Flows from an op to a task of Ascend have the start of the task, in ns, as their id.
IS_A_TIME = 10**18
HOST_NUMBERS = {"correlation", "External id", "external id", "wait_on_cuda_event_record_corr_id"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "Kernel", "Memcpy", "Memset"}


def traces(folder: Path) -> list[Path]:
    """Return the traces below a folder."""
    return sorted(file for file in folder.rglob("*.json*") if "trace" in file.name or file.name.endswith(".json.gz"))


def edit_trace(file: Path, change: Callable[[list[Event]], list[Event]]) -> None:
    """Change the events of a trace in place."""

    def changed(trace: Any) -> Any:
        return {**trace, "traceEvents": change(trace["traceEvents"])} if isinstance(trace, dict) else change(trace)

    _edit(file, changed)


def edit_head(file: Path, change: Callable[[Event], None]) -> None:
    """Change in place what a trace says beside its events."""

    def changed(trace: Any) -> Any:
        if isinstance(trace, dict):
            change(trace)
        return trace

    _edit(file, changed)


def _edit(file: Path, change: Callable[[Any], Any]) -> None:
    """Change the JSON of a file. Numbers keep their digits: a float is a text between two signs meanwhile."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as stream:
        trace = json.load(stream, parse_float=lambda digits: f"\x01{digits}\x02")
    text = re.sub(r'"\\u0001([^"]*?)\\u0002"', r"\1", json.dumps(change(trace)))
    with opened(file, "wt", encoding="utf-8") as stream:
        stream.write(text)


def decimal(value: Any) -> Decimal:
    """Return a time of a trace."""
    return Decimal(str(value).strip("\x01\x02\t "))


def plus(value: Any, added: int) -> Any:
    """Return a time of a trace moved by so many units, written as it was."""
    if isinstance(value, int):
        return value + added
    moved = f"{decimal(value) + added}"
    return f"\x01{moved}\x02" if str(value).startswith("\x01") else moved


def each(change: Callable[[Event], None]) -> Callable[[list[Event]], list[Event]]:
    """Return what changes each event by itself."""

    def changed(events: list[Event]) -> list[Event]:
        for event in events:
            change(event)
        return events

    return changed


def edit_traces(folder: Path, change: Callable[[list[Event]], list[Event]]) -> None:
    """Change the events of all traces below a folder."""
    for file in traces(folder):
        edit_trace(file, change)


def edit_csv(folder: Path, change: Callable[[list[str], list[list[str]]], list[list[str]]]) -> None:
    """Change the rows of all csv files below a folder, which get their header and their rows."""
    for file in sorted(folder.rglob("*.csv")):
        with file.open(encoding="utf-8", newline="") as stream:
            header, *rows = list(csv.reader(stream))
        with file.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([header, *change(header, rows)])


def shuffled_rows(folder: Path) -> None:
    """Put events and rows in another order."""
    chance = random.Random(7)

    def shuffled(rows: list[Any]) -> list[Any]:
        return chance.sample(rows, len(rows))

    edit_traces(folder, shuffled)
    edit_csv(folder, lambda _, rows: shuffled(rows))


def an_hour_later(folder: Path) -> None:
    """Move all times by an hour."""

    def moved(event: Event) -> None:
        if "ts" in event and (event.get("ph") != "M" or decimal(event["ts"]) > 0):
            event["ts"] = plus(event["ts"], HOUR_US)
        if isinstance(event.get("id"), int) and event["id"] > IS_A_TIME:
            event["id"] += HOUR_NS
        for name in {"external ts"} & set(event.get("args") or {}):
            event["args"][name] = plus(event["args"][name], HOUR_US)

    def moved_rows(header: list[str], rows: list[list[str]]) -> list[list[str]]:
        places = [place for place, name in enumerate(header) if CSV_TIME.fullmatch(name.strip())]
        for row in rows:
            for place in places:
                if place < len(row) and row[place].strip() not in ("", "N/A"):
                    row[place] = f"{decimal(row[place]) + HOUR_US}" + ("\t" if row[place].endswith("\t") else "")
        return rows

    edit_traces(folder, each(moved))
    edit_csv(folder, moved_rows)
    for file in folder.rglob("communication*.json"):
        text = re.sub(
            r'("Start Timestamp\(us\)": )([\d.]+)', lambda found: f"{found[1]}{Decimal(found[2]) + HOUR_US}", file.read_text()
        )
        file.write_text(text)
    for file in folder.rglob("profiler_info*.json"):
        file.write_text(re.sub(r"(\d{19})", lambda found: str(int(found[1]) + HOUR_NS), file.read_text()))


def other_process(folder: Path) -> None:
    """Give the process of the host another number, and with it its threads, and what the profiler makes of that number."""

    def renumbered(events: list[Event]) -> list[Event]:
        hosts = {
            event["pid"]
            for event in events
            if event.get("ph") == "X" and str(event.get("cat")) in ("cpu_op", "Operator", "cuda_runtime", "Runtime")
        }
        threads = {
            event["tid"] for event in events if event.get("pid") in hosts and event.get("ph") == "X" and event.get("tid")
        }

        def process(pid: Any) -> Any:
            for host in hosts:
                if not isinstance(pid, int):
                    return pid
                if pid == host:
                    return pid + 1111
                if pid >> 10 == host:  # the host's number, the kind of row and the device, in bits
                    return (pid >> 10) + 1111 << 10 | pid & 1023
                if len(str(host)) > 3 and str(pid).startswith(str(host)):  # the same as texts
                    return int(f"{host + 1111}{str(pid).removeprefix(str(host))}")
            return pid

        def thread(tid: Any) -> Any:
            if tid in threads or str(tid) in {str(one) for one in threads}:
                return (
                    str(int(tid) + 1111)
                    if isinstance(tid, str) and tid.isdigit()
                    else tid + 1111
                    if isinstance(tid, int)
                    else tid
                )
            return tid

        for event in events:
            if event.get("cat") not in DEVICE and not (event.get("ph") == "f" and event.get("cat") in ("ac2g", "async")):
                event["pid"] = process(event.get("pid"))
                event["tid"] = thread(event.get("tid"))
            args = event.get("args") or {}
            if "Thread Id" in args:
                args["Thread Id"] = thread(args["Thread Id"])
        return events

    edit_traces(folder, renumbered)


def other_connections(folder: Path) -> None:
    """Give the links between calls and tasks other numbers."""

    def numbered(event: Event) -> None:
        args = event.get("args") or {}
        for name in HOST_NUMBERS & set(args):
            if isinstance(args[name], int) and args[name] > 0:
                args[name] += 500000
        if event.get("cat") in ("ac2g", "async"):
            event["id"] = int(event["id"]) + 500000
        if "connection_id" in args and isinstance(args["connection_id"], int):
            args["connection_id"] += 500000 if args["connection_id"] > 0 else 0
        if event.get("cat") == "HostToDevice" and str(event["id"]).isdigit():
            number = int(event["id"])
            # Where the connection stands in the upper half, the lower half is what it was.
            event["id"] = str(number + (500000 << 32 if number >> 32 else 500000))
            event["name"] = f"HostToDevice{event['id']}"
        if "correlation_id" in args:
            args["correlation_id"] += 70000
        if event.get("cat") == "async_task_queue":
            event["id"] += 70000

    edit_traces(folder, each(numbered))


def later_ordinals(folder: Path) -> None:
    """Count the collectives from another beginning, as where the rank warmed up for longer."""
    for file in sorted([*folder.rglob("*.csv"), *folder.rglob("communication*.json"), *folder.rglob("trace_view.json")]):
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"hcom_\w+", lambda found: later(found[0]), text), encoding="utf-8")


def kept_within(first_us: Decimal, last_us: Decimal) -> Callable[[Path], None]:
    """Return what leaves only that which starts and ends within two times."""

    def is_within(event: Event, base_us: Decimal) -> bool:
        if "ts" not in event or event.get("ph") == "M" or event.get("cat") == "Trace" or event.get("ph") == "C":
            return True
        start = base_us + decimal(event["ts"])
        return first_us <= start and start + decimal(event.get("dur", 0)) <= last_us

    def cut_rows(header: list[str], rows: list[list[str]]) -> list[list[str]]:
        names = [name.strip() for name in header]
        if "Start Time(us)" not in names or "Duration(us)" not in names:
            return rows
        start, duration = names.index("Start Time(us)"), names.index("Duration(us)")
        return [
            row
            for row in rows
            if first_us <= decimal(row[start]) and decimal(row[start]) + decimal(row[duration] or 0) <= last_us
        ]

    def cut_trace(trace: Any) -> Any:
        if not isinstance(trace, dict):
            return [event for event in trace if is_within(event, Decimal(0))]
        base_us = Decimal(trace.get("baseTimeNanoseconds", 0)) / 1000
        return {**trace, "traceEvents": [event for event in trace["traceEvents"] if is_within(event, base_us)]}

    def cut(folder: Path) -> None:
        for file in traces(folder):
            _edit(file, cut_trace)
        edit_csv(folder, cut_rows)

    return cut
