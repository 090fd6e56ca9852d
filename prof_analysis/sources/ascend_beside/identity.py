"""Reads the identity of a rank from its data: its number, time, host, kind of device and steps, and its first times."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from prof_analysis.common.errors import InputError
from prof_analysis.sources.ascend_beside import device_info, folders, profiler_info, recorded
from prof_analysis.sources.identity import FIRST_MOMENT_NS, MOST_TIMES, Identity, times_in
from prof_analysis.sources.rank import Rank, json_object, number
from prof_analysis.sources.readers.bounds import known_recording
from prof_analysis.sources.readers.sqlite_file import SqliteFile, open_sqlite, query, sidecars_of
from prof_analysis.sources.readers.trace_file import begin_of

_TABLES = {"META_DATA", "RANK_DEVICE_MAP", "SESSION_TIME_INFO", "HOST_INFO", "NPU_INFO", "STEP_TIME", "TASK", "PYTORCH_API"}
_METADATA = "profiler_metadata.json"
_MOST_STEPS = 10_000
_TIMES = ("startNs", "endNs")


def identity_of(rank: Rank) -> Identity:
    """Return the identity of a rank by its data; an empty one where they cannot be read: reading the rank says so."""
    database = next((file for file in rank.inputs[:1] if file.suffix == ".db" and not recorded.is_recorded(file)), None)
    beside = json_object(metadata) if (metadata := rank.folder / _METADATA).is_file() else {}
    numbers = dict(_named(rank))
    if database is None:
        return _of_texts(rank, numbers, beside)
    if sidecars_of(database):  # With a journal, the whole database would be copied.
        return Identity()
    try:
        with open_sqlite(database, _TABLES) as file:
            return _of_database(rank, file, numbers, beside)
    except InputError:
        return Identity()


def _of_database(rank: Rank, file: SqliteFile, numbers: Mapping[str, int], beside: Mapping[str, Any]) -> Identity:
    metadata = {}
    for name, value in _rows(file, "META_DATA", "name", "value"):
        if name in ("parallel_group_info", "distributed_args") and isinstance(value, str):
            try:
                metadata[str(name)] = json.loads(value)
            except (ValueError, RecursionError):
                continue
    in_job = {"META_DATA": _number_in_job(metadata), _METADATA: _number_in_job(beside)}
    mapped = [number(row[0]) for row in _rows(file, "RANK_DEVICE_MAP", "rankId", "deviceId")]
    own = in_job["META_DATA"]
    by_map = {"RANK_DEVICE_MAP": mapped[0]} if len(mapped) == 1 else {}
    known = {place: one for place, one in {**in_job, **by_map}.items() if one is not None}
    session = next(iter(_rows(file, "SESSION_TIME_INFO", "startTimeNs", "endTimeNs")), (None, None))
    recording = known_recording(*session) or profiler_info.recording_of(rank.folder)
    npus = [row for row in _rows(file, "NPU_INFO", "id", "name") if rank.device_id in (None, row[0])]
    chips = [str(name) for _, name in npus if name not in (None, "", "UNKNOWN")]
    timed = "TASK" if set(_TIMES) <= file.tables.get("TASK", {}).keys() else "PYTORCH_API"
    first = [one for row in _rows(file, timed, *_TIMES, limit=MOST_TIMES // 2) for one in row]
    return Identity(
        # The database says it twice, where a name says it once.
        of_job=("META_DATA", own) if own is not None and [own] == mapped else None,
        numbers={**numbers, **known} if rank.first_device_id is None else {},
        recording=None if recording is None else (recording.first_ns, recording.last_ns),
        host=next((f"{row[0]} {row[1]}" for row in _rows(file, "HOST_INFO", "hostUid", "hostName")), None),
        chip=chips[0] if len(chips) == 1 else None,
        steps=frozenset(row[0] for row in _rows(file, "STEP_TIME", "id") if isinstance(row[0], int)),
        members=_members(metadata or beside),
        times={"database": tuple(found for one in first if (found := _whole(one)) and found >= FIRST_MOMENT_NS)},
    )


def _of_texts(rank: Rank, numbers: Mapping[str, int], beside: Mapping[str, Any]) -> Identity:
    recording = profiler_info.recording_of(rank.folder)
    timed = [file for file in rank.inputs if file.name == folders.KERNEL_DETAILS or file.name in folders.TRACES]
    timed = timed or [file for file in rank.inputs[:1] if not recorded.is_recorded(file)]
    chips = [chip for file in rank.inputs if device_info.is_device_info(file) and (chip := device_info.chip_of(file))]
    in_job = _number_in_job(beside)
    steps = next((begin_of(file) for file in rank.inputs if recorded.role_of(file) == recorded.STEPS), b"")
    return Identity(
        numbers={**numbers, **({} if in_job is None else {_METADATA: in_job})} if rank.first_device_id is None else {},
        recording=None if recording is None else (recording.first_ns, recording.last_ns),
        chip=chips[0] if len(chips) == 1 else None,
        steps=_steps(steps.decode("utf-8-sig", "replace")),
        members=_members(beside),
        times={file.name: times_in(begin_of(file)) for file in timed},
    )


def _named(rank: Rank) -> Iterable[tuple[str, int]]:
    """Yield the names of files that have the number of the rank in them, with this number."""
    for file in (*rank.inputs[:1], *folders.files_in(rank.folder)):
        for pattern in (folders.PROFILER_DB, folders.PROFILER_INFO):
            if (match := pattern.fullmatch(file.name)) and match[1] is not None:
                yield file.name, int(match[1])


def _number_in_job(metadata: Mapping[str, Any]) -> int | None:
    """Return the number of a rank in its job: by its place in its groups, where all give the same, else by its arguments."""
    groups = metadata.get("parallel_group_info")
    found = set()
    for group in groups.values() if isinstance(groups, dict) else ():
        members, place = (group.get("global_ranks"), group.get("group_rank")) if isinstance(group, dict) else (None, None)
        if isinstance(members, list) and isinstance(place, int) and 0 <= place < len(members):
            found.add(number(members[place]))
    if found:
        return found.pop() if len(found) == 1 else None
    arguments = metadata.get("distributed_args")
    return number(arguments.get("rank")) if isinstance(arguments, dict) else None


def _members(metadata: Mapping[str, Any]) -> frozenset[int]:
    """Return the ranks of the group that has all ranks of the job."""
    groups = metadata.get("parallel_group_info")
    for group in groups.values() if isinstance(groups, dict) else ():
        if isinstance(group, dict) and group.get("group_name") == "default_group":
            members = group.get("global_ranks")
            return frozenset(one for one in members if isinstance(one, int)) if isinstance(members, list) else frozenset()
    return frozenset()


def _steps(content: str) -> frozenset[int]:
    """Return the numbers of steps in step_trace_time.csv."""
    head, *lines = content.splitlines() or [""]
    columns = [name.strip().lower() for name in head.split(",")]
    if "step" not in columns:
        return frozenset()
    cells = [line.split(",") for line in lines]
    place = columns.index("step")
    return frozenset(int(row[place]) for row in cells if len(row) > place and re.fullmatch(r"\d{1,9}", row[place].strip()))


def _rows(file: SqliteFile, table: str, *columns: str, limit: int = _MOST_STEPS) -> list[tuple[Any, ...]]:
    """Return the first rows of a table; none where it is not there."""
    if not set(columns) <= file.tables.get(table, {}).keys():
        return []
    return list(query(file, f"SELECT {', '.join(columns)} FROM {table} LIMIT {limit}"))


def _whole(value: object) -> int | None:
    """Return a time, which PYTORCH_API has as a text."""
    text = str(value)
    return int(text) if text.isdecimal() and len(text) < 20 else None
