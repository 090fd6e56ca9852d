"""The errors of this package, one family. Each message names the file or the word that is wrong and says what to do."""

import re
from pathlib import Path


class ProfAnalysisError(Exception):
    """Base of all errors of this package; its text is one line for the user.

    `path` is the file or folder that the text names; `rank_id` is the rank that it is about. None without one.
    """

    def __init__(self, message: str = "", *, path: Path | None = None, rank_id: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.rank_id = rank_id


class InputError(ProfAnalysisError, ValueError):
    """An input that cannot answer the question: nothing was found, it cannot be read, or it was not collected."""


class QueryError(ProfAnalysisError, ValueError):
    """A query that cannot be run, or a table that does not exist."""


class OutputError(ProfAnalysisError, OSError):
    """A result that could not be written."""


def reason_of(error: BaseException) -> str:
    """Return the one line of a library's error that helps a user."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).splitlines() or [type(error).__name__]
    inner = re.search(r'"exception_message":"(.+?)(?<!\\)"[,}]', lines[0])
    return inner[1].replace('\\"', '"') if inner else lines[0]


def remedy_of(error: BaseException) -> str:
    """Return what a user can do about an error caused by the machine, as the end of a message; "" for other errors."""
    text = str(error).lower()
    if (
        isinstance(error, MemoryError)
        or "out of memory" in text
        or "failed to pin block" in text
        or "failed to allocate" in text
    ):
        return "; give it more memory (--memory-limit), or run fewer ranks at a time (--workers)"
    if "too many open files" in text:
        return "; let a process open more files (ulimit -n 4096), or choose fewer ranks (--rank-list)"
    if "no space left" in text or "disk full" in text or "temp_directory_size" in text:
        return "; set TMPDIR to a larger disk"
    return ""


class ProfAnalysisWarning(UserWarning):
    """Part of an input that a result leaves out or takes as unknown; `path` and `rank_id` as in ProfAnalysisError."""

    def __init__(self, message: str = "", *, path: Path | None = None, rank_id: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.rank_id = rank_id
