"""mstx marks and ranges: every column worked out by hand, and random ones whose truth is kept, as a database and as text."""

import json
import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from typer.testing import Result

from fixtures.text_export import export_text
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Launch, Op, Range, edit, write_profile

START = 1_700_000_000_000_000_000
FIGURES = (
    *("event_count", "host_total_ns", "host_mean_ns", "host_median_ns", "host_p95_ns", "host_min_ns", "host_max_ns"),
    *("device_count", "device_total_ns", "device_mean_ns", "device_median_ns", "device_p95_ns", "device_min_ns"),
    *("device_max_ns", "kernel_count", "kernel_duration_ns"),
)
STEPS = ((7, START, START + 5000), (8, START + 5000, START + 9000))
REDUCE = '{"streamId": "3", "count": "64", "dataType": "fp32", "groupName": "tp", "opName": "HcclAllreduce"}'


def at(name: str, start: int, length: int, device: tuple[int, int] | None = None, **more: Any) -> Range:
    """A range `length` long, or a mark; `device` is start and length on the device."""
    on_device = None if device is None else (START + device[0], START + sum(device))
    return Range(name, START + start, START + start + length, device=on_device, **{"domain": "default", **more})


def mark(name: str, start: int, device: tuple[int, int] | None = None, **more: Any) -> Range:
    return at(name, start, 0, device, event_type=more.pop("event_type", 0), **more)


def kernels(*durations: int, first: int = 50_000) -> tuple[Kernel, ...]:
    return tuple(Kernel(f"k{n}", START + first + 900 * n, START + first + 900 * n + one) for n, one in enumerate(durations))


RANGES = (
    at("forward", 100, 1000, (20_000, 300)),
    at("forward", 2000, 1500, (21_000, 700)),
    at("forward", 6000, 1200),
    at("tile", 200, 300, event_type=1),
    at("tile", 4990, 20, (22_000, 5), event_type=1),
    at("dataloader", 3600, 400),
    at("dataloader", 4100, 50, domain="mine"),
    at("save_checkpoint", 8000, 900),
    at("ProfilerStep#7", 0, 4999),
    at("128-matmul", 205, 10, domain="mfu_flops"),
    at("elsewhere", 100, 1000, tid=9),
    mark(REDUCE, 700, (23_000, 2), domain="communication", event_type=3),
    mark(REDUCE, 710, (23_100, 4), domain="communication", event_type=3),
    mark("here", 9500),
    # A message too long for one record.
    mark("long", 800, (24_000, 1)),
    mark("er than that", 800, continues=True),
)
OPS = (
    # The steps as text exports tell of them.
    *(Op(f"ProfilerStep#{number}", start, end) for number, start, end in STEPS),
    # Inside forward and tile, and the profiler step.
    Op("aten::mm", START + 210, START + 300, kernels(11, 13)),
    # Straddles the end of tile.
    Op("aten::add", START + 450, START + 550, kernels(17, first=60_000)),
    # Around the second forward: what it launches itself is not inside.
    Op("outer", START + 1900, START + 3550, kernels(19, first=70_000)),
    Op("aten::mul", START + 2500, START + 2600, kernels(23, first=80_000)),
    # Just as long as a range is inside it.
    Op("aten::load", START + 3600, START + 4000, kernels(29, first=90_000)),
    Op("aten::late", START + 6100, START + 6200, kernels(31, first=100_000)),
)
LAUNCHES = (Launch(START + 7000, START + 7100, kernels(37, first=110_000)),)

NO_DEVICE = (0, *[None] * 6)
EXPECTED = [
    ("range", "profiler step", "default", "ProfilerStep#7", 1, 4999, 4999.0, *[4999] * 4, *NO_DEVICE, 6, 112),
    (
        "range",
        "user",
        "default",
        "forward",
        3,
        3700,
        3700 / 3,
        1200,
        1500,
        1000,
        1500,
        2,
        1000,
        500.0,
        300,
        700,
        300,
        700,
        6,
        132,
    ),
    ("range", "user", "default", "elsewhere", 1, 1000, 1000.0, *[1000] * 4, *NO_DEVICE, 0, 0),
    ("range", "save_checkpoint", "default", "save_checkpoint", 1, 900, 900.0, *[900] * 4, *NO_DEVICE, 0, 0),
    ("range", "dataloader", "default", "dataloader", 1, 400, 400.0, *[400] * 4, *NO_DEVICE, 1, 29),
    ("range", "user", "default", "tile", 2, 320, 160.0, 20, 300, 20, 300, 1, 5, 5.0, *[5] * 4, 2, 24),
    ("range", "user", "mine", "dataloader", 1, 50, 50.0, *[50] * 4, *NO_DEVICE, 0, 0),
    ("range", "flops recording", "mfu_flops", "128-matmul", 1, 10, 10.0, *[10] * 4, *NO_DEVICE, 0, 0),
    ("mark", "communication", "communication", REDUCE, 2, *[None] * 6, 2, 6, 3.0, 2, 4, 2, 4, None, None),
    ("mark", "user", "default", "long", 1, *[None] * 6, 1, 1, 1.0, *[1] * 4, None, None),
    ("mark", "user", "default", "here", 1, *[None] * 6, *NO_DEVICE, None, None),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mstx")
    path = write_profile(folder / "a_ascend_pt", OPS, RANGES, steps=STEPS, launches=LAUNCHES)
    export_text(path, TextStyle(exports="both"))
    return folder


@pytest.mark.parametrize("source", quick(["db", "text"], 1))
def test_marks_and_ranges_in_every_column_of_all_and_of_each_step(small: Path, source: Literal["db", "text"]) -> None:
    with open_profile(small, source=source) as profile:
        build_at_once(profile, "mstx-stats", "trace.mstx_task")
        whole, by_step = (arrow_of(profile.mstx_stats(per_step=per_step)) for per_step in (False, True))
        tasks = profile.sql("SELECT device_id, stream_id, start_ns, end_ns FROM trace.mstx_task ORDER BY start_ns", arrow=True)
    keys = ["profile", "rank_id", "kind", "producer", "domain", "message"]
    assert whole.column_names == [*keys, *FIGURES]
    assert [tuple(row.values())[2:] for row in whole.to_pylist()] == EXPECTED
    assert by_step.column_names == [*keys[:2], "step_id", *keys[2:], *FIGURES]
    steps: dict[int, dict[tuple[str, str], tuple[Any, ...]]] = defaultdict(dict)
    for row in by_step.to_pylist():
        assert row["event_count"] > 0
        steps[row["step_id"]][row["domain"], row["message"]] = tuple(row[name] for name in FIGURES)
    assert list(steps) == [7, 8]
    # Of step 8 are only the third forward and the checkpoint; `here` is of none.
    of_forward = ("default", "forward")
    assert steps[8] == {
        of_forward: (1, 1200, 1200.0, *[1200] * 4, *NO_DEVICE, 2, 68),
        ("default", "save_checkpoint"): EXPECTED[3][4:],
    }
    assert steps[7].pop(of_forward) == (2, 2500, 1250.0, 1000, 1500, 1000, 1500, 2, 1000, 500.0, 300, 700, 300, 700, 4, 64)
    assert steps[7] == {row[2:4]: row[4:] for row in EXPECTED if row[3] not in ("forward", "save_checkpoint", "here")}
    device = sorted(one.device for one in RANGES if one.device)
    assert [tuple(row.values()) for row in tasks.to_pylist()] == [(0, 2, *times) for times in device]


@pytest.mark.slow
def test_a_step_the_summary_and_what_is_written(small: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    words = ("mstx-stats", "-d", small, "-o", tmp_path, "--export_type", "csv")
    result = command(*words, "--step_id", "8", "--json")
    (forward, checkpoint) = json.loads(result.stdout)["summary"]["heaviest"]
    # Without a task queue, what no op launched belongs to the step in which it was launched.
    assert (forward["event_count"], forward["kernel_count"], forward["kernel_duration_ns"]) == (1, 2, 68)
    assert (checkpoint["producer"], checkpoint["event_count"]) == ("save_checkpoint", 1)
    result = command(*words, "--top", "2")
    assert (result.exit_code, result.stderr) == (0, "")
    folder = tmp_path / "cluster_analysis_output"
    header, *rows, _, line, _, first, second = result.stdout.splitlines()
    assert header.split("  ")[0] == "message"
    assert [row.split() for row in rows] == [
        ["ProfilerStep#7", "range", "1", "5.00", "us", "-", "112", "ns", "6", "5.00", "us", "default", "profiler", "step"],
        ["forward", "range", "3", "3.70", "us", "1.00", "us", "132", "ns", "6", "1.50", "us", "default", "user"],
    ]
    ranges = ("7 ranges (user)", "1 range (dataloader)", "1 range (flops recording)", "1 range (profiler step)")
    marks = ("2 marks (communication)", "2 marks (user)")
    assert line == says(*ranges, *marks, "1 range (save_checkpoint)", "1 rank")
    assert [first, second] == [f"wrote {folder / name}" for name in ("mstx_statistic.csv", "mstx_step_statistic.csv")]


def test_the_first_api_and_profiles_without_marks(tmp_path: Path, command: Callable[..., Result]) -> None:
    path = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES[:2])
    edit(path, "UPDATE MSTX_EVENTS SET connectionId = 4000000000; UPDATE TASK SET connectionId = 4000000000 WHERE streamId = 2")
    with open_profile(tmp_path) as profile:
        (row,) = arrow_of(profile.mstx_stats()).to_pylist()
    assert (row["event_count"], row["host_total_ns"], row["device_count"]) == (2, 2500, 0)
    edit(path, "DELETE FROM MSTX_EVENTS")
    result = command("mstx-stats", "-d", tmp_path)
    reason = ("no mstx marks and ranges", "collect with mstx=True")
    assert (result.exit_code, result.stderr) == (2, says(f"error: {tmp_path}: ", "no rank can answer", *reason))


@dataclass(frozen=True)
class Truth:
    """A range or mark: its host time, its device time, and the kernels launched inside it."""

    name: str
    tid: int
    start: int
    duration: int | None
    device: int | None
    kernel_count: int | None
    kernel_ns: int | None


def random_profile(seed: int) -> tuple[list[Range], list[Op], list[Launch], list[Truth]]:
    """Ranges that nest, straddle and coincide on three threads, ops among them, and launches outside every op."""
    chance = random.Random(seed)

    def interval(longest: int) -> tuple[int, int]:
        start = START + chance.randrange(4000)
        return start, start + chance.randrange(longest)

    places = iter(range(10**6))
    # A flow of a text export begins at the start of its op, so no two ops of a thread start together.
    starts = iter(chance.sample(range(4000), 600))
    ranges = []
    for number in range(400):
        begin = START + 10**6 + 5000 * next(places)
        device = (begin, begin + chance.randrange(3000)) if chance.random() < 0.5 else None
        start, end = interval(chance.choice((50, 500, 4000)))
        is_mark = chance.random() < 0.2
        kind = chance.choice((0, 3)) if is_mark else chance.choice((1, 2))
        name, tid = f"{'mark' if is_mark else 'range'} {number}", chance.choice((1, 2, 3))
        ranges.append(Range(name, start, start if is_mark else end, tid, "default", kind, device))

    def some_kernels() -> tuple[Kernel, ...]:
        begins = [START + 10**8 + 5000 * next(places) for _ in range(chance.choice((0, 1, 1, 2)))]
        return tuple(Kernel("k", begin, begin + chance.randrange(5000)) for begin in begins)

    ops = [
        Op("aten::op", START + start, START + start + chance.randrange(chance.choice((20, 300, 3000))), some_kernels(), tid=tid)
        for tid in (1, 2)
        for _, start in zip(range(150), starts, strict=False)
    ]
    launches = [Launch(*interval(60), some_kernels(), tid=3) for _ in range(100)]
    calls: list[Op | Launch] = [*ops, *launches]
    truth = []
    for one in ranges:
        inside = [
            kernel
            for work in calls
            if work.tid == one.tid and one.start <= work.start and work.end <= one.end
            for kernel in work.kernels
        ]
        is_mark = one.event_type in (0, 3)
        truth.append(
            Truth(
                one.name,
                one.tid,
                one.start,
                None if is_mark else one.end - one.start,
                one.device[1] - one.device[0] if one.device else None,
                None if is_mark else len(inside),
                None if is_mark else sum(kernel.end - kernel.start for kernel in inside),
            )
        )
    return ranges, ops, launches, truth


@pytest.mark.slow
def test_random_marks_and_ranges_agree_with_their_truth_to_the_nanosecond(tmp_path: Path) -> None:
    ranges, ops, launches, truth = random_profile(seed=0)
    path = write_profile(tmp_path / "a_ascend_pt", ops, ranges, launches=launches)
    export_text(path, TextStyle(exports="both", timestamps="number"))
    assert any(one.kernel_count for one in truth if one.tid == 3)
    assert sum(one.device is not None for one in truth) > 150
    found = {}
    for source in ("db", "text"):
        with open_profile(tmp_path, source=source) as profile:
            rows = profile.sql(
                """
                SELECT message, tid, start_ns, event.duration_ns, device_duration_ns, kernel_count, work.duration_ns AS ns
                FROM mstx.event
                LEFT JOIN mstx.work USING (profile, range_id)
                ORDER BY message
                """,
                arrow=True,
            ).to_pylist()
        found[source] = [Truth(*row.values()) for row in rows]
    expected = sorted(truth, key=lambda one: one.name)
    assert found["db"] == expected
    assert found["text"] == expected
