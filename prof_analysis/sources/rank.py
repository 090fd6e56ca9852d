"""What a rank is: one device of one result, the files that describe it, and what they hold."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prof_analysis.analyses import ANALYSES, why_not


@dataclass(frozen=True)
class Rank:
    """One device of one result, which is a folder or a file.

    `profile` is the identity: the result below the path that was given, with the device where a result holds several.
    `rank_id` is what the files say; it can be None, and can occur twice. `first_device_id` is set where the result
    holds several devices. `source` reads the `inputs`. `lacks` has pairs of a capability and why it is not there;
    `missing` is all that was not collected or found. `unread` names files that should have been read beside the `inputs` and
    cannot be. `modules_from` says what marks the modules, mstx or nn.Module. `left_out` says why nothing can be read. `run`
    names the run that it is of, where there are several.
    """

    profile: str
    folder: Path
    source: str | None = None
    inputs: tuple[Path, ...] = ()
    rank_id: int | None = None
    rank_id_from: str | None = None
    device_id: int | None = None
    first_device_id: int | None = None
    profiler_level: str | None = None
    files: tuple[str, ...] = ()
    lacks: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    modules_from: str | None = None
    left_out: str | None = None
    run: str = ""

    @property
    def answers(self) -> tuple[str, ...]:
        """Give the analyses that the rank can answer."""
        return tuple(command for command in self._askable if not ANALYSES[command].found_by_asking)

    @property
    def may_answer(self) -> tuple[str, ...]:
        """Give the analyses that the rank may answer: only asking finds out."""
        return tuple(command for command in self._askable if ANALYSES[command].found_by_asking)

    @property
    def unanswered(self) -> tuple[tuple[str, str], ...]:
        """Give the analyses that the rank cannot answer, each with the reason."""
        return tuple((command, reason) for command in ANALYSES if (reason := self.why_not(command)))

    @property
    def _askable(self) -> tuple[str, ...]:
        return () if self.left_out else tuple(command for command in ANALYSES if not self.why_not(command))

    def why_not(self, command: str) -> str | None:
        """Say why the rank has no answer to an analysis; None where it has one."""
        return why_not(ANALYSES[command].requires, dict(self.lacks))

    @property
    def why_untyped(self) -> str | None:
        """Say why kernels have no type, where some have none; None where nothing says so."""
        return dict(self.lacks).get("kernel_types")


def number(value: object) -> int | None:
    """A rank or device id: text when it comes from the environment, a number when it comes from the writers; -1 is none."""
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 10 else None


def readable(path: Path) -> str:
    """Spell a path in UTF-8; bytes that are none are written as \\xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def json_object(file: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where a file beside the data cannot be read, which must not stop anything."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
