"""Checks which rank a recording is of, by what its data say: names of files and folders may be those of another rank.

A recording that is there twice counts once: the second is left out, since every sum over ranks would have it twice. All else
that does not fit together is a doubt, which is shown: an answer may be right in spite of it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice

from prof_analysis.sources.rank import Rank

# Times to the nanosecond of so many rows agree in copies alone; made-up profiles can have a few in common.
FEWEST_TIMES = 32
MOST_TIMES = 256
# Before it a clock counts from the start of the machine, or from nothing that was ever recorded: 2001.
FIRST_MOMENT_NS = 10**18
# Clocks of two hosts are less apart.
_HOUR_NS = 3_600_000_000_000
_TIME_OF_EVENT = re.compile(rb'"ts"\s*:\s*"?(-?\d+(?:\.\d+)?)')
_TIME = re.compile(rb"(?<![\w.])(\d{13,}(?:\.\d+)?)")


@dataclass(frozen=True)
class Identity:
    """The identity of a rank, by its data.

    `of_job` is the place that says its number in the job for certain, and the number; `numbers` has all places, also names of
    files.
    `recording` is from when to when it was recorded, ns. `members` are all ranks of the job, `times` the first ones in each
    of its files, by the kind of file. Each is None, or empty, where the data do not say it.
    """

    of_job: tuple[str, int] | None = None
    numbers: Mapping[str, int] = field(default_factory=dict)
    recording: tuple[int, int] | None = None
    host: str | None = None
    chip: str | None = None
    steps: frozenset[int] = frozenset()
    members: frozenset[int] = frozenset()
    times: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    @property
    def told_times(self) -> Mapping[str, tuple[object, ...]]:
        """The times of the files that have enough of them to tell one recording from another."""
        return {kind: times for kind, times in self.times.items() if len(set(times)) >= FEWEST_TIMES}

    @property
    def is_doubtful(self) -> bool:
        """Whether two of its numbers differ."""
        return len(set(self.numbers.values())) > 1


def times_in(content: bytes) -> tuple[bytes, ...]:
    """Return the first times of events in the text of a file; of one without events, a table, its first long numbers."""
    pattern = _TIME_OF_EVENT if b'"ts"' in content else _TIME
    return tuple(match[1] for match in islice(pattern.finditer(content), MOST_TIMES))


def with_numbers(ranks: Sequence[Rank], known: Mapping[str, Identity]) -> list[Rank]:
    """Return the ranks with the numbers that their jobs say; a result of several devices is of several ranks."""

    def number_of(rank: Rank) -> Rank:
        said = known[rank.profile].of_job if rank.profile in known and rank.first_device_id is None else None
        return rank if said is None or said[1] == rank.rank_id else replace(rank, rank_id=said[1], rank_id_from=said[0])

    return [number_of(rank) for rank in ranks]


def without_copies(ranks: Sequence[Rank], known: Mapping[str, Identity], place_of: Callable[[Rank], object]) -> list[Rank]:
    """Leave out each rank whose recording another one in the same place has; where one's names fit its data, this stays."""
    alike: dict[tuple[object, ...], list[Rank]] = {}
    for rank in ranks:
        if not rank.left_out and (times := tuple(known[rank.profile].told_times.items())):
            device = None if rank.first_device_id is None else rank.device_id
            alike.setdefault((place_of(rank), rank.source, device, times), []).append(rank)
    kept = {
        one: min(same, key=lambda rank: (known[rank.profile].is_doubtful, same.index(rank)))
        for same in alike.values()
        for one in same
    }
    return [rank if kept.get(rank, rank) is rank else replace(rank, left_out=_said_of_copy(rank, kept[rank])) for rank in ranks]


def _said_of_copy(rank: Rank, kept: Rank) -> str:
    return (
        f"{rank.folder}: is the recording of {kept.profile} once more, with the same times to the nanosecond; it is left out, "
        "since sums over ranks would count it twice; copy the rank that it stands for again"
    )


def with_doubts(ranks: Sequence[Rank], known: Mapping[str, Identity]) -> list[Rank]:
    """Return the ranks with what else their data say against their names, and against the other ranks of their run."""
    doubts: dict[str, list[str]] = {}
    runs: dict[str, dict[Rank, Identity]] = {}
    for rank in ranks:
        if not rank.left_out:
            doubts[rank.profile] = list(_own_doubts(rank, known[rank.profile]))
            runs.setdefault(rank.run, {})[rank] = known[rank.profile]
    for run in runs.values():
        for rank, said in (*_shared_files(run), *_other_times(run), *_other_chips(run), *_other_steps(run)):
            doubts[rank.profile].append(said)
    for rank, said in _of_copied_runs(runs):
        doubts[rank.profile].append(said)
    return [replace(rank, doubts=(*rank.doubts, *doubts.get(rank.profile, ()))) for rank in ranks]


def _own_doubts(rank: Rank, known: Identity) -> Iterable[str]:
    """Yield the differences between the names and the data of a rank."""
    if known.is_doubtful:
        shown = ", ".join(f"{number} by {place}" for place, number in known.numbers.items())
        taken = "none of them" if rank.rank_id is None else f"rank {rank.rank_id}"
        yield f"{rank.profile}: is rank {shown}: one may be copied from another rank or renamed; taken as {taken}"
    if known.members and rank.rank_id is not None and rank.rank_id not in known.members:
        members = ", ".join(map(str, sorted(known.members)[:8])) + (", ..." if len(known.members) > 8 else "")
        yield f"{rank.profile}: is rank {rank.rank_id}, and its job has the ranks {members}: it may be of another job"


def _shared_files(known: Mapping[Rank, Identity]) -> Iterable[tuple[Rank, str]]:
    """Yield the ranks of which one file has the times of another rank's file, while other files differ."""
    first: dict[tuple[object, ...], Rank] = {}
    for rank, one in known.items():
        for kind, times in one.told_times.items():
            key = (rank.source, kind, times, None if rank.first_device_id is None else rank.device_id)
            if (other := first.setdefault(key, rank)) is not rank:
                yield (
                    rank,
                    (
                        f"{rank.profile}: its {kind} has the times of that of {other.profile}, to the nanosecond, and other "
                        "files differ: one of both was copied, so figures of these two ranks are mixed; export them again"
                    ),
                )


def _of_copied_runs(runs: Mapping[str, Mapping[Rank, Identity]]) -> Iterable[tuple[Rank, str]]:
    """Yield the ranks whose recording a rank of another run has too: a run that was copied is compared with itself."""
    first: dict[tuple[object, ...], Rank] = {}
    for rank, one in ((rank, one) for run in runs.values() for rank, one in run.items()):
        if times := tuple(one.told_times.items()):
            key = (rank.source, times, None if rank.first_device_id is None else rank.device_id)
            if (other := first.setdefault(key, rank)).run != rank.run:
                yield (
                    rank,
                    f"{rank.profile}: is the recording of {other.profile} once more, with the same times to the nanosecond, "
                    "and counts as a run of its own; remove the copy, or give the folder of one run",
                )


def _other_times(known: Mapping[Rank, Identity]) -> Iterable[tuple[Rank, str]]:
    """Yield the ranks that were recorded at another time than the first: on one host, or too far apart for two clocks."""
    first: tuple[Rank, tuple[int, int], str | None] | None = None
    for rank, one in known.items():
        if one.recording is None or one.recording[0] < FIRST_MOMENT_NS:
            continue
        if first is None:
            first = (rank, one.recording, one.host)
            continue
        other, (begin, end), host = first
        apart = max(begin - one.recording[1], one.recording[0] - end)
        if apart > (0 if one.host is not None and one.host == host else _HOUR_NS):
            moments = f"{_moment(one.recording[0])}, {other.profile} at {_moment(begin)}"
            yield rank, f"{rank.profile}: was recorded at {moments} (UTC): these are two recordings; give the folder of one"


def _moment(time_ns: int) -> str:
    return f"{datetime.fromtimestamp(time_ns // 10**9, UTC):%Y-%m-%d %H:%M:%S}"


def _other_chips(known: Mapping[Rank, Identity]) -> Iterable[tuple[Rank, str]]:
    """Yield the ranks that ran on another kind of device than the first."""
    first: tuple[Rank, str] | None = None
    for rank, one in known.items():
        if one.chip is None:
            continue
        if first is None:
            first = (rank, one.chip)
        elif one.chip != first[1]:
            yield (
                rank,
                (
                    f"{rank.profile}: ran on {one.chip}, {first[0].profile} on {first[1]}: figures over ranks mix them; if "
                    "these are two runs, give the folder of one"
                ),
            )


def _other_steps(known: Mapping[Rank, Identity]) -> Iterable[tuple[Rank, str]]:
    """Yield the ranks that have no step in common with the first."""
    first: tuple[Rank, frozenset[int]] | None = None
    for rank, one in known.items():
        if not one.steps:
            continue
        if first is None:
            first = (rank, one.steps)
        elif not one.steps & first[1]:
            yield (
                rank,
                (
                    f"{rank.profile}: has {_steps(one.steps)}, {first[0].profile} {_steps(first[1])}: no step of both is the "
                    "same, so these may be two recordings; give the folder of one"
                ),
            )


def _steps(steps: frozenset[int]) -> str:
    first, last = min(steps), max(steps)
    return f"step {first}" if first == last else f"steps {first} to {last}"
