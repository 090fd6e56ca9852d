"""The entries of a store or of the cache: their content, their use, and their removal."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage, rmtree

from prof_analysis.common.errors import InputError, OutputError, reason_of
from prof_analysis.common.input_files import SETTINGS_BYTES, whole
from prof_analysis.common.scratch import ScratchFolder, make_folder, used_folders
from prof_analysis.common.user_cache import write_beside_others
from prof_analysis.run.cache.store import ABOUT, ENGINE, SUFFIX, identity_of
from prof_analysis.sources.rank import json_object

# What the cache may take: this much, and this share of its disk.
_MOST_BYTES = 10 * 10**9
_MOST_OF_DISK = 0.1
_IN_USE = "in_use.json"
_SIZES = "sizes.json"


@dataclass(frozen=True)
class Entry:
    """An entry: its rank, the names of its tables, their size, and whether the input is unchanged.

    `tables` are those that answer questions; `size_bytes` includes what is kept for other questions.
    """

    folder: Path
    profile: str
    inputs: tuple[str, ...]
    tables: tuple[str, ...]
    size_bytes: int
    is_current: bool


def entries(store: Path) -> Iterator[Entry]:
    """Yield the entries of a store or of the cache, ordered by folder.

    Raises InputError when there is no such folder.
    """
    if not store.is_dir():
        raise InputError(f"{store}: there is no such folder; give the one that --cache or --cache had", path=store)
    # The name of a file is schema.table, with or without a digest behind it.
    for about_file in sorted(store.glob(f"*/{ABOUT}")):
        about = json_object(about_file)
        inputs = tuple(str(file) for file in about.get("inputs", ()))
        yield Entry(
            about_file.parent,
            str(about.get("profile", "")),
            inputs,
            tuple(sorted({".".join(file.name.split(".")[:2]) for file in about_file.parent.glob(f"*{SUFFIX}")})),
            _size_of(about_file.parent),
            about.get("identity") == identity_of(map(Path, inputs)),
        )


def clear(store: Path) -> tuple[list[Entry], list[Entry]]:
    """Remove the entries of a folder, and nothing else in it; return those, and those that stay since a process uses them.

    Raises InputError when there is no such folder, OutputError when an entry cannot be removed.
    """
    in_use = _in_use(store)
    found = list(entries(store))
    removed = [entry for entry in found if entry.folder.name not in in_use]
    with suppress(OSError):
        (store / _SIZES).unlink(missing_ok=True)
    for entry in removed:
        try:
            rmtree(entry.folder)
        except OSError as error:
            raise OutputError(f"{entry.folder}: cannot be removed ({reason_of(error)})", path=entry.folder) from error
    return removed, [entry for entry in found if entry.folder.name in in_use]


def hold(cache: Path, names: Iterable[str]) -> ScratchFolder:
    """Mark entries of the cache as in use, until the folder that is returned is removed or this process ends."""
    held = make_folder(cache)
    (held.path / _IN_USE).write_text(json.dumps(sorted(names)), encoding="utf-8")
    return held


def shrink(cache: Path) -> None:
    """Remove the entries that were not used for the longest time, until the cache is no larger than it may be.

    What a process uses stays, and what cannot be removed now: another process will do it.
    """
    with suppress(OSError):
        sizes = _sizes_of(cache)
        most = min(_MOST_BYTES, int(disk_usage(cache).total * _MOST_OF_DISK))
        if sum(sizes.values()) <= most:
            return
        in_use = _in_use(cache)
        for folder in sorted(sizes, key=_last_use):
            if sum(sizes.values()) > most and folder.name not in in_use:
                del sizes[folder]
                with suppress(OSError):
                    rmtree(folder)


def _sizes_of(cache: Path) -> dict[Path, int]:
    """Return the size of each entry. Those that have not changed since are kept in a file: of 1,600, to add up takes 2 s."""
    known: dict[str, list[int]] = {}
    with suppress(OSError, ValueError, TypeError, AttributeError):
        kept = json.loads(whole(cache / _SIZES, SETTINGS_BYTES))
        known = {name: numbers for name, numbers in kept.items() if all(isinstance(one, int) for one in numbers)}
    found: dict[str, list[int]] = {}
    for name in os.listdir(cache):  # noqa: PTH208  (1,600 objects of Path take longer than the rest)
        with suppress(OSError):
            changed = [*_changes_of(cache / name)]
            before = known.get(name)
            found[name] = before if before and before[:-1] == changed else [*changed, _size_of(cache / name)]
    if found != known:
        write_beside_others(cache / _SIZES, json.dumps(found), _SIZES)
    return {cache / name: size for name, (*_, size) in found.items()}


def _changes_of(entry: Path) -> Iterator[int]:
    """Yield when a file was last added to an entry, or to the folder in it. Raises OSError for what is no entry."""
    (entry / ABOUT).stat()
    yield entry.stat().st_mtime_ns
    with suppress(OSError):
        yield (entry / ENGINE).stat().st_mtime_ns


def _last_use(entry: Path) -> int:
    try:
        return (entry / ABOUT).stat().st_mtime_ns
    except OSError:
        return 0


def _in_use(folder: Path) -> set[str]:
    """Return the names of the entries that running processes use."""
    found: set[str] = set()
    for used in used_folders(folder):
        with suppress(OSError, ValueError, TypeError):
            found.update(map(str, json.loads(whole(used / _IN_USE, SETTINGS_BYTES))))
    return found


def _size_of(entry: Path) -> int:
    """Return the size of the files of an entry; another process may remove some meanwhile."""
    size = 0
    for folder, _, names in os.walk(entry):
        for name in names:
            with suppress(OSError):
                size += os.stat(f"{folder}{os.sep}{name}").st_size  # noqa: PTH116  (a Path takes five times as long)
    return size
