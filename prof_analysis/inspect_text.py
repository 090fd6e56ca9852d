"""What the text exports of a rank hold, and what can be asked of them, told without parsing them."""

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

from prof_analysis.errors import InputError, reason_of
from prof_analysis.inspect_db import with_info_json
from prof_analysis.rank import ModuleChoice, Rank, not_collected, unanswered, why_no_modules, why_no_shapes
from prof_analysis.sources import ascend_text
from prof_analysis.sources.csv_file import read_header

_PIECE_BYTES = 16 * 2**20
_LONGEST_MARK = 1024
_KERNEL_COLUMNS = {"name", "start time(us)", "duration(us)"}

_SHAPES = "input shapes"

_NO_DETAILS = "no kernel_details.csv, so no kernel types, cores and shapes"
_NO_FILES = "no kernel_details.csv and no trace_view.json (exported without NPU activity, or not copied)"
_NO_TRACE = "no trace_view.json (exported without CPU activity, or not copied)"


def rank_of_text(rank: Rank, files: list[Path], config: Mapping[str, Any], modules: ModuleChoice) -> Rank:
    """The rank of text exports, which `files` are: a trace_view.json, a kernel_details.csv, communication.json, or none."""
    traces = [file for file in files if ascend_text.is_trace(file)]
    details = [file for file in files if file.suffix == ".csv"]
    rank = replace(rank, source=ascend_text.NAME, inputs=tuple(files))
    try:
        has_shapes = [_SHAPES in _header(file) for file in details] == [True]
        modules_from = _modules_from(traces[0], config, modules) if traces else None
    except InputError as error:
        return replace(rank, source=None, left_out=str(error))
    no_kernels = None if traces or details else f"{_NO_FILES}, so no kernels"
    no_ops = None if traces else f"{_NO_TRACE}, so no ops and no modules"
    reasons = {
        "module-stats": None if modules_from else no_ops or why_no_modules(config, modules),
        "kernel-stats": no_kernels,
        "op-stats": no_ops,
        "communication-stats": no_kernels,
        "mfu": no_kernels or (_NO_DETAILS if not details else None if has_shapes else why_no_shapes(config)),
    }
    missing = [reason for reason in reasons.values() if reason]
    missing += not_collected(config)
    found = replace(rank, unanswered=unanswered(reasons), missing=tuple(dict.fromkeys(missing)), modules_from=modules_from)
    return with_info_json(found)


def _header(file: Path) -> set[str]:
    """The columns of a kernel_details.csv. Raises InputError where the file is not what its name says."""
    columns = set(read_header(file)[1])
    if lacking := _KERNEL_COLUMNS - columns:
        raise InputError(f"{file}: is no kernel_details.csv, it has no column {sorted(lacking)[0]!r}; export it again")
    return columns


def _modules_from(trace: Path, config: Mapping[str, Any], modules: ModuleChoice) -> str | None:
    """What marks the modules of a trace: sought in its bytes, since all of it would have to be parsed to know."""
    spellings = {json.dumps(domain, ensure_ascii=is_ascii)[1:-1] for domain in modules.domains for is_ascii in (True, False)}
    domains = "|".join(re.escape(spelling) for spelling in sorted(spellings))
    marks = {}
    if modules.source != "nn.Module" and config.get("mstx") is not False:
        marks["mstx"] = re.compile(f'"domain"\\s*:\\s*"(?:{domains})"'.encode())
    if modules.source != "mstx":
        marks["nn.Module"] = re.compile(rb'"nn\.Module: ')
    return _first_of(trace, marks) if marks else None


def _first_of(trace: Path, marks: Mapping[str, re.Pattern[bytes]]) -> str | None:
    """The first of the marks that the file holds, in their order."""
    seen: set[str] = set()
    first = next(iter(marks))
    end = b""
    try:
        with _opened(trace) as file:
            while first not in seen and (piece := file.read(_PIECE_BYTES)):
                text = end + piece
                seen.update(name for name, mark in marks.items() if name not in seen and mark.search(text))
                end = text[-_LONGEST_MARK:]
    except (EOFError, zlib.error, gzip.BadGzipFile):
        pass  # What can be unpacked counts; reading it says what cannot.
    except OSError as error:
        raise InputError(f"{trace}: cannot be read ({reason_of(error)})") from error
    return next((name for name in marks if name in seen), None)


def _opened(trace: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(trace)) if trace.suffix == ".gz" else trace.open("rb")
