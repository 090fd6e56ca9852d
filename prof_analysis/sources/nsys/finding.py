"""Finds databases of Nsight Systems by their tables, and reports that nobody has exported."""

from collections.abc import Mapping
from pathlib import Path

from prof_analysis.common.errors import InputError
from prof_analysis.sources.found import Found
from prof_analysis.sources.nsys.tables import KNOWN_TABLES, TEXTS
from prof_analysis.sources.readers.sqlite_file import open_sqlite

_DATABASES = (".sqlite", ".sqlite3")
# Formats of Nsight Systems itself, which only its own programs read.
_REPORTS = (".nsys-rep", ".qdrep")


def find(folder: Path, is_folder: Mapping[str, bool]) -> Found:
    """Find the databases in a folder, and reports without a database beside them."""
    files = [folder / name for name in sorted(is_folder) if not is_folder[name]]
    databases = [file for file in files if file.suffix in _DATABASES and _may_be_of_nsys(file)]
    exported = {file.stem for file in databases}
    return Found((*databases, *(file for file in files if is_report(file) and file.stem not in exported)))


def takes(file: Path) -> bool:
    """Return whether a single file may be a database or a report; others give a database any name, such as that of msprof."""
    return is_report(file) or (file.suffix in (*_DATABASES, ".db") and _may_be_of_nsys(file))


def is_report(file: Path) -> bool:
    """Return whether a file is a report, by its name."""
    return file.suffix in _REPORTS


def _may_be_of_nsys(file: Path) -> bool:
    """Return whether a database has tables of Nsight Systems; an empty one, or one that cannot be read, may have had."""
    try:
        with open_sqlite(file, KNOWN_TABLES) as database:
            is_empty = not file.stat().st_size and file.suffix in _DATABASES
            return is_empty or TEXTS in database.tables or len(database.tables) > 1
    except InputError:
        return file.suffix in _DATABASES
