"""Sends and receives of two ranks are paired by their order, and what has no other end is counted with the reason."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.planes import Task, add_tasks
from tests.helpers.small_profile import Kernel, edit, write_profile

# An operator: what it does, the rank at the other end, start and end.
Operator = tuple[str, int, int, int]


def write_rank(folder: Path, rank: int, operators: list[Operator], group: str = "pp", rank_id: int | None = None) -> None:
    """A rank of a group with operators, of which each moves 64 bytes and waits for its peer."""
    kernels = [Kernel(f"hcom_{what}_", start, end, kind="communication", group=group) for what, _, start, end in operators]
    database = write_profile(folder / f"r{rank}_ascend_pt", unlinked=kernels, rank=rank if rank_id is None else rank_id)
    tasks = []
    for number, (_, peer, start, end) in enumerate(operators):
        tasks.append(Task(number, "Notify_Wait", 1, start, end - 1, peer))
        tasks.append(Task(number, "Memcpy", 1, end - 1, end, peer, "HCCS", 64))
    add_tasks(database, tasks)
    edit(database, f"UPDATE COMMUNICATION_TASK_INFO SET srcRank = {rank}")


@pytest.mark.slow
def test_sends_and_receives_are_paired_in_their_order_whatever_the_clocks_say(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, [("send", 1, 1000, 1100), ("receive", 1, 1200, 1210), ("send", 1, 1300, 1330)])
    # This clock is 5 us ahead; the names differ, since each rank numbers its own operators.
    write_rank(tmp_path, 1, [("receive", 0, 6090, 6100), ("send", 0, 6170, 6210), ("receive", 0, 6300, 6330)])
    with open_profile(tmp_path) as profile:
        first, *others = arrow_of(profile.communication_time("p2p")).to_pylist()
    assert first == {
        "group_name": "pp", "direction": "send", "number": 0, "source_rank": 0, "destination_rank": 1,
        "source_global_rank": 0, "destination_global_rank": 1, "source_profile": "r0_ascend_pt",
        "destination_profile": "r1_ascend_pt", "source_name": "hcom_send__904_0_1", "destination_name": "hcom_receive__904_0_1",
        "source_start_ns": 1000, "source_elapse_ns": 100, "destination_start_ns": 6090, "destination_elapse_ns": 10,
        "size_bytes": 64, "waited_by": "source", "waited_ns": 90, "reason": None,
    }  # fmt: skip
    shown = ("number", "source_rank", "destination_rank", "source_elapse_ns", "destination_elapse_ns", "waited_by", "waited_ns")
    assert [tuple(row[name] for name in shown) for row in others] == [
        (1, 0, 1, 30, 30, None, 0),
        (0, 1, 0, 40, 10, "source", 30),
    ]


@pytest.mark.slow
def test_a_real_pipeline_is_paired_whole(realdata: Path) -> None:
    with open_profile(realdata / "qwen3_0.6b_pp2dp2_910b") as profile:
        found = profile.rows(
            "SELECT source_global_rank, destination_global_rank, count(*) AS pairs, count(reason) AS unpaired,"
            " max(abs(source_start_ns + source_elapse_ns - destination_start_ns - destination_elapse_ns)) < 100000 AS is_near"
            " FROM across.p2p GROUP BY ALL ORDER BY ALL"
        )
    # All four ran on one host, whose clock shows that both ends finish together.
    assert [tuple(row.values()) for row in found] == [(0, 2, 3, 0, True), (1, 3, 3, 0, True)]
