"""Communication operators as transfer, wait and idle: from planes, from what the profiler worked out, and from neither."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import Profile, open_profile
from prof_analysis.analyses import ANALYSES
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.planes import Task, add_tasks
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

# What the tests ask for, always the same, so that it is planned once.
TABLES = (
    *ANALYSES["communication-time"].tables,
    *(f"trace.{name}" for name in ("communication", "communication_task")),
    *(f"trace.reported_{name}" for name in ("communication", "transfer", "link")),
)
PARTS = ("elapse", "transit", "wait", "synchronization", "idle")
NO_TASKS = ("no tasks of it: profiler_level was Level0", "trace_view.json is missing")
NO_PLANE = ("no plane: profiler_level was Level0",)


def rows(profile: Profile, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query without profile and rank_id."""
    return [tuple(row.values())[2:] for row in profile.sql(query, arrow=True).to_pylist()]


@contextmanager
def opened(folder: Path, **options: Any) -> Iterator[Profile]:
    """A profile with its tables built in one go."""
    with open_profile(folder, **options) as profile:
        build_at_once(profile, *TABLES)
        yield profile


def operator(start: int, end: int, group: str) -> Kernel:
    return Kernel("hcom_allReduce_", start, end, kind="communication", group=group)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Operators 0 (in a module), 1 (outside, with waits only), 2 (no tasks) and 3 (tasks without a plane)."""
    folder = tmp_path_factory.mktemp("planes") / "a_ascend_pt"
    ops = [Op("send", 10, 20, (operator(1000, 2000, "dp"),)), Op("more", 200, 210, (operator(3000, 3500, "dp"),))]
    kernels = [operator(4000, 4100, "tp"), operator(5000, 5010, "tp")]
    database = write_profile(folder, ops, [Range("Net", 0, 100)], kernels)
    tasks = [
        Task(0, "Memcpy", 0, 1000, 1010, None, "ON_CHIP", 640),
        Task(0, "Notify_Record", 1, 1000, 1005),
        Task(0, "Notify_Wait", 1, 1005, 1105),
        Task(0, "Reduce_Inline", 1, 1200, 1300, 1, "HCCS", 2000),
        Task(0, "Notify_Wait", 1, 1300, 1330),
        Task(0, "Memcpy", 1, 1400, 1450, 1, "ROCE", 1000),
        Task(0, "Notify_Wait", 2, 1010, 1900, 2),
        Task(0, "Memcpy", 2, 1900, 2000, 2, "HCCS", 4000),
        Task(1, "Notify_Wait", 1, 3100, 3200),
        Task(1, "Notify_Wait", 2, 3100, 3200),
        Task(3, "Memcpy", 4294967295, 5000, 5005),
    ]
    add_tasks(database, tasks)
    edit(
        database,
        """
        -- The same task ran before, in no operator, and once more in the next one.
        INSERT INTO TASK (startNs, endNs, deviceId, globalTaskId) VALUES (500, 600, 0, 7002), (3400, 3490, 0, 7002);
        -- What stands for nothing; neither does the task itself say what it does.
        UPDATE COMMUNICATION_TASK_INFO SET size = -1, linkType = 65534, transportType = 65534, taskType = 9999 WHERE opId = 3;
        CREATE TABLE META_DATA (name TEXT, value TEXT);
        INSERT INTO META_DATA VALUES ('parallel_group_info',
            '{"dp": {"group_name": "data", "group_rank": 0, "global_ranks": [3, 5, 8]}}');
        """,
    )
    return folder


def test_an_operator_is_transit_wait_and_idle_of_its_master_plane(small: Path) -> None:
    with opened(small) as profile:
        times = arrow_of(profile.communication_time()).to_pylist()
        groups = rows(profile, "FROM communication.group_time")
        modules = rows(profile, "FROM communication.module_time")
        (whole,) = rows(profile, "FROM communication.rank_time")
        links = rows(profile, "FROM communication.link")
        frame = profile.communication_time("rank")
    assert frame["elapse_ns"].tolist() == [1610]
    names = [f"hcom_allReduce__904_{number}_1" for number in range(4)]
    reduce, nothing = ("hcom_allReduce_", "collective"), (None,) * 10
    assert [tuple(row.values())[3:] for row in times] == [
        (names[0], *reduce, "dp", None, "inside modules", "", "Net", 1000, 1000,
         150, 130, 100, 720, 2, 890, 7000, 250, 28.0, "planes", None),
        (names[1], *reduce, "dp", None, "outside modules", None, None, 3000, 500,
         0, 100, 100, 400, 1, 100, None, None, None, "planes", None),
        (names[2], *reduce, "tp", None, "linked to no op", None, None, 4000, 100, *nothing, says(*NO_TASKS)),
        (names[3], *reduce, "tp", None, "linked to no op", None, None, 5000, 10, *nothing, says(*NO_PLANE)),
    ]  # fmt: skip
    both = says(*NO_PLANE, *NO_TASKS)
    dp = (2, 1500, 150, 230, 200, 1120, 0, None, 990, 7000, 250, 28.0)
    tp = (2, 110, None, None, None, None, 110, both, None, None, None, None)
    assert groups == [("dp", "collective", "hcom_allReduce_", *dp), ("tp", "collective", "hcom_allReduce_", *tp)]
    assert modules == [
        ("inside modules", "", "Net", 1, 1000, 150, 130, 100, 720, 0, None, 890, 7000, 250, 28.0),
        ("outside modules", None, None, 1, 500, 0, 100, 100, 400, 0, None, 100, None, None, None),
        ("linked to no op", None, None, *tp),
    ]
    assert whole == (4, 1610, 150, 230, 200, 1120, 110, both, 990, 7000, 250, 28.0)
    assert links == [
        ("allreduce", "dp", "data", 0, 2, 3, 8, "HCCS", 1, 1, 4000, 100, 40.0, "planes"),
        ("allreduce", "dp", "data", 0, 1, 3, 5, "HCCS", 1, 1, 2000, 100, 20.0, "planes"),
        ("allreduce", "dp", "data", 0, 1, 3, 5, "ROCE", 1, 1, 1000, 50, 20.0, "planes"),
        ("allreduce", "dp", "data", 0, 0, 3, 3, "ON_CHIP", 1, 1, 640, 10, 64.0, "planes"),
    ]


def test_the_command_prints_the_parts_and_writes_a_table_of_each_kind(
    small: Path, tmp_path: Path, command: Callable[..., Result]
) -> None:
    result = command("communication-time", "-d", small, "-o", tmp_path, "--top", "1")
    database = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == says("warning", "1 of at least 9 ranks", "figures over ranks")
    assert [" ".join(line.split()) for line in result.stdout.splitlines() if line] == [
        "type group operators elapse transit wait idle GB/s synchronization longest plane wait",
        "hcom_allReduce_ dp 2 1.50 us 150 ns 230 ns 1.12 us 28.0 200 ns 990 ns",
        says("communication 1.61 us", "transit 150 ns", "wait 230 ns", "idle 1.12 us", "1 rank"),
        says("waiting for other ranks: 950 ns", "waits longest", "master planes", "communication.json"),
        says("not split: 100 ns in 1 operator", *NO_TASKS),
        says("not split: 10 ns in 1 operator", *NO_PLANE),
        says("1 of at least 9 ranks", "recorded groups"),
        f"wrote {database}",
    ]
    with closing(sqlite3.connect(database)) as reader:
        cursor = reader.execute("SELECT * FROM CommunicationRankTime")
        assert [column[0] for column in cursor.description] == [
            *("profile", "rank_id", "op_count", "elapse_ns", "transit_ns", "wait_ns", "synchronization_ns", "idle_ns"),
            *("unknown_ns", "reason", "longest_plane_wait_ns", "size_bytes", "transfer_ns", "bandwidth_gb_s"),
        ]
        counts = {
            name: reader.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE name LIKE 'Communication%'")
        }
    assert counts == {
        "CommunicationTime": 4,
        "CommunicationGroupTime": 2,
        "CommunicationModuleTime": 3,
        "CommunicationRankTime": 1,
        "CommunicationLink": 4,
        "CommunicationGroupTimeAllRanks": 2,
    }


def operators_of(file: Path) -> dict[str, dict[str, Any]]:
    """The entries of a communication.json or communication_matrix.json by what stands before the @."""
    steps = json.loads(file.read_text(), parse_float=Decimal)
    return {name.split("@")[0]: entry for step in steps.values() for kind in step.values() for name, entry in kind.items()}


def assert_as_in_communication_json(profile: Profile, files: dict[str, Path], tolerance_ns: str = "0.5") -> int:
    """Hold the operators of ranks against the files of the profiler; give how many there were."""
    times = {(row["profile"], row["name"]): row for row in arrow_of(profile.communication_time()).to_pylist()}
    count = 0
    present = {row["profile"] for row in profile.ranks(arrow=True).to_pylist()}
    for name, file in ((name, file) for name, file in files.items() if name in present):
        for operator_name, entry in operators_of(file).items():
            if operator_name == "Total Op Info":
                continue
            row, count = times[name, operator_name], count + 1
            recorded = {part: entry["Communication Time Info"][f"{part.capitalize()} Time(ms)"] * 10**6 for part in PARTS}
            moved_ns = entry["Communication Bandwidth Info"]["SDMA"]["Transit Time(ms)"] * 10**6
            if recorded["transit"] == 0 and moved_ns:
                # The file's times are of a plane that moved nothing.
                assert row["transit_ns"] is None or abs(row["transit_ns"] - moved_ns) <= Decimal(tolerance_ns)
                assert (row["wait_ns"] is None) == (row["idle_ns"] is None) == (row["reason"] is not None)
            else:
                for part in PARTS:
                    # The file has fractions of a ns; idle is the rest of whole ones.
                    assert abs(row[f"{part}_ns"] - recorded[part]) <= Decimal(tolerance_ns) + (part == "idle")
                assert row["elapse_ns"] == row["transit_ns"] + row["wait_ns"] + row["idle_ns"]
            links = {
                link: (round(moved["Transit Size(MB)"] * 10**6), moved["Bandwidth(GB/s)"])
                for link, moved in entry["Communication Bandwidth Info"].items()
                if moved["Transit Size(MB)"]
            }
            assert links.pop("SDMA", (None,))[0] == row["size_bytes"]
            for size, bandwidth in links.values():
                inexact = Decimal("0.001") * bandwidth if tolerance_ns != "0.5" else 0
                assert size == row["size_bytes"]
                assert abs(Decimal(row["bandwidth_gb_s"]) - bandwidth) <= Decimal("0.00005") + inexact
    return count


def assert_as_in_the_matrix(profile: Profile, files: dict[str, Path]) -> int:
    """Hold the links of ranks against the totals of communication_matrix.json, over all steps; give how many there were."""
    links: dict[tuple[str, ...], Any] = {
        (row["profile"], row["type"], row["group_name"], f"{row['source_rank']}-{row['destination_rank']}", row["link"]): row
        for row in arrow_of(profile.communication_time("link")).to_pylist()
    }
    moved: dict[tuple[str, ...], list[Decimal]] = {key: [Decimal(0), Decimal(0)] for key in links}
    present = {row["profile"] for row in profile.ranks(arrow=True).to_pylist()}
    for name, file in ((name, file) for name, file in files.items() if name in present):
        for step in json.loads(file.read_text(), parse_float=Decimal).values():
            for key, pairs in [*step["p2p"].items(), *step["collective"].items()]:
                type_, _, group = key.partition("-total@")
                for pair, entry in pairs.items() if group else ():
                    place = (name, type_, group, pair, entry["Transport Type"].replace("LOCAL", "ON_CHIP"))
                    moved[place][0] += entry["Transit Size(MB)"] * 10**6
                    moved[place][1] += entry["Transit Time(ms)"] * 10**6
    for key, (size, duration) in moved.items():
        assert links[key]["size_bytes"] == round(size)
        assert abs(links[key]["duration_ns"] - duration) <= Decimal("0.51")
        assert links[key]["bandwidth_gb_s"] == pytest.approx(float(size / duration), rel=1e-3)
    return len(links)


def outputs(folder: Path, name: str) -> dict[str, Path]:
    return {file.parent.parent.name: file for file in folder.glob(f"*_ascend_pt/ASCEND_PROFILER_OUTPUT/{name}")}


def test_in_a_trace_a_task_belongs_to_the_operator_of_its_group_that_runs_then(tmp_path: Path) -> None:
    """Two groups at the same time: each has a row of threads for its operators, and its planes behind it."""
    threads = ["Group 7 Communication", "Plane 0", "Plane 1", "Group 8 Communication", "Plane 1", "Plane x"]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "thread_name", "pid": 5, "tid": tid, "args": {"name": name}} for tid, name in enumerate(threads)
    ] * 2  # A row that is named twice is one.

    def add(tid: int, name: str, start: int, duration: float, args: dict[str, Any]) -> None:
        time = f"17364088837322{start}.000"
        events.append({"ph": "X", "name": name, "pid": 5, "tid": tid, "ts": time, "dur": duration, "args": args})

    for tid, name, start in ((0, "hcom_a__7_0_1", 10), (0, "hcom_a__7_1_1", 30), (3, "hcom_a__8_0_1", 20)):
        add(tid, name, start, 15, {"alg_type": "RING", "data_type": "N/A", "count": 4, "connection_id": 1})
    wait = {"transport type": "LOCAL", "link type": "INVALID_TYPE", "src rank": 0, "dst rank": 4294967295, "size(Byte)": 0}
    for tid, start in ((2, 12), (4, 22), (4, 34), (2, 31), (2, 45), (2, 46), (5, 31), (9, 31)):
        add(tid, "Notify_Wait", start, 0.0015, wait)
    (tmp_path / "trace_view.json").write_text(json.dumps(events))
    with opened(tmp_path) as profile:
        tasks = rows(
            profile,
            """
            SELECT task.profile, task.rank_id, name, group_name, data_type, plane, is_master, transport, link, destination_rank,
                task.start_ns % 100000, task.end_ns - task.start_ns, duration_ps
            FROM trace.communication_task AS task JOIN trace.kernel USING (kernel_id) JOIN trace.communication USING (kernel_id)
            ORDER BY ALL
            """,
        )
    of_task = (None, "LOCAL", None, None)
    assert tasks == [
        ("hcom_a__7_0_1", "7", None, 1, *of_task, 12_000, 2, 1_500),
        ("hcom_a__7_1_1", "7", None, 1, *of_task, 31_000, 2, 1_500),
        ("hcom_a__7_1_1", "7", None, 1, *of_task, 45_000, 2, 1_500),
        ("hcom_a__8_0_1", "8", None, 1, *of_task, 22_000, 2, 1_500),
        ("hcom_a__8_0_1", "8", None, 1, *of_task, 34_000, 2, 1_500),
        ("hcom_a__8_0_1", "8", None, None, None, "LOCAL", None, None, 31_000, 2, 1_500),
    ]


@pytest.mark.slow
def test_alexnet_text_is_what_the_profiler_worked_out(realdata: Path) -> None:
    folder = realdata / "alexnet_ddp_910b" / "text" / "level1"
    with opened(folder) as profile:
        assert assert_as_in_communication_json(profile, outputs(folder, "communication.json")) == 8
        assert assert_as_in_the_matrix(profile, outputs(folder, "communication_matrix.json")) == 16
        (row,) = [row for row in arrow_of(profile.communication_time()).to_pylist() if row["elapse_ns"] == 79_089_520]
        assert (row["wait_ns"], row["idle_ns"]) == (5_646_633, 73_203_702)
        assert (row["longest_waiting_plane"], row["longest_plane_wait_ns"]) == (5, 78_770_034)
        assert rows(profile, "SELECT profile, rank_id, algorithm, data_type, element_count FROM trace.communication")[0] == (
            "MESH-RING", "FP32", 4_097_000
        )  # fmt: skip


@pytest.mark.slow
def test_910a_rings_run_on_plane_0_and_are_split_as_the_profiler_did(realdata: Path) -> None:
    folder = realdata / "alexnet_ddp_910a" / "text" / "level1"
    with opened(folder) as profile:
        assert assert_as_in_communication_json(profile, outputs(folder, "communication.json")) == 8
        assert assert_as_in_the_matrix(profile, outputs(folder, "communication_matrix.json")) == 4
        sums = [tuple(row[f"{part}_ns"] for part in PARTS) for row in arrow_of(profile.communication_time("rank")).to_pylist()]
        origins = rows(profile, "SELECT DISTINCT NULL, NULL, origin, reason FROM communication.time")
    # communication.json, ms: 70.787347125, 8.826838875, 58.9920485, 51.630735875, 2.96845975.
    assert sums[0] == (70_787_347, 8_826_840, 58_992_049, 51_630_736, 2_968_458)
    assert origins == [("planes", None)]


@pytest.mark.slow
def test_alexnet_database_is_within_5_ns_of_what_the_profiler_worked_out(realdata: Path) -> None:
    with opened(realdata / "alexnet_ddp_910b" / "db" / "level1") as profile:
        differences = rows(
            profile,
            """
            SELECT
                time.profile,
                time.rank_id,
                greatest(
                    abs(time.elapse_ns - recorded.elapse_ns), abs(time.transit_ns - recorded.transit_ns),
                    abs(time.wait_ns - recorded.wait_ns), abs(time.idle_ns - recorded.idle_ns),
                    abs(time.synchronization_ns - recorded.synchronization_ns), abs(time.transfer_ns - moved.duration_ns)
                ) AS difference_ns,
                time.size_bytes = moved.size_bytes AS has_size,
                time.origin
            FROM communication.time
            JOIN trace.reported_communication AS recorded USING (profile, name)
            JOIN trace.reported_transfer AS moved USING (profile, name)
            """,
        )
        links = rows(
            profile,
            """
            SELECT link.profile, link.rank_id, abs(link.duration_ns - recorded.duration_ns) <= 5 AND link.size_bytes =
                recorded.size_bytes AS agrees
            FROM communication.link
            JOIN trace.reported_link AS recorded USING (profile, type, source_rank, destination_rank, link)
            """,
        )
    assert len(differences) == 8
    assert all(row[0] <= 5 and row[1:] == (True, "planes") for row in differences)
    assert links == [(True,)] * 16


def union_ns(times: Iterable[tuple[int, int]]) -> int:
    """The time that intervals cover."""
    covered, reached = 0, 0
    for start, end in sorted(times):
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered


@pytest.mark.slow
def test_alexnet_without_planes_is_what_its_tasks_do(realdata: Path) -> None:
    folder = realdata / "alexnet_ddp_910b" / "db" / "level0"
    with opened(folder, rank_list=[0]) as profile:
        found = rows(profile, "SELECT profile, rank_id, transit_ns, wait_ns, idle_ns, origin, reason FROM communication.time")
    expected = []
    (database,) = folder.glob("rank0_ascend_pt/*/ascend_pytorch_profiler_0.db")
    with closing(sqlite3.connect(f"{database.as_uri()}?immutable=1", uri=True)) as reader:
        for operator_id, start, end in reader.execute("SELECT opId, startNs, endNs FROM COMMUNICATION_OP ORDER BY startNs"):
            tasks = reader.execute(
                "SELECT DISTINCT TASK.startNs, TASK.endNs, value FROM COMMUNICATION_TASK_INFO JOIN TASK USING (globalTaskId)"
                " JOIN STRING_IDS ON id = TASK.taskType WHERE opId = ?", (operator_id,)
            ).fetchall()  # fmt: skip
            transit = union_ns((one[0], one[1]) for one in tasks if one[2] == "SDMA")
            busy = union_ns((one[0], one[1]) for one in tasks if one[2] in ("SDMA", "Notify Wait"))
            expected.append((transit, busy - transit, end - start - busy, "tasks", None))
    assert found == expected
    assert [row[1] for row in found] == [74_785_234, 800_076, 8_921, 9_845_456]


@pytest.mark.slow
def test_qwen3_has_what_the_profiler_worked_out_and_nothing_else(realdata: Path) -> None:
    folder = realdata / "qwen3_0.6b_pp2dp2_910b"
    # Rank 0 has kernels, rank 1 has none.
    with opened(folder, rank_list=[0, 1]) as profile:
        assert assert_as_in_communication_json(profile, outputs(folder, "communication.json")) == 30
        assert assert_as_in_the_matrix(profile, outputs(folder, "communication_matrix.json")) > 20
        origins = rows(profile, "SELECT DISTINCT NULL, NULL, kernel_id IS NULL, origin FROM communication.time ORDER BY ALL")
        pipeline = rows(
            profile,
            """
            SELECT NULL, NULL, rank_id, group_label, source_rank, destination_rank, source_global_rank, destination_global_rank
            FROM communication.link
            WHERE type = 'batchsendrecv' AND link = 'HCCS'
            ORDER BY rank_id
            """,
        )
        unlabelled = rows(profile, "SELECT NULL, NULL, count(*) FROM communication.link WHERE destination_global_rank IS NULL")
    assert pipeline == [(0, "pp", 0, 1, 0, 2), (1, "pp", 0, 1, 1, 3)]
    assert unlabelled == [(0,)]
    assert origins == [(False, "profiler"), (True, "profiler")]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("generated")
    generate(folder, Shape(steps=1), ranks=2, seed=3, style=TextStyle(exports="both"))
    return folder


@pytest.mark.slow
def test_a_generated_profile_is_the_same_from_database_text_and_communication_json(generated: Path) -> None:
    # Only databases name the master plane.
    found, in_one = {}, "kernel_id, duration_ps, is_master"
    for source in ("db", "text"):
        with opened(generated, source=source, rank_list=[0]) as profile:
            # Times in the text have fractions of a ns that the others have not.
            assert assert_as_in_communication_json(profile, outputs(generated, "communication.json"), "1.5") == 4
            tasks = rows(profile, f"SELECT * EXCLUDE ({in_one}) FROM trace.communication_task ORDER BY ALL")
            facts = rows(profile, "SELECT * EXCLUDE (kernel_id) FROM trace.communication ORDER BY ALL")
            links = rows(profile, "SELECT * EXCLUDE (duration_ns, bandwidth_gb_s) FROM communication.link ORDER BY ALL")
            moved = rows(profile, "SELECT NULL, NULL, sum(size_bytes) AS size FROM communication.link WHERE link != 'ON_CHIP'")
            assert moved == rows(profile, "SELECT NULL, NULL, sum(size_bytes) AS size FROM communication.time")
            found[source] = (len(tasks), tasks, facts, links)
    assert found["db"] == found["text"]
    assert found["db"][0] == 24
