"""Says by a digest which SQL and code this is: other code may build other tables from the same files.

To read all files takes 45 ms of each start, so the digest is kept in the user's cache folder, in a file that is named after the
path, size and time of change of each of them.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import duckdb

from prof_analysis.common.user_cache import cache_folder, write_beside_others
from prof_analysis.common.version import __version__
from prof_analysis.engine.statements import sql_folder

_PREFIX = "code-"
_VERSIONS = f"{__version__} {duckdb.__version__}"


@cache
def code_digest() -> str:
    """Return a digest of the SQL and of the code that stages: where it differs, tables may differ.

    It is the same wherever and however this version is installed.
    """
    files = sorted(_files())
    folder = cache_folder()
    if folder is None:
        return _digest_of(files)
    changes = [(name, path, *_change_of(path)) for name, path in files]
    kept = folder / f"{_PREFIX}{sha256(f'{_VERSIONS} {changes}'.encode()).hexdigest()[:24]}"
    with suppress(OSError, ValueError):
        if re.fullmatch(r"[0-9a-f]{64}", known := kept.read_text(encoding="ascii")):
            return known
    digest = _digest_of(files)
    with suppress(OSError):
        write_beside_others(kept, digest, _PREFIX)
    return digest


def _digest_of(files: list[tuple[str, str]]) -> str:
    digest = sha256(_VERSIONS.encode())
    for name, path in files:
        text = Path(path).read_bytes()
        digest.update(f"{name} {len(text)} ".encode())
        digest.update(text)
    return digest.hexdigest()


def _files() -> Iterator[tuple[str, str]]:
    """Yield the files of SQL and code: a name, which is the same wherever this is installed, and the path."""
    for folder, suffix in ((str(sql_folder()), ".sql"), (str(Path(__file__).parent.parent), ".py")):
        for path, _, names in os.walk(folder):
            below = f"{suffix}{path.removeprefix(folder).replace(os.sep, '/')}"
            yield from ((f"{below}/{name}", f"{path}{os.sep}{name}") for name in names if name.endswith(suffix))


def _change_of(path: str) -> tuple[int, int]:
    status = os.stat(path)  # noqa: PTH116  (1,000 objects of Path take as long as the rest)
    return status.st_size, status.st_mtime_ns
