"""Session: the ranks under a path and the tables built of them so far. A Profile asks its questions through it."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING

import duckdb

from prof_analysis.common.benchmark_results import shortened
from prof_analysis.common.capabilities import Questions, Requirement
from prof_analysis.common.errors import InputError, ProfAnalysisError, QueryError, reason_of, remedy_of
from prof_analysis.common.options import ProfileOptions
from prof_analysis.engine.database import lent, planned_for_few_rows
from prof_analysis.engine.gathering import check_thresholds
from prof_analysis.engine.grains import grain_of
from prof_analysis.engine.own_tables import read_own_tables
from prof_analysis.engine.planning import split_across_ranks, variables_of
from prof_analysis.engine.registry import Registry
from prof_analysis.engine.table_file import Column, Table
from prof_analysis.engine.tables import all_tables, of_one_rank
from prof_analysis.run.cache.store import RankStore
from prof_analysis.run.found import chosen_ranks, runs_of, say_what_was_found
from prof_analysis.run.job import have_few_rows
from prof_analysis.run.problems import Problems, found_in_tables
from prof_analysis.run.secrets import known_ranks, raise_anonymous
from prof_analysis.run.stores import Stores
from prof_analysis.run.views import Views
from prof_analysis.sources import SOURCES
from prof_analysis.sources.rank import Rank
from prof_analysis.sources.runs import find_runs

if TYPE_CHECKING:
    from prof_analysis.anonymous.texts import Anonymous


class Session:
    """The tables of all ranks, built on demand, as views in `connection`; each rank leaves its tables in a store.

    `paths` has the path of each run by its name, or one path without a name, under which the runs are found. With several runs,
    each has a catalog with the views over its ranks, from which tables over the ranks of a run are made; users see the rows of
    all runs with the column `run` in front. Where a rank has several sources, the one that answers more of `questions` is read.
    `tables` has the documented tables and the user's own. Problems are in `failures` (ranks that cannot be read), `warnings`
    and `details` (tracebacks). With `anonymous`, users see tables, warnings and errors with secrets replaced. Threads that ask
    at the same time take turns.
    Raises InputError when there are no profiles under the path, or the chosen ranks or the chosen step do not exist.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        options: ProfileOptions,
        questions: Questions,
        anonymous: "Anonymous | None" = None,
        among: Sequence[Path] = (),
    ) -> None:
        self.path = next(iter(paths.values()))
        self.shown_path = " and ".join(map(str, paths.values()))
        self.has_several_paths = len(paths) > 1
        self._own = () if options.sql is None else read_own_tables(Path(options.sql), options.allow_files)
        self.allow_files = options.allow_files
        self._options = options
        self.tables = all_tables(self._own)
        check_thresholds(options.thresholds or {}, self.tables)
        self._anonymous = anonymous
        self._problems = Problems(str if anonymous is None else anonymous.shown)
        self.failures, self.warnings, self.details = (self._problems.failures, self._problems.warnings, self._problems.details)
        self.warn = self._problems.warn
        self._variables = options.variables()
        self._is_closed = False
        self._turn = RLock()
        self._process = os.getpid()
        self._provided: set[str] = set()
        self._shown: set[str] = set()
        self._shown_to_users: set[str] = set()
        self._shown_ranks: Set[Rank] = set()
        found = find_runs(paths, options, options.source, questions, among)
        self.ranks = chosen_ranks(found if anonymous is None else known_ranks(anonymous, found), options.rank_list)
        self.runs = runs_of(self.ranks)
        self._has_several_ranks = max(Counter(rank.run for rank in self.ranks).values(), default=0) > 1
        if not self._has_several_ranks:
            self.tables = of_one_rank(self.tables)
        if missing := sorted(paths.keys() - {"", *(rank.run for rank in self.ranks)}):
            path = paths[missing[0]]
            raise InputError(f"{path}: holds none of the chosen ranks; choose ranks that each run has", path=path)
        say_what_was_found(self._problems, self.ranks, found, paths)
        self._stores = Stores(self.ranks, options, self._own, self._problems, lambda: self._is_closed)
        self._opened = ExitStack()
        known = {rank.device_kind or SOURCES[rank.source].DEVICE_KIND for rank in self.ranks if rank.source is not None}
        kinds = known - {None}
        variables = {**self._variables, "device_kind": kinds.pop() if len(kinds) == 1 else None}
        self.connection = self._opened.enter_context(lent(variables, temp_directory=self._stores.temporary / "spill"))
        try:
            self._views = Views(self.connection, self.runs, lambda: self._is_closed, anonymous)
            self._check_step()
        except BaseException:
            self.close()
            raise
        # Not before: progress would rise for the step and begin anew for the question.
        self._stores.on_progress = options.on_progress

    @property
    def stores(self) -> dict[Rank, RankStore]:
        """The readable ranks, each with the store of its tables."""
        return self._stores.readable

    def options_of(self, table: str) -> dict[str, object]:
        """Return the options that a table depends on, with their values; a digest for the records of a benchmark."""
        read = variables_of(table, {rank.source for rank in self.stores if rank.source}, self._own, self._has_several_ranks)
        return {name: shortened(name, self._variables[name]) for name in sorted(read & self._variables.keys())}

    @property
    def step_id(self) -> int | None:
        """The chosen step."""
        return self._options.step_id

    @property
    def is_of_one_run(self) -> bool:
        """Whether the views show one run of several, as in only()."""
        return self._views.are_of_one_run

    @property
    def shown_ranks(self) -> list[Rank]:
        """The readable ranks that the views show: those of the run of only(), else all."""
        return [rank for rank in self.stores if self.shows(rank)]

    def shows(self, rank: Rank) -> bool:
        """Return whether the views show a rank: of one run in only(), else all."""
        return self._views.show(rank.run)

    def has_value(self, option: str) -> bool:
        """Return whether an option was given; False for what is no option."""
        return self._variables.get(option) is not None

    def profiles_in(self, table: str) -> set[str]:
        """Return the ranks that have rows in a table that is built, by their profiles."""
        with self._views.as_they_are():
            return {row[0] for row in self.connection.execute(f"SELECT DISTINCT profile FROM {table}").fetchall()}

    def lacking(self, requires: tuple[Requirement, ...]) -> list[tuple[Rank, str]]:
        """Return the ranks that lack a requirement, each with the reason."""
        return [(rank, reason) for rank in self.stores if (reason := rank.why_not(requires))]

    def provide(self, tables: tuple[str, ...]) -> None:
        """Build the tables that the store lacks, and create views of them over all readable ranks."""
        with self.turn():
            self._provide(tables)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let this thread use the connection while others wait; close() interrupts its work.

        Raises QueryError when the Profile is closed, or was made by the process that this one was forked from; InputError when
        the machine runs short of memory or the like.
        """
        if os.getpid() != self._process:
            raise QueryError("this Profile belongs to the process that this one was forked from; open one here")
        with self._turn:
            if self._is_closed:
                raise QueryError("this Profile is closed; open it again")
            try:
                yield
            except (duckdb.Error, ProfAnalysisError) as error:
                if self._is_closed:
                    raise QueryError("this Profile was closed during the query; open it again") from error
                if isinstance(error, ProfAnalysisError):
                    raise_anonymous(error, self._anonymous)
                said = InputError(
                    f"{self.shown_path}: cannot be analysed ({reason_of(error)}){remedy_of(error)}", path=self.path
                )
                raise_anonymous(said, self._anonymous, error)

    @contextmanager
    def only(self, run: str | None) -> Iterator[None]:
        """Restrict questions of this thread to one run, without the column `run`, or to all runs again for None."""
        with self.turn(), self._views.of(run):
            yield

    def as_users_see(self, query: str, rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """Return the rows of a query of a user: it may also read files, or DuckDB's own tables, which name folders."""
        is_plain = self._anonymous is None or re.fullmatch(r"FROM \w+\.\w+( LIMIT \d+)?", query)
        if is_plain:
            return rows
        from prof_analysis.anonymous.columns import replaced_rows

        return replaced_rows(rows)

    def list_all(self, tables: Iterable[Table]) -> None:
        """Create a view without rows of each of these tables that is not built yet, so that DuckDB's catalog has it."""
        for table in tables:
            if table.name not in self._shown_to_users:
                self._views.show_columns(table)

    @property
    def exported_tables(self) -> Mapping[str, Table]:
        """The tables with their columns in exports: with several runs, tables over ranks have `run` in front."""
        if len(self.runs) < 2:
            return self.tables
        run = Column("run", "VARCHAR", "the run")

        def read(name: str) -> Table:
            table = self.tables[name]
            return replace(table, columns=(run, *table.columns)) if table.grain == "job" else table

        return Registry(self.tables, read)

    def _provide(self, tables: tuple[str, ...]) -> None:
        are_shown = self._shown_ranks == self.stores.keys() and self._shown_to_users.issuperset(tables)
        if are_shown and not self._views.are_of_one_run:
            return
        of_ranks, across = split_across_ranks(tables, self._own, self._has_several_ranks)
        if len(self.runs) < 2 and (of_runs := [table for table in across if grain_of(table) == "runs"]):
            raise QueryError(
                f"{of_runs[0]} compares runs, and there is one: open several with open_profiles(), or give a folder that holds "
                "several"
            )
        if self._views.are_of_one_run and (of_runs := [table for table in across if grain_of(table) == "runs"]):
            raise QueryError(f"{of_runs[0]} compares runs, and this is asked of one: ask it outside of only()")
        # What identifies people and machines may stand in a text that no other table of the question has.
        texts = [_TEXTS] if self._anonymous is not None and of_ranks and _TEXTS not in self._shown else []
        of_ranks = (*of_ranks, *_without(texts, set(of_ranks)))
        new = _without(of_ranks, self._provided)
        self._stores.build(tuple(new), self.connection)
        if not self.stores and tables:
            raise self._problems.why_nothing(self.path)
        if self._shown_ranks != self.stores.keys():  # A rank failed, so earlier views must drop it too.
            self._shown_ranks = self.stores.keys()
            self._shown.clear()
            self._shown_to_users.clear()
        with self._views.as_they_are():
            self._show(_without(of_ranks, self._shown), _without(across, self._shown), new)
        self._provided.update(of_ranks)
        self._shown.update(of_ranks, across)
        self._views.show_anonymous(_without(tables, self._shown_to_users), texts)
        self._shown_to_users.update(tables if self._anonymous else self._shown)

    def _show(self, of_ranks: list[str], across: list[str], new: list[str]) -> None:
        """Create views of tables over all ranks and runs; newly built ones may have warnings of how they were read."""
        for store in self.stores.values():
            for warning in store.warnings(new) or ():
                self.warn(warning)
        with planned_for_few_rows(self.connection) if have_few_rows(self.stores) else nullcontext():
            self._show_tables(of_ranks, across)
            # None of our tables of ranks warns where it has no rows.
            may_warn = [name for name in of_ranks if self._stores.have_rows(name) or self.tables[name] in self._own]
            for sentence in found_in_tables(self.connection, [self.tables[name] for name in (*may_warn, *across)], self.stores):
                self.warn(sentence)

    def _show_tables(self, of_ranks: list[str], across: list[str]) -> None:
        for name in of_ranks:
            self._views.show_ranks(name, self.stores)
        tables = (self.tables[name] for name in across)
        made = [one if one.guard is None or self._stores.have_rows(one.guard) else one.without_rows() for one in tables]
        read_again = {need for table in made for need in table.needs}
        for table in made:
            self._views.show_across(table, self.stores, is_read_again=table.name in read_again and not table.never_has_rows)

    def close(self) -> None:
        """Release memory and temporary files, and interrupt waiting threads. Do nothing in a fork of the process."""
        if os.getpid() != self._process:
            return
        self._is_closed = True
        give_up = monotonic() + _ENDS_WITHIN_S
        while not (is_mine := self._turn.acquire(timeout=0.05)) and monotonic() < give_up:
            self.connection.interrupt()
        try:
            self._views.close()
            self._opened.close()
            self._stores.close()
        finally:
            if is_mine:
                self._turn.release()

    def _check_step(self) -> None:
        step_id = self._variables["step_id"]
        if step_id is None:
            return
        with self.turn():
            self.provide(("trace.step",))
            rows = self.connection.execute("SELECT DISTINCT step_id FROM trace.step ORDER BY 1").fetchall()
        steps = [row[0] for row in rows]
        if step_id not in steps:
            known = ", ".join(map(str, steps)) if steps else "none: prof.step() was not called"
            raise InputError(f"{self.shown_path}: there is no step {step_id}; the steps are {known}", path=self.path)


# Reading without DuckDB needs up to this long to notice that it must end.
_ENDS_WITHIN_S = 10
# All texts of the ranks.
_TEXTS = "trace.string"


def _without(tables: Iterable[str], others: Set[str]) -> list[str]:
    return [table for table in tables if table not in others]
