"""The table of the trials: how often each damage ended how, and what must not be."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.trials.cases import Case
from benchmarks.trials.judge import Outcome


def table(cases: Sequence[Case]) -> str:
    """Return the counts by damage, then each case that must not be, and each that has its reason, in Markdown."""
    counts: dict[str, Counter[Outcome]] = {}
    for case in cases:
        counts.setdefault(case.damage, Counter())[case.outcome] += 1
    lines = [_row("damage", *Outcome), _row(*["---"] * (len(Outcome) + 1))]
    lines += [_row(name, *(str(of_damage[one] or "") for one in Outcome)) for name, of_damage in counts.items()]
    total = Counter(case.outcome for case in cases)
    lines.append(_row(f"all {len(cases)} cases", *(str(total[one]) for one in Outcome)))
    for outcome in Outcome:
        if outcome.is_bad or outcome is Outcome.REASON:
            lines += ["", f"{outcome}: {total[outcome]}", ""]
            lines += [f"- {one.profile}, {one.damage} ({one.did}): {one.words}" for one in cases if one.outcome is outcome]
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
