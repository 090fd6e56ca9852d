"""One room per input format: it finds, inspects and stages; the SQL under sql/sources/<name>/ makes trace tables of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    import duckdb

    from prof_analysis.options import Options
    from prof_analysis.sources.found import Found
    from prof_analysis.sources.rank import Rank

# What users call a source -> the name of its room. Of two that answer the same, the first one reads a result.
NAMES: Mapping[str, str] = {"db": "ascend_db", "text": "ascend_text"}


class Source(Protocol):
    """What a room of this package has."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of its room, and of its folder of SQL."""

    @property
    def LABEL(self) -> str:  # noqa: N802
        """What messages call it."""

    @property
    def RESULTS(self) -> Sequence[str]:  # noqa: N802
        """How messages describe what it finds, as in "a profiler database"."""

    @property
    def INNER_FOLDERS(self) -> Sequence[str]:  # noqa: N802
        """The names of folders that are part of a result: whoever gives the path of one means the folder around it."""

    @property
    def RAW_COLUMNS(self) -> Mapping[str, Mapping[str, str]]:  # noqa: N802
        """The raw tables that it can stage, their columns and types."""

    @property
    def IS_READ_ONCE(self) -> bool:  # noqa: N802
        """Whether to stage what is behind guards at once, since to read the files again costs more."""

    def find(self, folder: Path, is_folder: Mapping[str, bool]) -> Found:
        """Find the results in a folder, of which `is_folder` has the entries by name."""

    def takes(self, file: Path) -> bool:
        """Give whether a single file may be a result; inspect() says whether it is one."""

    def inspect(self, result: Path, profile: str, options: Options) -> list[Rank]:
        """Give the ranks of a result named `profile`: what they hold, and which files to stage.

        One that cannot be read is left out with the reason; it has no inputs where there is no file of this source.
        """

    def stage(
        self,
        connection: duckdb.DuckDBPyConnection,
        files: Sequence[Path],
        wanted: Mapping[str, frozenset[str]],
        threads: int,
        on_bytes: Callable[[int], None],
    ) -> list[str]:
        """Stage the wanted columns of the raw tables in DuckDB and give warnings."""


if TYPE_CHECKING:
    SOURCES: Mapping[str, Source]


def __getattr__(name: str) -> Any:
    """Import the sources when they are first used: the command line needs only their names."""
    if name != "SOURCES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = {room: cast(Source, import_module(f"{__name__}.{room}")) for room in NAMES.values()}
    return globals()[name]
