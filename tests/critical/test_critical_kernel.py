"""Which kernels are critical, against a simulated host and device: with a shorter kernel all ends earlier or not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import duckdb
import pytest

from prof_analysis.engine.database import connect
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.planning import sql_of
from prof_analysis.engine.tables import create_schemas, documented_tables, source_tables

EPOCH = 1_767_225_600_000_000_000
READ = ("step.kernel_step", "trace.kernel", "trace.string", "trace.launch", "trace.host_api", "trace.copy", "clock.offset")
MADE = (
    "free.gap", "critical.wait", "critical.host_gap", "critical.beside", "critical.stretched", "critical.alone",
    "critical.kernel",
)  # fmt: skip
LATENCY = 500  # from the beginning of a launch to the start of its kernel on an idle device


@dataclass(frozen=True)
class Kernel:
    """A kernel as the host launches it, `pause` ns after what it did before; it may wait for an earlier one on the device."""

    pause: int
    duration: int
    stream: int = 0
    after: int | None = None


@dataclass(frozen=True)
class Wait:
    """A synchronise of the host, `pause` ns after what it did before: for one kernel, or for all that was launched."""

    pause: int
    kernel: int | None = None


Program = list[Kernel | Wait]
Interval = tuple[int, int]


def run(program: Program) -> tuple[list[Interval], list[int], list[Interval]]:
    """Return when the kernels ran and were launched, and when the host waited."""
    now = 0
    ran: list[Interval] = []
    launched: list[int] = []
    waited: list[Interval] = []
    free_at: dict[int, int] = {}
    for done in program:
        now += done.pause
        if isinstance(done, Wait):
            ends = [end for _, end in ran]
            awaited = ends if done.kernel is None else ends[done.kernel : done.kernel + 1]
            waited.append((now, max([now, *awaited])))
            now = waited[-1][1]
            continue
        start = max(now + LATENCY, free_at.get(done.stream, 0), ran[done.after][1] if done.after is not None else 0)
        launched.append(now)
        ran.append((start, start + done.duration))
        free_at[done.stream] = start + done.duration
    return ran, launched, waited


def is_earlier_without(program: Program, number: int, shorter_by: int) -> bool:
    """Whether all is done earlier if a kernel is shorter."""
    kernels = [place for place, done in enumerate(program) if isinstance(done, Kernel)]
    changed = list(program)
    kernel = program[kernels[number]]
    assert isinstance(kernel, Kernel)
    changed[kernels[number]] = replace(kernel, duration=kernel.duration - min(shorter_by, kernel.duration))
    return max(end for _, end in run(changed)[0]) < max(end for _, end in run(program)[0])


def some_program(seed: int, streams: int) -> Program:
    """Return a program drawn at random; a host that is at times ahead of the device and at times behind."""
    draw = random.Random(seed)
    # The second kernel is launched while the device is idle, which shows how fast a kernel can start.
    program: Program = [Kernel(0, 1000), Kernel(10_000_000, 1001)]
    for number in range(2, draw.randint(4, 30)):
        pause = draw.choice([draw.randint(1, 400), draw.randint(1, 20_000)])
        if draw.random() < 0.25:
            program.append(Wait(pause, draw.choice([None, draw.randrange(number)])))
        after = draw.randrange(number) if streams > 1 and draw.random() < 0.3 else None
        stream = draw.randrange(streams)
        program.append(Kernel(draw.randint(1, 400), draw.randint(1000, 20_000), stream, after))
    return program


def plain(ran: list[Interval], launched: list[int], waited: list[Interval]) -> list[bool]:
    """Return which kernels are critical, as the definition says, each compared with all others."""
    ends = {end for _, end in ran}
    waits = [(start, end) for start, end in waited if any(start <= one <= end for one in ends)]
    starts: dict[int, list[int]] = {}
    for (start, _), launch in zip(ran, launched, strict=True):
        starts.setdefault(start, []).append(launch)
    gaps = []
    for start, launches in starts.items():
        before = [end for begun, end in ran if begun < start]
        if before and max(before) < start:
            assert len(launches) == 1
            gaps.append((max(before), start, launches[0]))
    fastest = min((start - launch for idle, start, launch in gaps if launch >= idle), default=0)
    gaps = [gap for gap in gaps if gap[2] + fastest >= gap[0]]

    def is_critical(end: int) -> bool:
        reached = max(other_end for other_start, other_end in ran if other_start < end)
        begins_before = any(end <= other_start < reached for other_start, _ in ran)
        if reached > end and not begins_before and not any(end <= wait_end < reached for _, wait_end in waits):
            return False
        following = sorted(gap for gap in gaps if gap[0] >= end)
        return not following or any(end <= wait_end <= following[0][2] for _, wait_end in waits)

    return [is_critical(end) for _, end in ran]


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(threads=1, macros=False) as opened:
        create_macros(opened, sql_of(source_tables("ascend_db"), MADE))
        create_schemas(opened, (*READ, *MADE))
        for table in READ:
            columns = ", ".join(f"{column.name} {column.stored_type}" for column in documented_tables()[table].columns)
            opened.execute(f"CREATE TABLE {table} ({columns})")
        yield opened


def critical(
    connection: duckdb.DuckDBPyConnection, ran: list[Interval], launched: list[int | None], waited: list[Interval]
) -> list[bool]:
    """Return which kernels are critical, as the tables say."""
    for table in READ:
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO clock.offset (offset_ns) VALUES (0)")
    for number, ((start, end), launch) in enumerate(zip(ran, launched, strict=True)):
        times = [number, "compute", EPOCH + start, EPOCH + end]
        connection.execute("INSERT INTO step.kernel_step (kernel_id, kind, start_ns, end_ns) VALUES (?, ?, ?, ?)", times)
        connection.execute("INSERT INTO trace.kernel (kernel_id, launch_id) VALUES (?, ?)", [number, number])
        if launch is not None:
            connection.execute("INSERT INTO trace.launch (launch_id, start_ns) VALUES (?, ?)", [number, EPOCH + launch])
    # A call that is no wait, since calls are recorded.
    calls = [(EPOCH, EPOCH + 10**9, None), *((EPOCH + start, EPOCH + end, "synchronise") for start, end in waited)]
    for call_id, (start, end, role) in enumerate(calls):
        values = [call_id, start, end, end - start, role]
        connection.execute(
            "INSERT INTO trace.host_api (host_api_id, start_ns, end_ns, duration_ns, role) VALUES (?, ?, ?, ?, ?)", values
        )
    for table in MADE:
        connection.execute(f"CREATE OR REPLACE TABLE {table} AS {source_tables('ascend_db')[table].body}")
    rows = connection.execute("SELECT is_critical FROM critical.kernel ORDER BY kernel_id").fetchall()
    return [is_critical for (is_critical,) in rows]


# A few programs for the quick suite, which have all that the tests count.
SEEDS = pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 100), marks=pytest.mark.slow)], ids=str)


@SEEDS
def test_on_one_stream_a_kernel_is_critical_exactly_when_all_ends_earlier_without_it(
    connection: duckdb.DuckDBPyConnection, seeds: range
) -> None:
    seen: set[tuple[bool, bool]] = set()
    for seed in seeds:
        program = some_program(seed, streams=1)
        ran, launched, waited = run(program)
        expected = [is_earlier_without(program, number, 1) for number in range(len(ran))]
        assert critical(connection, ran, list(launched), waited) == expected == plain(ran, launched, waited), seed
        seen.update((is_critical, bool(waited)) for is_critical in expected)
    assert len(seen) == 4


@SEEDS
def test_on_several_streams_what_is_not_critical_wins_nothing_however_short_it_becomes(
    connection: duckdb.DuckDBPyConnection, seeds: range
) -> None:
    wins_nothing = not_critical = 0
    for seed in seeds:
        program = some_program(seed, streams=3)
        ran, launched, waited = run(program)
        found = critical(connection, ran, list(launched), waited)
        assert found == plain(ran, launched, waited), seed
        wins = [
            is_earlier_without(program, number, 1) or is_earlier_without(program, number, 10**6) for number in range(len(ran))
        ]
        assert not [number for number, is_critical in enumerate(found) if wins[number] and not is_critical], seed
        wins_nothing += wins.count(False)
        not_critical += found.count(False)
    assert not_critical > wins_nothing / 2
