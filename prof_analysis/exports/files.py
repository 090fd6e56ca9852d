"""Exports to csv, parquet and json: one file per table, all ranks in one, the columns of the API."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from prof_analysis.database import quote_text
from prof_analysis.errors import OutputError

FORMATS = {"csv": "FORMAT csv, HEADER", "parquet": "FORMAT parquet", "json": "FORMAT json, ARRAY true"}

_TABLES = {
    "module.statistic": "module_statistic",
    "module.tree": "module_tree",
    "module.coverage": "module_coverage",
}


def write(connection: duckdb.DuckDBPyConnection, folder: Path, file_format: str) -> list[Path]:
    """Write module_statistic, module_tree and module_coverage; give the files."""
    written = []
    for table, name in _TABLES.items():
        target = folder / f"{name}.{file_format}"
        with replacing(target) as unfinished:
            connection.execute(f"COPY (FROM {table}) TO {quote_text(str(unfinished))} ({FORMATS[file_format]})")
        written.append(target)
    return written


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a path beside the target to write to; on success it takes the target's place, else nothing is left of it."""
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(target)
    except (OSError, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        raise OutputError(f"{target}: cannot be written ({reason}); give another folder with -o") from error
    finally:
        unfinished.unlink(missing_ok=True)
