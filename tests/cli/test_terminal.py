"""The command as a user or a script meets it: what a terminal and a pipe get."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prof_analysis.cli import app
from tests.helpers.cli import OPS, RANGES, Command, break_database, shown_on_terminal
from tests.helpers.small_profile import Op, Range, write_profile

COUNT_OPS = "SELECT count(*) AS op_count FROM trace.op"


def test_a_terminal_shows_a_bar_over_ranks_unless_quiet(own_ranks: Path) -> None:
    assert "reading ranks" in shown_on_terminal(["sql", "-d", own_ranks, COUNT_OPS])
    assert shown_on_terminal(["sql", "-d", own_ranks, COUNT_OPS, "--quiet"]) == ""


@pytest.mark.slow
def test_the_bar_is_gone_when_the_answer_is_shown(own_ranks: Path) -> None:
    shown = shown_on_terminal(["sql", "-d", own_ranks, COUNT_OPS], with_stdout=True)
    before, answer = shown.split("op_count", 1)
    assert "reading ranks" in before
    assert "\x1b[2K" in before.rpartition("reading ranks")[2], "its line is erased"
    assert "reading ranks" not in answer


@pytest.mark.slow
def test_what_is_printed_into_a_pipe_is_never_cut(tmp_path: Path, command: Command) -> None:
    name = "[bold]Module" + "x" * 300
    write_profile(tmp_path / "a_ascend_pt", OPS, [Range(name, 100, 200)])
    assert name in command("module-stats", "-d", tmp_path).stdout
    assert name in command("sql", "-d", tmp_path, "SELECT module FROM module.statistic").stdout


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
        (["module-stats", "-d", folder, "--cache", store, "--debug"], 1),
        (["op-stats", "-d", folder, "-o", log], 3),
        (["kernel-stats", "-d", folder / "none", "--debug"], 2),
        (["kernel-stats", "-d", folder, "--rank_list", HOSTILE], 2),
        (["sql", "-d", folder, query], 1),
        (["ranks", "-d", folder], 0),
        (["cache", "ls", "--cache", store], 0),
        (["stage-durations", log, "-o", folder], 0),
        (["tables", HOSTILE], 2),
    ):
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == exit_code, result.output
        for printed in (result.stdout, result.stderr):
            assert not re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", printed)
            begun = [line for line in printed.splitlines() if line.lstrip().startswith("FORGED")]
            assert not begun or "--debug" in words, "only a traceback keeps its lines"
        assert r"a\x1b[2J\x9b31m\u202e\x7f" in result.output or words[0] == "cache"
    result = command("sql", "-d", folder, query, "--json")
    assert json.loads(result.stdout)["rows"] == [{HOSTILE: HOSTILE}]
    assert not re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", result.stdout)
