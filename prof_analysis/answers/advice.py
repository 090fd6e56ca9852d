"""The answer of `advise`: what to change first, and what it can win."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from prof_analysis.answers.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.answers.words import duration, percent, several

if TYPE_CHECKING:
    from prof_analysis.profile import Profile


def advise(profile: "Profile", top: int) -> tuple[Facts, list[Block]]:
    """Return the findings with the most time to win, and the rules that lack data."""
    findings = profile.rows(f"FROM advice.finding LIMIT {top:d}")
    not_judged = profile.rules_not_judged()
    facts: Facts = {**size_of(profile, "advice.finding", "across.rank_step"), "findings": findings, "not_judged": not_judged}
    columns: dict[str, Source] = {
        "finding": "title",
        "win per step": ("time", lambda row: (row["win_ns_per_step"], row["win_share"])),
        "kind": "kind",
        "module": "module",
        "op": "op",
        "type": "kernel_type",
        "rank": "rank_id",
    }
    return facts, [
        table_of("advice.finding", findings, columns),
        said(*_evidence(findings), *_of_all(facts["rows"], not_judged)),
    ]


def _evidence(findings: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what each finding is based on, and what to do."""
    for number, row in enumerate(findings, 1):
        win = "no time can be given" if row["win_ns_per_step"] is None else duration(row["win_ns_per_step"])
        yield f"{number}. {row['title']} ({win}, {percent(row['win_share'])} of the step, {row['kind']}): {row['evidence']}"
        yield f"   {row['what_to_do']}"


def _of_all(findings: int, not_judged: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield how many findings there are, and which rules lack data."""
    yield f"{several(findings, 'finding')}; wins overlap: never add them up"
    for row in not_judged:
        yield f"{row['rule']} cannot be judged on {several(row['ranks'], 'rank')}: {row['reason']}"
