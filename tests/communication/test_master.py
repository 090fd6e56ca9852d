"""Which plane the time of an operator is taken from: what the data say, and where they do not, why it is not known."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import Profile, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.planes import Task, add_tasks
from tests.helpers.small_profile import Kernel, Op, edit, write_profile

NO_MASTER = "its tasks are on several planes, and nothing says which is the master plane"
NOTHING = "no task of its master plane waits, or transfers over a link"
PARTS = ("elapse", "transit", "wait", "synchronization", "idle")


def splits(profile: Profile) -> list[tuple[Any, ...]]:
    """Of each operator its number, parts, bytes, time of transfers, origin and reason."""
    return [
        (row["name"].split("_")[4], *(row[f"{part}_ns"] for part in PARTS), row["size_bytes"], row["transfer_ns"],
         row["origin"], row["reason"])
        for row in arrow_of(profile.communication_time()).to_pylist()
    ]  # fmt: skip


def kernels(*names: str) -> list[Kernel]:
    return [
        Kernel(name, 1000 * number, 1000 * number + 500, kind="communication", group="g")
        for number, name in enumerate(names, 1)
    ]


def test_the_master_plane_is_the_one_that_is_named_else_the_only_one_else_that_of_rdma_else_plane_1(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", unlinked=kernels(*["hcom_allReduce_"] * 9))

    def pair(operator: int, plane: int, wait: int, master: int | None = None) -> list[Task]:
        """A wait and after it a transfer of 10 ns."""
        start = 1000 * (operator + 1)
        return [
            Task(operator, "Notify_Wait", plane, start, start + wait, master=master),
            Task(operator, "Memcpy", plane, start + wait, start + wait + 10, 1, "HCCS", 100, master),
        ]

    def other(operator: int, plane: int, type_: str, end: int = 5) -> Task:
        start = 1000 * (operator + 1)
        return Task(operator, type_, plane, start, start + end, None, "ON_CHIP" if type_ == "Memcpy" else None)

    tasks = [
        *pair(0, 0, 20),  # A ring: all on plane 0.
        *pair(1, 3, 30),  # The only plane, whatever its number.
        *[*pair(2, 0, 40), *pair(2, 1, 50), *pair(2, 2, 60)],  # Planes 0, 1, 2: the second.
        *[*pair(3, 0, 70), *pair(3, 2, 80)],  # Nothing says which.
        *[*pair(4, 0, 90, 0), *pair(4, 1, 100, 0), *pair(4, 2, 110, 1)],  # Named.
        *[*pair(5, 0, 100, 1), *pair(5, 1, 130, 1), *pair(5, 2, 400, 0)],  # Two are named: together.
        *[other(6, 0, "Memcpy"), other(6, 0, "Notify_Record")],  # A copy within the device.
        *[*pair(7, 0, 20), other(7, 1, "Notify_Record")],  # Plane 1 has nothing to tell.
        *[*pair(8, 4294967295, 20), *pair(8, 0, 15, -1)],  # Tasks without a plane beside such with one.
    ]
    add_tasks(database, tasks)
    with open_profile(tmp_path) as profile:
        found = splits(profile)
        (whole,) = arrow_of(profile.communication_time("rank")).to_pylist()
    unknown = (None,) * 4
    assert found == [
        ("0", 500, 10, 20, 20, 470, 100, 10, "planes", None),
        ("1", 500, 10, 30, 30, 460, 100, 10, "planes", None),
        ("2", 500, 10, 50, 50, 440, 300, 30, "planes", None),
        ("3", 500, *unknown, 200, 20, None, NO_MASTER),
        ("4", 500, 10, 110, 110, 380, 300, 30, "planes", None),
        # Waits until 130 but for a transfer from 100 to 110, then another one.
        ("5", 500, 20, 120, 100, 360, 300, 30, "planes", None),
        ("6", 500, *unknown, None, None, None, NOTHING),
        ("7", 500, *unknown, 100, 10, None, NOTHING),
        ("8", 500, 10, 15, 15, 475, 100, 10, "planes", None),
    ]
    assert (whole["unknown_ns"], whole["idle_ns"], whole["reason"]) == (1500, 2585, f"{NO_MASTER}; {NOTHING}")


def test_a_transfer_over_rdma_lasts_until_the_other_rank_has_answered(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", unlinked=kernels("hcom_allReduce_", "hcom_send_", "hcom_allGather_"))
    rdma = "RDMASend"

    def sequence(operator: int, plane: int, *steps: tuple[str, int, int]) -> list[Task]:
        start = 1000 * (operator + 1)
        return [
            Task(operator, type_, plane, start + begin, start + begin + 5, 9, "ROCE" if type_ == rdma else None, size)
            for type_, begin, size in steps
        ]

    wait = "Notify_Wait"
    tasks = [
        # Two tasks post the payload; a message, a wait; and once more so that both know it.
        *sequence(
            0, 0, (wait, 0, 0), (rdma, 10, 400), (rdma, 20, 600), (rdma, 30, 4), (wait, 40, 0), (rdma, 50, 4), (wait, 95, 0)
        ),
        *sequence(0, 0, (wait, 200, 0)),
        *sequence(0, 1, (wait, 0, 0)),
        # Between two ranks one answer is enough.
        *sequence(1, 2, (rdma, 10, 300), (rdma, 20, 4), (wait, 30, 0), (wait, 40, 0)),
        # The profile ends before the answer.
        *sequence(2, 0, (rdma, 10, 300), (rdma, 20, 4), (wait, 30, 0)),
    ]
    add_tasks(database, tasks)
    with open_profile(tmp_path) as profile:
        found = splits(profile)
        links = arrow_of(profile.communication_time("link")).to_pylist()
    assert found == [
        ("0", 500, 90, 10, 5, 400, 1000, 90, "planes", None),
        ("1", 500, 25, 5, 0, 470, 300, 25, "planes", None),
        ("2", 500, 0, 5, 5, 495, None, None, "planes", None),
    ]
    shown = ("type", "destination_rank", "link", "transfer_count", "size_bytes", "duration_ns")
    assert [tuple(link[column] for column in shown) for link in links] == [
        ("allreduce", 9, "RDMA", 2, 1000, 90),
        ("send", 9, "RDMA", 1, 300, 25),
    ]


def write_recorded(folder: Path, operators: dict[str, tuple[int, int, int, int]]) -> None:
    """Write analysis.db with start, elapse, transit and wait of operators in ns."""
    with closing(sqlite3.connect(folder / "ASCEND_PROFILER_OUTPUT" / "analysis.db")) as database, database:
        database.execute(
            "CREATE TABLE CommAnalyzerTime (hccl_op_name, group_name, start_timestamp, elapse_time, transit_time, wait_time,"
            " synchronization_time, idle_time, step, type)"
        )
        for name, (start, elapse, transit, wait) in operators.items():
            times = (elapse / 10**6, transit / 10**6, wait / 10**6, 0, 0)
            database.execute(
                f"INSERT INTO CommAnalyzerTime VALUES ({', '.join('?' * 10)})", (name, "1", start / 10**3, *times, "step", None)
            )


def names(count: int) -> list[str]:
    return [f"hcom_allReduce__904_{number}_1" for number in range(count)]


def test_what_the_profiler_worked_out_is_taken_where_planes_do_not_say_it(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt"
    long = [
        Kernel("hcom_allReduce_", 10**5 * number, 10**5 * number + 50_000, kind="communication", group="g")
        for number in range(1, 5)
    ]
    database = write_profile(folder, unlinked=long)
    tasks = [
        Task(operator, "Notify_Wait", plane, 10**5 * (operator + 1), 10**5 * (operator + 1) + 20_000)
        for operator, planes in enumerate([(0, 2), (0, 1), (0, 1), (1,)])
        for plane in planes
    ]
    add_tasks(database, tasks)
    times = [(20_001, 3), (20_400, 0), (700, 5_000), (0, 0)]
    write_recorded(folder, {
        name: (10**5 * number, 50_000, transit, wait)
        for number, (name, (wait, transit)) in enumerate(zip(names(4), times, strict=True), 1)
    })  # fmt: skip
    with open_profile(tmp_path) as profile:
        found = [(row[0], *row[2:4], *row[5:6], row[8]) for row in splits(profile)]
    assert found == [
        ("0", 3, 20_001, 29_996, "profiler"),  # Which plane is the master is not known.
        ("1", 0, 20_000, 30_000, "planes"),  # Both say the same, but for some ns.
        ("2", 5_000, 700, 44_300, "profiler"),  # It was another plane.
        ("3", 0, 0, 50_000, "profiler"),
    ]


def test_an_operator_that_lost_its_name_counts_once(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt"
    database = write_profile(folder, unlinked=[*kernels(*["hcom_allReduce_"] * 4)])
    edit(
        database,
        """
        DELETE FROM STRING_IDS WHERE value LIKE 'hcom%_904_1_1';
        UPDATE STRING_IDS SET value = 'x' WHERE value LIKE 'hcom%_904_2_1';
        UPDATE STRING_IDS SET value = value || '@g' WHERE value LIKE 'hcom%_904_3_1';
        """,
    )
    # Beside a database all starts are as much off.
    recorded = {name: (1000 * number - 250, 500, number, 7) for number, name in enumerate(names(4), 1)}
    write_recorded(folder, recorded)
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.communication_time()).to_pylist()
        (statistic,) = arrow_of(profile.kernel_stats()).to_pylist()
    shown = ("name", "type", "start_ns", "elapse_ns", "transit_ns", "wait_ns", "origin")
    type_ = "hcom_allReduce_"
    assert [tuple(row[column] for column in shown) for row in found] == [
        ("hcom_allReduce__904_0_1", type_, 1000, 500, 1, 7, "profiler"),
        ("hcom_allReduce__904_1_1", type_, 2000, 500, 2, 7, "profiler"),
        ("x", type_, 3000, 500, 3, 7, "profiler"),
        ("hcom_allReduce__904_3_1@g", type_, 4000, 500, 4, 7, "profiler"),
    ]
    assert statistic["total_ns"] == 2000


@pytest.mark.parametrize("has_start", [True, False])
def test_what_is_no_kernel_counts_too_unless_it_may_be_one_without_a_name(tmp_path: Path, has_start: bool) -> None:
    folder = tmp_path / "a_ascend_pt"
    database = write_profile(folder, unlinked=kernels(*["hcom_allReduce_"] * 3))
    edit(database, "DELETE FROM STRING_IDS WHERE value LIKE 'hcom%_904_1_1'")
    write_recorded(folder, {name: (1000 * number, 500, 1, 7) for number, name in enumerate(names(5), 1)})
    if not has_start:
        edit(folder / "ASCEND_PROFILER_OUTPUT" / "analysis.db", "UPDATE CommAnalyzerTime SET start_timestamp = NULL")
    with open_profile(tmp_path) as profile:
        found = [(row["name"], row["start_ns"], row["origin"]) for row in arrow_of(profile.communication_time()).to_pylist()]
    first, second, third, fourth, fifth = names(5)
    of_kernels = [(first, 1000, "profiler"), (second if has_start else None, 2000, "profiler" if has_start else None)]
    others = [(fourth, None, "profiler"), (fifth, None, "profiler")] if has_start else []
    assert found == [*of_kernels, (third, 3000, "profiler"), *others]


def test_an_operator_of_another_step_counts_once(tmp_path: Path) -> None:
    """Its op starts in step 7, and the profiler puts it into step 6."""
    folder = tmp_path / "a_ascend_pt"
    op = Op("reduce", 100, 110, tuple(kernels("hcom_allReduce_")))
    write_profile(folder, [op], steps=[(6, 0, 90), (7, 90, 200)])
    write_recorded(folder, {names(1)[0]: (1000, 500, 1, 7), "hcom_allReduce__904_8_1": (9000, 500, 1, 7)})
    edit(folder / "ASCEND_PROFILER_OUTPUT" / "analysis.db", "UPDATE CommAnalyzerTime SET step = 'step6'")
    found = {}
    for step in (6, 7):
        with open_profile(tmp_path, step_id=step) as profile:
            found[step] = [row["name"] for row in arrow_of(profile.communication_time()).to_pylist()]
    assert found == {6: ["hcom_allReduce__904_8_1"], 7: names(1)}


def test_rows_that_are_there_twice_count_once(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt"
    database = write_profile(folder, unlinked=kernels("hcom_allReduce_", "hcom_allReduce_"))
    add_tasks(database, [Task(0, "Notify_Wait", 1, 1000, 1010), Task(0, "Memcpy", 1, 1010, 1030, 1, "HCCS", 80)])
    enums = ("ENUM_HCCL_DATA_TYPE", "ENUM_HCCL_LINK_TYPE", "ENUM_HCCL_TRANSPORT_TYPE")
    edit(
        database,
        "CREATE TABLE ENUM_HCCL_DATA_TYPE (id INTEGER, name TEXT); INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (4, 'FP32');"
        + "".join(
            # As torch_npu makes them: without a primary key.
            f"ALTER TABLE {enum} RENAME TO old; CREATE TABLE {enum} (id INTEGER, name TEXT);"
            f"INSERT INTO {enum} SELECT * FROM old; INSERT INTO {enum} SELECT * FROM old; DROP TABLE old;"
            for enum in enums
        )
        + "INSERT INTO COMMUNICATION_TASK_INFO SELECT * FROM COMMUNICATION_TASK_INFO;",
    )
    with open_profile(tmp_path) as profile:
        found = splits(profile)
        data_types = profile.sql("SELECT data_type FROM trace.communication", arrow=True).column(0).to_pylist()
    assert [row[:9] for row in found] == [
        ("0", 500, 20, 10, 10, 470, 80, 20, "planes"),
        ("1", 500, *(None,) * 7),
    ]
    assert data_types == ["FP32", "FP32"]


GROUPS = {"pair": {"group_name": "dp", "group_rank": 0, "global_ranks": [0, 1]}, "four": {"global_ranks": [0, 1, 2, 3]}}
# Of the profiler, in ns: elapse, transit, wait and moving over links; then transit, wait, idle and unknown of the operator.
OF_IDLE_PLANES = [
    ("pair", (100, 0, 0, 60), (60, None, None, 40)),
    ("pair", (100, 0, 30, 60), (60, 30, 10, 0)),
    ("pair", (100, 0, 50, 60), (60, None, None, 40)),  # It waited on one plane while another one moved data.
    ("pair", (100, 0, 0, 160), (None, None, None, 100)),  # Several planes moved data at the same time.
    ("four", (100, 0, 0, 60), (None, None, None, 100)),  # So they may, between more than two ranks.
    ("pair", (100, 0, 30, 0), (0, 30, 70, 0)),
    ("pair", (100, 20, 30, 60), (20, 30, 50, 0)),
]


def test_a_transit_of_0_of_an_operator_that_moved_data_is_that_of_another_plane(tmp_path: Path) -> None:
    folder = tmp_path / "a_ascend_pt"
    (folder / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    (folder / "profiler_metadata.json").write_text(json.dumps({"parallel_group_info": GROUPS}))
    entries = {}
    for number, (group, (elapse, transit, wait, moving), _) in enumerate(OF_IDLE_PLANES):
        times = {"Elapse": elapse, "Transit": transit, "Wait": wait, "Synchronization": wait, "Idle": elapse - transit - wait}
        moved = {"Transit Size(MB)": moving, "Transit Time(ms)": moving / 10**6}
        entries[f"hcom_reduceScatter__1_{number}_1@{group}"] = {
            "Communication Time Info": {f"{name} Time(ms)": time / 10**6 for name, time in times.items()},
            "Communication Bandwidth Info": {"HCCS": moved, "SDMA": moved},
        }
    (folder / "ASCEND_PROFILER_OUTPUT" / "communication.json").write_text(json.dumps({"step": {"collective": entries}}))
    with open_profile(tmp_path) as profile:
        found = profile.rows("FROM communication.time ORDER BY name")
        (whole,) = profile.rows("FROM across.communication_time")
        unknown = profile.rows("FROM across.communication_unknown")
    columns = ("transit_ns", "wait_ns", "idle_ns")
    assert [tuple(row[column] for column in columns) for row in found] == [split[:3] for *_, split in OF_IDLE_PLANES]
    assert [row["transfer_ns"] for row in found] == [moving or None for _, (*_, moving), _ in OF_IDLE_PLANES]
    assert [row["reason"] is not None for row in found] == [split[3] > 0 for *_, split in OF_IDLE_PLANES]
    assert {row["origin"] for row in found} == {"profiler"}
    sums = [sum(split[part] or 0 for *_, split in OF_IDLE_PLANES) for part in range(4)]
    assert [whole[name] for name in (*columns, "unknown_ns")] == sums
    assert [(row["op_count"], row["elapse_ns"]) for row in unknown] == [(4, sums[3])]
