"""The signs of a terminal's pictures: bars for shares, guide lines for trees."""

from collections.abc import Sequence
from dataclasses import dataclass

SIGN_STYLE, GUIDE = "cyan", "dim"
_INDENT = "  "


@dataclass(frozen=True)
class Signs:
    """Signs for what was cut; parts of a cell of a bar, the last one full; for a level that goes on, a module and the last."""

    cut: str
    parts: str
    on: str
    branch: str
    last: str


DRAWN = Signs("…", "▏▎▍▌▋▊▉█", "│ ", "├ ", "└ ")
PLAIN = Signs("~", "#", _INDENT, _INDENT, _INDENT)


def signs_of(encoding: str) -> Signs:
    """Return the signs that an encoding can write."""
    try:
        "".join((DRAWN.cut, DRAWN.parts, DRAWN.on, DRAWN.branch, DRAWN.last)).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return DRAWN


def bar(share: float | None, width: int, signs: Signs) -> str:
    """Return a bar that is as wide as given where the share is 1; nothing where it is not known."""
    if share is None or not share > 0:
        return ""
    whole, rest = divmod(round(min(share, 1) * width * len(signs.parts)), len(signs.parts))
    return signs.parts[-1] * whole + (signs.parts[rest - 1] if rest else "")


def guides(depths: Sequence[int], signs: Signs | None, most: int | None) -> list[str]:
    """Return the guide lines before each module of a tree, or blanks.

    Of more levels than `most` only the innermost are drawn, behind the number of the others.
    """
    if signs is None:
        return [_INDENT * depth for depth in depths]
    made = []
    ahead: set[int] = set()  # The levels at which a module follows, seen from the end.
    for depth in reversed(depths):
        first = 1 if most is None else max(depth - most + 1, 1)
        begin = "" if first == 1 else f"{signs.cut}{first - 1} "
        levels = [signs.on if level in ahead else _INDENT for level in range(first, depth)]
        made.append(begin + "".join(levels) + ("" if depth == 0 else signs.branch if depth in ahead else signs.last))
        ahead = {level for level in ahead if level < depth} | {depth}
    return made[::-1]
