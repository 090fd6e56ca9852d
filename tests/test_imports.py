"""Imports run down only: a room of the package can be understood without those above it, and no files need each other."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "prof_analysis"
MOST_LINES = 300
# A room imports rooms of lower floors only.
FLOORS = (
    ("collect", "common", "functions"),
    ("engine", "languages"),
    ("analyses", "anonymous", "sources"),
    ("exports", "logs", "pictures", "run"),
    ("profile",),
    ("verify",),
    ("__init__", "cli"),
    ("__main__",),
)


def modules() -> Mapping[str, Path]:
    """The files of the package by the names of their modules."""
    files = sorted((ROOT / PACKAGE).rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def room_of(module: str) -> str:
    """The room of a module `prof_analysis.room.file`."""
    return (*module.split("."), "__init__")[1]


def named_in(tree: ast.AST) -> Iterator[str]:
    """The modules that code names: in imports anywhere in it, and in texts by which it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith(f"{PACKAGE}."):
            yield str(node.value)


def imports(known: Mapping[str, Path]) -> dict[str, set[str]]:
    """The modules that each module imports; `from room.file import name` imports the file."""
    found: dict[str, set[str]] = {}
    for module, file in known.items():
        named = [name for name in named_in(ast.parse(file.read_text(encoding="utf-8"))) if name.partition(".")[0] == PACKAGE]
        found[module] = {name if name in known else name.rpartition(".")[0] for name in named} & known.keys() - {module}
    return found


def test_a_room_imports_only_rooms_below_it() -> None:
    floor_of = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    upward = [
        f"{module} imports {other}"
        for module, others in imports(modules()).items()
        for other in sorted(others)
        if room_of(other) != room_of(module) and floor_of[room_of(other)] >= floor_of[room_of(module)]
    ]
    assert not upward


def test_no_files_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(imports(modules())).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(error.args[1])) from None


def test_a_file_is_one_thing_of_at_most_300_lines() -> None:
    """But collect.py, which runs where the model runs and so is one file."""
    sizes = {module: len(file.read_text(encoding="utf-8").splitlines()) for module, file in modules().items()}
    assert not {module: size for module, size in sizes.items() if size > MOST_LINES and room_of(module) != "collect"}


def test_each_room_lies_on_a_floor() -> None:
    assert {room_of(module) for module in modules()} == {room for rooms in FLOORS for room in rooms}
