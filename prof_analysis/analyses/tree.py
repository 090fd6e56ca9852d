"""Modules as a tree: each name once, below the modules around it."""

from collections.abc import Iterable, Mapping
from typing import Any

# The SQL of the path of a module, from its columns, where no table has the path; NULL outside modules.
PATH = "if(parent_module = '', module, parent_module || '/' || module)"
# What stands before the name of a module in its backward.
BACKWARD = "[Backward]"


def as_tree(shown: Iterable[Mapping[str, Any]], known: Iterable[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return rows of modules and of the modules around them, in the order of a tree, each with its depth and name as `line`.

    The column `module` has the whole path, joined by '/'. Siblings come in the order of the rows. A module around another one
    has the figures that it has in `known`, or none.
    """
    figures = {row["module"]: row for row in known}
    below: dict[str, dict[str, None]] = {}
    columns: dict[str, None] = {}
    for row in shown:
        columns |= dict.fromkeys(row)
        figures.setdefault(row["module"], row)
        paths = _with_around(row["module"])
        for around, path in zip(["", *paths], paths, strict=False):
            below.setdefault(around, {})[path] = None
    lines: list[dict[str, Any]] = []
    ahead = [(path, 0) for path in reversed(below.get("", {}))]
    while ahead:
        path, depth = ahead.pop()
        lines.append({**(figures.get(path) or dict.fromkeys(columns)), "line": (depth, path.rpartition("/")[2])})
        ahead += [(inside, depth + 1) for inside in reversed(below.get(path, {}))]
    return lines


def paths_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the paths of the modules of rows and of all modules around them."""
    return list(dict.fromkeys(path for row in rows for path in _with_around(row["module"])))


def _with_around(path: str) -> list[str]:
    """Return the paths of the modules around a module, outermost first, and its own; around a backward are backwards."""
    *names, last = path.split("/")
    prefix = BACKWARD if last.startswith(BACKWARD) else ""
    around = ["/".join((*names[:depth], prefix + name)) for depth, name in enumerate(names)]
    return [*around, path]
