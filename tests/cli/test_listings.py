"""The command as a user or a script meets it: what ranks and tables list, and the help."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from prof_analysis import __version__
from prof_analysis.analyses import ANALYSES
from prof_analysis.cli import app
from prof_analysis.engine.tables import documented_tables
from tests.helpers.answers import NOT_IN_ONE_RANK, answered_without, unanswered
from tests.helpers.cli import Command, break_database, only_json
from tests.helpers.places import CHECKOUT


def test_ranks_prints_what_was_found(ranks: Path, command: Command) -> None:
    break_database(ranks / "0_ascend_pt")
    result = command("ranks", "-d", ranks)
    assert result.exit_code == 0
    file = "ascend_pytorch_profiler_{}.db"
    header, *lines = result.stdout.splitlines()
    columns = ["folder", "rank", "device", "answers", "level", "modules from", "read from", "rank from", "files"]
    assert re.split(r" {2,}", header) == columns
    answers = answered_without(*NOT_IN_ONE_RANK)
    all_ = f"{len(answers)} of {len(ANALYSES)}"
    assert [re.split(r" {2,}", line) for line in lines[:2]] == [
        ["0_ascend_pt", "0", "-", f"0 of {len(ANALYSES)}", "-", "-", "-", file.format(0), file.format(0)],
        ["1_ascend_pt", "1", "-", all_, "-", "mstx", "the profiler database", file.format(1), file.format(1)],
    ]
    assert lines[2] == ""
    assert lines[3].startswith(f"left out: {ranks}/0_ascend_pt/ASCEND_PROFILER_OUTPUT/{file.format(0)}: ")
    assert lines[3].endswith(" (rank 0)")
    reasons = unanswered(NOT_IN_ONE_RANK)
    commands = {reason: [command for command, other in reasons if other == reason] for _, reason in reasons}
    cannot = [f"cannot answer {', '.join(of_reason)}: {reason} (rank 1)" for reason, of_reason in commands.items()]
    assert lines[4:] == [
        f"answers: {', '.join(answers)} (rank 1)",
        "may answer layer-stats: the command finds out whether layers repeat in the sequence of kernels (rank 1)",
        *cannot,
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
    others = {"stage-durations", "ranks", "table", "tables", "sql", "cache ls", "cache clear"}
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
