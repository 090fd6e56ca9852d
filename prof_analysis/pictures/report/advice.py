"""What to change first, at the top of the report: the findings of `advise`, each with the section that shows it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prof_analysis.analyses.answer import Answer
from prof_analysis.analyses.answers.advise import how_to_read, lacking, numbered, place_of, shared_of
from prof_analysis.analyses.words import duration, percent
from prof_analysis.common.errors import QueryError
from prof_analysis.engine.parsing import referenced_tables
from prof_analysis.pictures.report.parts import Advice, Finding, Heading, Part, Section, plain

_SHOWN, _IN_ALL = 5, 20
# Schema of the table that shows the evidence, or such a table -> the section with its picture. Others are about steps.
_SECTION_OF = {
    "allocation": "memory",
    "across.link": "communication",
    "across.slow_rank": "ranks",
    "api": "timeline",
    "clock": "kernels",
    "communication": "communication",
    "experts": "ranks",
    "free": "timeline",
    "graph": "timeline",
    "kernels": "kernels",
    "layer": "modules",
    "mfu": "kernels",
    "module": "modules",
    "op": "timeline",
    "pipeline": "pipeline",
    "pmu": "kernels",
}
# Rule -> what the sentences below are silent about where it found something, since it says the same.
SAID_BY = {"slow_rank": "Ranks", "memory_limit": "Memory"}


def advice_of(answers: Mapping[str, Mapping[str, Answer]], sections: Sequence[Section]) -> Section | None:
    """Return the findings of each run as a section; None where no rule can be judged."""
    parts = list(_parts(answers, {section.id: section.title for section in sections}))
    return Section("advice", "What to change first", "What costs time, and what can it win?", parts) if parts else None


def said_by_findings(answers: Mapping[str, Answer]) -> set[str]:
    """Return the facts that findings already state, by the subject of a sentence."""
    findings = answers["advise"].facts["findings"][:_SHOWN] if "advise" in answers else ()
    return {SAID_BY[row["rule"]] for row in findings if row["rule"] in SAID_BY}


def _parts(answers: Mapping[str, Mapping[str, Answer]], titles: Mapping[str, str]) -> Iterator[Part]:
    for run, of_run in answers.items():
        if "advise" not in of_run:
            continue
        if run:
            yield Heading(plain(f"Run {run}"))
        found = [_finding(row, titles) for row in numbered(of_run["advise"].facts["findings"])[:_IN_ALL]]
        facts = of_run["advise"].facts
        lacks = [plain(line) for line in lacking(facts)]
        yield Advice(found[:_SHOWN], found[_SHOWN:], [plain(line) for line in how_to_read(facts)], lacks)


def _finding(row: Mapping[str, Any], titles: Mapping[str, str]) -> Finding:
    """Return a finding with the section that shows it."""
    section = section_of(row["sql"])
    section = section if section in titles else "steps"
    also_in = shared_of(row)
    shared = None if also_in is None else f"also in {also_in}"
    return Finding(
        title=plain(row["title"]),
        win=duration(row["win_ns_per_step"]),
        share="" if row["win_share"] is None else f"{percent(row['win_share'])} of a step",
        kind=plain(row["kind"]),
        place=plain(place_of(row) or ""),
        evidence=plain("; ".join(filter(None, (row["evidence"], shared)))),
        what_to_do=plain(row["what_to_do"]),
        section=section,
        section_title=titles[section],
    )


def section_of(query: str) -> str:
    """Return the section that shows the tables of the query about a finding."""
    try:
        tables = sorted(referenced_tables(query))
    except QueryError:  # Of a user's own rule.
        return "steps"
    found = (_SECTION_OF.get(one) or _SECTION_OF.get(one.partition(".")[0]) for one in tables)
    return next((section for section in found if section is not None), "steps")
