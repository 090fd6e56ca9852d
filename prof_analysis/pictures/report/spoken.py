"""A page in the language of those who read it."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from prof_analysis.analyses.spoken import word
from prof_analysis.languages import ENGLISH, language, said
from prof_analysis.pictures.report.parts import Finding, Modules, Picture, Table

# What a program reads, or what is a name.
_NAMES = ("id", "ids", "section", "place", "style", "figure", "costs")
# What page.js writes.
WORDS = (
    "Light colours", "Dark colours", "Light", "Dark", "Filter ", "Colour ", "drawing…", "What the chosen module costs",
    "{}, with all inside: what ops in modules cost", ", the first {} of {} rows", "{} of {} modules", "{} of {} rows",
    "Pictures need a browser of 2023 or later. The tables have the same figures.",
)  # fmt: skip


def words() -> Mapping[str, str]:
    """Return what page.js writes, by the English text, in the language that is shown; nothing for English."""
    return {} if language() == ENGLISH else {text: said(text) for text in WORDS}


def spoken(page: Any) -> Any:
    """Return a page, or a part of one, in the language that is shown."""
    return page if language() == ENGLISH else _spoken(page)


def _spoken(thing: Any) -> Any:
    if isinstance(thing, str):
        return said(thing)
    if isinstance(thing, Table):
        return replace(thing, caption=said(thing.caption), columns=_spoken(thing.columns), rows=_rows(thing))
    if is_dataclass(thing) and not isinstance(thing, type):
        # The kind of a finding is a word, that of other parts chooses how they are shown.
        kept = (*_NAMES, *(() if isinstance(thing, Finding) else ("kind",)), *(("name",) if isinstance(thing, Picture) else ()))
        made: Any = replace(
            thing, **{one.name: _spoken(getattr(thing, one.name)) for one in fields(thing) if one.name not in kept}
        )
        return replace(made, costs=_costs(made.costs)) if isinstance(made, Modules) else made
    return [*map(_spoken, thing)] if isinstance(thing, list | tuple) else thing


def _costs(costs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the costs of modules, as page.js reads them: an id and a cell for each column in a row."""
    headers = costs["columns"]
    rows = [[id_, *map(word, headers, cells)] for id_, *cells in costs["rows"]]
    return {**costs, "columns": _spoken(headers), "rows": rows}


def _rows(table: Table) -> Sequence[Sequence[Any]]:
    headers = [column.header for column in table.columns]
    return [
        [replace(cell, text=word(header, cell.text)) for header, cell in zip(headers, row, strict=True)] for row in table.rows
    ]
