"""How long the job takes for a step: what the device idles between two steps counts for the later one."""

from pathlib import Path

from prof_analysis import open_profile
from tests.helpers.small_profile import Kernel, Op, write_profile

COLUMNS = "step_id, duration_ns, computing_ns, uncovered_ns, idle_ns"


def test_a_step_ends_with_its_last_kernel_and_begins_where_the_one_before_ended(tmp_path: Path) -> None:
    def reduce(start: int, end: int) -> Kernel:
        return Kernel("hcom_allReduce_", start, end, kind="communication")

    ops = [
        Op("aten::mm", 10, 20, (Kernel("mm", 30, 50), reduce(50, 60))),
        Op("aten::mm", 110, 120, (Kernel("mm", 100, 130), reduce(120, 150))),
        Op("aten::mm", 310, 320, (Kernel("mm", 330, 340), Kernel("mm", 350, 360))),  # Step 7 was not recorded.
    ]
    earlier = Kernel("mm", 12, 25)  # Launched before the recording began.
    database = write_profile(
        tmp_path / "a_ascend_pt", ops, unlinked=[earlier], steps=[(5, 0, 100), (6, 100, 200), (8, 300, 400)]
    )
    with open_profile(database.parents[1]) as profile:
        rows = profile.rows(f"SELECT {COLUMNS} FROM step.duration")
    assert [tuple(row.values()) for row in rows] == [
        (5, 35, 20, 10, 5),
        (6, 90, 30, 20, 40),
        (8, 30, 20, 0, 10),
    ]


def test_where_it_is_not_known_when_a_step_began_it_is_as_long_as_its_kernels(tmp_path: Path) -> None:
    (tmp_path / "kernel_details.csv").write_text(
        "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
        "3,0,a,MatMulV2,AI_CORE,10.000,5.000,0,20\n"
        "3,0,b,Add,AI_VECTOR_CORE,20.000,5.000,0,20\n"
        "4,0,a,MatMulV2,AI_CORE,100.000,7.000,0,20\n"
    )
    with open_profile(tmp_path) as profile:
        rows = profile.rows(f"SELECT {COLUMNS} FROM step.duration")
    assert [tuple(row.values()) for row in rows] == [(3, 15000, 10000, 0, 5000), (4, 7000, 7000, 0, 0)]


def test_a_first_step_beside_the_end_of_the_one_before_is_no_longer_than_the_others(tmp_path: Path) -> None:
    """The host runs ahead, and steps overlap on the device: 20 ns of each run beside the next one."""
    kernels = [
        [(40, 60, 1), (60, 120, 2)],
        [(100, 120, 1), (120, 180, 2)],
        [(160, 180, 1), (180, 240, 2)],
    ]
    ops = [
        Op(
            "aten::mm",
            10 + 60 * number,
            12 + 60 * number,
            tuple(Kernel("mm", *at[:2], stream=at[2]) for at in of_step),
        )
        for number, of_step in enumerate(kernels)
    ]
    earlier = [Kernel("mm", 20, 30), Kernel("mm", 42, 60, stream=2)]
    steps = [(number, 60 * number, 60 * number + 60) for number in range(3)]
    database = write_profile(tmp_path / "a_ascend_pt", ops, unlinked=earlier, steps=steps)
    with open_profile(database.parents[1]) as profile:
        rows = profile.rows("SELECT duration_ns FROM step.duration")
    assert [row["duration_ns"] for row in rows] == [60, 60, 60]
