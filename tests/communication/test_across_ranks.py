"""Communication of a group over all ranks, and the type of operators that only their names tell."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.engine.database import connect
from tests.helpers.frames import arrow_of
from tests.helpers.planes import Task, add_tasks
from tests.helpers.small_profile import Kernel, edit, write_profile

NO_TASKS = "the profile has no tasks of it: profiler_level was Level0, or trace_view.json is missing"


def test_a_group_over_all_ranks_is_the_sum_of_its_ranks(tmp_path: Path) -> None:
    for rank, (size, end) in enumerate([(100, 1010), (7000, 1090), (0, 0)]):
        start, other = (
            Kernel("hcom_allReduce_", start, start + 500, kind="communication", group="dp") for start in (1000, 2000)
        )
        database = write_profile(tmp_path / f"r{rank}_ascend_pt", unlinked=[start, other], rank=rank)
        if end:
            tasks = [
                Task(0, "Memcpy", 1, 1000, end, 1, "HCCS", size),
                Task(0, "Notify_Wait", 1, end, end + 100),
                Task(1, "Notify_Wait", 1, 2000, 2010 + rank),
            ]
            add_tasks(database, tasks[: 3 - rank])
    with open_profile(tmp_path) as profile:
        (row,) = profile.table("across.communication_group_time", arrow=True).to_pylist()
    assert row == {
        "group_name": "dp", "kind": "collective", "type": "hcom_allReduce_", "op_count": 6, "elapse_ns": 3000,
        "transit_ns": 100, "wait_ns": 210, "synchronization_ns": 10, "idle_ns": 1190, "unknown_ns": 1500, "reason": NO_TASKS,
        "longest_plane_wait_ns": 210, "size_bytes": 7100, "transfer_ns": 100, "bandwidth_gb_s": 71.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("hcom_allReduce__868_0_1", "hcom_allReduce_"),
        ("hcom_allReduce__868_0_1@7320894868", "hcom_allReduce_"),
        ("hcom_allGather__483_11", "hcom_allGather_"),  # 2023
        ("hcom_send__7", "hcom_send_"),
        ("hcom_batchSendRecv__128_3_1@a@b", "hcom_batchSendRecv_"),
        ("hcom_allReduce_AicpuKernel__2_3_4", "hcom_allReduce_AicpuKernel_"),
        ("hcom_allReduce_", None),
        ("hcom_allReduce__868_0_1_x", None),
        ("allreduceAicpuKernel", None),
        ("__1_2_3", None),
        ("", None),
        (None, None),
    ],
)
def test_the_type_is_what_the_numbers_in_the_name_follow(name: str | None, type_: str | None) -> None:
    with connect(threads=1) as connection:
        assert connection.execute("SELECT type_of_communication($name)", {"name": name}).fetchone() == (type_,)


def test_where_no_type_was_collected_all_answers_take_that_of_the_name(tmp_path: Path) -> None:
    kernels = [Kernel("hcom_allGather_", 10 * number, 10 * number + 5, kind="communication", type=None) for number in range(3)]
    database = write_profile(tmp_path / "a_ascend_pt", unlinked=kernels)
    edit(
        database,
        """
        UPDATE STRING_IDS SET value = 'hcom_allGather__483_11' WHERE value = 'hcom_allGather__904_1_1';
        UPDATE STRING_IDS SET value = 'gather' WHERE value = 'hcom_allGather__904_2_1';
        """,
    )
    with open_profile(tmp_path) as profile:
        counts = {row["type"]: row["op_count"] for row in arrow_of(profile.communication_stats()).to_pylist()}
        types = [row["type"] for row in arrow_of(profile.communication_time()).to_pylist()]
    assert counts == {"hcom_allGather_": 2, None: 1}
    assert types == ["hcom_allGather_", "hcom_allGather_", None]
