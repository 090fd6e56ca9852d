"""Tables that msprof-analyze has written, for queries: those of a cluster_analysis.db that is given, or of the profile."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import duckdb

from prof_analysis.common.cluster_database import FILE_NAME, MARK, OUTPUT_FOLDER
from prof_analysis.common.errors import InputError
from prof_analysis.engine.quotes import quote
from prof_analysis.sources.discovery import root_of
from prof_analysis.sources.readers.sqlite_tables import copy_tables

SCHEMA = "msprof_analyze"
_MAY_NAME_THEM = re.compile(rf"\b{SCHEMA}\b|\bshow\b|\binformation_schema\b|\bduckdb_", re.IGNORECASE)


def is_given(table: str) -> bool:
    """Return whether a name is that of a table that msprof-analyze has written."""
    return table.lower().startswith(f"{SCHEMA}.")


def given_tables(
    connection: duckdb.DuckDBPyConnection, query: str, paths: Iterable[Path], shown: Callable[[str], str] | None
) -> Mapping[str, str]:
    """Return the tables that a query may name, in lower case, with their meanings; the first time, they are read.

    The database is one of the paths of the profile, or where msprof-analyze writes it: below the folder of the profile.
    `shown` replaces secrets, if any are replaced.
    Raises InputError where two databases are given, or the one cannot be read.
    """
    if not _MAY_NAME_THEM.search(query) or (database := _database(paths)) is None:
        return {}
    names = _names(connection)
    if not names:
        read_tables(connection, database, shown)
        names = _names(connection)
    at = database if shown is None else shown(str(database))
    return {f"{SCHEMA}.{name.lower()}": f"{name} of msprof-analyze, in {at}" for name in names}


def read_tables(connection: duckdb.DuckDBPyConnection, database: Path, shown: Callable[[str], str] | None) -> list[str]:
    """Copy the tables that msprof-analyze has written into a schema, and return their names; `shown` replaces secrets."""
    tables = copy_tables(connection, database, SCHEMA, without_mark=MARK)
    for table in tables if shown else ():
        name = f"{SCHEMA}.{quote(table)}"
        texts = [column for column, type_, *_ in connection.execute(f"DESCRIBE {name}").fetchall() if type_ == "VARCHAR"]
        for column in map(quote, texts):
            for (text,) in connection.execute(f"SELECT DISTINCT {column} FROM {name} WHERE {column} IS NOT NULL").fetchall():
                if shown and (said := shown(text)) != text:
                    change = f"UPDATE {name} SET {column} = $said WHERE {column} = $text"
                    connection.execute(change, {"said": said, "text": text})
    return tables


def _database(paths: Iterable[Path]) -> Path | None:
    paths = list(paths)
    given = [path for path in paths if path.name == FILE_NAME and path.is_file()]
    if len(given) > 1:
        raise InputError(f"{given[1]}: is a second {FILE_NAME}, whose tables have the same names; give one", path=given[1])
    beside = (root_of(path) / OUTPUT_FOLDER / FILE_NAME for path in paths)
    return next((file for file in (*given, *beside) if file.is_file()), None)


def _names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = "FROM duckdb_tables() WHERE schema_name = $schema AND database_name = current_database()"
    rows = connection.execute(f"SELECT table_name {found} ORDER BY 1", {"schema": SCHEMA}).fetchall()
    return [name for (name,) in rows]
