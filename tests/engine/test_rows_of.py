"""One table from given rows: what `prof-analysis test` and tests of tables stand on."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from prof_analysis import InputError
from prof_analysis.engine.rows_of import rows_of
from tests.engine.test_own_sql import CASES, block_behind, written
from tests.helpers.says import says

Command = Callable[..., Result]


def test_texts_are_texts_and_what_is_not_named_is_null() -> None:
    kernels: list[dict[str, object]] = [
        {"kernel_id": 1, "name": "mm", "start_ns": 5, "end_ns": 9},
        {"kernel_id": 2, "start_ns": 1},
    ]
    found = rows_of("kernels.selected", {"trace.kernel": kernels})
    assert [(row["kernel_id"], row["kind"]) for row in found] == [(1, None), (2, None)]


def test_a_table_over_ranks_reads_what_users_see() -> None:
    given = [{"profile": one, "type": "MatMul", "core": "MIX", "kernel_count": 2, "duration_ns": 5} for one in ("a", "b")]
    (found,) = rows_of("across.kernel_statistic", {"kernels.duration": given})
    assert (found["type"], found["core"], found["kernel_count"], found["total_ns"]) == ("MatMul", "MIX", 4, 20)


def test_a_case_leaves_nothing_behind() -> None:
    usual = rows_of("kernels.selected", {"trace.kernel": [{"kernel_id": 1, "start_ns": 1}]})
    assert rows_of("kernels.selected", {}, {"step_id": 3}) == []
    assert rows_of("kernels.selected", {"trace.kernel": [{"kernel_id": 1, "start_ns": 1}]}) == usual


@pytest.mark.parametrize(
    ("table", "given", "words"),
    [
        ("kernels.select", {}, ("no table kernels.select", "did you mean kernels.selected")),
        ("kernels.selected", {"trace.op": []}, ("kernels.selected does not read trace.op", "it reads", "trace.kernel")),
        ("kernels.selected", {"trace.kernel": [{"stream": 1}]}, ("trace.kernel", "no column stream", "it has kernel_id, ")),
        ("kernels.selected", {"trace.kernel": [{"start_ns": "soon"}]}, ("trace.kernel", "Conversion Error", "soon")),
    ],
)
def test_a_mistake_is_named(table: str, given: dict[str, list[dict[str, object]]], words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        rows_of(table, given)
    assert str(caught.value).splitlines()[0] == says(*words)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "sql", ours__short_kernel=block_behind("ours/short_kernel.sql"))


def page(folder: Path, text: str) -> Path:
    file = folder / "ours" / "short_kernel.cases.md"
    file.write_text(text, encoding="utf-8")
    return file


def test_cases_that_hold(folder: Path, command: Command) -> None:
    page(folder, CASES)
    result = command("test", folder)
    assert (result.exit_code, result.stdout) == (0, "1 case, all hold\n")


@pytest.mark.parametrize(
    ("before", "after", "failure"),
    [
        ("| 2            |", "| 3            |", "row 1: kernel_count is 2, expected 3"),
        ("| 2            |", "|              |", "row 1: kernel_count is 2, expected NULL"),
        ("| 4999        |", "| 5001        |", "row 1: kernel_count is 1, expected 2"),
        ("| aten::mm | 2            | 5000        |\n", "", "1 rows, expected 0"),
    ],
)
def test_a_case_that_fails(folder: Path, command: Command, before: str, after: str, failure: str) -> None:
    file = page(folder, CASES.replace(before, after))
    result = command("test", folder, "--json")
    assert result.exit_code == 1
    said = command("test", folder).stdout.splitlines()
    assert said[0] == f"{file}:1: Kernels from 5 us on are not short: {failure}"
    assert said[-1] == "1 case, 1 failed"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "holds no cases"),
        (
            "## Nothing expected\n\nmodule.kernel\n\n| kind |\n|---|\n| copy |\n",
            ":1: the case expects no rows of ours.short_kernel",
        ),
        (f"{CASES}\n\nstep = 3\n", "there is no option step; there are "),
        (f"{CASES}\n\nstep_id = last\n", ":1: step_id='last': give a whole number"),
        (CASES.replace("duration_ns", "duration"), ":1: module.kernel has no column duration; it has "),
        (CASES.replace("| 2            |", "| two          |"), ":1: kernel_count: two is no BIGINT"),
        (CASES.replace("## ", ""), "rows without a name of a table above them"),
    ],
)
def test_a_page_that_cannot_be_read(folder: Path, command: Command, text: str | None, says: str) -> None:
    if text is not None:
        page(folder, text)
    result = command("test", folder)
    assert result.exit_code == 2
    assert says in result.stderr


def test_a_page_of_other_bytes_than_utf_8_is_named(folder: Path, command: Command) -> None:
    file = page(folder, "")
    file.write_bytes(b"## \xff\n")
    result = command("test", folder)
    assert (result.exit_code, result.stderr) == (2, says(f"error: {file}: ", "not UTF-8", "save it as UTF-8"))
