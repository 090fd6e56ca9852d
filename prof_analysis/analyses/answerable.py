"""Which analyses a rank can answer, by the capabilities that it lacks."""

from collections.abc import Sequence
from typing import Protocol

from prof_analysis.analyses import ANALYSES
from prof_analysis.common.capabilities import Questions, recorded_from, why_not

# What each analysis requires of a rank.
QUESTIONS: Questions = tuple(analysis.requires for analysis in ANALYSES.values())


class Recorded(Protocol):
    """A rank, as far as it matters here."""

    @property
    def lacks(self) -> Sequence[tuple[str, str]]:
        """The capabilities that it lacks, each with the reason."""

    @property
    def left_out(self) -> str | None:
        """Why it cannot be read."""

    @property
    def is_cut_off(self) -> bool:
        """Whether its recording ends too early, so that what it lacks may well have been recorded."""


def answered_by(rank: Recorded) -> tuple[str, ...]:
    """Return the analyses that a rank answers, with rows or by saying what was not found."""
    return () if rank.left_out else tuple(command for command in ANALYSES if not why_unanswered(rank, command))


def unanswered_by(rank: Recorded) -> tuple[tuple[str, str], ...]:
    """Return the analyses that a rank cannot answer, each with the reason."""
    return tuple((command, reason) for command in ANALYSES if (reason := why_unanswered(rank, command)))


def why_unanswered(rank: Recorded, command: str) -> str | None:
    """Say why a rank has no answer to an analysis; None where it has one."""
    return why_not(ANALYSES[command].requires, dict(rank.lacks))


def better_recording_of(rank: Recorded) -> str | None:
    """Return the call of prof_analysis.collect that records what other questions need; None where none does."""
    lacks = dict(rank.lacks)
    levels = {command: recorded_from(analysis.requires, lacks) for command, analysis in ANALYSES.items()}
    is_known = not rank.left_out and not rank.is_cut_off
    found = {command: level for command, level in levels.items() if level is not None and is_known}
    if not found:
        return None
    call = f'prof_analysis.collect.profiler("result", level={max(found.values())})'
    return f"record with {call} to answer {', '.join(found)} too"
