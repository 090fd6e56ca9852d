"""Export to cluster_analysis.db, the SQLite file that users of msprof-analyze know.

It holds the tables of each analysis that was run, and ProfileRank, which maps each rankID to its folder. The columns are those
of the engine in camel case, with units in parentheses, then rankID and profile, which tables over all ranks lack.
ModuleStatistic, OperatorMFU and ModuleMFU have the columns of msprof-analyze 26.2.0 (its recipes module_statistic and
operator_mfu); if there is an MFU, ModuleStatistic has avgMFU too, where 8.3.0 has it. Where two folders have the same rank id,
these three tables end in a further column, `profile`, since the rank id alone does not identify a rank. With several runs,
ProfileRank has the run of each profile, and tables over ranks begin with the column `run`.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from prof_analysis.engine.database import quote
from prof_analysis.engine.tables import Column, Table
from prof_analysis.errors import OutputError
from prof_analysis.exports.files import flush, unfinished_beside
from prof_analysis.exports.names import camel_case, snake_case
from prof_analysis.sources.rank import Rank

FILE_NAME = "cluster_analysis.db"
# How long to wait for another process that writes the same file.
_LOCK_SECONDS = 60.0


@dataclass(frozen=True)
class _Layout:
    """The layout of a table: the columns left out, those that are REAL though integers, and the position of the rank id.

    `optional` columns are left out where no row has a value.
    """

    left_out: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    real: frozenset[str] = frozenset()
    rank_first: bool = False


# The tables that have exactly the columns and types of msprof-analyze.
_AS_MSPROF_ANALYZE = {
    "module.statistic": _Layout(frozenset({"op_chain"}), frozenset({"avg_mfu"}), frozenset({"total_kernel_duration_ns"})),
    "mfu.operator_mfu": _Layout(real=frozenset({"kernel_duration_ns", "flops"}), rank_first=True),
    "mfu.module_mfu": _Layout(real=frozenset({"total_kernel_duration_ns"}), rank_first=True),
}


def write(
    connection: duckdb.DuckDBPyConnection,
    ranks: Sequence[Rank],
    folder: Path,
    exports: Mapping[str, str],
    documented: Mapping[str, Table],
    outdated: Iterable[str] = (),
) -> Path:
    """Write the tables. In an existing file they are replaced in one transaction; other tables stay, except `outdated` ones."""
    target = folder / FILE_NAME
    numbers = rank_numbers(ranks)
    known = [number for number in numbers.values() if number >= 0]
    is_ambiguous = len(known) > len(set(known))

    def fill(database: sqlite3.Connection) -> None:
        for name in outdated:
            database.execute(f"DROP TABLE IF EXISTS {quote(name)}")
        for table, name in exports.items():
            with_profile = is_ambiguous or table not in _AS_MSPROF_ANALYZE
            _write_table(connection, database, name, documented[table], numbers, with_profile)
        if ranks:
            _write_ranks(database, ranks, numbers)

    if target.exists() or not _make(target, fill):
        with _transaction(target, target) as database:
            fill(database)
    return target


def _write_ranks(database: sqlite3.Connection, ranks: Sequence[Rank], numbers: Mapping[str, int]) -> None:
    runs = [(rank.run,) if any(rank.run for rank in ranks) else () for rank in ranks]
    columns = ("run TEXT",) * len(runs[0]) + ("profile TEXT", "rankID INTEGER", "deviceID INTEGER", "rankIDFrom TEXT")
    database.execute('DROP TABLE IF EXISTS "ProfileRank"')
    database.execute(f'CREATE TABLE "ProfileRank" ({", ".join(columns)})')
    database.executemany(
        f'INSERT INTO "ProfileRank" VALUES ({", ".join("?" * len(columns))})',
        [
            (*run, rank.profile, numbers[rank.profile], rank.device_id, rank.rank_id_from)
            for run, rank in zip(runs, ranks, strict=True)
        ],
    )


def rank_numbers(ranks: Sequence[Rank]) -> dict[str, int]:
    """Return the rankID of each profile: its rank id; without one, -1, -2, ... by folder (msprof-analyze: all -1)."""
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
    layout = _AS_MSPROF_ANALYZE.get(table.name, _Layout())
    empty = {name for name in layout.optional if _is_empty(connection, table.name, name)}
    columns = [column for column in table.columns if column.name not in layout.left_out | empty]
    named = snake_case if layout.rank_first else camel_case
    definition = [f"{quote(named(column.shown_name))} {_sqlite_type(column, layout)}" for column in columns]
    shown = ", ".join(quote(column.shown_name) for column in columns)
    if table.grain != "rank":
        result = connection.execute(f"SELECT {shown} FROM {table.name}")
    else:
        result = connection.execute(f"SELECT profile, {shown} FROM {table.name}")
        definition = ["rank_id INTEGER", *definition] if layout.rank_first else [*definition, "rankID INTEGER"]
        definition += ["profile TEXT"] * with_profile
    database.execute(f"DROP TABLE IF EXISTS {quote(name)}")
    database.execute(f"CREATE TABLE {quote(name)} ({', '.join(definition)})")
    insert = f"INSERT INTO {quote(name)} VALUES ({', '.join('?' * len(definition))})"
    while batch := result.fetchmany(10_000):
        if table.grain != "rank":
            rows = batch
        elif layout.rank_first:
            rows = [(numbers[profile], *row, *[profile] * with_profile) for profile, *row in batch]
        else:
            rows = [(*row, numbers[profile], *[profile] * with_profile) for profile, *row in batch]
        database.executemany(insert, rows)


def _is_empty(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> bool:
    return not connection.execute(f"SELECT 1 FROM {table} WHERE {quote(column)} IS NOT NULL LIMIT 1").fetchall()


def _sqlite_type(column: Column, layout: _Layout) -> str:
    if column.type == "DOUBLE" or column.name in layout.real:
        return "REAL"
    return "INTEGER" if column.type in ("BIGINT", "INTEGER", "BOOLEAN") else "TEXT"


def _make(target: Path, fill: Callable[[sqlite3.Connection], None]) -> bool:
    """Write a new file beside the target and link it to the target's path, so that it appears whole.

    Return False where it cannot be linked: another process has made the target meanwhile, whose tables must stay, or the disk
    has no links. Then SQLite writes into the target itself, and locks it for one process at a time.
    """
    with unfinished_beside(target) as unfinished:
        with _transaction(unfinished, target) as database:
            fill(database)
        flush(unfinished)
        try:
            target.hardlink_to(unfinished)
        except OSError:
            return False
    return True


@contextmanager
def _transaction(path: Path, target: Path) -> Iterator[sqlite3.Connection]:
    """Open a transaction on the file at a path; errors name the target."""
    try:
        with closing(sqlite3.connect(path, _LOCK_SECONDS, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise OutputError(
            f"{target}: cannot be written ({error}); give another folder with -o, or move the file", path=target
        ) from error
