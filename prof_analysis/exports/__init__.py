"""One module per output format. Each file is the old one or the new one, never half of either."""

from pathlib import Path

import duckdb

from prof_analysis.discovery import Rank
from prof_analysis.errors import OutputError
from prof_analysis.exports import cluster_db, files

EXPORT_TYPES = ("db", *files.FORMATS)


def export(connection: duckdb.DuckDBPyConnection, ranks: list[Rank], folder: Path, export_type: str) -> list[Path]:
    """Write the module tables in one format and give the files written. Raises OutputError when one cannot be written."""
    if export_type not in EXPORT_TYPES:
        raise OutputError(f"{export_type}: no such export type; there are {', '.join(EXPORT_TYPES)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror}); give a folder you may write to with -o") from error
    if export_type == "db":
        return [cluster_db.write(connection, ranks, folder)]
    return files.write(connection, folder, export_type)
