"""Which ranks are of one run, and what is answered of several: each by itself, and side by side."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest
from typer.testing import Result

from prof_analysis import InputError, ProfAnalysisWarning, Profile, QueryError, open_profile, open_profiles
from prof_analysis.analyses import ANALYSES
from prof_analysis.sources.runs import find_runs
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.places import SAMPLE
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

JOB = SAMPLE / "decoder_training"
S = 10**9


def rank(
    folder: Path,
    number: int | None = 0,
    ended_ns: int | None = None,
    group: str | None = None,
    world_size: int | None = None,
    duration: int = 40,
) -> Path:
    """A rank with one kernel; the moment its recording ended, and the job that its files name."""
    ops = (Op("aten::mm", 110, 120, (Kernel("k", 1000, 1000 + duration),)),)
    database = write_profile(folder, ops, (Range("Net", 100, 200),), rank=number)
    if ended_ns is not None:
        info = {"end_info": {"collectionTimeEnd": ended_ns}}
        (folder / f"profiler_info_{number}.json").write_text(json.dumps(info), encoding="utf-8")
    metadata: dict[str, object] = {"distributed_args": {"world_size": world_size}} if world_size else {}
    if group:
        members = list(range(world_size or 2))
        metadata["parallel_group_info"] = {group: {"group_name": "default_group", "global_ranks": members}, "g": 1}
    if metadata:
        (folder / "profiler_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    return database


def runs_of(path: Path) -> dict[str, list[str]]:
    """The runs under a path, and the profiles of each."""
    found: dict[str, list[str]] = {}
    for one in find_runs({"": path}):
        found.setdefault(one.run, []).append(one.profile)
    return found


def rows(profile: Profile, query: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in profile.rows(query)]


def test_ranks_of_one_number_in_two_folders_are_of_two_runs_named_like_these(tmp_path: Path) -> None:
    for run in ("after", "before/nested"):
        for node in (0, 1):
            rank(tmp_path / run / f"node{node}" / "x_ascend_pt", node)
    expected = {run: [f"{run}/node{node}/x_ascend_pt" for node in (0, 1)] for run in ("after", "before/nested")}
    assert runs_of(tmp_path) == expected
    assert runs_of(tmp_path / "before") == {"": ["nested/node0/x_ascend_pt", "nested/node1/x_ascend_pt"]}


def test_a_rank_that_cannot_be_read_is_of_the_run_beside_it(tmp_path: Path) -> None:
    for run in ("a", "b"):
        rank(tmp_path / run / "0_ascend_pt")
    (tmp_path / "b" / "1_ascend_pt").mkdir()
    (tmp_path / "c" / "2_ascend_pt").mkdir(parents=True)
    assert runs_of(tmp_path) == {
        "a": ["a/0_ascend_pt"], "b": ["b/0_ascend_pt", "b/1_ascend_pt"], "": ["c/2_ascend_pt"]
    }  # fmt: skip


def test_recordings_clearly_one_after_the_other_are_runs_in_the_order_of_time(tmp_path: Path) -> None:
    for name, number, ended_ns in (("a", 0, 1001 * S), ("b", 0, 10 * S), ("c", 1, 11 * S), ("d", 1, 1000 * S)):
        rank(tmp_path / f"{name}_ascend_pt", number, ended_ns)
    assert runs_of(tmp_path) == {"run 1": ["b_ascend_pt", "c_ascend_pt"], "run 2": ["a_ascend_pt", "d_ascend_pt"]}


@pytest.mark.parametrize(
    "ends",
    [
        pytest.param(((0, 10), (0, 20), (1, 14), (1, 17)), id="at about one time"),
        pytest.param(((0, 10), (0, 1000), (1, 11)), id="a recording that one rank lacks"),
        pytest.param(((0, 10), (0, 1000), (1, 11), (1, None)), id="a moment that is not known"),
        pytest.param(((0, 10), (0, 1000), (None, 11), (None, 1000)), id="ranks without numbers"),
    ],
)
def test_recordings_that_cannot_be_told_apart_are_one_run(
    tmp_path: Path, ends: tuple[tuple[int | None, int | None], ...]
) -> None:
    for position, (number, end) in enumerate(ends):
        rank(tmp_path / f"{position}_ascend_pt", number, None if end is None else end * S)
    assert list(runs_of(tmp_path)) == [""]


def test_one_run_has_no_column_run_and_a_warning_where_a_number_occurs_twice(tmp_path: Path) -> None:
    for name in ("a", "b"):
        rank(tmp_path / f"{name}_ascend_pt", ended_ns=10 * S)
    twice = says("2 folders have rank 0", "a_ascend_pt, b_ascend_pt", "sums over ranks")
    with pytest.warns(ProfAnalysisWarning, match=twice.pattern):
        profile = open_profile(tmp_path)
    with profile:
        assert profile.runs == ()
        kernels = profile.rows("FROM trace.kernel ORDER BY profile")
        assert [next(iter(row)) for row in kernels] == ["profile", "profile"]
        assert [(row["profile"], row["rank_id"]) for row in kernels] == [("a_ascend_pt", 0), ("b_ascend_pt", 0)]


def test_jobs_that_their_files_name_are_runs(tmp_path: Path) -> None:
    rank(tmp_path / "a_ascend_pt", 0, group="10.0.0.1%eth0_60000_0_17", world_size=2)
    rank(tmp_path / "b_ascend_pt", 1, group="10.0.0.1%eth0_60000_0_18", world_size=2)
    assert runs_of(tmp_path) == {"run 1": ["a_ascend_pt"], "run 2": ["b_ascend_pt"]}
    rank(tmp_path / "c_ascend_pt", 2)
    assert list(runs_of(tmp_path)) == [""], "of one it is not known"


def test_jobs_of_other_sizes_are_runs_and_of_one_size_are_one(tmp_path: Path) -> None:
    rank(tmp_path / "a_ascend_pt", 0, world_size=8)
    rank(tmp_path / "b_ascend_pt", 1, group="g_17", world_size=8)
    assert list(runs_of(tmp_path)) == [""]
    rank(tmp_path / "c_ascend_pt", 2, world_size=4)
    assert runs_of(tmp_path) == {"run 1": ["c_ascend_pt"], "run 2": ["a_ascend_pt", "b_ascend_pt"]}


def test_what_a_database_says_of_job_and_host_is_taken_where_no_file_does(tmp_path: Path) -> None:
    for number in (0, 1):
        groups = json.dumps({f"g_{number}": {"group_name": "default_group", "global_ranks": [0, 1]}})
        edit(
            rank(tmp_path / "jobs" / f"{number}_ascend_pt", number),
            f"CREATE TABLE META_DATA (name TEXT, value TEXT); INSERT INTO META_DATA VALUES ('parallel_group_info', '{groups}'),"
            "('distributed_args', '{'), ('ENV_VARIABLES', '{}');",
        )
    assert list(runs_of(tmp_path / "jobs")) == ["run 1", "run 2"]
    for host in ("x", "y"):
        for number in (0, 1):
            edit(
                rank(tmp_path / "hosts" / f"{number}{host}_ascend_pt", number),
                f"CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT); INSERT INTO HOST_INFO VALUES ('1', '{host}');",
            )
    assert runs_of(tmp_path / "hosts") == {
        "run 1": ["0x_ascend_pt", "1x_ascend_pt"], "run 2": ["0y_ascend_pt", "1y_ascend_pt"]
    }  # fmt: skip
    for end, name in ((10, "a"), (1000, "b")):
        edit(
            rank(tmp_path / "times" / f"{name}_ascend_pt"),
            f"CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER, endTimeNs INTEGER);"
            f"INSERT INTO SESSION_TIME_INFO VALUES (1, {end});",
        )
    assert runs_of(tmp_path / "times") == {"run 1": ["a_ascend_pt"], "run 2": ["b_ascend_pt"]}


@pytest.mark.slow
def test_each_real_profile_is_one_run_and_several_below_one_folder_are_several(realdata: Path) -> None:
    jobs = sorted({folder.parent for folder in realdata.rglob("rank0_ascend_pt")} | set(realdata.glob("qwen3_0.6b*")))
    assert len(jobs) > 4
    for job in jobs:
        assert list(runs_of(job)) == [""], job
    assert list(runs_of(realdata / "alexnet_ddp_910b")) == ["db/level0", "db/level1", "text/level0", "text/level1"]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, and below the same folder a copy of its first rank and a broken one."""
    folder = tmp_path_factory.mktemp("copies")
    shutil.copytree(JOB, folder / "all")
    first = sorted(JOB.iterdir())[0]
    shutil.copytree(first, folder / "one" / first.name)
    return folder


SEVERAL = ("op-stats", "communication-stats", "communication-time", "mfu", "pmu-stats", "module-stats", "mstx-stats")


@pytest.mark.parametrize("commands", [("kernel-stats", "slow-ranks"), pytest.param(SEVERAL, marks=pytest.mark.slow)], ids=len)
@pytest.mark.slow
def test_tables_over_ranks_are_those_of_each_run_alone(copies: Path, commands: tuple[str, ...]) -> None:
    analyses = [ANALYSES[command] for command in commands]
    tables = [name for analysis in analyses for name in (*analysis.exports, *analysis.of_several_ranks)]
    alone = {}
    for run in ("all", "one"):
        with open_profile(copies / run) as profile:
            of_one = [says("1 of 2 ranks", "not here: 1")]
            assert (profile.runs, profile.warnings) == ((), of_one if run == "one" else [])
            build_at_once(profile, *tables)
            alone[run] = {name: profile.sql(f"SELECT COLUMNS(lambda c : c NOT LIKE '%profile') FROM {name}") for name in tables}
    with pytest.warns(ProfAnalysisWarning, match=r"copies\d*: holds 2 runs: all \(ranks 0, 1\); one \(rank 0\); each is "):
        profile = open_profile(copies)
    with profile:
        assert profile.runs == ("all", "one")
        build_at_once(profile, *tables)
        for name in tables:
            found = profile.sql(f"SELECT COLUMNS(lambda c : c NOT LIKE '%profile') FROM {name}")
            assert found.columns[0] == "run"
            for run in profile.runs:
                of_run = found[found["run"] == run].drop(columns="run").reset_index(drop=True)
                assert of_run.to_csv() == alone[run][name].to_csv(), (name, run)
            with profile.only("one"):
                only = profile.sql(f"SELECT COLUMNS(lambda c : c NOT LIKE '%profile') FROM {name}")
            assert only.to_csv() == alone["one"][name].to_csv(), name


@pytest.mark.slow
def test_the_commands_answer_for_each_run(copies: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    done = command("kernel-stats", "-d", copies, "-o", tmp_path, "--json", "--export_type", "db")
    answer = json.loads(done.stdout)
    assert list(answer["runs"]) == ["all", "one"]
    _, copy, missing = sorted(answer["warnings"], key=lambda one: ("holds 2 runs" not in one, "is the recording of" not in one))
    assert copy == says("is the recording of", "once more", "remove the copy")
    assert missing == says("run one: 1 of 2 ranks", "not here: 1")
    with closing(sqlite3.connect(tmp_path / "cluster_analysis_output" / "cluster_analysis.db")) as database:
        ranks = database.execute("SELECT run, rank_id FROM ProfileRank").fetchall()
        counted = database.execute("SELECT DISTINCT run FROM KernelStatisticAllRanks ORDER BY run").fetchall()
    assert ranks == [("all", 0), ("all", 1), ("one", 0)]
    assert counted == [("all",), ("one",)]
    listed = json.loads(command("ranks", "-d", copies, "--json").stdout)["ranks"]
    assert [(row["run"], row["rank_id"]) for row in listed] == [("all", 0), ("all", 1), ("one", 0)]
    ranks = command("ranks", "-d", copies).stdout.splitlines()[1:4]
    assert [line.split()[1:3] for line in ranks] == [["all", "0"], ["all", "1"], ["one", "0"]]
    only_one = json.loads(command("ranks", "-d", copies / "one", "--json").stdout)["ranks"]
    assert "run" not in only_one[0], "one run has no name"


def test_where_no_run_has_rows_each_says_so(tmp_path: Path, command: Callable[..., Result]) -> None:
    for run in ("a", "b"):
        rank(tmp_path / run / "0_ascend_pt", 0)
    said = "none found: no grouped matmuls, the kernels of experts (MoE)"
    assert command("experts", tmp_path, "--quiet").stdout == f"run a:\n{said}\n\nrun b:\n{said}\n"
    assert [*json.loads(command("experts", tmp_path, "--json").stdout)["runs"]] == ["a", "b"]


@pytest.mark.slow
def test_the_screen_and_all_exports_answer_for_each_run(copies: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    shown = command("kernel-stats", "-d", copies, "-o", tmp_path, "--export_type", "csv").stdout
    assert [line for line in shown.splitlines() if line.startswith("run ")] == ["run all:", "run one:"]
    assert shown.count("wrote ") == 2
    csv = (tmp_path / "cluster_analysis_output" / "kernel_statistic.csv").read_text()
    assert csv.startswith("run,profile,rank_id,kind,")
    assert command("kernel-stats", "-d", copies, "-o", tmp_path, "--export_type", "text").stdout.count(".xlsx") == 1
    book = openpyxl.load_workbook(tmp_path / "cluster_analysis_output" / "KernelStatistic" / "kernel_statistic.xlsx")
    headings, *ranks, _ = book["KernelStatistic"].iter_rows(max_col=2, values_only=True)
    assert headings == ("Run", "Rank ID")
    assert {run for run, _ in ranks} == {"all", "one"}
    said = [row[0] for row in book["About"].iter_rows(values_only=True)]
    assert "Answer for all" in said and "Answer for one" in said


def test_ranks_that_are_chosen_may_leave_one_run(copies: Path) -> None:
    with open_profile(copies, rank_list=[1]) as profile:
        assert (profile.runs, profile.warnings) == ((), [])
        assert arrow_of(profile.kernel_stats()).column_names[0] == "profile"


@pytest.fixture
def two(tmp_path: Path) -> dict[str, Path]:
    rank(tmp_path / "x" / "0_ascend_pt", duration=40)
    rank(tmp_path / "x" / "1_ascend_pt", 1, duration=60)
    rank(tmp_path / "y" / "0_ascend_pt", duration=70)
    return {"before": tmp_path / "x", "after": tmp_path / "y"}


def test_runs_with_names_are_side_by_side(two: dict[str, Path]) -> None:
    with open_profiles(two) as profile:
        build_at_once(profile, "kernel-stats", "trace.kernel")
        assert profile.runs == ("before", "after")
        assert rows(profile, "SELECT run, profile, rank_id, duration_ns FROM trace.kernel ORDER BY run DESC, rank_id") == [
            ("before", "before/0_ascend_pt", 0, 40),
            ("before", "before/1_ascend_pt", 1, 60),
            ("after", "after/0_ascend_pt", 0, 70),
        ]
        assert profile.kernel_stats(across_ranks=True)[["run", "total_ns"]].values.tolist() == [["before", 100], ["after", 70]]
        assert profile.ranks()[["run", "rank_id"]].values.tolist() == [["before", 0], ["before", 1], ["after", 0]]
        assert repr(profile).startswith(f"Profile {two['before']} and {two['after']}: 3 of 3 ranks")
        assert profile.warnings == []
        with pytest.raises(QueryError, match="there is no run later; the runs are before, after"), profile.only("later"):
            pass
        with pytest.raises(InputError, match="give the folder to write to"):
            profile.export()
        with profile.only("after"):
            assert rows(profile, "SELECT profile, total_ns FROM kernels.statistic") == [("after/0_ascend_pt", 70)]


@pytest.mark.slow
def test_of_one_run_all_runs_are_written(two: dict[str, Path], tmp_path: Path) -> None:
    with open_profiles(two) as profile, profile.only("after"):
        files = [file.name for file in profile.export(tmp_path, "csv", "kernel-stats")]
    assert files == ["kernel_statistic.csv", "kernel_statistic_all_ranks.csv"]
    written = (tmp_path / "cluster_analysis_output" / "kernel_statistic.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in written] == ["run", "before", "before", "after"]


@pytest.mark.slow
def test_questions_over_two_runs_are_files(two: dict[str, Path], tmp_path: Path) -> None:
    """One compares the runs; a schema may be called like a run; a table over runs cannot be asked of one."""
    for name, body in (
        (
            "runs/kernel_time",
            "-- One row is a type of kernels with its time before and after, a rank.\n"
            "--\n"
            "-- type        VARCHAR  type\n"
            "-- before_ns   DOUBLE   mean over the ranks before, ns\n"
            "-- after_ns    DOUBLE   mean over the ranks after, ns\n"
            "-- slowest_ns  BIGINT   the longest time of a kernel in any run, as across.kernel_statistic says, ns\n"
            "WITH slowest AS (SELECT type, max(max_ns) AS slowest_ns FROM across.kernel_statistic GROUP BY type)\n"
            "SELECT type, avg(total_ns) FILTER (run = 'before') AS before_ns,\n"
            "    avg(total_ns) FILTER (run = 'after') AS after_ns, min(slowest_ns) AS slowest_ns\n"
            "FROM kernels.statistic\nJOIN slowest USING (type)\nGROUP BY type",
        ),
        ("run_0/x", "-- One row is a number.\n--\n-- n  BIGINT  kernels\nSELECT count(*) AS n FROM trace.kernel"),
        ("across/y", "-- One row is a number.\n--\n-- n  BIGINT  kernels\nSELECT sum(n)::BIGINT AS n FROM run_0.x"),
    ):
        (file := tmp_path / "sql" / f"{name}.sql").parent.mkdir(parents=True)
        file.write_text(body, encoding="utf-8")
    with open_profiles(two, sql=tmp_path / "sql") as profile:
        with profile.only("before"), pytest.raises(QueryError, match=r"runs\.kernel_time compares runs"):
            profile.table("runs.kernel_time")
        assert rows(profile, "FROM runs.kernel_time") == [("Mul", 50.0, 70.0, 70)]
        assert profile.table("runs.kernel_time").columns.tolist() == ["type", "before_ns", "after_ns", "slowest_ns"]
        assert rows(profile, "FROM across.y") == [("before", 2), ("after", 1)]


@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_a_run_whose_ranks_fail_is_left_out_and_named(two: dict[str, Path]) -> None:
    database = next(two["after"].rglob("*.db"))
    with closing(sqlite3.connect(database)) as broken, broken:
        broken.execute("DROP TABLE STRING_IDS")
        broken.execute("CREATE VIEW STRING_IDS AS SELECT 1 AS id")
    content = database.read_bytes()
    with open_profiles(two) as profile:
        assert profile.runs == ("before", "after")
        database.write_bytes(content[: len(content) // 2])
        assert profile.kernel_stats()["run"].tolist() == ["before", "before"]
        assert len(profile.failures) == 1
        assert str(two["after"]) in profile.failures[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_a_run_of_which_nothing_can_be_read_is_named_and_the_other_answers(two: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "z" / "0_ascend_pt").mkdir(parents=True)
    with open_profiles({"before": two["before"], "after": tmp_path / "z"}) as profile:
        assert profile.runs == ("before", "after")
        assert profile.kernel_stats()["run"].tolist() == ["before", "before"]
        assert len(profile.failures) == 1


@pytest.mark.parametrize("is_asked_before", [False, True])
@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
@pytest.mark.slow
def test_of_a_run_whose_ranks_fail_nothing_is_there(two: dict[str, Path], is_asked_before: bool) -> None:
    """What was shown before it failed is gone as well."""
    database = next(two["after"].rglob("*.db"))
    content = database.read_bytes()
    with open_profiles(two) as profile:
        if is_asked_before:
            assert len(profile.kernel_stats()) == 3
        database.write_bytes(content[: len(content) // 2])
        profile.module_stats()
        with profile.only("after"):
            assert not profile.has_answer("module-stats")
            assert not profile.has_answer("kernel-stats")
            assert rows(profile, "SELECT kernel_count FROM across.kernel_statistic") == []
        with profile.only("before"):
            assert profile.has_answer("kernel-stats")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_a_run_may_be_compared_with_itself_or_with_one_of_its_ranks(two: dict[str, Path]) -> None:
    for other in (two["before"], two["before"] / "1_ascend_pt"):
        with open_profiles({"a": two["before"], "b": other}) as profile:
            assert profile.warnings == [says(two["before"], "in the runs a and b", "same figures")]
            times = rows(profile, "SELECT run, sum(duration_ns)::BIGINT FROM trace.kernel GROUP BY run ORDER BY run")
            assert times == [("a", 100), ("b", 100 if other == two["before"] else 60)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda two: {"before": two["before"]}, "give two or more runs with their names", id="one"),
        pytest.param(lambda two: list(two.values()), "give two or more runs with their names", id="no names"),
        pytest.param(lambda two: {" ": two["before"], "b": two["after"]}, "give two or more runs", id="empty name"),
        pytest.param(
            lambda two: {"a": two["before"].parent, "b": two["after"]}, "run a: .* holds 2 runs: x .* give the folder", id="two"
        ),
        pytest.param(
            lambda two: {"a": two["before"].parent / "x", "a/b": two["after"]},
            "a/b/0_ascend_pt: .* names without a /",
            id="slash",
        ),
        pytest.param(lambda two: {"a": two["before"], "b": two["after"] / "no"}, "there is no such folder", id="nothing"),
    ],
)
@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_runs_that_make_no_sense_are_refused(
    two: dict[str, Path], make: Callable[[dict[str, Path]], dict[str, Path]], message: str
) -> None:
    rank(two["before"] / "b" / "0_ascend_pt", None)
    with pytest.raises(InputError, match=message):
        open_profiles(make(two))
    if not isinstance(make(two), list):
        with pytest.raises(InputError, match=message):
            Profile(make(two))


def test_each_run_must_have_one_of_the_chosen_ranks(two: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=says("y: ", "none of the chosen ranks", "choose ranks that each run has").pattern):
        open_profiles(two, rank_list=[1])
