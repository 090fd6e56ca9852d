"""The answers that a profile shows by itself: the verdict in a notebook, and those of the first sheet of a workbook."""

from contextlib import nullcontext, suppress

from prof_analysis.analyses.answer import Answer
from prof_analysis.analyses.answering import answer_of
from prof_analysis.analyses.asked import OpenProfile
from prof_analysis.common.errors import ProfAnalysisError
from prof_analysis.exports import IN_WORKBOOK
from prof_analysis.run.session import Session

# Of so many ranks and bytes of files, the verdict takes a few seconds.
_MOST_RANKS = 8
_MOST_BYTES = 16_000_000


def verdicts_of(profile: OpenProfile, session: Session) -> dict[str, Answer]:
    """Return the answer of diagnose() about each run of a small profile; of others nothing, as it would take long."""
    files = {file for rank in session.ranks for file in rank.inputs if file.exists()}
    is_small = len(session.ranks) <= _MOST_RANKS and sum(file.stat().st_size for file in files) <= _MOST_BYTES
    if not is_small or not any("diagnose" in row["answers"] for row in profile.rank_rows()):
        return {}
    verdicts = {}
    for run in profile.runs or ("",):
        with profile.only(run) if run else nullcontext(), suppress(ProfAnalysisError):
            verdicts[run] = answer_of(profile, "diagnose", 1)
    return verdicts


def answers_of(profile: OpenProfile, analysis: str, by: str | None) -> dict[str, Answer]:
    """Return the answer of a command about each run, as the first sheet of a workbook shows it."""
    answers = {}
    for run in profile.runs or ("",):
        with profile.only(run) if run else nullcontext():
            answers[run] = answer_of(profile, analysis, IN_WORKBOOK, by)
    return answers


def answer_of_listing(profile: OpenProfile, command: str) -> dict[str, Answer]:
    """Return what a command has to say that lists a table as it is: its warnings."""
    return {"": Answer(command, {}, (), tuple(profile.warnings), tuple(profile.failures))}
