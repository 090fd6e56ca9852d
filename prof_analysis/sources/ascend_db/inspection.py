"""What a profiler database holds: its devices and their ranks, and what can be asked of it, told without staging it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.engine.database import quote_text
from prof_analysis.errors import InputError
from prof_analysis.sources.ascend_beside import recorded
from prof_analysis.sources.ascend_db import staging
from prof_analysis.sources.rank import (
    NO_GRAPH_CALLS,
    NO_KERNELS,
    ModuleChoice,
    Rank,
    json_object,
    not_collected,
    number,
    unanswered,
    why_no_counters,
    why_no_marks,
    why_no_modules,
    why_no_shapes,
)
from prof_analysis.sources.readers.sqlite_file import SqliteFile, open_sqlite, query

_NO_COMPUTE = "no compute kernels"
_NO_OPS = "no ops (collected without CPU activity), so no modules"
_NO_OPERATORS = "no COMMUNICATION_OP (collected on one device, or nothing was communicated), so no communication operators"


def ranks_of_database(rank: Rank, database: Path, config: Mapping[str, Any], modules: ModuleChoice) -> Iterator[Rank]:
    """The ranks of a database, one a device; one that is left out where it cannot be read.

    `rank` has the files beside it that are read too.
    """
    beside = rank.inputs
    rank = replace(rank, source=staging.NAME, inputs=(database, *beside))
    try:
        with open_sqlite(database, staging.KNOWN_TABLES) as file:
            ranks_of_devices = _ranks_of_devices(file)
            if not file.tables:
                raise InputError(f"{database}: holds no table of the profiler; parse the profile again")
            modules_from = _modules_from(file, modules)
            reasons = _reasons(file, beside, modules_from, config, modules)
            no_modules = [reason] if (reason := reasons["module-stats"]) else []
            missing = tuple(dict.fromkeys([*staging.gaps(file.tables), *no_modules, *not_collected(config)]))
    except InputError as error:
        yield replace(rank, source=None, left_out=str(error))
        return
    rank = replace(rank, unanswered=unanswered(reasons), missing=missing, modules_from=modules_from)
    has_several = len(ranks_of_devices) > 1
    first = min((device for device in ranks_of_devices if device is not None), default=None)
    for device, mapped_rank in ranks_of_devices.items():
        found = replace(rank, device_id=device)
        if has_several:
            found = replace(found, profile=f"{rank.profile}/device_{device}", first_device_id=first)
        if mapped_rank is not None and (has_several or found.rank_id is None):
            found = replace(found, rank_id=mapped_rank, rank_id_from="RANK_DEVICE_MAP")
        yield with_info_json(found)


def with_info_json(rank: Rank) -> Rank:
    """The rank with info.json of its device among its inputs, and with the id that it tells where no other file told one."""
    device = "*" if rank.device_id is None else rank.device_id
    files = [file for prof in prof_folders(rank.folder) for file in sorted(prof.glob(f"device_{device}/info.json.{device}"))]
    rank = replace(rank, inputs=(*rank.inputs, *files))
    if rank.rank_id is not None:
        return rank
    numbered = [(found, file) for file in files if (found := number(json_object(file).get("rank_id"))) is not None]
    if len(numbered) != 1 and rank.device_id is None:
        return rank
    return next((replace(rank, rank_id=found, rank_id_from=file.name) for found, file in sorted(numbered)), rank)


def prof_folders(folder: Path) -> list[Path]:
    """The PROF_* folders of a result folder, or the folder itself if it is one."""
    return [folder] if folder.name.startswith("PROF_") else sorted(folder.glob("PROF_*"))


def _ranks_of_devices(file: SqliteFile) -> dict[int | None, int | None]:
    """The devices of a database and their ranks, as far as the file knows them; one unknown device at least."""
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
    file: SqliteFile, beside: tuple[Path, ...], modules_from: str | None, config: Mapping[str, Any], modules: ModuleChoice
) -> dict[str, str | None]:
    """By question, why it has no answer; None where it has one."""
    gaps = staging.gaps(file.tables)

    def gap(word: str) -> str | None:
        return next((found for found in gaps if found.startswith(f"no {word}")), None)

    has_operators = _has_rows(file, "COMMUNICATION_OP")
    recorded_tables = set() if has_operators else recorded.in_databases(beside)
    no_kernels = gap("table of kernels") or (None if has_operators or _has_compute(file) else NO_KERNELS)
    no_compute = no_kernels or (None if _has_compute(file) else _NO_COMPUTE)
    no_counters = None if _has_rows(file, "TASK_PMU_INFO", "value", "IS NOT NULL") else why_no_counters(config)
    no_ops = gap("PYTORCH_API") or (None if staging.has_ops(file) else _NO_OPS)
    has_communication = has_operators or "CommAnalyzerTime" in recorded_tables
    no_communication = None if has_communication else _NO_OPERATORS
    return {
        "module-stats": no_kernels if modules_from else gaps[0] if gaps else why_no_modules(config, modules),
        "kernel-stats": no_kernels,
        "op-stats": no_ops,
        "communication-stats": no_communication,
        "step-time": None if "StepTraceTime" in recorded_tables else no_kernels,
        "free-time": no_kernels or no_ops,
        "communication-time": no_communication,
        "slow-ranks": None if recorded_tables & {"CommAnalyzerTime", "StepTraceTime"} else no_kernels,
        "layer-stats": no_compute,
        "graph-overhead": no_ops or (None if _has_graph_calls(file) else NO_GRAPH_CALLS),
        "mfu": no_compute or (None if _has_shapes(file) else why_no_shapes(config)),
        "pmu-stats": no_compute or no_counters,
        "mstx-stats": None if _has_rows(file, "MSTX_EVENTS", "eventType", "BETWEEN 0 AND 3") else why_no_marks(config),
    }


def _has_rows(file: SqliteFile, table: str, column: str = "rowid", condition: str = "IS NOT NULL") -> bool:
    """Whether a table has a row of which a column meets a condition."""
    if column != "rowid" and column not in file.tables.get(table, {}):
        return False
    return table in file.tables and bool(query(file, f"SELECT 1 FROM {table} WHERE {column} {condition} LIMIT 1"))


def _has_compute(file: SqliteFile) -> bool:
    described = [table for table in staging.KERNEL_TABLES if table != "COMMUNICATION_OP"]
    return _has_rows(file, "TASK") and any(_has_rows(file, table) for table in described)


def _has_graph_calls(file: SqliteFile) -> bool:
    """Whether a text is the name of a call of a compiled graph, as graph.event knows them."""
    names = ", ".join(f"'{maker}{blank}inference'" for maker in ("npu_fx_compiler", "cache_compiler") for blank in " _")
    return _has_rows(file, "STRING_IDS", "value", f"IN ({names})")


def _has_shapes(file: SqliteFile) -> bool:
    """Whether a kernel has shapes; asked of the rows, since some writers have them at Level0 too."""
    if "inputShapes" not in file.tables.get("COMPUTE_TASK_INFO", {}) or "value" not in file.tables.get("STRING_IDS", {}):
        return False
    no_value = "SELECT id FROM STRING_IDS WHERE value IN ('', 'N/A', 'NULL')"
    return bool(query(file, f"SELECT 1 FROM COMPUTE_TASK_INFO WHERE inputShapes NOT IN ({no_value}) LIMIT 1"))


def _modules_from(file: SqliteFile, modules: ModuleChoice) -> str | None:
    """What marks the modules of a database; None where nothing does, or where what else module-stats needs is missing."""
    if staging.gaps(file.tables) or "value" not in file.tables["STRING_IDS"]:
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
