"""The part of a profile, or of a comparison, that answers and pictures ask: its tables, and the warnings about them."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from prof_analysis.analyses.analysis import Analysis


class HasRows(Protocol):
    """Rows of tables, and what to know about them."""

    @property
    def warnings(self) -> Sequence[str]:
        """The sentences to know before using the figures."""

    @property
    def failures(self) -> Sequence[str]:
        """The ranks that could not be read, each with the reason."""

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Run a query, and return its rows as dictionaries by column."""


class Tables(HasRows, Protocol):
    """The tables of a profile, over all ranks."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, if there are several."""

    def prepare(self, analysis: str, extras: Iterable[str] = (), export_type: str = "db", also: Iterable[str] = ()) -> Analysis:
        """Build the tables of an analysis and further ones in one go."""

    def only(self, run: str) -> AbstractContextManager[None]:
        """Restrict the questions of this thread to one run."""

    def has_answer(self, analysis: str) -> bool:
        """Return whether an analysis has rows."""

    def said_of_nothing(self, analysis: str) -> str:
        """Return the sentence for an analysis without rows."""

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules of advice, each with why it cannot be judged, or None."""

    def query_line(self, query: str) -> str:
        """Return the command line that runs a query on this profile."""

    def question_line(self, command: str) -> str:
        """Return the command line that asks a question about this profile."""

    def rank_rows(self) -> list[dict[str, Any]]:
        """Return the ranks that were found, one row per rank."""


class OpenProfile(Tables, Protocol):
    """A profile with all that a report says of it."""

    @property
    def is_anonymous(self) -> bool:
        """Whether secrets are replaced in what is shown."""

    @property
    def path(self) -> Path:
        """The path that was opened."""

    def provide(self, tables: tuple[str, ...]) -> None:
        """Build tables in one go."""

    def anonymous(self, text: str) -> str:
        """Return a text as it may be shown."""

    def command_line(self) -> str:
        """Return the command line of this process as it may be shown."""


class Compared(HasRows, Protocol):
    """Runs compared with a base."""

    @property
    def profile(self) -> OpenProfile:
        """The profile of all runs."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs that are compared with the base."""

    @property
    def has_several(self) -> bool:
        """Whether several runs are compared with the base."""

    @property
    def has_memory(self) -> bool:
        """Whether the base and a run have records of device memory."""

    def prepare(self, *, efficiency: bool = False) -> None:
        """Work out all tables of the comparison, with `efficiency` that of efficiency too."""
