"""Opens files that others may have written: regular ones alone, without waiting, and whole ones up to a size for each kind.

In a folder that somebody sent, any name can be that of a pipe, a device, or a sparse file of many gigabytes.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

# The most bytes of a file that is read whole, by its kind. Settings of a rank of 16,384 take 1 MB, an entry of communication
# 3 kB. A small JSON text can become twenty times as many bytes of lists, and a pickle seventy times.
SETTINGS_BYTES = 16 * 2**20
ANNOTATIONS_BYTES = 16 * 2**20
FIGURES_BYTES = 64 * 2**20
COMMUNICATION_BYTES = 512 * 2**20

# Windows has neither.
_WITHOUT_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_KINDS = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def opened(file: Path) -> BufferedReader:
    """Open a regular file to read its bytes. Raises OSError where it cannot be opened, or is none."""
    return open(file, "rb", opener=_opener)


def whole(file: Path, most_bytes: int) -> bytes:
    """Return all bytes of a regular file. Raises OSError where it cannot be read, is none, or has more bytes than that."""
    with opened(file) as content:
        size = os.fstat(content.fileno()).st_size
        if size > most_bytes:
            raise OSError(errno.EFBIG, f"it is larger than {most_bytes // 2**20} MB", str(file))
        return content.read(size)


def check_regular(file: Path) -> os.stat_result:
    """Return the status of a regular file, which a library will open by its path. Raises OSError where it is none."""
    return _checked(file.stat(), str(file))


def _opener(path: str, flags: int) -> int:
    """Open a file by a descriptor. To open a device can change it, so its kind is known before; then it may be another file."""
    _checked(os.stat(path), path)  # noqa: PTH116  (open() gives a text)
    descriptor = os.open(path, flags | _WITHOUT_WAITING)
    try:
        _checked(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _checked(status: os.stat_result, path: str) -> os.stat_result:
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFREG:
        return status
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    raise OSError(errno.EINVAL, f"it is {_KINDS.get(kind, 'something else')}, not a file", path)
