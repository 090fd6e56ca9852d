"""The rooms of the package lie on floors: imports run down only, so that a room can be understood without those above it."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "prof_analysis"
# A room imports rooms of lower floors only; within a room everything may be imported.
FLOORS = (
    (
        "collect", "errors", "frames_of_code", "input_files", "lanes", "looks", "pairing", "student", "user_cache", "usual_names",
        "version", "visible",
    ),
    ("aliases", "anonymous"),
    ("matching",),
    ("suggestions",),
    ("options",),
    ("command_line",),
    ("capabilities", "engine", "frames", "scratch"),
    ("analyses", "replaced"),
    ("sources",),
    ("run", "exports", "logs", "overview"),
    ("questions",),
    ("profile",),
    ("comparable",),
    ("comparison",),
    ("answers",),
    ("figures",),
    ("report",),
    ("cli",),
    ("__main__",),
)  # fmt: skip
# What a method of the API imports when it is called, though it lies above: what it shows is made of the method's own answers.
SHOWN_BY = {"profile": {"figures", "report"}, "comparison": {"figures", "report"}}
# The public API is above all but the command, and imports the rest when it is used.
API = "__init__"


def room_of(module: str) -> str:
    """The room of a module `prof_analysis.room.file`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else API


def imported_rooms(file: Path) -> set[str]:
    """The rooms that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(room_of(alias.name) for alias in node.names if alias.name.split(".")[0] == "prof_analysis")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "prof_analysis":
            names = [alias.name for alias in node.names] if node.module == "prof_analysis" else [None]
            found.update(room_of(node.module or "") if name is None else room_of(f"prof_analysis.{name}") for name in names)
    return found


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: file.relative_to(PACKAGE).as_posix())
def test_a_room_imports_only_rooms_below_it(file: Path) -> None:
    floor_of = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert room == API or room in floor_of, f"{room}: name its floor in FLOORS"
    for imported in imported_rooms(file) - {room} - SHOWN_BY.get(room, set()):
        assert imported in floor_of, f"{file.name} imports {imported}, which lies on no floor; import the module itself"
        assert room == API or floor_of[imported] < floor_of[room], f"{file.name} imports {imported}, which lies above it"


def test_each_floor_has_its_rooms() -> None:
    there = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if not path.name.startswith("__py")}
    assert {room for rooms in FLOORS for room in rooms} | {API} == there - {"py", "sql", "json.schema"}
