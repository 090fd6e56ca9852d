"""Free time by cause: a small profile in every column, and random ones against a walk over every nanosecond."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, HostCall, Kernel, Launch, Op, Queue, Range, write_profile
from tests.helpers.turns import turns_of

SYNCHRONISE, LOADING, COLLECTION = "waiting in a synchronise", "data loading", "garbage collection"
OP, NOTHING, QUEUED, UNKNOWN = "inside an op", "nothing recorded", "between queue and device", "launch not recorded"
OTHER = "kernels of no step"


def rows(table: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values())[2:] for row in table.to_pylist()]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two steps. Gaps: 1100..1700 with everything in it, before a kernel that is put into the queue at 1600; 1800..1900
    before one that was put in at 1450; 2100..2200 before one of the autograd thread without a queue; 2300..2400 before one
    that nothing links, which runs in the middle of step 1 but belongs to none.
    """
    folder = tmp_path_factory.mktemp("free") / "small"
    ops = [
        Op("aten::mm", 900, 990, (Kernel("first", 1000, 1100),)),
        Op("ProfilerStep#1", 890, 1990),
        Op("enumerate(DataLoader)#Iter.__next__", 1150, 1300),
        Op("aten::mul", 1440, 1650),
        Op("aten::item", 1480, 1640),
        Op("MmBackward0", 1900, 2150, tid=2),
        Op("aten::add", 2000, 2010, (Kernel("next step", 2600, 2700),)),
        Op("aten::sum", 1700, 1990, (Kernel("last", 2500, 2550),)),
    ]
    launches = [
        Launch(1660, 1670, (Kernel("queued late", 1700, 1800),), tid=5, recorded_op=4),
        Launch(1560, 1570, (Kernel("queued early", 1900, 2100),), tid=5, recorded_op=3),
        Launch(2120, 2140, (Kernel("of backward", 2200, 2300),), tid=2, recorded_op=5),
    ]
    calls = [
        HostCall("aclrtSynchronizeStreamWithTimeout", 1250, 1350),
        HostCall("aclrtSynchronizeStream", 1490, 1500, tid=9),
        HostCall("aclopCompileAndExecute", 1655, 1698, tid=5),
    ]
    write_profile(
        folder / "a_ascend_pt",
        ops,
        [Range("dataloader", 1140, 1160, domain="default")],
        unlinked=[Kernel("lost", 2400, 2420)],
        steps=[(1, 890, 1990), (2, 1990, 3000)],
        queues=[Queue(1, (1600, 1610), (1650, 1680)), Queue(2, (1450, 1460), (1550, 1580))],
        launches=launches,
        frames=[Frame("main.py(1): main", 0, 9000), Frame("main.py(7): train", 1000, 1990), Frame("other", 0, 9000, tid=2)],
        calls=calls,
        collections=[(1280, 1290, 1), (1600, 1700, 2)],
    )
    return folder


def test_kernels_alone_give_gaps_and_neighbours_and_say_why_there_is_no_cause(tmp_path: Path) -> None:
    head = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
    rows = "a,Add,AI_CORE,1723000000000000.000,1.000\nb,Mul,AI_CORE,1723000000000010.000,2.000\n"
    (tmp_path / "kernel_details.csv").write_text(head + rows, encoding="utf-8")
    with open_profile(tmp_path / "kernel_details.csv") as profile:
        profile.prepare("free-time")
        (gap,) = profile.rows("SELECT duration_ns, cause, cause_ns, kernel_before, kernel_after FROM free.longest_gap")
        assert tuple(gap.values()) == (9_000, None, None, "a", "b")
        (between,) = profile.free_time(by="kernel").to_dict("records")
        assert (between["kernel_before"], between["kernel_after"], between["total_ns"]) == ("Add", "Mul", 9_000)
        (length,) = profile.free_time(by="length").to_dict("records")
        assert (length["least_ns"], length["gap_count"]) == (1_000, 1)
        unknown = {row["cause"]: row["reason"] for row in profile.rows("FROM free.unknown_cause")}
        assert unknown["inside an op"] == says("no ops", "collect with CPU activity")


def test_causes_and_longest_gaps_in_every_column(small: Path) -> None:
    with open_profile(small) as profile:
        build_at_once(profile, "free-time")
        causes, gaps = arrow_of(profile.free_time()), arrow_of(profile.free_time(gaps=True))
        free = [row["free_ns"] for row in arrow_of(profile.step_time()).to_pylist()]
        unknown_causes = profile.table("free.unknown_cause", arrow=True).num_rows
        assert (profile.warnings, unknown_causes) == ([], 0)
    assert causes.column_names == ["profile", "rank_id", "step_id", "cause", "gap_count", "total_ns", "share"]
    # Step 1 from 1000 to 2550. Of 1100..1600, before aten::item was put in: 1280..1290 collected, 1250..1350 synchronised,
    # 1140..1300 loaded, 1440..1600 in ops. Of 2100..2120 all in MmBackward0. 2420..2500 before `last`, whose op ended before.
    assert rows(causes) == [
        (1, QUEUED, 4, 100 + 100 + 80 + 80, 360 / 1000),
        (1, OP, 2, 160 + 20, 180 / 1000),
        (1, NOTHING, 1, 40 + 90, 130 / 1000),
        (1, LOADING, 1, 110, 110 / 1000),
        (1, UNKNOWN, 1, 100, 100 / 1000),
        (1, SYNCHRONISE, 1, 90, 90 / 1000),
        (1, OTHER, None, 20, 20 / 1000),
        (1, COLLECTION, 1, 10, 10 / 1000),
    ]
    assert free == [1000, 0, None]
    assert gaps.column_names[2:] == [
        *("step_id", "start_ns", "duration_ns", "cause", "cause_ns", "kernel_before", "op_before", "kernel_after", "op_after"),
        *("host_ops", "host_call", "host_call_ns", "python_stack"),
    ]
    stack, call = "main.py(1): main > main.py(7): train", ("aclrtSynchronizeStreamWithTimeout", 100)
    assert rows(gaps) == [
        (1, 1100, 600, OP, 160, "first", "aten::mm", "queued late", "aten::item", None, *call, stack),
        (1, 1800, 100, QUEUED, 100, "queued late", "aten::item", "queued early", "aten::mul", "aten::mul", None, None, stack),
        (
            1,
            2100,
            100,
            QUEUED,
            80,
            "queued early",
            "aten::mul",
            "of backward",
            "MmBackward0",
            "MmBackward0",
            "launch",
            20,
            "other",
        ),
        (1, 2300, 100, UNKNOWN, 100, "of backward", "MmBackward0", "lost", None, None, None, None, None),
        (1, 2420, 80, QUEUED, 80, "lost", None, "last", "aten::sum", None, None, None, "main.py(1): main"),
    ]


def test_the_summary_shows_gaps_and_causes(small: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    shown = command("free-time", "-d", small, "-o", tmp_path, "--top", "2").stdout
    assert [line.split() for line in shown.splitlines()[1:]] == [
        line.split()
        for line in f"""\
        inside an op 600 ns 26.7% aten::mm aten::item aclrtSynchronizeStreamWithTimeout (100 ns) 1 a_ascend_pt
        between queue and device 100 ns 100.0% aten::item aten::mul - 1 a_ascend_pt

        free 1.00 us; 1 rank
        36.0% between queue and device, 360 ns in 4 gaps
        18.0% inside an op, 180 ns in 2 gaps
        13.0% nothing recorded, 130 ns in 1 gap
        11.0% data loading, 110 ns in 1 gap
        10.0% launch not recorded, 100 ns in 1 gap
        9.0% waiting in a synchronise, 90 ns in 1 gap
        2.0% kernels of no step, 20 ns
        1.0% garbage collection, 10 ns in 1 gap

        wrote {tmp_path / "cluster_analysis_output" / "cluster_analysis.db"}""".splitlines()
    ]


@dataclass
class Made:
    """A random profile and what is known of it: of each kernel its times, step, and the thread and moment that asked for it."""

    kernels: list[tuple[int, int, int, int | None, int | None]] = field(default_factory=list)
    calls: dict[str, list[tuple[int, int, int]]] = field(
        default_factory=lambda: {COLLECTION: [], SYNCHRONISE: [], LOADING: [], OP: []}
    )

    def cause_of(self, moment: int) -> str | None:
        """What the engine should say of a moment; None where a kernel runs."""
        if any(start <= moment < end for start, end, *_ in self.kernels):
            return None
        *_, tid, asked = min(kernel for kernel in self.kernels if kernel[0] > moment)
        if asked is None:
            return UNKNOWN
        if moment >= asked:
            return QUEUED
        return next(
            (
                cause
                for cause, calls in self.calls.items()
                if any(thread == tid and start <= moment < end for thread, start, end in calls)
            ),
            NOTHING,
        )

    def causes(self, step: int) -> dict[str, int]:
        """The nanoseconds of each cause in a step."""
        of_steps = [kernel for kernel in self.kernels if kernel[2]]
        spans = turns_of({one: [kernel[:2] for kernel in of_steps if kernel[2] == one] for one in (1, 2)})
        free = [moment for moment in spans[step] if not any(start <= moment < end for start, end, *_ in of_steps)]
        return dict(Counter(self.cause_of(moment) or OTHER for moment in free))


def make(folder: Path, seed: int) -> Made:
    """Two threads, two steps: ops launch kernels through the queue, by themselves, with no call recorded, or with no link.

    Around the border of the steps the device runs kernels in another order than the host launched them.
    """
    rng = random.Random(seed)
    made = Made()
    ops, launches, queues, device_ns, queue_ns = [], [], [], 0, 0
    unlinked: list[Kernel] = []
    slots = [*range(15), *rng.sample(range(15, 25), 10), *range(25, 40)]
    for number, slot in enumerate(slots):
        tid, begin = rng.choice((1, 2)), 1000 + 200 * slot + rng.randrange(30)
        end, asked = begin + 120, begin + rng.randrange(5, 60)
        step = 1 if begin < 5000 else 2
        device_ns = max(device_ns + rng.randrange(1, 20), 1000 + 200 * number + rng.randrange(280))
        kernel = Kernel(f"kernel {number}", device_ns, device_ns + rng.randrange(1, 60))
        device_ns = kernel.end
        way = rng.choice(("queue", "queue", "own", "no call", "lost"))
        ops.append(Op(f"op {number}", begin, end, (kernel,) if way == "no call" else (), tid=tid))
        made.calls[OP].append((tid, begin, end))
        if way == "queue":
            queue_ns = max(queue_ns, asked + 10)
            queues.append(Queue(number, (asked, asked + 5), (queue_ns, queue_ns + 20), tid))
            launches.append(Launch(queue_ns + 5, queue_ns + 10, (kernel,), tid=5, recorded_op=number))
            queue_ns += 30
        elif way == "own":
            launches.append(Launch(asked, asked + 5, (kernel,), tid=tid, recorded_op=number))
        elif way == "lost":
            unlinked.append(kernel)
        known = (None, None) if way == "lost" else (tid, end if way == "no call" else asked)
        made.kernels.append((kernel.start, kernel.end, 0 if way == "lost" else step, *known))

    def some() -> Iterator[tuple[int, int, int]]:
        for _ in range(20):
            start = rng.randrange(1000, 9000)
            yield rng.choice((1, 2)), start, start + rng.randrange(150)

    for cause in (COLLECTION, SYNCHRONISE, LOADING):
        made.calls[cause] = list(some())
    write_profile(
        folder / "a_ascend_pt",
        ops,
        [Range("dataloader", start, end, tid, "default") for tid, start, end in made.calls[LOADING]],
        unlinked=unlinked,
        steps=[(1, 1000, 5000), (2, 5000, 9000)],
        queues=queues,
        launches=launches,
        calls=[HostCall("aclrtSynchronizeDevice", start, end, tid) for tid, start, end in made.calls[SYNCHRONISE]],
        collections=[(start, end, tid) for tid, start, end in made.calls[COLLECTION]],
    )
    return made


def test_causes_are_those_of_a_walk_over_every_nanosecond(tmp_path: Path) -> None:
    made = make(tmp_path, seed=3)
    assert max(end for _, end, step, *_ in made.kernels if step == 1) > min(
        start for start, _, step, *_ in made.kernels if step == 2
    )
    with open_profile(tmp_path) as profile:
        build_at_once(profile, "free-time", "step-time", "free.host_part", "free.gap_cause", "free.cause_of_op", "free.cause")
        causes = arrow_of(profile.free_time()).to_pylist()
        free = {row["step_id"]: row["free_ns"] for row in arrow_of(profile.step_time()).to_pylist()}
        of_gap = "SELECT gap_id, cause, sum({})::BIGINT AS total_ns FROM {} GROUP BY ALL ORDER BY ALL"
        total = "SELECT cause, sum(total_ns)::BIGINT AS total_ns FROM {} GROUP BY ALL ORDER BY ALL"
        assert profile.rows(of_gap.format("end_ns - start_ns", "free.host_part")) == profile.rows(
            of_gap.format("duration_ns", "free.gap_cause")
        )
        assert profile.rows(total.format("(FROM free.cause_of_op WHERE NOT is_between_steps)")) == profile.rows(
            total.format("free.cause")
        )
    for step in (1, 2):
        found = {row["cause"]: row["total_ns"] for row in causes if row["step_id"] == step}
        assert found == made.causes(step)
        assert sum(found.values()) == free[step]
    assert len({row["cause"] for row in causes}) == 8


@pytest.mark.parametrize(
    ("place", "unknown_causes"),
    [("db/level1", [COLLECTION]), ("text/level0", [COLLECTION, SYNCHRONISE])],
    ids=["db", "text"],
)
@pytest.mark.slow
def test_the_causes_of_alexnet_add_up_to_its_free_time(realdata: Path, place: str, unknown_causes: list[str]) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / place / "rank0_ascend_pt") as profile:
        build_at_once(profile, "free-time")
        (step,) = arrow_of(profile.step_time()).to_pylist()
        causes = arrow_of(profile.free_time()).to_pylist()
        gaps = arrow_of(profile.free_time(gaps=True)).to_pylist()
        assert (
            profile.sql("SELECT cause FROM free.unknown_cause ORDER BY cause", arrow=True).column(0).to_pylist()
            == unknown_causes
        )
    assert sum(row["total_ns"] for row in causes) == sum(row["duration_ns"] for row in gaps) == step["free_ns"]
    assert len(gaps) == 90
    if place == "db/level1":
        first = gaps[0]
        assert (first["duration_ns"], first["cause"], first["cause_ns"]) == (2_338_607, QUEUED, 2_338_607)
        assert (first["op_before"], first["op_after"]) == ("aclnnInplaceRelu", "Conv2D")
        assert (first["host_call"], first["host_call_ns"]) == ("aclopCompileAndExecute", 2_338_607)
        assert " > torch/nn/modules/conv.py(451): _conv_forward > " in first["python_stack"]
