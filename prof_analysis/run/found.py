"""The ranks that were found: those that were chosen, and what is said of them."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from prof_analysis.common.errors import InputError
from prof_analysis.run.problems import Problems
from prof_analysis.sources.rank import Rank
from prof_analysis.sources.runs import said_of_missing, said_of_runs, said_of_shared, said_of_uneven


def chosen_ranks(found: list[Rank], rank_list: Iterable[int] | None) -> list[Rank]:
    """Return the ranks of these ids, or all. Raises InputError for one that is not there."""
    if rank_list is None:
        return found
    wanted = set(rank_list)
    known = {rank.rank_id for rank in found if rank.rank_id is not None}
    if unknown := sorted(wanted - known):
        there = ", ".join(map(str, sorted(known))) or "none has a number"
        raise InputError(f"there is no rank {', '.join(map(str, unknown))}; the ranks are {there}")
    return [rank for rank in found if rank.rank_id in wanted]


def runs_of(ranks: Iterable[Rank]) -> tuple[str, ...]:
    """Return the runs of ranks; a rank that cannot be read makes no run without a name."""
    return tuple(dict.fromkeys(rank.run for rank in ranks if rank.run or not rank.left_out))


def say_what_was_found(problems: Problems, chosen: list[Rank], found: list[Rank], paths: Mapping[str, Path]) -> None:
    """Warn of ranks that cannot be read, are not here, or do not belong together; `found` has those not chosen too."""
    path, runs = next(iter(paths.values())), runs_of(chosen)
    for rank in chosen:
        if rank.left_out:
            problems.fail(rank.left_out, rank)
        for remark in (*(f"{reason}; the rank is read without it" for reason in rank.unread), *rank.doubts):
            problems.warn(remark, rank)
    if said := said_of_runs(path, chosen) if "" in paths else said_of_shared(chosen):
        problems.warn(said)
    problems.warn_of_same_ids(chosen)
    # Ranks that were found and not chosen are no gap, and who gives a file has chosen it.
    of_folders = [rank for rank in found if rank.run in runs and not paths.get(rank.run, path).is_file()]
    for name, said in said_of_missing(of_folders).items():
        problems.warn(f"{f'run {name}: ' if len(runs) > 1 else ''}{said}; figures over ranks are of those here")
    for rank, said in said_of_uneven(chosen):
        problems.warn(said, rank)
