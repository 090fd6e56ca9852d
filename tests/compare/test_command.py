"""The command `compare`: what it prints, writes and refuses."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import openpyxl
import pytest

import prof_analysis
from prof_analysis.analyses import COMPARED
from prof_analysis.exports.names import file_name
from tests.compare.runs import Work, write_run
from tests.helpers.cli import Command
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile
from tests.test_reading_outputs import explained

SUMS = "SELECT op_name, base_sum_ns, new_sum_ns FROM OpComparison ORDER BY op_name"
EXPECTED = [("=cmd", 10, 10), ("aten::gelu", 100, 0), ("aten::mm", 2000, 3000)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two runs: of the new one aten::mm is slower, and a step does aten::gelu no more."""
    folder = tmp_path_factory.mktemp("runs")
    base = [Work("aten::mm", (1000,), "MatMulV3"), Work("aten::gelu", (50,), "Gelu"), Work("=cmd", (5,), "Mul")]
    new = [Work("aten::mm", (1500,), "MatMulV3"), Work("=cmd", (5,), "Mul")]
    return tuple(str(write_run(folder / name, [work] * 2)) for name, work in (("monday", base), ("tuesday", new)))  # type: ignore[return-value]


def test_it_prints_the_finding_first_and_each_level_and_writes_all_where_it_is_told(
    command: Command, runs: tuple[str, str], tmp_path: Path
) -> None:
    result = command("compare", *runs, "-o", str(tmp_path))
    assert (result.exit_code, result.stderr) == (0, "")
    file = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    assert result.stdout.splitlines()[-1] == f"wrote {file}"
    with closing(sqlite3.connect(file)) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables == {*COMPARED.values(), "ProfileRank", "Provenance"}
        assert database.execute(SUMS).fetchall() == EXPECTED
        made = {name for (name,) in database.execute("SELECT table_name FROM Provenance")}
        assert made == {*COMPARED.values(), "ProfileRank"}
    finding, *lines = result.stdout.splitlines()
    assert finding == says(
        "a step takes 1.5 us, 1.1 us in the base", "(+42.7 %)", "more than steps vary", "(p < 0.0001)",
        "most in computing (+450 ns)", "the module", "Net/Layer (+450 ns)",
    )  # fmt: skip
    rows = [re.sub(" +", " ", line.rstrip()) for line in lines]
    assert "step time +450 ns 1.05 us 1.50 us 1.43 no" in rows
    assert "Net/Layer +450 ns 1.05 us 1.50 us 1.43 100.0% 1 no instance" in rows
    assert 'aten::mm Net/Layer slower +500 ns 1.00 us 1.50 us 1.50 1 1 MatMulV3 "4,4" no' in rows
    assert 'aten::gelu Net/Layer removed -50 ns 50 ns 0 ns 0.00 1 -> 0 1 Gelu -> - "4,4" -> - no' in rows
    assert "per step: kernels 3 -> 2, launches 3 -> 2" in lines
    assert "kernel time +450 ns: inside modules +450 ns" in lines


@pytest.mark.slow
def test_each_column_of_the_screen_is_explained(command: Command, runs: tuple[str, str]) -> None:
    message = command("compare", *runs, "--columns", "?").stderr
    of_communication = {"communication", "group", "elements from", "operators"}
    of_communication |= {"idle by cause"} | {f"{figure} {side}" for figure in ("wait", "GB/s") for side in ("base", "new")}
    of_memory = {"memory of", "blocks", "call site"} | {
        f"{size} {side}" for size in ("peak", "allocated") for side in ("difference", "base", "new")
    }
    of_passes = {"passes in phase"} | {f"{figure} {side}" for figure in ("median", "p99", "gap") for side in ("base", "new")}
    shown = {*message.partition("the columns are ")[2].strip().split(", ")}
    others = of_communication | of_memory | of_passes
    assert explained()["compare"] <= shown | others, "of what no heading says there is nothing to explain"


@pytest.mark.slow
def test_json_has_the_same(command: Command, runs: tuple[str, str]) -> None:
    result = command("compare", *runs, "--json")
    said = json.loads(result.stdout)
    assert (result.exit_code, said["status"]) == (0, "done")
    summary = said["summary"]
    assert summary["finding"]["difference_ns"] == 450
    assert [(row["op_name"], row["change"]) for row in summary["ops"]] == [("aten::mm", "slower"), ("aten::gelu", "removed")]
    assert [(row["base_step_id"], row["difference_ns"]) for row in summary["steps"]] == [(1, 450), (2, 450)]


@pytest.mark.slow
def test_of_many_steps_only_the_outliers_are_shown(command: Command, tmp_path: Path) -> None:
    def steps(*slow: int) -> list[list[Work]]:
        return [[Work("aten::mm", (900 if number in slow else 100 + number % 3,))] for number in range(1, 15)]

    base, new = write_run(tmp_path / "base", steps(1)), write_run(tmp_path / "new", steps(1, 9))
    result = command("compare", base, new)
    rows = [re.sub(" +", " ", line.rstrip()) for line in result.stdout.splitlines()]
    start = next(number for number, row in enumerate(rows) if row.startswith("step difference"))
    assert rows[start + 1 : start + 4] == [
        "1 0 ns 900 ns 900 ns 1.00 first step (warm-up)",
        "9 +800 ns 100 ns 900 ns 9.00 - -> computing",
        "",
    ]
    assert says("outliers", "1 of 14 steps of base", "2 of 14 steps of new", "--skip-steps") in rows
    assert "no module changed by more than noise" in rows


@pytest.mark.slow
def test_kernels_of_two_vendors_do_not_fill_the_screen(command: Command, tmp_path: Path) -> None:
    """Where most kernels have other names, those are shown that both runs have, and the rest is counted."""
    steps = {
        name: [[Work("aten::mm", (600,), f"{name}_matmul"), Work("aten::add", (time,), "Add")]] * 2
        for name, time in (("gpu", 100), ("npu", 300))
    }
    result = command("compare", *(write_run(tmp_path / name, work) for name, work in steps.items()))
    rows = [re.sub(" +", " ", line.rstrip()) for line in result.stdout.splitlines()]
    start = next(number for number, row in enumerate(rows) if row.startswith("kernel type"))
    assert rows[start + 1 : start + 3] == ['Add "4,4" slower +200 ns 100 ns 300 ns 3.00 1 100 ns 300 ns no', ""]
    assert says("75.0% of the kernel time", "that only one has", "not shown") in rows


@pytest.mark.slow
def test_several_runs_are_compared_one_by_one(command: Command, runs: tuple[str, str]) -> None:
    base, new = runs
    result = command("compare", base, new, base, "--json")
    facts = json.loads(result.stdout)["runs"]
    assert {run: answer["finding"]["difference_ns"] for run, answer in facts.items()} == {"tuesday": 450, "monday": 0}


@pytest.mark.slow
def test_the_command_writes_a_page_with_pictures(command: Command, runs: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "changes.html"
    result = command("compare", *runs, "--export-type", "html", "-o", str(file))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"wrote {file}"
    page = file.read_text()
    assert page.startswith("<!doctype html>")
    assert "1.1 us in the base (+42.7 %)" in page


def test_help_names_only_formats_that_it_writes(command: Command, runs: tuple[str, str], tmp_path: Path) -> None:
    words = command("compare", "--help").stdout.split()
    assert "duckdb," in words
    assert not {"trace,", "speedscope,", "collapsed"} & {*words}
    result = command("compare", *runs, "--export-type", "trace", "-o", str(tmp_path))
    assert result.exit_code == 2
    assert "duckdb, text, excel, html" in result.stderr


def rows_of(query: str) -> list[tuple[object, ...]]:
    return duckdb.connect().execute(query).fetchall()


@pytest.mark.slow
def test_all_forms_have_the_same_rows(runs: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "cluster_analysis_output"
    with prof_analysis.compare(*runs) as comparison:
        files = {kind: comparison.export(tmp_path, kind) for kind in ("duckdb", "csv", "parquet", "json", "xlsx")}
    for kind in ("csv", "parquet", "json"):
        assert sorted(files[kind]) == sorted(folder / f"{file_name(name)}.{kind}" for name in COMPARED.values())
    with duckdb.connect(files["duckdb"][0], read_only=True) as database:
        assert database.execute(SUMS).fetchall() == EXPECTED
    of_file = SUMS.replace("OpComparison", f"'{folder}/op_comparison.{{}}'")
    assert rows_of(of_file.format("csv")) == [("'=cmd", 10, 10), *EXPECTED[1:]], "no formula"
    assert rows_of(of_file.format("parquet")) == rows_of(of_file.format("json")) == EXPECTED
    (file,) = files["xlsx"]
    book = openpyxl.load_workbook(file)
    assert book.sheetnames == ["About", *COMPARED.values(), "Columns"]
    headings, first, *_ = book["OpComparison"].iter_rows(values_only=True)
    shown = dict(zip(headings, first, strict=True))
    assert (shown["Op name"], shown["Change"], shown["Difference (ns)"], shown["Is noise"]) == (
        "aten::mm",
        "slower",
        500,
        False,
    )


@pytest.mark.slow
def test_suggested_aliases_are_written_and_not_applied(command: Command, tmp_path: Path) -> None:
    base = write_run(tmp_path / "base", [[Work("aten::mm")]] * 2)
    new = write_run(tmp_path / "new", [[Work("aten::mm")]] * 2, layer="AscendLayer")
    file = tmp_path / "names.csv"
    first = command("compare", base, new, "--suggest-aliases", file, "--json")
    assert file.read_text(encoding="utf-8").split() == ["base,new,run", "Layer,AscendLayer,new"]
    assert first.stderr == says(f"wrote {file}: ", "1 alias to check", f"--alias {file}")
    second = command("compare", base, new, "--alias", file, "--json")
    assert [len(json.loads(result.stdout)["summary"]["modules"]) for result in (first, second)] == [2, 0]


@pytest.mark.slow
def test_a_renamed_model_gets_aliases_with_which_it_is_compared(command: Command, tmp_path: Path) -> None:
    with_layers = [Range("Net", 0, 1000), Range("Layer", 10, 900)]
    renamed = [Range("Model", 0, 1000), Range("Block", 10, 900)]
    runs = []
    for name, ranges in (("base", with_layers), ("new", renamed)):
        write_profile(tmp_path / name / "r0_ascend_pt", [Op("mm", 20, 40, (Kernel("k", 50, 90),))], ranges, rank=0)
        runs.append(tmp_path / name)
    file = tmp_path / "names.csv"
    first = command("compare", *runs, "--suggest-aliases", file, "--json")
    answer = json.loads(first.stdout)
    assert (first.exit_code, answer["files"], "summary" in answer) == (0, [str(file)], False)
    assert file.read_text(encoding="utf-8").split() == ["base,new,run", "Layer,Block,new", "Net,Model,new"]
    second = command("compare", *runs, "--alias", file)
    assert (second.exit_code, second.stdout.partition(":")[0]) == (0, "nothing changed")


@pytest.mark.slow
def test_of_several_runs_one_of_another_model_is_left_out(command: Command, runs: tuple[str, str], tmp_path: Path) -> None:
    other = write_profile(tmp_path / "other" / "r0_ascend_pt", [Op("mm", 0, 9, (Kernel("k", 5, 7),))], [Range("Unet", 0, 9)])
    result = command("compare", *runs, other.parent, "--json")
    answer = json.loads(result.stdout)
    assert (result.exit_code, list(answer["runs"])) == (0, ["tuesday"])
    (warning,) = [one for one in answer["warnings"] if "left out" in one]
    assert warning == says("left out", other.parent, f"no module in common with {runs[0]}", "(Unet against Net)")
    of_two = command("compare", runs[0], other.parent)
    assert (of_two.exit_code, of_two.stdout) == (2, "")


def test_runs_without_kernels_are_one_line(command: Command, tmp_path: Path) -> None:
    for name in ("base", "new"):
        write_profile(tmp_path / name / "r0_ascend_pt", [Op("x", 10, 20)], [Range("Net", 1, 30)], steps=[(1, 0, 90)])
    result = command("compare", tmp_path / "base", tmp_path / "new")
    reason = ("without NPU activity", "nothing ran on the device")
    message = says(f"error: {tmp_path}/new: ", "no kernels", f"neither has {tmp_path}/base", *reason, "`prof-analysis ranks`")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", message)


@pytest.mark.slow
def test_sums_over_types_are_not_compared_and_the_reason_is_said(command: Command, tmp_path: Path) -> None:
    for name in ("base", "new"):
        (tmp_path / name).mkdir()
        text = "OP Type,Core Type,Count,Total Time(us)\nAdd,AI_CORE,2,80\n"
        (tmp_path / name / "op_statistic.csv").write_text(text, encoding="utf-8")
    result = command("compare", tmp_path / "base", tmp_path / "new")
    (error,) = (line for line in result.stderr.splitlines() if line.startswith("error: "))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no kernel_details.csv and no trace_view.json" in error
    assert "sums over types are not compared" in error


@pytest.mark.slow
def test_where_one_run_has_no_modules_the_answer_says_so(command: Command, runs: tuple[str, str], tmp_path: Path) -> None:
    ops = [Op("aten::mm", 110, 120, (Kernel("k", 130, 180),)), Op("aten::mm", 310, 320, (Kernel("k", 330, 380),))]
    write_profile(tmp_path / "new" / "r0_ascend_pt", ops, [], steps=[(1, 100, 300), (2, 300, 500)], rank=0)
    result = command("compare", runs[0], tmp_path / "new")
    assert result.exit_code == 0
    alone = says("only base has kernel time inside modules", "none has a partner", "`prof-analysis ranks`")
    assert alone in result.stdout.splitlines()


@pytest.mark.slow
def test_two_ranks_each_say_nothing_of_noise(command: Command, tmp_path: Path) -> None:
    for name, durations in (("base", (1000, 1200)), ("new", (1900, 1500))):
        for rank, duration in enumerate(durations):
            write_run(tmp_path / name, [[Work("aten::mm", (duration,))]], rank=rank)
    result = command("compare", tmp_path / "base", tmp_path / "new")
    said = says("a step takes 1.7 us, 1.1 us in the base", "(+54.5 %)", "not known", "noise", "two ranks are no measure")
    assert result.stdout.splitlines()[0] == said
    assert "p = " not in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--export-type", "csv"), ("--export-type: ", "give the folder", "with -o")),
        (("--skip-steps", "one"), ("--skip-steps: one: ", "numbers of steps", "such as 1,2")),
        (("--rank-map", "0:1"), ("--rank-map: 0:1: ", "base=new", "such as 0=4,1=5")),
        (("--rank-map", "0=0,0=1"), ("--rank-map: 0=0,0=1: ", "each rank id once")),
        pytest.param(("--skip-steps", "1,2"), ("no step is left", "leave out fewer steps"), marks=pytest.mark.slow),
        (("--alias", "nowhere.csv"), ("nowhere.csv: ", "No such file")),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    command: Command, runs: tuple[str, str], words: tuple[str, ...], message: tuple[str, ...]
) -> None:
    result = command("compare", *runs, *words)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", says(*message))
