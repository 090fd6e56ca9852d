"""The help in the language that people read."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from prof_analysis.languages import ENGLISH, language, said

# What typer prints by itself.
_OF_TYPER = ("ARGUMENTS_PANEL_TITLE", "OPTIONS_PANEL_TITLE", "COMMANDS_PANEL_TITLE", "ERRORS_PANEL_TITLE", "DEFAULT_STRING")


@cache
def _english_of_typer() -> Mapping[str, str]:
    from typer import rich_utils

    return {name: getattr(rich_utils, name) for name in _OF_TYPER}


def speak(group: Any, described: Iterable[Any]) -> None:
    """Put what typer prints by itself, and what these commands and options say, into the language that is shown."""
    from rich.columns import Columns
    from typer import rich_utils

    for name, text in _english_of_typer().items():
        setattr(rich_utils, name, said(text))
    vars(rich_utils)["Columns"] = Columns if language() == ENGLISH else _folding(Columns)
    group.epilog = said(in_english(group, "epilog") or "") or None
    for one in described:
        one.help = "\n\n".join(map(_paragraph, (in_english(one, "help") or "").split("\n\n"))) or None
        one.rich_help_panel = said(in_english(one, "rich_help_panel") or "") or None


def _paragraph(text: str) -> str:
    return text if language() == ENGLISH else said(" ".join(text.split()))


def in_english(described: Any, name: str) -> str | None:
    """Return what a command or an option says of itself as the code has it, whatever it says now."""
    kept: dict[str, str | None] = vars(described)
    return kept.setdefault(f"english_{name}", kept.get(name))


def _folding(columns: type[Any]) -> type[Any]:
    """Return rich's columns with texts that go on in the next line: Chinese has no blanks, and would be cut off."""
    from rich.text import Text

    class Folding(columns):  # type: ignore[misc]
        def __init__(self, texts: Iterable[Any]) -> None:
            super().__init__(texts)
            for one in self.renderables:
                if isinstance(one, Text):
                    one.overflow = "fold"

    return Folding
