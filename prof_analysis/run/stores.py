"""The stores of the ranks of a session, and the work that fills them."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import duckdb

from prof_analysis.common.options import OnProgress, ProfileOptions
from prof_analysis.engine.table_file import Table
from prof_analysis.run.cache.folders import Folders
from prof_analysis.run.cache.store import ROW_COUNT, RankStore, about_rows
from prof_analysis.run.job import Job, Outcome
from prof_analysis.run.machine import Machine, run
from prof_analysis.run.problems import Problems
from prof_analysis.run.progress import of_all
from prof_analysis.sources.rank import Rank


class Stores:
    """The stores of the ranks that can be read. A rank that fails is left out from then on, and said to be among the problems.

    `temporary` is a folder that close() removes; `on_progress` is told of the work.
    """

    def __init__(
        self,
        ranks: Iterable[Rank],
        options: ProfileOptions,
        own: tuple[Table, ...],
        problems: Problems,
        is_closed: Callable[[], bool],
    ) -> None:
        self._variables = options.variables()
        self._own = own
        self._problems = problems
        self._is_closed = is_closed
        self._machine = Machine(options.workers, options.threads, options.memory_limit, options.scheduler)
        self.on_progress: OnProgress | None = None
        self._without_rows: set[Path] = set()
        self._failed = {rank.profile for rank in ranks if rank.left_out}
        self._folders = Folders(options)
        self.temporary = self._folders.temporary
        # The workers of a cluster spill to disks of their own.
        self._spill_folder = self.temporary if options.scheduler is None else None
        try:
            folders = self._folders.of(rank for rank in ranks if not rank.left_out)
        except BaseException:
            self.close()
            raise
        self._stores = {rank: RankStore(folder, rank, self._variables, own) for rank, folder in folders.items()}

    @property
    def readable(self) -> dict[Rank, RankStore]:
        """The readable ranks, each with the store of its tables."""
        return {rank: store for rank, store in self._stores.items() if rank.profile not in self._failed}

    def build(self, tables: tuple[str, ...], connection: duckdb.DuckDBPyConnection) -> None:
        """Build the tables that the ranks lack, and again those whose files are damaged, which `connection` tells."""
        self._build(tables)
        if self._drop_damaged(tables, connection):
            self._build(tables)

    def have_rows(self, table: str) -> bool:
        """Return whether any rank has rows of one of its tables that are built."""
        return not self._without_rows.issuperset(store.file(table) for store in self.readable.values())

    def close(self) -> None:
        """Remove temporary files."""
        self._folders.close()

    def _build(self, tables: tuple[str, ...]) -> None:
        """Build the tables that the ranks lack; tables that do not fit into the cache go to temporary folders."""
        failed = self._run(self._jobs(self.readable, tables, self._folders.keep))
        full = [rank for rank, outcome in failed.items() if outcome.path == self._stores[rank].folder]
        moved = {rank: store for rank in full if (store := self._folders.without_cache(self._stores[rank]))}
        self._stores.update(moved)
        failed = {rank: outcome for rank, outcome in failed.items() if rank not in moved}
        for rank, outcome in (failed | self._run(self._jobs(moved, tables, keep=False))).items():
            self._failed.add(rank.profile)
            self._problems.fail(outcome.failure or "", rank, outcome.path, outcome.details or "")

    def _jobs(self, stores: Mapping[Rank, RankStore], tables: tuple[str, ...], keep: bool) -> list[Job]:
        """Return the jobs for the tables of a question that the stores lack."""
        lacking = {rank: store.lacking(tables) for rank, store in stores.items()}
        return [
            Job(rank, lacking[rank], self._variables, store.folder, self._own, None, None, self._spill_folder, tables, keep)
            for rank, store in stores.items()
            if tables and (lacking[rank] or store.warnings(tables) is None)
        ]

    def _run(self, jobs: list[Job]) -> dict[Rank, Outcome]:
        """Run jobs, and return those that failed."""
        outcomes: dict[Rank, Outcome] = {}

        def on_done(outcome: Outcome) -> None:
            outcomes[outcome.job.rank] = outcome
            end(outcome.job.rank)

        if jobs:
            count, end = of_all({job.rank: job.input_bytes for job in jobs}, self.on_progress)
            run(jobs, self._machine, on_done, count, self._is_closed)
            self._folders.shrink()
        return {job.rank: outcomes[job.rank] for job in jobs if outcomes[job.rank].failure}

    def _drop_damaged(self, tables: tuple[str, ...], connection: duckdb.DuckDBPyConnection) -> bool:
        """Remove files of tables that are damaged or from elsewhere, and return whether there were any."""
        files = [store.file(table) for table in tables for store in self.readable.values()]
        about = about_rows(connection, files)
        self._without_rows.update(file for file, one in about.items() if one.get(ROW_COUNT) == 0)
        damaged = set(files) - about.keys()
        for file in damaged:
            file.unlink(missing_ok=True)
        return bool(damaged)
