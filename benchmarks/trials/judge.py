"""Says how a damaged profile was answered, against the answer of the undamaged one."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from benchmarks.trials.ask import QUESTIONS, Said


class Outcome(StrEnum):
    """How a case ended, the best first; a case is the worst of its commands."""

    RIGHT = "right"
    WARNED = "right with warning"
    ERROR = "clear error"
    REASON = "untold, with its reason"
    FALSE = "false warning"
    SILENT = "silent and wrong"
    TRACEBACK = "traceback"
    HANG = "hang"
    CHANGED = "changed input"

    @property
    def is_bad(self) -> bool:
        """Return whether it must not be."""
        return list(Outcome).index(self) >= list(Outcome).index(Outcome.FALSE)


# Keys that only locate or name a row: they are other ones where a folder has another name.
LOCATING = {"profile", "folder", "finding_id", "command", "sql", "source", "group_name", "group_label"}
# What a warning must name of what is missing: a number of rows, a time or a share.
FIGURE = re.compile(
    r"\b\d[\d,.]* ?(%|ns|us|ms|s|min|h|B|KiB|MiB|GiB|bytes)(?![A-Za-z])"
    r"|\b(\d[\d,.]*|one|two|all|no|none) (of )?(the |its |at least )?[a-z]+|"
    r"[a-z]: \d[\d,]*\b"
)
RANK = re.compile(r"\branks? \d|^\S*(_ascend_pt|_ascend_ms|\.json(\.gz)?|\.db|\.csv)\b|^(IN|rank)\S*:")
LACK = re.compile(
    r"\b(no|not|missing|without|lacks?|cannot|unknown|set aside|differ\w*|broken|damaged|cut|empty|gone|left out)\b"
)
DEFECT = "a defect of prof-analysis"


def outcome_of(said: Said, healthy: Said) -> tuple[Outcome, str]:
    """Return how a command was answered, and the words that say so."""
    if said.code is None:
        return Outcome.HANG, f"{said.command}: no end after {said.seconds:.0f} s"
    if "Traceback (most recent call last)" in said.errors or said.code not in (0, 1, 2, 3) or said.answer is None:
        return Outcome.TRACEBACK, f"{said.command}: exit {said.code}: {_last(said.errors)}"
    if DEFECT in str(said.answer):
        return Outcome.TRACEBACK, f"{said.command}: {_around(str(said.answer), DEFECT)}"
    if said.code in (2, 3):
        was_refused = healthy.code == said.code and healthy.answer is not None
        return (Outcome.RIGHT if was_refused else Outcome.ERROR), f"{said.command}: {said.answer.get('message', '')}"
    return _outcome_of_answer(said, healthy)


def _outcome_of_answer(said: Said, healthy: Said) -> tuple[Outcome, str]:
    new = new_messages(said, healthy)
    telling = [one for one in new if tells(one) or one in _failures(said)]
    difference = _difference(said, healthy)
    if difference is None:
        return (Outcome.WARNED if new else Outcome.RIGHT), f"{said.command}: {'; '.join(new)}"
    if telling:
        return Outcome.WARNED, f"{said.command}: {difference}; {telling[0]}"
    return Outcome.SILENT, f"{said.command}: {difference}; {'says only: ' + new[0] if new else 'no new warning'}"


def messages(said: Said) -> list[str]:
    """Return the warnings and failures of an answer."""
    return [*map(str, (said.answer or {}).get("warnings") or ()), *_failures(said)]


def new_messages(said: Said, healthy: Said) -> list[str]:
    """Return what the answer of the undamaged profile does not say."""
    known = set(messages(healthy))
    return [one for one in messages(said) if one not in known]


def tells(message: str) -> bool:
    """Return whether a message names the ranks, the rows or the time that are missing."""
    body = re.sub(r"^\S+: ", "", message)
    return bool(FIGURE.search(body) or (RANK.search(message) and LACK.search(body)))


def _failures(said: Said) -> list[str]:
    return list(map(str, (said.answer or {}).get("failures") or ()))


def _difference(said: Said, healthy: Said) -> str | None:
    """Say the first figure that is another one; None where all are equal, or there is no figure to compare with."""
    if said.command not in QUESTIONS:
        return None
    if healthy.code not in (0, 1):
        return None
    was, is_now = (_figures((one.answer or {}).get("summary")) for one in (healthy, said))
    for key in sorted(was.keys() | is_now.keys(), key=lambda key: (key.count("."), key)):
        is_unknown = key in is_now and is_now[key] is None  # NULL says so; a row that is gone says nothing.
        if not is_unknown and not _equal(was.get(key), is_now.get(key)):
            return f"{key}: {was.get(key, 'nothing')} is now {is_now.get(key, 'gone')}"
    return None


def _figures(value: Any, where: str = "") -> Mapping[str, Any]:
    """Return all figures of a summary by their keys; rows of a list are told apart by their texts, not by their places."""
    found: dict[str, Any] = {}
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in LOCATING and not key.endswith("_share"):
                found |= _figures(one, f"{where}.{key}".removeprefix("."))
    elif isinstance(value, list):
        for row in value:
            name = _name(row.items()) if isinstance(row, dict) else ""
            found |= {_free(key, found): one for key, one in _figures(row, f"{where}[{name}]").items()}
    elif not isinstance(value, str):
        found[where] = value
    return found


def _name(cells: Iterable[tuple[str, Any]]) -> str:
    return " ".join(str(value) for key, value in cells if key in {"rank_id", "step_id"} or _is_name(key, value))


def _is_name(key: str, value: Any) -> bool:
    return isinstance(value, str) and key not in LOCATING


def _free(key: str, taken: Mapping[str, Any]) -> str:
    while key in taken:
        key += "'"
    return key


def _equal(one: Any, other: Any) -> bool:
    """Return whether figures are equal; files in which the profiler says the same differ by its rounding."""
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= max(abs(one), abs(other)) / 1000
    return bool(one == other)


def _last(errors: str) -> str:
    return next((line for line in reversed(errors.splitlines()) if line.strip()), "nothing on stderr")


def _around(text: str, part: str) -> str:
    place = text.find(part)
    return text[max(0, place - 100) : place + 120]
