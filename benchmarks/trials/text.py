"""Damages of text exports of Ascend: trace_view.json, kernel_details.csv and what lies beside them, of the first rank."""

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.trials.registry import damage
from tests.disturbed.traces import Event, decimal, edit_trace, plus

Said = str | None
Rows = list[list[str]]
DAY_US = 86_400_000_000


def first(folder: Path, name: str) -> Path | None:
    """Return the first file of this name."""
    return min(folder.rglob(name), default=None)


def _kernels(folder: Path, change: Callable[[list[str], Rows], Rows | None]) -> int:
    """Change the header and the rows of kernel_details.csv; return how many rows are not what they were, or are lost."""
    file = first(folder, "kernel_details*.csv")
    if file is None:
        return 0
    with file.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream))
    before = [list(row) for row in rows]
    names = [name.strip() for name in header]
    after = change(names, rows)
    if after is None:
        return 0
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([names, *after])
    same = sum(one == other for one, other in zip(before, after, strict=False))
    return max(len(before), len(after)) - same or len(after)


def _cells(column: str, value: Callable[[str], str], every: int = 10) -> Callable[[list[str], Rows], Rows | None]:
    """Return what changes each n-th cell of a column."""

    def change(names: list[str], rows: Rows) -> Rows | None:
        if column not in names:
            return None
        place = names.index(column)
        for row in rows[3 % every :: every]:
            row[place] = value(row[place])
        return rows

    return change


def _one(column: str, value: Callable[[str], str]) -> Callable[[list[str], Rows], Rows | None]:
    """Return what changes one cell of a column, in the midst of the rows."""

    def change(names: list[str], rows: Rows) -> Rows | None:
        if column not in names or len(rows) < 9:
            return None
        row = rows[len(rows) // 2]
        row[names.index(column)] = value(row[names.index(column)])
        return rows

    return change


START, DURATION = "Start Time(us)", "Duration(us)"


def _said(rows: int, what: str) -> Said:
    return f"{rows} rows of kernel_details.csv: {what}" if rows else None


@damage("ascend_text", untold={"*_vllm_a3*": "the csv is alone, and nothing in it counts its rows: looked at Step Id, Task ID"})
def few_rows(folder: Path) -> Said:
    """Delete each tenth row."""
    return _said(
        _kernels(folder, lambda _, rows: [row for number, row in enumerate(rows) if number % 10 != 3]), "each tenth is gone"
    )


@damage("ascend_text")
def header_alone(folder: Path) -> Said:
    """Leave the header of kernel_details.csv."""
    return _said(_kernels(folder, lambda _, __: []), "only the header is left")


@damage("ascend_text")
def rows_twice(folder: Path) -> Said:
    """Write each third row twice."""

    def twice(_: list[str], rows: Rows) -> Rows:
        return [row for number, row in enumerate(rows) for _ in range(2 if number % 3 == 0 else 1)]

    return _said(_kernels(folder, twice), "each third is there twice")


@damage("ascend_text")
def durations_of_words(folder: Path) -> Said:
    """Let each tenth duration be no number."""
    return _said(_kernels(folder, _cells(DURATION, lambda _: "abc")), "the duration is a word")


@damage("ascend_text")
def durations_unknown(folder: Path) -> Said:
    """Let each tenth duration be N/A."""
    return _said(_kernels(folder, _cells(DURATION, lambda _: "N/A")), "the duration is N/A")


@damage("ascend_text")
def durations_negative(folder: Path) -> Said:
    """Let each tenth duration be below 0."""
    return _said(_kernels(folder, _cells(DURATION, lambda text: f"-{text}")), "the duration is negative")


@damage("ascend_text")
def a_duration_of_an_hour(folder: Path) -> Said:
    """Let a kernel last for an hour."""
    return _said(_kernels(folder, _one(DURATION, lambda _: "3600000000.000")), "one lasts for an hour")


@damage("ascend_text")
def a_start_of_zero(folder: Path) -> Said:
    """Let a kernel start in 1970."""
    return _said(_kernels(folder, _one(START, lambda _: "0.000\t")), "one starts at 0")


@damage("ascend_text")
def a_start_of_tomorrow(folder: Path) -> Said:
    """Let a kernel start a day later."""
    return _said(_kernels(folder, _one(START, lambda text: f"{Decimal(text.strip()) + DAY_US}\t")), "one starts a day later")


@damage("ascend_text")
def decimal_commas(folder: Path) -> Said:
    """Write decimals with a comma, as a spreadsheet of another country does."""
    return _said(_kernels(folder, _cells(DURATION, lambda text: text.replace(".", ","), 1)), "the duration has a decimal comma")


@damage("ascend_text")
def no_types(folder: Path) -> Said:
    """Empty the column of types."""
    return _said(_kernels(folder, _cells("Type", lambda _: "", 1)), "the type is empty")


@damage("ascend_text")
def no_cores(folder: Path) -> Said:
    """Let the kind of core be unknown in each second row."""
    return _said(_kernels(folder, _cells("Accelerator Core", lambda _: "N/A", 2)), "the core is N/A")


@damage("ascend_text")
def no_column_of_durations(folder: Path) -> Said:
    """Give the column of durations another name."""

    def renamed(names: list[str], rows: Rows) -> Rows | None:
        if DURATION not in names:
            return None
        names[names.index(DURATION)] = "Time"
        return rows

    return _said(_kernels(folder, renamed), "the column of durations is renamed")


def _is_of(events: list[Event], process: str) -> Callable[[Event], bool]:
    """Return what tells whether an event is a complete one of a process of this name."""
    names = {event.get("pid"): (event.get("args") or {}).get("name") for event in events if event.get("name") == "process_name"}
    return lambda event: event.get("ph") == "X" and names.get(event.get("pid")) == process


def trace(folder: Path, change: Callable[[list[Event]], list[Event]]) -> bool:
    """Change the trace_view.json of the first rank."""
    file = first(folder, "trace_view.json*")
    if file is not None:
        edit_trace(file, change)
    return file is not None


def _each_tenth(process: str, change: Callable[[Event], Event | None], every: int = 10) -> Callable[[list[Event]], list[Event]]:
    """Return what changes each n-th event of a process, or takes it out where the change gives None."""

    def changed(events: list[Event]) -> list[Event]:
        is_of, number, left = _is_of(events, process), 0, []
        for event in events:
            made: Event | None = event
            if is_of(event):
                number += 1
                made = change(event) if number % every == 0 else event
            if made is not None:
                left.append(made)
        return left

    return changed


def _with(**values: Any) -> Callable[[Event], Event]:
    return lambda event: {**event, **values}


def _trace_said(folder: Path, change: Callable[[list[Event]], list[Event]], what: str) -> Said:
    before: list[str] = []
    after: list[str] = []

    def counted(events: list[Event]) -> list[Event]:
        before.extend(map(repr, events))
        made = change(events)
        after.extend(map(repr, made))
        return made

    return f"trace_view.json: {what}" if trace(folder, counted) and before != after else None


@damage(
    "ascend_text",
    untold={
        "alexnet_ddp_910a/*": "kernel_details.csv has the kernels, so all their time is there; those whose link is lost are "
        "0.7 % of the kernel time, and warnings begin at 1 %: looked at kernel_details.csv, op_statistic.csv, flows"
    },
)
def few_device_events(folder: Path) -> Said:
    """Delete each tenth event of the device."""
    return _trace_said(folder, _each_tenth("Ascend Hardware", lambda _: None), "each tenth event of the device is gone")


@damage("ascend_text")
def no_device_events(folder: Path) -> Said:
    """Delete all events of the device."""
    return _trace_said(folder, _each_tenth("Ascend Hardware", lambda _: None, 1), "no events of the device")


@damage("ascend_text")
def device_events_begin(folder: Path) -> Said:
    """Let each fifth event of the device be one that only begins."""
    return _trace_said(folder, _each_tenth("Ascend Hardware", _with(ph="B"), 5), "each fifth event of the device has ph B")


@damage("ascend_text")
def a_device_event_of_zero(folder: Path) -> Said:
    """Let an event of the device start in 1970."""
    return _trace_said(folder, _each_tenth("Ascend Hardware", _with(ts="0.000"), 100), "each 100th event of the device at 0")


@damage("ascend_text")
def device_a_day_later(folder: Path) -> Said:
    """Move some events of the device by a day."""

    def later(event: Event) -> Event:
        return {**event, "ts": plus(event["ts"], DAY_US) if decimal(event["ts"]) > 0 else event["ts"]}

    return _trace_said(folder, _each_tenth("Ascend Hardware", later, 100), "each 100th event of the device a day later")


@damage("ascend_text")
def no_flows(folder: Path) -> Said:
    """Delete the arrows between calls and tasks."""
    flows = {"HostToDevice", "async_npu", "async_task_queue"}
    return _trace_said(folder, lambda events: [one for one in events if one.get("cat") not in flows], "no flows to the device")


@damage("ascend_text")
def one_flow(folder: Path) -> Said:
    """Give all arrows the same number."""

    def same(events: list[Event]) -> list[Event]:
        return [{**one, "id": "1"} if one.get("cat") in ("HostToDevice", "async_npu") else one for one in events]

    return _trace_said(folder, same, "all flows have the same id")


@damage("ascend_text")
def no_names_of_processes(folder: Path) -> Said:
    """Delete what says which process is the device."""
    return _trace_said(folder, lambda events: [one for one in events if one.get("ph") != "M"], "no names of processes")


@damage("ascend_text")
def no_communication_events(folder: Path) -> Said:
    """Delete the events of communication."""

    def without(events: list[Event]) -> list[Event]:
        hccl, communication = _is_of(events, "HCCL"), _is_of(events, "Communication")
        return [one for one in events if not hccl(one) and not communication(one)]

    return _trace_said(folder, without, "no events of communication")


@damage("ascend_text")
def no_ops(folder: Path) -> Said:
    """Delete each fifth framework op."""

    def fewer(events: list[Event]) -> list[Event]:
        return [one for number, one in enumerate(events) if one.get("cat") != "cpu_op" or number % 5]

    return _trace_said(folder, fewer, "each fifth op is gone")
