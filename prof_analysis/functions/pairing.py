"""Pairs the communication operators of ranks that recorded different ones: by what they do, in their order, and by time.

Ranks leave a collective together, so once the distance between two clocks is known, the ends of an operator agree on all ranks.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median_low
from typing import Any

# The place of an operator, and that of the one with which it is compared.
_Pair = tuple[int, int]
_SAMPLES = 48
_CANDIDATES = 1024
_BEST = 6


@dataclass
class _Call:
    """An operator: what it does, its elements or None, whether ranks leave it together, its times, and its number if any."""

    operation: str | None
    size: int | None
    is_together: bool
    start: int
    end: int
    number: int = -1

    def is_like(self, other: "_Call") -> bool:
        """Return whether both may be one operator. Unknown properties contradict nothing."""
        return (self.operation is None or other.operation is None or self.operation == other.operation) and (
            self.size is None or other.size is None or self.size == other.size
        )


def paired_calls(sequences: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return a number for each operator of each rank, from 1: operators with the same number are one.

    Each sequence has the operators of one rank in their order; the first is that with which the others are compared. What a
    later one has beyond it gets a number that the first does not have, and can be paired with others after it. `clock` has the
    least and the greatest distance from the clock of the first, where other operators say it. Where several distances explain
    as much, the one that agrees with it is chosen, or with clocks that agree; else none is.
    """
    ranks = [_calls_of(sequence) for sequence in sequences]
    merged = [*ranks[0]]
    for number, call in enumerate(merged, 1):
        call.number = number
    last = len(merged)
    for calls, sequence in zip(ranks[1:], sequences[1:], strict=True):
        clock = sequence.get("clock") or [None, None]
        offset, pairs = _best_pairs(merged, calls, clock)
        for mine, other in pairs:
            calls[mine].number = merged[other].number
        alone = [call for call in calls if call.number < 0]
        for number, call in enumerate(alone, last + 1):
            call.number = number
        last += len(alone)
        if pairs and alone:
            moved = [replace(call, start=call.start - offset, end=call.end - offset) for call in alone]
            merged = sorted([*merged, *moved], key=lambda call: call.end)
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


def _best_pairs(merged: list[_Call], calls: list[_Call], clock: Sequence[int | None]) -> tuple[int, list[_Pair]]:
    """Return by how much the clock of a rank is ahead, and the pairs of places that follow."""
    # Operators of a group follow each other, so ends of two lie as far apart as one of them lasts.
    width = max(1, median_low([call.end - call.start for call in (*merged, *calls)]))
    ends = [call.end for call in merged]
    found = [(offset, _at(merged, ends, calls, offset, width)) for offset in _offsets(merged, calls, width)]
    if in_order := _in_order(merged, calls):
        # Order within a step says more than times: these count only where they contradict it, and another order agrees.
        enough = [pairs for _, pairs in found if 3 * len(pairs) >= 2 * len(calls) and _can_meet(merged, calls, pairs)]
        if not enough or _can_meet(merged, calls, in_order):
            return median_low([calls[mine].end - merged[other].end for mine, other in in_order]), in_order
    if not found:
        return 0, []
    most_pairs = max(len(pairs) for _, pairs in found)
    found = [(offset, pairs) for offset, pairs in found if 3 * len(pairs) >= 2 * most_pairs]
    rated = [(_can_meet(merged, calls, pairs), len(pairs)) for _, pairs in found]
    best = [one for one, rate in zip(found, rated, strict=True) if rate == max(rated)]
    least, most = (0 if bound is None else bound for bound in clock)
    offset, pairs = min(best, key=lambda one: abs(2 * one[0] - least - most))
    is_certain = len(best) == 1 or least - width <= offset <= most + width
    return (offset, _filled(merged, calls, pairs)) if is_certain else (0, [])


def _in_order(merged: list[_Call], calls: list[_Call]) -> list[_Pair]:
    """Return the pairs of ranks that did the same in the same order; none where they did not."""
    alike = len(merged) == len(calls) and all(map(_Call.is_like, calls, merged))
    return [(place, place) for place in range(len(calls))] if alike else []


def _can_meet(merged: list[_Call], calls: list[_Call], pairs: list[_Pair]) -> bool:
    """Return whether there is a distance between the clocks at which no rank leaves an operator before the other one comes."""
    together = [(calls[mine], merged[other]) for mine, other in pairs if calls[mine].is_together]
    earliest = max((one.start - other.end for one, other in together), default=0)
    return earliest <= min((one.end - other.start for one, other in together), default=0)


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


def _at(merged: list[_Call], ends: list[int], calls: list[_Call], offset: int, width: int) -> list[_Pair]:
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
    pairs: list[_Pair] = []
    for other in sorted(nearest):
        place = nearest[other][1]
        if not pairs or place > pairs[-1][0]:
            pairs.append((place, other))
    return pairs


def _filled(merged: list[_Call], calls: list[_Call], pairs: list[_Pair]) -> list[_Pair]:
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
