"""The device of a task in trace_view.json: what the file says of its process, never what its number happens to be."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.slow import quick

Event = dict[str, Any]


def process(pid: Any, name: str, label: str, place: int) -> list[Event]:
    """What the trace says of a process."""
    said = {"process_name": {"name": name}, "process_labels": {"labels": label}, "process_sort_index": {"sort_index": place}}
    return [{"ph": "M", "name": what, "pid": pid, "tid": 0, "args": arguments} for what, arguments in said.items()]


def other(pid: Any, name: str, start: int) -> Event:
    """A task of 10 us whose type says nothing."""
    arguments = {"Model Id": 4294967295, "Task Type": "Other", "Stream Id": 3, "Task Id": start, "connection_id": -1}
    return {
        "ph": "X",
        "name": name,
        "pid": pid,
        "tid": 3,
        "ts": f"{1704161511420000 + start}.000",
        "dur": 10,
        "args": arguments,
    }


def computing(pid: Any, start: int) -> Event:
    return {"ph": "X", "name": "Computing", "pid": pid, "tid": 0, "ts": f"{1704161511420000 + start}.000", "dur": 10}


def device(hardware: Any, overlap: Any, label: str, start: int, places: tuple[int, int] = (8, 11)) -> list[Event]:
    """A device with a kernel, and a task that the profiler does not count as computing."""
    return [
        *process(hardware, "Ascend Hardware", label, places[0]),
        *process(overlap, "Overlap Analysis", label, places[1]),
        other(hardware, f"kernel_at_{start}", start),
        other(hardware, "waits", start + 20),
        computing(overlap, start),
    ]


def kernels_of(folder: Path, events: Iterable[Event], details: str | None = None) -> list[tuple[str, int | None]]:
    """Return the compute kernels of a trace by name, each with its device."""
    output = folder / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    host = process(437675, "Python", "CPU", 0)
    (output / "trace_view.json").write_text(json.dumps([*host, *events]), encoding="utf-8")
    if details is not None:
        (output / "kernel_details.csv").write_text(details, encoding="utf-8")
    with open_profile(folder) as profile:
        rows = profile.rows("SELECT name, device_id FROM trace.kernel WHERE kind = 'compute' ORDER BY name")
    return [(row["name"], row["device_id"]) for row in rows]


def test_a_device_whose_processes_are_numbers_put_together_keeps_its_kernels(tmp_path: Path) -> None:
    """Nothing says which device it is; that it is the only one is enough."""
    assert kernels_of(tmp_path, device(800, 4376751100, "NPU", 100)) == [("kernel_at_100", None)]


@pytest.mark.parametrize(("hardware", "overlap"), quick([("hardware", "overlap"), (10**30, 10**25), ("800", "4376751100")], 0))
def test_process_numbers_that_are_texts_or_huge_still_tell_processes_apart(tmp_path: Path, hardware: Any, overlap: Any) -> None:
    assert kernels_of(tmp_path, device(hardware, overlap, "NPU", 100)) == [("kernel_at_100", None)]


def test_a_label_says_the_device_whatever_the_number_is(tmp_path: Path) -> None:
    first, second = device(800, 4376751100, "NPU 5", 100), device(801, 4376751101, "NPU 7", 105)
    assert kernels_of(tmp_path, [*first, *second]) == [("kernel_at_100", 5), ("kernel_at_105", 7)]


def test_the_only_device_has_the_number_that_kernel_details_says(tmp_path: Path) -> None:
    details = (
        "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n6,of_csv,Add,AI_VECTOR_CORE,1704161511420900.000,1\n"
    )
    assert kernels_of(tmp_path, device(800, 4376751100, "NPU", 100), details) == [("kernel_at_100", 6), ("of_csv", 6)]


def test_two_devices_that_nothing_names_stay_apart_with_a_warning(tmp_path: Path) -> None:
    """Each kernel is counted by the analysis of its own device: the other's interval begins at another time."""
    events = [*device(800, 4376751100, "NPU", 100), *device(801, 4376751101, "NPU", 105)]
    assert kernels_of(tmp_path, events) == [("kernel_at_100", 0), ("kernel_at_105", 1)]
    with open_profile(tmp_path) as profile:
        profile.kernel_stats()
        assert any("does not say the numbers of its 2 devices" in warning for warning in profile.warnings)


def test_numbers_of_the_newer_form_have_the_device_in_them(tmp_path: Path) -> None:
    def number(layer: int, own: int) -> int:
        return (437675 << 10) | (layer << 5) | own

    events = [
        *device(number(13, 2), number(21, 2), "NPU", 100, (13, 21)),
        *device(number(13, 3), number(21, 3), "NPU", 105, (13, 21)),
    ]
    assert kernels_of(tmp_path, events) == [("kernel_at_100", 2), ("kernel_at_105", 3)]


@pytest.mark.slow
def test_a_trace_of_2023_keeps_all_that_the_profiler_counts_as_computing(realdata: Path) -> None:
    """274 kernels, 1,788.267 us: the tasks inside the 274 intervals of its own analysis; 2 more tasks are copies."""
    with open_profile(realdata / "trace_alone_2023") as profile:
        (row,) = profile.rows(
            "SELECT count(*) AS kernels, sum(duration_ns)::BIGINT AS ns FROM trace.kernel WHERE kind = 'compute'"
        )
        assert (row["kernels"], row["ns"]) == (274, 1788267)
        profile.kernel_stats()
        assert [one for one in profile.warnings if "Overlap Analysis" in one] == []
