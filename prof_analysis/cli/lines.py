"""Lines of text, and the consoles that print them: on a terminal rich; into a pipe or file plainly, which starts faster.

All that is printed passes through here, where nothing from a profile can control the terminal.
"""

import os
import sys
from typing import Literal, Protocol, TypeAlias

from prof_analysis.common.visible import visible

# The parts of a line, each with the style in which a terminal shows it.
Line: TypeAlias = tuple[tuple[str, str], ...]
# In a pipe or file, lines are not cut.
_ANY_WIDTH = 10_000


class Console(Protocol):
    """Where lines are printed."""

    @property
    def width(self) -> int:
        """How many characters fit in a line."""

    def print(self, line: Line = (), wraps: bool = True, is_cut: bool = False) -> None:
        """Print a line: one that is too long goes on in the next, which begins with a whole word; or it is cut."""


def console() -> Console:
    """Return the console: as wide as the terminal; FORCE_COLOR brings colours into a pipe."""
    return _Styled() if is_terminal() or os.environ.get("FORCE_COLOR") else _Plain()


def is_terminal() -> bool:
    """Return whether people look at stdout, so that lines must fit; FORCE_COLOR alone cuts none."""
    return sys.stdout.isatty()


def text_of(value: object, style: str = "") -> Line:
    """Return a value as a line in one style."""
    return ((str(value), style),)


def plain(line: Line) -> str:
    """Return the text of a line, without characters that control a terminal."""
    return visible("".join(text for text, _ in line))


class _Plain:
    """Prints lines as they are."""

    width = _ANY_WIDTH

    def print(self, line: Line = (), wraps: bool = True, is_cut: bool = False) -> None:  # noqa: ARG002
        print(plain(line))


class _Styled:
    """Prints lines in colours."""

    def __init__(self) -> None:
        from rich.console import Console

        self._console = Console(highlight=False, width=None if is_terminal() else _ANY_WIDTH)

    @property
    def width(self) -> int:
        return self._console.width

    def print(self, line: Line = (), wraps: bool = True, is_cut: bool = False) -> None:
        from rich.text import Text

        overflow: Literal["ellipsis", "ignore"] | None = "ellipsis" if is_cut else None if wraps else "ignore"
        text = Text.assemble(*((visible(part), style) for part, style in line))
        self._console.print(text, no_wrap=not wraps or is_cut, overflow=overflow, crop=is_cut or wraps)
