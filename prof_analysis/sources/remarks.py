"""Remarks of staging: faults of the input, and the questions that warn of them.

A question warns of what its own raw tables and columns show. What is kept of the input for later questions keeps its remarks,
and each of these chooses its own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Remark:
    """A remark about the input, for questions that stage one of the raw `tables`, or all of them with `needs_all`.

    With `column` it is only for questions that stage this column, too. Remarks with the same `place` are merged and their
    counts added. `sentence` is used for a count of one, otherwise `many` = (text before, text after the number). `place` gives
    the order of sentences: a group, a name, and two numbers. A remark that is `of_the_question` holds only for the columns that
    were staged together.
    """

    place: tuple[int, str, int, int]
    tables: tuple[str, ...]
    sentence: str
    column: str | None = None
    needs_all: bool = False
    many: tuple[str, str] | None = None
    count: int = 1
    of_the_question: bool = False

    def is_for(self, staged: Mapping[str, frozenset[str]]) -> bool:
        """Return whether a question that stages these raw tables and columns warns of it."""
        found = [table in staged and (self.column is None or self.column in staged[table]) for table in self.tables]
        return all(found) if self.needs_all else any(found)


def sentences(remarks: Iterable[Remark], staged: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the warnings of a question that stages these raw tables and columns."""
    counts: dict[tuple[tuple[int, str, int, int], str, tuple[str, str] | None], int] = {}
    for remark in sorted(set(remarks), key=lambda remark: (remark.place, remark.sentence)):
        if remark.is_for(staged):
            said = (remark.place, remark.sentence, remark.many)
            counts[said] = counts.get(said, 0) + remark.count
    return [
        sentence if many is None or count == 1 else f"{many[0]}{count}{many[1]}"
        for (_, sentence, many), count in counts.items()
    ]


def as_json(remarks: Iterable[Remark]) -> list[dict[str, Any]]:
    """Return remarks in a form that JSON can hold."""
    return [asdict(remark) for remark in remarks]


def from_json(kept: Iterable[Mapping[str, Any]]) -> set[Remark]:
    """Return the remarks that as_json() gave."""
    found = set()
    for one in kept:
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in one.items()}
        found.add(Remark(**values))
    return found
