"""Finds the results of ranks under a path: which folders, which files, which rank, and what they allow to answer."""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prof_analysis.errors import InputError
from prof_analysis.sources.ascend_db import gaps
from prof_analysis.sources.sqlite_file import SqliteFile, open_sqlite, query

MAX_DEPTH = 5  # as deep as msprof-analyze looks

_OUTPUT = "ASCEND_PROFILER_OUTPUT"
_PROFILER_DB = re.compile(r"ascend_(?:pytorch|mindspore)_profiler(?:_(\d+))?\.db")
_MSPROF_DB = re.compile(r"msprof_\d+\.db")
_PROFILER_INFO = re.compile(r"profiler_info(?:_(\d+))?\.json")
_ANALYSE = "parse it with torch_npu.profiler.profiler.analyse({folder!r})"


@dataclass(frozen=True)
class Rank:
    """One device of one result folder.

    `profile` is the identity: the folder below the path that was given, with the device where a folder holds several.
    `rank_id` is what the files say; it can be None, and can occur twice. `device_filter` is set where the database
    holds other devices too. `left_out` says why nothing can be read.
    """

    profile: str
    folder: Path
    database: Path | None = None
    rank_id: int | None = None
    rank_id_from: str | None = None
    device_id: int | None = None
    device_filter: int | None = None
    profiler_level: str | None = None
    files: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    left_out: str | None = None


def find_ranks(path: Path) -> list[Rank]:
    """Find all ranks at or below a path, to a depth of 5, ordered by rank id, then by folder.

    Raises InputError when the path is no folder or holds no result of a profiler.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such folder")
    if not path.is_dir():
        raise InputError(f"{path}: is a file; give the folder that holds it")
    if path.name == _OUTPUT:
        path = path.parent
    folders = list(_result_folders(path.absolute(), MAX_DEPTH))
    if not folders:
        raise InputError(
            f"{path}: no profiling result here or in its sub-folders (depth {MAX_DEPTH}); "
            f"a result is a folder named *_ascend_pt or one that holds {_OUTPUT}"
        )
    ranks = [rank for folder in folders for rank in _inspect(folder, path.absolute())]
    return sorted(ranks, key=lambda rank: (rank.rank_id is None, rank.rank_id or 0, rank.profile))


def _result_folders(folder: Path, depth: int) -> Iterator[Path]:
    try:
        children = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from error
    is_result = (
        _OUTPUT in children
        or folder.name.endswith(("_ascend_pt", "_ascend_ms"))
        or any(child.startswith("PROF_") for child in children)
        or folder.name.startswith("PROF_")
    )
    if is_result:
        yield folder
    elif depth:
        for child in children:
            yield from _result_folders(folder / child, depth - 1)


def _inspect(folder: Path, root: Path) -> Iterator[Rank]:
    profile = folder.name if folder == root else folder.relative_to(root).as_posix()
    output = folder / _OUTPUT
    config = _profiler_config(folder)
    bare = Rank(profile, folder, profiler_level=config.get("level"), files=_file_names(folder), rank_id=config.get("rank_id"),
                rank_id_from=config.get("rank_id_from"))  # fmt: skip
    databases = _databases(folder)
    if not databases:
        yield replace(bare, left_out=_why_no_database(folder, output))
    for database in databases:
        one = bare if len(databases) == 1 else replace(bare, profile=f"{profile}/{database.name}")
        yield from _inspect_database(replace(one, database=database), database, config)


def _inspect_database(rank: Rank, database: Path, config: dict[str, Any]) -> Iterator[Rank]:
    if (match := _PROFILER_DB.fullmatch(database.name)) and match[1]:
        rank = replace(rank, rank_id=int(match[1]), rank_id_from=database.name)
    try:
        with open_sqlite(database) as file:
            ranks_of_devices = _ranks_of_devices(file)
            missing = (*gaps(file.tables), *_switched_off(file, config))
            answers = _answers(file)
    except InputError as error:
        yield replace(rank, left_out=str(error))
        return
    for device, mapped_rank in ranks_of_devices.items():
        found = replace(rank, device_id=device, answers=answers, missing=missing)
        if len(ranks_of_devices) > 1:
            found = replace(found, profile=f"{rank.profile}/device_{device}", device_filter=device)
        if found.rank_id is None and mapped_rank is not None:
            found = replace(found, rank_id=mapped_rank, rank_id_from="RANK_DEVICE_MAP")
        if found.rank_id is None:
            found = _with_rank_of_info_json(found)
        yield found


def _databases(folder: Path) -> list[Path]:
    """The profiler databases of a folder; where torch_npu has not parsed it, those that msprof left in PROF_*."""
    in_output = [file for file in _files(folder / _OUTPUT) if _PROFILER_DB.fullmatch(file.name)]
    if in_output:
        return in_output
    prof_folders = [folder] if folder.name.startswith("PROF_") else sorted(folder.glob("PROF_*"))
    places = [place for prof in prof_folders for place in (prof, prof / "mindstudio_profiler_output")]
    return [file for place in places for file in _files(place) if _MSPROF_DB.fullmatch(file.name)]


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def _file_names(folder: Path) -> tuple[str, ...]:
    return tuple(file.name for file in [*_files(folder), *_files(folder / _OUTPUT)])


def _why_no_database(folder: Path, output: Path) -> str:
    if not output.is_dir():
        return f"{folder}: collected but never parsed; {_ANALYSE.format(folder=str(folder))}"
    if any(file.suffix in (".csv", ".json") for file in _files(output)):
        return f"{output}: holds text exports but no profiler database; export it with export_type ExportType.Db"
    return f"{output}: holds no profiler database; {_ANALYSE.format(folder=str(folder))} and look into logs/"


def _profiler_config(folder: Path) -> dict[str, Any]:
    """What profiler_info*.json says, in one flat shape; empty when there is none or it cannot be read."""
    for file in _files(folder):
        if match := _PROFILER_INFO.fullmatch(file.name):
            try:
                info = json.loads(file.read_text(encoding="utf-8"))
                common, experimental = info["config"]["common_config"], info["config"]["experimental_config"]
                rank_id, rank_id_from = (
                    (int(match[1]), file.name) if match[1] else (_rank_number(info.get("rank_id")), file.name)
                )
                return {
                    "rank_id": rank_id,
                    "rank_id_from": rank_id_from if rank_id is not None else None,
                    "level": experimental.get("_profiler_level"),
                    "activities": common.get("activities"),
                    "record_shapes": common.get("record_shapes"),
                    "mstx": experimental.get("_mstx", experimental.get("_msprof_tx")),
                    "domain_include": experimental.get("_mstx_domain_include") or [],
                    "domain_exclude": experimental.get("_mstx_domain_exclude") or [],
                }
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                continue
    return {}


def _rank_number(value: object) -> int | None:
    """A rank id is text when it comes from the environment, a number when it comes from torch.distributed; -1 is none."""
    text = str(value)
    return int(text) if text.isdecimal() else None


def _ranks_of_devices(file: SqliteFile) -> dict[int | None, int | None]:
    """The devices of a database and their ranks, as far as the file knows them; one unknown device at least."""
    columns = file.tables.get("RANK_DEVICE_MAP", {})
    mapped: dict[int | None, int | None] = {}
    if columns:
        rank, device = ("rankId", "deviceId") if "rankId" in columns else ("rank_id", "device_id")
        mapped = {
            int(str(row[1])): _rank_number(row[0]) for row in query(file, f"SELECT {rank}, {device} FROM RANK_DEVICE_MAP")
        }
    if "NPU_INFO" in file.tables:
        for row in query(file, "SELECT id FROM NPU_INFO WHERE id >= 0"):
            mapped.setdefault(int(str(row[0])), None)
    if len(mapped) > 1 and "TASK" in file.tables:
        seen = {row[0] for row in query(file, "SELECT DISTINCT deviceId FROM TASK")}
        mapped = {device: rank for device, rank in mapped.items() if device in seen} or mapped
    return mapped or {None: None}


def _with_rank_of_info_json(rank: Rank) -> Rank:
    for file in sorted(rank.folder.glob(f"PROF_*/device_{rank.device_id}/info.json.{rank.device_id}")):
        try:
            rank_id = _rank_number(json.loads(file.read_text(encoding="utf-8")).get("rank_id"))
        except (OSError, ValueError, AttributeError):
            continue
        if rank_id is not None:
            return replace(rank, rank_id=rank_id, rank_id_from=file.name)
    return rank


def _answers(file: SqliteFile) -> tuple[str, ...]:
    kernels = bool(file.tables.keys() & {"COMPUTE_TASK_INFO", "COMMUNICATION_OP"})
    ops = "PYTORCH_API" in file.tables
    modules = kernels and ops and "CONNECTION_IDS" in file.tables and _has_module_ranges(file)
    found = {"kernels": kernels, "ops": ops, "module-stats": modules}
    return tuple(name for name, holds in found.items() if holds)


def _has_module_ranges(file: SqliteFile) -> bool:
    return {"MSTX_EVENTS", "STRING_IDS"} <= file.tables.keys() and bool(
        query(
            file,
            "SELECT 1 FROM MSTX_EVENTS WHERE eventType = 2"
            " AND domainId IN (SELECT id FROM STRING_IDS WHERE value = 'Module') LIMIT 1",
        )
    )


def _switched_off(file: SqliteFile, config: dict[str, Any]) -> Iterator[str]:
    """The collection switches that were off and that a question would need."""
    activities = config.get("activities")
    if activities and "ProfilerActivity.CPU" not in activities:
        yield "no ops and no modules: ProfilerActivity.CPU was off"
    if activities and "ProfilerActivity.NPU" not in activities:
        yield "no kernels: ProfilerActivity.NPU was off"
    if not _has_module_ranges(file):
        yield f"no modules: {_why_no_modules(config)}"
    if config.get("level") in ("Level0", "Level_none"):
        yield f"no kernel types and shapes: profiler_level was {config['level']}, Level1 has them"
    if config.get("record_shapes") is False:
        yield "no op shapes: record_shapes was off"


def _why_no_modules(config: dict[str, Any]) -> str:
    if "Module" in config.get("domain_exclude", []) or (
        config.get("domain_include") and "Module" not in config["domain_include"]
    ):
        return "the mstx domain filter kept out the domain Module"
    if config.get("mstx") is False:
        return (
            "mstx was off (mstx=True in experimental_config), and modules must be marked with mstx ranges in the domain Module"
        )
    return "no mstx ranges in the domain Module; mark modules with mstx ranges and collect with mstx=True"
