"""Finds the folders in which torch_npu and msprof leave a result, in any format.

A result is a folder *_ascend_pt with FRAMEWORK and PROF_* as collected and ASCEND_PROFILER_OUTPUT as parsed; or the content of
one of these alone, in a folder of any name.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.common.errors import InputError
from prof_analysis.sources.ascend_beside import analysis_db, input_pipeline, logs, recorded, unread, user_metadata
from prof_analysis.sources.found import WRITTEN, Found
from prof_analysis.sources.rank import Rank, json_object, number, read_object, readable
from prof_analysis.sources.readers.trace_file import is_of_kineto

OUTPUT = "ASCEND_PROFILER_OUTPUT"
MSPROF_OUTPUT = "mindstudio_profiler_output"  # Folder that msprof writes in PROF_*, without torch_npu.
INNER_FOLDERS = (OUTPUT, MSPROF_OUTPUT)
_INNER = frozenset((OUTPUT, "FRAMEWORK", logs.FOLDER))
FOLDERS = ("a folder named *_ascend_pt", f"one that holds {OUTPUT}")
OF_MINDSPORE = "_ascend_ms"

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

# Files that msprof writes in place of trace_view.json and kernel_details.csv.
OF_MSPROF = (re.compile(r"msprof_.*\.json"), re.compile(r"op_summary_.*\.csv"))
_MOST_NAMES = 6
DEVICE = re.compile(r"device_(\d+)")
# Where msprof of 2023 and before put what it exported of a device.
_OF_DEVICE = ("timeline", "summary")
_PARTS = (
    recorded.COMMUNICATION,
    recorded.MATRIX,
    recorded.STEPS,
    recorded.KERNELS,
    recorded.CALLS,
    recorded.STATIC,
    *input_pipeline.FILES[:-1],
    analysis_db.DATABASE,
    OPERATOR_DETAILS,
    *MEMORY,
)
# The folders in which engines record captures of graphs, beside the results or one level above.
OF_CAPTURES = ("graph_capture_profile", "capture_traces")
_OF_RESULTS = (".json", ".json.gz", ".csv", ".db", "FRAMEWORK", *INNER_FOLDERS)


def find(folder: Path, is_folder: Mapping[str, bool]) -> Found:
    """Find out whether a folder is a result, by its name and the names in it."""
    if folder.name.startswith(WRITTEN):
        return Found(inner_folders=frozenset(is_folder))
    children = {name for name, is_one in is_folder.items() if is_one}
    if folder.name.startswith("PROF_") or (DEVICE.fullmatch(folder.name) and children.intersection(_OF_DEVICE)):
        return Found((folder,), frozenset(is_folder))
    has_prof = any(child.startswith("PROF_") for child in children)
    is_named = folder.name.endswith(("_ascend_pt", OF_MINDSPORE))
    holds_result = OUTPUT in children or ("FRAMEWORK" in children and has_prof)
    files = [folder / name for name in sorted(is_folder.keys() - children)]
    is_result = is_named or holds_result or any(map(_is_result, files))
    if not is_result and not any(unread.why_unread(file) for file in files):
        return Found(inner_folders=_INNER | capture_folders(is_folder))
    inner = {*_INNER, *(child for child in children if child.startswith("PROF_"))}
    # An archive unpacked into a folder of its own name makes an outer folder that holds a result and is not a result.
    holds_part = any(name.startswith("PROF_") or name.endswith(_OF_RESULTS) for name in is_folder)
    is_by_name_only = not (is_result and holds_part)
    return Found((folder,), frozenset(inner), is_by_name_only)


def capture_folders(is_folder: Mapping[str, bool]) -> frozenset[str]:
    """Return the names of the folders beside other entries of a folder that hold profiles of captures."""
    return frozenset(name for name in OF_CAPTURES if is_folder.get(name) and len(is_folder) > 1)


def _is_result(file: Path) -> bool:
    is_database = PROFILER_DB.fullmatch(file.name) or MSPROF_DB.fullmatch(file.name)
    is_part = file.name == KERNEL_DETAILS or recorded.role_of(file) in _PARTS or OF_MSPROF[1].fullmatch(file.name)
    is_trace = file.name in TRACES or OF_MSPROF[0].fullmatch(file.name)
    return bool(is_database or is_part or (is_trace and not is_of_kineto(file)))


def folder_of(result: Path) -> Path:
    """Return the folder of a result; for a single file, the result folder around it, also where it is in an output folder."""
    if result.is_dir():
        return result
    return result.parent.parent if result.parent.name in INNER_FOLDERS else result.parent


def bare_rank(result: Path, profile: str, config: Mapping[str, Any]) -> Rank:
    """Return the rank of a result, with the facts from the files next to its data."""
    folder = folder_of(result)
    files = [*files_in(folder), *files_in(folder / OUTPUT)] if result.is_dir() else [result]
    return Rank(
        profile,
        folder,
        profiler_level=config.get("level"),
        files=tuple(readable(Path(file.name)) for file in files),
        rank_id=config.get("rank_id"),
        rank_id_from=config.get("rank_id_from"),
        unread=tuple(_said_of_unread(_settings_in(folder))),
        doubts=logs.said_in(folder),
        metadata=user_metadata.in_files((folder, folder / OUTPUT)),
    )


def _settings_in(folder: Path) -> list[Path]:
    """Return the entries of a result that are named as files of settings, whatever they are."""
    found = [*(file for file in folder.iterdir() if PROFILER_INFO.fullmatch(file.name)), folder / recorded.METADATA]
    return sorted(file for file in (*found, folder / OUTPUT / recorded.METADATA) if os.path.lexists(file))


def _said_of_unread(files: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence about each file of settings that cannot be read."""
    for file in files:
        try:
            read_object(file)
        except InputError as error:
            yield f"{error}; copy it again"


def files_in(folder: Path) -> list[Path]:
    """Return the files of a folder in the order of their names; none where the folder does not exist."""
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def prof_folders(folder: Path) -> list[Path]:
    """Return the PROF_* folders of a result folder, or the folder itself if it is a PROF_* folder."""
    return [folder] if folder.name.startswith("PROF_") else sorted(folder.glob("PROF_*"))


def msprof_exports(folder: Path) -> dict[int | None, list[Path]]:
    """Return the files that msprof exported without torch_npu by device; None is the device where no folder names it."""
    found: dict[int | None, list[Path]] = {None: files_in(folder)}
    found[None] += [file for prof in prof_folders(folder) for file in files_in(prof / MSPROF_OUTPUT)]
    devices = [one for prof in prof_folders(folder) for one in sorted(prof.glob("device_*"))]
    for device in [folder, *devices]:
        if match := DEVICE.fullmatch(device.name):
            found.setdefault(int(match[1]), []).extend(file for name in _OF_DEVICE for file in files_in(device / name))
    return {device: files for device, files in found.items() if files}


def recorded_files(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Return the files with these names, which hold figures that the profiler computed itself."""
    files = [file for parent in (folder, folder / OUTPUT) for file in files_in(parent)]
    return [file for name in names for file in files if recorded.role_of(file) == name]


def listed(files: Sequence[Path]) -> str:
    """Return the names of files, of many only the first ones."""
    more = f" and {len(files) - _MOST_NAMES} more" if len(files) > _MOST_NAMES else ""
    return f"{', '.join(file.name for file in files[:_MOST_NAMES])}{more}"


def with_info_json(rank: Rank) -> Rank:
    """Add info.json of the device of a rank to its inputs, and take the rank id from it where no other file has one."""
    device = "*" if rank.device_id is None else rank.device_id
    files = [file for prof in prof_folders(rank.folder) for file in sorted(prof.glob(f"device_{device}/info.json.{device}"))]
    rank = replace(rank, inputs=(*rank.inputs, *files), unread=(*rank.unread, *_said_of_unread(files)))
    if rank.rank_id is not None:
        return rank
    numbered = [(found, file) for file in files if (found := number(json_object(file).get("rank_id"))) is not None]
    if len(numbered) != 1 and rank.device_id is None:
        return rank
    return next((replace(rank, rank_id=found, rank_id_from=file.name) for found, file in sorted(numbered)), rank)


def analyse(folder: Path) -> str:
    """Say how to parse a result that was collected."""
    tool = "mindspore" if folder.name.endswith(OF_MINDSPORE) else "torch_npu"
    return f"parse it with {tool}.profiler.profiler.analyse({str(folder)!r})"


def why_unparsed(folder: Path) -> str | None:
    """Say why a result folder holds no file to read in any format; None where it has an output folder."""
    if (folder / OUTPUT).is_dir():
        return None
    is_collected = (folder / "FRAMEWORK").is_dir() or bool(prof_folders(folder))
    said = next((said for file in files_in(folder) if (said := unread.why_unread(file))), None)
    exported = msprof_exports(folder).items()
    if said and not is_collected:
        return said
    if not is_collected and not any(kind.fullmatch(file.name) for _, files in exported for kind in OF_MSPROF for file in files):
        return f"{folder}: is empty: neither FRAMEWORK and PROF_* as collected, nor {OUTPUT} as parsed; collect it again"
    parsed = [
        file
        for device, files in exported
        for file in files
        if device is not None or file.parent != folder or any(kind.fullmatch(file.name) for kind in OF_MSPROF)
    ]
    host = [file for prof in prof_folders(folder) for name in _OF_DEVICE for file in files_in(prof / "host" / name)]
    if parsed:
        return (
            f"{parsed[0].parent}: holds files of msprof, but not exactly one op_summary_*.csv and one "
            f"msprof_*.json to read (slices, or several devices): {listed(parsed)}; give a single file with -d, or "
            f"{analyse(folder)}"
        )
    if host:
        return (
            f"{host[0].parent}: holds what msprof exported of the host alone: {listed(host)}; copy device_*/summary and "
            "device_*/timeline too"
        )
    return f"{folder}: collected but never parsed; {analyse(folder)}"
