"""One family of errors. Each message names the file or the word that is wrong and says what to do."""


class ProfAnalysisError(Exception):
    """Base of all errors of this package; its text is one line for the user."""


class InputError(ProfAnalysisError):
    """The input cannot answer the question: nothing found, not readable, or not collected."""


class QueryError(ProfAnalysisError):
    """A query or a table name that cannot be run."""


class OutputError(ProfAnalysisError):
    """A result could not be written."""


class ProfAnalysisWarning(UserWarning):
    """Something in the input that a result leaves out or takes as unknown."""
