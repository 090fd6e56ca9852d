"""Finds out whether files of figures hold any, without reading them whole: `ranks` must not promise what they do not answer."""

from collections.abc import Mapping, Set
from pathlib import Path

from prof_analysis.common.errors import InputError
from prof_analysis.sources.ascend_beside import analysis_db, folders, recorded
from prof_analysis.sources.readers.csv_file import read_header
from prof_analysis.sources.readers.cut_off import ends_with_bracket
from prof_analysis.sources.readers.marks import ANYTHING, found_marks

# File -> the columns without which its rows say nothing, or it is another file; of those with an "or" one suffices.
_COLUMNS: Mapping[str, tuple[str, ...]] = {
    recorded.STEPS: ("step", "computing"),
    recorded.KERNELS: ("op type", "count", "total time(us)"),
    recorded.STATIC: ("op name", "node index start", "size(kb)"),
    recorded.CALLS: ("api name", "count", "time(us)"),
    folders.OPERATOR_DETAILS: ("name", "host self duration(us) or call stack"),
    folders.OPERATOR_MEMORY: ("name", "size(kb)", "allocation time(us)"),
    folders.MEMORY_RECORD: ("component", "timestamp(us)"),
    folders.MODULE_MEMORY: ("component", "timestamp(us)"),
}
# File -> a key that each entry has.
_KEYS: Mapping[str, bytes] = {recorded.COMMUNICATION: b'"Elapse Time(ms)"', recorded.MATRIX: b'"Transit Size(MB)"'}
_ROW = {"rows": (b"", rb"[\r\n][^\r\n]")}


def holds_figures(file: Path) -> bool:
    """Return whether a file of figures holds any.

    Raises InputError where it cannot be read, was cut off, or is another file than its name says.
    """
    role = recorded.role_of(file)
    if role == analysis_db.DATABASE:
        return bool(analysis_db.tables_with_rows(file))
    if role in _COLUMNS:
        names = {name.lower() for name in read_header(file)[1]}
        if lacking := [column for column in _COLUMNS[role] if names.isdisjoint(column.split(" or "))]:
            column = " or ".join(map(repr, lacking[0].split(" or ")))
            raise InputError(f"{file}: is not the {role} of the profiler: it has no column {column}", path=file)
        return bool(found_marks(file, _ROW))
    if role in _KEYS:
        if not ends_with_bracket(file):
            raise InputError(f"{file}: was cut off, or is no {role}; copy it again, or export it again", path=file)
        return bool(found_marks(file, {"entries": (_KEYS[role], ANYTHING)}))
    return True


def name_by_columns(columns: Set[str]) -> str | None:
    """Return the name of the file of figures that has these columns, in lower case; None where none has."""
    return next(
        (name for name, needed in _COLUMNS.items() if not any(columns.isdisjoint(one.split(" or ")) for one in needed)), None
    )
