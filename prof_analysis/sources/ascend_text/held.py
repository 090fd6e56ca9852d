"""Finds what a trace or a table of kernels holds, by a search of its bytes, since parsing takes much longer."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prof_analysis.common.answer_options import Options
from prof_analysis.common.errors import InputError
from prof_analysis.sources.ascend_beside.contents import name_by_columns
from prof_analysis.sources.ascend_text import staging
from prof_analysis.sources.ascend_text.counters import has_counters
from prof_analysis.sources.ascend_text.csv_columns import DETAILS
from prof_analysis.sources.readers.csv_file import read_header
from prof_analysis.sources.readers.marks import ANYTHING, found_marks
from prof_analysis.sources.readers.trace_file import check_begin, is_of_kineto

_SHAPES = "input shapes"
_KERNEL_COLUMNS = ("name", "start_ns", "duration_ns")
_DETAILS_MARKS = {
    "kernels": (b"", rb"[\r\n][^\r\n]"),
    "communication": (b"", rb"\b(?:COMMUNICATION|HCCL)\b"),
}
_EVENT_OF_MSTX = b'"event_type"'
_TRACE_MARKS = {
    "ops": (b'"cpu_op"', ANYTHING),
    "kernels": (b'"Task Type"', ANYTHING),
    "communication": (b'"alg_type"', ANYTHING),
    "host calls": (b'"level"', ANYTHING),
    "transfers": (b'"size(Byte)"', rb'"size\(Byte\)"\s*:\s*"?0*[1-9]'),
    "clock": (b'"AI Core Freq', ANYTHING),
    "stacks": (b"", rb'"Call stack"|"name"\s*:\s*"[^"]*\(\d+\): '),
    "marks": (_EVENT_OF_MSTX, ANYTHING),
    "graph calls": (b"_compiler", rb'"(?:npu_fx|cache)_compiler[ _]inference"'),
}


def held_by(file: Path, config: Mapping[str, Any], options: Options) -> set[str]:
    """Return the marks that a file holds.

    Raises InputError where a file is not what its name says.
    """
    if not staging.is_trace(file):
        names = read_header(file)[1]
        columns = {name.lower() for name in names}
        known_as = [DETAILS[column][1] for column in _KERNEL_COLUMNS]
        if lacking := [names[0] for names in known_as if not columns.intersection(names)]:
            of_figures = name_by_columns(columns)
            remedy = f"its columns are those of {of_figures}: give it this name" if of_figures else "export it again"
            raise InputError(f"{file}: is not a kernel_details.csv: it has no column {lacking[0]!r}; {remedy}", path=file)
        held = found_marks(file, _DETAILS_MARKS)
        return held | ({"shapes"} if _SHAPES in columns else set()) | ({"counters"} if has_counters(names) else set())
    check_begin(file)
    if is_of_kineto(file):
        raise InputError(
            f"{file}: is a trace of Kineto, which profiles CPUs and GPUs, not of the Ascend profiler; "
            "give this file with -d, or leave out --source text",
            path=file,
        )
    marks = dict(_TRACE_MARKS)
    if "mstx" in options.marks and config.get("mstx") is not False:
        spellings = {
            json.dumps(domain, ensure_ascii=is_ascii)[1:-1] for domain in options.domains for is_ascii in (True, False)
        }
        domains = "|".join(re.escape(spelling) for spelling in sorted(spellings))
        marks["mstx"] = (_EVENT_OF_MSTX, f'"domain"\\s*:\\s*"(?:{domains})"'.encode())
    if "nn.Module" in options.marks:
        marks["nn.Module"] = (b'"nn.Module: ', ANYTHING)
    return found_marks(file, marks)
