"""One family of errors. Each message names the file or the word that is wrong and says what to do."""

import re
from pathlib import Path


class ProfAnalysisError(Exception):
    """Base of all errors of this package; its text is one line for the user.

    `path` is the file or folder that the text names, and `rank_id` the rank that it is about, where there is one.
    """

    def __init__(self, message: str = "", *, path: Path | None = None, rank_id: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.rank_id = rank_id


class InputError(ProfAnalysisError, ValueError):
    """The input cannot answer the question: nothing found, not readable, or not collected."""


class QueryError(ProfAnalysisError, ValueError):
    """A query or a table name that cannot be run."""


class OutputError(ProfAnalysisError, OSError):
    """A result could not be written."""


def reason_of(error: BaseException) -> str:
    """The one line of an error of a library that a user can do something with."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).splitlines() or [type(error).__name__]
    inner = re.search(r'"exception_message":"(.+?)(?<!\\)"[,}]', lines[0])
    return inner[1].replace('\\"', '"') if inner else lines[0]


def remedy_of(error: BaseException) -> str:
    """What a user can do about an error that the machine is the cause of, as the end of a message; nothing for others."""
    text = str(error).lower()
    if (
        isinstance(error, MemoryError)
        or "out of memory" in text
        or "failed to pin block" in text
        or "failed to allocate" in text
    ):
        return "; give it more memory (--memory-limit), or run fewer ranks at a time (--workers)"
    if "too many open files" in text:
        return "; let a process open more files (ulimit -n 4096), or ask for fewer ranks (--rank_list)"
    if "no space left" in text or "disk full" in text or "temp_directory_size" in text:
        return "; set TMPDIR to a larger disk"
    return ""


class ProfAnalysisWarning(UserWarning):
    """Something in the input that a result leaves out or takes as unknown; `path` and `rank_id` as of ProfAnalysisError."""

    def __init__(self, message: str = "", *, path: Path | None = None, rank_id: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.rank_id = rank_id
