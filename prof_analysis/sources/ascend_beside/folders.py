"""Finds the folders in which torch_npu and msprof leave a result, in any format.

A result is a folder *_ascend_pt with FRAMEWORK and PROF_* as collected and ASCEND_PROFILER_OUTPUT as parsed; or the content of
one of these alone, in a folder of any name.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.sources.ascend_beside import recorded
from prof_analysis.sources.found import Found
from prof_analysis.sources.rank import Rank, json_object, number, readable
from prof_analysis.sources.readers.trace_file import is_of_kineto

OUTPUT = "ASCEND_PROFILER_OUTPUT"
MSPROF_OUTPUT = "mindstudio_profiler_output"  # Folder that msprof writes in PROF_*, without torch_npu.
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
OPERATOR_MEMORY = "operator_memory.csv"
MEMORY_RECORD = "memory_record.csv"
MODULE_MEMORY = "npu_module_mem.csv"
MEMORY = (OPERATOR_MEMORY, MEMORY_RECORD, MODULE_MEMORY)
TEXTS = (*TRACES, KERNEL_DETAILS, recorded.COMMUNICATION, OPERATOR_DETAILS)

_OF_RESULTS = (".json", ".json.gz", ".csv", ".db", "FRAMEWORK", *INNER_FOLDERS)


def find(folder: Path, is_folder: Mapping[str, bool]) -> Found:
    """Find out whether a folder is a result, by its name and the names in it."""
    if folder.name.startswith("PROF_"):
        return Found((folder,), frozenset(is_folder))
    children = {name for name, is_one in is_folder.items() if is_one}
    has_prof = any(child.startswith("PROF_") for child in children)
    is_named = folder.name.endswith(("_ascend_pt", "_ascend_ms"))
    holds_result = OUTPUT in children or ("FRAMEWORK" in children and has_prof)
    if not (is_named or holds_result or any(_is_result(folder / name) for name in is_folder.keys() - children)):
        return Found(inner_folders=_INNER)
    inner = {*_INNER, *(child for child in children if child.startswith("PROF_"))}
    # An archive unpacked into a folder of its own name makes an outer folder that holds a result and is not a result.
    is_by_name_only = not any(name.startswith("PROF_") or name.endswith(_OF_RESULTS) for name in is_folder)
    return Found((folder,), frozenset(inner), is_by_name_only)


def _is_result(file: Path) -> bool:
    is_database = PROFILER_DB.fullmatch(file.name) or MSPROF_DB.fullmatch(file.name)
    return bool(is_database) or file.name == KERNEL_DETAILS or (file.name in TRACES and not is_of_kineto(file))


def folder_of(result: Path) -> Path:
    """Return the folder of a result; for a single file, the result folder around it, also where it is in an output folder."""
    if result.is_dir():
        return result
    return result.parent.parent if result.parent.name in INNER_FOLDERS else result.parent


def bare_rank(result: Path, profile: str, config: Mapping[str, Any]) -> Rank:
    """Return the rank of a result, with what the files next to its data say."""
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
    """Return the files of a folder in the order of their names; none where the folder does not exist."""
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def prof_folders(folder: Path) -> list[Path]:
    """Return the PROF_* folders of a result folder, or the folder itself if it is a PROF_* folder."""
    return [folder] if folder.name.startswith("PROF_") else sorted(folder.glob("PROF_*"))


def recorded_files(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Return the files with these names, which hold figures that the profiler computed itself."""
    return [file for name in names for parent in (folder, folder / OUTPUT) if (file := parent / name).is_file()]


def with_info_json(rank: Rank) -> Rank:
    """Add info.json of the device of a rank to its inputs, and take the rank id from it where no other file has one."""
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
    """Say why a result folder holds no file to read in any format; None where it has an output folder."""
    if (folder / OUTPUT).is_dir():
        return None
    if not (folder / "FRAMEWORK").is_dir() and not prof_folders(folder):
        return f"{folder}: is empty: neither FRAMEWORK and PROF_* as collected, nor {OUTPUT} as parsed; collect it again"
    parsed = [file for prof in prof_folders(folder) for file in files_in(prof / MSPROF_OUTPUT)]
    if parsed:
        return (
            f"{parsed[0].parent}: holds files of msprof, but not exactly one op_summary_*.csv and one "
            "msprof_*.json to read (slices, or several devices); give a single file with -d, or "
            f"{ANALYSE.format(folder=str(folder))}"
        )
    return f"{folder}: collected but never parsed; {ANALYSE.format(folder=str(folder))}"
