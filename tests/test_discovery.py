"""What is found under a path: each rank once, with its number and where that came from, and why a folder says nothing."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from prof_analysis.options import Options
from prof_analysis.sources.ascend_beside.profiler_info import NO_GRAPH_CALLS
from prof_analysis.sources.discovery import find_ranks
from prof_analysis.sources.rank import Rank
from tests.helpers.answers import NO_COUNTERS, NO_OPERATORS, NOT_IN_KERNELS, NOT_IN_ONE_RANK, answered_without, unanswered
from tests.helpers.slow import quick
from tests.helpers.small_profile import Frame, Kernel, Op, Range, edit, write_profile

OPS = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)
RANGES = (Range("Net", 100, 200),)
NPU_INFO = "CREATE TABLE NPU_INFO (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO NPU_INFO VALUES {}"
RANK_DEVICE_MAP = "CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER); INSERT INTO RANK_DEVICE_MAP VALUES {}"


def identities(ranks: list[Rank]) -> list[tuple[str, int | None]]:
    return [(rank.profile, rank.rank_id) for rank in ranks]


def write_info(
    folder: Path,
    rank_id: object = None,
    common: dict[str, Any] | None = None,
    experimental: dict[str, Any] | None = None,
    name: str = "profiler_info.json",
) -> None:
    """A profiler_info file as torch_npu writes it, with other switches than those it has by default."""
    activities = ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]
    config = {
        "common_config": {"activities": activities, "record_shapes": True} | (common or {}),
        "experimental_config": {"_profiler_level": "Level1", "_mstx": True} | (experimental or {}),
    }
    content = {"config": config} | ({} if rank_id is None else {"rank_id": rank_id})
    (folder / name).write_text(json.dumps(content), encoding="utf-8")


def write_info_json(folder: Path, device: int, rank_id: int) -> None:
    place = folder / "PROF_000001_20260101000000000_ABCDEFGH" / f"device_{device}"
    place.mkdir(parents=True)
    (place / f"info.json.{device}").write_text(json.dumps({"rank_id": rank_id}), encoding="utf-8")


def test_a_rank_folder_is_found_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "host_1_20260101000000000_ascend_pt"
    database = write_profile(folder, OPS, RANGES, rank=3)
    (rank,) = find_ranks(folder)
    assert rank == Rank(
        profile="host_1_20260101000000000_ascend_pt",
        folder=folder,
        source="ascend_db",
        inputs=(database,),
        rank_id=3,
        rank_id_from="ascend_pytorch_profiler_3.db",
        files=("ascend_pytorch_profiler_3.db",),
        lacks=(
            ("communication", NO_OPERATORS),
            ("graph_calls", NO_GRAPH_CALLS),
            ("counters", NO_COUNTERS),
            ("reported_ops", "no reported figures of ops in this format"),
            ("reported_communication", "no analysis.db that holds them"),
            ("reported_steps", "no analysis.db that holds them"),
        ),
        modules_from="mstx",
    )
    assert rank.unanswered == tuple(unanswered(NOT_IN_ONE_RANK))


def test_a_folder_needs_no_special_name_when_it_holds_the_output(tmp_path: Path) -> None:
    write_profile(tmp_path / "renamed by hand", OPS, RANGES)
    assert identities(find_ranks(tmp_path)) == [("renamed by hand", 0)]


def test_the_output_folder_itself_may_be_given(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    with open_profile(database.parent) as profile:
        assert profile.module_stats()["profile"].tolist() == ["a_ascend_pt"]


def test_ranks_come_in_the_order_of_their_numbers_and_the_unnumbered_last(tmp_path: Path) -> None:
    for folder, rank in {"e": 2, "d": 10, "c": 0, "b": None, "a": None, "f": 2}.items():
        write_profile(tmp_path / f"{folder}_ascend_pt", OPS, RANGES, rank=rank)
    expected = [
        ("c_ascend_pt", 0),
        ("e_ascend_pt", 2),
        ("f_ascend_pt", 2),
        ("d_ascend_pt", 10),
        ("a_ascend_pt", None),
        ("b_ascend_pt", None),
    ]
    assert identities(find_ranks(tmp_path)) == expected
    with open_profile(tmp_path) as profile:
        assert profile.ops()["profile"].tolist() == [name for name, _ in expected]


def test_a_tree_is_searched_to_depth_5_and_no_deeper(tmp_path: Path) -> None:
    write_profile(tmp_path / "1" / "2" / "3" / "4" / "deep_ascend_pt", OPS, RANGES)
    write_profile(tmp_path / "1" / "2" / "3" / "4" / "5" / "too_deep_ascend_pt", OPS, RANGES, rank=1)
    write_profile(tmp_path / "flat_ascend_pt", OPS, RANGES, rank=2)
    assert identities(find_ranks(tmp_path)) == [("1/2/3/4/deep_ascend_pt", 0), ("flat_ascend_pt", 2)]
    with pytest.raises(InputError, match="depth 5"):
        find_ranks(write_profile(tmp_path / "other" / "1" / "2" / "3" / "4" / "5" / "6_ascend_pt").parents[7])


def test_links_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "up").symlink_to(tmp_path)
    assert identities(find_ranks(tmp_path)) == [("a_ascend_pt", 0)]


def test_a_link_may_be_given_as_the_path(tmp_path: Path) -> None:
    write_profile(tmp_path / "there" / "a_ascend_pt", OPS, RANGES)
    (tmp_path / "here").symlink_to(tmp_path / "there")
    assert identities(find_ranks(tmp_path / "here")) == [("a_ascend_pt", 0)]


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
        found = profile.kernels(arrow=True).select(["profile", "rank_id", "duration_ns"])
        assert [tuple(row.values()) for row in found.to_pylist()] == expected
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
        ops = profile.op_stats(across_ranks=True, arrow=True).to_pylist()
        aside = profile.sql("FROM trace.set_aside ORDER BY ALL", arrow=True).to_pylist()
    assert [tuple(row.values()) for row in ops] == [
        ("aten::mm", None, 1, 10, 10, 2, 90, 90, 1.0),
        (graph, None, 1, 30, 30, 0, 0, 0, 0.0),
    ]
    reason = "they end before they start"
    assert [tuple(row.values())[1:] for row in aside] == [
        (0, "kernels", reason, 1),
        (0, "mstx ranges", reason, 1),
        (0, "ops", reason, 1),
        (1, "kernels", reason, 2),
    ]
    marks = json.loads(command("mstx-stats", "-d", tmp_path, "-o", tmp_path, "--json").stdout)["summary"]
    (row,) = marks["heaviest"]
    assert (row["event_count"], row["host_total_ns"], row["kernel_count"], row["kernel_duration_ns"]) == (1, 25, 2, 90)
    assert json.loads(command("graph-overhead", "-d", tmp_path, "-o", tmp_path, "--json").stdout)["summary"]["calls"] == 1
    with open_profile(tmp_path, rank_list=[1]) as profile:
        (row, *_) = profile.op_stats(across_ranks=True, arrow=True).to_pylist()
    assert (row["calls"], row["kernel_count"], row["device_self_ns"]) == (1, 1, 80), "the second device alone has its host too"


def test_a_device_without_a_task_is_no_rank(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", [Op("x", 1, 2, (Kernel("k", 5, 6, device=1),))], rank=None)
    edit(database, RANK_DEVICE_MAP.format("(0, 0), (1, 1)"))
    (rank,) = find_ranks(tmp_path)
    assert (rank.profile, rank.rank_id, rank.device_id) == ("a_ascend_pt", 1, 1)


@pytest.mark.parametrize("place", quick(["", "mindstudio_profiler_output"], 1))
def test_the_database_that_msprof_left_gives_kernels_but_no_ops(tmp_path: Path, place: str) -> None:
    database = write_profile(tmp_path / "written", OPS, rank=None)
    edit(database, "DROP TABLE PYTORCH_API; DROP TABLE CONNECTION_IDS; DROP TABLE MSTX_EVENTS")
    folder = tmp_path / "tree" / "a_ascend_pt" / "PROF_000001_20260101000000000_ABCDEFGH" / place
    folder.mkdir(parents=True)
    database.rename(folder / "msprof_20260101000000.db")
    with open_profile(tmp_path / "tree") as profile:
        (rank,) = profile.ranks(arrow=True).to_pylist()
        assert (rank["profile"], rank["rank_id"], rank["answers"]) == (
            "a_ascend_pt",
            None,
            list(answered_without(*NOT_IN_KERNELS)),
        )
        assert rank["missing"][0].startswith("no PYTORCH_API (written by msprof or MindSpore")
        with pytest.warns(ProfAnalysisWarning, match="no PYTORCH_API"):
            kernels = profile.kernels()
        assert kernels[["name", "duration_ns", "location"]].values.tolist() == [["mm_kernel", 40, "linked to no op"]]
        assert len(profile.ops()) == 0
        with pytest.raises(InputError, match="no PYTORCH_API"):
            profile.module_stats()


def test_a_database_of_mindspore_gives_kernels_but_no_ops(tmp_path: Path, command: Callable[..., Result]) -> None:
    database = write_profile(tmp_path / "host_ascend_ms", OPS)
    edit(database, "DROP TABLE PYTORCH_API; DROP TABLE CONNECTION_IDS; DROP TABLE MSTX_EVENTS")
    database.rename(database.with_name("ascend_mindspore_profiler_4.db"))
    (rank,) = find_ranks(tmp_path)
    assert (rank.profile, rank.rank_id, rank.answers) == (
        "host_ascend_ms",
        4,
        answered_without(*NOT_IN_KERNELS),
    )
    assert "no PYTORCH_API (written by msprof or MindSpore" in rank.missing[0]
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="no PYTORCH_API"):
        assert profile.kernels()["name"].tolist() == ["mm_kernel"]
    said = command("ranks", "-d", tmp_path).stdout
    assert "rank 4 (from ascend_mindspore_profiler_4.db)" in said
    assert f"answers: {', '.join(rank.answers)}, from" in said
    assert "written by msprof or MindSpore" in said


def test_a_folder_that_was_never_parsed_names_the_call_that_parses_it(tmp_path: Path, command: Callable[..., Result]) -> None:
    raw = tmp_path / "raw_ascend_pt"
    (raw / "FRAMEWORK").mkdir(parents=True)
    (raw / "PROF_000001_20260101000000000_ABCDEFGH" / "device_0").mkdir(parents=True)
    write_info(raw, name="profiler_info_5.json")
    (rank,) = find_ranks(tmp_path)
    assert (rank.rank_id, rank.rank_id_from, rank.answers) == (5, "profiler_info_5.json", ())
    assert rank.left_out is not None
    assert "never parsed" in rank.left_out
    assert f"torch_npu.profiler.profiler.analyse({str(raw)!r})" in rank.left_out
    said = command("ranks", "-d", tmp_path)
    assert said.exit_code == 0
    assert f"torch_npu.profiler.profiler.analyse({str(raw)!r})" in said.stdout
    said = command("module-stats", "-d", tmp_path)
    assert said.exit_code == 2
    assert "torch_npu.profiler.profiler.analyse" in said.stderr


def test_a_folder_of_text_exports_says_how_to_get_a_database(tmp_path: Path) -> None:
    output = tmp_path / "text_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text("[]", encoding="utf-8")
    (rank,) = find_ranks(tmp_path, source="db")
    assert rank.files == ("trace_view.json",)
    assert rank.left_out is not None
    assert "text exports, no profiler database" in rank.left_out
    assert "ExportType.Db" in rank.left_out


def test_an_empty_result_folder_is_left_out_by_name_and_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "empty_ascend_pt").mkdir()
    (tmp_path / "half_ascend_pt" / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    write_profile(tmp_path / "good_ascend_pt", OPS, RANGES)
    with pytest.warns(ProfAnalysisWarning) as warned, open_profile(tmp_path) as profile:
        assert profile.module_stats()["profile"].tolist() == ["good_ascend_pt"]
    assert [str(one.message).partition(": ")[0] for one in warned] == [
        str(tmp_path / "empty_ascend_pt"),
        str(tmp_path / "half_ascend_pt" / "ASCEND_PROFILER_OUTPUT"),
    ]


@pytest.mark.parametrize(
    ("common", "experimental", "said"),
    [
        ({"activities": ["ProfilerActivity.NPU"]}, {}, "ProfilerActivity.CPU was off"),
        ({"activities": ["ProfilerActivity.CPU"]}, {}, "ProfilerActivity.NPU was off"),
        ({}, {"_profiler_level": "Level0"}, "profiler_level was Level0"),
        ({}, {"_profiler_level": "Level_none"}, "profiler_level was Level_none"),
        ({"record_shapes": False}, {}, "record_shapes was off"),
    ],
)
def test_a_switch_that_was_off_is_named(
    tmp_path: Path, command: Callable[..., Result], common: dict[str, Any], experimental: dict[str, Any], said: str
) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES).parents[1]
    write_info(folder, common=common, experimental=experimental)
    (rank,) = find_ranks(tmp_path)
    assert rank.profiler_level == experimental.get("_profiler_level", "Level1")
    assert len(rank.missing) == 1
    assert said in rank.missing[0]
    assert said in command("ranks", "-d", tmp_path).stdout


def test_with_all_switches_on_nothing_is_missing(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES).parents[1]
    write_info(folder)
    (rank,) = find_ranks(tmp_path)
    assert rank.missing == ()


@pytest.mark.parametrize(
    ("experimental", "switch"),
    [
        ({"_mstx": True}, None),
        ({"_mstx": False}, "mstx was off"),
        ({"_mstx_domain_include": ["communication"]}, "the mstx domain filter left out the domain Module"),
        ({"_mstx_domain_exclude": ["communication", "Module"]}, "the mstx domain filter left out the domain Module"),
        ({"_mstx_domain_include": ["Module"]}, None),
        ({"_mstx_domain_exclude": ["communication"]}, None),
    ],
)
def test_without_module_ranges_the_switch_that_kept_them_out_is_named(
    tmp_path: Path, command: Callable[..., Result], experimental: dict[str, Any], switch: str | None
) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, [Range("fetch", 100, 200, domain="default")]).parents[1]
    write_info(folder, experimental=experimental)
    advice = "no module ranges; mark the modules with mstx ranges in the domain Module and collect with mstx=True, "
    advice += "or collect with with_modules=True"
    advice += "" if switch is None else f" (here {switch})"
    (rank,) = find_ranks(tmp_path)
    assert rank.answers == answered_without("modules", *NOT_IN_ONE_RANK)
    assert rank.missing == (advice,)
    assert f"  cannot answer module-stats: {advice}\n" in command("ranks", "-d", tmp_path).stdout
    assert command("module-stats", "-d", tmp_path).stderr.endswith(f"{advice}\n")


@pytest.mark.parametrize(
    ("chosen", "experimental", "advice"),
    [
        (Options(module_source="mstx"), {}, "the domain Module and collect with mstx=True"),
        (
            Options(module_source="nn.Module"),
            {},
            "the domain Module and collect with mstx=True, or collect with with_modules=True",
        ),
        (Options(module_source="mstx", module_domains=("A", "B")), {}, "the domain A or B and collect with mstx=True"),
        (
            Options(module_source="mstx", module_domains=("A",)),
            {"_mstx_domain_exclude": ["A"]},
            "the domain A and collect with mstx=True (here the mstx domain filter left out the domain A)",
        ),
        (
            Options(module_source="mstx", module_domains=("A",)),
            {"_mstx_domain_exclude": ["Module"]},
            "the domain A and collect with mstx=True",
        ),
    ],
)
def test_the_advice_is_for_the_modules_that_were_asked_for(
    tmp_path: Path, chosen: Options, experimental: dict[str, Any], advice: str
) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS, [Range("fetch", 100, 200, domain="default")]).parents[1]
    write_info(folder, experimental=experimental)
    (rank,) = find_ranks(tmp_path, chosen)
    assert rank.why_not("module-stats") == f"no module ranges; mark the modules with mstx ranges in {advice}"
    assert (rank.modules_from, rank.missing) == (None, (rank.why_not("module-stats"),))


@pytest.mark.parametrize(
    ("marked", "traced", "chosen", "modules_from"),
    [
        (True, False, Options(), "mstx"),
        (False, True, Options(), "nn.Module"),
        (True, True, Options(), "mstx"),
        (True, True, Options(module_source="nn.Module"), "nn.Module"),
        (True, True, Options(module_source="mstx"), "mstx"),
        (True, True, Options(module_domains=("Other",)), "nn.Module"),
        (True, True, Options(module_domains=("Other", "Module")), "mstx"),
        (True, False, Options(module_source="nn.Module"), None),
        (False, True, Options(module_source="mstx"), None),
        (False, False, Options(), None),
        (True, False, Options(module_domains=("Modul'e",)), None),
    ],
)
def test_what_marks_the_modules_is_told(
    tmp_path: Path, marked: bool, traced: bool, chosen: Options, modules_from: str | None
) -> None:
    frames = [Frame("nn.Module: Net_0", 100, 200)]
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES if marked else (), frames=frames if traced else ())
    (rank,) = find_ranks(tmp_path, chosen)
    assert rank.modules_from == modules_from
    assert (rank.why_not("module-stats") is None, "module-stats" in rank.answers) == (modules_from is not None,) * 2


def test_ranges_that_end_before_they_start_mark_no_modules(tmp_path: Path) -> None:
    frames = [Frame("nn.Module: Net_0", 100, 200)]
    write_profile(tmp_path / "a_ascend_pt", OPS, [Range("Net", 200, 100)], frames=frames)
    (rank,) = find_ranks(tmp_path)
    assert rank.modules_from == "nn.Module"
    with open_profile(tmp_path) as profile, pytest.warns(ProfAnalysisWarning, match="mstx ranges set aside because they"):
        assert set(profile.module_stats()["module"]) == {"Net"}
    (rank,) = find_ranks(tmp_path, Options(module_source="mstx"))
    assert rank.modules_from is None


def test_the_former_name_of_the_mstx_switch_is_known(tmp_path: Path) -> None:
    folder = write_profile(tmp_path / "a_ascend_pt", OPS).parents[1]
    config = {"common_config": {}, "experimental_config": {"_msprof_tx": False}}
    (folder / "profiler_info.json").write_text(json.dumps({"config": config}), encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert rank.missing[0].endswith("(here mstx was off)")


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
    assert (rank.missing, rank.answers) == ((), answered_without(*NOT_IN_ONE_RANK))


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
    assert rank.answers == answered_without(*NOT_IN_ONE_RANK)


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


def test_a_path_without_results_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"no profiling result here or in its sub-folders .*_ascend_pt"):
        find_ranks(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        find_ranks(tmp_path / "missing")
    with pytest.raises(InputError, match="is not a profiling result"):
        find_ranks(tmp_path / "notes.txt")


def test_what_this_project_wrote_is_not_taken_for_a_result(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    before = find_ranks(tmp_path)
    assert command("module-stats", "-d", tmp_path).exit_code == 0
    assert command("module-stats", "-d", tmp_path / "a_ascend_pt").exit_code == 0
    assert find_ranks(tmp_path) == before


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
        assert profile.kernels()["duration_ns"].sum() == 1 + 2 + 100


def test_a_kernel_of_a_device_that_the_map_lacks_is_not_lost(tmp_path: Path) -> None:
    ops = [Op("x", 1, 2, tuple(Kernel("mm", 5, 6, device=device) for device in (0, 1, 2)))]
    database = write_profile(tmp_path / "a_ascend_pt", ops, rank=None)
    edit(database, "CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (8, 0), (9, 1)")
    with open_profile(tmp_path) as profile:
        assert sorted(profile.kernels()["device_id"]) == [0, 1, 2]


def test_two_devices_of_a_database_with_a_number_have_the_ranks_of_the_map(tmp_path: Path) -> None:
    ops = [Op("x", 1, 2, tuple(Kernel("mm", 5, 6, device=device) for device in (0, 1)))]
    database = write_profile(tmp_path / "a_ascend_pt", ops, rank=8)
    edit(database, "CREATE TABLE RANK_DEVICE_MAP (rankId, deviceId); INSERT INTO RANK_DEVICE_MAP VALUES (8, 0), (9, 1)")
    assert [rank.rank_id for rank in find_ranks(tmp_path)] == [8, 9]


def test_a_prof_folder_beside_rank_folders_does_not_hide_them(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    (tmp_path / "PROF_000001_20260101000000000_ABCDEFGH").mkdir()
    assert "a_ascend_pt" in [rank.profile for rank in find_ranks(tmp_path)]


def test_links_to_rank_folders_are_followed(tmp_path: Path) -> None:
    write_profile(tmp_path / "disk" / "a_ascend_pt", OPS, RANGES)
    (tmp_path / "chosen").mkdir()
    (tmp_path / "chosen" / "a_ascend_pt").symlink_to(tmp_path / "disk" / "a_ascend_pt")
    assert [rank.profile for rank in find_ranks(tmp_path / "chosen")] == ["a_ascend_pt"]


@pytest.mark.parametrize(("path", "name"), [(".", "a_ascend_pt"), ("..", "a_ascend_pt")])
def test_relative_paths_from_inside_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, name: str) -> None:
    monkeypatch.chdir(write_profile(tmp_path / "a_ascend_pt", OPS, RANGES).parent)
    assert [rank.profile for rank in find_ranks(Path(path))] == [name]


def test_an_empty_folder_is_not_told_to_be_parsed(tmp_path: Path) -> None:
    (tmp_path / "a_ascend_pt").mkdir()
    (rank,) = find_ranks(tmp_path)
    assert rank.left_out is not None
    assert "analyse" not in rank.left_out


def test_a_folder_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    (tmp_path / "locked").mkdir()
    real = os.scandir

    def scandir(path: Path) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert "a_ascend_pt" in [rank.profile for rank in find_ranks(tmp_path)]


def copies_in_a_folder_of_the_same_name(folder: Path) -> None:
    write_profile(folder / "X_ascend_pt", OPS)
    write_profile(folder / "X_ascend_pt" / "X_ascend_pt", (OPS[0], Op("add", 130, 140, (Kernel("k", 1, 5),))))


def test_a_result_in_a_folder_of_its_own_name_keeps_a_name_of_its_own(tmp_path: Path) -> None:
    copies_in_a_folder_of_the_same_name(tmp_path)
    for path, expected in (
        (tmp_path, ["X_ascend_pt", "X_ascend_pt/X_ascend_pt"]),
        (tmp_path / "X_ascend_pt", ["X_ascend_pt", "X_ascend_pt/X_ascend_pt"]),
    ):
        with pytest.warns(ProfAnalysisWarning, match="2 folders have rank 0: X_ascend_pt, X_ascend_pt/X_ascend_pt; "):
            profile = open_profile(path)
        with profile:
            kernels = profile.sql("SELECT profile, count(*) AS kernels FROM module.kernel GROUP BY 1 ORDER BY 1", arrow=True)
        assert [tuple(row.values()) for row in kernels.to_pylist()] == list(zip(expected, [1, 2], strict=True))


def test_an_empty_folder_around_a_result_of_its_name_hides_nothing(tmp_path: Path) -> None:
    write_profile(tmp_path / "X_ascend_pt" / "X_ascend_pt", OPS)
    for given, name in ((tmp_path, "X_ascend_pt/X_ascend_pt"), (tmp_path / "X_ascend_pt", "X_ascend_pt")):
        with open_profile(given) as profile:
            assert profile.kernels()[["profile", "duration_ns"]].values.tolist() == [[name, 40]]
            assert (profile.warnings, profile.failures) == ([], [])


def test_two_databases_of_one_name_in_two_prof_folders_are_two_ranks(tmp_path: Path) -> None:
    for number in (1, 2):
        database = write_profile(tmp_path / f"written_{number}", OPS, rank=None)
        place = tmp_path / "a_ascend_pt" / f"PROF_{number}_20260101000000000_ABCDEFGH"
        place.mkdir(parents=True)
        database.rename(place / "msprof_20260101000000.db")
    names = [f"a_ascend_pt/PROF_{number}_20260101000000000_ABCDEFGH/msprof_20260101000000.db" for number in (1, 2)]
    assert identities(find_ranks(tmp_path / "a_ascend_pt")) == [(name, None) for name in names]


@pytest.mark.parametrize("name", quick(["msprof_0.db", "ascend_pytorch_profiler_7.db"], 0))
def test_a_database_makes_any_folder_a_result(tmp_path: Path, name: str) -> None:
    database = write_profile(tmp_path / "written", OPS, rank=None)
    (tmp_path / "tree" / "copied").mkdir(parents=True)
    database.rename(tmp_path / "tree" / "copied" / name)
    with open_profile(tmp_path / "tree") as profile:
        assert profile.kernels()[["profile", "duration_ns"]].values.tolist() == [["copied", 40]]


OP_SUMMARY = (
    "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Input Shapes\n"
    '0,4294967295,3,2,mm_kernel,MatMulV3,AI_CORE,"1723000000000000.120\t",40.000,"""16,16;16,16"""\n'
)


@pytest.mark.parametrize(
    "path", quick(["a_ascend_pt", "a_ascend_pt/PROF_1", "a_ascend_pt/PROF_1/mindstudio_profiler_output"], 0)
)
def test_what_msprof_exported_is_a_result(tmp_path: Path, path: str) -> None:
    output = tmp_path / "a_ascend_pt" / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    (output / "op_summary_20260101000000.csv").write_text(OP_SUMMARY, encoding="utf-8")
    with open_profile(tmp_path / path) as profile:
        found = profile.sql("SELECT name, type, core, start_ns, duration_ns, input_shapes FROM module.kernel", arrow=True)
        expected = ("mm_kernel", "MatMulV3", "AI_CORE", 1723000000000000120, 40_000, '"16,16;16,16"')
        assert [tuple(row.values()) for row in found.to_pylist()] == [expected]


def test_slices_of_msprof_are_named_and_not_called_unparsed(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    for number in (0, 1):
        (output / f"op_summary_slice_{number}_20260101000000.csv").write_text(OP_SUMMARY, encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert rank.left_out is not None
    assert rank.left_out.startswith(f"{output}: holds files of msprof, but not exactly one op_summary_*.csv")


def test_a_pipe_in_the_place_of_a_journal_is_no_journal(tmp_path: Path) -> None:
    database = write_profile(tmp_path / "a_ascend_pt", OPS)
    os.mkfifo(f"{database}-wal")
    with open_profile(tmp_path) as profile:
        assert len(profile.kernels()) == 1


def test_a_folder_whose_name_is_not_utf_8_is_a_rank(tmp_path: Path, command: Callable[..., Result]) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff_ascend_pt"))
    try:
        write_profile(folder, OPS)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert command("ranks", "-d", tmp_path).stdout.startswith("a\\xff_ascend_pt: rank 0")
    with open_profile(tmp_path) as profile:
        assert profile.kernels()["profile"].tolist() == ["a\\xff_ascend_pt"]


def test_a_folder_that_cannot_be_inspected_does_not_stop_the_others(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    broken = write_profile(tmp_path / "b_ascend_pt", OPS, rank=1).parents[1]
    write_info(broken, experimental={"_mstx_domain_include": [{}]})
    with pytest.warns(ProfAnalysisWarning, match="b_ascend_pt: cannot be inspected"), open_profile(tmp_path) as profile:
        assert profile.kernels()["profile"].tolist() == ["a_ascend_pt"]


def test_a_higher_level_is_not_advised_where_only_a_file_is_missing(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text('[{"ph": "X", "args": {"Task Type": "AI_CORE"}}]', encoding="utf-8")
    write_info(tmp_path / "a_ascend_pt", experimental={"_profiler_level": "Level2"})
    (rank,) = find_ranks(tmp_path)
    assert rank.why_not("mfu") == "no kernel_details.csv, so no kernel types, cores and shapes"
    assert not any("Level1" in missing for missing in rank.missing)
