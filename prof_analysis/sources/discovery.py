"""Finds the results of ranks under a path: which folders, which files, which rank, and which source serves it."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.errors import InputError, reason_of
from prof_analysis.sources.ascend_beside import recorded
from prof_analysis.sources.ascend_db.inspection import prof_folders, ranks_of_database
from prof_analysis.sources.ascend_text.inspection import rank_of_text
from prof_analysis.sources.ascend_text.staging import COMMUNICATION, OPERATOR_DETAILS
from prof_analysis.sources.rank import AUTO, ModuleChoice, Rank, json_object, number, readable

MAX_DEPTH = 5  # as deep as msprof-analyze looks

_OUTPUT = "ASCEND_PROFILER_OUTPUT"
_PROFILER_DB = re.compile(r"ascend_(?:pytorch|mindspore)_profiler(?:_(\d+))?\.db")
_MSPROF_DB = re.compile(r"msprof_\d+\.db")
_PROFILER_INFO = re.compile(r"profiler_info(?:_(\d+))?\.json")
_TRACES = ("trace_view.json", "trace_view.json.gz")
_KERNEL_DETAILS = "kernel_details.csv"
# Texts besides the trace and kernel_details.csv, and what says the same as some of them.
_OTHER_TEXTS = re.compile(
    r"(op_statistic|api_statistic|operator_details|step_trace_time)\.csv|communication(_matrix)?\.json|analysis\.db"
)
# What msprof writes in place of kernel_details.csv and trace_view.json.
_MSPROF_OUTPUT = "mindstudio_profiler_output"
_OP_SUMMARY = re.compile(r"op_summary_.*\.csv")
_MSPROF_TRACE = re.compile(r"msprof_.*\.json")
_OF_PROFILES = (".json", ".json.gz", ".csv", ".db", "FRAMEWORK", _OUTPUT, _MSPROF_OUTPUT)
_ANALYSE = "parse it with torch_npu.profiler.profiler.analyse({folder!r})"


def find_ranks(path: Path, modules: ModuleChoice = AUTO, source: str = "auto") -> list[Rank]:
    """Find all ranks at or below a path, to a depth of 5, ordered by rank id, then by folder; or the rank of a single file.

    `source` is db, text, or auto: for each rank the one that answers more, db where both answer the same.
    Raises InputError when the path does not exist or holds no result of a profiler.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such folder or file")
    root = root_of(path)
    if path.is_file():
        return _inspect_file(Path(os.path.abspath(path)), root, modules)  # noqa: PTH100
    folders = list(_result_folders(root, MAX_DEPTH, set()))
    names = _names(folders, root)
    ranks = [rank for folder in folders for rank in _inspect(folder, names[folder], modules, source)]
    if not ranks:
        raise InputError(
            f"{path}: no profiling result here or in its sub-folders (depth {MAX_DEPTH}); a result is a folder named "
            f"*_ascend_pt, one that holds {_OUTPUT}, a profiler database, {_TRACES[0]} or {_KERNEL_DETAILS}, or one of these "
            "files itself"
        )
    return sorted(_with_own_names(ranks), key=lambda rank: (rank.rank_id is None, rank.rank_id or 0, rank.profile))


def root_of(path: Path) -> Path:
    """The folder that is meant by a path: a result folder where its output folder or a file in it was given."""
    full = Path(os.path.abspath(path))  # noqa: PTH100  (links stay as the user named them)
    folder = full.parent if path.is_file() else full
    return folder.parent if folder.name in (_OUTPUT, _MSPROF_OUTPUT) else folder


def _names(folders: list[Path], root: Path) -> dict[Path, str]:
    """Name each result folder by its path below the root; where the root is one too, below the root's name."""
    above = root.parent if root in folders else root
    return {folder: readable(folder.relative_to(above)) for folder in folders}


def _with_own_names(ranks: list[Rank]) -> list[Rank]:
    """Give ranks that would share a name one each: the name is the identity of a rank."""
    taken: set[str] = set()
    named = []
    for rank in ranks:
        profile, number = rank.profile, 1
        while profile in taken:
            number += 1
            profile = f"{rank.profile} ({number})"
        taken.add(profile)
        named.append(replace(rank, profile=profile))
    return named


def _result_folders(folder: Path, depth: int, seen: set[str]) -> Iterator[Path]:
    """The result folders at and below a folder, each once, whatever links lead to it; and folders that cannot be read."""
    real = os.path.realpath(folder)
    if real in seen:
        return
    seen.add(real)
    try:
        with os.scandir(folder) as entries:
            is_folder = {entry.name: entry.is_dir() for entry in entries}
    except OSError:
        yield folder
        return
    children = sorted(name for name in is_folder if is_folder[name])
    is_prof = folder.name.startswith("PROF_")
    was_collected = "FRAMEWORK" in children and any(child.startswith("PROF_") for child in children)
    is_result = _OUTPUT in children or was_collected or folder.name.endswith(("_ascend_pt", "_ascend_ms"))
    is_result = is_result or any(_is_result_file(name) for name in is_folder if not is_folder[name])
    below: list[Path] = []
    for child in children if depth and not is_prof else ():
        if child not in (_OUTPUT, "FRAMEWORK", "logs") and not (is_result and child.startswith("PROF_")):
            below += _result_folders(folder / child, depth - 1, seen)
    # An archive that is unpacked into a folder of its own name makes one that holds a result and is none.
    is_wrapper = bool(below) and not any(name.startswith("PROF_") or name.endswith(_OF_PROFILES) for name in is_folder)
    if (is_result or is_prof) and not is_wrapper:
        yield folder
    yield from below


def _is_result_file(name: str) -> bool:
    is_database = _PROFILER_DB.fullmatch(name) or _MSPROF_DB.fullmatch(name)
    return bool(is_database) or name in (*_TRACES, _KERNEL_DETAILS)


def _inspect(folder: Path, profile: str, modules: ModuleChoice, source: str) -> list[Rank]:
    """Give the ranks of a result folder; one that is left out where the folder cannot be read or inspected."""
    try:
        os.scandir(folder).close()
        return _ranks_of_folder(folder, profile, modules, source)
    except OSError as error:
        reason = f"cannot be read ({reason_of(error)})"
    except Exception as error:  # Whatever a folder holds, it must not stop the others.
        reason = f"cannot be inspected ({type(error).__name__}: {reason_of(error)}); leave it out, or collect it again"
    return [Rank(profile, folder, left_out=f"{folder}: {reason}")]


def _ranks_of_folder(folder: Path, profile: str, modules: ModuleChoice, source: str) -> list[Rank]:
    """Give the ranks of a result folder, from the source that answers more."""
    config = _profiler_config(folder)
    bare = _bare_rank(profile, folder, config)
    from_db = _from_databases(bare, config, modules) if source != "text" else []
    texts = _texts(_text_folder(folder))
    if source == "db" or not (texts or any(map(_OTHER_TEXTS.fullmatch, bare.files))):
        return from_db or [replace(bare, left_out=_why_no_input(folder, source))]
    # Looking for modules in a trace of gigabytes takes seconds: spare them where the database answers all there is. mstx marks
    # and compiled graphs that it lacks were not there, and the trace lacks them too.
    lacked_by_both = {"mstx-stats", "graph-overhead"}
    if from_db and not any(rank.left_out or dict(rank.unanswered).keys() - lacked_by_both for rank in from_db):
        return from_db
    from_text = rank_of_text(bare, [*texts, *_recorded(folder, (*recorded.TEXTS, recorded.DATABASE))], config, modules)
    if from_db and len(from_text.answers) <= max(len(rank.answers) for rank in from_db):
        return from_db
    left_out = tuple(rank.left_out for rank in from_db if rank.left_out)
    return [replace(from_text, unread=(*left_out, *from_text.unread))]


def _inspect_file(file: Path, root: Path, modules: ModuleChoice) -> list[Rank]:
    config = _profiler_config(root)
    bare = replace(_bare_rank(file.name, root, config), files=(file.name,))
    if file.suffix == ".db" and not recorded.is_recorded(file):
        return _ranks_of_database(bare, file, config, modules)
    if not file.name.endswith((".json", ".json.gz", ".csv", ".db")):
        raise InputError(
            f"{file}: is no {_TRACES[0]} (also .gz), {_KERNEL_DETAILS} or profiler database; give one, or a folder"
        )
    return [rank_of_text(bare, [file], config, modules)]


def _bare_rank(profile: str, folder: Path, config: dict[str, Any]) -> Rank:
    return Rank(
        profile,
        folder,
        profiler_level=config.get("level"),
        files=_file_names(folder),
        rank_id=config.get("rank_id"),
        rank_id_from=config.get("rank_id_from"),
    )


def _from_databases(bare: Rank, config: dict[str, Any], modules: ModuleChoice) -> list[Rank]:
    databases = _databases(bare.folder)
    are_unique = len({database.name for database in databases}) == len(databases)
    bare = replace(bare, inputs=tuple(_recorded(bare.folder, (recorded.DATABASE,))))
    found = []
    for database in databases:
        name = database.name if are_unique else database.relative_to(bare.folder).as_posix()
        one = bare if len(databases) == 1 else replace(bare, profile=f"{bare.profile}/{name}")
        found += _ranks_of_database(one, database, config, modules)
    return found


def _ranks_of_database(rank: Rank, database: Path, config: dict[str, Any], modules: ModuleChoice) -> list[Rank]:
    if (match := _PROFILER_DB.fullmatch(database.name)) and (rank_id := number(match[1])) is not None:
        rank = replace(rank, rank_id=rank_id, rank_id_from=database.name)
    return list(ranks_of_database(rank, database, config, modules))


def _text_folder(folder: Path) -> Path:
    return output if (output := folder / _OUTPUT).is_dir() else folder


def _texts(folder: Path) -> list[Path]:
    """The trace, the kernel details and the communication of a folder, as far as it has them."""
    traces = [file for name in _TRACES if (file := folder / name).is_file()]
    # What operator_details.csv says of ops, a trace says in full.
    names = (_KERNEL_DETAILS, COMMUNICATION) if traces else (_KERNEL_DETAILS, COMMUNICATION, OPERATOR_DETAILS)
    found = [*traces[:1], *(file for name in names if (file := folder / name).is_file())]
    return found or _msprof_texts(folder)


def _msprof_texts(folder: Path) -> list[Path]:
    """Give what msprof exported, where torch_npu did not: op_summary and trace, where there is one of each and no slices."""
    places = [place for prof in prof_folders(folder) for place in _files(prof / _MSPROF_OUTPUT)]
    of_kind = [[file for file in places if kind.fullmatch(file.name)] for kind in (_MSPROF_TRACE, _OP_SUMMARY)]
    return [files[0] for files in of_kind if len(files) == 1] if all(len(files) < 2 for files in of_kind) else []


def _recorded(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """What the profiler itself worked out of a rank, as far as there are files of these names."""
    return [file for name in names for place in (folder, folder / _OUTPUT) if (file := place / name).is_file()]


def _databases(folder: Path) -> list[Path]:
    """The profiler databases of a folder; where torch_npu has not parsed it, those that msprof left in PROF_*."""
    of_framework = [file for place in (folder / _OUTPUT, folder) for file in _files(place) if _PROFILER_DB.fullmatch(file.name)]
    if of_framework:
        return of_framework
    places = [folder, *(place for prof in prof_folders(folder) for place in (prof, prof / _MSPROF_OUTPUT))]
    return [file for place in dict.fromkeys(places) for file in _files(place) if _MSPROF_DB.fullmatch(file.name)]


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.is_file()) if folder.is_dir() else []


def _file_names(folder: Path) -> tuple[str, ...]:
    return tuple(readable(Path(file.name)) for file in [*_files(folder), *_files(folder / _OUTPUT)])


def _why_no_input(folder: Path, source: str) -> str:
    output = folder / _OUTPUT
    if not output.is_dir() and not (folder / "FRAMEWORK").is_dir() and not prof_folders(folder):
        return f"{folder}: is empty: neither FRAMEWORK and PROF_* as collected, nor {_OUTPUT} as parsed; collect it again"
    parsed = [file for prof in prof_folders(folder) for file in _files(prof / _MSPROF_OUTPUT)]
    if not output.is_dir() and parsed:
        return (
            f"{parsed[0].parent}: holds {len(parsed)} files of msprof, and not one op_summary_*.csv and one msprof_*.json to "
            f"read (slices, or several devices); give a single file with -d, or {_ANALYSE.format(folder=str(folder))}"
        )
    if not output.is_dir():
        return f"{folder}: collected but never parsed; {_ANALYSE.format(folder=str(folder))}"
    if source == "text":
        return f"{output}: holds no text exports; leave out --source text, or export it with ExportType.Text"
    if source == "db" and _texts(output):
        return f"{output}: holds text exports, no profiler database; leave out --source db, or export it with ExportType.Db"
    return (
        f"{output}: holds no profiler database and no text exports; {_ANALYSE.format(folder=str(folder))} and look into logs/"
    )


def _profiler_config(folder: Path) -> dict[str, Any]:
    """What profiler_info*.json says, in one flat shape; what it does not say is None."""
    file, match = next(((f, m) for f in _files(folder) if (m := _PROFILER_INFO.fullmatch(f.name))), (None, None))
    if file is None or match is None:
        return {}
    info = json_object(file)
    config = _object(info, "config")
    common, experimental = _object(config, "common_config"), _object(config, "experimental_config")
    rank_id = number(match[1] or info.get("rank_id"))
    return {
        "rank_id": rank_id,
        "rank_id_from": None if rank_id is None else file.name,
        "level": level if isinstance(level := experimental.get("_profiler_level"), str) else None,
        "activities": _list(common, "activities"),
        "record_shapes": common.get("record_shapes"),
        "aic_metrics": experimental.get("_aic_metrics"),
        "mstx": _either(experimental.get("_mstx"), experimental.get("_msprof_tx")),
        "domain_include": _list(experimental, "_mstx_domain_include"),
        "domain_exclude": _list(experimental, "_mstx_domain_exclude"),
    }


def _object(parent: dict[str, Any], key: str) -> dict[str, Any]:
    child = parent.get(key)
    return child if isinstance(child, dict) else {}


def _list(parent: dict[str, Any], key: str) -> list[Any]:
    child = parent.get(key)
    return child if isinstance(child, list) else []


def _either(*switches: object) -> bool | None:
    """Whether one of the switches was on; None where neither was written."""
    written = [switch for switch in switches if switch is not None]
    return any(written) if written else None
