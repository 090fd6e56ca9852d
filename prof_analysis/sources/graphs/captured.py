"""What the capture of a graph holds: its launches in their order, each with the ops and modules around it."""

from collections.abc import Mapping
from typing import NamedTuple

COPY, FILL, UNNAMED = "copy", "fill", None


class Inputs(NamedTuple):
    """Inputs of an op, as in trace.op_input."""

    shapes: str
    types: str | None
    values: str | None


class Range(NamedTuple):
    """A module call or a range of a user; `is_around` says whether it encloses the whole capture."""

    key: object
    name: str
    is_module: bool
    is_around: bool = False


class Around(NamedTuple):
    """An op around the op of a launch; `depth` is how many of the ranges around the launch are around it too."""

    key: object
    name: str
    depth: int


class Place(NamedTuple):
    """Where a kernel was launched: the op, or the call where it lies in none, and the ranges around it, outermost first; so are
    the ops around the op."""

    op: object
    name: str | None
    ranges: tuple[Range, ...]
    is_op: bool = False
    is_backward: bool = False
    around: tuple[Around, ...] = ()


class Launch(NamedTuple):
    """A launch in a capture: what it runs, as token() spells it, None where that is not recorded; where it is; and the blocks
    of the kernel, as the profiler spells them, None where they are not recorded."""

    token: str | None
    place: Place
    grid: str | None = None


class Capture(NamedTuple):
    """The launches of a captured graph in their order, and the inputs of ops by their keys."""

    launches: tuple[Launch, ...]
    tokens: tuple[str | None, ...]
    inputs: Mapping[object, Inputs]
