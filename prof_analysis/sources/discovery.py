"""Finds the results of ranks under a path: walks its folders, lets each source look, and chooses the source that reads."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from prof_analysis.common.answer_options import USUAL, Options
from prof_analysis.common.capabilities import EACH_CAPABILITY, OF_THE_RUN, Questions, why_not
from prof_analysis.common.cluster_database import FILE_NAME
from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.common.input_files import check_regular
from prof_analysis.sources import NAMES, SOURCES, Source
from prof_analysis.sources.beside import with_ops_beside
from prof_analysis.sources.rank import Rank, readable
from prof_analysis.sources.readers.packed import archives_in, why_packed

MAX_DEPTH = 5  # msprof-analyze goes as deep.
_LOOKED_INTO = 16  # files of a folder without results: looking into a large one takes a second


def find_ranks(
    path: Path,
    options: Options = USUAL,
    source: str = "auto",
    questions: Questions = EACH_CAPABILITY,
    among: Sequence[Path] = (),
) -> list[Rank]:
    """Find all ranks at or below a path, to a depth of 5, ordered by rank id, then by folder; or those of a single file.

    `among` are paths below this one: then only the ranks at or below one of them are found, with the same names.
    `source` is one of NAMES, or auto: for each result the source that answers more of the questions, the first where they
    answer the same.
    Raises InputError when the path does not exist or holds no result of a profiler.
    """
    if among:
        several = [rank for one in among for rank in _ranks_under(one, options, source, questions, path)]
        once = {(rank.folder, rank.inputs, rank.device_id): rank for rank in several}
        return _in_order(with_ops_beside(list(once.values())))
    return _in_order(with_ops_beside(_ranks_under(path, options, source, questions)))


def _ranks_under(
    path: Path, options: Options, source: str, questions: Questions, named_below: Path | None = None
) -> list[Rank]:
    """Return the ranks at or below a path, with their paths below a folder as names; by default below that of the path."""
    if not path.exists():
        raise InputError(f"{path}: there is no such folder or file", path=path)
    root = root_of(path)
    if not path.is_dir():
        try:
            check_regular(path)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({reason_of(error)})", path=path) from error
        if path.name == FILE_NAME:  # It has tables of msprof-analyze, and no rank.
            return []
        file = _full(path)
        if packed := why_packed(file):
            raise InputError(packed, path=file)
        takers = [one for one in SOURCES.values() if one.takes(file)]
        if not takers:
            raise InputError(f"{file}: is not a profiling result; give {_described(list(SOURCES.values()))}", path=file)
        name = file.name if named_below is None else readable(file.relative_to(named_below))
        return _inspect(file, name, takers, options, questions)
    sources = [SOURCES[name] for key, name in NAMES.items() if source in ("auto", key)]
    found = list(_results(root, MAX_DEPTH, set(), sources))
    names = _names([result for result, _ in found], named_below or root)
    ranks = [rank for result, finders in found for rank in _inspect(result, names[result], finders, options, questions)]
    if not ranks:
        archives = archives_in(path)
        unpack = f"unpack {', '.join(archives[:3])}{' and others' if len(archives) > 3 else ''}; " if archives else ""
        renamed = _renamed(path, sources, options)
        give = f"{renamed.name} can be read: give this file; " if renamed else ""
        raise InputError(
            f"{path}: no profiling result here or in its sub-folders (depth {MAX_DEPTH}); {unpack}{give}a result is "
            f"{_described(sources)}",
            path=path,
        )
    return ranks


def _in_order(ranks: Iterable[Rank]) -> list[Rank]:
    """Return ranks with names of their own, by rank id, then by folder."""
    return sorted(_with_own_names(ranks), key=lambda rank: (rank.rank_id is None, rank.rank_id or 0, rank.profile))


def folder_of_all(paths: Iterable[Path]) -> Path:
    """Return the innermost folder that holds all of these paths."""
    return Path(os.path.commonpath([Path(os.path.abspath(path)).parent for path in paths]))  # noqa: PTH100


def _renamed(folder: Path, sources: Sequence[Source], options: Options) -> Path | None:
    """Return a file of a folder without results that answers if it is given by itself: one that was renamed."""
    files = sorted(file for file in folder.iterdir() if file.is_file())[:_LOOKED_INTO]
    for file in files:
        takers = [source for source in sources if source.takes(file)]
        if (
            takers
            and not why_packed(file)
            and any(_answered(rank, EACH_CAPABILITY) for rank in _inspect(file, file.name, takers, options, EACH_CAPABILITY))
        ):
            return file
    return None


def root_of(path: Path) -> Path:
    """Return the folder that a path means: the folder of the result where the path is a file or folder inside one."""
    full = _full(path)
    folder = full.parent if path.is_file() else full
    return folder.parent if any(folder.name in source.INNER_FOLDERS for source in SOURCES.values()) else folder


def _full(path: Path) -> Path:
    """Return a path from the root on, with links as the user named them. Two slashes in front are one, as Linux takes them."""
    return Path(os.path.abspath(path).replace("//", "/"))  # noqa: PTH100


def _described(sources: Sequence[Source]) -> str:
    *others, last = dict.fromkeys(result for source in sources for result in source.RESULTS)
    return f"{', '.join(others)} or {last}" if others else last


def _names(results: list[Path], root: Path) -> dict[Path, str]:
    """Name each result by its path below the root; where the root is a result too, by its path below the parent of the root."""
    above = root.parent if root in results else root
    return {result: readable(result.relative_to(above)) for result in results}


def _with_own_names(ranks: Iterable[Rank]) -> list[Rank]:
    """Rename ranks that have the same name: the name is the identity of a rank."""
    taken: set[str] = set()
    named = []
    for rank in ranks:
        profile, number = rank.profile, 1
        while profile in taken:
            number += 1
            profile = f"{rank.profile} ({number})"
        taken.add(profile)
        named.append(replace(rank, profile=profile))
    return named


def _results(folder: Path, depth: int, seen: set[str], sources: Sequence[Source]) -> Iterator[tuple[Path, Sequence[Source]]]:
    """Yield the results at and below a folder, each with the sources that find it, and once however many links lead to it.

    A folder that cannot be read may be a result: it has no sources.
    """
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    try:
        with os.scandir(folder) as entries:
            is_folder = {entry.name: entry.is_dir() for entry in entries}
    except OSError:
        yield folder, ()
        return
    found = {source.NAME: source.find(folder, is_folder) for source in sources}
    inner = {name for one in found.values() for name in one.inner_folders}
    children = sorted(name for name in is_folder if is_folder[name] and name not in inner)
    below = [one for child in children if depth for one in _results(folder / child, depth - 1, seen, sources)]
    finders: dict[Path, list[Source]] = {}
    for name, one in found.items():
        for result in () if below and one.is_by_name_only else one.results:
            finders.setdefault(result, []).append(SOURCES[name])
    yield from finders.items()
    yield from below


def _inspect(result: Path, profile: str, finders: Sequence[Source], options: Options, questions: Questions) -> list[Rank]:
    """Return the ranks of a result; one that is left out where it cannot be read or inspected."""
    try:
        if result.is_dir():
            os.scandir(result).close()
        return _ranks_of(result, profile, finders, options, questions)
    except OSError as error:
        reason = f"cannot be read ({reason_of(error)})"
    except Exception as error:  # No content of a folder may stop the others.
        reason = f"cannot be inspected ({type(error).__name__}: {reason_of(error)}); leave it out, or collect it again"
    return [Rank(profile, result, left_out=f"{result}: {reason}")]


def _ranks_of(result: Path, profile: str, finders: Sequence[Source], options: Options, questions: Questions) -> list[Rank]:
    """Return the ranks of a result, from the source that answers more."""
    found: list[list[Rank]] = []
    for source in finders:
        ranks = source.inspect(result, profile, options)
        found.append([rank if rank.left_out else replace(rank, source=source.NAME) for rank in ranks])
        # Inspecting the files of another source can take seconds.
        if ranks and all(_answers_what_the_run_allows(rank, questions) for rank in ranks):
            break
    with_files = [ranks for ranks in found if any(rank.inputs or not rank.left_out for rank in ranks)]
    if not with_files:
        return next(iter(found), [])
    best = max(with_files, key=lambda ranks: max(_answered(rank, questions) for rank in ranks))
    preferred = [rank for ranks in with_files[: with_files.index(best)] for rank in ranks]
    read = {file for rank in best for file in rank.inputs}
    unread = [rank.left_out for rank in preferred if rank.left_out and not read.issuperset(rank.inputs)]
    return [replace(rank, unread=(*unread, *rank.unread)) for rank in best]


def _answered(rank: Rank, questions: Questions) -> int:
    """Return how many questions a rank answers."""
    return 0 if rank.left_out else sum(rank.why_not(requires) is None for requires in questions)


def _answers_what_the_run_allows(rank: Rank, questions: Questions) -> bool:
    """Return whether no other source of the same result can answer more."""
    lacks = {capability: reason for capability, reason in rank.lacks if capability not in OF_THE_RUN}
    return not rank.left_out and not any(why_not(requires, lacks) for requires in questions)
