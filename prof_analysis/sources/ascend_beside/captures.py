"""Finds the profiles of captures of graphs beside a result, or where the user says."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from prof_analysis.sources.ascend_beside.folders import OF_CAPTURES, PROFILER_DB, TRACES, folder_of
from prof_analysis.sources.rank import number

# A folder, the results in it, and what torch_npu writes into a result.
_DEPTH = 4


def captures_of(result: Path, rank_id: int | None, given: str | Path | None, *, of_text: bool) -> tuple[Path, ...]:
    """Return the databases, or the traces of text exports, of the captures of a result: those given, else those near it.

    Of several databases those of the rank; without any of the rank, all, since ranks run one model.
    """
    if given is not None:
        found = list(_profiles_in(Path(os.path.abspath(given)), of_text))  # noqa: PTH100
    else:
        folders = (parent / name for parent in (result.parent, result.parent.parent) for name in OF_CAPTURES)
        found = next((some for folder in folders if (some := list(_profiles_in(folder, of_text)))), [])
    found = [one for one in found if folder_of(one) != result]
    own = [one for one in found if (match := PROFILER_DB.fullmatch(one.name)) and number(match[1]) == rank_id is not None]
    return tuple(own or found)


def is_of_capture(file: Path, first: Path) -> bool:
    """Return whether a file among the inputs of a rank, of which this is the first, is the profile of a capture."""
    is_profile = PROFILER_DB.fullmatch(file.name) is not None or file.name in TRACES
    return is_profile and folder_of(file) != folder_of(first)


def _profiles_in(path: Path, of_text: bool, depth: int = _DEPTH) -> Iterator[Path]:
    try:
        entries = sorted(path.iterdir()) if path.is_dir() else [path]
    except OSError:
        return
    for entry in entries:
        if entry.is_file() and (entry.name in TRACES if of_text else PROFILER_DB.fullmatch(entry.name)):
            yield entry
        elif entry.is_dir() and depth and not re.match(r"PROF_|FRAMEWORK|logs", entry.name):
            yield from _profiles_in(entry, of_text, depth - 1)
