"""One module per output format. A file is always either the old one or the new one, never a part of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from prof_analysis.analyses import ANALYSES
from prof_analysis.common.cluster_database import FILE_NAME
from prof_analysis.common.errors import InputError, OutputError, reason_of
from prof_analysis.common.option_docs import check

if TYPE_CHECKING:
    import duckdb

    from prof_analysis.analyses.answer import Answer
    from prof_analysis.engine.table_file import Table
    from prof_analysis.exports.provenance import Origin
    from prof_analysis.sources.rank import Rank


class ExportType(StrEnum):
    """The formats of a result. msprof-analyze calls xlsx `text`."""

    db = "db"
    xlsx = "xlsx"
    csv = "csv"
    parquet = "parquet"
    json = "json"
    duckdb = "duckdb"
    text = "text"
    excel = "excel"
    trace = "trace"
    speedscope = "speedscope"
    collapsed = "collapsed"


# So many rows of each list of an answer are on the first sheet of a workbook.
IN_WORKBOOK = 50
# The words for a workbook.
WORKBOOK = ("xlsx", "text", "excel")


def check_type(export_type: str, command: str) -> None:
    """Raise an InputError unless a command writes this format: pictures are of some analyses alone."""
    check("export_type", export_type, export_type in tuple(ExportType), ", ".join(ExportType))
    drawing = [name for name, analysis in ANALYSES.items() if export_type in analysis.pictures]
    if drawing and command not in drawing:
        raise InputError(f"export_type={export_type!r}: {command} does not write it; {', '.join(drawing)} do")


def export(
    connection: duckdb.DuckDBPyConnection,
    ranks: Sequence[Rank],
    folder: Path,
    exports: Mapping[str, str],
    export_type: str,
    warnings: list[str],
    origin: Origin,
    outdated: Iterable[str] = (),
    documented: Mapping[str, Table] | None = None,
    roots: Iterable[Path] = (),
    answers: Mapping[str, Answer] = MappingProxyType({}),
) -> list[Path]:
    """Write tables in a format, and return the files written.

    `exports` maps tables to their names in exports. `connection` has the tables, each with the rows of all `ranks` in their
    order. `origin` says what the tables are made of. Warnings of what the format cannot hold, and of what was removed, are
    added to `warnings`. `outdated` names tables whose files an earlier run may have left but that do not belong beside these:
    they are removed. `documented` has the tables by name, by default those of this package. `roots` are the folders of the
    profiles, in which no link is followed. `answers` are those of the command, by run, for the first sheet of a workbook.
    Raises OutputError when a file cannot be written.
    """
    from prof_analysis.engine.tables import documented_tables
    from prof_analysis.exports import cluster_db, duckdb_file, files
    from prof_analysis.exports.names import file_name

    documented = documented_tables() if documented is None else documented
    roots = tuple(roots)
    _refuse_link(folder, roots)
    make(folder)
    if export_type == "db":
        _refuse_link(folder / FILE_NAME, roots)  # SQLite writes into the file that is there.
        return [cluster_db.write(connection, ranks, folder, exports, documented, origin, warnings)]
    if export_type == "duckdb":
        return [duckdb_file.write(connection, ranks, folder, exports, documented, origin)]
    if export_type == "trace":
        from prof_analysis.exports import trace

        return trace.write(connection, ranks, folder, warnings)
    if export_type in ("speedscope", "collapsed"):
        from prof_analysis.exports import flames

        return flames.write(connection, folder, exports, export_type)
    if export_type in WORKBOOK:
        from prof_analysis.exports import xlsx

        _refuse_link(folder / xlsx.folder_name(exports, documented), roots)
        written = xlsx.write(connection, ranks, folder, exports, documented, origin, answers, warnings)
    else:
        written = files.write(connection, folder, exports, export_type)
    for first in written[:1]:
        for name in outdated:
            _remove(first.with_name(f"{file_name(name)}{first.suffix}"))
    return written


def make(folder: Path) -> None:
    """Create a folder for exports. Raises OutputError when that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be made ({reason_of(error)}); give a folder you may write to with -o", path=folder
        ) from error


def _refuse_link(path: Path, roots: Iterable[Path]) -> None:
    """Raise OutputError for a link in one of these folders: its sender, not the user, chose where it leads.

    Also a link within the folder: exports would end in the files of the profile.
    """
    if path.is_symlink():
        parent = Path(os.path.realpath(path.parent))
        if any(parent.is_relative_to(os.path.realpath(root)) for root in roots):
            said = "is a link in the folder of a profile, which is not followed; remove it, or give another folder with -o"
            raise OutputError(f"{path}: {said}", path=path)


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{file}: is outdated and cannot be removed ({reason_of(error)}); remove it", path=file) from error
