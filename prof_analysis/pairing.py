"""Pairs the communication operators of ranks that recorded different ones: by what they do, in their order, and by time.

Ranks leave a collective together, so once the distance between two clocks is known, the ends of an operator agree on all ranks.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import Any

_SAMPLES = 48
_CANDIDATES = 1024
_BEST = 6


@dataclass
class _Call:
    """An operator: what it does, its bytes or None, whether ranks leave it together, its times, and its number once it has one."""

    operation: str | None
    size: int | None
    is_together: bool
    start: int
    end: int
    number: int = -1

    def is_like(self, other: "_Call") -> bool:
        """Return whether both may be one operator. What is not known of one contradicts nothing."""
        return (self.operation is None or other.operation is None or self.operation == other.operation) and (
            self.size is None or other.size is None or self.size == other.size
        )


def paired_calls(sequences: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return a number for each operator of each rank, from 1: operators with the same number are one.

    Each sequence has the operators of one rank in their order; the first is that with which the others are compared. What a
    later one has beyond it gets a number that the first does not have, and can be paired with others after it.
    """
    ranks = [_calls_of(sequence) for sequence in sequences]
    merged = [*ranks[0]]
    for number, call in enumerate(merged, 1):
        call.number = number
    last = len(merged)
    for calls in ranks[1:]:
        offset, pairs = _best_pairs(merged, calls)
        for mine, other in pairs:
            calls[mine].number = merged[other].number
        added = []
        for call in calls:
            if call.number < 0:
                last += 1
                call.number = last
                added.append(
                    _Call(call.operation, call.size, call.is_together, call.start - offset, call.end - offset, last)
                )
        merged = sorted([*merged, *added], key=lambda call: call.end) if added else merged
    return [[call.number for call in calls] for calls in ranks]


def _calls_of(sequence: Mapping[str, Any]) -> list[_Call]:
    return [
        _Call(*values)
        for values in zip(
            sequence["operations"],
            sequence["sizes"],
            sequence["are_together"],
            sequence["starts"],
            sequence["ends"],
            strict=True,
        )
    ]


def _best_pairs(merged: list[_Call], calls: list[_Call]) -> tuple[int, list[tuple[int, int]]]:
    """Return by how much the clock of a rank is ahead, and the pairs of places that follow: most pairs, then nearest clocks."""
    # Operators of a group follow each other, so ends of two lie as far apart as one of them lasts.
    width = max(1, median_low([call.end - call.start for call in (*merged, *calls)]))
    ends = [call.end for call in merged]
    best: tuple[int, list[tuple[int, int]]] = (0, [])
    for offset in _offsets(merged, calls, width):
        found = _at(merged, ends, calls, offset, width)
        if (len(found), -abs(offset)) > (len(best[1]), -abs(best[0])) or not best[1]:
            best = (offset, found)
    return best[0], _filled(merged, calls, best[1])


def _offsets(merged: list[_Call], calls: list[_Call], width: int) -> list[int]:
    """Return the distances between the clocks at which most of a sample of operators end together."""
    certain = [place for place, call in enumerate(calls) if call.is_together] or list(range(len(calls)))
    sample = certain[:: max(1, len(certain) // _SAMPLES)]
    apart = []
    for place in sample:
        # Either the beginnings of both are near each other, or their ends.
        near = max(0, place - _CANDIDATES // 2), max(0, len(merged) - len(calls) + place - _CANDIDATES // 2)
        others = {other for first in near for other in range(first, min(len(merged), first + _CANDIDATES))}
        apart += [calls[place].end - merged[other].end for other in others if calls[place].is_like(merged[other])]
    apart.sort()
    votes = []
    first = 0
    for last, distance in enumerate(apart):
        while apart[first] < distance - width:
            first += 1
        votes.append((last - first + 1, -abs(apart[(first + last) // 2]), apart[(first + last) // 2]))
    found: list[int] = []
    for _, _, offset in sorted(votes, reverse=True):
        if all(abs(offset - other) > width for other in found):
            found.append(offset)
        if len(found) == _BEST:
            break
    return found


def _at(
    merged: list[_Call], ends: list[int], calls: list[_Call], offset: int, width: int
) -> list[tuple[int, int]]:
    """Return the pairs of operators that overlap in time at this distance of the clocks, in their order."""
    nearest: dict[int, tuple[int, int]] = {}
    for place, call in enumerate(calls):
        end = call.end - offset
        reach = range(bisect_left(ends, end - 2 * width), bisect_right(ends, end + 2 * width))
        like = [(abs(ends[other] - end), other) for other in reach if call.is_like(merged[other])]
        if like:
            apart, other = min(like)
            overlap = min(end, ends[other]) - max(call.start - offset, merged[other].start)
            if overlap > -width and (other not in nearest or apart < nearest[other][0]):
                nearest[other] = (apart, place)
    pairs: list[tuple[int, int]] = []
    for other in sorted(nearest):
        place = nearest[other][1]
        if not pairs or place > pairs[-1][0]:
            pairs.append((place, other))
    return pairs


def _filled(merged: list[_Call], calls: list[_Call], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs and, between two of them, those of stretches that do the same: not all operators end together."""
    if not pairs:
        return []
    filled = [pairs[0]]
    for (place, other), (next_place, next_other) in pairwise(pairs):
        between = range(place + 1, next_place)
        if len(between) == next_other - other - 1 and all(
            calls[one].operation == merged[other + step].operation for step, one in enumerate(between, 1)
        ):
            filled += [(one, other + step) for step, one in enumerate(between, 1)]
        filled.append((next_place, next_other))
    return filled
