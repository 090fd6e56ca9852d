"""Reads a memory snapshot through a process of its own, which has a limit of memory, and gives its columns as Arrow tables."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prof_analysis.common.errors import InputError, reason_of
from prof_analysis.common.input_files import opened
from prof_analysis.sources.memory_snapshot import unpickling

if TYPE_CHECKING:
    import pyarrow as pa

# What a summary says that a snapshot has -> what is not known without it.
LACKING: Mapping[str, str] = {
    "has_events": "the snapshot has no history of the allocator, so the peak is what was held at the end; call "
    "_record_memory_history() before the model allocates, and not with enabled='state'",
    "has_frames": "the snapshot has no frames with its blocks, so call sites are not known; call _record_memory_history() of "
    "torch.cuda.memory, or of torch_npu.npu.memory, before the model allocates",
}
_PROGRAM = Path(unpickling.__file__)
# What the dicts and lists of a snapshot take: at most 12.6 times the bytes of the file, where events have no frames. Those of
# a hostile file take 72 times.
_FLOOR_BYTES = 128 * 2**20
_TIMES_THE_FILE = 14
_SHARE_OF_MACHINE = 0.8
_LEAST_SECONDS = 20
_BYTES_A_SECOND = 2 * 2**20
# Where the system holds to no limit of memory, a hostile file of this size can fill 5 GB.
UNLIMITED_BYTES = 64 * 2**20


def summary_of(file: Path) -> dict[str, Any]:
    """Return the devices and times of a snapshot, and whether it has events and frames. Raises InputError as read() does."""
    try:
        status = file.stat()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)})", path=file) from error
    return _kept_summary(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _kept_summary(file: Path, changed_ns: int, size: int) -> dict[str, Any]:  # noqa: ARG001  (a changed file is another one)
    return read(file)


def read(file: Path, folder: Path | None = None) -> dict[str, Any]:
    """Read a snapshot in a process of its own, and write its columns to a folder where one is given.

    Returns its summary, or with a folder how many of its entries are damaged. Raises InputError with what is wrong.
    """
    try:
        with opened(file) as content:
            size = os.fstat(content.fileno()).st_size
            memory, seconds = _limits(size)
            if size == 0:
                raise _unreadable(file, "it is empty")
            if sys.platform != "linux" and size > UNLIMITED_BYTES:
                raise _too_large(file)
            program = [sys.executable, "-I", str(_PROGRAM), str(memory), str(seconds)]
            if folder is not None:
                program.append(str(folder))
            run = subprocess.run(program, stdin=content, capture_output=True, check=False)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)})", path=file) from error
    try:
        found = json.loads(run.stdout)
    except ValueError:
        found = {"refused": f"its reader ended without an answer (code {run.returncode}), after at most {seconds} s"}
    if not isinstance(found, dict) or "refused" in found:
        raise _unreadable(file, str(found["refused"]))
    return found


def _limits(size: int) -> tuple[int, int]:
    """Return how many bytes of memory and how many seconds the reading of so many bytes may take."""
    memory = _FLOOR_BYTES + _TIMES_THE_FILE * size
    if hasattr(os, "sysconf"):
        memory = min(memory, int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * _SHARE_OF_MACHINE))
    return memory, _LEAST_SECONDS + size // _BYTES_A_SECOND


def _unreadable(file: Path, why: str) -> InputError:
    remedy = "dump it again with torch.cuda.memory._dump_snapshot (torch_npu.npu.memory on Ascend), or copy it again"
    return InputError(f"{file}: this memory snapshot cannot be read: {why}; {remedy}", path=file)


def _too_large(file: Path) -> InputError:
    return InputError(
        f"{file}: this system limits no process's memory, so snapshots above {UNLIMITED_BYTES // 2**20} MB are not read; "
        "read it on Linux, or in a container of Linux",
        path=file,
    )


def table_of(folder: Path, table: str, texts: "pa.Array") -> "pa.Table":
    """Return a table of the columns that read() wrote: numbers and texts as in the file, NULL where it has none.

    `number` is the place of the row.
    """
    import numpy as np  # Both take 0.15 s, and most profiles have no snapshots.
    import pyarrow as pa

    columns: dict[str, pa.Array] = {}
    for name in unpickling.COLUMNS[table]:
        numbers = np.fromfile(folder / f"{table}.{name}", dtype=np.int64)
        known = pa.array(numbers, mask=numbers == unpickling.UNKNOWN)
        columns[name] = texts.take(known) if name in unpickling.TEXTS else known
    rows = len(next(iter(columns.values())))
    return pa.table({"number": pa.array(np.arange(rows, dtype=np.int64)), **columns})


def texts_of(folder: Path) -> "pa.Array":
    """Return all texts that read() wrote."""
    import numpy as np
    import pyarrow as pa

    ends, content = (pa.py_buffer(np.fromfile(folder / name, dtype=np.uint8)) for name in ("texts.end", "texts"))
    return pa.LargeStringArray.from_buffers(ends.size // 8 - 1, ends, content)
