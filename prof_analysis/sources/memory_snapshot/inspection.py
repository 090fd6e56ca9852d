"""Finds memory snapshots by their first bytes, and says which devices they are of and what they can answer."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from prof_analysis.common.answer_options import Options
from prof_analysis.common.capabilities import lacking
from prof_analysis.common.errors import InputError
from prof_analysis.common.input_files import opened
from prof_analysis.sources.found import WRITTEN, Found
from prof_analysis.sources.identity import Identity
from prof_analysis.sources.kineto.companions import RANK_IN_NAME
from prof_analysis.sources.memory_snapshot.device_kind import device_kind_of
from prof_analysis.sources.memory_snapshot.reading import LACKING, summary_of
from prof_analysis.sources.rank import Rank, readable

_SUFFIXES = (".pickle", ".pkl")
_LOOKED_AT = 4096
# The keys of a snapshot, as a pickle holds a short text: of protocol 4 and later, and before.
_KEYS = re.compile(rb"(?:\x8c.|X.\0\0\0)(?:segments|device_traces|allocator_settings|external_annotations)", re.DOTALL)
_NO_SEGMENTS = "no memory: the snapshot holds no segments and no events; dump it after memory of the device was allocated"


def find(folder: Path, is_folder: Mapping[str, bool]) -> Found:
    """Find the memory snapshots in a folder, by the first bytes of its pickles."""
    if folder.name.startswith(WRITTEN):
        return Found()
    files = [folder / name for name in sorted(is_folder) if not is_folder[name] and name.endswith(_SUFFIXES)]
    found = [file for file in files if _begins_as_snapshot(file)]
    # Of the ranks of a job, one may have run out of disk.
    return Found(tuple(file for file in files if file in found or (found and _is_empty(file))))


def takes(file: Path) -> bool:
    """Return whether a single file may be a memory snapshot: whoever names a pickle is told why it is none."""
    return file.name.endswith(_SUFFIXES) or _begins_as_snapshot(file)


def _begins_as_snapshot(file: Path) -> bool:
    try:
        with opened(file) as content:
            begin = content.read(_LOOKED_AT)
    except OSError:
        return False
    return begin[:1] == b"\x80" and _KEYS.search(begin) is not None


def _is_empty(file: Path) -> bool:
    return file.is_file() and file.stat().st_size == 0


def inspect(result: Path, profile: str, options: Options) -> list[Rank]:  # noqa: ARG001
    """Return a rank for each device of a snapshot; one that is left out where it cannot be read, or holds nothing."""
    rank = Rank(profile, result, inputs=(result,), files=(readable(Path(result.name)),))
    try:
        summary = summary_of(result)
    except InputError as error:
        return [replace(rank, left_out=str(error))]
    devices = summary["devices"]
    if not devices:
        return [replace(rank, left_out=f"{result}: {_NO_SEGMENTS}")]
    missing = [why for key, why in LACKING.items() if not summary[key]]
    lacks = lacking({"memory": None, "allocator": None})
    found = replace(rank, lacks=lacks, missing=tuple(missing), device_kind=device_kind_of(result))
    if len(devices) > 1:
        of_device = [replace(found, profile=f"{profile}/device_{one}", device_id=one) for one in devices]
        return [replace(one, first_device_id=devices[0]) for one in of_device]
    in_name = RANK_IN_NAME.findall(result.name)
    number = int(in_name[-1]) if in_name else None
    return [replace(found, device_id=devices[0], rank_id=number, rank_id_from="the name of the file" if in_name else None)]


def job_of(rank: Rank) -> tuple[int, str | None] | None:  # noqa: ARG001
    """Return None: a snapshot does not say how many ranks the job has."""
    return None


def least_ranks_of(rank: Rank) -> int | None:  # noqa: ARG001
    """Return None, as job_of() does."""
    return None


def usual_files_of(rank: Rank) -> frozenset[str]:  # noqa: ARG001
    """Return nothing: a snapshot is all that there is of its rank."""
    return frozenset()


def end_of(rank: Rank) -> int | None:
    """Return the time of the last event, ns; None without a history."""
    times = _times_of(rank)
    return times[0] * 1000 if times else None


def host_of(rank: Rank) -> str | None:  # noqa: ARG001
    """Return None: a snapshot does not name the host."""
    return None


def identity_of(rank: Rank) -> Identity:
    """Return the identity of a rank by the times of its events."""
    in_name = RANK_IN_NAME.findall(rank.folder.name)[-1:]
    times = _times_of(rank)
    return Identity(
        numbers={rank.folder.name: int(in_name[0])} if in_name else {},
        recording=(times[1] * 1000, times[0] * 1000) if times else None,
        times={"history": tuple(times[1:])},
    )


def _times_of(rank: Rank) -> list[int]:
    """Return the last time of the events of a device, µs, then its first ones; none without a history."""
    times: dict[str, Any] = summary_of(rank.inputs[0])["times_us"]
    found: list[int] = times.get(str(rank.device_id), [])
    return found
