"""Idle time by module, op and host call: a small profile in every column, and sums that close with the causes."""

from pathlib import Path

from prof_analysis import open_profile
from tests.helpers.small_profile import HostCall, Kernel, Launch, Op, Range, write_profile

WAITING, IN_OP, NOTHING = "waiting in a synchronise", "inside an op", "nothing recorded"
QUEUED, LOADING = "between queue and device", "data loading"
LOADER = "enumerate(DataLoader)#Iter.__next__"


def test_each_part_of_a_gap_has_one_work_and_its_place(tmp_path: Path) -> None:
    """Gaps: 1100..1700 behind .item() in Net; 1800..1802 before a kernel launched long before; 1900..5500 between two steps."""
    ops = [
        Op("aten::a", 910, 990, (Kernel("first", 1000, 1100),)),
        Op("aten::item", 1120, 1600),
        Op("aten::_local_scalar_dense", 1130, 1590),
        Op("aten::b", 1660, 1691),
        Op("aten::b2", 1691, 1699),
        Op("ProfilerStep#2", 5000, 9000),
        Op(LOADER, 5010, 5300),
        Op("aten::c", 5400, 5500),
    ]
    copy = Kernel("MEMCPY_ASYNC", 1160, 1190, kind="copy", copied=(4, 2))
    launches = [
        Launch(1140, 1150, (copy,), recorded_op=2),
        Launch(1680, 1690, (Kernel("after item", 1700, 1800),), recorded_op=3),
        Launch(1692, 1694, (Kernel("in time", 1802, 1900),), recorded_op=4),
        Launch(5450, 5460, (Kernel("next step", 5500, 5600),), recorded_op=7),
    ]
    write_profile(
        tmp_path / "a_ascend_pt",
        ops,
        [Range("Net", 1110, 1650)],
        steps=[(1, 900, 5000), (2, 5000, 9000)],
        launches=launches,
        calls=[HostCall("aclrtSynchronizeStream", 1200, 1500), HostCall("StreamSynchronize", 1210, 1490, type=5000)],
    )
    with open_profile(tmp_path) as profile:
        rows = profile.rows("FROM free.cause_of_op")
        assert list(rows[0]) == [
            *("profile", "rank_id", "is_between_steps", "cause", "work", "module", "op", "call", "function", "copies"),
            *("decade_ns", "gap_count", "total_ns", "behind_ns", "phase"),
        ]
        assert profile.rows("SELECT cause, total_ns FROM free.cause WHERE total_ns = 300") == [
            {"cause": WAITING, "total_ns": 300}
        ]
    # Behind the end of a launch comes the start of the kernel.
    # No calls of Python are recorded, and it is no server.
    assert {(row.pop("function"), row.pop("phase")) for row in rows} == {(None, None)}
    assert [tuple(row.values())[2:] for row in rows] == [
        (True, NOTHING, "between ops", None, None, None, None, 1000, 1, 3110 + 100, 0),
        (False, WAITING, "copy", "Net", "aten::item", "aclrtSynchronizeStream", "device to host", 100, 1, 300, 200),
        (True, LOADING, "load data", None, LOADER, None, None, 100, 1, 290, 0),
        (False, IN_OP, "launch", "Net", "aten::item", None, None, 100, 1, 20 + 50 + 100, 0),
        (False, NOTHING, "between ops", "Net", None, None, None, 10, 1, 10 + 50, 0),
        (True, IN_OP, "launch", None, "aten::c", None, None, 10, 1, 50, 0),
        (True, QUEUED, "start", None, "aten::c", None, None, 10, 1, 40, 0),
        (False, IN_OP, "launch", None, "aten::b", None, None, 100, 1, 20, 0),
        (False, NOTHING, "between ops", None, None, None, None, 10, 1, 10 + 10, 0),
        (False, QUEUED, "launch", None, "aten::b", "launch", None, 100, 1, 10, 0),
        (True, QUEUED, "launch", None, "aten::c", "launch", None, 10, 1, 10, 0),
        (False, QUEUED, "start", None, "aten::b", None, None, 10, 1, 10, 0),
        (False, IN_OP, "launch", "Net", "aten::item", "launch", None, 100, 1, 10, 0),
        (False, QUEUED, None, None, "aten::b2", None, None, 1, 1, 2, 0),
    ]
