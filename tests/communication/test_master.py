"""Which plane the time of an operator is taken from: what the data say, and where they do not, why it is not known."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.small_profile import Kernel, Op, edit, write_profile


def kernels(*names: str) -> list[Kernel]:
    return [
        Kernel(name, 1000 * number, 1000 * number + 500, kind="communication", group="g")
        for number, name in enumerate(names, 1)
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


@pytest.mark.slow
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


@pytest.mark.slow
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
