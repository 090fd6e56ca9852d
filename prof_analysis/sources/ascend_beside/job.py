"""Reads facts about the job from the files of a rank: its ranks, the end of the recording, the host."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from prof_analysis.common.errors import InputError
from prof_analysis.common.input_files import SETTINGS_BYTES
from prof_analysis.engine.quotes import quote_text
from prof_analysis.sources.ascend_beside import analysis_db, folders, recorded
from prof_analysis.sources.rank import TABLE, Rank, json_object, object_in
from prof_analysis.sources.readers.sqlite_file import SqliteFile, open_sqlite, query, sidecars_of

_OF_DEVICE = "info.json"  # Its last part is the number of the device.
_USUAL = {
    _OF_DEVICE,
    "trace_view.json", "ascend_pytorch_profiler.db", "profiler_info.json", folders.KERNEL_DETAILS, folders.OPERATOR_DETAILS,
    *folders.MEMORY, *recorded.TEXTS, recorded.COMMUNICATION, analysis_db.DATABASE,
}  # fmt: skip
# Tables that the profiler writes where there is a row for them: of a job that is alike on its ranks, all have them or none.
_USUAL_TABLES = {
    "TASK", "COMPUTE_TASK_INFO", "COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "COMMUNICATION_SCHEDULE_TASK_INFO", "CANN_API",
    "PYTORCH_API", "CONNECTION_IDS", "STRING_IDS", "STEP_TIME",
}  # fmt: skip
_DEFAULT_GROUP = "default_group"
_TASKS = "COMMUNICATION_TASK_INFO"
_NO_RANK = 4294967295
_OF_JOB = ("parallel_group_info", "distributed_args")
_SIZE = "length(CAST(value AS BLOB))"
_IS_SMALL = f"{_SIZE} <= {SETTINGS_BYTES}"
# A rank meets the same others again and again, and each opening of a profile looks.
_TASKS_LOOKED_AT = 10_000


def job_of(rank: Rank) -> tuple[int, str | None] | None:
    """Return the number of ranks of the job, and the name of their common communicator, which contains its time of creation."""
    metadata = _metadata(rank)
    groups = metadata.get("parallel_group_info")
    for name, group in groups.items() if isinstance(groups, dict) else ():
        members = group.get("global_ranks") if isinstance(group, dict) and group.get("group_name") == _DEFAULT_GROUP else None
        if isinstance(members, list):
            return len(members), str(name)
    arguments = metadata.get("distributed_args")
    size = arguments.get("world_size") if isinstance(arguments, dict) else None
    return (size, None) if isinstance(size, int) else None


def least_ranks_of(rank: Rank) -> int | None:
    """Return how many ranks the job has at least, by the ranks in its groups and those that its communication names."""
    return max((least for least in (_listed_ranks(rank), _named_ranks(rank)) if least is not None), default=None)


def _listed_ranks(rank: Rank) -> int | None:
    groups = _metadata(rank).get("parallel_group_info")
    listed = (
        (group.get("global_ranks") for group in groups.values() if isinstance(group, dict)) if isinstance(groups, dict) else ()
    )
    numbers = [number for members in listed if isinstance(members, list) for number in members if isinstance(number, int)]
    return max(numbers) + 1 if numbers else None


def _named_ranks(rank: Rank) -> int | None:
    database = next((file for file in rank.inputs[:1] if file.suffix == ".db"), None)
    if database is None or sidecars_of(database):
        return None
    try:
        with open_sqlite(database, {_TASKS}) as file:
            if not {"srcRank", "dstRank"} <= file.tables.get(_TASKS, {}).keys():
                return None
            # What is no rank is 2^32 - 1.
            named = f"SELECT srcRank, CASE WHEN dstRank < {_NO_RANK} THEN dstRank END AS dstRank FROM {_TASKS}"
            rows = query(file, f"SELECT max(srcRank), max(dstRank) FROM ({named} LIMIT {_TASKS_LOOKED_AT})")
    except InputError:  # The error is raised when the rank is read.
        return None
    known = [number for number in rows[0] if isinstance(number, int) and number < _NO_RANK]
    return max(known) + 1 if known else None


def usual_files_of(rank: Rank) -> frozenset[str]:
    """Return the files of a rank that are read, where they exist, by their names without the number of the rank.

    Of its database there are also the tables, where they are known: `table TASK`.
    """
    if not rank.folder.is_dir():
        return frozenset()
    names = {re.sub(r"_\d+(?=\.(json|db)$)", "", name.removesuffix(".gz")) for name in rank.files}
    names.update(file.stem for file in rank.inputs if file.stem == _OF_DEVICE)
    return frozenset((names & _USUAL) | {f"{TABLE}{name}" for name in _usual_tables(rank)})


def _usual_tables(rank: Rank) -> set[str]:
    database = next((file for file in rank.inputs[:1] if file.suffix == ".db"), None)
    if database is None or sidecars_of(database):  # With a journal, the whole database would be copied.
        return set()
    try:
        with open_sqlite(database, _USUAL_TABLES) as file:
            return _USUAL_TABLES & set(file.tables)
    except InputError:  # The error is raised when the rank is read.
        return set()


def end_of(rank: Rank) -> int | None:
    """Return the time at which the recording ended, ns."""
    for file in sorted(rank.folder.glob("profiler_info*.json")):
        end = json_object(file).get("end_info")
        if isinstance(end, dict) and isinstance(moment := end.get("collectionTimeEnd"), int):
            return moment
    return next((row[0] for row in _rows(rank, "SESSION_TIME_INFO", "endTimeNs") if isinstance(row[0], int)), None)


def host_of(rank: Rank) -> str | None:
    """Return the name of the host that the rank ran on."""
    return next((str(row[0]) for row in _rows(rank, "HOST_INFO", "hostName") if row[0]), None)


def _metadata(rank: Rank) -> dict[str, Any]:
    if (file := rank.folder / "profiler_metadata.json").is_file():
        return json_object(file)
    found = {}
    for name, value in _rows(rank, "META_DATA", "name", "value", where=f"{_is_of(_OF_JOB)} AND {_IS_SMALL}"):
        with suppress(ValueError):  # unread_metadata() says so.
            found[str(name)] = object_in(str(value))
    return found


def unread_metadata(file: SqliteFile) -> Iterator[str]:
    """Yield a sentence about each value of META_DATA that is read, and is no object of JSON."""
    if not {"name", "value"} <= file.tables.get("META_DATA", {}).keys():
        return
    named = f"FROM META_DATA WHERE {_is_of((*_OF_JOB, recorded.SETTINGS))}"
    for name, value, size in query(file, f"SELECT name, CASE WHEN {_IS_SMALL} THEN value END, {_SIZE} {named}"):
        try:
            object_in(str(value))
        except ValueError as error:
            what = str(error) if value is not None else f"is larger than {SETTINGS_BYTES // 2**20} MB ({size:,} bytes)"
            yield f"the value of {name} in META_DATA {what}; copy the database again"


def _is_of(names: tuple[str, ...]) -> str:
    """Return the SQLite condition that a row of META_DATA has one of these names, and a text."""
    return f"name IN ({', '.join(map(quote_text, names))}) AND typeof(value) = 'text' AND value <> ''"


def _rows(rank: Rank, table: str, *columns: str, where: str = "true") -> list[tuple[object, ...]]:
    """Return the rows of a small table of the rank's database; none where there is no such table."""
    database = next((file for file in rank.inputs[:1] if file.suffix == ".db"), None)
    if database is None or sidecars_of(database):  # With a journal, the whole database would be copied.
        return []
    try:
        with open_sqlite(database, {table}) as file:
            if not set(columns) <= file.tables.get(table, {}).keys():
                return []
            return list(query(file, f"SELECT {', '.join(columns)} FROM {table} WHERE {where}"))
    except InputError:  # The error is raised when the rank is read.
        return []
