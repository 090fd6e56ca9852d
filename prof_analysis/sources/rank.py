"""What a rank is: one device of one result folder, which files tell of it, and what they allow to answer."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LEVELS_WITHOUT_TYPES = ("Level0", "Level_none")
QUESTIONS = (
    "module-stats", "kernel-stats", "op-stats", "communication-stats", "mfu", "pmu-stats", "mstx-stats", "step-time",
    "free-time", "communication-time", "slow-ranks", "layer-stats", "graph-overhead",
)  # fmt: skip
# Question -> what only asking it finds out.
FOUND_OUT_BY_ASKING: Mapping[str, str] = {"layer-stats": "whether layers repeat in the sequence of kernels"}

GRAPH_CALLS = "calls of compiled graphs (ops named npu_fx_compiler inference or cache_compiler inference)"
NO_GRAPH_CALLS = f"no {GRAPH_CALLS}"
NO_KERNELS = "no kernels (collected without NPU activity, or nothing ran on the device)"


@dataclass(frozen=True)
class ModuleChoice:
    """What may mark the modules: mstx ranges of these domains, nn.Module rows of the Python tracer, or auto, what is there."""

    source: str = "auto"
    domains: tuple[str, ...] = ("Module",)


AUTO = ModuleChoice()


@dataclass(frozen=True)
class Rank:
    """One device of one result folder.

    `profile` is the identity: the folder below the path that was given, with the device where a folder holds several.
    `rank_id` is what the files say; it can be None, and can occur twice. `first_device_id` is set where the database
    holds several devices. `source` reads the `inputs`. `unanswered` has pairs of a question and why it has no answer;
    `missing` is all that was not collected or found. `unread` names files that should have been read beside the `inputs` and
    cannot be. `modules_from` says what marks the modules, mstx or nn.Module. `left_out` says why nothing can be read.
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
    unanswered: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    modules_from: str | None = None
    left_out: str | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """The questions that the rank can answer."""
        return tuple(question for question in self._askable if question not in FOUND_OUT_BY_ASKING)

    @property
    def may_answer(self) -> tuple[str, ...]:
        """The questions that can be asked, though only asking finds out whether there is an answer."""
        return tuple(question for question in self._askable if question in FOUND_OUT_BY_ASKING)

    @property
    def _askable(self) -> tuple[str, ...]:
        without = dict(self.unanswered)
        return () if self.left_out else tuple(question for question in QUESTIONS if question not in without)

    def why_not(self, question: str) -> str | None:
        """Why the rank has no answer to a question; None where it has one."""
        return dict(self.unanswered).get(question)

    @property
    def why_untyped(self) -> str | None:
        """Why kernels have no type, where some have none; None where nothing says so."""
        was_off = self.profiler_level in _LEVELS_WITHOUT_TYPES
        return why_no_shapes({"level": self.profiler_level}) if was_off else self.why_not("mfu")


def unanswered(reasons: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
    """The questions with a reason, as Rank holds them."""
    return tuple((question, reasons[question] or "") for question in QUESTIONS if reasons.get(question))


def not_collected(config: Mapping[str, Any]) -> Iterable[str]:
    """What profiler_info.json says was left out of the collection."""
    activities = config.get("activities")
    for activity in ("ProfilerActivity.CPU", "ProfilerActivity.NPU"):
        if activities and activity not in activities:
            yield f"{activity} was off"
    if config.get("level") in _LEVELS_WITHOUT_TYPES:
        yield why_no_shapes(config)
    if config.get("record_shapes") is False:
        yield "no op shapes: record_shapes was off"


def why_no_shapes(config: Mapping[str, Any]) -> str:
    """Say why kernels have no types and shapes."""
    level = config.get("level")
    if level in _LEVELS_WITHOUT_TYPES:
        return f"no kernel types and shapes: profiler_level was {level}; collect with Level1, which has them"
    if level:
        return f"no kernel types and shapes, though profiler_level was {level}: parse the profile again, or copy it whole"
    return "no kernel types and shapes; Level1 and higher have them"


def why_no_counters(config: Mapping[str, Any]) -> str:
    """Why kernels have no hardware counters, and what to do."""
    was = " (here it was off)" if config.get("aic_metrics") == "ACL_AICORE_NONE" else ""
    return f"no hardware counters (PMU); collect with aic_metrics, such as AiCMetrics.PipeUtilization{was}"


def why_no_marks(config: Mapping[str, Any]) -> str:
    """Why there are no mstx marks and ranges, and what to do."""
    was = " (here it was off)" if config.get("mstx") is False else ""
    return f"no mstx marks and ranges; collect with mstx=True{was}"


def why_no_modules(config: Mapping[str, Any], modules: ModuleChoice) -> str:
    """Why nothing marks the modules of a rank that has ops, and what to do."""
    domain = " or ".join(modules.domains)
    reason = f"no module ranges; mark the modules with mstx ranges in the domain {domain} and collect with mstx=True"
    if modules.source != "mstx":
        reason += ", or collect with with_modules=True"
    include, exclude = config.get("domain_include"), config.get("domain_exclude", [])
    if set(modules.domains) & set(exclude) or (include and not set(modules.domains) & set(include)):
        return f"{reason} (here the mstx domain filter left out the domain {domain})"
    return f"{reason} (here mstx was off)" if config.get("mstx") is False else reason


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
