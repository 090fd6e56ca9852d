"""Lanes for intervals that overlap: intervals in one row of a timeline must not."""

from heapq import heappop, heappush


def lanes(starts: list[int], ends: list[int]) -> list[int]:
    """Return a lane for each interval, counted from 0, so that intervals of one lane only touch: always the first free lane.

    The intervals come in the order of their starts. There are as many lanes as intervals that run at the same time.
    """
    running: list[tuple[int, int]] = []
    free: list[int] = []
    chosen = []
    for start, end in zip(starts, ends, strict=True):
        while running and running[0][0] <= start:
            heappush(free, heappop(running)[1])
        lane = heappop(free) if free else len(running)
        heappush(running, (end, lane))
        chosen.append(lane)
    return chosen
