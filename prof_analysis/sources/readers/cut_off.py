"""Finds out whether a trace was cut off, so that missing data is not blamed on the way of recording."""

import gzip
import json
import re
import zlib
from pathlib import Path

from prof_analysis.common import input_files
from prof_analysis.sources.readers.marks import CUT_OFF, opened

_TAIL_BYTES = 2**16
_PIECE_BYTES = 2**20
_PHASE = b'"ph"'
_MOST_BRACES = 1000
_END_OF_LIST = re.compile(r"\s*,?\s*\]")


def ends_too_early(file: Path) -> bool:
    """Return whether the list of events in a file that is not packed has no end, by the last bytes of the file."""
    tail = _tail_of(file)
    if not tail.endswith((b"]", b"}")):
        return bool(tail)
    text = tail.decode("utf-8", "replace")
    follows = _after_last_event(text)
    if follows is None:  # One long event, or none that is whole.
        return '"ph"' in text and file.stat().st_size <= _TAIL_BYTES
    return _END_OF_LIST.match(follows) is None


def ends_with_bracket(file: Path) -> bool:
    """Return whether a file ends as an object or a list of JSON does."""
    return _tail_of(file).endswith((b"]", b"}"))


def _tail_of(file: Path) -> bytes:
    try:
        with input_files.opened(file) as content:
            content.seek(max(0, file.stat().st_size - _TAIL_BYTES))
            return content.read().rstrip()
    except OSError:
        return b""


def said_of_cut(file: Path, marks: set[str]) -> str | None:
    """Return why a trace that ends too early does not show something, and what to do; None for a whole one.

    `marks` are what found_marks() found in it.
    """
    is_packed = file.suffix == ".gz"
    if CUT_OFF not in marks if is_packed else not ends_too_early(file):
        return None
    # The last event that begins is not whole.
    count = max(0, _count_of(file, _PHASE) - 1)
    left = f"the {count:,} events that are left do" if count != 1 else "the only event that is left does"
    what = "cannot be unpacked to its end" if is_packed else "was cut off"
    return f"{file}: {what}, and {left} not show this; copy it again, or export it again"


def _after_last_event(text: str) -> str | None:
    """Return the text behind the last whole event; None without one."""
    phase = text.rfind('"ph"')
    start = phase
    for _ in range(_MOST_BRACES):
        start = text.rfind("{", 0, start)
        if start < 0:
            return None
        try:
            event, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and "ph" in event:
            return text[end:]
    return None


def _count_of(file: Path, text: bytes) -> int:
    """Return how often a text occurs in the readable part of a file."""
    count, end = 0, b""
    try:
        with opened(file) as content:
            while piece := content.read1(_PIECE_BYTES):
                count += (end + piece).count(text)
                end = piece[-len(text) + 1 :]
    except (OSError, EOFError, zlib.error, gzip.BadGzipFile):
        pass
    return count
