"""Export to cluster_analysis.db, the SQLite file that users of msprof-analyze know.

It holds the tables of each analysis that was asked for, and ProfileRank, which says which folder a rankID is. Columns are
those of the engine in camel case, units in parentheses, then rankID and profile, which a table over all ranks has not.
ModuleStatistic has the columns of msprof-analyze 26.2.0 (its recipe module_statistic). Where two folders have the same
rank id it ends in a further column, `profile`, since rankID alone no longer tells them apart.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb

from prof_analysis.database import quote
from prof_analysis.errors import OutputError
from prof_analysis.exports.files import replacing
from prof_analysis.exports.names import camel_case
from prof_analysis.rank import Rank
from prof_analysis.tables import Column, Table, documented_tables

FILE_NAME = "cluster_analysis.db"

# ModuleStatistic has just the columns and types of msprof-analyze.
_AS_MSPROF_ANALYZE = "module.statistic"
_LEFT_OUT = {"op_chain"}
_REAL = {"total_kernel_duration_ns"}


def write(connection: duckdb.DuckDBPyConnection, ranks: list[Rank], folder: Path, exports: Mapping[str, str]) -> Path:
    """Write the tables; in an existing file they are replaced in one transaction and all other tables stay."""
    target = folder / FILE_NAME
    numbers = rank_numbers(ranks)
    with _database(target) as database:
        known = [number for number in numbers.values() if number >= 0]
        is_ambiguous = len(known) > len(set(known))
        for table, name in exports.items():
            with_profile = is_ambiguous or table != _AS_MSPROF_ANALYZE
            _write_table(connection, database, name, documented_tables()[table], numbers, with_profile)
        database.execute('DROP TABLE IF EXISTS "ProfileRank"')
        database.execute('CREATE TABLE "ProfileRank" (profile TEXT, rankID INTEGER, deviceID INTEGER, rankIDFrom TEXT)')
        database.executemany(
            'INSERT INTO "ProfileRank" VALUES (?, ?, ?, ?)',
            [(rank.profile, numbers[rank.profile], rank.device_id, rank.rank_id_from) for rank in ranks],
        )
    return target


def rank_numbers(ranks: list[Rank]) -> dict[str, int]:
    """The rankID of each profile: its rank id; those without one are -1, -2, ... by folder (msprof-analyze: all -1)."""
    unnumbered = sorted(rank.profile for rank in ranks if rank.rank_id is None)
    numbers = {profile: -1 - position for position, profile in enumerate(unnumbered)}
    return numbers | {rank.profile: rank.rank_id for rank in ranks if rank.rank_id is not None}


def _write_table(
    connection: duckdb.DuckDBPyConnection,
    database: sqlite3.Connection,
    name: str,
    table: Table,
    numbers: Mapping[str, int],
    with_profile: bool,
) -> None:
    columns = [column for column in table.columns if table.name != _AS_MSPROF_ANALYZE or column.name not in _LEFT_OUT]
    definition = [f"{quote(camel_case(column.shown_name))} {_sqlite_type(table, column)}" for column in columns]
    shown = ", ".join(quote(column.shown_name) for column in columns)
    if table.is_across_ranks:
        result = connection.execute(f"SELECT {shown} FROM {table.name}")
    else:
        result = connection.execute(f"SELECT {shown}, profile FROM {table.name}")
        definition += ["rankID INTEGER"] + ["profile TEXT"] * with_profile
    database.execute(f"DROP TABLE IF EXISTS {quote(name)}")
    database.execute(f"CREATE TABLE {quote(name)} ({', '.join(definition)})")
    insert = f"INSERT INTO {quote(name)} VALUES ({', '.join('?' * len(definition))})"
    while batch := result.fetchmany(10_000):
        if table.is_across_ranks:
            database.executemany(insert, batch)
        else:
            database.executemany(insert, [(*row[:-1], numbers[row[-1]], *row[-1:] * with_profile) for row in batch])


def _sqlite_type(table: Table, column: Column) -> str:
    if column.type == "DOUBLE" or (table.name == _AS_MSPROF_ANALYZE and column.name in _REAL):
        return "REAL"
    return "INTEGER" if column.type in ("BIGINT", "INTEGER", "BOOLEAN") else "TEXT"


@contextmanager
def _database(target: Path) -> Iterator[sqlite3.Connection]:
    """One transaction on the file: a new file is written beside its place and renamed into it."""
    if not target.exists():
        with replacing(target) as unfinished, _transaction(unfinished, target) as database:
            yield database
    else:
        with _transaction(target, target) as database:
            yield database


@contextmanager
def _transaction(path: Path, target: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise OutputError(f"{target}: cannot be written ({error}); give another folder with -o, or move the file") from error
