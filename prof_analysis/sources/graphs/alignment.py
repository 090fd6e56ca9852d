"""Aligns the kernels of a replayed graph with the launches of its capture: by order, and by names where they are known."""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import islice
from typing import NamedTuple

from prof_analysis.sources.graphs.captured import COPY, FILL, Capture, Inputs, Place

# A capture is of a graph if this share of the longer of both aligns: a profiler loses a few events, while a capture of another
# model shares the kernels of some operators.
MIN_SHARE = 0.8


class Aligned(NamedTuple):
    """The capture of a graph, and for each kernel of the graph the position of its launch; None where it does not align.

    `inputs` are those of the ops of the capture which are surely those of the graph.
    """

    capture: Capture
    positions: list[int | None]
    inputs: Mapping[object, Inputs]


def best_capture(
    tokens: Sequence[str], streams: Sequence[int] | None, grids: Sequence[str | None], captures: Sequence[Capture]
) -> Aligned | None:
    """Return the capture that a graph was made of; None where none fits, or several do that agree in no kernel.

    Of several that fit equally well, a kernel has what all say of its op and modules; where they differ, it does not align.

    `streams` are those of the kernels where kernels of several streams are in no certain order, else None. `grids` are the
    blocks of the kernels, None where they are not recorded: they tell captures for several batch sizes apart.
    """
    best: list[tuple[Capture, list[int | None]]] = []
    best_score = (False, 0.0)
    # To align a capture takes long, and there is one for each batch size: those that can align most come first.
    for most, capture in sorted(((_most(tokens, one), one) for one in captures), key=lambda one: -one[0]):
        score = (None not in capture.tokens, most)
        if most < MIN_SHARE or score < best_score:
            continue
        positions = aligned(tokens, streams, capture.tokens)
        count = sum(position is not None for position in positions)
        if count >= MIN_SHARE * max(len(tokens), len(capture.tokens)):
            score = (
                None not in capture.tokens,
                count / max(len(tokens), len(capture.tokens)),
            )  # Names prove more than numbers.
            if score > best_score:
                best, best_score = [], score
            if score == best_score:
                best.append((capture, positions))
    if not best:
        return None
    attributions = [_attribution(*one) for one in best]
    disputed = {number for number, places in enumerate(zip(*attributions, strict=True)) if len(set(places)) > 1}
    if len(disputed) == len(tokens):
        return None
    fewest = min(len(_other_grids(grids, *one)) for one in best)
    best = [one for one in best if len(_other_grids(grids, *one)) == fewest]
    capture, positions = best[0]
    undisputed = [None if number in disputed else position for number, position in enumerate(positions)]
    return Aligned(capture, undisputed, _sure_inputs(grids, best))


def _attribution(capture: Capture, positions: Sequence[int | None]) -> tuple[object, ...]:
    """Return the op and the modules of each kernel: captures for several batch sizes agree in them."""
    places = _places_of(capture, positions)
    return tuple(place and (place.name, place.is_backward, *(range_.name for range_ in place.ranges)) for place in places)


def _places_of(capture: Capture, positions: Sequence[int | None]) -> list[Place | None]:
    return [None if position is None else capture.launches[position].place for position in positions]


def _other_grids(grids: Sequence[str | None], capture: Capture, positions: Sequence[int | None]) -> set[int]:
    """Return which kernels ran in other blocks than in the capture."""
    return {
        number
        for number, (grid, position) in enumerate(zip(grids, positions, strict=True))
        if grid and position is not None and (captured := capture.launches[position].grid) and captured != grid
    }


def _sure_inputs(grids: Sequence[str | None], fitting: Sequence[tuple[Capture, list[int | None]]]) -> Mapping[object, Inputs]:
    """Return the inputs of the ops of the first of the captures that fit, where no kernel has other blocks, and all agree.

    Values, such as the name of a layer, may differ: then they are not known.
    """
    capture, positions = fitting[0]
    other_grids = _other_grids(grids, capture, positions)
    listed = [[_inputs_at(one, place) for place in _places_of(one, found)] for one, found in fitting]
    sure: dict[object, Inputs | None] = {}
    for number, place in enumerate(_places_of(capture, positions)):
        for depth, key in enumerate(_keys_of(place)):
            one, *others = [inputs[number][depth] if depth < len(inputs[number]) else None for inputs in listed]
            if one is None or number in other_grids or any(other is None or other[:2] != one[:2] for other in others):
                sure[key] = None
            elif sure.get(key, one) is not None:
                sure[key] = one if all(other == one for other in others) else one._replace(values=None)
    return {key: one for key, one in sure.items() if one is not None}


def _keys_of(place: Place | None) -> tuple[object, ...]:
    """Return the op of a place and those around it, the innermost first."""
    return () if place is None else (place.op, *(one.key for one in reversed(place.around)))


def _inputs_at(capture: Capture, place: Place | None) -> list[Inputs | None]:
    return [capture.inputs.get(key) for key in _keys_of(place)]


def aligned(tokens: Sequence[str], streams: Sequence[int] | None, launched: Sequence[str | None]) -> list[int | None]:
    """Return for each kernel of a graph the position of the launch in the capture; None without one."""
    if None in launched:
        # Without names the numbers must agree, and which of them are copies; streams then cannot be told apart.
        fits = streams is None and len(tokens) == len(launched) and all(map(_may_be, tokens, launched))
        return [position if fits else None for position in range(len(tokens))]
    if streams is not None:
        return _by_stream(tokens, streams, launched)
    if list(tokens) == list(launched):
        return list(range(len(tokens)))
    found: list[int | None] = [None] * len(tokens)
    for here, there, size in SequenceMatcher(None, tokens, launched, autojunk=False).get_matching_blocks():
        found[here : here + size] = range(there, there + size)
    return found


def _may_be(token: str, launched: str | None) -> bool:
    return token == launched if launched is not None else token not in (COPY, FILL)


def _most(tokens: Sequence[str], capture: Capture) -> float:
    """Return the share of the longer of both that could align in the best case, in any order."""
    common = Counter(tokens) & Counter(one for one in capture.tokens if one is not None)
    count = min(common.total() + capture.tokens.count(None), len(tokens), len(capture.tokens))
    return count / max(len(tokens), len(capture.tokens), 1)


def _by_stream(tokens: Sequence[str], streams: Sequence[int], launched: Sequence[str | None]) -> list[int | None]:
    """Give each launch in turn to a stream whose next kernel it is: of several, to that on which it goes on longest."""
    queues: dict[int, deque[int]] = {}
    for position, stream in enumerate(streams):
        queues.setdefault(stream, deque()).append(position)
    found: list[int | None] = [None] * len(tokens)
    for number, what in enumerate(launched):
        heads = [queue for queue in queues.values() if queue and tokens[queue[0]] == what]
        if heads:
            queue = heads[0] if len(heads) == 1 else max(heads, key=lambda one: _run(tokens, one, launched, number))
            found[queue.popleft()] = number
    return found


def _run(tokens: Sequence[str], queue: deque[int], launched: Sequence[str | None], number: int) -> int:
    """Return how many launches from one on are the next kernels of a stream."""
    length = 0
    for position, what in zip(queue, islice(launched, number, None), strict=False):
        if tokens[position] != what:
            break
        length += 1
    return length
