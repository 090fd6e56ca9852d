"""Gives a memory snapshot the files of the profile of the same process, if one lies beside it: its ops, modules and steps."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from prof_analysis.sources.identity import Identity
from prof_analysis.sources.rank import Rank

_FROM_SNAPSHOT = "its memory comes from the snapshot of its process beside it, "


def with_ops_beside(ranks: Sequence[Rank]) -> list[Rank]:
    """Return the ranks, those that know the allocator and no ops with the files of the rank that has the ops of its process.

    That is the rank of the same number in the same folder; where either has no number, the only rank with ops there.
    """
    with_ops = [rank for rank in ranks if _has(rank, "ops")]
    found = []
    for rank in ranks:
        beside = [one for one in with_ops if one.folder.parent == rank.folder.parent]
        same = [one for one in beside if one.rank_id == rank.rank_id and rank.rank_id is not None]
        partners = same or (beside if any(None in (one.rank_id, rank.rank_id) for one in beside) else [])
        if knows_memory_alone(rank) and rank.first_device_id is None and len(partners) == 1:
            found.append(_joined(rank, partners[0]))
        else:
            found.append(rank)
    return found


def with_memory_once(ranks: Sequence[Rank], known: Mapping[str, Identity]) -> list[Rank]:
    """Return the ranks, those with records of memory without them where a snapshot of the same process and time has more.

    Else the memory of one device would be counted twice. A snapshot of another time leaves them, and says so.
    """
    found = {rank.profile: rank for rank in ranks}
    for snapshot in (rank for rank in ranks if knows_memory_alone(rank)):
        for rank in ranks:
            if not are_of_one_process(snapshot, rank) or not _has(rank, "memory"):
                continue
            if _are_apart(known[snapshot.profile], known[rank.profile]):
                said = (
                    f"{snapshot.profile}: its history is of another time than {rank.profile} beside it: each has its own memory"
                )
                found[snapshot.profile] = replace(snapshot, doubts=(*snapshot.doubts, said))
            else:
                why = f"{_FROM_SNAPSHOT}{snapshot.profile}; give {rank.folder.name} alone for what it recorded itself"
                found[rank.profile] = replace(rank, lacks=(*rank.lacks, ("memory", why)))
    return list(found.values())


def is_told_beside(rank: Rank) -> bool:
    """Return whether a rank recorded memory, of which a snapshot beside it tells in its place."""
    return dict(rank.lacks).get("memory", "").startswith(_FROM_SNAPSHOT)


def _are_apart(history: Identity, profile: Identity) -> bool:
    """Return whether a history and a profile have no moment in common. Of some profiles the first moment alone is known."""
    if history.recording is None or profile.recording is None:
        return False
    (begin, end), (first, last) = history.recording, profile.recording
    return end < first or (last > first + 1 and last < begin)


def knows_memory_alone(rank: Rank) -> bool:
    """Return whether a rank says what the allocator held, and nothing of ops: it may lie beside the profile of its process."""
    return _has(rank, "allocator") and not _has(rank, "ops")


def are_of_one_process(rank: Rank, other: Rank) -> bool:
    """Return whether one of two ranks is a snapshot, and the other the profile beside it, whose files it reads too."""
    return rank.source != other.source and not set(rank.inputs).isdisjoint(other.inputs)


def _has(rank: Rank, capability: str) -> bool:
    return not rank.left_out and capability not in dict(rank.lacks)


def _joined(rank: Rank, partner: Rank) -> Rank:
    return replace(
        rank,
        inputs=(*rank.inputs, *partner.inputs),
        files=(*rank.files, *partner.files),
        rank_id=partner.rank_id if rank.rank_id is None else rank.rank_id,
        rank_id_from=f"the profile beside it, {partner.profile}" if rank.rank_id is None else rank.rank_id_from,
        modules_from=partner.modules_from,
    )
