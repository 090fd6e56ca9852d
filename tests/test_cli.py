"""The command as a user or a script meets it: exit codes, what stands on stdout and stderr, options, help, and files."""

import hashlib
import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import adbc_driver_sqlite
import pytest
import typer
from typer.testing import CliRunner, Result

from prof_analysis import __version__
from prof_analysis.analyses import ANALYSES
from prof_analysis.cli import app
from prof_analysis.engine.tables import documented_tables
from tests.helpers.answers import NOT_IN_ONE_RANK, answered_without, unanswered
from tests.helpers.places import CHECKOUT
from tests.helpers.small_profile import Frame, Kernel, Launch, Op, Range, write_profile

Command = Callable[..., Result]

RANGES = (Range("Net", 100, 200), Range("Layer", 105, 125))
OPS = (
    Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 4000),)),
    Op("aten::add", 130, 140, (Kernel("add_kernel", 5000, 6000),)),
    Op("aten::item", 300, 310, (Kernel("copy_kernel", 7000, 13000),)),
)
STEPS = ((7, 100, 125), (8, 125, 400))


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """A folder of two equal ranks: 3 us in Net/Layer, 1 us in Net, 6 us outside modules."""
    for rank in (0, 1):
        write_profile(tmp_path / "ranks" / f"{rank}_ascend_pt", OPS, RANGES, steps=STEPS, rank=rank)
    return tmp_path / "ranks"


def files_below(folder: Path) -> dict[str, str]:
    """Every file with a hash of its content, and every folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in folder.rglob("*")
    }


def break_database(folder: Path) -> Path:
    (database,) = folder.rglob("*.db")
    database.write_bytes(b"not a database, " * 100)
    return database


def only_json(result: Result) -> dict[str, Any]:
    """The JSON object that is all of stdout."""
    assert result.stdout.endswith("}\n")
    assert result.stderr == ""
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def words_on(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def test_the_summary_names_the_heaviest_modules_and_where_all_kernel_time_went(ranks: Path, command: Command) -> None:
    result = command("module-stats", "-d", ranks)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert [words_on(line) for line in result.stdout.splitlines() if line.strip()] == [
        ["share", "kernel time", "calls", "module"],
        ["30.0%", "6.00 us", "2", "Net/Layer"],
        ["10.0%", "2.00 us", "2", "Net"],
        ["inside modules", "outside modules", "linked to no op", "kernel time", "kernels"],
        ["40.0%", "60.0%", "0.0%", "20.00 us", "compute"],
        [f"wrote {ranks / 'cluster_analysis_output' / 'cluster_analysis.db'}"],
    ]


def test_the_summary_shows_as_many_modules_as_top_says(ranks: Path, command: Command) -> None:
    result = command("module-stats", "-d", ranks, "--rank_list", "1", "--top", "1")
    assert words_on(result.stdout.splitlines()[1])[-1] == "Net/Layer"
    assert result.stdout.splitlines()[2].strip() == ""
    answer = only_json(command("module-stats", "-d", ranks, "--rank_list", "1", "--top", "1", "--json"))
    assert [module["module"] for module in answer["summary"]["heaviest_modules"]] == ["Net/Layer"]


def test_json_says_all_that_the_screen_says(ranks: Path, command: Command) -> None:
    result = command("module-stats", "-d", ranks, "--json")
    assert result.exit_code == 0
    assert only_json(result) == {
        "status": "done",
        "files": [str(ranks / "cluster_analysis_output" / "cluster_analysis.db")],
        "summary": {
            "ranks": 2,
            "rows": 4,
            "heaviest_modules": [
                {"module": "Net/Layer", "calls": 2, "own_kernel_duration_ns": 6000, "share": 0.3},
                {"module": "Net", "calls": 2, "own_kernel_duration_ns": 2000, "share": 0.1},
            ],
            "coverage": [
                {"kind": "compute", "location": location, "kernel_count": count, "kernel_duration_ns": time, "share": share}
                for location, count, time, share in [
                    ("inside modules", 4, 8000, 0.4),
                    ("outside modules", 2, 12000, 0.6),
                    ("linked to no op", 0, 0, 0.0),
                ]
            ],
        },
        "warnings": [],
        "failures": [],
    }


def test_without_o_the_result_lies_in_the_input_folder_and_the_input_stays_as_it_was(ranks: Path, command: Command) -> None:
    before = files_below(ranks)
    assert command("module-stats", "-d", ranks).exit_code == 0
    assert command("sql", "-d", ranks, "SELECT count(*) FROM trace.op").exit_code == 0
    assert command("ranks", "-d", ranks).exit_code == 0
    after = files_below(ranks)
    assert after.keys() - before.keys() == {"cluster_analysis_output", "cluster_analysis_output/cluster_analysis.db"}
    assert {name: after[name] for name in before} == before


def test_with_o_nothing_is_written_to_the_input_folder(ranks: Path, tmp_path: Path, command: Command) -> None:
    before = files_below(ranks)
    result = command("module-stats", "-d", ranks, "--rank_list", "1", "-o", tmp_path / "new" / "place", "--export_type", "csv")
    assert result.exit_code == 0
    assert files_below(ranks) == before
    assert sorted(files_below(tmp_path / "new")) == [
        "place",
        "place/cluster_analysis_output",
        "place/cluster_analysis_output/module_coverage.csv",
        "place/cluster_analysis_output/module_statistic.csv",
        "place/cluster_analysis_output/module_tree.csv",
    ]


def test_a_broken_rank_is_named_with_its_file_and_the_good_one_is_written(ranks: Path, command: Command) -> None:
    broken = break_database(ranks / "0_ascend_pt")
    result = command("module-stats", "-d", ranks)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"failed: {broken}: ")
    assert result.stderr.count("\n") == 1
    assert "Net/Layer" in result.stdout
    with closing(sqlite3.connect(ranks / "cluster_analysis_output" / "cluster_analysis.db")) as database:
        rows = database.execute('SELECT rankID, module, "totalKernelDuration(ns)" FROM ModuleStatistic').fetchall()
    assert rows == [(1, "Layer", 3000.0), (1, "Net", 1000.0)]


def test_a_broken_rank_is_told_in_json(ranks: Path, command: Command) -> None:
    broken = break_database(ranks / "0_ascend_pt")
    result = command("module-stats", "-d", ranks, "--json")
    assert result.exit_code == 1
    answer = only_json(result)
    assert answer.keys() == {"status", "files", "summary", "warnings", "failures"}
    assert answer["status"] == "partial"
    assert answer["summary"]["ranks"] == 1
    assert [failure.partition(": ")[0] for failure in answer["failures"]] == [str(broken)]
    result = command("sql", "-d", ranks, "SELECT DISTINCT rank_id FROM trace.op", "--json")
    assert result.exit_code == 1
    answer = only_json(result)
    assert (answer["status"], answer["rows"], len(answer["failures"])) == ("partial", [{"rank_id": 1}], 1)


def test_a_rank_that_breaks_off_in_the_middle_does_not_stop_the_others(ranks: Path, command: Command) -> None:
    (database,) = (ranks / "0_ascend_pt").rglob("*.db")
    database.write_bytes(database.read_bytes()[: database.stat().st_size // 2])
    result = command("sql", "-d", ranks, "SELECT DISTINCT rank_id FROM module.kernel", "--json")
    assert result.exit_code == 1
    answer = only_json(result)
    assert answer["rows"] == [{"rank_id": 1}]
    assert [failure.partition(": ")[0] for failure in answer["failures"]] == [str(database)]


# What is wrong -> the words, with {} for the folder of the ranks, the exit code, and what the one line must name.
ERRORS = {
    "no such folder": (["module-stats", "-d", "{}/none"], 2, "{}/none: there is no such folder or file"),
    "a file": (["module-stats", "-d", "{}/../notes.txt"], 2, "notes.txt: is not a profiling result"),
    "an empty folder": (["module-stats", "-d", "{}/../empty"], 2, "no profiling result"),
    "no module ranges": (["module-stats", "-d", "{}/../no_ranges"], 2, "no module ranges"),
    "all ranks broken": (["module-stats", "-d", "{}/../broken"], 2, "ascend_pytorch_profiler_0.db"),
    "an unknown rank": (["module-stats", "-d", "{}", "--rank_list", "0,7"], 2, "there is no rank 7; the ranks are 0, 1"),
    "an unknown step": (["module-stats", "-d", "{}", "--step_id", "9"], 2, "there is no step 9; the steps are 7, 8"),
    "an output below a file": (["module-stats", "-d", "{}", "--rank_list", "1", "-o", "{}/../notes.txt/x"], 3, "notes.txt/x"),
    "an output that is a file": (["module-stats", "-d", "{}", "--rank_list", "1", "-o", "{}/../notes.txt"], 3, "notes.txt"),
    "ranks of no folder": (["ranks", "-d", "{}/none"], 2, "{}/none: there is no such folder or file"),
    "sql of no folder": (["sql", "-d", "{}/none", "SELECT 1"], 2, "{}/none: there is no such folder or file"),
    "sql with a typing error": (["sql", "-d", "{}", "SELEC 1"], 2, "SELEC"),
    "sql with an unknown column": (["sql", "-d", "{}", "SELECT nope FROM trace.op"], 2, "nope"),
    "sql with an unknown table": (["sql", "-d", "{}", "FROM trace.nope"], 2, "there is no table trace.nope"),
    "sql that is no SELECT": (["sql", "-d", "{}", "DROP TABLE trace.op"], 2, "SELECT"),
    "sql of an unknown rank": (["sql", "-d", "{}", "--rank_list", "7", "SELECT 1"], 2, "there is no rank 7"),
    "an unknown table": (["tables", "nope"], 2, "there is no table nope"),
}


@pytest.mark.parametrize(("words", "exit_code", "named"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_one_line_its_exit_code_and_nothing_written(
    ranks: Path, command: Command, words: list[str], exit_code: int, named: str
) -> None:
    top = ranks.parent
    (top / "notes.txt").write_text("mine", encoding="utf-8")
    (top / "empty").mkdir()
    write_profile(top / "no_ranges" / "a_ascend_pt", OPS)
    write_profile(top / "broken" / "a_ascend_pt", OPS, RANGES)
    break_database(top / "broken")
    before = files_below(top)
    words, named = [word.format(ranks) for word in words], named.format(ranks)
    result = command(*words)
    assert result.exit_code == exit_code
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert named in result.stderr
    in_json = command(*words, "--json")
    assert in_json.exit_code == exit_code
    answer = only_json(in_json)
    assert answer == {"status": "error", "message": result.stderr.removeprefix("error: ").removesuffix("\n")}
    assert files_below(top) == before


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--nope"], "--nope"),
        (["--rank_list", "one"], "--rank_list"),
        (["--rank_list", "0,,1"], "--rank_list"),
        (["--rank_list", ""], "--rank_list"),
        (["--step_id", "first"], "--step-id"),
        (["--top", "0"], "--top"),
        (["--export_type", "xls"], "--export-type"),
        (["--module_source", "nn"], "--module-source"),
        (["--by", "layer"], "--by"),
        (["--depth", "0"], "--depth"),
        (["too", "many"], "too"),
    ],
)
def test_a_word_that_cannot_be_meant_is_named_and_exits_2(ranks: Path, command: Command, words: list[str], named: str) -> None:
    before = files_below(ranks)
    result = command("module-stats", "-d", ranks, *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert named in result.stderr
    assert files_below(ranks) == before


@pytest.mark.parametrize("as_json", [False, True])
def test_an_interrupt_while_ranks_run_exits_130_and_writes_nothing(
    ranks: Path, command: Command, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def interrupted(_: str) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(adbc_driver_sqlite, "connect", interrupted)
    before = files_below(ranks)
    result = command("module-stats", "-d", ranks, *["--json"] * as_json)
    assert result.exit_code == 130
    if as_json:
        assert only_json(result) == {"status": "error", "message": "interrupted"}
    else:
        assert (result.stdout, result.stderr) == ("", "error: interrupted\n")
    assert files_below(ranks) == before


@pytest.mark.parametrize(
    "words",
    [
        ["module-stats", "--profiling-path", "{}", "--export-type", "json", "--rank-list", "1", "--output-path", "{}/out"],
        ["module_stats", "--profiling_path", "{}", "--export_type", "json", "--rank_list", "1", "--output_path", "{}/out"],
    ],
)
def test_underscore_and_hyphen_are_alike(ranks: Path, command: Command, words: list[str]) -> None:
    result = command(*(word.format(ranks) for word in words))
    assert result.exit_code == 0
    rows = json.loads((ranks / "out" / "cluster_analysis_output" / "module_statistic.json").read_text(encoding="utf-8"))
    assert [row["rank_id"] for row in rows] == [1, 1]


@pytest.mark.slow
def test_step_id_chooses_kernels_by_the_step_of_their_op(ranks: Path, command: Command) -> None:
    query = "SELECT rank_id, name FROM module.kernel"
    answer = only_json(command("sql", "-d", ranks, "--step_id", "7", query, "--json"))
    assert answer["rows"] == [{"rank_id": 0, "name": "mm_kernel"}, {"rank_id": 1, "name": "mm_kernel"}]
    answer = only_json(command("sql", "-d", ranks, "--step_id", "8", "--rank_list", "1", query, "--json"))
    assert answer["rows"] == [{"rank_id": 1, "name": "add_kernel"}, {"rank_id": 1, "name": "copy_kernel"}]
    answer = only_json(command("module-stats", "-d", ranks, "--step_id", "8", "--rank_list", "0", "--json"))
    assert answer["summary"]["heaviest_modules"] == [
        {"module": "Net", "calls": 0, "own_kernel_duration_ns": 1000, "share": 1000 / 7000}
    ]


def test_nesting_tolerance_takes_in_an_op_that_ends_a_little_late(tmp_path: Path, command: Command) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op("late", 110, 205, (Kernel("k", 1000, 1010),))], RANGES[:1])
    answer = only_json(command("module-stats", "-d", tmp_path, "--json"))
    assert answer["summary"]["rows"] == 0
    answer = only_json(command("module-stats", "-d", tmp_path, "--nesting_tolerance_ns", "5", "--json"))
    assert answer["summary"]["heaviest_modules"] == [{"module": "Net", "calls": 1, "own_kernel_duration_ns": 10, "share": 1.0}]


@pytest.fixture
def layers(tmp_path: Path) -> Path:
    """Net runs Layer twice, 1 and 2 us; the domain Custom marks only the second; the Python tracer saw only Net, as MyNet."""
    write_profile(
        tmp_path / "layers" / "a_ascend_pt",
        [Op("aten::mm", 110, 120), Op("aten::mm", 140, 150)],
        [
            Range("Net", 100, 200),
            Range("Layer", 105, 125),
            Range("Layer", 135, 155),
            Range("Attention", 138, 152, domain="Custom"),
        ],
        launches=[
            Launch(112, 114, (Kernel("k1", 1000, 2000),), recorded_op=0),
            Launch(142, 144, (Kernel("k2", 2000, 4000),), recorded_op=1),
        ],
        frames=[Frame("nn.Module: MyNet_0", 100, 200)],
    )
    return tmp_path / "layers"


# The words -> each module with its own kernel time in us, the heaviest first.
CHOICES = {
    "nothing chosen": ([], {"Net/Layer": 3}),
    "module_source auto": (["--module_source", "auto"], {"Net/Layer": 3}),
    "module_source mstx": (["--module_source", "mstx"], {"Net/Layer": 3}),
    "module_source nn.Module": (["--module_source", "nn.Module"], {"MyNet": 3}),
    "module_domain": (["--module_domain", "Custom"], {"Attention": 2}),
    "module_domain of two": (["--module_domain", "Module,Custom"], {"Net/Layer/Attention": 2, "Net/Layer": 1}),
    "by class": (["--by", "class"], {"Net/Layer": 3}),
    "by instance": (["--by", "instance"], {"Net[0]/Layer[1]": 2, "Net[0]/Layer[0]": 1}),
    "depth": (["--depth", "1"], {"Net": 3}),
    "audit_links": (["--audit_links"], {"Net/Layer": 3}),
    "all": (["--module_source", "mstx", "--module_domain", "Module", "--by", "instance", "--depth", "1"], {"Net[0]": 3}),
}


# What each choice means is tested with the API.
QUICK = ("module_source nn.Module", "module_domain of two", "by instance", "all")


@pytest.mark.parametrize(
    ("words", "modules"),
    [pytest.param(*one, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, one in CHOICES.items()],
)
def test_what_a_module_is_can_be_chosen(layers: Path, command: Command, words: list[str], modules: dict[str, int]) -> None:
    answer = only_json(command("module-stats", "-d", layers, *words, "--json"))
    found = {one["module"]: one["own_kernel_duration_ns"] for one in answer["summary"]["heaviest_modules"]}
    assert [(module, ns) for module, ns in found.items() if ns] == [(module, us * 1000) for module, us in modules.items()]


def test_sql_takes_the_same_words_with_hyphens_too(layers: Path, command: Command) -> None:
    words, modules = CHOICES["all"]
    query = """
        SELECT concat_ws('/', nullif(parent_module, ''), module) AS path, sum(duration_ns) AS ns
        FROM module.kernel
        WHERE module IS NOT NULL
        GROUP BY ALL
    """
    with_hyphens = [f"--{word[2:].replace('_', '-')}" if word.startswith("--") else word for word in words]
    rows = only_json(command("sql", "-d", layers, query, *with_hyphens, "--json"))["rows"]
    assert [(row["path"], row["ns"]) for row in rows] == [(module, us * 1000) for module, us in modules.items()]


@pytest.mark.parametrize(("words", "launches"), [([], 0), (["--audit-links"], 2)])
def test_an_audit_judges_every_launch(layers: Path, command: Command, words: list[str], launches: int) -> None:
    query = "SELECT count(op_id) AS judged FROM module.derived_link"
    assert only_json(command("sql", "-d", layers, query, *words, "--json"))["rows"] == [{"judged": launches}]


def test_a_source_of_modules_that_is_not_there_is_named(ranks: Path, command: Command) -> None:
    before = files_below(ranks)
    result = command("module-stats", "-d", ranks, "--module-source", "nn.Module")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "no module ranges" in result.stderr
    assert "collect with with_modules=True" in result.stderr
    assert files_below(ranks) == before


def test_replayed_graphs_are_told_with_the_remedy(tmp_path: Path, command: Command) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, unlinked=[Kernel("k", 20000, 30000, model=3)])
    result = command("module-stats", "-d", tmp_path)
    assert result.exit_code == 0
    assert result.stderr.count("\n") == 1
    assert "50.0% of the kernel time was replayed from graphs" in result.stderr
    assert "start profiling before the engine captures its graphs" in result.stderr
    assert len(only_json(command("module-stats", "-d", tmp_path, "--json"))["warnings"]) == 1


COUNT_OPS = "SELECT count(*) AS op_count FROM trace.op"


def shown_on_terminal(words: list[str | Path], with_stdout: bool = False) -> str:
    """What the command writes to a stderr that is a terminal, or to that and stdout."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "prof_analysis", *map(str, words)]
    stdout = theirs if with_stdout else subprocess.DEVNULL
    with subprocess.Popen(command, stdout=stdout, stderr=theirs, env=os.environ | {"TERM": "xterm"}) as running:
        os.close(theirs)
        written = b""
        try:
            while part := os.read(ours, 65536):
                written += part
        except OSError:  # the other side is closed and all is read
            pass
        os.close(ours)
    assert running.returncode == 0
    return written.decode()


def test_a_terminal_shows_a_bar_over_ranks_unless_quiet(ranks: Path) -> None:
    assert "reading" in shown_on_terminal(["sql", "-d", ranks, COUNT_OPS])
    assert shown_on_terminal(["sql", "-d", ranks, COUNT_OPS, "--quiet"]) == ""


def test_the_bar_is_gone_when_the_answer_is_shown(ranks: Path) -> None:
    shown = shown_on_terminal(["sql", "-d", ranks, COUNT_OPS], with_stdout=True)
    before, answer = shown.split("op_count", 1)
    assert "reading" in before
    assert "\x1b[2K" in before.rpartition("reading")[2], "its line is erased"
    assert "reading" not in answer


def test_ranks_prints_what_was_found(ranks: Path, command: Command) -> None:
    break_database(ranks / "0_ascend_pt")
    result = command("ranks", "-d", ranks)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "0_ascend_pt: rank 0 (from ascend_pytorch_profiler_0.db)"
    assert lines[1].startswith(f"  left out: {ranks}/0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db: ")
    reasons = unanswered(NOT_IN_ONE_RANK)
    commands = {reason: [command for command, other in reasons if other == reason] for _, reason in reasons}
    cannot = [f"  cannot answer {', '.join(of_reason)}: {reason}" for reason, of_reason in commands.items()]
    assert lines[2:] == [
        "  files: ascend_pytorch_profiler_0.db",
        "1_ascend_pt: rank 1 (from ascend_pytorch_profiler_1.db)",
        f"  answers: {', '.join(answered_without(*NOT_IN_ONE_RANK))}, from the profiler database; modules from mstx",
        "  may answer layer-stats: the command finds out whether layers repeat in the sequence of kernels",
        *cannot,
        "  files: ascend_pytorch_profiler_1.db",
    ]
    answer = only_json(command("ranks", "-d", ranks, "--json"))
    assert answer.keys() == {"status", "ranks"}
    assert answer["ranks"][1] == {
        "profile": "1_ascend_pt",
        "rank_id": 1,
        "rank_id_from": "ascend_pytorch_profiler_1.db",
        "device_id": None,
        "profiler_level": None,
        "source": "ascend_db",
        "modules_from": "mstx",
        "answers": list(answered_without(*NOT_IN_ONE_RANK)),
        "may_answer": ["layer-stats"],
        "unanswered": [f"{command}: {reason}" for command, reason in reasons],
        "missing": [],
        "unread": [],
        "left_out": None,
        "files": ["ascend_pytorch_profiler_1.db"],
        "folder": str(ranks / "1_ascend_pt"),
    }


def test_tables_documents_every_table_and_column(command: Command) -> None:
    printed = command("tables")
    assert printed.exit_code == 0
    in_json = {table["name"]: table for table in only_json(command("tables", "--json"))["tables"]}
    assert in_json.keys() == documented_tables().keys()
    paragraphs = {text.split("\n")[0]: text for text in re.split(r"\n\s*\n", printed.stdout.strip())}
    assert paragraphs.keys() == in_json.keys()
    for name, table in documented_tables().items():
        columns = [(column.shown_name, column.shown_type, column.meaning) for column in table.columns]
        assert [tuple(column.values()) for column in in_json[name]["columns"]] == columns
        _, meaning, *lines = paragraphs[name].splitlines()
        assert meaning.strip() == table.summary == in_json[name]["meaning"]
        assert [line.split()[:2] for line in lines] == [[shown, type_.split()[0]] for shown, type_, _ in columns]


def test_tables_of_a_name_or_schema(command: Command) -> None:
    assert command("tables", "trace.step").stdout.split("\n")[0] == "trace.step"
    answer = only_json(command("tables", "trace.step", "--json"))
    assert [table["name"] for table in answer["tables"]] == ["trace.step"]
    answer = only_json(command("tables", "trace", "--json"))
    assert {table["name"] for table in answer["tables"]} == {name for name in documented_tables() if name.startswith("trace.")}


def test_sql_answers_over_all_ranks(ranks: Path, command: Command) -> None:
    query = "SELECT rank_id, sum(duration_ns) AS ns, NULL AS nothing FROM module.kernel GROUP BY ALL ORDER BY ALL"
    result = command("sql", "-d", ranks, query)
    assert (result.exit_code, result.stderr) == (0, "")
    assert [words_on(line) for line in result.stdout.splitlines()] == [
        ["rank_id", "ns", "nothing"],
        ["0", "10000", "NULL"],
        ["1", "10000", "NULL"],
    ]
    assert only_json(command("sql", "-d", ranks, query, "--json")) == {
        "status": "done",
        "rows": [{"rank_id": rank, "ns": 10000, "nothing": None} for rank in (0, 1)],
        "warnings": [],
        "failures": [],
    }


def test_what_is_printed_into_a_pipe_is_never_cut(tmp_path: Path, command: Command) -> None:
    name = "[bold]Module" + "x" * 300
    write_profile(tmp_path / "a_ascend_pt", OPS, [Range(name, 100, 200)])
    assert name in command("module-stats", "-d", tmp_path).stdout
    assert name in command("sql", "-d", tmp_path, "SELECT module FROM module.statistic").stdout


def test_version(command: Command) -> None:
    result = command("--version")
    assert (result.exit_code, result.stdout) == (0, f"prof-analysis {__version__}\n")


def test_help_names_the_commands_and_the_exit_codes(command: Command) -> None:
    for words in (["--help"], ["-h"]):
        result = command(*words)
        assert result.exit_code == 0
        for part in (*(name.partition(" ")[0] for name in COMMANDS), "--version", "--install-completion", "Exit codes", "130"):
            assert part in result.stdout


def commands_below(group: Any, *words: str) -> Iterator[tuple[str, Any]]:
    """The words of every command of the app, and the command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_below(command, *words, name)
        else:
            yield " ".join((*words, name)), command


COMMANDS = dict(commands_below(typer.main.get_command(app)))
OF_ANALYSES = {command.partition(" ")[0] for command in ANALYSES}
WITH_MODULES = {"module-stats", "communication-time", "mfu", "pmu-stats", "sql"}


def sections_of(name: str) -> set[str]:
    if name in OF_ANALYSES:
        return {"Input", "Result", "Machine", "Screen"} | ({"Modules"} if name in WITH_MODULES else set())
    others = {
        "sql": {"Input", "Modules", "Machine", "Screen"},
        "stage-durations": {"Result", "Screen"},
        "ranks": {"Input", "Screen"},
        "table": {"Input", "Modules", "Result", "Machine", "Screen"},
        "tables": {"Input", "Screen"},
    }
    return others.get(name, {"Screen"})


def test_the_readme_names_every_command() -> None:
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    assert {name.partition(" ")[0] for name in COMMANDS} <= set(re.findall(r"`prof-analysis ([a-z-]+)", readme))


def test_every_analysis_has_a_command() -> None:
    others = {"stage-durations", "ranks", "table", "tables", "sql", "store ls", "store clear"}
    assert COMMANDS.keys() == OF_ANALYSES | others


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_has_sections_and_an_example(command: Command, name: str) -> None:
    result = command(*name.split(), "--help")
    assert result.exit_code == 0
    assert {s for s in ("Input", "Modules", "Result", "Machine", "Screen") if f"─ {s} ─" in result.stdout} == sections_of(name)
    assert f"Example: prof-analysis {name} " in result.stdout
    options = {option: parameter for parameter in COMMANDS[name].params for option in (*parameter.opts, parameter.name)}
    assert all(parameter.help for parameter in options.values()), "every option says what it does"
    used = re.findall(r"(?<= )--?[a-z_-]+", COMMANDS[name].epilog)
    assert {option.replace("_", "-") for option in used} <= {*options}, "the example can be run"


def test_debug_shows_where_an_error_came_from(ranks: Path) -> None:
    result = CliRunner().invoke(app, ["module-stats", "-d", str(ranks / "none"), "--debug"])
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback (most recent call last):")
    assert result.stderr.splitlines()[-1] == f"error: {ranks}/none: there is no such folder or file"


def test_the_broken_rank_is_named_when_the_others_have_no_ranges(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS)
    broken = write_profile(tmp_path / "b_ascend_pt", OPS, RANGES, rank=1)
    broken.write_bytes(b"x" * 500)
    assert broken.name in command("module-stats", "-d", tmp_path).stderr


@pytest.mark.parametrize("words", [["--nope"], ["--rank_list", "one"], ["--top", "0"], ["--export_type", "xls"]])
def test_a_usage_error_is_one_line_and_one_json_object(
    tmp_path: Path, command: Callable[..., Result], words: list[str]
) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    result = command("module-stats", "-d", tmp_path, *words)
    in_json = command("module-stats", "-d", tmp_path, *words, "--json")
    assert (result.exit_code, in_json.exit_code) == (2, 2)
    assert json.loads(in_json.stdout or "null") is not None and json.loads(in_json.stdout).keys() == {"status", "message"}
    assert result.stderr.count("\n") == 1


def test_json_is_json_also_with_nan(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    result = command("sql", "-d", tmp_path, "SELECT 'nan'::DOUBLE AS x, 'inf'::DOUBLE AS y", "--json")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    json.loads(result.stdout, parse_constant=refuse)


def test_columns_of_equal_names_do_not_overwrite_each_other(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    result = command("sql", "-d", tmp_path, "SELECT 1 AS a, 2 AS a, 3 AS b")
    assert result.stdout.splitlines()[1].split() == ["1", "2", "3"]


def test_the_output_folder_of_a_given_output_is_beside_it(tmp_path: Path, command: Callable[..., Result]) -> None:
    output = write_profile(tmp_path / "a_ascend_pt", OPS, RANGES).parent
    command("module-stats", "-d", output)
    assert not (output / "cluster_analysis_output").exists()


# Clears the screen, turns the direction of the text, and begins a line of its own.
HOSTILE = "a\x1b[2J\x9b31m\u202e\x7f\u2028\r\nFORGED"


def test_no_name_steers_the_terminal_or_begins_a_line_of_its_own(tmp_path: Path, command: Command) -> None:
    folder, store, log = tmp_path / HOSTILE, tmp_path / "store", tmp_path / f"{HOSTILE}.log"
    write_profile(folder / HOSTILE / "a_ascend_pt", [Op(HOSTILE, 110, 120, OPS[0].kernels)], [Range(HOSTILE, 100, 200)])
    write_profile(folder / HOSTILE / "b_ascend_pt", OPS, RANGES, rank=1)
    break_database(folder / HOSTILE / "b_ascend_pt")
    log.write_text("Profile execute duration [Decode]: [forward]:1.23ms [\x1b[2J]:1ms\nProfile execute duration\n", "utf-8")
    query = f'SELECT module AS "{HOSTILE}" FROM module.statistic'
    for words, exit_code in (
        (["module-stats", "-d", folder, "--store", store, "--debug"], 1),
        (["op-stats", "-d", folder, "-o", log], 3),
        (["kernel-stats", "-d", folder / "none", "--debug"], 2),
        (["kernel-stats", "-d", folder, "--rank_list", HOSTILE], 2),
        (["sql", "-d", folder, query], 1),
        (["ranks", "-d", folder], 0),
        (["store", "ls", "--store", store], 0),
        (["stage-durations", log, "-o", folder], 0),
        (["tables", HOSTILE], 2),
    ):
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == exit_code, result.output
        for printed in (result.stdout, result.stderr):
            assert not re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", printed)
            begun = [line for line in printed.splitlines() if line.lstrip().startswith("FORGED")]
            assert not begun or "--debug" in words, "only a traceback keeps its lines"
        assert r"a\x1b[2J\x9b31m\u202e\x7f" in result.output or words[0] == "store"
    result = command("sql", "-d", folder, query, "--json")
    assert json.loads(result.stdout)["rows"] == [{HOSTILE: HOSTILE}]
    assert not re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", result.stdout)


def test_an_error_comes_with_the_warnings_that_explain_it(command: Command, tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    file = output / "kernel_details.csv"
    file.write_text("Name,Type,Accelerator Core,Start Time(us),Duration(us)\nk,Add,AI_CORE,1.73641E+15,1.5\n")
    error = f"{tmp_path}: no rank can answer this: no kernels"
    warnings = [
        f"{file}: the numbers of the column 'start time(us)' have lost digits, as when a spreadsheet saves them, and are "
        "taken as unknown; export it again",
        "a_ascend_pt: rows of kernel_details.csv set aside because they have no time: 1",
    ]
    result = command("kernel-stats", "-d", tmp_path, "-o", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [f"error: {error}", *(f"warning: {warning}" for warning in warnings)]
    result = command("kernel-stats", "-d", tmp_path, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {"status": "error", "message": error, "warnings": warnings}
