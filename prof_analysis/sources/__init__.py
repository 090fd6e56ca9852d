"""The sources, one package per input format: each finds, inspects and stages; sql/sources/<name>/ makes trace tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, get_args

from prof_analysis.common.options import Source as Chosen

if TYPE_CHECKING:
    import duckdb

    from prof_analysis.common.answer_options import Options
    from prof_analysis.sources.found import Found
    from prof_analysis.sources.identity import Identity
    from prof_analysis.sources.rank import Rank
    from prof_analysis.sources.remarks import Remark

# The packages that have another name than the word by which users choose the source.
_PACKAGES = {"db": "ascend_db", "text": "ascend_text", "snapshot": "memory_snapshot"}
# Name of a source for users -> name of its package. Of two sources that answer the same, the first one reads a result.
NAMES: Mapping[str, str] = {word: _PACKAGES.get(word, word) for word in get_args(Chosen) if word != "auto"}


class Source(Protocol):
    """The attributes and functions of the package of a source."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of its package, and of its folder of SQL."""

    @property
    def LABEL(self) -> str:  # noqa: N802
        """The name of the source in messages."""

    @property
    def RESULTS(self) -> Sequence[str]:  # noqa: N802
        """Descriptions of the results that it finds, for messages, such as "a profiler database"."""

    @property
    def INNER_FOLDERS(self) -> Sequence[str]:  # noqa: N802
        """Names of folders inside a result: a path to such a folder means the result around it."""

    @property
    def RAW_COLUMNS(self) -> Mapping[str, Mapping[str, str]]:  # noqa: N802
        """The raw tables that it can stage, with their columns and types."""

    @property
    def DEVICE_KIND(self) -> Literal["NPU", "GPU"] | None:  # noqa: N802
        """The kind of its devices, which decides what can be done about a finding; None where its ranks say it."""

    @property
    def IS_READ_ONCE(self) -> bool:  # noqa: N802
        """Whether to stage tables behind guards at once, since reading the files again costs more."""

    def find(self, folder: Path, is_folder: Mapping[str, bool]) -> Found:
        """Find the results in a folder; `is_folder` has its entries by name."""

    def takes(self, file: Path) -> bool:
        """Return whether a single file may be a result; inspect() says whether it is one."""

    def inspect(self, result: Path, profile: str, options: Options) -> list[Rank]:
        """Return the ranks of a result named `profile`: their capabilities, and which files to stage.

        A rank that cannot be read is left out with the reason; it has no inputs where there is no file of this source.
        """

    def job_of(self, rank: Rank) -> tuple[int, str | None] | None:
        """Return the number of ranks of the job, and the name of their common communicator, which is of this job alone.

        None when the files do not say it, as for the end and the host: these separate runs that lie under one path.
        """

    def least_ranks_of(self, rank: Rank) -> int | None:
        """Return how many ranks the job has at least, by the ranks that its operators name; None when they name none."""

    def usual_files_of(self, rank: Rank) -> frozenset[str]:
        """Return the files of a rank that each rank of a run has where one has it, by their names without its number."""

    def end_of(self, rank: Rank) -> int | None:
        """Return the time at which the recording ended, ns."""

    def host_of(self, rank: Rank) -> str | None:
        """Return the name of the host that the rank ran on."""

    def identity_of(self, rank: Rank) -> Identity:
        """Return the identity of a rank by its data. Misplaced and repeated recordings are found by it."""

    def stage(
        self,
        connection: duckdb.DuckDBPyConnection,
        files: Sequence[Path],
        wanted: Mapping[str, frozenset[str]],
        threads: int,
        on_bytes: Callable[[int], None],
    ) -> list[Remark]:
        """Stage the wanted columns of the raw tables in DuckDB, and return remarks."""


if TYPE_CHECKING:
    SOURCES: Mapping[str, Source]


def __getattr__(name: str) -> Any:
    """Import the sources on first use: the command line needs only their names."""
    if name != "SOURCES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = {room: cast(Source, import_module(f"{__name__}.{room}")) for room in NAMES.values()}
    return globals()[name]
