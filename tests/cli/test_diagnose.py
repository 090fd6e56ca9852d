"""One screen: what was recorded, the parts of a step, and three causes."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.analyses.answering import answer_of
from tests.helpers.cli import Command


def test_the_parts_of_a_step_are_the_step_and_none_of_the_causes_counts_only_the_time_of_another(
    kept: Path, kept_sample: Path
) -> None:
    with open_profile(kept_sample, cache=kept) as profile:
        profile.prepare("diagnose")
        facts = answer_of(profile, "diagnose", 10).facts
        steps = profile.rows("FROM across.rank_step")
        findings = profile.rows("FROM advice.finding")
    assert sum(part["share"] for part in facts["parts"]) == pytest.approx(1)
    whole, count = (sum(row[name] for row in steps) for name in ("duration_ns", "step_count"))
    assert abs(sum(part["ns_per_step"] for part in facts["parts"]) - whole / count) <= len(facts["parts"])
    assert len(facts["causes"]) == 3
    shown = {row["finding_id"] for row in facts["causes"]}
    assert facts["causes"] == [row for row in findings if row["finding_id"] in shown]
    left_out = [row for row in findings[: findings.index(facts["causes"][-1])] if row["finding_id"] not in shown]
    assert all(row["shared_with"] in shown and row["shared_ns_per_step"] == row["win_ns_per_step"] for row in left_out)


@pytest.mark.usefixtures("keeping")
def test_a_path_alone_is_diagnosed(command: Command, kept_sample: Path) -> None:
    alone = command(kept_sample)
    assert alone.exit_code == 0
    assert alone.stdout == command("diagnose", kept_sample).stdout
    first, *_ = alone.stdout.splitlines()
    assert first == "2 ranks, read from the profiler database"
    assert f"prof-analysis advise {kept_sample}" in alone.stdout


def test_a_word_that_is_neither_command_nor_path_is_a_misspelt_command(command: Command) -> None:
    said = command("advize").stderr
    assert "No such command 'advize'" in said
    assert "advise" in said
