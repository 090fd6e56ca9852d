"""Finds the profiler databases of a result, their devices and ranks, and their capabilities, without staging them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.common.answer_options import Options
from prof_analysis.common.capabilities import lacking
from prof_analysis.common.errors import InputError
from prof_analysis.engine.quotes import quote_text
from prof_analysis.sources.ascend_beside import (
    analysis_db,
    captures,
    folders,
    input_pipeline,
    job,
    profiler_info,
    recorded,
    user_metadata,
)
from prof_analysis.sources.ascend_db.rows import few_of, rows_of
from prof_analysis.sources.ascend_db.tables import KERNEL_TABLES, KNOWN_TABLES, MEMORY_TABLES, OP_ROWS, gaps
from prof_analysis.sources.rank import Rank, number
from prof_analysis.sources.readers.sqlite_file import SqliteFile, open_sqlite, query

_TYPES_ON_CORES = ("KERNEL_AICORE*", "KERNEL_AIV*", "KERNEL_MIX*", "AI_CORE*", "AI_VECTOR_CORE*", "AIV*", "MIX_AI*")
_NO_MODEL = 4294967295
_NO_COMPUTE = "no compute kernels"
_NO_OPS = "no ops (collected without CPU activity), so no modules"
_NO_OPERATORS = "no COMMUNICATION_OP (collected on one device, or nothing was communicated), so no communication operators"
_NO_REPORTED = "no analysis.db that holds them"
_NO_TABLE = "holds no table of the profiler; parse the profile again"
_NO_SETTINGS = "no ENV_VARIABLES in META_DATA, so no environment variables of the run"


def takes(file: Path) -> bool:
    """Return whether a single file is a database of the profiler, by its name."""
    return file.suffix == ".db" and not recorded.is_recorded(file)


def inspect(result: Path, profile: str, options: Options) -> list[Rank]:
    """Return the ranks of a result folder or a database, one per device; a single one, left out, where nothing can be read."""
    config = profiler_info.config_of(folders.folder_of(result))
    rank = folders.bare_rank(result, profile, config)
    if result.is_file():
        return list(_ranks_of_database(rank, result, config, options))
    databases = _databases(result)
    if not databases:
        return [replace(rank, left_out=folders.why_unparsed(result) or _why_no_database(result))]
    are_unique = len({database.name for database in databases}) == len(databases)
    rank = replace(
        rank, inputs=tuple(folders.recorded_files(result, (analysis_db.DATABASE, recorded.STATIC, *input_pipeline.FILES)))
    )
    found: list[Rank] = []
    for database in databases:
        name = database.name if are_unique else database.relative_to(result).as_posix()
        one = rank if len(databases) == 1 else replace(rank, profile=f"{profile}/{name}")
        found += _ranks_of_database(one, database, config, options)
    return found


def _databases(folder: Path) -> list[Path]:
    """Return the profiler databases of a folder; where torch_npu has not parsed it, those that msprof wrote in PROF_*."""
    parents = (folder / folders.OUTPUT, folder)
    of_framework = [file for parent in parents for file in folders.files_in(parent) if folders.PROFILER_DB.fullmatch(file.name)]
    if of_framework:
        return of_framework
    of_msprof = [
        folder,
        *(parent for prof in folders.prof_folders(folder) for parent in (prof, prof / folders.MSPROF_OUTPUT)),
    ]
    found = (file for parent in dict.fromkeys(of_msprof) for file in folders.files_in(parent))
    return [file for file in found if folders.MSPROF_DB.fullmatch(file.name)]


def _why_no_database(folder: Path) -> str:
    output = folder / folders.OUTPUT
    if any((output / name).is_file() for name in folders.TEXTS):
        return f"{output}: holds text exports, no profiler database; leave out --source db, or export it with ExportType.Db"
    return f"{output}: holds no profiler database and no text exports; {folders.analyse(folder)} and look into logs/"


def _ranks_of_database(rank: Rank, database: Path, config: Mapping[str, Any], options: Options) -> Iterator[Rank]:
    """Yield the ranks of a database, one per device; a single one, left out, where it cannot be read.

    The inputs of `rank` are the files next to the database that are read too.
    """
    if (match := folders.PROFILER_DB.fullmatch(database.name)) and (rank_id := number(match[1])) is not None:
        rank = replace(rank, rank_id=rank_id, rank_id_from=database.name)
    beside = rank.inputs
    rank = replace(rank, inputs=(database, *beside))
    try:
        with open_sqlite(database, KNOWN_TABLES) as file:
            ranks_of_devices = _ranks_of_devices(file)
            if not database.stat().st_size:
                raise InputError(f"{database}: is empty; copy it again, or parse the profile again", path=database)
            if not file.tables:
                is_of_figures = bool(analysis_db.tables_with_rows(database))
                said = "is an analysis.db under another name: give it this name" if is_of_figures else _NO_TABLE
                raise InputError(f"{database}: {said}", path=database)
            given = captures.captures_of(rank.folder, rank.rank_id, options.capture, of_text=False)
            if given and _has_rows(file, "TASK", "modelId", f"<> {_NO_MODEL}"):
                rank = replace(rank, inputs=(database, *given, *beside))
            has_captures = len(rank.inputs) > 1 + len(beside)
            modules_from = _modules_from(file, options) or ("replayed graphs" if has_captures else None)
            reasons = _reasons(file, beside, modules_from, config, options)
            metadata = rank.metadata or user_metadata.in_database(file)
            unread = tuple(f"{database}: {said}" for said in job.unread_metadata(file))
            no_modules = [reason] if (reason := reasons["modules"] or reasons["kernels"]) else []
            missing = tuple(dict.fromkeys([*gaps(file.tables), *no_modules, *profiler_info.not_collected(config)]))
    except InputError as error:
        yield replace(rank, left_out=str(error))
        return
    rank = replace(
        rank,
        lacks=lacking(reasons),
        missing=missing,
        modules_from=modules_from,
        unread=(*rank.unread, *unread),
        metadata=metadata,
    )
    has_several = len(ranks_of_devices) > 1
    known = [mapped for mapped in ranks_of_devices.values() if mapped is not None]
    are_ranks = len(known) == len(set(known))
    first = min((device for device in ranks_of_devices if device is not None), default=None)
    for device, mapped_rank in ranks_of_devices.items():
        found = replace(rank, device_id=device)
        if has_several:
            # The number in the file's name, and one number for several devices, is the rank of none of them.
            found = replace(
                found, profile=f"{rank.profile}/device_{device}", first_device_id=first, rank_id=None, rank_id_from=None
            )
        if mapped_rank is not None and are_ranks and (has_several or found.rank_id is None):
            found = replace(found, rank_id=mapped_rank, rank_id_from="RANK_DEVICE_MAP")
        yield folders.with_info_json(found)


def _ranks_of_devices(file: SqliteFile) -> dict[int | None, int | None]:
    """Return the devices of a database and their ranks, None where unknown; at least one, possibly unknown, device."""
    columns = file.tables.get("RANK_DEVICE_MAP", {})
    mapped: dict[int | None, int | None] = {}
    rank, device = ("rankId", "deviceId") if "rankId" in columns else ("rank_id", "device_id")
    if {rank, device} <= columns.keys():
        for row in query(file, f"SELECT {rank}, {device} FROM RANK_DEVICE_MAP"):
            if (found := number(row[1])) is not None:
                mapped[found] = number(row[0])
    if "NPU_INFO" in file.tables:
        for row in query(file, "SELECT id FROM NPU_INFO"):
            if (found := number(row[0])) is not None:
                mapped.setdefault(found, None)
    if len(mapped) > 1 and "deviceId" in file.tables.get("TASK", {}):
        rows = query(file, "SELECT DISTINCT deviceId FROM TASK")
        seen = sorted(found for row in rows if (found := number(row[0])) is not None)
        mapped = {device: mapped.get(device) for device in seen} or mapped
    return mapped or {None: None}


def _reasons(
    file: SqliteFile, beside: tuple[Path, ...], modules_from: str | None, config: Mapping[str, Any], options: Options
) -> dict[str, str | None]:
    """Return the capabilities, each with the reason why the rank lacks it; None where it has it."""
    lost = gaps(file.tables)

    def gap(word: str) -> str | None:
        return next((found for found in lost if found.startswith(f"no {word}")), None)

    has_operators = _has_rows(file, "COMMUNICATION_OP")
    has_compute = _has_compute(file)
    reported = recorded.in_databases(beside)
    has_kernels = has_operators or has_compute
    no_kernels = None if has_kernels else gap("table of kernels") or profiler_info.why_no_kernels(config)
    no_compute = no_kernels or (None if has_compute else _NO_COMPUTE)
    no_shapes = no_compute or (None if _has_shapes(file) else profiler_info.why_no_shapes(config))
    no_counters = None if _has_rows(file, "TASK_PMU_INFO", "value", "IS NOT NULL") else profiler_info.why_no_counters(config)
    no_ops = gap("PYTORCH_API") or (None if _has_ops(file) else _NO_OPS)
    no_graph_calls = no_ops or (None if _has_graph_calls(file) else profiler_info.NO_GRAPH_CALLS)
    no_modules = None if modules_from else lost[0] if lost else profiler_info.why_no_modules(config, options)
    has_transfers = _has_rows(file, "COMMUNICATION_TASK_INFO", "size", "> 0") or "CommAnalyzerMatrix" in reported
    no_operators = None if has_operators else _NO_OPERATORS
    has_marks = _has_rows(file, "MSTX_EVENTS", "eventType", "BETWEEN 0 AND 3")
    return {
        "modules": no_modules,
        "kernels": no_kernels,
        "ops": no_ops,
        "communication": no_operators,
        "transfers": None if has_transfers else no_operators or profiler_info.why_no_transfers(config),
        "graph_calls": no_graph_calls,
        "compute": no_compute,
        "shapes": no_shapes,
        "kernel_types": profiler_info.why_untyped(config, no_shapes),
        "counters": no_compute or no_counters,
        "clock": no_compute or (None if _has_rows(file, "AICORE_FREQ", "freq", "> 0") else profiler_info.NO_CLOCK),
        "host_calls": None if _has_rows(file, "CANN_API") else profiler_info.why_no_host_calls(config),
        "stacks": no_ops or (None if _has_stacks(file) else profiler_info.NO_STACKS),
        "marks": None if has_marks else profiler_info.why_no_marks(config),
        "memory": None if any(_has_rows(file, table) for table in MEMORY_TABLES) else profiler_info.why_no_memory(config),
        "static_memory": None
        if any(recorded.role_of(file) == recorded.STATIC for file in beside)
        else profiler_info.NO_STATIC_MEMORY,
        "settings": None if _has_rows(file, "META_DATA", "name", f"= '{recorded.SETTINGS}'") else _NO_SETTINGS,
        "reported_communication": None if "CommAnalyzerTime" in reported else _NO_REPORTED,
        "reported_steps": None if "StepTraceTime" in reported else _NO_REPORTED,
    }


def _has_ops(file: SqliteFile) -> bool:
    """Return whether there are ops. Where hand-overs come first, it takes 0.3 s to pass those of a million kernels."""
    rows = rows_of(file, OP_ROWS)
    if rows is None:
        return False
    return any(query(file, f"SELECT 1 FROM {rows} AND {among} LIMIT 1") for among in (few_of(file, "PYTORCH_API"), "true"))


def _has_stacks(file: SqliteFile) -> bool:
    """Return whether a text is a frame, such as net.py(7): forward, be it of a stack or of the Python tracer."""
    return _has_rows(file, "STRING_IDS", "value", "GLOB '*([0-9]*): *'")


def _has_rows(file: SqliteFile, table: str, column: str = "rowid", condition: str = "IS NOT NULL") -> bool:
    """Return whether a table has a row in which a column meets a condition."""
    if column != "rowid" and column not in file.tables.get(table, {}):
        return False
    return table in file.tables and bool(query(file, f"SELECT 1 FROM {table} WHERE {column} {condition} LIMIT 1"))


def _has_compute(file: SqliteFile) -> bool:
    described = [table for table in KERNEL_TABLES if table != "COMMUNICATION_OP"]
    return _has_rows(file, "TASK") and (any(_has_rows(file, table) for table in described) or _has_tasks_on_cores(file))


def _has_tasks_on_cores(file: SqliteFile) -> bool:
    """Return whether a task ran on cores, by the usual types, where no table says what the tasks computed."""
    usual = " OR ".join(f"value GLOB '{pattern}'" for pattern in _TYPES_ON_CORES)
    return (
        "value" in file.tables.get("STRING_IDS", {})
        and "taskType" in file.tables["TASK"]
        and bool(query(file, f"SELECT 1 FROM TASK WHERE taskType IN (SELECT id FROM STRING_IDS WHERE {usual}) LIMIT 1"))
    )


def _has_graph_calls(file: SqliteFile) -> bool:
    """Return whether a text is the name of a call of a compiled graph, by the names that graph.event uses."""
    names = ", ".join(f"'{maker}{blank}inference'" for maker in ("npu_fx_compiler", "cache_compiler") for blank in " _")
    return _has_rows(file, "STRING_IDS", "value", f"IN ({names})")


def _has_shapes(file: SqliteFile) -> bool:
    """Return whether a kernel has shapes, by its rows, since some writers record shapes at Level0 too."""
    if "inputShapes" not in file.tables.get("COMPUTE_TASK_INFO", {}) or "value" not in file.tables.get("STRING_IDS", {}):
        return False
    no_value = "SELECT id FROM STRING_IDS WHERE value IN ('', 'N/A', 'NULL')"
    return bool(query(file, f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE inputShapes NOT IN ({no_value}) LIMIT 1"))


def _modules_from(file: SqliteFile, options: Options) -> str | None:
    """Return the kind of marks of modules in a database; None without any, or if other data for modules is missing."""
    if gaps(file.tables) or "value" not in file.tables["STRING_IDS"]:
        return None
    domains = ", ".join(quote_text(domain) for domain in options.domains)
    marked = (
        "SELECT 1 FROM MSTX_EVENTS WHERE eventType = 2 AND CAST(endNs AS INTEGER) >= CAST(startNs AS INTEGER)"
        f" AND domainId IN (SELECT id FROM STRING_IDS WHERE value IN ({domains})) LIMIT 1"
    )
    traced = "SELECT 1 FROM STRING_IDS WHERE value GLOB 'nn.Module: *' LIMIT 1"
    has_times = {"startNs", "endNs"} <= file.tables.get("MSTX_EVENTS", {}).keys()  # trace.range has ranges with times only
    queries = {"mstx": marked if has_times else None, "nn.Module": traced}
    return next((mark for mark in options.marks if (sought := queries[mark]) and query(file, sought)), None)
