"""Reads PyTorch's notes about the kernels of a captured graph: files kernel_annotations_rank0_*.pkl or .json.

The format is that of torch/cuda/_graph_annotations.py: a dict by graph node id, each with a list of annotations. A pickle can
run code, so it is read by an unpickler that knows numbers, texts, lists and dicts, and refuses all else.
"""

import json
import pickle
import re
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from prof_analysis.common.errors import reason_of
from prof_analysis.common.input_files import ANNOTATIONS_BYTES, whole

NAME = re.compile(r"kernel_annotations_rank0*(\d+)(?:_.*)?\.(?:pkl|pickle|json)")
# A hostile file can name one large object a million times: of each, no more than this is looked at.
MAX_DEPTH = MAX_SCOPES = 64
MAX_CHARACTERS = 4096
FIELDS = ("module_fqn", "name", "autograd_phase")
# Several modules that share a kernel, as Inductor joins their names.
_SHARED = re.compile(r"\s*\+\s*")


class Annotation(NamedTuple):
    """A note about a kernel: the module, from the outermost name in, whether it is backward work, and the user's name."""

    modules: tuple[str, ...]
    is_backward: bool
    name: str | None


class NotDataError(Exception):
    """The reason why a file cannot be read as annotations."""


def is_of_annotations(file: Path) -> bool:
    """Return whether a file is named as one of annotations."""
    return NAME.fullmatch(file.name) is not None


def found_annotations(trace: Path, rank_id: int | None) -> list[Path]:
    """Return the files of annotations for the rank of a trace: beside it, else one level above.

    Where the rank is not known, it is the number that the name of the trace begins with, as PyTorch reads it, or any if there
    is but one.
    """
    number = rank_id
    if number is None and (digits := re.match(r"\d{1,6}(?!\d)", trace.name)):
        number = int(digits[0])
    for folder in (trace.parent, trace.parent.parent):
        try:
            names = sorted(entry.name for entry in folder.iterdir() if NAME.fullmatch(entry.name))
        except OSError:
            continue
        ranks = {name: int(match[1]) for name in names if (match := NAME.fullmatch(name))}
        own = {number} if number is not None else set(ranks.values()) if len(set(ranks.values())) == 1 else set()
        if found := [folder / name for name in names if ranks[name] in own]:
            return found
    return []


def read_annotations(files: Iterable[Path]) -> tuple[dict[int, Annotation], list[str]]:
    """Return the annotations by graph node id, and a sentence for each file that cannot be read."""
    raw: dict[int, dict[str, str]] = {}
    problems = []
    for file in files:
        try:
            for node, fields in _fields_by_node(_content(file)).items():
                raw.setdefault(node, fields)
        except NotDataError as problem:
            problems.append(f"{file}: these annotations of kernels are left out: {problem}")
    return annotations_of(raw), problems


def annotations_of(fields_by_node: Mapping[int, Mapping[str, str]]) -> dict[int, Annotation]:
    """Return the annotations that these fields give. Without any module_fqn, the name is the users' name of the module."""
    has_modules = any("module_fqn" in fields for fields in fields_by_node.values())
    found = {}
    for node, fields in fields_by_node.items():
        modules = fields.get("module_fqn" if has_modules else "name", "")
        name = fields.get("name") if has_modules else None
        found[node] = Annotation(_path(modules), fields.get("autograd_phase") == "backward", name)
    return found


def named_parts(modules: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the modules on a path, each with the path up to it: numbers belong to the list before them.

    layers.0.wq are layers and wq, where layers is the call layers.0.
    """
    parts: list[tuple[str, tuple[str, ...]]] = []
    for length, name in enumerate(modules, 1):
        if name.isdecimal() and parts:
            parts[-1] = (parts[-1][0], modules[:length])
        else:
            parts.append((name, modules[:length]))
    return parts


def _path(modules: str) -> tuple[str, ...]:
    """Return the names on the path of a module; if several modules share a kernel, of the modules around all of them."""
    paths = [[name for name in one.split(".") if name][:MAX_DEPTH] for one in _SHARED.split(modules.strip())]
    common = []
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return tuple(common)


def _content(file: Path) -> Any:
    try:
        content = whole(file, ANNOTATIONS_BYTES)
    except OSError as error:
        raise NotDataError(f"the file cannot be read ({reason_of(error)})") from error
    try:
        return json.loads(content) if file.suffix == ".json" else _Data(BytesIO(content)).load()
    except NotDataError:
        raise
    # A damaged pickle can raise anything; what is not known of it stays unknown.
    except Exception as error:
        raise NotDataError(f"the file is damaged ({type(error).__name__})") from error


def _fields_by_node(content: Any) -> dict[int, dict[str, str]]:
    """Return the texts of the annotations of each node. Of several annotations of a node, later ones win, as in PyTorch."""
    if not isinstance(content, dict):
        raise NotDataError("the file holds no dict by graph node id")
    found: dict[int, dict[str, str]] = {}
    for key, value in content.items():
        node = int(key) if isinstance(key, str) and key.isdecimal() and len(key) < 20 else key
        if isinstance(node, int) and not isinstance(node, bool) and 0 < node < 2**63:
            fields: dict[str, str] = {}
            for one in value[-MAX_SCOPES:] if isinstance(value, list | tuple) else [value]:
                fields |= _texts(one)
            found[node] = fields
    return found


def _texts(annotation: Any) -> dict[str, str]:
    """Return the fields that are texts. Early PyTorch wrote a name as a bare text, or under the key `str`."""
    if isinstance(annotation, str):
        annotation = {"name": annotation}
    if not isinstance(annotation, dict):
        return {}
    found = {"name": annotation.get("str"), **{key: annotation[key] for key in FIELDS if key in annotation}}
    return {key: value for key, value in found.items() if isinstance(value, str) and len(value) <= MAX_CHARACTERS}


# The base is Python's own reader, not the fast one in C: that one allocates as much memory as a hostile file says.
class _Data(pickle._Unpickler):
    """An unpickler of plain data."""

    dispatch = {  # noqa: RUF012
        code[0]: pickle._Unpickler.dispatch[code[0]]
        for code in (
            *(pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.MARK, pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE),
            *(
                pickle.INT,
                pickle.LONG,
                pickle.BININT,
                pickle.BININT1,
                pickle.BININT2,
                pickle.LONG1,
                pickle.FLOAT,
                pickle.BINFLOAT,
            ),
            *(pickle.UNICODE, pickle.BINUNICODE, pickle.SHORT_BINUNICODE, pickle.BINUNICODE8, pickle.POP, pickle.POP_MARK),
            *(pickle.EMPTY_DICT, pickle.DICT, pickle.SETITEM, pickle.SETITEMS, pickle.EMPTY_LIST, pickle.LIST),
            *(pickle.APPEND, pickle.APPENDS, pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3),
            *(pickle.PUT, pickle.BINPUT, pickle.LONG_BINPUT, pickle.MEMOIZE, pickle.GET, pickle.BINGET, pickle.LONG_BINGET),
        )
    }

    def load(self) -> Any:
        try:
            return super().load()
        except KeyError as error:
            (code,) = error.args or ("",)
            raise NotDataError(f"it holds more than numbers, texts, lists and dicts (pickle code {code!r})") from error

    def find_class(self, module: str, name: str) -> Any:
        raise NotDataError(f"it names the class or function {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:  # noqa: ARG002
        raise NotDataError("it names an object outside the file")
