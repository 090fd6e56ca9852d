"""Profile: the profiling results found under a path, with a method for each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import indent
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, overload

from prof_analysis.analyses import ANALYSES, Analysis, export_name, overview
from prof_analysis.analyses.analysis import TIMELINE
from prof_analysis.analyses.answer import Answer
from prof_analysis.common import frames
from prof_analysis.common.errors import QueryError
from prof_analysis.common.option_docs import check, check_path
from prof_analysis.common.options import described_options
from prof_analysis.engine.tables import unknown_table
from prof_analysis.exports import WORKBOOK, check_type
from prof_analysis.profile.answers import answer_of_listing, answers_of, verdicts_of
from prof_analysis.profile.asked import AskedProfile
from prof_analysis.profile.asking import ask, require
from prof_analysis.profile.questions import Questions, gives
from prof_analysis.run.given_tables import is_given

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from prof_analysis.pictures.figures.plots import ProfilePlots
    from prof_analysis.profile.questions import Frame


class Profile(AskedProfile, Questions):
    """The profiling results under a path. Use it as a context manager, or call close().

    Every frame holds all ranks in the order of ranks(), with the columns `profile` (the folder below the path, which
    identifies a rank) and `rank_id` (NULL when no file has one). Times are integer nanoseconds since 1970, UTC. A method
    that answers a question returns a pandas.DataFrame with names first, then figures, and last what only locates a row, such
    as `profile`; table() and sql() give the columns in their own order, with arrow=True as a pyarrow.Table.

    Threads may share a Profile: their questions are answered one after the other; one Profile per thread is faster. A forked
    process must open its own. close() in one thread ends the questions of other threads with a QueryError.

    A rank that cannot be read does not stop the others: `failures` and a ProfAnalysisWarning name it. A method raises
    InputError when no rank at all can answer.

    Args:
        path: a result folder (*_ascend_pt), a folder or tree of such folders down to a depth of 5, or a single
            trace_view.json, trace_view.json.gz, kernel_details.csv or profiler database; several of these, which are read
            like the folder that holds them all, without what else is in it; or a mapping from names of runs to such paths, as
            open_profiles() takes it.
    """

    if __doc__ is not None:  # With python -OO it is None.
        __doc__ = f"{__doc__.rstrip()}\n{indent(described_options(), ' ' * 8)}\n    "

    @property
    def plot(self) -> ProfilePlots:
        """The pictures, such as plot.modules() and plot.steps(), each a plotly figure."""
        from prof_analysis.pictures.figures.plots import ProfilePlots

        return ProfilePlots(self)

    @overload
    def ranks(self, *, arrow: Literal[True]) -> pyarrow.Table: ...

    @overload
    def ranks(self, *, arrow: Literal[False] = ...) -> pandas.DataFrame: ...

    def ranks(self, *, arrow: bool = False) -> Frame:
        """Return what was found, one row per rank.

        Columns: run (if there are several), profile, rank_id, rank_id_from (the file that has it), device_id, profiler_level,
        source (None when nothing can be read), modules_from (what marks the modules: mstx, nn.Module or replayed graphs),
        answers (list of the questions that the rank answers, with rows or with what was not found), may_answer (an empty list),
        unanswered (list of those that it cannot answer, each with the reason), better_recording (what would answer more of
        them), missing (list of all that was not collected or found, and of what does not fit together), unread (list of files
        that cannot be read, each with the reason), left_out, files, folder, metadata (list of what add_metadata() added).
        """
        import pyarrow

        columns: dict[str, pyarrow.DataType] = {
            **({"run": pyarrow.string()} if self.runs else {}),
            "profile": pyarrow.string(),
            "rank_id": pyarrow.int32(),
            "rank_id_from": pyarrow.string(),
            "device_id": pyarrow.int32(),
            "profiler_level": pyarrow.string(),
            "source": pyarrow.string(),
            "modules_from": pyarrow.string(),
            "answers": pyarrow.list_(pyarrow.string()),
            "may_answer": pyarrow.list_(pyarrow.string()),
            "unanswered": pyarrow.list_(pyarrow.string()),
            "better_recording": pyarrow.string(),
            "missing": pyarrow.list_(pyarrow.string()),
            "unread": pyarrow.list_(pyarrow.string()),
            "left_out": pyarrow.string(),
            "files": pyarrow.list_(pyarrow.string()),
            "folder": pyarrow.string(),
            "metadata": pyarrow.list_(pyarrow.string()),
        }
        rows = self.rank_rows()
        table = pyarrow.table({name: pyarrow.array([row[name] for row in rows], type_) for name, type_ in columns.items()})
        return _frame(table, arrow)

    @gives("module.tree")
    def module_tree(self) -> pandas.DataFrame:
        """Return kernel time by module path: that of the module itself, and with all modules inside it.

        Raises InputError when no rank holds module ranges.
        """
        ask(self._session, ANALYSES["module-stats"])
        return self._frame_of("module.tree")

    @gives("module.coverage")
    def coverage(self) -> pandas.DataFrame:
        """Return where all kernel time went: inside modules, outside modules, or linked to no op.

        The times of a rank add up to all its kernel time.
        """
        return self._frame_of("module.coverage")

    @gives("module.kernel")
    def kernels(self) -> pandas.DataFrame:
        """Return every kernel with its times, shapes, the op that launched it and the module that it belongs to."""
        return self._frame_of("module.kernel")

    @gives("trace.op")
    def ops(self) -> pandas.DataFrame:
        """Return every framework op with its thread, times, sequence number and shapes."""
        return self._frame_of("trace.op")

    @overload
    def table(self, name: str, *, arrow: Literal[True]) -> pyarrow.Table: ...

    @overload
    def table(self, name: str, *, arrow: Literal[False] = ...) -> pandas.DataFrame: ...

    def table(self, name: str, *, arrow: bool = False) -> Frame:
        """Return a table over all ranks, or one of msprof-analyze (docs/verify.md); `prof-analysis tables` documents ours.

        Raises QueryError for an unknown name.
        """
        return self._sql(f"FROM {self._known(name)}", arrow)

    @overload
    def sql(self, query: str, *, arrow: Literal[True]) -> pyarrow.Table: ...

    @overload
    def sql(self, query: str, *, arrow: Literal[False] = ...) -> pandas.DataFrame: ...

    def sql(self, query: str, *, arrow: bool = False) -> Frame:
        """Run a DuckDB query on the tables over all ranks, and return its rows.

        The tables that the query names are built first. A sum of integers is an integer if it fits into 64 bits. A query
        changes nothing, loads nothing from the network, and reads no file of the machine. With `allow_files=True` of
        open_profile() it may read any file that its user may read, as in `JOIN read_csv('mine.csv')`: then do not run queries
        of people to whom you would not give an account.
        Raises QueryError when the query cannot be read or run.
        """
        return self._sql(query, arrow)

    def exact(self, query: str) -> tuple[list[str], list[list[Any]]]:
        """Run a query as sql() does, and return columns and rows as JSON can hold them: times are texts, also infinite ones.

        Raises QueryError when the query cannot be read or run.
        """
        return self._asked(query, frames.exact)

    def write_csv(self, query: str, file: str | Path) -> None:
        """Run a query as sql() does, and write its rows to a file as they come, however many there are.

        The file is csv of RFC 4180 in UTF-8. NULL is an empty cell, and text that a spreadsheet would take for a formula has an
        apostrophe in front, as in export().
        Raises QueryError when the query cannot be read or run, OutputError when the file cannot be written.
        """
        from prof_analysis.exports.files import write_rows

        check_path("file", file)
        self._asked(query, lambda rows: write_rows(rows, Path(file)))

    def export(
        self,
        folder: str | Path | None = None,
        export_type: str = "db",
        analysis: str = "module-stats",
        extras: Iterable[str] = (),
    ) -> list[Path]:
        """Write the tables of an analysis over all ranks below `folder`/cluster_analysis_output, and return the files.

        With `anonymize` the folder is cluster_analysis_output_anonymous, so that nothing else lies beside what may be sent.
        `folder` is by default the profile's own path. export_type is db, xlsx (also called text and excel), csv, parquet, json
        or duckdb; or a picture: speedscope or collapsed, a flame graph of module-stats, op-stats or stacks; or trace, that of
        timeline(), of module-stats, step-time or free-time.
        `analysis` is the name of its command; `extras` are the options of the command that add tables, such as pmu. Where a
        format cannot hold a value whole, `warnings` says so. Tables that compare ranks are removed from the folder when there
        is only one rank: an earlier export of several ranks has left them.
        Raises InputError when no rank can answer or an argument is unknown, OutputError when a file cannot be written.
        """
        check("analysis", analysis, analysis in ANALYSES, " or ".join(ANALYSES))
        check_type(export_type, analysis)
        with self._session.only(None):
            chosen_extras = tuple(extras)
            chosen = self.prepare(analysis, chosen_extras, export_type)
            if export_type in chosen.pictures:
                return self._write(folder, chosen.pictures[export_type].exports, export_type)
            tables = dict(chosen.exports)
            comparing = chosen.of_several_ranks
            if len(self._session.stores) > 1:
                tables |= comparing
                self._session.provide(tuple(tables))
            outdated = [name for table, name in comparing.items() if table not in tables]
            by = next((by for by, rows in chosen.rows.items() if rows.extra in chosen_extras), None)
            answers = answers_of(self, analysis, by) if export_type in WORKBOOK else {}
            return self._write(folder, tables, export_type, outdated, answers)

    def timeline(self, folder: str | Path | None = None) -> list[Path]:
        """Write a timeline of each rank below `folder`/cluster_analysis_output, as export() does, and return the files.

        It shows steps, idle times, host threads, modules, kernels, and an arrow to each kernel from its launch; with
        `python_frames` of open_profile() calls of Python functions too. Perfetto and MindStudio Insight open it.
        Raises InputError when no rank holds kernels, OutputError when a file cannot be written.
        """
        trace = TIMELINE["trace"]
        with self._session.only(None):
            require(self._session, trace.requires)
            self._session.provide((*trace.exports, *trace.also))
            return self._write(folder, trace.exports, "trace")

    def report(self, file: str | Path) -> Path:
        """Write all answers into one HTML file with pictures, which opens offline in any browser, and return the file.

        In a folder it is report.html. A file that is no report is not replaced.
        Raises InputError when no rank can answer, OutputError when the file cannot be written.
        """
        from prof_analysis.pictures.report.profile import report

        check_path("file", file)
        with self._session.only(None):
            return report(self, Path(file))

    def export_table(self, name: str, folder: str | Path | None = None, export_type: str = "db") -> list[Path]:
        """Write one table over all ranks, as export() writes the tables of an analysis.

        Its name there is in camel case: `ours.slow_op` is OursSlowOp, OursSlowOpTable where an analysis has this name.
        Raises QueryError for an unknown name, OutputError when a file cannot be written.
        """
        check_type(export_type, "table")
        with self._session.only(None):
            self.rows(f"FROM {self._known(name, to_write=True)} LIMIT 0")
            return self._write(folder, {name: export_name(name)}, export_type, answers=answer_of_listing(self, "table"))

    def export_tables(
        self,
        tables: Mapping[str, str],
        folder: str | Path | None = None,
        export_type: str = "db",
        answers: Mapping[str, Answer] | None = None,
    ) -> list[Path]:
        """Write tables by their names in exports, as export() writes those of an analysis.

        `answers` are shown on the first sheet of a workbook, by the names of the runs that they are about.
        """
        check_type(export_type, "compare")
        with self._session.only(None):
            self._session.provide(tuple(tables))
            return self._write(folder, tables, export_type, answers=answers or answer_of_listing(self, "compare"))

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return overview.as_text(self.anonymous(self._session.shown_path), self.rank_rows())

    def _repr_html_(self) -> str:
        return overview.as_html(self.anonymous(self._session.shown_path), self.rank_rows(), verdicts_of(self, self._session))

    def _answer(self, analysis: Analysis, by: str, table: str) -> pandas.DataFrame:
        require(self._session, analysis.rows[by].requires)
        ask(self._session, analysis)
        return self._frame_of(table)

    def _frame_of(self, table: str) -> pandas.DataFrame:
        return frames.to_pandas(frames.arranged(self._sql(f"FROM {self._known(table)}", arrow=True)))

    def _known(self, table: str, *, to_write: bool = False) -> str:
        if table not in self._session.tables and (to_write or not is_given(table)):
            raise QueryError(unknown_table(table, self._session.tables))
        return table

    def _sql(self, query: str, arrow: bool) -> Frame:
        return _frame(frames.plain(self._asked(query, lambda relation: relation.to_arrow_table())), arrow)


def _frame(table: pyarrow.Table, arrow: bool) -> Frame:
    return table if arrow else frames.to_pandas(table)
