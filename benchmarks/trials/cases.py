"""The cases: a profile, a damage, and how the commands answered."""

import re
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.trials import db, file, nsys, small, snapshot, text, trace
from benchmarks.trials.ask import MORE, MORE_OF_MEMORY, OF_MEMORY, QUESTIONS, Said, ask, fingerprint
from benchmarks.trials.judge import Outcome, messages, outcome_of
from benchmarks.trials.profiles import Subject
from benchmarks.trials.registry import Damage, damages_of

Pair = tuple[Subject, Damage | None]
UNTOUCHED = "untouched"


@dataclass(frozen=True)
class Case:
    """What was done to a profile, and how it was answered; `words` says what was wrong or what was said."""

    profile: str
    damage: str
    did: str
    outcome: Outcome
    words: str

    def __str__(self) -> str:
        return f"{self.outcome:24} {self.profile}  {self.damage}  ({self.did}): {self.words[:600]}"


DAMAGES: Mapping[str, Damage] = damages_of(db, text, small, trace, snapshot, nsys, file)


def chosen(known: Iterable[Subject], profiles: Iterable[str], damages: Sequence[str]) -> list[Pair]:
    """Return the pairs of profiles and damages whose names match patterns, each profile also untouched."""
    pairs: list[Pair] = []
    for subject in known:
        if any(fnmatch(subject.name, pattern) for pattern in profiles):
            pairs.append((subject, None))
            pairs += [
                (subject, one)
                for name, one in DAMAGES.items()
                if subject.kind in one.kinds and any(fnmatch(name, pattern) for pattern in damages)
            ]
    return pairs


def run(pairs: Iterable[Pair], scratch: Path, limit_s: float) -> Iterator[Case]:
    """Run the cases; those that a profile has nothing for are left out."""
    healthy: dict[str, dict[str, Said]] = {}
    for subject, one in pairs:
        if subject.name not in healthy:
            healthy[subject.name] = ask_untouched(subject, scratch, limit_s)
        if one is None:
            yield judge_untouched(subject, healthy[subject.name])
        elif (case := try_damage(subject, one, healthy[subject.name], scratch, limit_s)) is not None:
            yield case
    shutil.rmtree(scratch, ignore_errors=True)


def ask_untouched(subject: Subject, scratch: Path, limit_s: float) -> dict[str, Said]:
    """Return what a copy of a profile answers as it is."""
    folder = _copied(subject, scratch)
    return {command: ask(command, folder, limit_s) for command in _questions(subject)[0]}


def _questions(subject: Subject) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what each case of a profile is asked, and what some are asked beside it."""
    return (OF_MEMORY, MORE_OF_MEMORY) if subject.kind == "memory_snapshot" else (QUESTIONS, MORE)


def _copied(subject: Subject, scratch: Path) -> Path:
    shutil.rmtree(scratch, ignore_errors=True)
    folder = scratch / "profile"
    if subject.make is not None and not subject.path.exists():
        subject.make(subject.path)
    if subject.path.is_file():
        folder.mkdir(parents=True)
        shutil.copyfile(subject.path, folder / "kernel_details.csv")
        return folder
    shutil.copytree(subject.path, folder / subject.path.name, copy_function=shutil.copyfile)
    for inner in (folder / subject.path.name, *folder.rglob("*")):
        inner.chmod(0o755 if inner.is_dir() else 0o644)
    return folder


def judge_untouched(subject: Subject, answers: Mapping[str, Said]) -> Case:
    """Judge the answers of a profile as it is: each ends well, and warns of nothing but what its recording lacks."""
    for said in answers.values():
        outcome, words = outcome_of(said, said)
        if outcome.is_bad:
            return Case(subject.name, UNTOUCHED, "nothing", outcome, words)
        for message in messages(said):
            if not re.search(subject.warns, message):
                return Case(subject.name, UNTOUCHED, "nothing", Outcome.FALSE, f"{said.command}: {message}")
    return Case(subject.name, UNTOUCHED, "nothing", Outcome.RIGHT, "no warning beyond what it lacks")


def try_damage(subject: Subject, one: Damage, healthy: Mapping[str, Said], scratch: Path, limit_s: float) -> Case | None:
    """Damage a copy of a profile and ask it; None where it has nothing to damage."""
    folder = _copied(subject, scratch)
    did = one.make(folder)
    if did is None:
        return None
    before = fingerprint(folder)
    questions, others = _questions(subject)
    more = others if zlib.crc32(f"{subject.name} {one.name}".encode()) % 5 == 0 else ()
    found: list[tuple[Outcome, str]] = []
    for command in (*questions, *more, *one.asked):
        said = ask(command, folder, limit_s)
        found.append(outcome_of(said, healthy.get(command, said)))
        if found[-1][0] is Outcome.HANG:
            break
    if fingerprint(folder) != before:
        return Case(subject.name, one.name, did, Outcome.CHANGED, "the profile is not what it was")
    outcome = max((outcome for outcome, _ in found), key=list(Outcome).index)
    words = "; ".join(words for of_command, words in found if of_command is outcome)
    if outcome is Outcome.SILENT and (reason := one.reason_for(subject.name)) is not None:
        return Case(subject.name, one.name, did, Outcome.REASON, f"{words}; {reason}")
    return Case(subject.name, one.name, did, outcome, words)


# The short form: what each damage of a format finds on one profile of it; those of files on the profile they are told by.
_SHORT = {
    "sample": (
        "db-no-task", "db-no-compute-task-info", "db-no-string-ids", "db-no-communication-op", "db-no-pytorch-api",
        "db-no-cann-api", "db-no-mstx-events", "db-few-descriptions", "db-few-tasks", "db-tasks-twice", "db-few-texts",
        "db-times-as-text", "db-times-unknown", "db-names-as-blobs", "db-a-start-of-zero", "db-an-end-of-ages",
        "db-a-negative-start", "db-ends-before-starts", "db-one-connection", "db-no-connections", "db-few-links",
        "db-no-column-of-ends", "db-no-column-of-links", "db-another-encoding", "db-one-number-of-rank",
        "file-cut-in-half", "file-empty", "file-garbled", "file-a-rank-lost", "file-the-same-recording-twice",
        "file-odd-folder", "file-waits-for-ever", "file-descriptions-of-garbage",
    ),
    "training_text": (
        "text-few-rows", "text-header-alone", "text-rows-twice", "text-durations-of-words", "text-a-start-of-zero",
        "text-decimal-commas", "text-few-device-events", "text-device-events-begin", "text-no-flows",
        "text-no-names-of-processes", "file-cut-in-half", "file-utf16", "file-packed", "file-zipped",
    ),
    "training_trace": (
        "trace-no-links", "trace-one-link", "trace-kernels-begin", "trace-no-categories", "trace-no-names",
        "trace-few-kernels", "trace-a-start-of-zero", "trace-negative-durations", "trace-kernels-twice",
        "trace-no-host-calls", "file-cut-in-half", "file-a-pipe-beside", "file-packed-twice",
    ),
}  # fmt: skip


def short(pairs: Iterable[Pair]) -> list[Pair]:
    """Return those of the pairs that are in the short form of 60 cases, and their untouched profiles."""
    return [
        (subject, one) for subject, one in pairs if subject.name in _SHORT and (one is None or one.name in _SHORT[subject.name])
    ]
