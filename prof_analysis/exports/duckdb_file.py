"""Export to a DuckDB file: all tables of an answer with the rows and columns of the API, each documented by comments."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile

import duckdb

from prof_analysis.common.files import replacing
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.table_file import Table
from prof_analysis.exports.names import file_name
from prof_analysis.exports.provenance import OF_RANKS, PROFILE_RANK, PROVENANCE, Origin, profile_rank, provenance
from prof_analysis.sources.rank import Rank

# The oldest version of DuckDB that reads the file is 1.0.
_READABLE_FROM = "v1.0.0"
_FILE = "_exported"


def write(
    connection: duckdb.DuckDBPyConnection,
    ranks: Sequence[Rank],
    folder: Path,
    exports: Mapping[str, str],
    documented: Mapping[str, Table],
    origin: Origin,
) -> Path:
    """Write a file named like the first table, such as module_statistic.duckdb, and return it."""
    target = folder / f"{file_name(next(iter(exports.values())))}.duckdb"
    with replacing(target) as unfinished, _attached(connection, unfinished):
        for table, name in exports.items():
            of_table = {column.shown_name: column.meaning for column in documented[table].columns}
            _create(connection, name, connection.sql(f"FROM {table}"), documented[table].summary, {**OF_RANKS, **of_table})
        if ranks:
            numbers = {rank.profile: rank.rank_id for rank in ranks}
            _create(connection, PROFILE_RANK.name, profile_rank(connection, ranks, numbers), *PROFILE_RANK[1:])
        rows = provenance(connection, exports, origin, [PROFILE_RANK.name] * bool(ranks))
        _create(connection, PROVENANCE.name, rows, *PROVENANCE[1:])
    return target


def _create(
    connection: duckdb.DuckDBPyConnection, name: str, rows: duckdb.DuckDBPyRelation, summary: str, meanings: Mapping[str, str]
) -> None:
    """Create a table with a comment on it and on each column."""
    table = f"{_FILE}.main.{quote(name)}"
    rows.create(table)
    connection.execute(f"COMMENT ON TABLE {table} IS {quote_text(summary)}")
    for column in rows.columns:
        connection.execute(f"COMMENT ON COLUMN {table}.{quote(column)} IS {quote_text(meanings[column])}")


@contextmanager
def _attached(connection: duckdb.DuckDBPyConnection, file: Path) -> Iterator[None]:
    """Attach a new file; it is whole at the end."""
    with temporary_folder() as scratch:
        # DuckDB puts the name of its journal before a ? in a path.
        written = scratch / file.name if "?" in str(file) else file
        connection.execute(f"ATTACH {quote_text(str(written))} AS {_FILE} (STORAGE_VERSION '{_READABLE_FROM}')")
        try:
            yield
        finally:
            try:
                connection.execute(f"DETACH {_FILE}")
            finally:
                # The journal is there only where writing failed.
                written.with_name(f"{written.name}.wal").unlink(missing_ok=True)
        if written != file:
            copyfile(written, file)
