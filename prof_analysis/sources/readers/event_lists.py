"""Makes JSON lists of events, and of the lists a table that DuckDB reads."""

import re
from array import array
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from prof_analysis.sources.readers.trace_file import CHUNK_BYTES
from prof_analysis.sources.readers.whole_events import BETWEEN

if TYPE_CHECKING:
    import pyarrow

_NUMBER_TIMESTAMP = re.compile(rb'"ts"\s*:\s*(-?\d[\d.eE+-]*)')


def in_lists(events: list[bytes]) -> list[bytes]:
    """Return these events as lists of the size of a chunk, with time stamps as texts."""
    sizes = accumulate(map(len, events))
    numbered = groupby(zip(sizes, events, strict=True), lambda one: one[0] // CHUNK_BYTES)
    return [with_text_timestamps(as_list(b",".join(event for _, event in group))) for _, group in numbered]


def as_list(events: bytes | memoryview) -> bytes:
    """Return events as a JSON list."""
    end = len(events)
    while end and events[end - 1] in BETWEEN:
        end -= 1
    return b"".join((b"[", memoryview(events)[:end], b"]"))


def with_text_timestamps(events: bytes) -> bytes:
    """Return events with quotes around the time stamps that are numbers; sub() takes twice the time."""
    parts = _NUMBER_TIMESTAMP.split(events)
    parts[1::2] = [b'"ts":"%b"' % stamp for stamp in parts[1::2]]
    return b"".join(parts)


def as_readable_table(lists: list[bytes], rows_of_batch: int = 1) -> "pyarrow.Table":
    """Return texts as a table. Bytes that are not UTF-8 become U+FFFD."""
    import pyarrow

    try:
        return as_table(lists, rows_of_batch)
    except pyarrow.ArrowInvalid:
        return as_table([one.decode("utf-8", "replace").encode() for one in lists], rows_of_batch)


def as_table(lists: list[bytes], rows_of_batch: int = 1) -> "pyarrow.Table":
    """Return texts as a table, in batches of one, so that they are not copied. Raises ArrowInvalid where one is not UTF-8.

    It is made of buffers, since pyarrow.array() imports pandas, which takes 0.4 s.
    """
    import pyarrow

    schema = pyarrow.schema([("number", pyarrow.int64()), ("text", pyarrow.string())])
    batches = []
    for first in range(0, len(lists), rows_of_batch):
        rows = lists[first : first + rows_of_batch]
        numbers = pyarrow.py_buffer(array("q", range(first, first + len(rows))))
        ends = pyarrow.py_buffer(array("i", accumulate(map(len, rows), initial=0)))
        text = pyarrow.py_buffer(rows[0] if len(rows) == 1 else b"".join(rows))
        texts = pyarrow.Array.from_buffers(pyarrow.string(), len(rows), [None, ends, text])
        texts.validate(full=True)
        columns = [pyarrow.Array.from_buffers(pyarrow.int64(), len(rows), [None, numbers]), texts]
        batches.append(pyarrow.RecordBatch.from_arrays(columns, schema=schema))
    return pyarrow.Table.from_batches(batches, schema)
