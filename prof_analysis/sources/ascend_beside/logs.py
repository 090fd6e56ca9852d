"""Reads what the profiler logged while it parsed a result: known lines, with what they mean for answers and what to do."""

import re
from collections.abc import Iterator
from pathlib import Path

from prof_analysis.common.input_files import SETTINGS_BYTES, opened

FOLDER = "logs"
_NAME = re.compile(r"profiler_(?P<time>\d{14})_\d+(?:_(?P<parser>\w+))?\.log(?:\.\d+)?")
_LINE = re.compile(rb"^\[[^\]\n]{1,40}\] \[(ERROR|CRITICAL|WARNING)\] \[[^\]\n]{0,80}\] ([^\r\n]{0,400})", re.MULTILINE)
_MOST_FILES = 64
_MOST_LETTERS = 160
_PARSE_AGAIN = "parse it again with analyse() of the profiler"
# The words of a line -> what they mean for answers, and what to do; the first that a line has counts.
_MEANINGS: tuple[tuple[str, str], ...] = (
    (r"acl to npu flow events|kernel dict is empty",
     "no launch on the host was linked to a kernel: kernels may be missing, ops may have no kernels and kernels no step; "
     "the kernels that are here hold; stop the profiler before the process ends, record whole steps, and collect again"),
    (r"msprof'? command not found|Failed to find msprof\.py",
     f"the tool of CANN that exports kernels was not found, so these and calls into CANN are missing; source set_env.sh of "
     f"CANN and {_PARSE_AGAIN}"),
    (r"owner is neither root nor the current user|allow others users? to write|inconsistent permissions",
     "CANN exports nothing from folders of another owner, or that others may write, so kernels and calls into CANN are "
     f"missing; chown -R and chmod -R 755 the folder and {_PARSE_AGAIN}"),
    (r"Failed to export CANN|Export CANN Profiling data failed",
     "CANN could not export its data, so kernels and calls into CANN are missing; msprof --export=on --output=PROF_* says "
     f"why; then {_PARSE_AGAIN}"),
    (r"step node list is empty|step range is empty",
     "no step was found, so kernels have no step; call step() of the profiler after each step, and collect again"),
    (r"There is no flow events in",
     "a step has no launch that was linked to a kernel, so kernels have no step; record whole steps, and collect again"),
    (r"torch op data is empty",
     "no ops were recorded, so no modules; collect with CPU activity, and stop the profiler after the last step"),
    (r"Failed to (?:generate|save|export) ", f"a file of the result was not written; {_PARSE_AGAIN}"),
)  # fmt: skip


def said_in(folder: Path) -> tuple[str, ...]:
    """Return a sentence for each kind of error in the logs of a result: of each parser those of the last time that it ran."""
    found: dict[str, list[tuple[Path, str]]] = {}
    for file in _newest(folder / FOLDER):
        for is_error, message in _lines(file):
            known = next((said for words, said in _MEANINGS if re.search(words, message)), None)
            if known or is_error:
                found.setdefault(known or "", []).append((file, message))
    return tuple(_said(said, lines) for said, lines in found.items())


def _said(meaning: str, lines: list[tuple[Path, str]]) -> str:
    file, message = lines[0]
    shown = message if len(message) <= _MOST_LETTERS else f"{message[:_MOST_LETTERS]}..."
    more = f" ({len(lines) - 1} more such lines)" if len(lines) > 1 else ""
    said = meaning or f"figures may be missing; {_PARSE_AGAIN}"
    return f"{file}: the profiler logged '{shown}'{more}: {said}"


def _newest(folder: Path) -> list[Path]:
    """Return the logs of a folder, without those of a parser that ran again later."""
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file() and re.search(r"\.log(\.\d+)?$", file.name))
    except OSError:  # Most results have none.
        return []
    last: dict[str | None, str] = {}
    for file in files:
        if match := _NAME.fullmatch(file.name):
            last[match["parser"]] = max(match["time"], last.get(match["parser"], ""))
    kept = [file for file in files if not (match := _NAME.fullmatch(file.name)) or match["time"] == last[match["parser"]]]
    return kept[-_MOST_FILES:]


def _lines(file: Path) -> Iterator[tuple[bool, str]]:
    """Yield whether a line of a log is an error, or a warning, and its message; none of a file that cannot be read."""
    try:
        with opened(file) as content:
            text = content.read(SETTINGS_BYTES)
    except OSError:
        return
    for level, message in _LINE.findall(text):
        yield level != b"WARNING", message.decode("utf-8", "replace").strip()
