"""Whose turn each ns is, of steps that overlap on the device."""

from collections.abc import Mapping, Sequence


def turns_of(times: Mapping[int, Sequence[tuple[int, int]]]) -> dict[int, set[int]]:
    """Return the ns of each step: of those that have begun and not ended, a ns is of the step that ends first."""
    spans = {step: (min(start for start, _ in own), max(end for _, end in own)) for step, own in times.items()}
    found: dict[int, set[int]] = {step: set() for step in spans}
    for moment in range(min(start for start, _ in spans.values()), max(end for _, end in spans.values())):
        if running := [(end, start, step) for step, (start, end) in spans.items() if start <= moment < end]:
            found[min(running)[2]].add(moment)
    return found
