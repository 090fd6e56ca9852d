"""Writes a file so that it is always the old one or the new one, never a part of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import duckdb

from prof_analysis.common.errors import OutputError, reason_of


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path beside the target to write to; on success the file replaces the target, else it is removed."""
    with unfinished_beside(target) as unfinished:
        yield unfinished
        flush(unfinished)
        unfinished.replace(target)


@contextmanager
def unfinished_beside(target: Path) -> Iterator[Path]:
    """Yield a path beside the target that no other writer uses; a file that is there at the end is removed.

    Raises OutputError, which names the target, in place of an error of the disk or of DuckDB.
    """
    unfinished = target.with_name(f".{uuid4().hex}.unfinished")
    try:
        yield unfinished
    except OutputError:  # It already names the file that cannot be written.
        raise
    except (OSError, duckdb.Error) as error:
        raise OutputError(
            f"{target}: cannot be written ({reason_of(error)}); give another folder with -o", path=target
        ) from error
    finally:
        with suppress(OSError):  # The error that matters is already being raised.
            unfinished.unlink(missing_ok=True)


def flush(file: Path) -> None:
    """Wait until a file is on the disk. It is opened for update, since Windows flushes only such files."""
    with file.open("r+b") as opened:
        os.fsync(opened.fileno())
