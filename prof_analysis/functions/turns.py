"""Whose turn a moment is, of intervals that overlap: of those that have begun and not ended, the one that ends first."""

from heapq import heappop, heappush
from itertools import pairwise
from typing import TypedDict


class Turn(TypedDict):
    """A stretch of time and the place of its interval in the lists, counted from 0."""

    place: int
    start: int
    end: int


def turns(starts: list[int], ends: list[int]) -> list[Turn]:
    """Return the stretches of time in which one interval has its turn, in order; of equal ends the first to start is first."""
    in_order = sorted(range(len(starts)), key=lambda place: (starts[place], ends[place], place))
    bounds = sorted({*starts, *ends})
    running: list[tuple[int, int, int]] = []
    found: list[Turn] = []
    next_in_order = 0
    for bound, next_bound in pairwise(bounds):
        while next_in_order < len(in_order) and starts[in_order[next_in_order]] <= bound:
            place = in_order[next_in_order]
            heappush(running, (ends[place], starts[place], place))
            next_in_order += 1
        while running and running[0][0] <= bound:
            heappop(running)
        if not running:
            continue
        place = running[0][2]
        if found and found[-1]["place"] == place and found[-1]["end"] == bound:
            found[-1]["end"] = next_bound
        else:
            found.append({"place": place, "start": bound, "end": next_bound})
    return found
