"""Holds the size of an SQLite file against its header: SQLite reads what is missing of the last page as zeros, without a word.

Whole pages that are missing are an error of SQLite's own.
"""

import os
from contextlib import suppress
from pathlib import Path

from prof_analysis.common.input_files import opened

_HEADER_BYTES = 100
_LARGEST_PAGE = 65536  # which does not fit into the two bytes, and is written as 1


def missing_bytes(database: Path) -> int:
    """Return how many bytes of its pages a database lacks at its end; journals are applied. 0 where nobody can say."""
    header, size = b"", 0
    with suppress(OSError), opened(database) as file:
        header = file.read(_HEADER_BYTES)
        size = os.fstat(file.fileno()).st_size
    if len(header) < _HEADER_BYTES:  # An empty file is a database without tables.
        return 0
    written = _number(header, 16, 2)
    page_bytes = _LARGEST_PAGE if written == 1 else written
    # A writer before SQLite 3.7 (2010) leaves the number of pages as it is, and the second counter of changes behind the first.
    is_counted = _number(header, 24, 4) == _number(header, 92, 4)
    pages = _number(header, 28, 4) if is_counted else 0
    return max(0, page_bytes * (pages or -(-size // page_bytes)) - size)


def _number(header: bytes, begin: int, count: int) -> int:
    return int.from_bytes(header[begin : begin + count], "big")
