"""Asks a session the questions of analyses: which ranks can answer, which find nothing, which rules judge them."""

from collections import Counter
from collections.abc import Iterable
from shlex import quote

from prof_analysis.analyses import Analysis
from prof_analysis.common.capabilities import Requirement, recorded_from, why_not
from prof_analysis.common.errors import InputError
from prof_analysis.run.session import Session
from prof_analysis.sources.beside import are_of_one_process, is_told_beside
from prof_analysis.sources.rank import Rank


def require(session: Session, requires: tuple[Requirement, ...]) -> dict[Rank, str]:
    """Return the ranks that lack a requirement, with the reason; warn of each, but where another source of its process has it.

    Raises InputError when every rank lacks it.
    """
    with session.turn():
        unable = dict(session.lacking(requires))
        if unable and len(unable) == len(session.stores):
            failures = session.failures
            failed = f"; {len(failures)} more could not be read: {failures[0]}" if failures else ""
            reason = next(iter(unable.values()))
            why = f"{reason}{_of_host_alone(session, reason)}{failed}"
            raise InputError(f"{session.shown_path}: no rank can answer this: {why}", path=session.path)
        able = [rank for rank in session.stores if rank not in unable]
        for rank, why in unable.items():
            # That another source of its process has it is no loss, but that records of its own are not told must be said.
            is_hidden = is_told_beside(rank) and why == dict(rank.lacks)["memory"]
            if is_hidden or not any(are_of_one_process(rank, other) for other in able):
                session.warn(f"{rank.profile}: {why}", rank)
    return unable


def _of_host_alone(session: Session, reason: str) -> str:
    """Name the question about the host that ranks answer where the reason is that they have no kernels."""
    without_kernels = [why for _, why in session.lacking(("kernels",))]
    if reason not in without_kernels or len(session.lacking(("ops",))) == len(session.stores):
        return ""
    path = quote(session.shown_path)
    if len(session.lacking(("modules", "ops"))) == len(session.stores):
        return f"; host time of ops: prof-analysis op-stats {path}"
    return f"; host time by module: prof-analysis op-stats {path} --by module"


def ask(session: Session, analysis: Analysis) -> None:
    """Build the tables of an analysis.

    Raises InputError when each rank lacks what it requires; where only some do, a warning names each. A rank that has it and
    gives no rows is answered: a warning says what was not found.
    """
    with session.turn():
        unable = require(session, analysis.requires)
        for option, extra in analysis.extras.items():
            if session.has_value(option):
                require(session, extra.requires)
        session.provide(analysis.tables)
        answering = session.profiles_in(analysis.counted_table)
        for rank in session.stores:
            if rank.profile not in answering and rank not in unable:
                session.warn(f"{rank.profile}: {said_of_nothing(session, analysis)}", rank)


def said_of_nothing(session: Session, analysis: Analysis) -> str:
    """Return the sentence about a rank in which an analysis finds nothing."""
    return f"no {analysis.subject}" + ("" if session.step_id is None else f" in step {session.step_id}")


def rules_of(session: Session) -> list[dict[str, str | int | None]]:
    """Return each rule of advice: on how many of the ranks that users see it is judged, or why it is not."""
    found: Counter[tuple[str, str | None, int | None]] = Counter()
    for name in sorted(session.tables["advice.finding_of_rank"].needs):
        table = session.tables[name]
        for lacks in (_lacks_of_process(rank, session.shown_ranks) for rank in session.shown_ranks):
            reason = why_not(table.requires, lacks)
            found[name.partition(".")[2], reason, recorded_from(table.requires, lacks) if reason else None] += 1
    return [{"rule": rule, "reason": reason, "ranks": ranks, "level": level} for (rule, reason, level), ranks in found.items()]


def _lacks_of_process(rank: Rank, ranks: Iterable[Rank]) -> dict[str, str]:
    """Return what a rank lacks, without what another source of its process has: a snapshot, and the profile beside it."""
    others = [dict(other.lacks) for other in ranks if are_of_one_process(rank, other)]
    return {capability: why for capability, why in rank.lacks if all(capability in lacks for lacks in others)}
