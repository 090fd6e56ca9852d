"""What is found under a path: each rank once, and why a folder says nothing."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from prof_analysis.analyses.answerable import answered_by, unanswered_by, why_unanswered
from prof_analysis.common.capabilities import CAPABILITIES
from prof_analysis.sources.ascend_beside.profiler_info import NO_CLOCK, NO_GRAPH_CALLS, NO_HOST_CALLS, NO_STACKS, why_no_memory
from prof_analysis.sources.discovery import find_ranks
from prof_analysis.sources.rank import Rank
from tests.helpers.answers import NO_COUNTERS, NO_OPERATORS, NOT_IN_KERNELS, NOT_IN_ONE_RANK, answered_without, unanswered
from tests.helpers.discovery import OPS, RANGES, identities, write_info
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, edit, write_profile

KERNELS = "SELECT profile, duration_ns FROM trace.kernel"


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
            ("transfers", NO_OPERATORS),
            ("graph_calls", NO_GRAPH_CALLS),
            ("counters", NO_COUNTERS),
            ("samples", f"no {CAPABILITIES['samples']} in this format"),
            ("clock", NO_CLOCK),
            ("host_calls", NO_HOST_CALLS),
            ("stacks", NO_STACKS),
            ("memory", why_no_memory({})),
            ("static_memory", NOT_IN_ONE_RANK["static_memory"]),
            ("allocator", f"no {CAPABILITIES['allocator']} in this format"),
            ("settings", NOT_IN_ONE_RANK["settings"]),
            ("reported_kernels", "no reported figures of kernels in this format"),
            ("reported_ops", "no reported figures of ops in this format"),
            ("reported_host_calls", "no reported figures of host calls in this format"),
            ("reported_communication", "no analysis.db that holds them"),
            ("reported_steps", "no analysis.db that holds them"),
        ),
        modules_from="mstx",
    )
    assert unanswered_by(rank) == tuple(unanswered(NOT_IN_ONE_RANK))


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
    assert (rank.profile, rank.rank_id, answered_by(rank)) == (
        "host_ascend_ms",
        4,
        answered_without(*NOT_IN_KERNELS),
    )
    assert "no PYTORCH_API (written by msprof or MindSpore" in rank.missing[0]
    with open_profile(tmp_path) as profile:
        assert profile.rows("SELECT name FROM trace.kernel") == [{"name": "mm_kernel"}]
    said = command("ranks", "-d", tmp_path).stdout
    assert "ascend_mindspore_profiler_4.db" in said
    assert f"\nanswers: {', '.join(answered_by(rank))}\n" in said
    assert "written by msprof or MindSpore" in said


def test_a_folder_that_was_never_parsed_names_the_call_that_parses_it(tmp_path: Path, command: Callable[..., Result]) -> None:
    raw = tmp_path / "raw_ascend_pt"
    (raw / "FRAMEWORK").mkdir(parents=True)
    (raw / "PROF_000001_20260101000000000_ABCDEFGH" / "device_0").mkdir(parents=True)
    write_info(raw, name="profiler_info_5.json")
    (rank,) = find_ranks(tmp_path)
    assert (rank.rank_id, rank.rank_id_from, answered_by(rank)) == (5, "profiler_info_5.json", ())
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


def test_a_path_without_results_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=says("no profiling result here", "sub-folders", "_ascend_pt").pattern):
        find_ranks(tmp_path)
    with pytest.raises(InputError, match="there is no such folder"):
        find_ranks(tmp_path / "missing")
    with pytest.raises(InputError, match="is not a profiling result"):
        find_ranks(tmp_path / "notes.txt")


def test_what_this_project_wrote_is_not_taken_for_a_result(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    before = find_ranks(tmp_path)
    assert command("kernel-stats", "-d", tmp_path, "--export_type", "db").exit_code == 0
    shutil.copytree(tmp_path / "cluster_analysis_output", tmp_path / "a_ascend_pt" / "cluster_analysis_output")
    assert find_ranks(tmp_path) == before


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
            kernels = profile.sql("SELECT profile, count(*) AS kernels FROM trace.kernel GROUP BY 1 ORDER BY 1", arrow=True)
        assert [tuple(row.values()) for row in kernels.to_pylist()] == list(zip(expected, [1, 2], strict=True))


def test_an_empty_folder_around_a_result_of_its_name_hides_nothing(tmp_path: Path) -> None:
    write_profile(tmp_path / "X_ascend_pt" / "X_ascend_pt", OPS)
    for given, name in ((tmp_path, "X_ascend_pt/X_ascend_pt"), (tmp_path / "X_ascend_pt", "X_ascend_pt")):
        with open_profile(given) as profile:
            assert profile.rows(KERNELS) == [{"profile": name, "duration_ns": 40}]
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
        assert profile.rows(KERNELS) == [{"profile": "copied", "duration_ns": 40}]


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
        found = profile.sql("SELECT name, type, core, start_ns, duration_ns, input_shapes FROM trace.kernel", arrow=True)
        expected = ("mm_kernel", "MatMulV3", "AI_CORE", 1723000000000000120, 40_000, '"16,16;16,16"')
        assert [tuple(row.values()) for row in found.to_pylist()] == [expected]


OLD_SUMMARY = (
    "Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Block Dim\n"
    "m,1,3,2,1,mm_kernel,MatMulV3,AI_CORE,1043640017380.831,82.11,8\n"
)


@pytest.mark.parametrize("given", quick(["", "PROF_1", "PROF_1/device_1", "PROF_1/device_1/summary"], 1, 2))
def test_what_msprof_of_2023_exported_of_each_device_is_a_rank(tmp_path: Path, given: str) -> None:
    for device in (0, 1):
        summary = tmp_path / "PROF_1" / f"device_{device}" / "summary"
        summary.mkdir(parents=True)
        (summary / f"op_summary_{device}_1_1.csv").write_text(OLD_SUMMARY, encoding="utf-8")
        (summary / f"op_statistic_{device}_1_1.csv").write_text("OP Type,Core Type,Count,Total Time(us)\n", encoding="utf-8")
        timeline = summary.with_name("timeline")
        timeline.mkdir()
        (timeline / f"msprof_{device}_1_1.json").write_text('[{"ph": "X", "args": {"Task Type": "AI_CORE"}}]', encoding="utf-8")
        (timeline / f"task_time_{device}_1_1.json").write_text("[]", encoding="utf-8")
    ranks = find_ranks(tmp_path / given)
    assert [rank.device_id for rank in ranks] == ([0, 1] if "device" not in given else [1])
    with open_profile(tmp_path / given) as profile:
        found = profile.rows("SELECT name, type, core, start_ns, duration_ns, block_num FROM trace.kernel")
    expected = ("mm_kernel", "MatMulV3", "AI_CORE", 1043640017380831, 82_110, 8)
    assert [tuple(row.values()) for row in found] == [expected] * len(ranks)


def test_what_lies_in_a_prof_folder_is_said_where_it_cannot_be_read(tmp_path: Path) -> None:
    host = tmp_path / "PROF_1" / "host" / "summary"
    host.mkdir(parents=True)
    (host / "api_statistic_1_1.csv").write_text("Level,API Name\n", encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert rank.left_out is not None
    assert rank.left_out == says(f"{host}: ", "msprof", "host alone", "api_statistic_1_1.csv", "copy device_*")


@pytest.mark.parametrize("place", ["", "a"])
def test_a_folder_answers_what_its_op_summary_alone_answers(tmp_path: Path, place: str) -> None:
    file = tmp_path / place / "op_summary_20260101000000.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(OP_SUMMARY, encoding="utf-8")
    (alone,), (inside,) = find_ranks(file), find_ranks(tmp_path)
    assert "kernel-stats" in answered_by(inside)
    assert answered_by(inside) == answered_by(alone)


def test_slices_of_a_table_of_msprof_are_one_rank(tmp_path: Path) -> None:
    """msprof cuts a table after a million rows; each slice has the same columns."""
    output = tmp_path / "a_ascend_pt" / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    head, row = OP_SUMMARY.splitlines()
    for number in range(3):
        rows = [row.replace("mm_kernel", f"mm_{number}_{one}").replace("000.120", f"{number}{one}0.120") for one in range(2)]
        text = "\n".join([f"{head},aic_mac_ratio", *(f"{one},0.{number + 1}" for one in rows), ""])
        (output / f"op_summary_slice_{number}_20260101000000.csv").write_text(text, encoding="utf-8")
    with open_profile(tmp_path) as profile:
        assert profile.warnings == []
        found = profile.rows("SELECT name, start_ns FROM trace.kernel ORDER BY name")
        counters = profile.rows("SELECT name, value FROM trace.kernel_metric JOIN trace.kernel USING (kernel_id) ORDER BY name")
    names = [f"mm_{number}_{one}" for number in range(3) for one in range(2)]
    assert [row["name"] for row in found] == names
    assert len({row["start_ns"] for row in found}) == 6
    assert [(row["name"], row["value"]) for row in counters] == [(name, (int(name[3]) + 1) / 10) for name in names]
    (output / "op_summary_slice_1_20260101000000.csv").unlink()
    with open_profile(tmp_path) as profile:
        (said,) = profile.warnings
    assert said == says(f"{output / 'op_summary_slice_1_20260101000000.csv'}: ", "not here", "2 of at least 3 slices")


def test_sums_over_types_of_several_devices_are_ranks_and_two_files_of_them_are_not_added_up(tmp_path: Path) -> None:
    head = "Device_id,OP Type,Core Type,Count,Total Time(us)"
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "op_statistic.csv").write_text(f"{head}\n0,Add,AI_CORE,2,80\n1,Add,AI_CORE,3,60\n", encoding="utf-8")
    with open_profile(tmp_path / "one") as profile:
        found = profile.rows("SELECT profile, kernel_count, total_ns FROM kernels.statistic ORDER BY profile")
    assert [tuple(row.values()) for row in found] == [("one/device_0", 2, 80_000), ("one/device_1", 3, 60_000)]
    (tmp_path / "two").mkdir()
    for number in (1, 2):
        (tmp_path / "two" / f"op_statistic_{number}.csv").write_text(f"{head}\n0,Add,AI_CORE,2,80\n", encoding="utf-8")
    (rank,) = find_ranks(tmp_path / "two")
    files = ("op_statistic_1.csv", "op_statistic_2.csv")
    assert rank.left_out == says(tmp_path / "two", "2 tables of sums over types", "not added up", *files)


def test_a_rank_that_lacks_a_file_of_all_others_is_named(tmp_path: Path) -> None:
    for rank in range(4):
        folder = tmp_path / f"r{rank}_ascend_pt"
        write_profile(folder, OPS, rank=rank)
        (folder / "profiler_metadata.json").write_text("{}", encoding="utf-8")
    with open_profile(tmp_path) as profile:
        assert profile.warnings == []
    (tmp_path / "r2_ascend_pt" / "profiler_metadata.json").unlink()
    with open_profile(tmp_path) as profile:
        assert profile.warnings == [says("r2_ascend_pt", "lacks profiler_metadata.json", "3 of 4 ranks", "not known")]
    (tmp_path / "r3_ascend_pt" / "profiler_metadata.json").unlink()
    with open_profile(tmp_path) as profile:
        assert profile.warnings == [], "so they were recorded"


def test_a_rank_that_lacks_a_table_of_the_others_is_named(tmp_path: Path) -> None:
    databases = [write_profile(tmp_path / f"r{rank}_ascend_pt", OPS, rank=rank, steps=[(1, 0, 900)]) for rank in range(2)]
    for drop in ("STEP_TIME", "COMMUNICATION_OP"):
        edit(databases[1], f"DROP TABLE {drop}")
    with open_profile(tmp_path) as profile:
        (lacks,) = profile.warnings
    assert lacks == says("r1_ascend_pt", "lacks table COMMUNICATION_OP, table STEP_TIME", "1 of 2 ranks", "not known")
    edit(databases[0], "DROP TABLE STEP_TIME")
    with open_profile(tmp_path) as profile:
        assert profile.warnings == [lacks.replace(", table STEP_TIME", "")], "so they were recorded"
    databases[1].with_name(f"{databases[1].name}-wal").write_bytes(b"")
    with open_profile(tmp_path) as profile:
        assert not any("lacks table" in warning for warning in profile.warnings), "its tables are not known without reading it"


def test_of_two_exports_of_msprof_the_newest_is_read(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    for number in (0, 1):
        text = OP_SUMMARY.replace("mm_kernel", f"mm_{number}")
        (output / f"op_summary_2026010100000{number}.csv").write_text(text, encoding="utf-8")
    with open_profile(tmp_path) as profile:
        assert [row["name"] for row in profile.rows("SELECT name FROM trace.kernel")] == ["mm_1"]
        (said,) = profile.warnings
    names = [f"op_summary_2026010100000{number}.csv" for number in (0, 1)]
    assert said == says(f"{output / names[0]}: ", f"older export than {names[1]}", "read without it")


def test_several_tables_of_msprof_without_a_time_are_named_and_not_called_unparsed(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "PROF_1" / "mindstudio_profiler_output"
    output.mkdir(parents=True)
    for name in ("a", "b"):
        (output / f"op_summary_{name}.csv").write_text(OP_SUMMARY, encoding="utf-8")
    (rank,) = find_ranks(tmp_path)
    assert rank.left_out == says(f"{output}: ", "files of msprof", "not exactly one op_summary_*.csv")


@pytest.mark.parametrize("name", ["mine.csv", "mine.db", "mine.json"])
def test_a_folder_with_a_renamed_result_names_the_file_to_give(tmp_path: Path, name: str) -> None:
    file = tmp_path / "some" / name
    file.parent.mkdir()
    if name.endswith(".db"):
        write_profile(tmp_path / "a_ascend_pt", OPS).rename(file)
    else:
        row = '[{"ph": "X", "name": "k", "pid": 1, "tid": 1, "ts": "1.0", "dur": 1, "args": {"Task Type": "AI_CORE"}}]'
        file.write_text(OP_SUMMARY if name.endswith(".csv") else row, encoding="utf-8")
    with pytest.raises(InputError, match=says("no profiling result here", f"{name} can be read", "give this file").pattern):
        find_ranks(file.parent)
    assert all(answered_by(rank) for rank in find_ranks(file))


def test_a_renamed_file_of_figures_is_known_by_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("OP Type,Core Type,Count,Total Time(us)\nAdd,AI_CORE,2,80\n", encoding="utf-8")
    (rank,) = find_ranks(file)
    assert rank.left_out == says(file, "columns", "those of op_statistic.csv", "give it this name")


def test_a_pipe_in_the_place_of_a_journal_is_no_journal(tmp_path: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("needs named pipes in folders")
    database = write_profile(tmp_path / "a_ascend_pt", OPS)
    os.mkfifo(f"{database}-wal")
    with open_profile(tmp_path) as profile:
        assert len(profile.rows(KERNELS)) == 1


def test_a_folder_whose_name_is_not_utf_8_is_a_rank(tmp_path: Path, command: Callable[..., Result]) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff_ascend_pt"))
    try:
        write_profile(folder, OPS)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert command("ranks", "-d", tmp_path).stdout.splitlines()[1].startswith("a\\xff_ascend_pt     0")
    with open_profile(tmp_path) as profile:
        assert [row["profile"] for row in profile.rows(KERNELS)] == ["a\\xff_ascend_pt"]


def test_a_folder_that_cannot_be_inspected_does_not_stop_the_others(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    broken = write_profile(tmp_path / "b_ascend_pt", OPS, rank=1).parents[1]
    write_info(broken, experimental={"_mstx_domain_include": [{}]})
    with pytest.warns(ProfAnalysisWarning, match="b_ascend_pt: cannot be inspected"), open_profile(tmp_path) as profile:
        assert [row["profile"] for row in profile.rows(KERNELS)] == ["a_ascend_pt"]


def test_a_higher_level_is_not_advised_where_only_a_file_is_missing(tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_text('[{"ph": "X", "args": {"Task Type": "AI_CORE"}}]', encoding="utf-8")
    write_info(tmp_path / "a_ascend_pt", experimental={"_profiler_level": "Level2"})
    (rank,) = find_ranks(tmp_path)
    assert why_unanswered(rank, "mfu") == says("no kernel_details.csv", "no kernel types, cores and shapes")
    assert not any("Level1" in missing for missing in rank.missing)
