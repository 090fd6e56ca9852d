"""Export to cluster_analysis.db, the SQLite file that users of msprof-analyze know.

Its tables are ModuleStatistic, ModuleTree, ModuleCoverage, and ProfileRank, which says which folder a rankID is.
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
from prof_analysis.rank import Rank

FILE_NAME = "cluster_analysis.db"

# Table here -> (table of the engine, its columns -> column and SQLite type here).
_TABLES: Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]] = {
    "ModuleStatistic": (
        "module.statistic",
        {
            "parent_module": ("parentModule", "TEXT"),
            "module": ("module", "TEXT"),
            "op_name": ("opName", "TEXT"),
            "kernel_list": ("kernelList", "TEXT"),
            "total_kernel_duration_ns": ("totalKernelDuration(ns)", "REAL"),
            "avg_kernel_duration_ns": ("avgKernelDuration(ns)", "REAL"),
            "op_count": ("opCount", "INTEGER"),
        },
    ),
    "ModuleTree": (
        "module.tree",
        {
            "parent_module": ("parentModule", "TEXT"),
            "module": ("module", "TEXT"),
            "depth": ("depth", "INTEGER"),
            "calls": ("calls", "INTEGER"),
            "own_kernel_duration_ns": ("ownKernelDuration(ns)", "INTEGER"),
            "kernel_duration_ns": ("kernelDuration(ns)", "INTEGER"),
            "kernel_duration_share": ("kernelDurationShare", "REAL"),
            "avg_kernel_duration_ns": ("avgKernelDuration(ns)", "REAL"),
        },
    ),
    "ModuleCoverage": (
        "module.coverage",
        {
            "kind": ("kind", "TEXT"),
            "place": ("place", "TEXT"),
            "reason": ("reason", "TEXT"),
            "kernel_count": ("kernelCount", "INTEGER"),
            "kernel_duration_ns": ("kernelDuration(ns)", "INTEGER"),
            "kernel_duration_share": ("kernelDurationShare", "REAL"),
            "top_ops": ("topOps", "TEXT"),
        },
    ),
}


def write(connection: duckdb.DuckDBPyConnection, ranks: list[Rank], folder: Path) -> Path:
    """Write the tables; in an existing file they are replaced in one transaction and all other tables stay."""
    target = folder / FILE_NAME
    numbers = rank_numbers(ranks)
    with _database(target) as database:
        known = [number for number in numbers.values() if number >= 0]
        is_ambiguous = len(known) > len(set(known))
        for name, (table, columns) in _TABLES.items():
            with_profile = is_ambiguous or name != "ModuleStatistic"
            _write_table(connection, database, name, table, columns, numbers, with_profile)
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
    table: str,
    columns: Mapping[str, tuple[str, str]],
    numbers: Mapping[str, int],
    with_profile: bool,
) -> None:
    definition = [f"{quote(column)} {type_}" for column, type_ in columns.values()]
    definition += ["rankID INTEGER"] + ["profile TEXT"] * with_profile
    database.execute(f"DROP TABLE IF EXISTS {quote(name)}")
    database.execute(f"CREATE TABLE {quote(name)} ({', '.join(definition)})")
    insert = f"INSERT INTO {quote(name)} VALUES ({', '.join('?' * len(definition))})"
    result = connection.execute(f"SELECT {', '.join(map(quote, columns))}, profile FROM {table}")
    while batch := result.fetchmany(10_000):
        database.executemany(insert, [(*row[:-1], numbers[row[-1]], *row[-1:] * with_profile) for row in batch])


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
