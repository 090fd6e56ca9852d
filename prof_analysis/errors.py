"""One family of errors. Each message names the file or the word that is wrong and says what to do."""

import re


class ProfAnalysisError(Exception):
    """Base of all errors of this package; its text is one line for the user."""


class InputError(ProfAnalysisError):
    """The input cannot answer the question: nothing found, not readable, or not collected."""


class QueryError(ProfAnalysisError):
    """A query or a table name that cannot be run."""


class OutputError(ProfAnalysisError):
    """A result could not be written."""


def reason_of(error: BaseException) -> str:
    """The one line of an error of a library that a user can do something with."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).splitlines() or [type(error).__name__]
    inner = re.search(r'"exception_message":"(.+?)(?<!\\)"[,}]', lines[0])
    return inner[1].replace('\\"', '"') if inner else lines[0]


class ProfAnalysisWarning(UserWarning):
    """Something in the input that a result leaves out or takes as unknown."""
