"""Sends and receives of two ranks are paired by their order, and what has no other end is counted with the reason."""

from pathlib import Path
from typing import Any

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


def pairs(folder: Path) -> list[tuple[Any, ...]]:
    shown = (
        "direction", "number", "source_rank", "destination_rank", "source_elapse_ns", "destination_elapse_ns", "waited_by",
        "waited_ns", "reason",
    )  # fmt: skip
    with open_profile(folder) as profile:
        return [tuple(row[name] for name in shown) for row in arrow_of(profile.communication_time("p2p")).to_pylist()]


def test_sends_and_receives_are_paired_in_their_order_whatever_the_clocks_say(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, [("send", 1, 1000, 1100), ("receive", 1, 1200, 1210), ("send", 1, 1300, 1330)])
    # This clock is 5 us ahead; the names differ, since each rank numbers its own operators.
    write_rank(tmp_path, 1, [("receive", 0, 6090, 6100), ("send", 0, 6170, 6210), ("receive", 0, 6300, 6330)])
    assert pairs(tmp_path) == [
        ("send", 0, 0, 1, 100, 10, "source", 90, None),
        ("send", 1, 0, 1, 30, 30, None, 0, None),
        ("send", 0, 1, 0, 40, 10, "source", 30, None),
    ]
    with open_profile(tmp_path) as profile:
        first = arrow_of(profile.communication_time("p2p")).to_pylist()[0]
    assert first == {
        "group_name": "pp", "direction": "send", "number": 0, "source_rank": 0, "destination_rank": 1,
        "source_global_rank": 0, "destination_global_rank": 1, "source_profile": "r0_ascend_pt",
        "destination_profile": "r1_ascend_pt", "source_name": "hcom_send__904_0_1", "destination_name": "hcom_receive__904_0_1",
        "source_start_ns": 1000, "source_elapse_ns": 100, "destination_start_ns": 6090, "destination_elapse_ns": 10,
        "size_bytes": 64, "waited_by": "source", "waited_ns": 90, "reason": None,
    }  # fmt: skip


def test_operators_that_do_both_are_paired_for_each_other_rank(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, [("batchSendRecv", 1, 1000, 1100)])
    write_rank(tmp_path, 1, [("batchSendRecv", 0, 1000, 1110), ("batchSendRecv", 2, 1200, 1260)])
    write_rank(tmp_path, 2, [("batchSendRecv", 1, 1250, 1260)])
    assert pairs(tmp_path) == [
        ("both", 0, 0, 1, 100, 110, "destination", 10, None),
        ("both", 0, 1, 2, 60, 10, "source", 50, None),
    ]


def test_what_has_no_other_end_says_why(tmp_path: Path) -> None:
    # Two sends against one receive, as where one rank was recorded longer: nothing says which of the two it is, since the
    # clocks lie apart; and a rank that was not recorded.
    write_rank(tmp_path / "count", 0, [("send", 1, 1000, 1100), ("send", 1, 1200, 1300), ("receive", 7, 1400, 1401)])
    write_rank(tmp_path / "count", 1, [("receive", 0, 91_200, 91_300)])
    other = "the other rank has none of them here"
    assert pairs(tmp_path / "count") == [
        ("send", 0, 0, 1, 100, None, None, None, "this rank has 2 of them, the other one 1"),
        ("send", 1, 0, 1, 100, None, None, None, "this rank has 2 of them, the other one 1"),
        ("send", 2, 0, 1, None, 100, None, None, "this rank has 1 of them, the other one 2"),
        ("send", 0, 7, 0, None, 1, None, None, other),
    ]


def test_where_one_rank_lacks_an_operator_the_others_keep_their_partners(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, [("send", 1, start, start + 50) for start in (1000, 1100, 1300, 1700)])
    write_rank(tmp_path, 1, [("receive", 0, start + 90_020, start + 90_050) for start in (1000, 1300, 1700)])
    assert [(row[1], row[4], row[5], row[8]) for row in pairs(tmp_path)] == [
        (0, 50, 30, None),
        (1, 50, None, "this rank has 4 of them, the other one 3"),
        (2, 50, 30, None),
        (3, 50, 30, None),
    ]


@pytest.mark.parametrize("group", ["12", None])
def test_groups_that_only_one_rank_knows_pair_nothing(tmp_path: Path, group: str | None) -> None:
    write_rank(tmp_path, 0, [("send", 1, 1000, 1100)], group=group)  # type: ignore[arg-type]
    write_rank(tmp_path, 1, [("receive", 0, 1000, 1100)], group=group)  # type: ignore[arg-type]
    assert [row[-1] for row in pairs(tmp_path)] == ["its group, or the other rank, has no name that both ranks know"] * 2


def test_a_real_pipeline_is_paired_whole(realdata: Path) -> None:
    with open_profile(realdata / "qwen3_0.6b_pp2dp2_910b") as profile:
        found = profile.rows(
            "SELECT source_global_rank, destination_global_rank, count(*) AS pairs, count(reason) AS unpaired,"
            " max(abs(source_start_ns + source_elapse_ns - destination_start_ns - destination_elapse_ns)) < 100000 AS is_near"
            " FROM across.p2p GROUP BY ALL ORDER BY ALL"
        )
    # All four ran on one host, whose clock shows that both ends finish together.
    assert [tuple(row.values()) for row in found] == [(0, 2, 3, 0, True), (1, 3, 3, 0, True)]
