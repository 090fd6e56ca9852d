"""Damages of Kineto traces: of the first file."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.trials.registry import damage
from tests.disturbed.traces import DEVICE, Event, decimal, edit_head, edit_trace, plus, traces

Said = str | None
LINKS = ("correlation", "External id", "external id")
DAY_US = 86_400_000_000


def is_kernel(event: Event) -> bool:
    """Return whether an event is work of the device."""
    return event.get("ph") == "X" and event.get("cat") in DEVICE and event.get("cat") != "gpu_user_annotation"


def _events(folder: Path, change: Callable[[Event, int], Event | None], of: Callable[[Event], bool] = is_kernel) -> int:
    """Change events of the first trace that are of a kind, each with its place among them; None takes it out."""
    files = traces(folder)
    changed = 0

    def each(events: list[Event]) -> list[Event]:
        nonlocal changed
        number, left = 0, []
        for event in events:
            made: Event | None = event
            if of(event):
                made = change(event, number)
                number += 1
                changed += made is not event
            if made is not None:
                left.append(made)
        return left

    if files:
        edit_trace(files[0], each)
    return changed


def _said(changed: int, what: str) -> Said:
    return f"{changed} {what}" if changed else None


def _some(every: int, change: Callable[[Event], Event | None]) -> Callable[[Event, int], Event | None]:
    return lambda event, number: change(event) if number % every == every // 2 else event


def _with(**values: Any) -> Callable[[Event], Event]:
    return lambda event: {**event, **values}


def _without_keys(*keys: str) -> Callable[[Event], Event]:
    return lambda event: {key: value for key, value in event.items() if key not in keys}


def _linked(value: int | None) -> Callable[[Event], Event]:
    def linked(event: Event) -> Event:
        args = {key: one for key, one in (event.get("args") or {}).items() if key not in LINKS}
        return {**event, "args": args if value is None else {**args, "correlation": value}}

    return linked


@damage("kineto")
def no_links(folder: Path) -> Said:
    """Take the numbers of their calls from all kernels."""
    return _said(_events(folder, _some(1, _linked(None))), "kernels without correlation")


@damage("kineto")
def one_link(folder: Path) -> Said:
    """Give all kernels the same number of a call."""
    return _said(_events(folder, _some(1, _linked(1))), "kernels with the same correlation")


@damage("kineto")
def few_links(folder: Path) -> Said:
    """Take the numbers of their calls from each fifth kernel."""
    return _said(_events(folder, _some(5, _linked(None))), "kernels without correlation")


@damage("kineto")
def kernels_begin(folder: Path) -> Said:
    """Let each fifth kernel be an event that only begins."""
    return _said(_events(folder, _some(5, _with(ph="B"))), "kernels with ph B")


@damage("kineto")
def no_categories(folder: Path) -> Said:
    """Take the category from each fifth kernel."""
    return _said(_events(folder, _some(5, _without_keys("cat"))), "kernels without cat")


@damage("kineto")
def unknown_categories(folder: Path) -> Said:
    """Give each fifth kernel a category that nobody knows."""
    return _said(_events(folder, _some(5, _with(cat="gpu_work"))), "kernels with cat gpu_work")


@damage("kineto")
def no_names(folder: Path) -> Said:
    """Take the names from all kernels."""
    return _said(_events(folder, _some(1, _without_keys("name"))), "kernels without a name")


@damage("kineto")
def few_names(folder: Path) -> Said:
    """Let the name of each fifth kernel be a number."""
    return _said(_events(folder, _some(5, _with(name=5))), "kernels whose name is a number")


@damage(
    "kineto",
    untold="nothing else says that a kernel ran: looked at cudaLaunchKernel and hipLaunchKernel (a call that launches need not "
    "have left a kernel: those after the end have none), ac2g flows (which other writers do not write), gpu_user_annotation",
)
def few_kernels(folder: Path) -> Said:
    """Delete each tenth kernel."""
    return _said(_events(folder, _some(10, lambda _: None)), "kernels deleted")


@damage(
    "kineto",
    untold={
        "training_trace": "its times begin at 0, so the kernel moves by 0.06 ms within the recording: looked at the launch, "
        "which begins later by less than the clocks of profilers differ (0.1 ms), and at the order of the stream"
    },
)
def a_start_of_zero(folder: Path) -> Said:
    """Let one kernel start at the beginning of time."""
    return _said(_events(folder, lambda event, number: {**event, "ts": 0} if number == 5 else event), "kernel starts at 0")


@damage("kineto")
def a_negative_start(folder: Path) -> Said:
    """Let one kernel start long before the base of the times."""
    return _said(
        _events(folder, lambda event, number: {**event, "ts": -5e15} if number == 5 else event), "kernel starts before all"
    )


@damage("kineto")
def a_kernel_of_an_hour(folder: Path) -> Said:
    """Let one kernel last for an hour."""
    return _said(_events(folder, lambda event, number: {**event, "dur": 3.6e9} if number == 5 else event), "kernel of an hour")


@damage("kineto")
def a_kernel_of_tomorrow(folder: Path) -> Said:
    """Let one kernel run a day later."""

    def later(event: Event, number: int) -> Event:
        return {**event, "ts": plus(event["ts"], DAY_US)} if number == 5 else event

    return _said(_events(folder, later), "kernel runs a day later")


@damage("kineto")
def negative_durations(folder: Path) -> Said:
    """Let each tenth kernel end before it starts."""
    return _said(_events(folder, _some(10, lambda event: {**event, "dur": -1})), "kernels with negative dur")


@damage("kineto")
def durations_of_words(folder: Path) -> Said:
    """Let each tenth duration be a word."""
    return _said(_events(folder, _some(10, _with(dur="abc"))), "kernels whose dur is a word")


@damage("kineto")
def no_durations(folder: Path) -> Said:
    """Take the duration from each tenth kernel."""
    return _said(_events(folder, _some(10, _without_keys("dur"))), "kernels without dur")


@damage("kineto")
def times_as_text(folder: Path) -> Said:
    """Write times as text, as Ascend does."""

    def text(event: Event) -> Event:
        return {**event, "ts": f"{decimal(event['ts'])}"}

    return _said(_events(folder, _some(1, text)), "kernels with ts as text")


@damage("kineto")
def kernels_twice(folder: Path) -> Said:
    """Write each third kernel twice."""
    files, added = traces(folder), 0

    def twice(events: list[Event]) -> list[Event]:
        nonlocal added
        more = [event for event in events if is_kernel(event)][::3]
        added = len(more)
        return [*events, *more]

    if files:
        edit_trace(files[0], twice)
    return _said(added, "kernels doubled")


def _is_call(event: Event) -> bool:
    return str(event.get("cat")) in ("cuda_runtime", "cuda_driver", "Runtime", "hip_runtime")


@damage("kineto")
def no_host_calls(folder: Path) -> Said:
    """Delete all calls of the runtime."""
    return _said(_events(folder, lambda *_: None, _is_call), "calls of the runtime deleted")


@damage("kineto")
def few_host_calls(folder: Path) -> Said:
    """Delete each fifth call of the runtime."""
    return _said(_events(folder, _some(5, lambda _: None), _is_call), "calls of the runtime deleted")


@damage("kineto")
def few_ops(folder: Path) -> Said:
    """Delete each fifth op."""
    changed = _events(folder, _some(5, lambda _: None), lambda event: event.get("cat") in ("cpu_op", "Operator"))
    return _said(changed, "ops deleted")


@damage(
    "kineto",
    untold={
        "training_trace": "modules are the only functions in it, and the writer need not number these without gaps: looked at "
        "Python id, Python parent id and _get_tracing_state (not there), ops, flows"
    },
)
def few_modules(folder: Path) -> Said:
    """Delete each fifth call of a module."""
    changed = _events(folder, _some(5, lambda _: None), lambda event: str(event.get("name")).startswith("nn.Module: "))
    return _said(changed, "calls of modules deleted")


@damage("kineto")
def no_job(folder: Path) -> Said:
    """Take out what says which rank of which job it is."""
    files = traces(folder)
    found: list[object] = []
    if files:
        edit_head(files[0], lambda head: found.append(head.pop("distributedInfo", None)))
    return "distributedInfo deleted" if any(found) else None


@damage("kineto")
def another_base(folder: Path) -> Said:
    """Let the base of the times be a word."""
    files = traces(folder)

    def change(head: dict[str, Any]) -> None:
        head["baseTimeNanoseconds"] = "abc"

    if files:
        edit_head(files[0], change)
    return f"{re.sub(r'.*/', '', str(files[0]))}: baseTimeNanoseconds is a word" if files else None
