"""How the command ends where it does not end by itself: at SIGTERM, or when what it prints is not taken."""

import errno
import os
import signal
import sys
from contextlib import suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from types import FrameType
from typing import Any, cast

from prof_analysis.common.errors import reason_of

INTERRUPTED, TERMINATED = 130, 143

_terminated: list[int] = []


class UntakenError(Exception):
    """The output cannot be written: the disk is full or, with `is_closed`, the reader of the pipe has ended, as `head` does."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"stdout: cannot be written ({reason_of(error)}); write to another disk")
        self.is_closed = error.errno == errno.EPIPE


class _Stdout(FileIO):
    """Standard output, whose errors differ from those of other files; after the first one, nothing more is written."""

    _is_lost = False

    def write(self, content: Any) -> int:
        if not self._is_lost:
            try:
                return super().write(content)
            except OSError as error:
                self._is_lost = True
                raise UntakenError(error) from error
        return memoryview(content).nbytes


class _Stderr(FileIO):
    """Standard error: what cannot be written there changes no result."""

    def write(self, content: Any) -> int:
        with suppress(OSError):
            return super().write(content)
        return memoryview(content).nbytes


def guard_streams() -> None:
    """Let stdout raise UntakenError and stderr nothing; a name that the terminal's encoding lacks is written out.

    A closed stream takes what is written and drops it: else a file that is opened later would get its number.
    """
    sys.stdout = _guarded(sys.stdout, _Stdout)
    sys.stderr = _guarded(sys.stderr, _Stderr)


def _guarded(stream: Any, kind: type[FileIO]) -> Any:
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123
    if not isinstance(stream, TextIOWrapper):
        return stream
    stream.reconfigure(errors="backslashreplace")
    buffer: Any = stream.buffer
    # The console of Windows is another kind, and so are the streams of tests.
    if type(stream) is not TextIOWrapper or type(getattr(buffer, "raw", buffer)) is not FileIO:
        return stream
    raw = kind(stream.fileno(), "w", closefd=False)
    written: Any = BufferedWriter(raw) if isinstance(buffer, BufferedWriter) else raw
    return TextIOWrapper(
        written,
        stream.encoding,
        "backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def end_at_sigterm() -> None:
    """Let SIGTERM, by which batch systems end a job, end the command as Ctrl-C does, with its temporary files removed."""
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        with suppress(ValueError):  # in a thread
            signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    signal.signal(number, signal.SIG_IGN)  # Some send it again and again: then nothing would be removed.
    _terminated.append(number)
    raise KeyboardInterrupt


def clean_up() -> None:
    """Remove the temporary folders of an interrupted command, and the semaphores of its workers.

    Of semaphores that are left, their tracker would print a list.
    """
    # What is not loaded has made nothing.
    if scratch := sys.modules.get("prof_analysis.common.scratch"):
        cast(Any, scratch).remove_all()
    if library := sys.modules.get("multiprocessing.util"):
        cast(Any, library)._run_finalizers(0)


def interruption() -> tuple[int, str]:
    """Return the exit code of an interrupted command, and the word for how it was interrupted."""
    return (TERMINATED, "terminated") if _terminated else (INTERRUPTED, "interrupted")
