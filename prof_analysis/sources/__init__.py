"""One module per input format. Each stages raw tables; the SQL under sql/sources/<name>/ makes the trace tables of them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import duckdb

from prof_analysis.sources import ascend_db, ascend_text


class Source(Protocol):
    """What a module of this package has."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """The name of its folder of SQL."""

    @property
    def LABEL(self) -> str:  # noqa: N802
        """What users call it."""

    @property
    def RAW_COLUMNS(self) -> Mapping[str, Mapping[str, str]]:  # noqa: N802
        """The raw tables that it can stage, their columns and types."""

    @property
    def IS_READ_ONCE(self) -> bool:  # noqa: N802
        """Whether to stage what is behind guards at once, since to read the files again costs more."""

    def stage(
        self,
        connection: duckdb.DuckDBPyConnection,
        files: Sequence[Path],
        wanted: Mapping[str, frozenset[str]],
        threads: int,
        on_bytes: Callable[[int], None],
    ) -> list[str]:
        """Stage the wanted columns of the raw tables in DuckDB and give warnings."""


SOURCES: Mapping[str, Source] = {source.NAME: source for source in (ascend_db, ascend_text)}
