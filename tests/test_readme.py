"""What README and tutorial promise a newcomer."""

import re
import shlex
import warnings
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.cli import shown_on_terminal
from tests.helpers.pages import QUESTION, assert_answers_are_of_today, assert_is_current
from tests.helpers.places import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
PICTURE = CHECKOUT / "docs" / "module-stats.svg"


def block_behind(mark: str) -> str:
    match = re.search(rf"<!-- {mark} -->\n```\w*\n(.+?)```", README, re.DOTALL)
    assert match
    return match[1]


def test_the_main_job_writes_what_the_readme_says(
    tmp_path: Path, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CHECKOUT)
    words = shlex.split(block_behind("main job").rpartition("&&")[2])
    assert words[0] == ".venv/bin/prof-analysis"
    assert command(*(tmp_path if word == "." else word for word in words[1:])).exit_code == 0
    assert (tmp_path / "cluster_analysis_output" / "cluster_analysis.db").exists()


@pytest.mark.usefixtures("keeping")
def test_the_answers_in_the_readme_are_those_of_the_commands(
    kept_sample: Path, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(kept_sample.parent)
    assert_answers_are_of_today(CHECKOUT / "README.md", command)
    assert len(QUESTION.findall(README)) == 5
    assert not list(kept_sample.glob("cluster_analysis_output")), "looking writes nothing"


def test_the_late_rank_of_the_tutorial_is_found(tmp_path: Path) -> None:
    """The quick part of the test below: the others wait for it as long as it waits for its data."""
    generate(tmp_path, Shape(steps=1, layers=1, late_rank=1), ranks=2)
    with open_profile(tmp_path) as profile:
        build_at_once(
            profile, "slow-ranks", "across.slow_rank_finding", "communication.breakdown", "trace.op", "across.host_difference"
        )
        (finding,) = profile.rows("SELECT finding, slow_ranks FROM across.slow_rank_finding")
        waits = profile.rows("SELECT rank_id, synchronization_ns FROM communication.breakdown ORDER BY start_ns, rank_id")
        loader = profile.rows("SELECT rank_id, duration_ns FROM trace.op WHERE name LIKE '%DataLoader%' ORDER BY rank_id")
        (late, *_) = profile.slow_ranks(by="op").to_dict("records")
    assert finding == {"finding": "slow rank", "slow_ranks": "1"}
    assert (late["rank_id"], late["op"][:21]) == (1, "enumerate(DataLoader)")
    assert (late["host_ns"], late["others_ns"]) == (loader[1]["duration_ns"], loader[0]["duration_ns"])
    longest = {rank: max(row["synchronization_ns"] for row in waits if row["rank_id"] == rank) for rank in range(2)}
    assert longest[1] < loader[1]["duration_ns"] // 10
    assert 0.9 < longest[0] / loader[1]["duration_ns"] < 1.1
    assert loader[0]["duration_ns"] < loader[1]["duration_ns"] // 10


@pytest.mark.slow  # ten commands on four ranks
def test_the_tutorial_finds_what_it_says(
    tmp_path: Path, command: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_answers_are_of_today(CHECKOUT / "docs" / "tutorial.md", command)


@pytest.mark.usefixtures("keeping")
def test_the_api_in_ten_lines_runs(kept_sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = block_behind("api")
    assert len([line for line in code.splitlines() if line]) <= 10
    monkeypatch.chdir(kept_sample.parent)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(code, "README.md", "exec"), {})


@pytest.mark.usefixtures("keeping")
def test_the_picture_is_the_real_output(kept_sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(kept_sample.parent)
    output = shown_on_terminal(("module-stats", "result", "-q"), with_stdout=True, width=100)
    console = Console(record=True, width=102, file=StringIO())
    console.print(Text("$ prof-analysis module-stats result", style="bold"))
    console.print(Text.from_ansi(output.replace("\r\n", "\n")), overflow="ignore", no_wrap=True, crop=False)
    assert_is_current(PICTURE, console.export_svg(title="prof-analysis"))


def test_each_difference_names_a_test_that_exists() -> None:
    table = (CHECKOUT / "docs" / "differences.md").read_text(encoding="utf-8")
    named = set(re.findall(r"::(test_\w+)`", table))
    source = (CHECKOUT / "tests" / "test_differences.py").read_text(encoding="utf-8")
    assert named == set(re.findall(r"^def (test_\w+)", source, re.MULTILINE))
