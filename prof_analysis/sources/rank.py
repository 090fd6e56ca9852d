"""A rank: one device of one result, the files to read, and the capabilities that they give it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prof_analysis.common.capabilities import Requirement, why_not
from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.common.input_files import SETTINGS_BYTES, whole

# In front of the name of a table, among the names of files that a rank has.
TABLE = "table "


@dataclass(frozen=True)
class Rank:
    """One device of one result, which is a folder or a file.

    `profile` is the identity: the path of the result below the given path, with the device where a result holds several.
    `rank_id` comes from the files; it can be None, and can occur twice. `first_device_id` is set where the result holds several
    devices. `source` is the name of the source that reads the `inputs`. `lacks` has pairs of a capability and the reason why it
    is missing; `missing` says what was not collected or not found. `unread` says which files should be read next to the
    `inputs` and cannot be. `modules_from` is the kind of marks of modules: mstx, nn.Module or replayed graphs. `left_out`
    says why the rank cannot be read. `run` is the name of its run, where there are several. `is_cut_off`: its trace ends too
    early, so that what it lacks may well have been recorded. `doubts` say what of its names, or of other ranks, its data
    contradict, and what the profiler logged. `metadata` has what the user added to the recording, as texts. `device_kind` is
    NPU or GPU where the source reads both, and the result says which.
    """

    profile: str
    folder: Path
    source: str | None = None
    inputs: tuple[Path, ...] = ()
    rank_id: int | None = None
    rank_id_from: str | None = None
    device_id: int | None = None
    first_device_id: int | None = None
    profiler_level: str | None = None
    files: tuple[str, ...] = ()
    lacks: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    modules_from: str | None = None
    left_out: str | None = None
    run: str = ""
    is_cut_off: bool = False
    doubts: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    device_kind: str | None = None

    def why_not(self, requires: tuple[Requirement, ...]) -> str | None:
        """Say which requirement the rank does not meet; None where it meets all."""
        return why_not(requires, dict(self.lacks))

    @property
    def why_untyped(self) -> str | None:
        """The reason why some kernels have no type; None without one."""
        return dict(self.lacks).get("kernel_types")


def number(value: object) -> int | None:
    """Return a rank or device id that is written as a number or as text; None where it is neither, or -1."""
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 10 else None


def readable(path: Path) -> str:
    """Return a path in UTF-8; bytes that are not UTF-8 are written as \\xff."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def json_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one where it cannot be read, since files next to the data are optional."""
    try:
        return read_object(file)
    except InputError:
        return {}


def read_object(file: Path) -> dict[str, Any]:
    """Return the object in a small JSON file. Raises InputError where it cannot be read or holds none."""
    try:
        return object_in(whole(file, SETTINGS_BYTES))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)})", path=file) from error
    except ValueError as error:
        raise InputError(f"{file}: {error}", path=file) from error


def object_in(text: bytes | str) -> dict[str, Any]:
    """Return the object that a JSON text holds. Raises ValueError, which says what it holds in place of one."""
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise ValueError("is no JSON that can be read (lists or objects in each other, too deep)") from error
    except ValueError as error:
        raise ValueError(f"is no JSON that can be read ({reason_of(error)})" if text else "is empty") from error
    if not isinstance(content, dict):
        raise ValueError("holds JSON, but no object")
    return content
