"""Real profiles of Ascend NPUs against what is known of them."""

import shutil
import sqlite3
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, Profile, module_stats, open_profile
from tests.helpers.answers import answered_without
from tests.helpers.asking import PEER_COLUMNS, build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick

# The only wrong rows of the reference, three kernels a rank: a gradient hook scales the gradient of a bias between two
# backward ops of Linear, so msprof-analyze takes it for work of the module.
HOOKS_IN_A_MODULE = {"module": "[Backward]Linear", "opName": "aclnnMuls"}
PROFILES_WITH_MODULES = ["alexnet_ddp_910b_mstx", "alexnet_ddp_910b/db/level0", "alexnet_ddp_910b/db/level1"]


def places(profile: Profile) -> dict[tuple[str, str, str | None], tuple[int, int]]:
    """Kind, location and reason of what is not empty, with its kernels and their time."""
    coverage = profile.sql("FROM module.coverage WHERE kernel_count > 0", arrow=True).to_pylist()
    return {(row["kind"], row["location"], row["reason"]): (row["kernel_count"], row["kernel_duration_ns"]) for row in coverage}


def test_module_stats_of_alexnet_equal_msprof_analyze_but_for_gradient_hooks(realdata: Path) -> None:
    expected = pd.read_csv(realdata / "expected" / "alexnet_ddp_910b_mstx.msprof-analyze-26.2.0.csv", keep_default_na=False)
    wrong = (expected[list(HOOKS_IN_A_MODULE)] == pd.Series(HOOKS_IN_A_MODULE)).all(axis="columns")
    columns = ["rankID", "totalKernelDuration(ns)", "opCount"]
    assert expected[wrong][columns].values.tolist() == [[0, 5280, 3], [1, 5480, 3]]
    with open_profile(realdata / "alexnet_ddp_910b_mstx") as profile:
        found = profile.module_stats().rename(columns=PEER_COLUMNS)[list(PEER_COLUMNS.values())]
    assert len(found) == 64
    pd.testing.assert_frame_equal(found, expected[~wrong].reset_index(drop=True), check_dtype=False, check_exact=True)


@pytest.mark.parametrize("source", quick(["alexnet_ddp_910b_mstx", "alexnet_ddp_910b/db/level1"], 0))
@pytest.mark.parametrize(
    ("rank_id", "all_ns", "inside_ns", "hooks_ns", "reduce_ns"),
    [(0, 8_903_431, 5_777_548, 262_865, 102_108_100), (1, 8_915_634, 5_799_458, 255_683, 98_590_190)],
)
def test_coverage_of_alexnet(
    realdata: Path, source: str, rank_id: int, all_ns: int, inside_ns: int, hooks_ns: int, reduce_ns: int
) -> None:
    with open_profile(realdata / source, rank_list=[rank_id]) as profile:
        assert places(profile) == {
            ("compute", "inside modules", None): (142, inside_ns),
            ("compute", "outside modules", "gradient hooks"): (16, hooks_ns),
            ("compute", "outside modules", "outside every module"): (29, all_ns - inside_ns - hooks_ns),
            ("communication", "outside modules", "gradient hooks"): (4, reduce_ns),
        }


def test_coverage_names_the_ops_outside_modules(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b_mstx", rank_list=[0]) as profile:
        coverage = profile.coverage().dropna(subset="top_ops")
    assert coverage[["kind", "reason", "top_ops"]].values.tolist() == [
        ["compute", "gradient hooks", "aclnnMuls"],
        ["compute", "outside every module", "aclnnForeachAddListV2, aclnnInplaceCopy, aclnnForeachMulScalarV2"],
        ["communication", "gradient hooks", "HcclAllreduce"],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("source", PROFILES_WITH_MODULES)
def test_coverage_adds_up_to_all_kernel_time(realdata: Path, source: str) -> None:
    with open_profile(realdata / source) as profile:
        build_at_once(profile, "module-stats", "trace.kernel")
        found = profile.coverage().groupby(["rank_id", "kind"])["kernel_duration_ns"].sum()
        kernel = profile.sql("SELECT rank_id, kind::VARCHAR AS kind, end_ns - start_ns AS ns FROM trace.kernel")
    expected = kernel.groupby(["rank_id", "kind"])["ns"].sum()
    assert len(expected) == 4
    assert found.to_dict() == expected.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("source", PROFILES_WITH_MODULES)
def test_an_audit_derives_the_recorded_op_of_every_launch(realdata: Path, source: str) -> None:
    with open_profile(realdata / source, audit_links=True) as profile:
        build_at_once(profile, "module.derived_link", "module.link_audit", "module.kernel")
        derived = profile.table("module.derived_link")
        assert derived.groupby("rank_id")["op_id"].count().to_dict() == {0: 191, 1: 191}
        assert len(derived) == 2 * 191
        assert profile.table("module.link_audit").empty
        assert set(profile.kernels()["link"]) == {"recorded"}


@pytest.mark.slow
def test_modules_that_the_python_tracer_saw_give_the_rows_of_mstx_ranges(realdata: Path) -> None:
    marked, level_1, level_0 = (
        module_stats(realdata / source).drop(columns=["profile", "avg_mfu"])
        for source in ("alexnet_ddp_910b_mstx", "alexnet_ddp_910b/db/level1", "alexnet_ddp_910b/db/level0")
    )
    pd.testing.assert_frame_equal(level_1, marked, check_exact=True)
    names = ["rank_id", "parent_module", "module", "op_name", "kernel_list", "op_count"]
    pd.testing.assert_frame_equal(level_0[names], marked[names], check_exact=True)


def test_without_module_ranges_one_line_says_what_to_switch_on(realdata: Path, command: Callable[..., Result]) -> None:
    result = command("module-stats", "-d", realdata / "alexnet_ddp_910b" / "db" / "level1", "--module-source", "mstx")
    assert result.exit_code == 2
    assert result.stdout == ""
    error, warning = result.stderr.splitlines()
    assert "no module ranges" in error
    assert "mstx=True" in error
    assert warning == says("warning: 2 of at least 8 ranks")


@pytest.mark.slow
def test_ranks_of_two_levels_in_one_tree_are_all_there(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / "db") as profile:
        ranks = profile.ranks()
        columns = ["profile", "rank_id", "profiler_level", "modules_from"]
        assert ranks[columns].values.tolist() == [
            ["level0/rank0_ascend_pt", 0, "Level0", "nn.Module"],
            ["level0/rank1_ascend_pt", 1, "Level0", "nn.Module"],
            ["level1/rank0_ascend_pt", 0, "Level1", "nn.Module"],
            ["level1/rank1_ascend_pt", 1, "Level1", "nn.Module"],
        ]
        kernels = profile.kernels()
        assert kernels.groupby(["profile", "kind"]).size().to_dict() == {
            (f"level{level}/rank{rank}_ascend_pt", kind): count
            for level in (0, 1)
            for rank in (0, 1)
            for kind, count in (("compute", 187), ("communication", 4))
        }
        assert kernels["op_name"].notna().all()
        assert kernels["duration_ns"].dtype == "int64"
        assert profile.ops().groupby("profile").size().to_dict() == {
            f"level{level}/rank{rank}_ascend_pt": 860 for level in (0, 1) for rank in (0, 1)
        }
        compute_ns = profile.sql(
            "SELECT profile, sum(duration_ns) AS ns FROM module.kernel WHERE kind = 'compute' GROUP BY ALL ORDER BY ALL"
        )
        assert compute_ns.set_index("profile")["ns"]["level1/rank0_ascend_pt"] == 8_903_431


@pytest.mark.slow
def test_a_profile_without_module_ranges_still_answers(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / "db" / "level1", module_source="mstx") as profile:
        assert profile.ranks()["modules_from"].isna().all()
        assert len(profile.kernels()) == 2 * 191
        assert len(profile.ops()) == 2 * 860
        assert set(profile.coverage().query("kernel_count > 0")["location"]) == {"outside modules"}
        with pytest.raises(InputError, match="no module ranges"):
            profile.module_stats()


def test_shapes_and_types_of_ops_are_not_swapped(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / "db" / "level1") as profile:
        relu = profile.sql("SELECT DISTINCT input_shapes, input_types FROM trace.op WHERE name = 'aten::relu_' ORDER BY ALL")
    assert set(relu["input_types"]) == {"float"}
    assert "32,64,55,55" in set(relu["input_shapes"])


def test_ranks_without_kernels_are_reported_and_do_not_fail_the_others(realdata: Path, command: Callable[..., Result]) -> None:
    result = command("ranks", "-d", realdata / "qwen3_0.6b_pp2dp2_910b")
    assert result.exit_code == 0
    assert result.stdout.count("left out:") == 0
    of_kernels = answered_without(
        "modules", "ops", "reported_ops", "marks", "clock", "graph_calls", "memory", "static_memory", "stacks"
    )
    assert f"\nanswers: {', '.join(of_kernels)} (ranks 0, 2)\n" in result.stdout
    of_profiler = "diagnose, communication-stats, advise, step-time, communication-time, links, slow-ranks"
    assert f"\nanswers: {of_profiler} (ranks 1, 3)\n" in result.stdout
    assert result.stdout.count("no kernel_details.csv and no trace_view.json") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder",
    [
        "alexnet_ddp_910a/text/level1",
        pytest.param("alexnet_ddp_910b/text/level0", marks=pytest.mark.slow),
        pytest.param("alexnet_ddp_910b/text/level1", marks=pytest.mark.slow),
    ],
)
def test_the_kernels_of_a_trace_alone_are_those_of_kernel_details(realdata: Path, folder: str) -> None:
    query = (
        "SELECT kind, name, start_ns, end_ns - start_ns AS duration_ns FROM trace.kernel WHERE kind <> 'schedule' ORDER BY ALL"
    )
    for trace in (realdata / folder).rglob("trace_view.json"):
        with open_profile(trace) as of_trace, open_profile(trace.with_name("kernel_details.csv")) as of_csv:
            found, expected = (profile.sql(query, arrow=True).to_pylist() for profile in (of_trace, of_csv))
            audit = of_trace.table("step.overlap_audit", arrow=True).to_pylist()
        counts = {"compute": 345, "communication": 4} if "910a" in folder else {"compute": 187, "communication": 4}
        assert Counter(row["kind"] for row in found) == counts
        assert [row["agrees"] for row in audit] == [True] * 4
        for one, other in zip(found, expected, strict=True):  # Both files round.
            assert (one["kind"], one["name"]) == (other["kind"], other["name"])
            assert abs(one["start_ns"] - other["start_ns"]) <= (one["kind"] == "communication")
            assert abs(one["duration_ns"] - other["duration_ns"]) <= 1


@pytest.mark.slow
def test_a_trace_alone_of_an_old_version_has_its_kernels_in_modules(realdata: Path) -> None:
    folder = realdata / "alexnet_ddp_910a" / "text" / "level1" / "rank0_ascend_pt"
    (trace,) = folder.rglob("trace_view.json")

    def kernel_counts(path: Path) -> dict[tuple[str, str], int]:
        with open_profile(path) as profile:
            rows = profile.coverage().query("kernel_count > 0").groupby(["kind", "location"])["kernel_count"].sum()
            return {(kind, location): int(count) for kind, location, count in rows.reset_index().itertuples(index=False)}

    assert kernel_counts(trace) == kernel_counts(folder)


def test_traces_of_another_profiler_are_refused_for_what_they_are(realdata: Path, tmp_path: Path) -> None:
    traces = sorted((realdata / "gpu_kineto").rglob("*.json.gz"))
    assert len(traces) == 7
    for number, trace in enumerate(traces):
        output = tmp_path / f"{number}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        output.mkdir(parents=True)
        shutil.copy(trace, output / "trace_view.json.gz")
    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path) as profile:
        left_out = profile.ranks()["left_out"].tolist()
        with pytest.raises(InputError):
            profile.op_stats()
    assert len(left_out) == 7
    assert left_out == [says("trace of Kineto", "not of the Ascend profiler")] * 7


@pytest.mark.slow
def test_without_a_trace_op_stats_come_from_operator_details(realdata: Path, tmp_path: Path) -> None:
    whole = realdata / "alexnet_ddp_910b" / "text" / "level1"
    shutil.copytree(whole, tmp_path / "part", ignore=shutil.ignore_patterns("trace_view.json"))
    # The file has records of launches as ops of their own, and does not say in which op they are.
    of_ops = """
        SELECT rank_id, name, count(*) AS calls, sum(host_self_ns) AS self_ns, sum(host_total_ns) AS total_ns
        FROM op.cost
        JOIN trace.op USING (profile, rank_id, op_id)
        WHERE NOT is_step
        GROUP BY ALL
        ORDER BY ALL
    """
    of_rows = """
        SELECT rank_id, name, sum(calls) AS calls, sum(host_self_ns) AS self_ns, sum(host_total_ns) AS total_ns
        FROM op.statistic
        GROUP BY ALL
        ORDER BY ALL
    """
    with open_profile(whole) as profile:
        expected = profile.sql(of_ops, arrow=True).to_pylist()
    with open_profile(tmp_path / "part") as profile:
        assert profile.sql(of_rows, arrow=True).to_pylist() == expected
        assert profile.op_stats()["kernel_count"].isna().all()
        assert profile.warnings == []


@pytest.mark.slow
@pytest.mark.parametrize("level", ["level0", "level1"])
def test_statistics_of_alexnet_are_those_of_its_tables(realdata: Path, level: str) -> None:
    folder = realdata / "alexnet_ddp_910b" / "db" / level
    kernels: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    reduces: list[int] = []
    for database in sorted(folder.rglob("ascend_pytorch_profiler_*.db")):
        with closing(sqlite3.connect(f"file:{database}?immutable=1", uri=True)) as reader:
            of_tasks = """
                SELECT nullif(type.value, 'N/A'), nullif(core.value, 'N/A'), endNs - startNs
                FROM TASK
                JOIN COMPUTE_TASK_INFO AS info USING (globalTaskId)
                LEFT JOIN STRING_IDS AS type ON type.id = info.opType
                LEFT JOIN STRING_IDS AS core ON core.id = info.taskType
            """
            for type_, core, time in reader.execute(of_tasks):
                kernels[type_, core].append(time)
            reduces += [row[0] for row in reader.execute("SELECT endNs - startNs FROM COMMUNICATION_OP")]

    def median(times: list[int]) -> int:
        return sorted(times)[(len(times) - 1) // 2]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        with open_profile(folder) as profile:
            found = arrow_of(profile.kernel_stats(across_ranks=True)).to_pylist()
            communication = arrow_of(profile.communication_stats(across_ranks=True)).to_pylist()
            ops = arrow_of(profile.op_stats(across_ranks=True)).to_pylist()
    compute = [row for row in found if row["kind"] == "compute"]
    if level == "level1":
        assert {(row["type"], row["core"]): (row["kernel_count"], row["total_ns"], row["median_ns"]) for row in compute} == {
            key: (len(times), sum(times), median(times)) for key, times in kernels.items()
        }
    else:
        assert {row["type_from"] for row in compute} == {None, "name"}
        assert sum(row["kernel_count"] for row in compute if row["type"] is None) == 28
        ((times),) = kernels.values()
        assert [sum(row[column] for row in compute) for column in ("kernel_count", "total_ns")] == [len(times), sum(times)]
    assert [(row["type"], row["op_count"], row["total_ns"], row["median_ns"]) for row in communication] == [
        ("hcom_allReduce_", len(reduces), sum(reduces), median(reduces))
    ]
    assert sum(row["device_self_ns"] for row in ops) == sum(map(sum, kernels.values())) + sum(reduces)
    steps = [row for row in ops if str(row["name"]).startswith("ProfilerStep#")]
    assert sum(row["device_total_ns"] for row in steps) <= sum(row["device_self_ns"] for row in ops)
    assert all(0 <= row["host_self_ns"] <= row["host_total_ns"] for row in ops)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "compute_ns"),
    [pytest.param(0, (8_827_454, 8_813_154), marks=pytest.mark.slow), (1, (8_873_737, 8_878_275))],
)
def test_text_exports_of_alexnet_say_what_the_database_of_another_run_says(
    realdata: Path, level: int, compute_ns: tuple[int, int]
) -> None:
    text = realdata / "alexnet_ddp_910b" / "text" / f"level{level}"
    names = ["rank_id", "parent_module", "module", "op_name", "kernel_list", "op_count", "op_chain"]
    expected = module_stats(realdata / "alexnet_ddp_910b" / "db" / f"level{level}")
    with open_profile(text) as profile:
        assert set(profile.ranks()["source"]) == {"ascend_text"}
        build_at_once(profile, "module-stats", "module.kernel", "trace.op")
        found, kernels, ops = profile.module_stats(), profile.kernels(), profile.ops()
        assert profile.warnings == []
    assert len(found) == 64
    pd.testing.assert_frame_equal(found[names], expected[names], check_exact=True)
    total_ns, expected_ns = (frame.groupby("rank_id")["total_kernel_duration_ns"].sum() for frame in (found, expected))
    pd.testing.assert_series_equal(total_ns, expected_ns, check_exact=False, rtol=0.02)
    assert kernels.groupby(["rank_id", "kind"]).size().to_dict() == {
        (rank, kind): count for rank in (0, 1) for kind, count in (("compute", 187), ("communication", 4))
    }
    assert kernels[kernels["kind"] == "compute"].groupby("rank_id")["duration_ns"].sum().tolist() == list(compute_ns)
    assert set(kernels["link"]) == {"recorded"}
    assert kernels["op_name"].notna().all()
    assert ops.groupby("rank_id").size().to_dict() == {0: 860, 1: 860}
    for rank in (0, 1):
        details = pd.read_csv(text / f"rank{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv", dtype=str)
        compute = details[details["Accelerator Core"] != "HCCL"]
        assert sum(Decimal(one) for one in compute["Duration(us)"]) * 1000 == compute_ns[rank]


TIMES = ["name", "start_ns", "end_ns"]


def kernels_of_csv(file: Path) -> pd.DataFrame:
    rows = pd.read_csv(file, dtype=str, keep_default_na=False)
    start, duration = (rows[column].str.strip().map(Decimal) * 1000 for column in ("Start Time(us)", "Duration(us)"))
    times = {"start_ns": start.astype("int64"), "end_ns": (start + duration).astype("int64")}
    return pd.DataFrame({"name": rows["Name"], **times}).sort_values(TIMES, ignore_index=True)


def assert_same_kernels(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    found = found[TIMES].sort_values(TIMES, ignore_index=True)
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


@pytest.mark.parametrize(("name", "kernels"), quick([("qwen3-32b_pf_4112tok.csv", 1336), ("qwen3-32b_dc_16tok.csv", 952)], 1))
def test_a_bare_csv_gives_every_kernel_to_the_nanosecond(realdata: Path, name: str, kernels: int) -> None:
    with open_profile(realdata / "qwen3_32b_vllm_a3" / name) as profile:
        found = profile.table("trace.kernel")
        assert (profile.warnings, profile.failures) == ([], [])
    assert len(found) == kernels
    assert_same_kernels(found, kernels_of_csv(realdata / "qwen3_32b_vllm_a3" / name))


@pytest.mark.slow
def test_ranks_without_kernels_leave_the_others_every_kernel(realdata: Path) -> None:
    with open_profile(realdata / "qwen3_0.6b_pp2dp2_910b") as profile:
        kernels = profile.table("trace.kernel")
        assert (profile.warnings, profile.failures) == ([], [])
    assert kernels.groupby("rank_id").size().to_dict() == {0: 2463, 2: 2587}
    for rank, found in kernels.groupby("rank_id"):
        folder = realdata / "qwen3_0.6b_pp2dp2_910b" / f"rank_{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
        assert_same_kernels(found, kernels_of_csv(folder / "kernel_details.csv"))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_host_calls_of_alexnet_are_its_api_statistic_to_its_rounding(realdata: Path, rank: int, tmp_path: Path) -> None:
    """All 57 calls, with the trace and without it: the file has microseconds of two digits, of each total and limit."""
    folder = realdata / "alexnet_ddp_910b" / "text" / "level1" / f"rank{rank}_ascend_pt"
    alone = tmp_path / "ASCEND_PROFILER_OUTPUT" / "api_statistic.csv"
    alone.parent.mkdir()
    shutil.copy(folder / "ASCEND_PROFILER_OUTPUT" / "api_statistic.csv", alone)
    query = "SELECT level, name, calls, total_ns, min_ns, max_ns, self_ns FROM api.statistic"
    found = []
    for path in (folder, alone):
        with open_profile(path) as profile:
            found.append({(row["level"], row["name"]): row for row in profile.rows(query)})
    by_trace, by_file = found
    assert (len(by_trace), by_trace.keys()) == (57, by_file.keys())
    for key, row in by_trace.items():
        assert by_file[key]["self_ns"] is None
        assert by_file[key]["calls"] == row["calls"]
        for name in ("total_ns", "min_ns", "max_ns"):
            assert abs(by_file[key][name] - row[name]) <= 10 * row["calls"], key


@pytest.mark.slow
def test_host_calls_of_qwen3_are_the_sums_of_its_api_statistic(realdata: Path) -> None:
    folder = realdata / "qwen3_0.6b_pp2dp2_910b"
    for rank in (0, 2):
        table = pd.read_csv(folder / f"rank_{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "api_statistic.csv", dtype=str)
        expected = {
            (row["Level"].replace("hccl", "communication"), row["API Name"]): (
                int(row["Count"]),
                int(Decimal(row["Time(us)"]) * 1000),
            )
            for row in table.to_dict("records")
        }
        with open_profile(folder / f"rank_{rank}_ascend_pt") as profile:
            rows = profile.rows("SELECT level, name, calls, total_ns FROM api.statistic")
        assert {(row["level"], row["name"]): (row["calls"], row["total_ns"]) for row in rows} == expected


def op_statistic(rank: Path) -> dict[tuple[str, str], dict[str, Decimal]]:
    table = pd.read_csv(rank / "ASCEND_PROFILER_OUTPUT" / "op_statistic.csv", dtype=str)
    return {
        (row["OP Type"], row["Core Type"]): {name: Decimal(value) for name, value in row.items() if name in OP_STATISTIC}
        for row in table.to_dict("records")
    }


OP_STATISTIC = ("Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)")


@pytest.mark.filterwarnings("ignore:rank_.*no kernel_details.csv:prof_analysis.ProfAnalysisWarning")
def test_kernel_stats_of_qwen3_are_its_op_statistic(realdata: Path) -> None:
    folder = realdata / "qwen3_0.6b_pp2dp2_910b"
    with open_profile(folder) as profile:
        rows = arrow_of(profile.kernel_stats()).to_pylist()
        assert [warning.partition(": ")[0] for warning in profile.warnings] == ["rank_1_ascend_pt", "rank_3_ascend_pt"]
        assert profile.failures == []
    for rank in (0, 2):
        expected = op_statistic(folder / f"rank_{rank}_ascend_pt")
        found = {(row["type"], row["core"]): row for row in rows if row["rank_id"] == rank and row["kind"] == "compute"}
        assert {
            key: (row["kernel_count"], row["total_ns"], row["min_ns"], row["max_ns"], round(row["share"] * 100, 3))
            for key, row in found.items()
        } == {
            key: (
                row["Count"], row["Total Time(us)"] * 1000, row["Min Time(us)"] * 1000, row["Max Time(us)"] * 1000,
                float(row["Ratio(%)"]),
            )
            for key, row in expected.items()
        }  # fmt: skip
        # The file truncates its mean.
        assert all(0 <= row["mean_ns"] - float(expected[key]["Avg Time(us)"] * 1000) < 1.001 for key, row in found.items())


@pytest.mark.parametrize("rank", quick([0, 1], 1))
def test_kernel_stats_of_alexnet_are_within_10_ns_of_its_op_statistic(realdata: Path, rank: int) -> None:
    folder = realdata / "alexnet_ddp_910b" / "text" / "level1" / f"rank{rank}_ascend_pt"
    expected = op_statistic(folder)
    with open_profile(folder) as profile:
        rows = arrow_of(profile.kernel_stats()).to_pylist()
        assert not [warning for warning in profile.warnings if "in no answer" in warning], (
            "copies and transfers are no missing work"
        )
    found = {(row["type"], row["core"]): row for row in rows if row["kind"] == "compute"}
    assert {key: row["kernel_count"] for key, row in found.items()} == {key: row["Count"] for key, row in expected.items()}
    for name, column in (("total_ns", "Total Time(us)"), ("min_ns", "Min Time(us)"), ("max_ns", "Max Time(us)")):
        assert all(abs(row[name] - expected[key][column] * 1000) <= 10 for key, row in found.items()), name
