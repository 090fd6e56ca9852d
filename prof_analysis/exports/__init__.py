"""One module per output format. Each file is the old one or the new one, never half of either."""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from prof_analysis.errors import OutputError, reason_of
from prof_analysis.exports import cluster_db, files
from prof_analysis.rank import Rank

EXPORT_TYPES = ("db", "text", "excel", *files.FORMATS)


def export(
    connection: duckdb.DuckDBPyConnection,
    stores: Mapping[Rank, Path],
    folder: Path,
    exports: Mapping[str, str],
    export_type: str,
    warnings: list[str],
) -> list[Path]:
    """Write tables in one format and give the files written.

    `exports` has the tables and their names outside. `stores` has the folder in which each rank left its tables; `connection`
    has views of them over all ranks. What the format could not hold is added to `warnings`. Raises OutputError when a file
    cannot be written.
    """
    if export_type not in EXPORT_TYPES:
        raise OutputError(f"{export_type}: no such export type; there are {', '.join(EXPORT_TYPES)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({reason_of(error)}); give a folder you may write to with -o") from error
    if export_type == "db":
        return [cluster_db.write(connection, list(stores), folder, exports)]
    if export_type in ("text", "excel"):
        from prof_analysis.exports import xlsx

        return xlsx.write(connection, stores, folder, exports, warnings)
    return files.write(connection, folder, exports, export_type)
