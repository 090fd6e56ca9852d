"""Finds the results of ranks under a path: which folders, which files, which rank, and what they allow to answer."""

import json
import os
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from prof_analysis.database import quote_text
from prof_analysis.errors import InputError, reason_of
from prof_analysis.sources.ascend_db import KERNEL_TABLES, KNOWN_TABLES, gaps
from prof_analysis.sources.sqlite_file import SqliteFile, open_sqlite, query

MAX_DEPTH = 5  # as deep as msprof-analyze looks

_OUTPUT = "ASCEND_PROFILER_OUTPUT"
_PROFILER_DB = re.compile(r"ascend_(?:pytorch|mindspore)_profiler(?:_(\d+))?\.db")
_MSPROF_DB = re.compile(r"msprof_\d+\.db")
_PROFILER_INFO = re.compile(r"profiler_info(?:_(\d+))?\.json")
_ANALYSE = "parse it with torch_npu.profiler.profiler.analyse({folder!r})"


@dataclass(frozen=True)
class ModuleChoice:
    """What may mark the modules: mstx ranges of these domains, nn.Module rows of the Python tracer, or auto, what is there."""

    source: str = "auto"
    domains: tuple[str, ...] = ("Module",)


@dataclass(frozen=True)
class Rank:
    """One device of one result folder.

    `profile` is the identity: the folder below the path that was given, with the device where a folder holds several.
    `rank_id` is what the files say; it can be None, and can occur twice. `first_device_id` is set where the database
    holds several devices. `left_out` says why nothing can be read. `modules_from` says what marks
    the modules, mstx or nn.Module; `no_modules` why nothing does.
    """

    profile: str
    folder: Path
    database: Path | None = None
    rank_id: int | None = None
    rank_id_from: str | None = None
    device_id: int | None = None
    first_device_id: int | None = None
    profiler_level: str | None = None
    files: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    modules_from: str | None = None
    no_modules: str | None = None
    left_out: str | None = None


def find_ranks(path: Path, modules: ModuleChoice = ModuleChoice()) -> list[Rank]:
    """Find all ranks at or below a path, to a depth of 5, ordered by rank id, then by folder.

    Raises InputError when the path is no folder or holds no result of a profiler.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such folder")
    if not path.is_dir():
        raise InputError(f"{path}: is a file; give the folder that holds it")
    root = root_of(path)
    ranks = [rank for folder in _result_folders(root, MAX_DEPTH, set()) for rank in _inspect(folder, root, modules)]
    if not ranks:
        raise InputError(
            f"{path}: no profiling result here or in its sub-folders (depth {MAX_DEPTH}); "
            f"a result is a folder named *_ascend_pt or one that holds {_OUTPUT}"
        )
    return sorted(ranks, key=lambda rank: (rank.rank_id is None, rank.rank_id or 0, rank.profile))


def root_of(path: Path) -> Path:
    """The folder that is meant by a path: a result folder where its output folder was given."""
    full = Path(os.path.abspath(path))  # noqa: PTH100  (links stay as the user named them)
    return full.parent if full.name == _OUTPUT else full


def _result_folders(folder: Path, depth: int, seen: set[str]) -> Iterator[Path]:
    """The result folders at and below a folder, each once, whatever links lead to it; and folders that cannot be read."""
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    try:
        children = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        yield folder
        return
    is_prof = folder.name.startswith("PROF_")
    was_collected = "FRAMEWORK" in children and any(child.startswith("PROF_") for child in children)
    is_result = _OUTPUT in children or was_collected or folder.name.endswith(("_ascend_pt", "_ascend_ms"))
    if is_result or is_prof:
        yield folder
    for child in children if depth and not is_prof else ():
        if child not in (_OUTPUT, "FRAMEWORK", "logs") and not (is_result and child.startswith("PROF_")):
            yield from _result_folders(folder / child, depth - 1, seen)


def _inspect(folder: Path, root: Path, modules: ModuleChoice) -> Iterator[Rank]:
    profile = folder.name if folder == root else folder.relative_to(root).as_posix()
    output = folder / _OUTPUT
    try:
        os.scandir(folder).close()
    except OSError as error:
        yield Rank(profile, folder, left_out=f"{folder}: cannot be read ({reason_of(error)})")
        return
    config = _profiler_config(folder)
    bare = Rank(profile, folder, profiler_level=config.get("level"), files=_file_names(folder), rank_id=config.get("rank_id"),
                rank_id_from=config.get("rank_id_from"))  # fmt: skip
    databases = _databases(folder)
    if not databases:
        yield replace(bare, left_out=_why_no_database(folder, output))
    for database in databases:
        one = bare if len(databases) == 1 else replace(bare, profile=f"{profile}/{database.name}")
        yield from _inspect_database(replace(one, database=database), database, config, modules)


def _inspect_database(rank: Rank, database: Path, config: dict[str, Any], modules: ModuleChoice) -> Iterator[Rank]:
    if (match := _PROFILER_DB.fullmatch(database.name)) and (number := _number(match[1])) is not None:
        rank = replace(rank, rank_id=number, rank_id_from=database.name)
    try:
        with open_sqlite(database, KNOWN_TABLES) as file:
            ranks_of_devices = _ranks_of_devices(file)
            if not file.tables:
                raise InputError(f"{database}: holds no table of the profiler; parse the profile again")
            modules_from = _modules_from(file, modules)
            no_modules = None if modules_from else _why_no_modules(file, config, modules)
            missing = tuple(_missing(file.tables, config, no_modules))
            answers = _answers(file.tables, no_modules)
    except InputError as error:
        yield replace(rank, left_out=str(error))
        return
    has_several = len(ranks_of_devices) > 1
    first = min((device for device in ranks_of_devices if device is not None), default=None)
    for device, mapped_rank in ranks_of_devices.items():
        found = replace(
            rank, device_id=device, answers=answers, missing=missing, no_modules=no_modules, modules_from=modules_from
        )
        if has_several:
            found = replace(found, profile=f"{rank.profile}/device_{device}", first_device_id=first)
        if mapped_rank is not None and (has_several or found.rank_id is None):
            found = replace(found, rank_id=mapped_rank, rank_id_from="RANK_DEVICE_MAP")
        if found.rank_id is None:
            found = _with_rank_of_info_json(found)
        yield found


def _databases(folder: Path) -> list[Path]:
    """The profiler databases of a folder; where torch_npu has not parsed it, those that msprof left in PROF_*."""
    in_output = [file for file in _files(folder / _OUTPUT) if _PROFILER_DB.fullmatch(file.name)]
    if in_output:
        return in_output
    places = [place for prof in _prof_folders(folder) for place in (prof, prof / "mindstudio_profiler_output")]
    return [file for place in places for file in _files(place) if _MSPROF_DB.fullmatch(file.name)]


def _prof_folders(folder: Path) -> list[Path]:
    return [folder] if folder.name.startswith("PROF_") else sorted(folder.glob("PROF_*"))


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def _file_names(folder: Path) -> tuple[str, ...]:
    return tuple(file.name for file in [*_files(folder), *_files(folder / _OUTPUT)])


def _why_no_database(folder: Path, output: Path) -> str:
    if not output.is_dir() and not (folder / "FRAMEWORK").is_dir() and not _prof_folders(folder):
        return f"{folder}: is empty: neither FRAMEWORK and PROF_* as collected, nor {_OUTPUT} as parsed; collect it again"
    if not output.is_dir():
        return f"{folder}: collected but never parsed; {_ANALYSE.format(folder=str(folder))}"
    if any(file.suffix in (".csv", ".json") for file in _files(output)):
        return f"{output}: holds text exports but no profiler database; export it with export_type ExportType.Db"
    return f"{output}: holds no profiler database; {_ANALYSE.format(folder=str(folder))} and look into logs/"


def _profiler_config(folder: Path) -> dict[str, Any]:
    """What profiler_info*.json says, in one flat shape; what it does not say is None."""
    file, match = next(((f, m) for f in _files(folder) if (m := _PROFILER_INFO.fullmatch(f.name))), (None, None))
    if file is None or match is None:
        return {}
    info = _json_object(file)
    config = _object(info, "config")
    common, experimental = _object(config, "common_config"), _object(config, "experimental_config")
    rank_id = _number(match[1] or info.get("rank_id"))
    return {
        "rank_id": rank_id,
        "rank_id_from": None if rank_id is None else file.name,
        "level": level if isinstance(level := experimental.get("_profiler_level"), str) else None,
        "activities": _list(common, "activities"),
        "record_shapes": common.get("record_shapes"),
        "mstx": experimental.get("_mstx", experimental.get("_msprof_tx")),
        "domain_include": _list(experimental, "_mstx_domain_include"),
        "domain_exclude": _list(experimental, "_mstx_domain_exclude"),
    }


def _json_object(file: Path) -> dict[str, Any]:
    """The object in a JSON file; an empty one where a file beside the data cannot be read, which must not stop anything."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _object(parent: dict[str, Any], key: str) -> dict[str, Any]:
    child = parent.get(key)
    return child if isinstance(child, dict) else {}


def _list(parent: dict[str, Any], key: str) -> list[Any]:
    child = parent.get(key)
    return child if isinstance(child, list) else []


def _number(value: object) -> int | None:
    """A rank or device id: text when it comes from the environment, a number when it comes from the writers; -1 is none."""
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _ranks_of_devices(file: SqliteFile) -> dict[int | None, int | None]:
    """The devices of a database and their ranks, as far as the file knows them; one unknown device at least."""
    columns = file.tables.get("RANK_DEVICE_MAP", {})
    mapped: dict[int | None, int | None] = {}
    rank, device = ("rankId", "deviceId") if "rankId" in columns else ("rank_id", "device_id")
    if {rank, device} <= columns.keys():
        for row in query(file, f"SELECT {rank}, {device} FROM RANK_DEVICE_MAP"):
            if (number := _number(row[1])) is not None:
                mapped[number] = _number(row[0])
    if "NPU_INFO" in file.tables:
        for row in query(file, "SELECT id FROM NPU_INFO"):
            if (number := _number(row[0])) is not None:
                mapped.setdefault(number, None)
    if len(mapped) > 1 and "deviceId" in file.tables.get("TASK", {}):
        rows = query(file, "SELECT DISTINCT deviceId FROM TASK")
        seen = sorted(number for row in rows if (number := _number(row[0])) is not None)
        mapped = {device: mapped.get(device) for device in seen} or mapped
    return mapped or {None: None}


def _with_rank_of_info_json(rank: Rank) -> Rank:
    device = "*" if rank.device_id is None else rank.device_id
    files = [file for prof in _prof_folders(rank.folder) for file in prof.glob(f"device_{device}/info.json.{device}")]
    numbered = [(number, file) for file in files if (number := _number(_json_object(file).get("rank_id"))) is not None]
    if len(numbered) != 1 and rank.device_id is None:
        return rank
    return next((replace(rank, rank_id=number, rank_id_from=file.name) for number, file in sorted(numbered)), rank)


def _answers(tables: Container[str], no_modules: str | None) -> tuple[str, ...]:
    found = {
        "kernels": any(table in tables for table in KERNEL_TABLES),
        "ops": "PYTORCH_API" in tables,
        "module-stats": no_modules is None,
    }
    return tuple(question for question, can_answer in found.items() if can_answer)


def _missing(tables: Container[str], config: dict[str, Any], no_modules: str | None) -> Iterator[str]:
    """What the rank cannot answer, and which collection switch would have made it."""
    yield from gaps(tables)
    activities = config.get("activities")
    for activity in ("ProfilerActivity.CPU", "ProfilerActivity.NPU"):
        if activities and activity not in activities:
            yield f"{activity} was off"
    if no_modules and no_modules not in gaps(tables):
        yield no_modules
    if config.get("level") in ("Level0", "Level_none"):
        yield f"no kernel types and shapes: profiler_level was {config['level']}, Level1 has them"
    if config.get("record_shapes") is False:
        yield "no op shapes: record_shapes was off"


def _modules_from(file: SqliteFile, modules: ModuleChoice) -> str | None:
    """What marks the modules of a database; None where nothing does, or where what else module-stats needs is missing."""
    if gaps(file.tables) or "value" not in file.tables["STRING_IDS"]:
        return None
    domains = ", ".join(quote_text(domain) for domain in modules.domains)
    marked = (
        "SELECT 1 FROM MSTX_EVENTS WHERE eventType = 2"
        f" AND domainId IN (SELECT id FROM STRING_IDS WHERE value IN ({domains})) LIMIT 1"
    )
    if modules.source != "nn.Module" and "MSTX_EVENTS" in file.tables and query(file, marked):
        return "mstx"
    traced = "SELECT 1 FROM STRING_IDS WHERE value GLOB 'nn.Module: *' LIMIT 1"
    return "nn.Module" if modules.source != "mstx" and query(file, traced) else None


def _why_no_modules(file: SqliteFile, config: dict[str, Any], modules: ModuleChoice) -> str:
    if found := gaps(file.tables):
        return found[0]
    domain = " or ".join(modules.domains)
    reason = f"no module ranges; mark the modules with mstx ranges in the domain {domain} and collect with mstx=True"
    if modules.source != "mstx":
        reason += ", or collect with with_modules=True"
    include, exclude = config.get("domain_include"), config.get("domain_exclude", [])
    if set(modules.domains) & set(exclude) or (include and not set(modules.domains) & set(include)):
        return f"{reason} (here the mstx domain filter left out the domain {domain})"
    return f"{reason} (here mstx was off)" if config.get("mstx") is False else reason
