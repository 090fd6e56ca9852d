"""What is found under a path: the number of each rank and of its device, and where that came from."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import open_profile
from prof_analysis.analyses.answerable import answered_by
from prof_analysis.sources.discovery import find_ranks
from tests.helpers.answers import NOT_IN_ONE_RANK, answered_without
from tests.helpers.discovery import OPS, RANGES, identities, write_info
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

NPU_INFO = "CREATE TABLE NPU_INFO (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO NPU_INFO VALUES {}"


RANK_DEVICE_MAP = "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER); INSERT INTO RANK_DEVICE_MAP VALUES {}"


def write_info_json(folder: Path, device: int, rank_id: int) -> None:
    place = folder / "PROF_000001_20260101000000000_ABCDEFGH" / f"device_{device}"
    place.mkdir(parents=True)
    (place / f"info.json.{device}").write_text(json.dumps({"rank_id": rank_id}), encoding="utf-8")


@pytest.mark.parametrize(
    ("told_by", "rank_id", "rank_id_from"),
    [
        (["db name", "info name", "map", "info.json"], 1, "ascend_pytorch_profiler_1.db"),
        (["db name", "info text", "map", "info.json"], 1, "ascend_pytorch_profiler_1.db"),
        (["info name", "map", "info.json"], 2, "profiler_info_2.json"),
        (["info text", "map", "info.json"], 3, "profiler_info.json"),
        (["info number", "map", "info.json"], 3, "profiler_info.json"),
        (["info without", "map", "info.json"], 4, "RANK_DEVICE_MAP"),
        (["info -1", "map", "info.json"], 4, "RANK_DEVICE_MAP"),
        (["info '-1'", "old map", "info.json"], 4, "RANK_DEVICE_MAP"),
        (["map", "info.json"], 4, "RANK_DEVICE_MAP"),
        (["map of -1", "info.json"], 5, "info.json.6"),
        (["old map of -1", "info.json"], 5, "info.json.6"),
        (["NPU_INFO", "info.json"], 5, "info.json.6"),
        (["map of -1", "info.json of -1"], None, None),
        (["info -1"], None, None),
        ([], None, None),
    ],
)
def test_the_rank_id_is_what_the_first_of_its_sources_says(
    tmp_path: Path, told_by: list[str], rank_id: int | None, rank_id_from: str | None
) -> None:
    folder = tmp_path / "a_ascend_pt"
    database = write_profile(folder, [Op("x", 1, 2, (Kernel("k", 5, 6, device=6),))], rank=1 if "db name" in told_by else None)

    def write_map(rank_column: str, device_column: str, rank: int) -> None:
        edit(database, f"CREATE TABLE RANK_DEVICE_MAP ({rank_column}, {device_column})")
        edit(database, f"INSERT INTO RANK_DEVICE_MAP VALUES ({rank}, 6)")

    says: dict[str, Callable[[], None]] = {
        "db name": lambda: None,
        "info name": lambda: write_info(folder, rank_id=3, name="profiler_info_2.json"),
        "info text": lambda: write_info(folder, rank_id="3"),
        "info number": lambda: write_info(folder, rank_id=3),
        "info without": lambda: write_info(folder),
        "info -1": lambda: write_info(folder, rank_id=-1),
        "info '-1'": lambda: write_info(folder, rank_id="-1"),
        "map": lambda: write_map("rankId", "deviceId", 4),
        "map of -1": lambda: write_map("rankId", "deviceId", -1),
        "old map": lambda: write_map("rank_id", "device_id", 4),
        "old map of -1": lambda: write_map("rank_id", "device_id", -1),
        "NPU_INFO": lambda: edit(database, NPU_INFO.format("(6, 'Ascend910B')")),
        "info.json": lambda: write_info_json(folder, device=6, rank_id=5),
        "info.json of -1": lambda: write_info_json(folder, device=6, rank_id=-1),
    }
    for source in told_by:
        says[source]()
    (rank,) = find_ranks(tmp_path)
    assert (rank.rank_id, rank.rank_id_from) == (rank_id, rank_id_from)
    assert rank.device_id == (6 if any("map" in source or source == "NPU_INFO" for source in told_by) else None)


def test_unnumbered_folders_and_duplicate_ranks_are_all_kept(tmp_path: Path) -> None:
    expected = []
    for n, (folder, rank) in enumerate([("a", 0), ("b", 0), ("c", None), ("d", None)]):
        ops = [Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1010 + n),))]
        write_profile(tmp_path / f"{folder}_ascend_pt", ops, RANGES, rank=rank)
        expected.append((f"{folder}_ascend_pt", rank, 10 + n))
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT profile, rank_id, duration_ns FROM trace.kernel ORDER BY profile")
        assert [tuple(row.values()) for row in found] == expected
    with open_profile(tmp_path, rank_list=[0]) as profile:
        assert profile.ranks()["profile"].tolist() == ["a_ascend_pt", "b_ascend_pt"]


def test_two_databases_in_one_folder_are_two_ranks(tmp_path: Path) -> None:
    first = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=0)
    second = write_profile(tmp_path / "moved", OPS, RANGES, rank=1)
    second.rename(first.with_name(second.name))
    assert identities(find_ranks(tmp_path / "a_ascend_pt")) == [
        ("a_ascend_pt/ascend_pytorch_profiler_0.db", 0),
        ("a_ascend_pt/ascend_pytorch_profiler_1.db", 1),
    ]


@pytest.mark.parametrize(("rank_0", "rank_1"), quick([(9, 8), (None, None)], 0))
def test_two_devices_in_one_folder_are_two_ranks_with_their_own_kernels(
    tmp_path: Path, rank_0: int | None, rank_1: int | None
) -> None:
    database = write_profile(
        tmp_path / "a_ascend_pt",
        [
            Op("aten::mm", 110, 120, (Kernel("mm_0", 1000, 1010), Kernel("mm_1", 1000, 1080, device=1))),
            Op("aten::add", 130, 140, (Kernel("add_0", 1020, 1040),)),
            Op("hccl", 150, 160, (Kernel("reduce_0", 1100, 1500, "communication"),)),
            Op("hccl", 170, 180, (Kernel("reduce_1", 1100, 1600, "communication"),)),
        ],
        RANGES,
        unlinked=[Kernel("lost_0", 3000, 3050), Kernel("lost_1", 3000, 3160, device=1)],
        rank=None,
    )
    edit(database, NPU_INFO.format("(0, 'Ascend910B'), (1, 'Ascend910B')"))
    edit(database, "ALTER TABLE COMMUNICATION_OP ADD COLUMN deviceId INTEGER")
    edit(database, "UPDATE COMMUNICATION_OP SET deviceId = (endNs = 1600)")
    if rank_0 is not None:
        edit(database, RANK_DEVICE_MAP.format(f"({rank_0}, 0), ({rank_1}, 1)"))
    with open_profile(tmp_path) as profile:
        found = profile.sql(
            """
            SELECT profile, rank_id, device_id, split_part(name, '_904', 1) AS name, duration_ns
            FROM module.kernel
            ORDER BY device_id, start_ns, name
            """,
            arrow=True,
        ).to_pylist()
        ranks = profile.ranks(arrow=True).select(["profile", "rank_id", "device_id"]).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        ("a_ascend_pt/device_0", rank_0, 0, "mm_0", 10),
        ("a_ascend_pt/device_0", rank_0, 0, "add_0", 20),
        ("a_ascend_pt/device_0", rank_0, 0, "reduce_0", 400),
        ("a_ascend_pt/device_0", rank_0, 0, "lost_0", 50),
        ("a_ascend_pt/device_1", rank_1, 1, "mm_1", 80),
        ("a_ascend_pt/device_1", rank_1, 1, "reduce_1", 500),
        ("a_ascend_pt/device_1", rank_1, 1, "lost_1", 160),
    ]
    assert sorted((row["device_id"], row["profile"], row["rank_id"]) for row in ranks) == [
        (0, "a_ascend_pt/device_0", rank_0),
        (1, "a_ascend_pt/device_1", rank_1),
    ]


@pytest.mark.slow
def test_what_the_host_of_two_devices_did_counts_once_over_all_ranks(tmp_path: Path, command: Callable[..., Result]) -> None:
    graph = "npu_fx_compiler inference"
    database = write_profile(
        tmp_path / "a_ascend_pt",
        ops=[
            Op("aten::mm", 110, 120, (Kernel("mm_0", 1000, 1010), Kernel("mm_1", 1000, 1080, device=1))),
            Op(graph, 200, 230),
            Op("lost", 50, 40),
        ],
        ranges=[Range("mine", 105, 130, domain="d"), Range("lost", 9, 8)],
        unlinked=[Kernel("bad_0", 9, 8), Kernel("bad_1", 9, 8, device=1), Kernel("bad_1", 9, 7, device=1)],
    )
    edit(database, RANK_DEVICE_MAP.format("(0, 0), (1, 1)"))
    with open_profile(tmp_path) as profile:
        profile.rows("SELECT 1 FROM across.op_statistic, trace.set_aside, mstx.statistic, graph.call LIMIT 0")
        ops = arrow_of(profile.op_stats(across_ranks=True)).to_pylist()
        aside = profile.sql("FROM trace.set_aside ORDER BY ALL", arrow=True).to_pylist()
    assert [tuple(row.values()) for row in ops] == [
        ("aten::mm", None, 1, 10, 10, 2, 90, 90, 1.0, None),
        (graph, None, 1, 30, 30, 0, 0, 0, 0.0, None),
    ]
    reason = says("end before", "start")
    assert [tuple(row.values())[1:] for row in aside] == [
        (0, "kernels", reason, None, 1, None),
        (0, "mstx ranges", reason, None, 1, None),
        (0, "ops", reason, None, 1, None),
        (1, "kernels", reason, None, 2, None),
    ]
    marks = json.loads(command("mstx-stats", "-d", tmp_path, "-o", tmp_path, "--json").stdout)["summary"]
    (row,) = marks["heaviest"]
    assert (row["event_count"], row["host_total_ns"], row["kernel_count"], row["kernel_duration_ns"]) == (1, 25, 2, 90)
    assert json.loads(command("graph-overhead", "-d", tmp_path, "-o", tmp_path, "--json").stdout)["summary"]["calls"] == 1
    with open_profile(tmp_path, rank_list=[1]) as profile:
        (row, *_) = arrow_of(profile.op_stats(across_ranks=True)).to_pylist()
    assert (row["calls"], row["kernel_count"], row["device_self_ns"]) == (1, 1, 80), "the second device alone has its host too"


def test_a_device_without_a_task_is_no_rank(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", [Op("x", 1, 2, (Kernel("k", 5, 6, device=1),))], rank=None)
    edit(database, RANK_DEVICE_MAP.format("(0, 0), (1, 1)"))
    (rank,) = find_ranks(tmp_path)
    assert (rank.profile, rank.rank_id, rank.device_id) == ("a_ascend_pt", 1, 1)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'"text"',
        b'{"config": null}',
        b'{"config": {"common_config": [], "experimental_config": 7}}',
        b'{"config": {"common_config": {"activities": 5}, "experimental_config": {"_profiler_level": 3, "_mstx": "no"}}}',
        b'{"config": {"experimental_config": {"_mstx_domain_include": 7, "_mstx_domain_exclude": "Module"}}}',
    ],
)
def test_a_broken_profiler_info_stops_nothing_and_its_name_still_tells_the_rank(tmp_path: Path, content: bytes) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=None).parents[1]
    (folder / "profiler_info_7.json").write_bytes(content)
    (rank,) = find_ranks(tmp_path)
    assert (rank.rank_id, rank.rank_id_from, rank.profiler_level) == (7, "profiler_info_7.json", None)
    assert (rank.missing, answered_by(rank)) == ((), answered_without(*NOT_IN_ONE_RANK))


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER); INSERT INTO RANK_DEVICE_MAP VALUES (4, NULL)",
        "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER); INSERT INTO RANK_DEVICE_MAP VALUES ('NA', 'x')",
        "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER)",
        "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER)",
        "CREATE TABLE NPU_INFO (id, name); INSERT INTO NPU_INFO VALUES (NULL, 'UNKNOWN'), (-1, 'UNKNOWN'), ('x', 'y')",
    ],
)
def test_an_odd_table_of_devices_leaves_the_rank_unnumbered(tmp_path: Path, made: str) -> None:
    edit(write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=None), made)
    (rank,) = find_ranks(tmp_path)
    assert (rank.profile, rank.rank_id, rank.left_out) == ("a_ascend_pt", None, None)
    assert answered_by(rank) == answered_without(*NOT_IN_ONE_RANK)


def test_a_number_that_can_be_no_rank_is_none(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=99_999_999_999)
    with open_profile(tmp_path) as profile:
        assert profile.ranks(arrow=True)["rank_id"].to_pylist() == [None]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"rank_id": "NA"}', '{"rank_id": null}'])
def test_a_broken_info_json_leaves_the_rank_unnumbered(tmp_path: Path, content: str) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=None)
    edit(database, NPU_INFO.format("(0, 'Ascend910B')"))
    write_info_json(database.parents[1], device=0, rank_id=1)
    (info,) = tmp_path.rglob("info.json.0")
    info.write_text(content, encoding="utf-8")
    assert identities(find_ranks(tmp_path)) == [("a_ascend_pt", None)]


def test_info_json_tells_the_rank_where_the_database_names_no_device(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, rank=None).parents[1]
    place = folder / "PROF_1" / "device_0"
    place.mkdir(parents=True)
    (place / "info.json.0").write_text('{"rank_id": 3}')
    (rank,) = find_ranks(tmp_path)
    assert (rank.rank_id, rank.rank_id_from) == (3, "info.json.0")


def test_a_kernel_without_device_is_not_counted_for_each_device(tmp_path: Path) -> None:
    ops = [Op("x", 1, 2, (Kernel("mm", 5, 6), Kernel("mm", 5, 7, device=1), Kernel("reduce", 8, 108, "communication")))]
    database = write_profile(tmp_path / "a_ascend_pt", ops, rank=None)  # COMMUNICATION_OP has no deviceId, as of old
    edit(database, "CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (8, 0), (9, 1)")
    with open_profile(tmp_path) as profile:
        assert profile.rows("SELECT sum(duration_ns)::INTEGER AS ns FROM trace.kernel") == [{"ns": 1 + 2 + 100}]


def test_a_kernel_of_a_device_that_the_map_lacks_is_not_lost(tmp_path: Path) -> None:
    ops = [Op("x", 1, 2, tuple(Kernel("mm", 5, 6, device=device) for device in (0, 1, 2)))]
    database = write_profile(tmp_path / "a_ascend_pt", ops, rank=None)
    edit(database, "CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (8, 0), (9, 1)")
    with open_profile(tmp_path) as profile:
        found = profile.rows("SELECT device_id FROM trace.kernel ORDER BY device_id")
        assert [row["device_id"] for row in found] == [0, 1, 2]


def test_two_devices_of_a_database_with_a_number_have_the_ranks_of_the_map(tmp_path: Path) -> None:
    ops = [Op("x", 1, 2, tuple(Kernel("mm", 5, 6, device=device) for device in (0, 1)))]
    database = write_profile(tmp_path / "a_ascend_pt", ops, rank=8)
    edit(database, "CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (8, 0), (9, 1)")
    assert [rank.rank_id for rank in find_ranks(tmp_path)] == [8, 9]
