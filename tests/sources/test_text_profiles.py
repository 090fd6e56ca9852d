"""Text exports answer what the database of the same run answers; a folder that lacks some answers what the others allow."""

import gzip
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_spreadsheet import resave_as_spreadsheet
from fixtures.text_style import TextStyle, sglang
from prof_analysis import InputError, ProfAnalysisWarning, Profile, open_profile
from prof_analysis.common.capabilities import CAPABILITIES
from prof_analysis.common.options import Source
from prof_analysis.sources.ascend_beside.profiler_info import NO_GRAPH_CALLS, NO_STACKS, NO_STATIC_MEMORY, why_no_memory
from tests.helpers.answers import COMMUNICATION, answered_without, unanswered
from tests.helpers.asking import IDS, build_at_once
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import edit

Command = Callable[..., Result]
Rows = list[dict[str, Any]]

ANALYSES = ("module.statistic", "module.tree", "module.coverage")
TABLES = (
    *ANALYSES,
    "module.kernel",
    "step.time",
    "free.cause",
    "trace.kernel",
    "trace.op",
    "trace.op_link",
    "trace.forward_backward",
    "trace.queue",
    "trace.queue_thread",
    "trace.range",
    "trace.launch",
    "trace.step",
    "trace.set_aside",
)
TEXT_ONLY = {
    "compute": ("step_id", "hf32_eligible"),
    "schedule": ("step_id", "hf32_eligible", "block_num", "mix_block_num"),
    "communication": ("step_id", "device_id"),
}
"""What only the text exports say of a kernel of a kind."""

# What the generated runs have no part of.
LACKS = {
    "graph_calls": NO_GRAPH_CALLS, "memory": why_no_memory({}), "static_memory": NO_STATIC_MEMORY, "stacks": NO_STACKS,
}  # fmt: skip
EVERYTHING = Shape(
    steps=1,
    layers=1,
    bias_gradient=True,
    backward_communication=True,
    lost_link_every=7,
    forward_threads=2,
    equal_sequences=True,
    relaunch=True,
    depth=3,
    gradient_hooks=True,
    open_ranges=True,
    overlapping_ranges=True,
    graph_replay=True,
    edge_cut=True,
    bare_launches=True,
    nn_module_ranges="beside",
    domains=True,
)


def tables_of(path: Path, source: Source, names: tuple[str, ...] = TABLES) -> dict[str, Rows]:
    """Tables of a profile without the numbers of rows; those of the trace in an order of their own."""
    with open_profile(path, source=source) as profile:
        build_at_once(profile, *names)
        tables = {name: profile.table(name, arrow=True).to_pylist() for name in names}
        assert profile.failures == []
    for name, rows in tables.items():
        tables[name] = [{column: value for column, value in row.items() if column not in IDS} for row in rows]
        if name not in ANALYSES:
            tables[name].sort(key=lambda row: repr(list(row.values())))
    return tables


def without_text_only(rows: Rows) -> Rows:
    left = [{c: v for c, v in row.items() if c not in TEXT_ONLY.get(row.get("kind", ""), ())} for row in rows]
    return sorted(left, key=lambda row: repr(sorted(row.items(), key=str)))


def assert_same(path: Path, names: tuple[str, ...] = TABLES, has_flows: bool = True) -> None:
    from_db, from_text = tables_of(path, "db", names), tables_of(path, "text", names)
    for name in names:
        if name in ("trace.kernel", "module.kernel"):
            assert without_text_only(from_text[name]) == without_text_only(from_db[name]), name
        elif name == "trace.forward_backward":
            # Flows are written only where the threads differ.
            assert from_text[name] or not (from_db[name] and has_flows)
            assert len(from_text[name]) <= len(from_db[name])
        else:
            assert from_text[name] == from_db[name], name
    assert len(from_db["module.statistic"]) > 5


@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
@pytest.mark.parametrize(
    ("shape", "style"),
    [
        (EVERYTHING, TextStyle(exports="both")),
        pytest.param(
            Shape(layers=1, schema="2025", recompute=True),
            TextStyle(exports="both", timestamps="number", end="comma"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            Shape(
                steps=2,
                layers=1,
                task_queue=False,
                last_op_lost=True,
                double_backward=True,
                micro_batches=2,
                restarted_sequences="micro_batch",
            ),
            TextStyle(exports="both", gzip=True, end="unclosed"),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["every switch", "2025", "no queue"],
)
def test_text_and_database_of_one_run_say_the_same(shape: Shape, style: TextStyle, tmp_path: Path) -> None:
    generate(tmp_path, shape, ranks=1, style=style)
    assert_same(tmp_path)


@pytest.mark.slow
def test_level_0_gives_the_same_analyses(tmp_path: Path) -> None:
    generate(tmp_path, Shape(steps=1, layers=1), ranks=1, style=TextStyle(exports="both", level="Level0"))
    names = (*ANALYSES, "trace.kernel")
    from_db, from_text = tables_of(tmp_path, "db", names), tables_of(tmp_path, "text", names)
    without_mfu = [[{**row, "avg_mfu": None} if "avg_mfu" in row else row for row in from_db[name]] for name in ANALYSES]
    assert [from_text[name] for name in ANALYSES] == without_mfu
    kernels = from_text["trace.kernel"]
    assert {row["input_shapes"] for row in kernels} == {None}
    assert {row["type_from"] for row in kernels if row["kind"] == "compute"} == {"name"}
    assert {row["type"] for row in kernels if row["kind"] == "communication"} == {"hcom_allReduce_"}


@pytest.mark.slow
def test_what_sglang_collects_needs_no_database(tmp_path: Path, command: Command) -> None:
    shape, style = sglang(steps=1, layers=1)
    generate(tmp_path, replace(shape, queue_threads=2), ranks=1, style=replace(style, exports="both"))
    assert_same(tmp_path)
    next(tmp_path.rglob("*.db")).unlink()
    result = command("module-stats", "-d", tmp_path, "--json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["status"], answer["warnings"]) == (0, "done", [])
    modules = [row["module"] for row in answer["summary"]["heaviest_modules"]]
    assert {module.rpartition("/")[2] for module in modules} >= {"Qwen2Attention", "Qwen2MLP", "Linear", "SiLU"}


_SWITCHES = st.builds(
    Shape,
    mode=st.sampled_from(["training", "inference"]),
    steps=st.integers(1, 2),
    layers=st.integers(1, 2),
    micro_batches=st.integers(1, 2),
    forward_threads=st.integers(1, 3),
    queue_threads=st.integers(1, 2),
    lost_link_every=st.sampled_from([0, 5]),
    depth=st.integers(0, 5),
    schema=st.sampled_from(["2025", "2026"]),
    nn_module_ranges=st.sampled_from(["none", "beside", "instead"]),
    **{
        switch: st.booleans()
        for switch in (
            "task_queue",
            "communication",
            "schedule_kernels",
            "record_shapes",
            "bias_gradient",
            "backward_communication",
            "equal_sequences",
            "relaunch",
            "recompute",
            "double_backward",
            "gradient_hooks",
            "last_op_lost",
            "open_ranges",
            "overlapping_ranges",
            "graph_replay",
            "edge_cut",
            "bare_launches",
            "domains",
        )
    },
)
_STYLES = st.builds(
    TextStyle,
    exports=st.just("both"),
    timestamps=st.sampled_from(["text", "number"]),
    end=st.sampled_from(["closed", "unclosed", "comma"]),
    gzip=st.booleans(),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(shape=_SWITCHES, style=_STYLES, seed=st.integers(0, 99))
def test_any_switches_give_the_same_from_text_and_database(
    shape: Shape, style: TextStyle, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("run")
    generate(folder, shape, ranks=1, seed=seed, style=style)
    assert_same(folder, has_flows=False)  # One thread alone needs none.
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a rank with both exports."""
    folder = tmp_path_factory.mktemp("both")
    generate(folder, Shape(steps=1, layers=1), ranks=1, style=TextStyle(exports="both"))
    return next(folder.iterdir())


@pytest.fixture
def rank(both: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return shutil.copytree(both, tmp_path / both.name)


def output(rank: Path) -> Path:
    return rank / "ASCEND_PROFILER_OUTPUT"


def database(rank: Path) -> Path:
    return next(output(rank).glob("*.db"))


def kernel_counts(profile: Profile) -> dict[str, int]:
    rows = profile.sql("SELECT kind::VARCHAR AS kind, count(*) AS n FROM trace.kernel GROUP BY ALL", arrow=True).to_pylist()
    return {row["kind"]: row["n"] for row in rows}


def found(path: Path, source: Source = "auto") -> dict[str, Any]:
    with open_profile(path, source=source) as profile:
        (row,) = profile.ranks(arrow=True).to_pylist()
    return dict(row)


def test_the_database_serves_where_both_answer_the_same(rank: Path, command: Command) -> None:
    assert found(rank)["source"] == "ascend_db"
    assert found(rank, "text")["source"] == "ascend_text"
    assert found(rank, "db")["source"] == "ascend_db"
    assert "the profiler database" in command("ranks", "-d", rank).stdout
    assert "the text exports" in command("ranks", "-d", rank, "--source", "text").stdout


def test_the_text_exports_serve_where_the_database_is_broken(rank: Path, command: Command) -> None:
    database(rank).write_bytes(b"SQLite format 3\x00" + bytes(100))
    row = found(rank)
    assert row["source"] == "ascend_text"
    assert row["unanswered"] == [f"{command}: {reason}" for command, reason in unanswered(LACKS)]
    assert row["unread"][0].startswith(f"{database(rank)}: not a readable SQLite database")
    assert f"\n{row['unread'][0]}\n" in command("ranks", "-d", rank).stdout
    assert f"warning: {row['unread'][0]}; the rank is read without it\n" in command("kernel-stats", "-d", rank).stderr


@pytest.mark.slow
def test_the_text_exports_serve_where_the_database_answers_less(rank: Path) -> None:
    edit(database(rank), "DROP TABLE MSTX_EVENTS")
    assert found(rank)["source"] == "ascend_text"
    assert found(rank, "db")["unanswered"][0].startswith("module-stats: no module ranges")


@pytest.mark.slow
def test_a_run_without_communication_is_no_reason_to_leave_the_database(tmp_path: Path) -> None:
    shape = Shape(mode="inference", steps=1, layers=1, communication=False)
    generate(tmp_path, shape, ranks=1, style=TextStyle(exports="both"))
    assert found(tmp_path)["source"] == "ascend_db"
    row = found(tmp_path, "text")
    assert row["answers"] == list(answered_without(*COMMUNICATION, *LACKS))
    lacks = dict.fromkeys(COMMUNICATION, "no communication operators") | LACKS
    assert row["unanswered"] == [says(f"{command}: {reason}") for command, reason in unanswered(lacks)]


def test_a_choice_that_is_not_there_says_what_to_do(rank: Path, command: Command) -> None:
    text = shutil.copytree(rank, rank.parent / "text_ascend_pt")
    database(text).unlink()
    for file in (file for file in output(rank).iterdir() if file.suffix != ".db"):
        file.unlink()
    for path, source in ((text, "db"), (rank, "text")):
        result = command("module-stats", "-d", path, "--source", source)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"leave out --source {source}" in result.stderr


# What is not in kernel_details.csv, and what only there.
ONLY_DETAILS = [
    *(
        "modules",
        "ops",
        "reported_ops",
        "marks",
        "clock",
        "graph_calls",
        "host_calls",
        "reported_host_calls",
        "memory",
        "static_memory",
        "stacks",
    ),
]
WITHOUT_DETAILS = ["shapes", "counters", "graph_calls", "memory", "static_memory", "stacks"]


@pytest.mark.parametrize(
    ("left", "lacks", "missing"),
    quick(
        [
            (["kernel_details.csv"], [*ONLY_DETAILS, "transfers"], "no trace_view.json"),
            (["trace_view.json"], WITHOUT_DETAILS, "no kernel_details.csv, so no kernel types"),
            (["op_statistic.csv"], [*CAPABILITIES.keys() - {"reported_kernels"}], "no kernel_details.csv and no trace_view"),
        ],
        0,
    ),
)
def test_a_folder_with_a_part_answers_what_that_allows(
    left: list[str], lacks: list[str], missing: str, rank: Path, tmp_path: Path
) -> None:
    expected = tables_of(rank, "db", ("trace.kernel",))["trace.kernel"]
    for file in output(rank).iterdir():
        if file.name not in left:
            file.unlink()
    row = found(rank)
    assert {one.partition(":")[0] for one in row["unanswered"]} == {
        command for command, _ in unanswered(dict.fromkeys(lacks, missing))
    }
    assert any(missing in one for one in row["missing"])
    kernels = tables_of(rank, "auto", ("trace.kernel",))["trace.kernel"]
    if left == ["op_statistic.csv"]:
        assert kernels == []
        return
    times = ["kind", "name", "start_ns", "end_ns"]
    assert sorted([row[c] for c in times] for row in kernels) == sorted([row[c] for c in times] for row in expected)
    if left == ["kernel_details.csv"]:
        with open_profile(tmp_path) as profile, pytest.raises(InputError, match=r"no trace_view\.json"):
            profile.module_stats()


@pytest.mark.parametrize("name", quick(["trace_view.json", "trace_view.json.gz", "kernel_details.csv"], 1, 2))
@pytest.mark.slow
def test_a_bare_file_is_a_profile(name: str, rank: Path, tmp_path: Path, command: Command) -> None:
    file = tmp_path / name
    content = (output(rank) / name.removesuffix(".gz")).read_bytes()
    file.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    row = found(file)
    assert (row["profile"], row["source"], row["files"]) == (name, "ascend_text", [name])
    with open_profile(file) as profile:
        assert kernel_counts(profile) == {"compute": 65, "communication": 2, "schedule": 2}
    result = command("module-stats", "-d", file, "-o", tmp_path / "out")
    if name == "kernel_details.csv":
        assert result.exit_code == 2
        assert "no trace_view.json" in result.stderr
    else:
        assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.slow
def test_a_csv_saved_by_a_spreadsheet_says_the_same(rank: Path) -> None:
    before = tables_of(rank, "text", ("trace.kernel",))
    resave_as_spreadsheet(output(rank) / "kernel_details.csv", delimiter=";", line_end="\n", empty_columns=2)
    assert tables_of(rank, "text", ("trace.kernel",)) == before


def damaged(rank: Path, damage: Callable[[bytes], bytes], name: str = "trace_view.json") -> Path:
    file = output(rank) / name
    file.write_bytes(damage(file.read_bytes()))
    for db in output(rank).glob("*.db"):
        db.unlink()
    return file


@pytest.mark.parametrize(
    ("name", "damage", "exit_code", "says"),
    [
        pytest.param(
            "trace_view.json",
            lambda text: text[: len(text) // 2],
            0,
            "warning: {file}: the list of events is not closed",
            marks=pytest.mark.slow,
        ),
        ("trace_view.json", lambda _: b"", 2, "error: {folder}: no rank can answer this: {file}: is empty"),
        pytest.param(
            "kernel_details.csv",
            lambda text: text[: len(text) // 2],
            0,
            "warning: {file}: breaks off within a line",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_damaged_file_is_a_warning_or_one_error(
    name: str, damage: Callable[[bytes], bytes], exit_code: int, says: str, rank: Path, tmp_path: Path, command: Command
) -> None:
    file = damaged(rank, damage, name)
    result = command("module-stats", "-d", rank, "-o", tmp_path / "out", "--export_type", "csv")
    assert result.exit_code == exit_code, result.output
    assert says.format(file=file, folder=rank) in result.stderr
    assert (tmp_path / "out").exists() == (exit_code == 0)
    assert len([line for line in result.stderr.splitlines() if line.startswith("error: ")]) == (exit_code == 2)


@pytest.mark.parametrize(
    ("name", "says", "lacks"),
    [
        ("trace_view.json", "holds no list of events", [one for one in ONLY_DETAILS if one != "reported_host_calls"]),
        ("kernel_details.csv", "is not a kernel_details.csv: it has no column 'name'", WITHOUT_DETAILS),
    ],
)
def test_a_file_that_cannot_be_read_leaves_what_the_other_answers(name: str, says: str, lacks: list[str], rank: Path) -> None:
    file = damaged(rank, lambda _: b"no json, no csv\n", name)
    row = found(rank)
    assert row["answers"] == list(answered_without(*lacks))
    assert row["unread"][0].startswith(f"{file}: {says}")
    with pytest.warns(ProfAnalysisWarning, match="the rank is read without it"), open_profile(rank) as profile:
        assert kernel_counts(profile) == {"compute": 65, "communication": 2, "schedule": 2}


def check_random_bytes(seed: int, rank: Path) -> None:
    make = random.Random(seed)

    def damage(content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(make.choice([1, 10, 200])):
            changed[make.randrange(1, len(changed))] = make.choice([*b'{}[]",:\\', make.randrange(256)])
        return bytes(changed)

    for name in ("trace_view.json", "kernel_details.csv"):
        damaged(rank, damage, name)
    try:
        with open_profile(rank) as profile:
            build_at_once(profile, "module.statistic", "module.kernel", "trace.set_aside")
            assert profile.details == []
    except InputError:
        pass


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_random_bytes_never_end_in_a_traceback(rank: Path, both: Path) -> None:
    for seed in range(2):
        shutil.copytree(both, rank, dirs_exist_ok=True)
        check_random_bytes(seed, rank)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_many_random_bytes(rank: Path, both: Path) -> None:
    for seed in range(200):
        shutil.copytree(both, rank, dirs_exist_ok=True)
        check_random_bytes(seed, rank)
