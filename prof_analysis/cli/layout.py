"""Lays out tables for a terminal: rows are lines, names come first, and cells without room are folded, cut or left out.

What a row is matters most. So headings are folded before a name is cut, names keep their end, and of the figures behind the
first ones only those are shown that leave room for names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix

from rich.cells import cell_len, chop_cells

from prof_analysis.cli.lines import Line
from prof_analysis.cli.signs import GUIDE, SIGN_STYLE, Signs, bar, guides

GAP = 2
# The first columns, the name of a row and its first figures, are shown even if names must be cut for them.
_ESSENTIAL = 4
# Cells of texts keep so many characters if they have them; the first column, which names the row, keeps more.
_LEAST_NAME, _LEAST_TEXT = 28, 14
# Beside further figures they keep such a part of the line.
_NAME_PART, _TEXT_PART = 0.4, 0.2
_LEAST_BAR, _BAR = 4, 10
# In lines of any length, columns are aligned up to this width. A longer name is printed whole and moves the rest of its own
# line only; else one name of 40,000 characters would make each row so long.
_MOST_ALIGNED = 1000
# The name around the last ones of a path is shown with at least so many characters, or not at all.
_LEAST_OF_AROUND = 8
# What is read from its beginning: three plain words or more, unlike the names of kernels in C++.
_WORDS = re.compile(r"[\w.,'-]+( [\w.,'-]+){2,}")


@dataclass(frozen=True)
class Column:
    """A column: its heading and its cells; texts are at the left, numbers at the right.

    The cells of a tree have depths, below which guide lines lead to them. Shares have a bar beside them.
    """

    header: str
    cells: Sequence[str]
    is_text: bool
    depths: Sequence[int] = ()
    shares: Sequence[float | None] = ()

    @cached_property
    def folded(self) -> tuple[str, str]:
        """The heading in two lines, as narrow as it gets; the first is empty where it is one word."""
        words = self.header.split(" ")
        folds = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(len(words))]
        return min(folds, key=lambda fold: max(map(cell_len, fold)))

    @cached_property
    def widest(self) -> int:
        """The width of the widest cell, without bars and guide lines."""
        return max(map(cell_len, self.cells), default=0)


@dataclass(frozen=True)
class Laid:
    """The lines of a table, below one or two of headings; and the headings that are left out."""

    head: list[Line]
    lines: list[Line]
    left_out: list[str]


@dataclass(frozen=True)
class _Room:
    """How wide a column must be, should be beside further ones, should be at all, and would be without an end."""

    least: int
    beside: int
    good: int
    natural: int


def lay_out(columns: Sequence[Column], width: int | None, signs: Signs | None) -> Laid:
    """Return a table in lines of at most `width` characters, or of any length; without signs it has no bars and guide lines."""
    before = [_guides_of(column, width, signs) for column in columns]
    rooms = [_room_of(column, before[n], not n, width, signs) for n, column in enumerate(columns)]
    widths = [min(room.natural, _MOST_ALIGNED) for room in rooms] if width is None else _fitting(rooms, columns, width)
    shown = [n for n, room in enumerate(widths) if room]
    folds = [columns[n].folded if cell_len(columns[n].header) > widths[n] else ("", columns[n].header) for n in shown]
    cut = None if width is None else signs.cut if signs else "…"
    cells = [_cells_of(columns[n], before[n], widths[n], signs, cut) for n in shown]
    heads = [
        [_padded(part, widths[n], columns[n].is_text or _has_bars(columns[n], signs), cut) for part in parts]
        for n, parts in zip(shown, folds, strict=True)
    ]
    return Laid(
        [_joined(line) for line in zip(*heads, strict=True) if any(part.strip() for part in line)],
        [_joined(line) for line in zip(*cells, strict=True)],
        [column.header for n, column in enumerate(columns) if n not in shown],
    )


def _joined(cells: Sequence[Line | str]) -> Line:
    """Return cells as a line, without blanks at its end."""
    parts: list[tuple[str, str]] = []
    for cell in cells:
        parts += [(" " * GAP, "")] if parts else []
        parts += [(cell, "")] if isinstance(cell, str) else cell
    while parts and not parts[-1][0].strip():
        del parts[-1]
    return (*parts[:-1], *((text.rstrip(), style) for text, style in parts[-1:]))


def _has_bars(column: Column, signs: Signs | None) -> bool:
    return bool(column.shares) and signs is not None


def _room_of(column: Column, before: Sequence[str], is_first: bool, width: int | None, signs: Signs | None) -> _Room:
    head, folded = cell_len(column.header), max(map(cell_len, column.folded))
    if not column.is_text:
        least, natural = (_LEAST_BAR + 1, _BAR + 1) if _has_bars(column, signs) else (0, 0)
        least = max(column.widest + least, folded)
        return _Room(least, least, max(column.widest + natural, folded), max(column.widest + natural, head))
    lines = list(zip(before, column.cells, strict=True))
    natural = max(max((cell_len(one) + cell_len(text) for one, text in lines), default=0), head)
    good = max(max((cell_len(one) + _end_of(text) for one, text in lines), default=0), folded)
    least = min(natural, _LEAST_NAME if is_first else _LEAST_TEXT)
    part = round((width or 0) * (_NAME_PART if is_first else _TEXT_PART))
    return _Room(least, max(least, min(good, part)), max(least, good), natural)


def _end_of(text: str) -> int:
    """Return how wide the part of a text is that must be seen: of a path its last name, behind a sign for the others."""
    around, _, last = text.rpartition("/")
    return cell_len(last) + 2 if around and last else cell_len(text)


def _fitting(rooms: Sequence[_Room], columns: Sequence[Column], width: int) -> list[int]:
    """Return the width of each column, 0 where it is left out."""
    widths = [0] * len(rooms)
    for n, room in enumerate(rooms):
        is_figure = n >= _ESSENTIAL and not columns[n].is_text
        taken = [max(one, rooms[other].beside if is_figure else 0) + GAP for other, one in enumerate(widths) if one]
        if n and sum(taken) + room.least > width:
            break
        widths[n] = min(room.least, width)
    spare = width - sum(one + GAP for one in widths if one) + GAP
    texts = [n for n, column in enumerate(columns) if column.is_text and widths[n]]
    numbers = [n for n, column in enumerate(columns) if not column.is_text and widths[n]]
    spare = _widen(widths, {n: rooms[n].beside for n in texts}, spare)
    spare = _widen(widths, {n: rooms[n].good for n in texts}, spare)
    spare = _widen(widths, {n: rooms[n].good for n in numbers}, spare)
    for n in numbers:  # A heading fits in one line, or stays folded.
        if 0 < (lacking := rooms[n].natural - widths[n]) <= spare:
            spare = _widen(widths, {n: rooms[n].natural}, lacking) + spare - lacking
    _widen(widths, {n: rooms[n].natural for n in texts}, spare)
    return widths


def _widen(widths: list[int], wanted: dict[int, int], spare: int) -> int:
    """Give columns the room that they want, the narrowest first; return the rest."""
    while spare > 0 and (lacking := [n for n, width in wanted.items() if widths[n] < width]):
        widths[min(lacking, key=widths.__getitem__)] += 1
        spare -= 1
    return spare


def _guides_of(column: Column, width: int | None, signs: Signs | None) -> Sequence[str]:
    """Return the lead of each cell: guide lines of a tree, in a pipe blanks; for deep trees only the innermost."""
    if not column.depths:
        return [""] * len(column.cells)
    return guides(column.depths, signs, None if width is None else max(width // 10, 2))


def _cells_of(column: Column, before: Sequence[str], width: int, signs: Signs | None, cut: str | None) -> Sequence[Line | str]:
    """Return the cells of a column, each as wide as the column."""
    if signs is not None and column.shares:
        room = width - column.widest - 1
        return [
            ((f"{text.rjust(column.widest)} ", ""), (bar(share, room, signs).ljust(room), SIGN_STYLE))
            for text, share in zip(column.cells, column.shares, strict=True)
        ]
    if not column.depths:
        texts = _unlike(column.cells, width, cut) if column.is_text and cut is not None else column.cells
        return [_padded(text, width, column.is_text, cut) for text in texts]
    return [
        ((one, GUIDE if one.strip() else ""), (_padded(text, width - cell_len(one), column.is_text, cut), ""))
        for one, text in zip(before, column.cells, strict=True)
    ]


def _unlike(texts: Sequence[str], width: int, sign: str) -> Sequence[str]:
    """Return texts, of which those that would be equal once they are cut show the place where they differ."""
    like: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        if cell_len(text) > width:
            like.setdefault(_cut(text, width, sign), []).append(text)
    shown = {text: _around_difference(text, group, width, sign) for group in like.values() if len(group) > 1 for text in group}
    return [shown.get(text, text) for text in texts] if shown else texts


def _around_difference(text: str, others: Sequence[str], width: int, sign: str) -> str:
    """Return the part of a text from where it differs from the others, with a third of the room before it.

    Of a path it keeps the last name too, where there is room.
    """
    room = width - 2 * cell_len(sign)
    if room < _LEAST_OF_AROUND:
        return text
    end = f"/{text.rpartition('/')[2]}" if "/" in text else ""
    end = end if cell_len(end) <= room - _LEAST_OF_AROUND else ""
    room -= cell_len(end)
    begin = max(len(commonprefix(others)) - room // 3, 0)  # noqa: RUF071 (of letters, not of paths)
    part = chop_cells(text[begin : len(text) - len(end)], room)[0]
    is_whole = begin + len(part) + len(end) == len(text)
    return f"{sign if begin else ''}{part}{'' if is_whole else sign}{end}"


def _padded(text: str, width: int, is_text: bool, cut: str | None) -> str:
    """Return a text as wide as given; a longer one is cut, or whole without a sign for cuts."""
    length = cell_len(text)
    if length > width and cut is not None:
        text = _cut(text, width, cut)
        length = cell_len(text)
    blanks = " " * (width - length)
    return text + blanks if is_text else blanks + text


def _cut(text: str, width: int, sign: str) -> str:
    """Return a text as wide as given or one less: a path without its beginning, words without their end, else no middle."""
    around, _, last = text.rpartition("/")
    room = width - cell_len(sign)
    if around and last and cell_len(last) + 1 <= room:
        kept = last
        while around and cell_len(around.rpartition("/")[2]) + 1 + cell_len(kept) < room:
            around, _, name = around.rpartition("/")
            kept = f"{name}/{kept}"
        part = _end(around.rpartition("/")[2], room - cell_len(kept) - 1)
        return f"{sign}{part if cell_len(part) >= _LEAST_OF_AROUND else ''}/{kept}"
    whole = last if around and last else text
    if cell_len(whole) <= room:
        return f"{sign}{whole}"
    room = max(room, 1)
    if _WORDS.fullmatch(whole):
        return f"{chop_cells(whole, room)[0].rstrip()}{sign}"
    begin = chop_cells(whole, room - room * 2 // 3)[0]
    return f"{begin}{sign}{_end(whole, room * 2 // 3)}"


def _end(text: str, width: int) -> str:
    """Return the end of a text, as wide as given or one less."""
    return chop_cells(text[::-1], width)[0][::-1] if width > 1 and text else ""
