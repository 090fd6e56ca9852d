"""Secrets of a session to replace: its paths, ranks and runs, and errors about them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from prof_analysis.common.errors import ProfAnalysisError
from prof_analysis.sources import SOURCES
from prof_analysis.sources.rank import Rank

if TYPE_CHECKING:
    from prof_analysis.anonymous.texts import Anonymous

# Names of runs that say nothing of who made them.
_USUAL_RUNS = ("", "base", "new")


def anonymous_paths(paths: Mapping[str, Path]) -> tuple[Anonymous, dict[str, Path]]:
    """Return an `Anonymous` that replaces secrets and knows these paths, and the paths in full, with runs called run1, run2."""
    from prof_analysis.anonymous.texts import Anonymous

    full = {run: Path(os.path.abspath(path)) for run, path in paths.items()}  # noqa: PTH100  (links stay)
    names = _names_of_runs(full)
    return Anonymous(full.values()), {names[run]: path for run, path in full.items()}


def known_ranks(anonymous: Anonymous, ranks: Iterable[Rank]) -> list[Rank]:
    """Return ranks with other names of runs, and let their profiles, folders, hosts and users be replaced."""
    found = list(ranks)
    names = _names_of_runs(dict.fromkeys(rank.run for rank in found))
    taken: set[str] = set()
    for position, rank in enumerate(found, 1):
        of_run = f"{names[rank.run]}/" if rank.run else ""
        shown = first = f"{of_run}rank{rank.rank_id}" if rank.rank_id is not None else f"{of_run}folder{position}"
        number = 1
        while shown in taken:
            number += 1
            shown = f"{first} ({number})"
        taken.add(shown)
        host = SOURCES[rank.source].host_of(rank) if rank.source is not None and not rank.left_out else None
        anonymous.add_profile(rank.profile, shown, host)
        anonymous.add_folder(rank.folder, shown)
    return [replace(rank, run=names[rank.run]) for rank in found]


def anonymous_rank(anonymous: Anonymous, rank: Rank) -> Rank:
    """Return a rank with secrets replaced in what it says of itself; its folder and inputs are those to read."""

    def sentences(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(anonymous.shown, texts))

    def shown_name(name: str) -> str:
        return anonymous.file_name(name) if name in rank.files else anonymous.shown(name)

    return replace(
        rank,
        profile=anonymous.shown(rank.profile, "profile"),
        rank_id_from=rank.rank_id_from and shown_name(rank.rank_id_from),
        files=tuple(map(anonymous.file_name, rank.files)),
        lacks=tuple((capability, anonymous.shown(reason)) for capability, reason in rank.lacks),
        missing=sentences(rank.missing),
        unread=sentences(rank.unread),
        doubts=sentences(rank.doubts),
        metadata=(),  # A user may have written anything there.
        left_out=None if rank.left_out is None else anonymous.shown(rank.left_out),
    )


def raise_anonymous(error: ProfAnalysisError, anonymous: Anonymous | None, cause: BaseException | None = None) -> NoReturn:
    """Raise an error again, with secrets replaced in its text where there is something to replace them."""
    if anonymous is not None:
        # Neither the first error nor its cause may be in a traceback.
        raise type(error)(anonymous.shown(str(error)), path=error.path, rank_id=error.rank_id) from None
    if cause is None:
        raise error
    raise error from cause


def name_of_run(run: str, number: int) -> str:
    """Return the name of a run in place of one that people chose."""
    return run if run in _USUAL_RUNS or re.fullmatch(r"run\d+", run) else f"run{number}"


def _names_of_runs(runs: Iterable[str]) -> dict[str, str]:
    return {run: name_of_run(run, number) for number, run in enumerate(dict.fromkeys(runs), 1)}
