"""The first screen of the report: the answer of `diagnose`, and folded away all other findings of `advise`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from prof_analysis.analyses.answer import Answer, Sentences
from prof_analysis.analyses.answers.advise import how_to_read, lacking, place_of
from prof_analysis.analyses.words import duration, percent
from prof_analysis.common.errors import QueryError
from prof_analysis.engine.parsing import referenced_tables
from prof_analysis.pictures.report.parts import Finding, Heading, Part, Section, StepPart, Verdict, plain

_IN_ALL = 20
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
    "pass": "iterations",
    "pipeline": "pipeline",
    "pmu": "kernels",
}
# Rule -> what the sentences below are silent about where it found something, since it says the same.
SAID_BY = {"slow_rank": "Ranks", "memory_limit": "Memory"}


def verdict_of(answers: Mapping[str, Mapping[str, Answer]], sections: Sequence[Section]) -> Section | None:
    """Return for each run the parts of a step and what to change first; None where neither can be said."""
    parts = list(_parts(answers, {section.id: section.title for section in sections}))
    return Section("verdict", "Verdict", "Where does a step go, and what should change first?", parts) if parts else None


def said_by_verdict(answers: Mapping[str, Answer]) -> set[str]:
    """Return what the verdict already states, by the subject of a sentence."""
    findings = answers["diagnose"].facts["causes"] if "diagnose" in answers else ()
    of_bar = {"Time"} if "diagnose" in answers and answers["diagnose"].facts["parts"] else set()
    return {SAID_BY[row["rule"]] for row in findings if row["rule"] in SAID_BY} | of_bar


def _parts(answers: Mapping[str, Mapping[str, Answer]], titles: Mapping[str, str]) -> Iterator[Part]:
    for run, of_run in answers.items():
        if "diagnose" not in of_run:
            continue
        if run:
            yield Heading(plain(f"Run {run}"))
        facts, said = of_run["diagnose"].facts, of_run["diagnose"].blocks[0]
        findings = of_run["advise"].facts["findings"][:_IN_ALL] if "advise" in of_run else facts["findings"]
        title_of = {row["finding_id"]: row["title"] for row in findings}
        causes = [row["finding_id"] for row in facts["causes"]]
        yield Verdict(
            [plain(line) for line in said.lines] if isinstance(said, Sentences) else [],
            [_step_part(row["part"], row["ns_per_step"], row["share"]) for row in facts["parts"]],
            [_finding(row, titles, title_of) for row in facts["causes"]],
            [_finding(row, titles, title_of) for row in findings if row["finding_id"] not in causes],
            [plain(line) for line in how_to_read(facts)],
            [plain(line) for line in lacking(facts)],
        )


def _step_part(name: str, time_ns: int, share: float) -> StepPart:
    return StepPart(name, name.replace(" ", "-"), duration(time_ns), percent(share), share)


def _finding(row: Mapping[str, Any], titles: Mapping[str, str], title_of: Mapping[int, str]) -> Finding:
    """Return a finding with the section that shows it."""
    section = section_of(row["sql"])
    section = section if section in titles else "steps"
    all_of_it = row["shared_ns_per_step"] == row["win_ns_per_step"]
    shared = "all" if all_of_it else duration(row["shared_ns_per_step"])
    also = f'"{title_of[row["shared_with"]]}" may count {shared} of this win too' if row["shared_with"] in title_of else None
    return Finding(
        title=plain(row["title"]),
        win="" if row["win_ns_per_step"] is None else duration(row["win_ns_per_step"]),
        share="" if row["win_share"] is None else f"{percent(row['win_share'])} of a step",
        kind=plain(row["kind"]),
        place=plain(place_of(row) or ""),
        evidence=plain("; ".join(filter(None, (row["evidence"], also)))),
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
