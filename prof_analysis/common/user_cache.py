"""Finds the folder that keeps results between runs: below the user's cache folder, and readable by this user only."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile, mkstemp

# The folder of the cache, or `off`.
VARIABLE = "PROF_ANALYSIS_CACHE"
# Files about the code: where it changes, a new one appears each time.
_FILES_KEPT = 4


def cache_folder(chosen: Path | None = None) -> Path | None:
    """Return the folder of the cache, made if needed: the chosen one, else that of PROF_ANALYSIS_CACHE, else the usual one.

    Return None where PROF_ANALYSIS_CACHE is `off` and none was chosen, where the folder cannot be made or written, and where it
    belongs to another user: what is read from it could then be another's.
    """
    folder = chosen or _usual_folder()
    if folder is None:
        return None
    with suppress(OSError, RuntimeError):  # A user without a home.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "geteuid") and status.st_uid != os.geteuid()):
            return None
        with TemporaryFile(dir=folder):
            return folder
    return None


def write_beside_others(file: Path, text: str, prefix: str) -> None:
    """Write a file that appears whole and is readable by this user only, and remove the oldest ones of its prefix."""
    descriptor, unfinished = mkstemp(prefix=prefix, dir=file.parent)
    with open(descriptor, "w", encoding="utf-8") as stream:  # noqa: PTH123  (a descriptor has no path)
        stream.write(text)
    os.replace(unfinished, file)  # noqa: PTH105  (mkstemp gives a text)
    others = sorted(file.parent.glob(f"{prefix}*"), key=lambda one: one.stat().st_mtime_ns)
    for old in others[:-_FILES_KEPT]:
        old.unlink(missing_ok=True)


def _usual_folder() -> Path | None:
    given = os.environ.get(VARIABLE, "")
    if given == "off":
        return None
    if given:
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("prof-analysis", appauthor=False)
