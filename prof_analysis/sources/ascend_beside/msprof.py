"""Chooses what to read of the files that msprof exported without torch_npu: by device, all slices, of one export."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from prof_analysis.engine.database import connect
from prof_analysis.sources.ascend_beside import folders, recorded
from prof_analysis.sources.rank import number
from prof_analysis.sources.readers.csv_file import copy_columns

# Kind, device with model and iteration, slice, time of the export: msprof_slice_0_20260101000000.json, op_summary_0_1_1.csv.
_NAME = re.compile(
    r"(msprof|op_summary|op_statistic|api_statistic|static_op_mem)"
    r"(?:_(\d{1,3})(?:(?:_\d{1,9}){1,2}|(?=_slice_|_\d{14})))??(?:_slice_(\d{1,4}))?(?:_(\d{8,17}))?\.(?:json|csv)"
)
_TRACE, _SUMMARY = "msprof", "op_summary"


def texts_of(folder: Path) -> tuple[dict[int | None, list[Path]], list[str]]:
    """Return the texts to read of a result by device, None where no name says it, and what is said of others.

    None of a device where there are several of one kind that are neither slices of one, nor of exports one after the other.
    """
    found: dict[int | None, dict[str, list[Path]]] = {}
    for device, files in folders.msprof_exports(folder).items():
        for file in files:
            if kind := _kind_of(file):
                match = _NAME.fullmatch(file.name)
                named = int(match[2]) if match and match[2] else None
                found.setdefault(named if device is None else device, {}).setdefault(kind, []).append(file)
    if len(found) > 1 and None in found and not {_TRACE, _SUMMARY} & found[None].keys():
        for kind, files in found.pop(None).items():  # Sums of several devices, and of the host.
            for of_kind in found.values():
                of_kind.setdefault(kind, files)
    texts: dict[int | None, list[Path]] = {}
    said: list[str] = []
    for device, of_kind in found.items():
        chosen = {kind: _of_newest(files, said) for kind, files in of_kind.items()}
        kernels = [*chosen.get(_SUMMARY, ()), *chosen.get(_TRACE, ())]
        sums = [] if kernels else chosen.get(recorded.KERNELS, [])
        calls = [] if _TRACE in chosen else chosen.get(recorded.CALLS, [])
        files = [*kernels, *sums, *calls, *chosen.get(recorded.STATIC, ())]
        if files and all(are_one(chosen[kind]) for kind in (_SUMMARY, _TRACE) if kind in chosen):
            texts[device] = files
    return texts, said


def recordings_of(folder: Path) -> dict[Path, list[int]]:
    """Return the PROF_* folders of a result that each hold a recording, with its devices; none where only one does."""
    exports = {
        prof: [file for file in folders.files_in(prof / folders.MSPROF_OUTPUT) if _kind_of(file) in (_TRACE, _SUMMARY)]
        for prof in folders.prof_folders(folder)
        if prof != folder
    }
    recordings = {prof: files for prof, files in exports.items() if files}
    return {prof: devices_of(prof, files) for prof, files in recordings.items()} if len(recordings) > 1 else {}


def why_not_ranks(folder: Path, recordings: Mapping[Path, Sequence[int]]) -> str | None:
    """Say why recordings of one result are not those of its ranks: their devices are the same, or not known."""
    names = ", ".join(prof.name for prof in recordings)
    give = "give the folder of one with -d"
    count = Counter(device for devices in recordings.values() for device in devices)
    if again := sorted(device for device, number_of in count.items() if number_of > 1):
        return f"{folder}: holds {len(recordings)} recordings, and device {again[0]} is in several of them: {names}; {give}"
    if unknown := [prof for prof, devices in recordings.items() if not devices]:
        return (
            f"{folder}: holds {len(recordings)} recordings, and the device of {unknown[0].name} is not known: {names}; {give}"
        )
    return None


def _kind_of(file: Path) -> str | None:
    if folders.OF_MSPROF[0].fullmatch(file.name):
        return _TRACE
    if folders.OF_MSPROF[1].fullmatch(file.name):
        return _SUMMARY
    role = recorded.role_of(file)
    return role if role in (*recorded.SUMS, recorded.STATIC) else None


def _of_newest(files: Sequence[Path], said: list[str]) -> list[Path]:
    """Return the files of the newest export of a kind, where their names have its time; say which are left out."""
    matches = [_NAME.fullmatch(file.name) for file in files]
    slices = [match[3] for match in matches if match]
    if len(set(slices)) == len(files):  # msprof names each slice by the moment at which it wrote this slice.
        return list(files)
    times = {match[4] for match in matches if match and match[4] and len(match[4]) >= len("20260101000000")}
    if len(times) < 2 or not all(match and match[4] in times for match in matches):
        return list(files)
    newest = max(times)
    kept = [file for file in files if newest in file.name]
    older = [file for file in files if file not in kept]
    more = f" (as {len(older) - 1} more)" if len(older) > 1 else ""
    said.append(f"{older[0]}: is of an older export than {kept[0].name}{more}")
    return kept


def are_one(files: Sequence[Path]) -> bool:
    """Return whether files are one, or slices of one."""
    matches = [_NAME.fullmatch(file.name) for file in files]
    numbers = [match[3] for match in matches if match and match[3]]
    return len(files) == 1 or (len(set(numbers)) == len(files) and len({file.parent for file in files}) == 1)


def devices_of(folder: Path, files: Sequence[Path]) -> list[int]:
    """Return the devices in files of msprof: those that the result has folders of, else those of the rows of its table.

    To read a column of a million rows takes seconds, for each question.
    """
    known = sorted(
        {int(match[1]) for prof in folders.prof_folders(folder) for one in prof.glob("device_*")
         if (match := folders.DEVICE.fullmatch(one.name))}
    )  # fmt: skip
    summaries = [file for file in files if _kind_of(file) == _SUMMARY]
    if known or not summaries:
        return known if summaries or any(_kind_of(file) == _TRACE for file in files) else []
    found: set[int] = set()
    with connect(threads=1, macros=False) as connection:
        connection.execute("CREATE SCHEMA stored")
        for file in summaries:
            copy_columns(connection, file, {"device_id": ("device_id",)}, "stored.device_cell", {"device_id": "(?s).*"})
            cells = connection.execute("SELECT DISTINCT device_id FROM stored.device_cell").fetchall()
            connection.execute("DROP TABLE stored.device_cell")
            found.update(device for (cell,) in cells if (device := number(cell)) is not None)
    return sorted(found)


def said_of_slices(files: Iterable[Path]) -> Iterator[str]:
    """Name the first slice of each table that is not here though a later one is, and say how many are."""
    tables: dict[tuple[Path, str], dict[int, Path]] = {}
    for file in files:
        if (match := _NAME.fullmatch(file.name)) and match[3]:
            tables.setdefault((file.parent, match[1]), {})[int(match[3])] = file
    for found in tables.values():
        count = max(found) + 1
        if len(found) < count:
            file = next(iter(found.values()))
            first = next(number for number in range(count) if number not in found)
            name = re.sub(r"_slice_\d+", f"_slice_{first}", file.name)
            here = f"{len(found)} of at least {count} slices {'is' if len(found) == 1 else 'are'}"
            yield f"{file.with_name(name)}: is not here, {here}"
