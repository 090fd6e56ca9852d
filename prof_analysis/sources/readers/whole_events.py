"""Finds the whole events in a damaged part of a list of events."""

import re

from prof_analysis.sources.readers.whole_json import WholeObjects

# What separates two events.
BETWEEN = b", \t\r\n"

# Not an object that is the value of a key.
_EVENT_START = re.compile(r'(?<![:\s])\s*(\{\s*["}])')
_PAIR_OR_LONE_SURROGATE = re.compile(
    rb"(\\\\|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})|\\u[dD][89a-fA-F][\da-fA-F]{2}"
)
_PHASE_OF_TEXT = re.compile(r'"ph"\s*:')
_END_OF_LIST = re.compile(r'\s*,?\s*\]\s*(?:,\s*"|\}|$)')


def salvage(damaged: bytes, is_object: bool) -> tuple[list[bytes], int, bytes, bool]:
    """Return the whole events in a damaged part of the list, the bytes lost between them, the rest, and whether the list ends.

    An object without a phase is part of a broken event. Where the list is in an object, it can end in this part: then there is
    no rest.
    """
    text = damaged.decode("utf-8", "surrogateescape")
    whole = WholeObjects(text)

    def as_bytes(start: int, end: int) -> bytes:
        return text[start:end].encode("utf-8", "surrogateescape")

    events = []
    lost_bytes = begin = end = 0
    while start := _EVENT_START.search(text, begin):
        found = whole.at(start.start(1))
        begin = found.go_on_at
        if found.value is not None and "ph" in found.value:
            events.append(_without_lone_surrogates(as_bytes(start.start(1), begin)))
            lost_bytes += len(as_bytes(end, start.start(1)).strip(BETWEEN))
            end = begin
            if is_object and (closing := _END_OF_LIST.match(text, end)) and not _PHASE_OF_TEXT.search(text, closing.end()):
                return events, lost_bytes, b"", True
    return events, lost_bytes, as_bytes(end, len(text)).lstrip(BETWEEN), False


def _without_lone_surrogates(event: bytes) -> bytes:
    """Replace lone surrogates in an event, which DuckDB refuses, with U+FFFD. Python writes them for bad bytes of a path."""
    return _PAIR_OR_LONE_SURROGATE.sub(lambda found: found[1] or rb"\ufffd", event)
