"""Lays out tables for a terminal: rows are lines; columns that do not fit are left out, long texts are cut in the middle."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

GAP = 2
# A text keeps at least so many characters; the first one, which says what the row is, keeps more.
_LEAST_TEXT = 14
_LEAST_NAME = 28
_CUT = "…"


@dataclass(frozen=True)
class Laid:
    """The lines of a table, the header first: the cells of each, as wide as their columns; and the headers left out."""

    lines: list[list[str]]
    left_out: list[str]


def lay_out(headers: Sequence[str], are_texts: Sequence[bool], rows: Sequence[Sequence[str]], width: int | None) -> Laid:
    """Return a table in lines of at most `width` characters, or of any length; texts are at the left, numbers at the right."""
    lines = [headers, *rows]
    natural = [max(cell_len(line[n]) for line in lines) for n in range(len(headers))]
    widths = natural if width is None else _fitting(natural, are_texts, width)
    shown = [n for n, room in enumerate(widths) if room]
    laid = [[_padded(line[n], widths[n], are_texts[n]) for n in shown] for line in lines]
    return Laid(laid, [header for n, header in enumerate(headers) if n not in shown])


def _fitting(natural: Sequence[int], are_texts: Sequence[bool], width: int) -> list[int]:
    """Return the width of each column, 0 where it is left out: the first columns are taken, as many as fit."""
    least = [
        min(room, (_LEAST_TEXT if n else _LEAST_NAME) if is_text else room)
        for n, (room, is_text) in enumerate(zip(natural, are_texts, strict=True))
    ]
    widths = [0] * len(natural)
    spare = width + GAP
    for n, room in enumerate(least):
        if n and room + GAP > spare:
            break
        widths[n] = room
        spare -= room + GAP
    for n, room in enumerate(widths):
        if room and spare > 0:
            widths[n] = min(natural[n], room + spare)
            spare -= widths[n] - room
    return widths


def _padded(text: str, width: int, is_text: bool) -> str:
    length = cell_len(text)
    if length > width:
        text = _cut(text, width)
        length = cell_len(text)
    blanks = " " * (width - length)
    return text + blanks if is_text else blanks + text


def _cut(text: str, width: int) -> str:
    """Return a text without its middle, as wide as given or one less: the end of a path or name says most."""
    room = max(width - 1, 1)
    begin = chop_cells(text, room - room * 2 // 3)[0]
    end = chop_cells(text[::-1], room * 2 // 3)[0][::-1] if room > 1 else ""
    return f"{begin}{_CUT}{end}"
