"""Finds the files about kernels of replayed graphs: annotations of kernels, and recordings of captures."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from prof_analysis.sources.kineto.annotations import found_annotations
from prof_analysis.sources.readers.trace_file import is_of_kineto

SUFFIXES = (".json", ".json.gz")
# The folders in which SGLang and vLLM record captures, beside the traces, and the beginnings of names of their files.
FOLDERS = ("graph_capture_profile", "capture_traces")
_CAPTURE = re.compile(r"(?:cuda_)?graph_capture[-_].*")
# Names of ranks in names of files: rank0_iter16.json, host-TP-3.trace.json.gz, worker_2.pt.trace.json.
RANK_IN_NAME = re.compile(r"(?i)(?:^|[^a-z])(?:rank|tp|worker)[-_.]?(\d{1,6})(?!\d)")


def is_capture(file: Path) -> bool:
    """Return whether a file is named as the recording of a capture, which is no rank of its own."""
    return _CAPTURE.fullmatch(file.name) is not None


def capture_folders(folder: Path, is_folder: Mapping[str, bool]) -> frozenset[str]:
    """Return the names of the folders beside other entries of a folder that hold recordings of captures."""
    named = [name for name in FOLDERS if is_folder.get(name) and len(is_folder) > 1]
    return frozenset(name for name in named if _traces_in(folder / name))


def companions_of(trace: Path, rank_id: int | None, given: str | Path | None) -> tuple[Path, ...]:
    """Return the files of annotations of a trace, and the recordings of captures: those given, else those found near it.

    Of several recordings with ranks in their names, those of the rank; without any of the rank, all, since ranks run one model.
    """
    captures = _captures_near(trace) if given is None else _traces_at(Path(os.path.abspath(given)))  # noqa: PTH100
    own = [one for one in captures if rank_id is not None and rank_id in map(int, RANK_IN_NAME.findall(one.name))]
    return (*found_annotations(trace, rank_id), *(one for one in own or captures if one != trace))


def _captures_near(trace: Path) -> Sequence[Path]:
    for folder in (trace.parent, trace.parent.parent):
        for name in FOLDERS:
            if folder.name not in FOLDERS and (found := _traces_in(folder / name)):
                return found
    return [one for one in _traces_in(trace.parent) if is_capture(one)]


def _traces_at(path: Path) -> Sequence[Path]:
    return _traces_in(path) if path.is_dir() else [path]


def _traces_in(folder: Path) -> list[Path]:
    try:
        return [one for one in sorted(folder.iterdir()) if one.name.endswith(SUFFIXES) and one.is_file() and is_of_kineto(one)]
    except OSError:
        return []
