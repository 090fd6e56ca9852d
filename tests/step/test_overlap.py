"""How much of communication and of copies computing covers, in every column, and that parts add up to the time of the step."""

import gzip
import json
import random
from pathlib import Path
from typing import Any, Literal

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import Profile, open_profile
from tests.helpers import kineto
from tests.helpers.cli import Command
from tests.helpers.says import says
from tests.helpers.small_profile import HostCall, Kernel, Launch, Op, Queue, edit, write_profile


def rows(profile: Profile, table: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values())[2:] for row in profile.rows(f"FROM {table}")]


def in_group(name: str, start: int, end: int, group: str) -> Kernel:
    return Kernel(name, start, end, "communication", group=group)


GROUPS = {
    "tp_a": {"group_name": "tp", "group_rank": 0, "global_ranks": [0, 1]},
    "tp_b": {"group_name": "tp", "group_rank": 0, "global_ranks": [0, 2]},
    "dp_a": {"group_name": "dp", "group_rank": 0, "global_ranks": [0, 4]},
}


def test_each_group_says_how_much_of_it_computing_covers(tmp_path: Path) -> None:
    """Computing 1000..1100 and 1200..1300 of step 1. Two tp groups overlap each other, dp overlaps the second of them."""
    ops = [
        Op("a", 100, 110, (Kernel("mm", 1000, 1100), Kernel("mm", 1200, 1300), Kernel("inside", 1210, 1220))),
        Op("b", 120, 130, (in_group("hcom_allReduce_", 1050, 1150, "tp_a"), in_group("hcom_allGather_", 1120, 1180, "tp_b"))),
        Op("c", 140, 150, (in_group("hcom_allReduce_", 1170, 1250, "dp_a"), in_group("hcom_allReduce_", 1190, 1195, "dp_a"))),
        # Of the next step, which begins and ends first on the device: what the other one computes then covers it.
        Op("d", 210, 220, (in_group("hcom_allReduce_", 1000, 1040, "unknown"),)),
    ]
    path = write_profile(tmp_path / "a_ascend_pt", ops, steps=[(1, 100, 200), (2, 200, 300)])
    metadata = json.dumps(GROUPS)
    edit(
        path,
        f"CREATE TABLE META_DATA (name TEXT, value TEXT); INSERT INTO META_DATA VALUES ('parallel_group_info', '{metadata}')",
    )
    with open_profile(tmp_path) as profile:
        found = rows(profile, "step.communication")
        (first, second) = profile.rows("SELECT communication_ns, overlapped_ns FROM step.time ORDER BY step_id")
        across = profile.rows(
            "SELECT level, group_label, op_count, communication_ns, not_overlapped_ns FROM across.step_communication"
        )
    assert found == [
        (1, "step", None, None, None, 4, 200, 100, 100, 0.5, 100),
        (1, "label", "tp", None, None, 2, 130, 50, 80, 50 / 130, 80),
        (1, "label", "dp", None, None, 2, 80, 50, 30, 50 / 80, 20),
        (1, "operator", "tp", "tp_b", "hcom_allGather_", 1, 60, 0, 60, 0.0, 30),
        (1, "operator", "tp", "tp_a", "hcom_allReduce_", 1, 100, 50, 50, 0.5, 50),
        (1, "operator", "dp", "dp_a", "hcom_allReduce_", 2, 80, 50, 30, 50 / 80, 20),
        (2, "step", None, None, None, 1, 40, 40, 0, 1.0, 0),
        (2, "label", None, None, None, 1, 40, 40, 0, 1.0, 0),
        (2, "operator", None, "unknown", "hcom_allReduce_", 1, 40, 40, 0, 1.0, 0),
    ]
    assert (first, second) == ({"communication_ns": 200, "overlapped_ns": 100}, {"communication_ns": 40, "overlapped_ns": 40})
    assert [tuple(row.values()) for row in across if row["level"] != "operator"] == [
        ("label", "tp", 2, 130, 80), ("label", "dp", 2, 80, 30), ("label", None, 1, 40, 0), ("step", None, 5, 240, 100)
    ]  # fmt: skip


def test_the_screen_says_which_communication_is_of_no_step_and_of_which_ranks(tmp_path: Path, command: Command) -> None:
    ops = [
        Op("a", 100, 110, (Kernel("mm", 1000, 1100), in_group("hcom_allReduce_", 1050, 1150, "g"))),
        Op("b", 310, 320, (in_group("hcom_allReduce_", 2000, 2040, "g"),)),
    ]
    write_profile(tmp_path / "a_ascend_pt", ops, steps=[(1, 100, 200)], rank=0)
    write_profile(tmp_path / "b_ascend_pt", ops[:1], steps=[(1, 100, 200)], rank=1)
    write_profile(tmp_path / "c_ascend_pt", [Op("a", 100, 110, (Kernel("mm", 1000, 1100),))], steps=[(1, 100, 200)], rank=2)
    lines = command("step-time", tmp_path).stdout.splitlines()
    (head,) = (number for number, line in enumerate(lines) if line.startswith("type"))
    assert lines[head].split()[:4] == ["type", "purpose", "ranks", "operators"]
    assert lines[head + 1].split()[2:4] == ["2", "3"]
    assert says("communication above", "1 of 3 operators", "no step", "40 ns") in lines


def test_overlaps_are_those_of_sets_of_nanoseconds_and_add_up(tmp_path: Path) -> None:
    rng = random.Random(2)

    def some(count: int) -> list[tuple[int, int]]:
        return [(start, start + rng.randrange(80)) for start in (rng.randrange(1000, 2500) for _ in range(count))]

    computing, copies = some(25), some(12)
    groups = {group: some(8) for group in "xyz"}
    of_groups = tuple(in_group("hcom_allReduce_", *time, group) for group, times in groups.items() for time in times)
    of_copies = tuple(Kernel("MEMCPY_ASYNC", *time, "copy", copied=(10, 1 + number % 2)) for number, time in enumerate(copies))
    ops = [Op("op", 100, 110, (*(Kernel("mm", *time) for time in computing), *of_groups, *of_copies))]
    write_profile(tmp_path / "a_ascend_pt", ops, steps=[(1, 50, 150)])
    with open_profile(tmp_path) as profile:
        by_group = {row[3]: row[6:] for row in rows(profile, "step.communication") if row[1] == "operator"}
        by_direction = {row[1]: row[2:7] for row in rows(profile, "step.copy")}
        (step,) = profile.rows("FROM step.time")

    def moments(times: list[tuple[int, int]]) -> set[int]:
        return {moment for start, end in times for moment in range(start, end)}

    covered, all_groups = moments(computing), moments([time for times in groups.values() for time in times])
    busy = covered | all_groups
    for group, times in groups.items():
        one = moments(times)
        assert by_group[group][:3] == (len(one), len(one & covered), len(one - covered))
    assert sum(row[4] for row in by_group.values()) == len(all_groups - covered) == step["communication_not_overlapped_ns"]
    chosen = {"all": copies, "host to device": copies[::2], "device to host": copies[1::2]}
    span = range(min(start for times in (computing, *groups.values()) for start, _ in times), max(busy) + 1)
    assert by_direction == {
        direction: (
            *(len(times), len(moments(times)), len(moments(times) & busy), len(moments(times) - busy)),
            len((moments(times) - busy) & set(span)),
        )
        for direction, times in chosen.items()
    }


COPIED = (
    Op("aten::to", 100, 110, (Kernel("MEMCPY_ASYNC", 1000, 1100, "copy", copied=(4096, 6)),)),
    Op("aten::mm", 120, 130, (Kernel("mm", 1050, 1200), Kernel("mm", 1300, 1400))),
    # Half of it between the kernels of the step, half of it while one of them runs.
    Op(
        "aten::item",
        150,
        160,
        (Kernel("MEMCPY_ASYNC", 1250, 1350, "copy", copied=(8, 2)), Kernel("EVENT_WAIT", 1, 9999, "copy")),
    ),
    Op("aten::copy_", 250, 260, (Kernel("MEMCPY_ASYNC", 2000, 2010, "copy"),)),
)
# step, direction, copies, copying, overlapped, alone, in free time, bytes, copies without, longest
OF_COPIES = [
    (1, "all", 2, 200, 100, 100, 50, 4104, 0, 100),
    (1, "device to host", 1, 100, 50, 50, 50, 8, 0, 100),
    (1, "host to device", 1, 100, 50, 50, 0, 4096, 0, 100),
    (2, "all", 1, 10, 0, 10, 0, None, 1, 10),
    (2, None, 1, 10, 0, 10, 0, None, 1, 10),
]


@pytest.mark.slow
def test_copies_of_a_step_with_bytes_and_what_is_covered(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", COPIED, steps=[(1, 100, 200), (2, 200, 300)])
    with open_profile(tmp_path) as profile:
        assert rows(profile, "step.copy") == OF_COPIES
        assert profile.rows("SELECT free_ns, copying_not_overlapped_ns, stage_ns FROM step.time")[0] == {
            "free_ns": 100, "copying_not_overlapped_ns": 0, "stage_ns": 350
        }  # fmt: skip
        assert profile.rows("FROM across.copy")[:2] == [
            dict(zip(ACROSS, ("all", 3, 210, 100, 110, 4104, 1), strict=True)),
            dict(zip(ACROSS, ("device to host", 1, 100, 50, 50, 8, 0), strict=True)),
        ]


ACROSS = ("direction", "copy_count", "copying_ns", "overlapped_ns", "not_overlapped_ns", "size_bytes", "unsized_count")


@pytest.mark.slow
def test_a_copy_belongs_to_the_step_in_which_it_was_put_into_the_queue(tmp_path: Path) -> None:
    copy = Kernel("MEMCPY_ASYNC", 3000, 3010, "copy", copied=(1, 3))
    other = Kernel("MEMCPY_ASYNC", 3020, 3030, "copy", copied=(1, 65535))
    write_profile(
        tmp_path / "a_ascend_pt",
        [Op("aten::mm", 120, 130, (Kernel("mm", 1000, 1010),))],
        steps=[(1, 100, 200), (2, 200, 300)],
        queues=[Queue(1, (150, 155), (240, 250))],
        launches=[Launch(242, 248, (copy,), tid=5), Launch(260, 262, (other,), tid=5)],
        unlinked=[Kernel("MEMCPY_ASYNC", 4000, 4001, "copy")],
        calls=[HostCall("x", 1, 2)],
    )
    with open_profile(tmp_path) as profile:
        found = [row[:2] for row in rows(profile, "step.copy")]
    assert found == [
        (1, "all"), (1, "device to device"), (2, "all"), (2, "other"), (None, "all"), (None, None)
    ]  # fmt: skip


@pytest.mark.parametrize("schema", ["2026", "2025"])
@pytest.mark.slow
def test_text_exports_give_the_copies_and_overlaps_of_their_database(tmp_path: Path, schema: Literal["2026", "2025"]) -> None:
    generate(tmp_path, Shape(steps=2, layers=1, schema=schema), ranks=1, style=TextStyle(exports="both"))
    with open_profile(tmp_path, source="db") as profile:
        of_database = [rows(profile, table) for table in ("step.copy", "step.communication")]
    with open_profile(tmp_path, source="text") as profile:
        copies, overlaps = [rows(profile, table) for table in ("step.copy", "step.communication")]
    (all_copies, *_) = of_database[0]
    assert all_copies[:3] == (10, "all", 1) and all_copies[7] == 1024
    assert overlaps == of_database[1]
    # Text of 2025 has neither bytes nor directions.
    unknown = {"2025": [(*row[:7], None, row[2], row[9]) for row in of_database[0]], "2026": of_database[0]}[schema]
    assert [(row[0], *row[2:]) for row in copies] == [(row[0], *row[2:]) for row in unknown]
    assert {row[1] for row in copies} == {"2025": {"all", None}, "2026": {"all", "host to device"}}[schema]


@pytest.mark.slow
def test_copies_and_fills_of_a_gpu(tmp_path: Path) -> None:
    names = {
        "Memcpy HtoD (Pinned -> Device)": "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)": "gpu_memcpy",
        "Memcpy PtoP (Device -> Device)": "gpu_memcpy", "CopyDeviceToHost": "gpu_memcpy", "Memset (Device)": "gpu_memset",
    }  # fmt: skip
    events = [kineto.event("user_annotation", "ProfilerStep#3", 0, 9000)]
    events += [kineto.op("aten::to", 100, 8000, 1), kineto.kernel("gemm", 10_000, 11_000, 99), kineto.launch(200, 210, 99, 1)]
    for number, (name, category) in enumerate(names.items(), 1):
        start = 10_500 + 1000 * number
        arguments = {} if number == 4 else {"bytes": 100 * number}
        events += [kineto.launch(1000 * number, 1000 * number + 10, number, 1)]
        events += [kineto.kernel(name, start - 750, start, number, 8, category, arguments)]
    trace = kineto.write_trace(tmp_path / "trace.json.gz", events)
    assert gzip.decompress(trace.read_bytes())
    with open_profile(trace) as profile:
        found = rows(profile, "step.copy")
        (step,) = profile.rows("FROM step.time")
    assert found == [
        (3, "all", 5, 3750, 250, 3500, 0, 1100, 1, 750),
        (3, "device to device", 1, 750, 0, 750, 0, 300, 0, 750),
        (3, "device to host", 2, 1500, 0, 1500, 0, 200, 1, 750),
        (3, "fill", 1, 750, 0, 750, 0, 500, 0, 750),
        (3, "host to device", 1, 750, 250, 500, 0, 100, 0, 750),
    ]
    assert (step["copying_not_overlapped_ns"], step["host_ns"]) == (3500, 9000)


@pytest.mark.parametrize(
    ("folder", "count", "copying_ns"),
    [
        pytest.param("alexnet_ddp_910b/db/level1", 24, 866_699, id="database"),
        pytest.param("alexnet_ddp_910b/text/level1", 24, 878_857, id="text"),
        pytest.param("alexnet_ddp_910a/text/level1", 17, 3_187_112, id="40 more are copies of communication operators"),
    ],
)
@pytest.mark.slow
def test_copies_of_alexnet(realdata: Path, folder: str, count: int, copying_ns: int) -> None:
    with open_profile(realdata / folder) as profile:
        found = profile.rows("SELECT copy_count, copying_ns, size_bytes FROM step.copy WHERE direction = 'all' AND rank_id = 0")
        sums = profile.rows(
            "SELECT bool_and(t.communication_ns = c.communication_ns AND t.overlapped_ns = c.overlapped_ns) AS holds, "
            "count(*) AS n FROM step.time AS t JOIN step.communication AS c USING (profile, step_id) WHERE c.level = 'step'"
        )
    assert found == [{"copy_count": count, "copying_ns": copying_ns, "size_bytes": None}]
    assert sums == [{"holds": True, "n": 2}]
