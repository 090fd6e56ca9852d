"""Knows the folders in which torch_npu and msprof leave a result, whatever format it is written in.

A result is a folder *_ascend_pt with FRAMEWORK and PROF_* as collected and ASCEND_PROFILER_OUTPUT as parsed; or the content of
one of these by itself, in a folder of any name.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.sources.ascend_beside import recorded
from prof_analysis.sources.found import Found
from prof_analysis.sources.rank import Rank, json_object, number, readable

OUTPUT = "ASCEND_PROFILER_OUTPUT"
MSPROF_OUTPUT = "mindstudio_profiler_output"  # what msprof writes below a PROF_*, where torch_npu did not
INNER_FOLDERS = (OUTPUT, MSPROF_OUTPUT)
_INNER = frozenset((OUTPUT, "FRAMEWORK", "logs"))
FOLDERS = ("a folder named *_ascend_pt", f"one that holds {OUTPUT}")
ANALYSE = "parse it with torch_npu.profiler.profiler.analyse({folder!r})"

PROFILER_DB = re.compile(r"ascend_(?:pytorch|mindspore)_profiler(?:_(\d+))?\.db")
MSPROF_DB = re.compile(r"msprof_\d+\.db")
PROFILER_INFO = re.compile(r"profiler_info(?:_(\d+))?\.json")
TRACES = ("trace_view.json", "trace_view.json.gz")
KERNEL_DETAILS = "kernel_details.csv"
OPERATOR_DETAILS = "operator_details.csv"
TEXTS = (*TRACES, KERNEL_DETAILS, recorded.COMMUNICATION, OPERATOR_DETAILS)

_OF_RESULTS = (".json", ".json.gz", ".csv", ".db", "FRAMEWORK", *INNER_FOLDERS)


def find(folder: Path, is_folder: Mapping[str, bool]) -> Found:
    """Find the result that a folder is, by its name and the names in it."""
    if folder.name.startswith("PROF_"):
        return Found((folder,), frozenset(is_folder))
    children = {name for name, is_one in is_folder.items() if is_one}
    has_prof = any(child.startswith("PROF_") for child in children)
    is_named = folder.name.endswith(("_ascend_pt", "_ascend_ms"))
    holds_result = OUTPUT in children or ("FRAMEWORK" in children and has_prof)
    if not (is_named or holds_result or any(_is_result(name) for name in is_folder.keys() - children)):
        return Found(inner_folders=_INNER)
    inner = {*_INNER, *(child for child in children if child.startswith("PROF_"))}
    # An archive that is unpacked into a folder of its own name makes one that holds a result and is none.
    is_by_name_only = not any(name.startswith("PROF_") or name.endswith(_OF_RESULTS) for name in is_folder)
    return Found((folder,), frozenset(inner), is_by_name_only)


def _is_result(name: str) -> bool:
    is_database = PROFILER_DB.fullmatch(name) or MSPROF_DB.fullmatch(name)
    return bool(is_database) or name in (*TRACES, KERNEL_DETAILS)


def folder_of(result: Path) -> Path:
    """Give the folder of a result: itself, or that of a single file, be it in the output folder or not."""
    if result.is_dir():
        return result
    return result.parent.parent if result.parent.name in INNER_FOLDERS else result.parent


def bare_rank(result: Path, profile: str, config: Mapping[str, Any]) -> Rank:
    """Give the rank of a result as far as the files beside its data say."""
    folder = folder_of(result)
    files = [*files_in(folder), *files_in(folder / OUTPUT)] if result.is_dir() else [result]
    return Rank(
        profile,
        folder,
        profiler_level=config.get("level"),
        files=tuple(readable(Path(file.name)) for file in files),
        rank_id=config.get("rank_id"),
        rank_id_from=config.get("rank_id_from"),
    )


def files_in(folder: Path) -> list[Path]:
    """Give the files of a folder in the order of their names; none where there is no folder."""
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def prof_folders(folder: Path) -> list[Path]:
    """Give the PROF_* folders of a result folder, or the folder itself if it is one."""
    return [folder] if folder.name.startswith("PROF_") else sorted(folder.glob("PROF_*"))


def recorded_files(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Give the files of these names, in which the profiler itself says what it worked out."""
    return [file for name in names for place in (folder, folder / OUTPUT) if (file := place / name).is_file()]


def with_info_json(rank: Rank) -> Rank:
    """Add info.json of its device to the inputs of a rank; it gives the rank id where no other file does."""
    device = "*" if rank.device_id is None else rank.device_id
    files = [file for prof in prof_folders(rank.folder) for file in sorted(prof.glob(f"device_{device}/info.json.{device}"))]
    rank = replace(rank, inputs=(*rank.inputs, *files))
    if rank.rank_id is not None:
        return rank
    numbered = [(found, file) for file in files if (found := number(json_object(file).get("rank_id"))) is not None]
    if len(numbered) != 1 and rank.device_id is None:
        return rank
    return next((replace(rank, rank_id=found, rank_id_from=file.name) for found, file in sorted(numbered)), rank)


def why_unparsed(folder: Path) -> str | None:
    """Say why a result folder holds nothing to read in any format; None where it has an output folder."""
    if (folder / OUTPUT).is_dir():
        return None
    if not (folder / "FRAMEWORK").is_dir() and not prof_folders(folder):
        return f"{folder}: is empty: neither FRAMEWORK and PROF_* as collected, nor {OUTPUT} as parsed; collect it again"
    parsed = [file for prof in prof_folders(folder) for file in files_in(prof / MSPROF_OUTPUT)]
    if parsed:
        return (
            f"{parsed[0].parent}: holds {len(parsed)} files of msprof, and not one op_summary_*.csv and one msprof_*.json to "
            f"read (slices, or several devices); give a single file with -d, or {ANALYSE.format(folder=str(folder))}"
        )
    return f"{folder}: collected but never parsed; {ANALYSE.format(folder=str(folder))}"
