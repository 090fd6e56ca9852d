"""The command as a user or a script meets it: what ranks lists, and the version."""

import re
from pathlib import Path

from prof_analysis import __version__
from prof_analysis.analyses import ANALYSES
from tests.helpers.answers import NOT_IN_ONE_RANK, answered_without, unanswered
from tests.helpers.cli import Command, break_database, only_json
from tests.helpers.says import says


def test_ranks_prints_what_was_found(own_ranks: Path, command: Command) -> None:
    break_database(own_ranks / "0_ascend_pt")
    result = command("ranks", "-d", own_ranks)
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
    assert lines[3].startswith(f"left out: {own_ranks}/0_ascend_pt/ASCEND_PROFILER_OUTPUT/{file.format(0)}: ")
    assert lines[3].endswith(" (rank 0)")
    reasons = unanswered(NOT_IN_ONE_RANK)
    commands = {reason: [command for command, other in reasons if other == reason] for _, reason in reasons}
    cannot = [f"cannot answer {', '.join(of_reason)}: {reason} (rank 1)" for reason, of_reason in commands.items()]
    better = ('prof_analysis.collect.profiler("result", level=2)', "api-stats, stacks, pmu-stats, memory")
    assert lines[4:] == [
        f"answers: {', '.join(answers)} (rank 1)",
        *cannot,
        says(*better, "(rank 1)"),
    ]
    answer = only_json(command("ranks", "-d", own_ranks, "--json"))
    assert answer.keys() == {"schema_version", "command", "status", "ranks"}
    assert answer["ranks"][1] == {
        "profile": "1_ascend_pt",
        "rank_id": 1,
        "rank_id_from": "ascend_pytorch_profiler_1.db",
        "device_id": None,
        "profiler_level": None,
        "source": "ascend_db",
        "modules_from": "mstx",
        "answers": list(answered_without(*NOT_IN_ONE_RANK)),
        "may_answer": [],
        "unanswered": [f"{command}: {reason}" for command, reason in reasons],
        "better_recording": says(*better),
        "metadata": [],
        "missing": [],
        "unread": [],
        "left_out": None,
        "files": ["ascend_pytorch_profiler_1.db"],
        "folder": str(own_ranks / "1_ascend_pt"),
    }


def test_version(command: Command) -> None:
    result = command("--version")
    assert (result.exit_code, result.stdout) == (0, f"prof-analysis {__version__}\n")
