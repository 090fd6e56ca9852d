"""What is asked of a profile: rows of its tables, over the session that builds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, Unpack

import duckdb

from prof_analysis.analyses import ANALYSES, Analysis
from prof_analysis.analyses.answer import Answer
from prof_analysis.analyses.answerable import QUESTIONS, answered_by, better_recording_of, unanswered_by
from prof_analysis.common import frames
from prof_analysis.common.cluster_database import ANONYMOUS_OUTPUT_FOLDER, OUTPUT_FOLDER
from prof_analysis.common.command_line import query_line, question_line
from prof_analysis.common.errors import InputError, ProfAnalysisError, QueryError
from prof_analysis.common.old_words import options_in_new_words
from prof_analysis.common.option_docs import check, check_path
from prof_analysis.common.options import Keywords, ProfileOptions, shows_options
from prof_analysis.profile.asking import ask, require, rules_of, said_of_nothing
from prof_analysis.run.cache.store import digest_of
from prof_analysis.run.query import answer
from prof_analysis.run.secrets import anonymous_paths, anonymous_rank, raise_anonymous
from prof_analysis.run.session import Session
from prof_analysis.sources import SOURCES, discovery
from prof_analysis.sources.given import Given, paths_of
from prof_analysis.sources.rank import readable
from prof_analysis.sources.runs import said_of_missing

Fetched = TypeVar("Fetched")


class AskedProfile:
    """The tables of a profile as answers, pictures and the report ask them; Profile is what users have of it."""

    @shows_options
    def __init__(self, path: Given, **options: Unpack[Keywords]) -> None:
        (paths, among), chosen = paths_of(path), ProfileOptions(**options_in_new_words(options))
        self.path = next(iter(paths.values()))
        self._given = among or tuple(paths.values())
        # As command lines name it; the names of several are secrets that only their folder hides.
        self._words = tuple(map(str, among or (self.path,))) if not chosen.anonymize else (str(self.path),)
        self._options = chosen
        self._roots = tuple(map(discovery.root_of, paths.values()))
        self._anonymous = None
        if chosen.anonymize:
            self._anonymous, paths = anonymous_paths(paths)
        try:
            self._session = Session(paths, chosen, QUESTIONS, self._anonymous, among)
        except ProfAnalysisError as error:
            raise_anonymous(error, self._anonymous)
        self.failures = self._session.failures
        self.warnings = self._session.warnings
        self.details = self._session.details

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs, if there are several: then every table has the column `run` in front. Else empty."""
        return self._session.runs if len(self._session.runs) > 1 and not self._session.is_of_one_run else ()

    @property
    def is_anonymous(self) -> bool:
        """Whether secrets such as paths and hosts are replaced in all that is shown."""
        return self._anonymous is not None

    def anonymous(self, text: str) -> str:
        """Return a text as it may be shown: with `anonymize`, secrets such as paths and hosts are replaced; else as it is."""
        return text if self._anonymous is None else self._anonymous.shown(text)

    @contextmanager
    def only(self, run: str) -> Iterator[None]:
        """Restrict the questions of this thread to one run, without the column `run`, while other threads wait.

        Raises QueryError when there is no such run.
        """
        runs = self._session.runs if len(self._session.runs) > 1 else ()
        if run not in runs:
            raise QueryError(f"there is no run {run}; the runs are {', '.join(runs) or 'one, without a name'}")
        with self._session.only(run):
            yield

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Run a query as sql() does, and return its rows as dictionaries by column.

        Raises QueryError when the query cannot be read or run.
        """
        return self._asked(query, frames.rows)

    def _asked(self, query: str, fetch: Callable[[duckdb.DuckDBPyRelation], Fetched]) -> Fetched:
        return answer(self._session, query, fetch, self._given, self.anonymous if self.is_anonymous else None)

    def prepare(
        self,
        analysis: str,
        extras: Iterable[str] = (),
        export_type: str = "db",
        also: Iterable[str] = (),
        *,
        is_written: bool = True,
        by: str | None = None,
    ) -> Analysis:
        """Build the tables of an analysis, its extras and the export type, as in export(), and return it with their tables.

        `also` are further tables, so that the files are read once. Without is_written, those that only files have are not
        built; `by` is what a row is.

        Raises InputError when no rank can answer or an argument is unknown.
        """
        check("analysis", analysis, analysis in ANALYSES, " or ".join(ANALYSES))
        chosen = ANALYSES[analysis]
        with self._session.only(None):
            for extra in extras:
                check("extras", extra, extra in chosen.extras, f"{' or '.join(chosen.extras) or 'none'} with {analysis}")
                require(self._session, chosen.extras[extra].requires)
                chosen = chosen.with_extra(extra)
            if export_type in chosen.pictures:
                require(self._session, chosen.pictures[export_type].requires)
                chosen = chosen.with_picture(export_type)
            wanted = replace(chosen if is_written else chosen.as_shown(by), also=(*chosen.also, *also))
            try:
                ask(self._session, wanted)
            except InputError as error:
                # A timeline shows the kernels also where nothing answers the question of its command.
                if export_type not in chosen.pictures or not chosen.pictures[export_type].requires:
                    raise
                self._session.provide(wanted.tables)
                self._session.warn(f"{error}; the timeline shows the rest of the recording")
        return chosen

    def provide(self, tables: tuple[str, ...]) -> None:
        """Build tables in one go, so that the files are read once. Raises InputError when no rank can be read."""
        with self._session.only(None):
            self._session.provide(tables)

    def has_answer(self, analysis: str) -> bool:
        """Return whether an analysis has rows, over all ranks or over those of the run of only()."""
        return bool(self.rows(f"SELECT 1 FROM {ANALYSES[analysis].counted_table} LIMIT 1"))

    def said_of_nothing(self, analysis: str) -> str:
        """Return the sentence for an analysis without rows."""
        return said_of_nothing(self._session, ANALYSES[analysis])

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules of advice: rule, reason (why ranks cannot be judged by it, None for those that can), ranks, level.

        ranks is how many; level that of prof_analysis.collect which records what they lack, None where none does.
        """
        with self._session.turn():
            return rules_of(self._session)

    def query_line(self, query: str) -> str:
        """Return the command line that runs a query on this profile, with the options that change its rows."""
        return self.anonymous(query_line(self._words, self._options, query))

    def question_line(self, command: str) -> str:
        """Return the command line that asks a question about this profile, with the options that change its answer."""
        return self.anonymous(question_line(self._words, self._options, command))

    def command_line(self) -> str:
        """Return the command line of this process as it may be shown: with `anonymize` without values."""
        from prof_analysis.profile.command import command_line

        return command_line(self._anonymous is not None)

    def answered_by_runs(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the run of each rank, and the questions that the rank can answer."""
        return [(rank.run, answered_by(rank)) for rank in self._session.ranks]

    def rank_rows(self) -> list[dict[str, Any]]:
        """Return the rows of ranks() as dictionaries; in only() those of its run."""
        ranks = [rank for rank in self._session.ranks if self._session.shows(rank)]
        if self._anonymous is not None:
            ranks = [anonymous_rank(self._anonymous, rank) for rank in ranks]
        lacking = said_of_missing(self._session.ranks)
        return [
            {
                **{name: value for name, value in vars(rank).items() if name != "doubts" and (name != "run" or self.runs)},
                "missing": (
                    *rank.doubts,
                    *rank.missing,
                    *([lacking[rank.run]] if rank.run in lacking and not rank.left_out else []),
                ),
                "read_from": SOURCES[rank.source].LABEL if rank.source else None,
                "answers": answered_by(rank),
                "may_answer": (),
                "unanswered": [": ".join(pair) for pair in unanswered_by(rank)],
                "better_recording": better_recording_of(rank),
                "folder": self.anonymous(readable(rank.folder)),
            }
            for rank in ranks
        ]

    def warn(self, message: str) -> None:
        """Add a sentence to `warnings`, and raise it as a ProfAnalysisWarning."""
        self._session.warn(message)

    def _write(
        self,
        folder: str | Path | None,
        tables: Mapping[str, str],
        export_type: str,
        outdated: Iterable[str] = (),
        answers: Mapping[str, Answer] = MappingProxyType({}),
    ) -> list[Path]:
        from prof_analysis import exports
        from prof_analysis.exports.provenance import Origin

        check_path("folder", folder)
        if folder is None and self._session.has_several_paths:
            raise InputError("the runs are in several folders: give the folder to write to")
        target = (Path(folder) if folder is not None else discovery.root_of(self.path)) / OUTPUT_FOLDER
        ranks = list(self._session.stores)
        options = {table: self._session.options_of(table) for table in tables}
        if self._anonymous is not None:
            target = target.with_name(ANONYMOUS_OUTPUT_FOLDER)
            self._anonymous.add_own_folder(target, target.name)
            ranks = [anonymous_rank(self._anonymous, rank) for rank in ranks]
            options = {table: self._anonymous.values(values) for table, values in options.items()}
        inputs = tuple(self.anonymous(readable(rank.folder)) for rank in ranks)
        origin = Origin(inputs, digest_of(ranks), options, self._anonymous is not None, self.command_line())
        remarks: list[str] = []
        files = exports.export(
            self._session.connection,
            ranks,
            target,
            tables,
            export_type,
            remarks,
            origin,
            outdated=outdated,
            documented=self._session.exported_tables,
            roots=self._roots,
            answers=answers,
        )
        for remark in remarks:
            self._session.warn(remark)
        return files

    def close(self) -> None:
        """Release memory and temporary files. Later questions, and those of other threads, fail with a QueryError."""
        self._session.close()
