"""Finds which ranks under a path belong to one run: one recording of one job. Ranks that nothing separates are one run."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from prof_analysis.common.answer_options import USUAL, Options
from prof_analysis.common.capabilities import EACH_CAPABILITY, Questions
from prof_analysis.common.errors import InputError
from prof_analysis.sources import SOURCES, Source
from prof_analysis.sources.beside import knows_memory_alone, with_memory_once
from prof_analysis.sources.discovery import find_ranks, root_of
from prof_analysis.sources.identity import with_doubts, with_numbers, without_copies
from prof_analysis.sources.rank import TABLE, Rank, readable

_Parts = Mapping[Any, Sequence["_Found"]]
# So many missing ranks are named.
_NAMED = 8


@dataclass(frozen=True)
class _Found:
    """A rank, and the facts about its job from the files next to it."""

    rank: Rank
    parent: Path

    @cached_property
    def job(self) -> tuple[int, str | None] | None:
        """The number of ranks of the job, and the name of their common communicator."""
        return self._source.job_of(self.rank)

    @cached_property
    def ended_ns(self) -> int | None:
        """The time at which the recording ended; the ranks of a job end their recordings together."""
        return self._source.end_of(self.rank)

    @cached_property
    def host(self) -> str | None:
        """The name of the host that the rank ran on."""
        return self._source.host_of(self.rank)

    @property
    def _source(self) -> Source:
        assert self.rank.source is not None
        return SOURCES[self.rank.source]


def find_runs(
    paths: Mapping[str, Path],
    options: Options = USUAL,
    source: str = "auto",
    questions: Questions = EACH_CAPABILITY,
    among: Sequence[Path] = (),
) -> list[Rank]:
    """Find the ranks under one path, whose name is "", or under the paths of several named runs, run by run.

    `among` are paths below the one path, which alone are meant, where there are any.
    Raises InputError when a path holds no rank, when one of several paths holds several runs, or when no rank takes the
    recording of captures that was given.
    """
    is_one = list(paths) == [""]
    found = _under(paths[""], options, source, questions, among) if is_one else _of_runs(paths, options, source, questions)
    if options.capture is not None:
        capture = Path(os.path.abspath(options.capture))  # noqa: PTH100
        found = [rank for rank in found if capture not in (rank.folder, *rank.folder.parents)]
        if not any(capture in (file, *file.parents) for rank in found for file in rank.inputs[1:]):
            raise InputError(
                f"{capture}: no rank can use this; give the recording of a capture, or a folder of such recordings, of the "
                "same kind as profiles in which graphs are replayed: GPU traces, databases or text exports",
                path=capture,
            )
    return found


def _under(path: Path, options: Options, source: str, questions: Questions, among: Sequence[Path] = ()) -> list[Rank]:
    """Find the ranks under a path with their runs and their doubts, each recording of a folder or of a run once."""
    ranks = find_ranks(path, options, source, questions, among)
    known = {rank.profile: SOURCES[rank.source].identity_of(rank) for rank in ranks if not rank.left_out and rank.source}
    folders = {rank.folder for rank in ranks}
    ranks = without_copies(with_numbers(ranks, known), known, lambda rank: _parent(rank.folder, folders))
    ranks = without_copies(with_runs(ranks, root_of(path)), known, lambda rank: rank.run)
    return with_memory_once(with_doubts(ranks, known), known)


def _of_runs(paths: Mapping[str, Path], options: Options, source: str, questions: Questions) -> list[Rank]:
    found: list[Rank] = []
    for run, path in paths.items():
        ranks = _under(path, options, source, questions)
        if said := said_of_runs(path, ranks):
            raise InputError(
                f"run {run}: {said.partition('; each is')[0]}; give the folder of one run for each name", path=path
            )
        found += [replace(rank, run=run, profile=f"{run}/{rank.profile}") for rank in ranks]
    if twice := [name for name, count in Counter(rank.profile for rank in found).items() if count > 1]:
        raise InputError(f"{twice[0]}: two runs would give a profile this name; give runs names without a /")
    return found


def with_runs(ranks: list[Rank], root: Path) -> list[Rank]:
    """Return the ranks with the names of their runs; where all are of one run, it has no name, and the order stays.

    Ranks are of different runs where their files name different jobs, or where ranks with the same id lie in different folders,
    were recorded one after the other, or on different hosts. A rank that cannot be read belongs to the run in its folder.
    """
    folders = {rank.folder for rank in ranks}
    found = [_Found(rank, _parent(rank.folder, folders)) for rank in ranks if not rank.left_out]
    runs = _split(found)
    if len(runs) < 2:
        return ranks
    named = [replace(one.rank, run=name) for name, run in zip(_names(runs, root), runs, strict=True) for one in run]
    beside: dict[Path, set[str]] = {}
    for rank in named:
        beside.setdefault(_parent(rank.folder, folders), set()).add(rank.run)
    for rank in ranks:
        if rank.left_out:
            candidates = beside.get(_parent(rank.folder, folders), set())
            named.append(replace(rank, run=next(iter(candidates)) if len(candidates) == 1 else ""))
    return named


def said_of_runs(path: object, ranks: Iterable[Rank]) -> str | None:
    """Return the sentence that names the runs under a path; None where there is one run."""
    runs: dict[str, list[str]] = {}
    for rank in ranks:
        if not rank.left_out:
            runs.setdefault(rank.run, []).append(rank.profile if rank.rank_id is None else str(rank.rank_id))
    if len(runs) < 2:
        return None
    shown = "; ".join(f"{name} (rank{'s' * (len(ids) > 1)} {', '.join(ids)})" for name, ids in runs.items())
    return (
        f"{path}: holds {len(runs)} runs: {shown}; each is analysed by itself, and the column run says which; give the folder "
        "of one run to see it alone"
    )


def said_of_missing(ranks: Iterable[Rank]) -> dict[str, str]:
    """Return for each run that lacks ranks of its job the sentence that says how many of how many are here, and which not."""
    runs: dict[str, list[Rank]] = {}
    for rank in ranks:
        if not rank.left_out and rank.source is not None:
            runs.setdefault(rank.run, []).append(rank)
    found = {}
    for run, here in runs.items():
        jobs = [job for rank in here if (job := SOURCES[rank.source or ""].job_of(rank))]
        sizes = [size for size, _ in jobs] or [
            least for rank in here if (least := SOURCES[rank.source or ""].least_ranks_of(rank)) is not None
        ]
        numbers = {rank.rank_id for rank in here}
        count = len({rank.profile if rank.rank_id is None else str(rank.rank_id) for rank in here})
        if sizes and count < max(sizes):
            missing = (number for number in range(max(sizes)) if number not in numbers)
            named = list(islice(missing, _NAMED)) if jobs and None not in numbers else []
            rest = max(sizes) - count - len(named)
            more = f" and {rest} more" if named and rest > 0 else ""
            which = f"; not here: {', '.join(map(str, named))}{more}" if named else ""
            how_sure = "" if jobs else "at least "
            found[run] = f"{count} of {how_sure}{max(sizes)} ranks of the job {'is' if count == 1 else 'are'} here{which}"
    return found


def said_of_uneven(ranks: Iterable[Rank]) -> Iterator[tuple[Rank, str]]:
    """Yield the few ranks of each run that lack files which most of its ranks have, with a sentence that names these.

    What such a file says of a rank is unknown then, and what compares ranks is made of the others.
    """
    runs: dict[str, list[tuple[Rank, frozenset[str]]]] = {}
    for rank in ranks:
        if not rank.left_out and rank.source is not None and not knows_memory_alone(rank):
            runs.setdefault(rank.run, []).append((rank, SOURCES[rank.source].usual_files_of(rank)))
    for here in runs.values():
        having = Counter(name for _, names in here for name in names)
        # Of two ranks, one may be the few; where half of more have a file, that is how they were recorded.
        usual = {name for name, count in having.items() if len(here) > 1 and (count * 2 > len(here) or len(here) == 2)}
        for rank, names in here:
            # A rank without tables has another export, or they are not known.
            has_tables = any(name.startswith(TABLE) for name in names)
            if lacking := sorted(name for name in usual - names if has_tables or not name.startswith(TABLE)):
                count = min(having[name] for name in lacking)
                have = f"{count} of {len(here)} ranks {'has' if count == 1 else 'have'}"
                yield rank, f"{rank.profile}: lacks {', '.join(lacking)}, which {have}: its data about this rank is not known"


def said_of_shared(ranks: Iterable[Rank]) -> str | None:
    """Return the sentence that names a folder that is in several named runs; None where each run has its own."""
    runs: dict[str, dict[str, None]] = {}
    for rank in ranks:
        runs.setdefault(os.path.realpath(rank.folder), {})[rank.run] = None
    for folder, names in runs.items():
        if len(names) > 1:
            return f"{readable(Path(folder))}: is in the runs {' and '.join(names)}, so that they have the same figures"
    return None


def _parent(folder: Path, folders: set[Path]) -> Path:
    """Return the folder around a result; for a result inside another one, the folder around the outer one."""
    parent = folder.parent
    return _parent(parent, folders) if parent in folders and parent != folder else parent


def _split(found: list[_Found]) -> list[list[_Found]]:
    """Split ranks into runs."""
    for parts_of in (_by_job, _by_folder, _by_end, _by_host):
        parts = parts_of(found)
        if len(parts) > 1:
            return [run for key in sorted(parts) for run in _split(list(parts[key]))]
    return [found]


def _by_job(found: list[_Found]) -> _Parts:
    """Group ranks by job, where the files of all name it."""
    if len(found) < 2 or any(one.job is None for one in found):
        return {}
    jobs = {one.job for one in found if one.job}
    has_names = None not in {name for _, name in jobs}
    return _grouped(found, lambda one: one.job if has_names else one.job[:1])  # type: ignore[index]


def _by_folder(found: list[_Found]) -> _Parts:
    """Group ranks by the folders below their common folder, where two of these hold a rank with the same id."""
    common = Path(os.path.commonpath([one.parent for one in found])) if found else Path()
    parts = _grouped(found, lambda one: one.parent.relative_to(common).parts[:1])
    uses = Counter(rank_id for part in parts.values() for rank_id in {one.rank.rank_id for one in part} - {None})
    return parts if any(count > 1 for count in uses.values()) else {}


def _by_end(found: list[_Found]) -> _Parts:
    """Group the first recordings of all ranks, the second ones, and so on, where these lie clearly apart in time."""
    of_rank = _grouped(found, lambda one: one.rank.rank_id)
    counts = {len(part) for part in of_rank.values()}
    if None in of_rank or counts in ({0}, {1}) or len(counts) != 1 or any(one.ended_ns is None for one in found):
        return {}
    in_time = [sorted(part, key=lambda one: one.ended_ns or 0) for part in of_rank.values()]
    recordings = [list(recording) for recording in zip(*in_time, strict=True)]
    ends = [[one.ended_ns or 0 for one in recording] for recording in recordings]
    spread = max(max(moments) - min(moments) for moments in ends)
    gaps = [min(later) - max(earlier) for earlier, later in pairwise(ends)]
    return dict(enumerate(recordings)) if min(gaps) > spread else {}


def _by_host(found: list[_Found]) -> _Parts:
    """Group ranks by host, where ranks with the same id ran on several hosts, and each host ran each id once."""
    numbers = [one.rank.rank_id for one in found]
    if None in numbers or len(set(numbers)) == len(numbers) or any(one.host is None for one in found):
        return {}
    parts = _grouped(found, lambda one: one.host)
    is_once = all(len({one.rank.rank_id for one in part}) == len(part) for part in parts.values())
    return parts if is_once else {}


def _grouped(found: list[_Found], key: Callable[[_Found], Any]) -> dict[Any, list[_Found]]:
    parts: dict[Any, list[_Found]] = {}
    for one in found:
        parts.setdefault(key(one), []).append(one)
    return parts


def _names(runs: list[list[_Found]], root: Path) -> list[str]:
    """Name each run by its folder below the given path; runs with the same folder, or the given path itself, are numbered."""
    folders = [Path(os.path.commonpath([one.parent for one in run])) for run in runs]
    shown = [readable(folder.relative_to(root)) if folder.is_relative_to(root) else "." for folder in folders]
    counts = Counter(shown)
    numbers = Counter[str]()
    names = []
    for name in shown:
        numbers[name] += 1
        inside = f"run {numbers[name]}"
        names.append((inside if name == "." else f"{name}/{inside}") if counts[name] > 1 or name == "." else name)
    return names
