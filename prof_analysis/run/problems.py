"""Problems of a session that do not end it: ranks that cannot be read, and warnings."""

import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb

from prof_analysis.common.errors import InputError, ProfAnalysisWarning
from prof_analysis.common.visible import visible
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import Table
from prof_analysis.sources.beside import knows_memory_alone
from prof_analysis.sources.rank import Rank


class Problems:
    """The problems so far: `failures` (ranks that cannot be read), `warnings`, and `details` (tracebacks).

    `shown` gives each text as users see it.
    """

    def __init__(self, shown: Callable[[str], str] = str) -> None:
        self._shown = shown
        self.failures: list[str] = []
        self.errors: list[InputError] = []  # the failures, with the file and the rank
        self.warnings: list[str] = []
        self.details: list[str] = []

    def warn(self, message: str, rank: Rank | None = None) -> None:
        """Warn, once, of a problem that does not prevent an answer."""
        message = self._shown(message)
        if message not in self.warnings:
            self.warnings.append(message)
            about = (rank.folder, rank.rank_id) if rank else (None, None)
            warning = ProfAnalysisWarning(visible(message), path=about[0], rank_id=about[1])
            warnings.warn(warning, stacklevel=_level_of_the_caller())

    def fail(self, message: str, rank: Rank, path: Path | None = None, details: str | None = None) -> None:
        """Warn of a rank that cannot be read; `details` is the traceback."""
        message = self._shown(message)
        self.details += [] if details is None else [self._shown(details)]
        self.failures.append(message)
        self.errors.append(InputError(message, path=path or rank.folder, rank_id=rank.rank_id))
        warning = ProfAnalysisWarning(visible(message), path=path or rank.folder, rank_id=rank.rank_id)
        warnings.warn(warning, stacklevel=_level_of_the_caller())

    def why_nothing(self, path: Path) -> InputError:
        """Return the error of a profile of which no rank can be read: the first failure, and how many there are."""
        if not self.errors:
            return InputError(
                f"{path}: has no ranks, but tables for sql and table; give the folder of the profile too", path=path
            )
        first, more = self.errors[0], f" (and {len(self.failures) - 1} more ranks failed)" if len(self.failures) > 1 else ""
        return InputError(f"{first}{more}", path=first.path, rank_id=first.rank_id)

    def warn_of_same_ids(self, ranks: Iterable[Rank]) -> None:
        """Warn of folders with the same rank id: in one run they count twice."""
        ranks = list(ranks)
        for name, rank_id in sorted({(rank.run, rank.rank_id) for rank in ranks if rank.rank_id is not None}):
            alike = [rank for rank in ranks if (rank.run, rank.rank_id) == (name, rank_id)]
            profiles = [rank.profile for rank in alike if not rank.left_out and not knows_memory_alone(rank)]
            if len(profiles) > 1:
                self.warn(
                    f"{len(profiles)} folders have rank {rank_id}: {', '.join(profiles)}; sums over ranks include each of "
                    "them, so give the folder of one run"
                )


def found_in_tables(connection: duckdb.DuckDBPyConnection, tables: Iterable[Table], ranks: Iterable[Rank]) -> list[str]:
    """Return the rows of the warning queries of tables: first about the input, then about wrong figures, then notes."""
    why_untyped = {rank.profile: reason for rank in ranks if (reason := rank.why_untyped)}
    reasons = {"profiles": list(why_untyped), "reasons": list(why_untyped.values())}
    run(connection, "SET VARIABLE why_untyped = map($profiles::VARCHAR[], $reasons::VARCHAR[])", reasons)
    found: list[tuple[str | None, str, str]] = []
    for table in sorted(tables, key=lambda table: not table.name.startswith("trace.")):
        if table.warning:
            create_macros(connection, table.warning)
            found += run(connection, table.warning).fetchall()
    return [
        sentence if profile is None else f"{profile}: {sentence}"
        for profile, _, sentence in sorted(found, key=lambda one: one[1] == "note")
        if sentence is not None
    ]


def _level_of_the_caller() -> int:
    """Return the stacklevel at which a warning points to the caller's line outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("prof_analysis"):
        frame, level = frame.f_back, level + 1
    return level
