"""The groups of docs/README.md, which lists all pages: the site is navigated by it, and llms.txt is made of it."""

import os
import re
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).parents[1]
ENGLISH, CHINESE = Path("docs/README.md"), Path("docs/zh/README.md")


class Entry(NamedTuple):
    """A page in the list: its title, its file in the checkout, and what it is about."""

    title: str
    page: Path
    about: str


def groups(index: Path) -> dict[str, list[Entry]]:
    """Return the pages that a list names, below the heading of their group."""
    found: dict[str, list[Entry]] = {}
    for line in (CHECKOUT / index).read_text(encoding="utf-8").split("\n"):
        if heading := re.match(r"\*\*(.+?)\*\*", line):
            entries = found.setdefault(heading[1], [])
        elif entry := re.match(r"- \[(.+?)\]\((.+?)\)(?:(?:: |\uff1a)(.+))?$", line):
            page = Path(os.path.normpath(index.parent / entry[2]))
            entries.append(Entry(entry[1], page, entry[3] or ""))
    return found
