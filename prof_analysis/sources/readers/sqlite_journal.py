"""Looks into the journal beside an SQLite database before SQLite applies it: SQLite deletes a file that the journal names.

A journal ends with such a name where a transaction changed several databases (a super-journal). No profiler writes that.
"""

import os
from contextlib import suppress
from pathlib import Path

from prof_analysis.common.input_files import opened

_MAGIC = bytes.fromhex("d9d505f920a163d7")


def names_another_file(database: Path) -> bool:
    """Return whether the journal of a database names another file, which SQLite would delete."""
    with suppress(OSError), opened(database.with_name(f"{database.name}-journal")) as journal:
        journal.seek(-len(_MAGIC), os.SEEK_END)
        return journal.read() == _MAGIC
    return False
