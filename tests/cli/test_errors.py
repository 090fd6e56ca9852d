"""The command as a user or a script meets it: exit codes, and one line for each error."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import adbc_driver_sqlite
import pytest
from typer.testing import CliRunner, Result

from prof_analysis.cli import app
from prof_analysis.common.version import SCHEMA_VERSION
from tests.helpers.cli import OPS, RANGES, Command, break_database, files_below, only_json, write_ranks
from tests.helpers.says import says
from tests.helpers.small_profile import write_profile

# What is wrong -> the words, with {} for the folder of the ranks, the exit code, and what the one line must name.
ERRORS: dict[str, tuple[list[str], int, str | tuple[str, ...]]] = {
    "no such folder": (["module-stats", "-d", "{}/none"], 2, ("{}/none: ", "no such folder or file")),
    "a file": (["module-stats", "-d", "{}/../notes.txt"], 2, ("notes.txt: ", "not a profiling result")),
    "an empty folder": (["module-stats", "-d", "{}/../empty"], 2, "no profiling result"),
    "no module ranges": (["module-stats", "-d", "{}/../no_ranges"], 2, "no module ranges"),
    "all ranks broken": (["module-stats", "-d", "{}/../broken"], 2, "ascend_pytorch_profiler_0.db"),
    "an unknown rank": (["module-stats", "-d", "{}", "--rank_list", "0,7"], 2, ("no rank 7", "the ranks are 0, 1")),
    "an unknown step": (["module-stats", "-d", "{}", "--step_id", "9"], 2, ("no step 9", "the steps are 7, 8")),
    "ranks of no folder": (["ranks", "-d", "{}/none"], 2, ("{}/none: ", "no such folder or file")),
    "sql of no folder": (["sql", "-d", "{}/none", "SELECT 1"], 2, ("{}/none: ", "no such folder or file")),
    "sql with a typing error": (["sql", "-d", "{}", "SELEC 1"], 2, "SELEC"),
    "sql with an unknown column": (["sql", "-d", "{}", "SELECT nope FROM trace.op"], 2, "nope"),
    "sql with an unknown table": (["sql", "-d", "{}", "FROM trace.nope"], 2, "no table trace.nope"),
    "sql that is no SELECT": (["sql", "-d", "{}", "DROP TABLE trace.op"], 2, "SELECT"),
    "sql of an unknown rank": (["sql", "-d", "{}", "--rank_list", "7", "SELECT 1"], 2, "no rank 7"),
    "an unknown table": (["tables", "nope"], 2, "no table nope"),
}


def problem(command: str, message: str, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """What --json prints where there is no answer."""
    about = {"schema_version": SCHEMA_VERSION, "command": command}
    return {**about, "status": "error", "message": message, "warnings": list(warnings)}


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ranks, and with what nobody can analyse."""
    top = tmp_path_factory.mktemp("errors")
    write_ranks(top / "ranks")
    (top / "notes.txt").write_text("mine", encoding="utf-8")
    (top / "empty").mkdir()
    write_profile(top / "no_ranges" / "a_ascend_pt", OPS)
    write_profile(top / "broken" / "a_ascend_pt", OPS, RANGES)
    break_database(top / "broken")
    return top


@pytest.mark.parametrize(("words", "exit_code", "named"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_one_line_its_exit_code_and_nothing_written(
    top: Path, command: Command, words: list[str], exit_code: int, named: str | tuple[str, ...]
) -> None:
    ranks = top / "ranks"
    before = files_below(top)
    words = [word.format(ranks) for word in words]
    result = command(*words)
    assert result.exit_code == exit_code
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr == says(*(word.format(ranks) for word in ([named] if isinstance(named, str) else named)))
    in_json = command(*words, "--json")
    assert in_json.exit_code == exit_code
    answer = only_json(in_json)
    message = result.stderr.removeprefix("error: ").removesuffix("\n")
    assert answer == problem(words[0], message)
    assert files_below(top) == before


@pytest.mark.parametrize("output", ["notes.txt/x", pytest.param("notes.txt", marks=pytest.mark.slow)])
def test_an_answer_is_shown_also_where_it_cannot_be_written(own_ranks: Path, command: Command, output: str) -> None:
    (own_ranks / "notes.txt").write_text("mine", encoding="utf-8")
    before = files_below(own_ranks)
    words = ("kernel-stats", "-d", own_ranks, "-o", own_ranks / output)
    result = command(*words)
    assert result.exit_code == 3
    assert result.stdout == command("kernel-stats", "-d", own_ranks).stdout
    assert result.stderr.startswith(f"error: {own_ranks}/{output}/cluster_analysis_output: cannot be made (")
    assert result.stderr.count("\n") == 1
    in_json = command(*words, "--json")
    assert in_json.exit_code == 3
    answer = only_json(in_json)
    assert (answer.pop("status"), answer.pop("message")) == ("error", result.stderr.removeprefix("error: ").removesuffix("\n"))
    assert answer == {
        name: one for name, one in only_json(command("kernel-stats", "-d", own_ranks, "--json")).items() if name != "status"
    }
    assert files_below(own_ranks) == before


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--nope"], "--nope"),
        (["--rank_list", "one"], "--rank-list"),
        (["--rank_list", "0,,1"], "--rank-list"),
        (["--rank_list", ""], "--rank-list"),
        (["--step_id", "first"], "--step-id"),
        (["--top", "0"], "--top"),
        (["--export_type", "xls"], "--export-type"),
        (["--module_source", "nn"], "--module-source"),
        (["--by", "layer"], "--by"),
        (["--depth", "0"], "--depth"),
        (["gone", "too"], "gone"),
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
    own_ranks: Path, command: Command, monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    def interrupted(_: str) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(adbc_driver_sqlite, "connect", interrupted)
    before = files_below(own_ranks)
    result = command("module-stats", "-d", own_ranks, *["--json"] * as_json)
    assert result.exit_code == 130
    if as_json:
        assert only_json(result) == problem("module-stats", "interrupted")
    else:
        assert (result.stdout, result.stderr) == ("", "error: interrupted\n")
    assert files_below(own_ranks) == before


def test_debug_shows_where_an_error_came_from(ranks: Path) -> None:
    result = CliRunner().invoke(app, ["module-stats", "-d", str(ranks / "none"), "--debug"])
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback (most recent call last):")
    assert result.stderr.splitlines()[-1] == says(f"error: {ranks}/none: ", "no such folder or file")


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
    assert only_json(in_json) == problem("module-stats", result.stderr.removeprefix("error: ").removesuffix("\n"))
    assert result.stderr.count("\n") == 1


def test_where_nothing_is_found_the_warnings_explain_it(command: Command, tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    file = output / "kernel_details.csv"
    file.write_text("Name,Type,Accelerator Core,Start Time(us),Duration(us)\nk,Add,AI_CORE,1.73641E+15,1.5\n")
    warnings = [
        (f"{file}: ", "'start time(us)'", "lost digits", "export it again"),
        ("a_ascend_pt: ", "rows of kernel_details.csv set aside", "no time", 1),
        ("a_ascend_pt: ", "no kernels"),
    ]
    result = command("kernel-stats", "-d", tmp_path, "-o", tmp_path / "out")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "none found: no kernels")
    assert result.stderr.splitlines() == [says("warning: ", *warning) for warning in warnings]
    result = command("kernel-stats", "-d", tmp_path, "-o", tmp_path / "out", "--json")
    assert (result.exit_code, only_json(result)["warnings"]) == (0, [says(*warning) for warning in warnings])


def test_an_error_comes_with_the_warnings_that_explain_it(command: Command, tmp_path: Path) -> None:
    output = tmp_path / "a_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    kernels = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\nk,Add,AI_CORE,1736410000000000.5,1.5\n"
    (output / "kernel_details.csv").write_text(kernels)
    (output / "memory_record.csv").write_text(kernels)
    reason = (f"{output / 'memory_record.csv'}: ", "not the memory_record.csv", "no column 'component'")
    result = command("memory", "-d", tmp_path, "-o", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        says(f"error: {tmp_path}: ", "no rank can answer", *reason),
        says("warning: ", *reason, "read without it"),
    ]
    error, warning = (line.partition(": ")[2] for line in result.stderr.splitlines())
    result = command("memory", "-d", tmp_path, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 2
    assert only_json(result) == problem("memory", error, [warning])
