"""Reads the head of a rule of advice: sentences, thresholds, and the rules that it yields to.

The SELECT of a rule gives figures, and its head the sentences about them:

@title Kernels leave cores of the device without work
@evidence {count|1 kernel|kernels} for {time_ns}, in which {idle_share} of the cores have no work
@kind upper bound
@remedy Choose sizes that give as many blocks as there are cores or a multiple.
@query SELECT idle_ns, type, module FROM kernels.work ORDER BY idle_ns DESC LIMIT 50
@doc our-wiki/block-dim             where a user's rule is explained, else in its file; ours have a section of _PAGE each
@counts kernels                     which time its win counts
@threshold least_ns 10000 ns: ...   a threshold that users can set, its unit (none for a plain number), and its meaning
@yields slow_matmul                 a finding is left out where that rule finds as much to win in the same module, op and
                                    type; `(is_vector) slow_matmul (is_small)`: only such rows of this rule and of that one

sentences.py says what sentences may hold. Where the SELECT gives a column such as `title` itself, the head has no such line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from prof_analysis.engine.heads import Directive, Head
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.sentences import Shown, sentence, without_condition

# The page that explains our rules, each in a section of its name.
_PAGE = "docs/rules.md"
KINDS = ("exact cause", "upper bound", "hint")
COUNTED = ("kernels", "host", "idle", "transfers", "ranks", "steps", "none")
# Directive -> the column of a finding that it gives.
_GIVES: Mapping[str, str] = {
    "title": "title",
    "evidence": "evidence",
    "kind": "kind",
    "remedy": "what_to_do",
    "doc": "doc",
    "query": "sql",
}
# The columns of a finding that are words.
SAID = tuple(_GIVES.values())
_MUST_SAY = ("title", "evidence", "kind", "remedy")
_THRESHOLD = re.compile(r"(\w+) (-?\d+(?:\.\d+)?)(?: ([^\s:]+))?: (\S.*)")
_YIELDS = re.compile(r"(?:\((\w+)\) )?(\w+)(?: \((\w+)\))?")
_SAME = ("module", "op", "kernel_type")


@dataclass(frozen=True)
class Threshold:
    """A threshold of a rule: its name, its usual value, its unit, and what it does."""

    name: str
    usual: float
    unit: str | None
    meaning: str


def said_by(name: str, head: Head, formats: Mapping[str, Shown], is_ours: bool) -> tuple[tuple[str, str], ...]:
    """Return the SQL of what a head says of each row, by the column of a finding that it gives; nothing where it says nothing.

    Raises ValueError, which names the line, for a rule that does not say all.
    """
    said = {word: head.all(word) for word in _GIVES}
    first = next((directive for directives in said.values() for directive in directives), None)
    if first is None:
        return ()
    _check_folder(first)
    if missing := [column for column in ("profile", "rank_id") if column not in formats]:
        raise first.error(f"the SELECT of a rule gives profile and rank_id; the head documents no {missing[0]}")
    given = {}
    for word, directives in said.items():
        column = _GIVES[word]
        if directives and column in formats:
            raise directives[0].error(f"the SELECT gives {column} too; leave one of them out")
        if directives:
            given[column] = sentence(directives, formats, has_figures=word not in ("kind", "query", "doc"))
        elif word in _MUST_SAY and column not in formats:
            raise first.error(f"the head has no @{word}, and the SELECT gives no {column}; write one of them")
    for directive in said["kind"]:
        if (kind := without_condition(directive.value)) not in KINDS:
            raise directive.error(f"there is no kind {kind}; there are {', '.join(KINDS)}")
    short = name.partition(".")[2]
    if "doc" not in formats:
        ours = f"{_PAGE}#{short.replace('_', '-')}"
        given.setdefault("doc", quote_text(ours if is_ours else f"advice/{short}.sql"))
    if "sql" not in formats:
        given.setdefault("sql", quote_text(f"FROM {name}"))
    return tuple(given.items())


def counts_of(head: Head) -> str:
    """Return which time the win of a rule counts; nothing where the head does not say it."""
    if (directive := head.one("counts")) is None:
        return ""
    _check_folder(directive)
    if directive.value not in COUNTED:
        raise directive.error(f"there is no such time; there are {', '.join(COUNTED)}")
    return directive.value


def yields_of(head: Head, formats: Mapping[str, Shown]) -> Iterator[tuple[str, str]]:
    """Yield the rules to which a rule leaves findings, each with the condition on its row `found` and that row `other`."""
    for directive in head.all("yields"):
        _check_folder(directive)
        if not (match := _YIELDS.fullmatch(directive.value)):
            raise directive.is_written_otherwise
        own, name, others = match.groups()
        file = directive.line.file_of(f"{directive.line.file.parent.name}.{name}")
        conditions = [
            "other.profile = found.profile",
            *(f"other.{column} IS NOT DISTINCT FROM found.{column}" for column in _SAME),
            "other.win_ns >= coalesce(found.win_ns, 0)",
        ]
        if own and formats.get(own) != "truth":
            raise directive.error(f"the head documents no BOOLEAN {own}; name one that it documents")
        if others and not re.search(rf"^-- {others} +BOOLEAN ", file.read_text(encoding="utf-8-sig"), re.MULTILINE):
            raise directive.error(f"the head of {name} documents no BOOLEAN {others}; name one that it documents")
        conditions += [f"found.{quote(own)}"] if own else []
        conditions += [f"other.{quote(others)}"] if others else []
        yield name, " AND ".join(conditions)


def thresholds_of(head: Head) -> tuple[Threshold, ...]:
    """Return the thresholds that a head has."""
    found: list[Threshold] = []
    for directive in head.all("threshold"):
        _check_folder(directive)
        if not (match := _THRESHOLD.fullmatch(directive.value)):
            raise directive.is_written_otherwise
        name, usual, unit, meaning = match.groups()
        if not re.search(rf"'{name}'", head.body):
            raise directive.error(f"the SELECT does not read {name} of advice.threshold; leave it out, or let it read it")
        if name in (one.name for one in found):
            raise directive.error(f"names {name} twice; leave one out")
        found.append(Threshold(name, float(usual), unit, meaning))
    return tuple(found)


def _check_folder(directive: Directive) -> None:
    if directive.line.file.parent.name != "advice":
        raise directive.error("only a rule, a table in advice/, has it; leave it out")
