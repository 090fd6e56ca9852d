"""Temporary folders that never stay: the next run that makes one removes those of a killed process.

A process locks its folder, and the system releases the lock when the process ends, however it ends. The lock file names the
machine, since not every shared disk shows the locks of other machines.
"""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from platform import node
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from time import time

from prof_analysis.common.errors import OutputError, reason_of, remedy_of

_PREFIX = "prof_analysis_"
_LOCK = "lock"
# A run that began on another machine this long ago has ended.
_ENDED_ELSEWHERE_S = 7 * 24 * 3600
# The folders of this process: some network disks grant a process a lock that it already holds.
_in_use: set[Path] = set()


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make a folder that is removed at the end, in the system's temporary folder unless a parent is given.

    What killed processes left beside it is removed too. Raises OutputError when it cannot be made.
    """
    folder = make_folder(parent)
    try:
        yield folder.path
    finally:
        folder.remove()


def make_folder(parent: Path | None = None) -> "ScratchFolder":
    """Make a temporary folder that is removed on request, or after its process has ended.

    Raises OutputError when it cannot be made.
    """
    try:
        beside = Path(gettempdir() if parent is None else parent).absolute()
        _remove_abandoned(beside)
        return ScratchFolder(Path(mkdtemp(prefix=_PREFIX, dir=beside)))
    except OSError as error:
        shown = "TMPDIR" if parent is None else str(parent)
        why = f"no temporary folder can be made ({reason_of(error)})"
        raise OutputError(f"{shown}: {why}; set TMPDIR to a folder you may write to{remedy_of(error)}", path=parent) from error


def used_folders(parent: Path) -> list[Path]:
    """Return the temporary folders of running processes below a folder; those of others are removed."""
    _remove_abandoned(parent)
    with suppress(OSError), os.scandir(parent) as entries:
        return [Path(entry.path) for entry in entries if entry.name.startswith(_PREFIX)]
    return []


def remove_all() -> None:
    """Remove the temporary folders of this process, which ends at once: an interrupt may come before anybody holds a folder."""
    for folder in list(_in_use):
        _remove(folder)


class ScratchFolder:
    """A temporary folder of this process: its path, and the lock that marks it as in use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._process = os.getpid()
        _in_use.add(path)
        self._lock = _lock(path)

    def remove(self) -> None:
        """Remove the folder and all its content, unless this is a fork of the process that made it."""
        if os.getpid() != self._process:
            return
        _remove(self.path)
        _in_use.discard(self.path)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock(folder: Path) -> int | None:
    """Lock a new folder; return None where the system or the disk has no locks, so that no run takes it for abandoned."""
    if sys.platform == "win32":
        return None
    import fcntl

    unlocked = folder / f"{_LOCK}.new"  # It gets the name that others look for only once it is locked.
    descriptor = os.open(unlocked, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, node().encode())
        unlocked.replace(folder / _LOCK)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_abandoned(parent: Path) -> None:
    with suppress(OSError), os.scandir(parent) as entries:
        for folder in [Path(entry.path) for entry in entries if entry.name.startswith(_PREFIX)]:
            with suppress(OSError):
                if folder not in _in_use and _is_own_folder(folder) and _is_abandoned(folder / _LOCK):
                    _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, the lock last. Files that cannot be removed now are left to the next run; no answer is lost for them."""
    with suppress(OSError):
        for path in [path for path in folder.iterdir() if path.name != _LOCK]:
            with suppress(OSError):
                rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if [path.name for path in folder.iterdir()] == [_LOCK]:
            (folder / _LOCK).unlink()
        folder.rmdir()


def _is_own_folder(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())


def _is_abandoned(lock: Path) -> bool:
    """Return whether the process that locked a folder has ended. Raises OSError when it holds the lock or without a lock."""
    if sys.platform == "win32":
        return False
    import fcntl

    descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # Fails while another process holds it.
        is_of_here = os.read(descriptor, 256).decode(errors="replace") == node()
        return is_of_here or time() - os.fstat(descriptor).st_mtime > _ENDED_ELSEWHERE_S
    finally:
        os.close(descriptor)
