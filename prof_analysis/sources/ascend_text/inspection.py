"""Finds the text exports of a result, and their capabilities, without parsing them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.common.answer_options import Options
from prof_analysis.common.capabilities import lacking
from prof_analysis.common.errors import InputError
from prof_analysis.sources.ascend_beside import analysis_db, captures, folders, msprof, profiler_info, recorded, unread
from prof_analysis.sources.ascend_beside.contents import holds_figures
from prof_analysis.sources.ascend_text import staging
from prof_analysis.sources.ascend_text.held import held_by
from prof_analysis.sources.rank import Rank
from prof_analysis.sources.readers.cut_off import said_of_cut
from prof_analysis.sources.readers.trace_file import is_of_kineto

# Capabilities that a trace alone can give, and those of them that kernel_details.csv can give too.
_OF_DETAILS = ("kernels", "compute", "communication")
_OF_TRACE = (*_OF_DETAILS, "modules", "ops", "transfers", "graph_calls", "clock", "host_calls", "stacks", "marks")
_BESIDE = (recorded.COMMUNICATION, folders.OPERATOR_DETAILS, *folders.MEMORY)
# Further files of text exports: a result with one of them is inspected as text, even if they do not suffice.
_OTHER_TEXTS = re.compile(
    r"((op|api)_statistic(_.*)?|static_op_mem(_.*)?|operator_details|step_trace_time)\.csv|communication(_matrix)?\.json"
    r"|(analysis|communication_analyzer)\.db|minddata_pipeline_.*"
)

_NO_FILES = "no kernel_details.csv and no trace_view.json (exported without NPU activity, or not copied), so no kernels"
_NO_COMMUNICATION = "no communication operators (collected on one device, or nothing was communicated)"
_NO_TRACE = "no trace_view.json (exported without CPU activity, or not copied), so no ops and no modules"
_NO_OPS = "no ops in {} (collected without CPU activity), so no modules"
_NO_TRANSFERS = "no trace_view.json and no communication_matrix.json (not copied), so no transfers between ranks"
_NO_DETAILS = "no kernel_details.csv, so no kernel types, cores and shapes"
_NO_SETTINGS = "no ENV_VARIABLES in profiler_metadata.json, so no environment variables of the run"
# Capabilities that need a file of their own.
_FILES = {
    "reported_kernels": recorded.KERNELS,
    "reported_ops": folders.OPERATOR_DETAILS,
    "reported_host_calls": recorded.CALLS,
    "reported_communication": recorded.COMMUNICATION,
    "reported_steps": recorded.STEPS,
}
# Tables of which one is read: two may hold the same.
_NOT_ADDED = {
    recorded.KERNELS: "sums over types",
    recorded.CALLS: "sums over host calls",
    recorded.STATIC: "memory of graphs",
}
_OF_SEVERAL = "the profiler's figures are of several devices, and do not name the device of an operator"


def takes(file: Path) -> bool:
    """Return whether a single file may be a text export, by its suffix: a trace or kernel_details.csv may be renamed."""
    is_export = file.name.endswith((".json", ".json.gz", ".csv")) or recorded.is_recorded(file)
    return is_export and not is_of_kineto(file)


def inspect(result: Path, profile: str, options: Options) -> list[Rank]:
    """Return the ranks of a result folder or a single file, mostly one; it is left out where nothing can be read."""
    config = profiler_info.config_of(folders.folder_of(result))
    rank = folders.bare_rank(result, profile, config)
    if result.is_file():
        if said := unread.why_no_profile(result):
            return [replace(rank, inputs=(result,), left_out=said)]
        return _of_devices(_rank_of_files(rank, [result], config, options))
    output = result / folders.OUTPUT
    texts = _texts(output if output.is_dir() else result)
    if not texts and (recordings := msprof.recordings_of(result)):
        return _of_recordings(rank, recordings, options)
    of_devices, older = ({}, []) if texts else msprof.texts_of(result)
    if of_devices:
        rank = replace(rank, unread=(*rank.unread, *older))
        return [
            one
            for device, files in of_devices.items()
            for one in _of_result(_of_device(rank, device, has_several=len(of_devices) > 1), files, config, options)
        ]
    if not texts and not any(map(_OTHER_TEXTS.fullmatch, rank.files)):
        none = f"{output}: holds no text exports; leave out --source text, or export it with ExportType.Text"
        return [replace(rank, left_out=folders.why_unparsed(result) or none)]
    return _of_result(rank, [*texts, *folders.recorded_files(result, (*recorded.TEXTS, analysis_db.DATABASE))], config, options)


def _of_recordings(rank: Rank, recordings: Mapping[Path, Sequence[int]], options: Options) -> list[Rank]:
    """Return the ranks of several recordings of one result, with their devices, which tell them apart."""
    if said := msprof.why_not_ranks(rank.folder, recordings):
        files = (file for prof in recordings for file in folders.files_in(prof / folders.MSPROF_OUTPUT))
        return [replace(rank, inputs=tuple(files), left_out=said)]
    found = [one for prof in recordings for one in inspect(prof, f"{rank.profile}/{prof.name}", options)]
    return [
        folders.with_info_json(replace(one, device_id=recordings[one.folder][0])) if _has_one_device(one) else one
        for one in found
    ]


def _has_one_device(rank: Rank) -> bool:
    return rank.device_id is None and not rank.left_out


def _of_result(rank: Rank, files: list[Path], config: Mapping[str, Any], options: Options) -> list[Rank]:
    """Return the ranks of the files of a result, without several tables of sums of one kind: these may hold the same."""
    of_kinds = [[file for file in files if recorded.role_of(file) == kind] for kind in _NOT_ADDED]
    several = {file: _said_of_several(sums) for sums in of_kinds if len(sums) > 1 and not msprof.are_one(sums) for file in sums}
    said = tuple(dict.fromkeys(several.values()))
    rest = [file for file in files if file not in several]
    if not rest:
        return [replace(rank, inputs=tuple(files), left_out=f"{said[0]}; give a single file with -d")]
    found = _rank_of_files(rank, rest, config, options)
    return _of_devices(replace(found, unread=(*found.unread, *said)))


def _said_of_several(sums: list[Path]) -> str:
    what = _NOT_ADDED[recorded.role_of(sums[0])]
    return f"{sums[0].parent}: holds {len(sums)} tables of {what}, which are not added up: {folders.listed(sums)}"


def _of_devices(rank: Rank) -> list[Rank]:
    """Return a rank for each device, where the files are of several: tables of msprof, or figures of the profiler alone."""
    if rank.left_out or rank.device_id is not None:
        return [rank]
    lacks = rank.lacks
    devices = msprof.devices_of(rank.folder, rank.inputs)
    if {"kernels", "ops"} <= dict(lacks).keys():
        devices = recorded.devices_of_figures(rank.inputs)
        lacks = tuple(
            (name, _OF_SEVERAL if name in ("reported_communication", "transfers") else why) for name, why in rank.lacks
        )
    if len(devices) < 2:
        return [rank]
    several = replace(rank, rank_id=None, rank_id_from=None, first_device_id=devices[0], lacks=lacks)
    named = (replace(several, profile=f"{rank.profile}/device_{device}", device_id=device) for device in devices)
    return [folders.with_info_json(one) for one in named]


def _texts(folder: Path) -> list[Path]:
    """Return the trace, the kernel details and the communication file of a folder, those that exist."""
    traces = [file for name in folders.TRACES if (file := folder / name).is_file()]
    # A trace has all that operator_details.csv has.
    names = (folders.KERNEL_DETAILS, recorded.COMMUNICATION, *folders.MEMORY, *(() if traces else (folders.OPERATOR_DETAILS,)))
    return [*traces[:1], *(file for name in names if (file := folder / name).is_file())]


def _of_device(rank: Rank, device: int | None, *, has_several: bool) -> Rank:
    """Return the rank of a device of a result, which has a name of its own where there are several."""
    name = f"{rank.profile}/device_{device}" if has_several and device is not None else rank.profile
    return replace(rank, profile=name, device_id=device)


def _rank_of_files(rank: Rank, files: list[Path], config: Mapping[str, Any], options: Options) -> Rank:
    """Return the rank of text exports: a trace_view.json, a kernel_details.csv, and files next to them; each may be missing.

    Where one file cannot be read, the rank answers what the others suffice for.
    """
    held: dict[Path, set[str]] = {}
    unreadable: dict[bool, str] = {}
    beside = [file for file in files if recorded.is_recorded(file) or file.name in _BESIDE]
    figures, damaged = _with_figures(beside)
    beside = [file for file in beside if file not in damaged]
    for file in (file for file in files if file not in beside and file not in damaged):
        try:
            held[file] = held_by(file, config, options)
        except InputError as error:
            unreadable[staging.is_trace(file)] = str(error)
    problems = (*unreadable.values(), *damaged.values())
    if problems and not held and (unreadable or not figures):
        return replace(rank, inputs=tuple(files), left_out=problems[0])
    marks = set().union(*held.values())
    cut = next((said for file in held if staging.is_trace(file) and (said := said_of_cut(file, held[file]))), None)
    given: tuple[Path, ...] = ()
    if any(not staging.is_trace(file) for file in held):
        given = captures.captures_of(rank.folder, rank.rank_id, options.capture, of_text=True)
    modules_from = next((mark for mark in options.marks if mark in marks), "replayed graphs" if given else None)
    no_modules = None if modules_from else profiler_info.why_no_modules(config, options)
    reasons = _reasons(held, beside, figures, unreadable, damaged, config, no_modules)
    if cut is not None:
        reasons = _of_cut(reasons, cut, has_details=any(not staging.is_trace(file) for file in held))
    has_details = any(not staging.is_trace(file) for file in held)
    no_details = None if has_details or not held else unreadable.get(False, _NO_DETAILS)
    has_reported = reasons["reported_communication"] is None
    unnamed = {
        "kernel_types",
        "memory",
        "static_memory",
        "settings",
        "transfers",
        *_FILES,
        *(("communication",) if has_reported else ()),
    }
    of_files = [reason for name, reason in reasons.items() if name not in unnamed]
    missing = [reason for reason in (*of_files, no_details, *profiler_info.not_collected(config)) if reason]
    found = replace(
        rank,
        inputs=(*held, *beside, *given),
        lacks=lacking(reasons),
        missing=tuple(dict.fromkeys(missing)),
        unread=(*rank.unread, *problems, *msprof.said_of_slices(held)),
        modules_from=modules_from if reasons["ops"] is None else None,
        is_cut_off=cut is not None,
    )
    return folders.with_info_json(found)


def _with_figures(files: list[Path]) -> tuple[set[str], dict[Path, str]]:
    """Return which of the files of figures hold any, by the names of torch_npu, and why others cannot be read."""
    found: set[str] = set()
    damaged: dict[Path, str] = {}
    for file in files:
        try:
            if holds_figures(file):
                found.add(recorded.role_of(file))
        except InputError as error:
            damaged[file] = str(error)
    return found, damaged


def _of_cut(reasons: Mapping[str, str | None], cut: str, *, has_details: bool) -> dict[str, str | None]:
    """Return the capabilities of a rank whose trace was cut off: missing data may have been in the missing part."""
    of_trace = {name for name in _OF_TRACE if not (has_details and name in _OF_DETAILS)}
    return {
        name: cut if reason and (name in of_trace or reason == reasons["kernels"]) else reason
        for name, reason in reasons.items()
    }


def _reasons(
    held: Mapping[Path, set[str]],
    beside: list[Path],
    figures: set[str],
    unreadable: Mapping[bool, str],
    damaged: Mapping[Path, str],
    config: Mapping[str, Any],
    no_modules: str | None,
) -> dict[str, str | None]:
    """Return the capabilities, each with the reason why the rank lacks it; None where it has it."""
    has_trace, has_details = (any(staging.is_trace(file) is is_trace for file in held) for is_trace in (True, False))
    marks = set().union(*held.values())
    no_trace = None if has_trace else unreadable.get(True, _NO_TRACE)
    trace = next((file.name for file in held if staging.is_trace(file)), "trace_view.json")
    no_ops = no_trace or (None if "ops" in marks else _NO_OPS.format(trace))
    no_files = next(iter(unreadable.values()), _NO_FILES)
    no_kernels = None if "kernels" in marks else profiler_info.why_no_kernels(config) if held else no_files
    no_details = no_kernels or (None if has_details else unreadable.get(False, _NO_DETAILS))
    no_shapes = no_details or (None if "shapes" in marks else profiler_info.why_no_shapes(config))
    in_database = recorded.in_databases(beside)
    # What a file lacks that is there and cannot be read was not left out by who recorded it.
    unread = {recorded.role_of(file): why for file, why in damaged.items()}
    reported = {
        "reported_kernels": recorded.KERNELS in figures,
        "reported_ops": folders.OPERATOR_DETAILS in figures,
        "reported_host_calls": recorded.CALLS in figures,
        "reported_communication": recorded.COMMUNICATION in figures or "CommAnalyzerTime" in in_database,
        "reported_steps": recorded.STEPS in figures or "StepTraceTime" in in_database,
    }
    no_operators = no_kernels or (None if "communication" in marks else _NO_COMMUNICATION)
    is_low = config.get("level") in profiler_info.LEVELS_WITHOUT_TYPES
    no_memory = next((unread[name] for name in folders.MEMORY if name in unread), None) or profiler_info.why_no_memory(config)
    has_transfers = (
        (no_operators is None and "transfers" in marks) or recorded.MATRIX in figures or "CommAnalyzerMatrix" in in_database
    )
    no_transfers = profiler_info.why_no_transfers(config) if has_trace or is_low else _NO_TRANSFERS
    return {
        "modules": no_ops or no_modules,
        "kernels": no_kernels,
        "ops": no_ops,
        "communication": no_operators,
        "transfers": None if has_transfers else unread.get(recorded.MATRIX) or no_operators or no_transfers,
        "graph_calls": no_ops or (None if "graph calls" in marks else profiler_info.NO_GRAPH_CALLS),
        "compute": no_kernels,
        "shapes": no_shapes,
        "counters": no_details or (None if "counters" in marks else profiler_info.why_no_counters(config)),
        "clock": no_kernels or no_trace or (None if "clock" in marks else profiler_info.NO_CLOCK),
        "host_calls": no_trace or (None if "host calls" in marks else profiler_info.why_no_host_calls(config)),
        "stacks": no_ops or (None if "stacks" in marks else profiler_info.NO_STACKS),
        "marks": no_trace or (None if "marks" in marks else profiler_info.why_no_marks(config)),
        "kernel_types": profiler_info.why_untyped(config, no_shapes),
        "memory": None if figures.intersection(folders.MEMORY) else no_memory,
        "static_memory": None if recorded.STATIC in figures else unread.get(recorded.STATIC, profiler_info.NO_STATIC_MEMORY),
        "settings": None if any(map(recorded.has_settings, beside)) else _NO_SETTINGS,
        **{name: None if is_there else unread.get(_FILES[name], f"no {_FILES[name]}") for name, is_there in reported.items()},
    }
