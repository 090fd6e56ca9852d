"""The same recording as an Ascend database could have it otherwise: in another order, with other numbers, at another time."""

import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

HOUR_NS = 3_600_000_000_000
TIMES = re.compile(r"(?i)(start|end|timestamp)(time)?ns|timestamp|(allocation|release|activeRelease)Time")
CONNECTIONS = {"CANN_API", "TASK", "COMMUNICATION_OP", "MSTX_EVENTS", "CONNECTION_IDS", "connectionCats"}
NO_CONNECTION = 4294967295


def databases(folder: Path) -> list[Path]:
    """Return the databases of the profiler below a folder."""
    return sorted(file for file in folder.rglob("*.db") if re.match(r"ascend_pytorch_profiler|analysis|msprof", file.name))


def edit(database: Path, change: Callable[[sqlite3.Connection], None]) -> None:
    """Change a database in place."""
    with closing(sqlite3.connect(database)) as connection:
        change(connection)
        connection.commit()


def columns(connection: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    """Yield the tables with their columns."""
    for (table,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall():
        yield table, [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]


def shuffled_rows(folder: Path) -> None:
    """Put the rows of each table in another order."""
    chance = random.Random(7)

    def change(connection: sqlite3.Connection) -> None:
        for table, names in columns(connection):
            rows = connection.execute(f'SELECT * FROM "{table}"').fetchall()
            chance.shuffle(rows)
            connection.execute(f'DELETE FROM "{table}"')
            connection.executemany(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(names))})', rows)

    for database in databases(folder):
        edit(database, change)


def an_hour_later(folder: Path) -> None:
    """Move all times by an hour."""

    def change(connection: sqlite3.Connection) -> None:
        for table, names in columns(connection):
            for name in names:
                if name == "start_timestamp":
                    connection.execute(f'UPDATE "{table}" SET "{name}" = "{name}" + {HOUR_NS // 1000}')
                elif TIMES.fullmatch(name):
                    time = f'CAST("{name}" AS INTEGER)'
                    connection.execute(f'UPDATE "{table}" SET "{name}" = {time} + {HOUR_NS} WHERE {time} > 0')

    for database in databases(folder):
        edit(database, change)


def other_threads(folder: Path) -> None:
    """Give the process and its threads other numbers."""

    def change(connection: sqlite3.Connection) -> None:
        for table, names in columns(connection):
            if "globalTid" in names:
                connection.execute(f'UPDATE "{table}" SET globalTid = globalTid + {(1111 << 32) + 1111}')
            if "globalPid" in names:
                connection.execute(f'UPDATE "{table}" SET globalPid = globalPid + 1111 WHERE globalPid <> {NO_CONNECTION}')

    for database in databases(folder):
        edit(database, change)


def other_connections(folder: Path) -> None:
    """Give the connections between calls and tasks other numbers."""

    def change(connection: sqlite3.Connection) -> None:
        for table, names in columns(connection):
            if table in CONNECTIONS and "connectionId" in names:
                connection.execute(
                    f'UPDATE "{table}" SET connectionId = connectionId + 500000'
                    f" WHERE connectionId <> {NO_CONNECTION} AND connectionId > 0"
                )

    for database in databases(folder):
        edit(database, change)


def other_texts(folder: Path) -> None:
    """Give the texts other numbers, in another order."""

    def change(connection: sqlite3.Connection) -> None:
        tables = dict(columns(connection))
        if "STRING_IDS" not in tables:
            return
        ids = [row[0] for row in connection.execute("SELECT id FROM STRING_IDS")]
        new = [1_000_000 + number for number in range(len(ids))]
        random.Random(7).shuffle(new)
        connection.execute("CREATE TEMP TABLE other (old INTEGER PRIMARY KEY, new INTEGER)")
        connection.executemany("INSERT INTO other VALUES (?, ?)", zip(ids, new, strict=True))
        for table, names in tables.items():
            for name in names:
                if (table, name) == ("STRING_IDS", "id") or name in TEXTS.get(table, ()):
                    connection.execute(
                        f'UPDATE "{table}" SET "{name}" = coalesce((SELECT new FROM other WHERE old = "{name}"), "{name}")'
                    )
        connection.execute("DROP TABLE other")

    for database in databases(folder):
        edit(database, change)


TEXTS = {
    "COMPUTE_TASK_INFO": (
        "name",
        "taskType",
        "opType",
        "inputFormats",
        "inputDataTypes",
        "inputShapes",
        "outputFormats",
        "outputDataTypes",
        "outputShapes",
        "attrInfo",
    ),
    "COMMUNICATION_TASK_INFO": ("name", "taskType", "groupName"),
    "COMMUNICATION_SCHEDULE_TASK_INFO": ("name", "taskType", "opType"),
    "COMMUNICATION_OP": ("opName", "groupName", "algType", "opType"),
    "TASK": ("taskType",),
    "CANN_API": ("name",),
    "PYTORCH_API": ("name", "inputDtypes", "inputShapes"),
    "PYTORCH_CALLCHAINS": ("stack",),
    "MSTX_EVENTS": ("message", "domainId"),
    "TASK_PMU_INFO": ("name",),
    "NPU_MEM": ("type",),
    "NPU_OP_MEM": ("operatorName", "type", "component"),
    "MEMORY_RECORD": ("component",),
    "OP_MEMORY": ("name",),
    "HBM": ("type",),
    "LLC": ("mode",),
}


def later_ordinals(folder: Path) -> None:
    """Count the collectives from another beginning, as where the rank warmed up for longer."""

    def change(connection: sqlite3.Connection) -> None:
        for table, names in columns(connection):
            for name in {"value", "hccl_op_name", "op_name"} & set(names):
                texts = connection.execute(f'SELECT DISTINCT "{name}" FROM "{table}" WHERE "{name}" LIKE \'hcom_%\'').fetchall()
                # From the last one on, so that no new name meets an old one.
                for (text,) in sorted(texts, key=lambda row: _ordinal(row[0]), reverse=True):
                    connection.execute(f'UPDATE "{table}" SET "{name}" = ? WHERE "{name}" = ?', (later(text), text))

    for database in databases(folder):
        edit(database, change)


def _ordinal(text: str) -> int:
    found = re.search(r"__\d+_(\d+)_", text)
    return int(found[1]) if found else 0


def later(text: str) -> str:
    """Return the name of a collective with an ordinal that is three more."""
    return re.sub(r"(hcom_\w+?__\d+)_(\d+)_", lambda found: f"{found[1]}_{int(found[2]) + 3}_", text)


def kept_within(first_ns: int, last_ns: int) -> Callable[[Path], None]:
    """Return what leaves only that which starts and ends within two times, as a recording that begins later or ends earlier."""

    def cut(folder: Path) -> None:
        def change(connection: sqlite3.Connection) -> None:
            for table, names in columns(connection):
                if {"startNs", "endNs"} <= set(names) and table != "STEP_TIME":
                    outside = f"CAST(startNs AS INTEGER) < {first_ns} OR CAST(endNs AS INTEGER) > {last_ns}"
                    connection.execute(f'DELETE FROM "{table}" WHERE {outside}')

        for database in databases(folder):
            edit(database, change)

    return cut
