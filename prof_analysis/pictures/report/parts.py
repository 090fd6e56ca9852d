"""The parts of a section of a page: tables, sentences and pictures, all as text that a browser shows as it is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prof_analysis.analyses.answer import Block, Sentences, ShownTable
from prof_analysis.analyses.words import ShownFormat, as_text
from prof_analysis.common.visible import visible

_LONGEST_CELL = 160
_LONGEST_SENTENCE = 1000
# A text of at most so many characters stays in one line.
_LONGEST_LINE = 32


@dataclass(frozen=True)
class Cell:
    """A cell: its text, the number that it is sorted by, how deep it lies in a tree, and the share that a bar shows."""

    text: str
    is_number: bool = False
    value: float | None = None
    depth: int = 0
    share: float | None = None

    @property
    def is_short(self) -> bool:
        """Whether the text is shown in one line."""
        return len(self.text) <= _LONGEST_LINE


@dataclass(frozen=True)
class Column:
    """A column with its heading; numbers are at the right and sorted by their values."""

    header: str
    is_number: bool


@dataclass(frozen=True)
class Table:
    """A table of a page. `ids` has the id of the sector of each row, in a table of modules."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    ids: Sequence[str] = ()
    kind: str = "table"


@dataclass(frozen=True)
class Notes:
    """Sentences, each a paragraph of its own."""

    lines: Sequence[str]
    kind: str = "notes"


@dataclass(frozen=True)
class Heading:
    """The name of the following parts: a run, if there are several."""

    text: str
    kind: str = "heading"


@dataclass(frozen=True)
class Picture:
    """A picture: its plotly figure as JSON can hold it, and its description for those who do not see it."""

    name: str
    text: str
    figure: Mapping[str, Any]
    kind: str = "picture"


@dataclass(frozen=True)
class Modules:
    """The icicle of modules beside the table of costs of the chosen module, above the table of all modules."""

    picture: Picture
    tree: Table
    costs: Mapping[str, Any]
    kind: str = "modules"


@dataclass(frozen=True)
class Finding:
    """A change to make: the time that it wins and how far to trust that, its place, its reason, and the section about it."""

    title: str
    win: str
    share: str
    kind: str
    place: str
    evidence: str
    what_to_do: str
    section: str
    section_title: str


@dataclass(frozen=True)
class StepPart:
    """A part of a step: its name, by which its colour is chosen too, its time and share as text, and the share as a number."""

    name: str
    style: str
    time: str
    shown_share: str
    share: float


@dataclass(frozen=True)
class Verdict:
    """What is recorded, the parts of a step, and what to change first.

    Folded away are the other findings with how to read them, and which rules lack data.
    """

    lines: Sequence[str]
    parts: Sequence[StepPart]
    causes: Sequence[Finding]
    more: Sequence[Finding]
    notes: Sequence[str]
    lacking: Sequence[str]
    kind: str = "verdict"


Part = Table | Notes | Heading | Picture | Modules | Verdict


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own; `reason` says why it has no answer."""

    id: str
    title: str
    question: str
    parts: Sequence[Part] = ()
    reasons: Sequence[str] = field(default=())


def plain(text: object, longest: int = _LONGEST_SENTENCE) -> str:
    """Return a text of a profile in one line, without signs that change its direction; of a long one the begin and the end."""
    shown = str(text)
    if len(shown) > longest:
        shown = f"{shown[: longest // 3]}…{shown[-longest * 2 // 3 :]}"
    return visible(shown)


def plain_cell(text: object) -> str:
    """Return a text of a profile as a cell has it: as plain(), and shorter."""
    return plain(text, _LONGEST_CELL)


def as_parts(blocks: Iterable[Block], captions: Iterable[str] = ()) -> list[Part]:
    """Return the blocks of an answer as parts of a page; `captions` name its tables, in their order."""
    names = iter(captions)
    parts: list[Part] = []
    for block in blocks:
        if isinstance(block, Sentences):
            parts.append(Notes([plain(line) for line in block.lines]))
        elif isinstance(block, ShownTable):
            caption = next(names, "")
            parts += [table(block, caption)] if block.rows else []
    return parts


def table(shown: ShownTable, caption: str, ids: Sequence[str] = ()) -> Table:
    """Return a table as people see it on the screen as a table of a page."""
    columns = [Column(plain(one.header), one.format not in ("text", "tree")) for one in shown.columns]
    formats = [one.format for one in shown.columns]
    rows = [[_cell(value, format_) for value, format_ in zip(row, formats, strict=True)] for row in shown.rows]
    return Table(caption, columns, rows, ids)


def _cell(value: Any, format_: ShownFormat) -> Cell:
    """Return a cell with its text as on the screen."""
    if format_ == "tree":
        depth, name = value
        return Cell(plain_cell(name), depth=depth)
    text = as_text(value, format_)
    if format_ == "text":
        return Cell(plain_cell(text))
    number, share = value if isinstance(value, tuple) else (value, value if format_ == "share" else None)
    return Cell(text, is_number=True, value=number, share=share)
