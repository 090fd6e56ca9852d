"""What the text exports of a rank hold, and what can be asked of them, told without parsing them."""

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import Any

from prof_analysis.errors import InputError, reason_of
from prof_analysis.sources.ascend_beside import recorded
from prof_analysis.sources.ascend_db.inspection import with_info_json
from prof_analysis.sources.ascend_text import staging
from prof_analysis.sources.ascend_text.columns import DETAILS
from prof_analysis.sources.ascend_text.counters import has_counters
from prof_analysis.sources.rank import (
    NO_GRAPH_CALLS,
    NO_KERNELS,
    ModuleChoice,
    Rank,
    not_collected,
    unanswered,
    why_no_counters,
    why_no_marks,
    why_no_modules,
    why_no_shapes,
)
from prof_analysis.sources.readers.csv_file import read_header
from prof_analysis.sources.readers.trace_file import check_begin

_PIECE_BYTES = 2**16  # What a core keeps near: 2 GB are searched for three marks in 2.8 s, in pieces of 16 MB in 4.0 s.
_LONGEST_MARK = 1024
_KERNEL_COLUMNS = ("name", "start_ns", "duration_ns")
# A mark is a pattern, sought only where there is a text that it must hold: to seek a text takes half the time.
_DETAILS_MARKS = {
    "kernels": (b"", re.compile(rb"[\r\n][^\r\n]")),
    "communication": (b"", re.compile(rb"\b(?:COMMUNICATION|HCCL)\b")),
}
_ANYTHING = re.compile(b"")
_EVENT_OF_MSTX = b'"event_type"'
_TRACE_MARKS = {
    "ops": (b'"cpu_op"', _ANYTHING),
    "kernels": (b'"Task Type"', _ANYTHING),
    "communication": (b'"alg_type"', _ANYTHING),
    "marks": (_EVENT_OF_MSTX, _ANYTHING),
    "graph calls": (b"_compiler", re.compile(rb'"(?:npu_fx|cache)_compiler[ _]inference"')),
}

_SHAPES = "input shapes"
_BESIDE = (staging.COMMUNICATION, staging.OPERATOR_DETAILS)

_NO_FILES = "no kernel_details.csv and no trace_view.json (exported without NPU activity, or not copied), so no kernels"
_NO_COMMUNICATION = "no communication operators (collected on one device, or nothing was communicated)"
_NO_TRACE = "no trace_view.json (exported without CPU activity, or not copied), so no ops and no modules"
_NO_OPS = "no ops in trace_view.json (collected without CPU activity), so no modules"
_NO_DETAILS = "no kernel_details.csv, so no kernel types, cores and shapes"


def rank_of_text(rank: Rank, files: list[Path], config: Mapping[str, Any], modules: ModuleChoice) -> Rank:
    """The rank of text exports, which `files` are: a trace_view.json, a kernel_details.csv and others beside them, or none.

    A file that cannot be read leaves what the other one can answer.
    """
    held: dict[Path, set[str]] = {}
    unreadable: dict[bool, str] = {}
    is_beside = {file: recorded.is_recorded(file) or file.name in _BESIDE for file in files}
    beside = [file for file in files if is_beside[file]]
    for file in (file for file in files if file not in beside):
        try:
            held[file] = _held(file, config, modules)
        except InputError as error:
            unreadable[staging.is_trace(file)] = str(error)
    if unreadable and not held:
        return replace(rank, left_out=next(iter(unreadable.values())))
    has_trace, has_details = (any(staging.is_trace(file) is is_trace for file in held) for is_trace in (True, False))
    marks = set().union(*held.values())
    modules_from = next((mark for mark in ("mstx", "nn.Module") if mark in marks), None)
    no_ops = None if "ops" in marks else _NO_OPS if has_trace else unreadable.get(True, _NO_TRACE)
    no_kernels = None if "kernels" in marks else NO_KERNELS if held else _NO_FILES
    names = {file.name for file in beside}
    no_communication = no_kernels or (None if "communication" in marks else _NO_COMMUNICATION)
    recorded_tables = recorded.in_databases(beside)
    has_operators = staging.COMMUNICATION in names or "CommAnalyzerTime" in recorded_tables
    has_steps = recorded.STEPS in names or "StepTraceTime" in recorded_tables
    reasons = {
        "module-stats": no_ops or (no_kernels if modules_from else why_no_modules(config, modules)),
        "kernel-stats": no_kernels,
        "op-stats": None if staging.OPERATOR_DETAILS in names else no_ops,
        "communication-stats": None if has_operators else no_communication,
        "communication-time": None if has_operators else no_communication,
        "slow-ranks": None if has_operators or has_steps else no_kernels,
        "step-time": None if has_steps else no_kernels,
        "free-time": no_kernels or no_ops,
        "layer-stats": no_kernels,
        "graph-overhead": no_ops or (None if "graph calls" in marks else NO_GRAPH_CALLS),
        "mfu": no_kernels or (_NO_DETAILS if not has_details else None if "shapes" in marks else why_no_shapes(config)),
        "pmu-stats": no_kernels
        or (_NO_DETAILS if not has_details else None if "counters" in marks else why_no_counters(config)),
        "mstx-stats": (None if "marks" in marks else why_no_marks(config)) if has_trace else unreadable.get(True, _NO_TRACE),
    }
    no_details = None if has_details or not held else unreadable.get(False, _NO_DETAILS)
    missing = [reason for reason in (*reasons.values(), no_details, *not_collected(config)) if reason]
    found = replace(
        rank,
        source=staging.NAME,
        inputs=(*held, *beside),
        unanswered=unanswered(reasons),
        missing=tuple(dict.fromkeys(missing)),
        unread=tuple(unreadable.values()),
        modules_from=None if no_ops else modules_from,
    )
    return with_info_json(found)


def _held(file: Path, config: Mapping[str, Any], modules: ModuleChoice) -> set[str]:
    """What a file holds: sought in its bytes, since all of it would have to be parsed to know.

    Raises InputError where a file is not what its name says.
    """
    if not staging.is_trace(file):
        names = read_header(file)[1]
        columns = {name.lower() for name in names}
        known_as = [DETAILS[column][1] for column in _KERNEL_COLUMNS]
        if lacking := [names[0] for names in known_as if not columns.intersection(names)]:
            raise InputError(f"{file}: is no kernel_details.csv, it has no column {lacking[0]!r}; export it again")
        held = _found(file, _DETAILS_MARKS)
        return held | ({"shapes"} if _SHAPES in columns else set()) | ({"counters"} if has_counters(names) else set())
    check_begin(file)
    marks = dict(_TRACE_MARKS)
    if modules.source != "nn.Module" and config.get("mstx") is not False:
        spellings = {
            json.dumps(domain, ensure_ascii=is_ascii)[1:-1] for domain in modules.domains for is_ascii in (True, False)
        }
        domains = "|".join(re.escape(spelling) for spelling in sorted(spellings))
        marks["mstx"] = (_EVENT_OF_MSTX, re.compile(f'"domain"\\s*:\\s*"(?:{domains})"'.encode()))
    if modules.source != "mstx":
        marks["nn.Module"] = (b'"nn.Module: ', _ANYTHING)
    return _found(file, marks)


def _found(file: Path, marks: Mapping[str, tuple[bytes, re.Pattern[bytes]]]) -> set[str]:
    """The marks that a file holds."""
    found: set[str] = set()
    end = b""
    try:
        with _opened(file) as content:
            while len(found) < len(marks) and (piece := content.read1(_PIECE_BYTES)):
                text = end + piece
                missing = {name: mark for name, mark in marks.items() if name not in found}
                here = {part for part in {part for part, _ in missing.values()} if part in text}
                found.update(name for name, (part, pattern) in missing.items() if part in here and pattern.search(text))
                end = text[-_LONGEST_MARK:]
    except (EOFError, zlib.error, gzip.BadGzipFile):
        pass  # What can be unpacked counts; reading it says what cannot.
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)})") from error
    return found


def _opened(file: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.GzipFile(file) if file.suffix == ".gz" else file.open("rb")
