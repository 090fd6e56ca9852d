"""Profile: what was found under a path, and each question about it as a method that gives a DataFrame."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from types import TracebackType
from typing import Any, Literal

from prof_analysis import discovery, frames
from prof_analysis.database import Variables, connect, quote_text
from prof_analysis.errors import InputError, ProfAnalysisWarning, QueryError, reason_of
from prof_analysis.rank import ModuleChoice, Rank
from prof_analysis.ranks import Job, Outcome, missing_tables, run, store_file

MODULE_TABLES = ("module.statistic", "module.tree", "module.coverage", "trace.set_aside")


class Profile:
    """The profiling results under a path, ready to be asked. Use it as a context manager, or call close().

    Every frame begins with the columns `profile` (the folder below the path, the identity of a rank) and `rank_id`
    (NULL when the files tell none), and holds all ranks in the order of ranks(). Times are integer nanoseconds since
    1970, UTC. With arrow=True a method gives a pyarrow.Table in place of a pandas.DataFrame.

    A rank that cannot be read does not stop the others: it is named in `failures` and by a ProfAnalysisWarning. A method raises
    InputError when no rank at all can answer.

    Args:
        path: a result folder (*_ascend_pt), a folder of them, a tree of them down to a depth of 5, or a single
            trace_view.json, trace_view.json.gz, kernel_details.csv or profiler database.
        rank_list: only these rank ids.
        source: what to read where a rank has both, the profiler database (db) or the text exports; auto is what answers more,
            the database where both answer the same.
        step_id: only the kernels launched in this profiler step.
        nesting_tolerance_ns: how much later than its enclosing range a range or op may end and still count as inside.
        module_source: what marks the modules: mstx ranges, nn.Module rows of the Python tracer (with_modules or with_stack),
            or auto: mstx where there are any.
        module_domains: the mstx domains whose start/end ranges are modules.
        by: class merges all calls under one chain of classes; instance tells siblings of one class apart, as in
            Layer[3]/Linear[0], numbered in call order within one call of the root module.
        depth: modules nested deeper belong to the module at this depth.
        audit_links: judge the op of every launch by the host's intervals (table module.link_audit), not only of doubtful ones.
        on_progress: called with (bytes read, bytes of all input files) as files are read.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        rank_list: Iterable[int] | None = None,
        source: Literal["auto", "db", "text"] = "auto",
        step_id: int | None = None,
        nesting_tolerance_ns: int = 0,
        module_source: Literal["auto", "mstx", "nn.Module"] = "auto",
        module_domains: str | Iterable[str] = ("Module",),
        by: Literal["class", "instance"] = "class",
        depth: int | None = None,
        audit_links: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.path = Path(path)
        self._is_closed = False
        self.failures: list[str] = []
        self.warnings: list[str] = []
        self.details: list[str] = []
        self._on_progress = on_progress
        modules = ModuleChoice(module_source, (module_domains,) if isinstance(module_domains, str) else tuple(module_domains))
        _require("by", by, by in ("class", "instance"), "class or instance")
        _require("module_source", module_source, module_source in ("auto", "mstx", "nn.Module"), "auto, mstx or nn.Module")
        _require("module_domains", module_domains, all(modules.domains) and bool(modules.domains), "at least one domain")
        _require("depth", depth, depth is None or depth > 0, "1 or more")
        self._step_id = step_id
        self._variables: Variables = {
            "step_id": step_id,
            "nesting_tolerance_ns": nesting_tolerance_ns,
            "module_source": modules.source,
            "module_domains": list(modules.domains),
            "by_instance": by == "instance",
            "depth": depth,
            "audit_links": audit_links,
        }
        _require("source", source, source in ("auto", "db", "text"), "auto, db or text")
        self._ranks = _selected(discovery.find_ranks(self.path, modules, source), rank_list)
        self._failed = {rank.profile for rank in self._ranks if rank.left_out}
        for rank in self._ranks:
            if rank.left_out:
                self._fail(rank.left_out)
        self._store = TemporaryDirectory(prefix="prof_analysis_")
        self._stores = {rank: Path(self._store.name, str(number)) for number, rank in enumerate(self._ranks)}
        self._connection = connect()
        self._said_set_aside = False
        try:
            self._check_step()
        except BaseException:
            self.close()
            raise

    def ranks(self, *, arrow: bool = False) -> Any:
        """What was found.

        Columns: profile, rank_id, rank_id_from (the file that told it), device_id, profiler_level, source (None when
        nothing can be read), modules_from (what marks the modules: mstx or nn.Module), answers (list of questions it can
        answer), unanswered (list of those it cannot, each with the reason), missing (list of all that was not collected or found), left_out
        (why nothing can be read), files (list), folder.
        """
        import pyarrow

        columns: dict[str, pyarrow.DataType] = {
            "profile": pyarrow.string(),
            "rank_id": pyarrow.int32(),
            "rank_id_from": pyarrow.string(),
            "device_id": pyarrow.int32(),
            "profiler_level": pyarrow.string(),
            "source": pyarrow.string(),
            "modules_from": pyarrow.string(),
            "answers": pyarrow.list_(pyarrow.string()),
            "unanswered": pyarrow.list_(pyarrow.string()),
            "missing": pyarrow.list_(pyarrow.string()),
            "left_out": pyarrow.string(),
            "files": pyarrow.list_(pyarrow.string()),
            "folder": pyarrow.string(),
        }
        rows = [
            {
                **vars(rank),
                "answers": rank.answers,
                "unanswered": [": ".join(pair) for pair in rank.unanswered],
                "folder": str(rank.folder),
            }
            for rank in self._ranks
        ]
        table = pyarrow.table({name: pyarrow.array([row[name] for row in rows], type_) for name, type_ in columns.items()})
        return table if arrow else frames.to_pandas(table)

    def module_stats(self, *, arrow: bool = False) -> Any:
        """Kernel time by module and op, merged over layers, steps and micro-batches, as msprof-analyze counts it.

        Columns: profile, rank_id, parent_module, module, op_name, kernel_list, total_kernel_duration_ns (int),
        avg_kernel_duration_ns (float), op_count, op_chain (the framework ops around the op). Rows of a rank are in the
        order of execution.
        Raises InputError when no rank holds module ranges.
        """
        return self._module_table("module.statistic", arrow)

    def module_tree(self, *, arrow: bool = False) -> Any:
        """Kernel time by module path, own and with all modules inside.

        Columns: profile, rank_id, parent_module, module, depth, calls, own_kernel_duration_ns, kernel_duration_ns,
        kernel_duration_share (of all kernel time of the rank), avg_kernel_duration_ns.
        Raises InputError when no rank holds module ranges.
        """
        return self._module_table("module.tree", arrow)

    def coverage(self, *, arrow: bool = False) -> Any:
        """Where all kernel time went: inside modules, outside modules, or linked to no op.

        Columns: profile, rank_id, kind (compute, communication, schedule), place, reason (why not inside), kernel_count,
        kernel_duration_ns, kernel_duration_share (of the kind), top_ops (the heaviest ops outside modules). The times of a
        rank add up to all its kernel time.
        """
        return self.table("module.coverage", arrow=arrow)

    def kernels(self, *, arrow: bool = False) -> Any:
        """Every kernel with its times, shapes, the op that launched it and the module it belongs to: module.kernel."""
        return self.table("module.kernel", arrow=arrow)

    def ops(self, *, arrow: bool = False) -> Any:
        """Every framework op with its thread, times, sequence number and shapes: table trace.op."""
        return self.table("trace.op", arrow=arrow)

    def table(self, name: str, *, arrow: bool = False) -> Any:
        """A table of the engine over all ranks; `prof-analysis tables` documents them.

        Raises QueryError for an unknown name.
        """
        from prof_analysis.tables import documented_tables

        if name not in documented_tables():
            raise QueryError(f"there is no table {name}; `prof-analysis tables` lists those there are")
        return self.sql(f"FROM {name}", arrow=arrow)

    def sql(self, query: str, *, arrow: bool = False) -> Any:
        """The answer of a DuckDB query on the tables of the engine, over all ranks.

        The tables that the query names are built first. A sum of integers is an integer where 64 bits hold it.
        Raises QueryError when the query cannot be read or run.
        """
        import duckdb

        from prof_analysis.tables import documented_tables, referenced_tables

        needed = referenced_tables(query)
        if unknown := sorted(needed - documented_tables().keys()):
            raise QueryError(f"there is no table {unknown[0]}; `prof-analysis tables` lists those there are")
        self._provide(tuple(sorted(needed)))
        try:
            answer = self._connection.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise QueryError(f"the query failed: {reason_of(error)}") from error
        answer = frames.plain(answer)
        return answer if arrow else frames.to_pandas(answer)

    def export(self, folder: str | Path | None = None, export_type: str = "db") -> list[Path]:
        """Write module statistic, tree and coverage of all ranks below `folder`/cluster_analysis_output.

        `folder` is the profile's own path unless given. export_type is db, text (xlsx; also called excel), csv, parquet
        or json. Gives the files written; what a format could not hold whole is in `warnings`.
        Raises InputError when no rank holds module ranges, OutputError when a file cannot be written.
        """
        from prof_analysis import exports

        self._require_modules()
        self._provide(MODULE_TABLES)
        target = Path(folder) if folder is not None else discovery.root_of(self.path)
        cuts: list[str] = []
        stores = {rank: self._stores[rank] for rank in self._readable()}
        files = exports.export(self._connection, stores, target / "cluster_analysis_output", export_type, cuts)
        for cut in cuts:
            self._warn(cut)
        return files

    def close(self) -> None:
        """Give back memory and temporary files. Nothing can be asked afterwards."""
        self._is_closed = True
        self._connection.close()
        self._store.cleanup()

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        readable = sum(rank.left_out is None for rank in self._ranks)
        lines = [f"Profile {self.path}: {readable} of {len(self._ranks)} ranks readable"]
        for rank in self._ranks[:_SHOWN_RANKS]:
            known = "no rank id" if rank.rank_id is None else f"rank {rank.rank_id}"
            lines.append(f"  {rank.profile}: {known}, {rank.left_out or ', '.join(rank.answers) or 'answers nothing'}")
        if len(self._ranks) > _SHOWN_RANKS:
            lines.append(f"  and {len(self._ranks) - _SHOWN_RANKS} more: see .ranks()")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def _module_table(self, name: str, arrow: bool) -> Any:
        self._require_modules()
        self._provide(MODULE_TABLES)
        return self.table(name, arrow=arrow)

    def _require_modules(self) -> None:
        reasons = {rank: rank.why_not("module-stats") for rank in self._readable()}
        if reasons and all(reasons.values()):
            failed = f"; {len(self.failures)} more could not be read: {self.failures[0]}" if self.failures else ""
            raise InputError(f"{self.path}: no rank can answer this: {next(iter(reasons.values()))}{failed}")
        for rank, reason in reasons.items():
            if reason:
                self._warn(f"{rank.profile}: {reason}")

    def _readable(self) -> list[Rank]:
        return [rank for rank in self._ranks if rank.profile not in self._failed]

    def _provide(self, tables: tuple[str, ...]) -> None:
        """Build the tables that the store lacks, and make views of them over all ranks that could be read."""
        if self._is_closed:
            raise QueryError("this Profile is closed; open it again")
        stores = [self._stores[rank] for rank in self._readable()]
        if to_build := missing_tables(stores, tables):
            self._run([Job(rank, to_build, self._variables, self._stores[rank]) for rank in self._readable()])
            stores = [self._stores[rank] for rank in self._readable()]
        if not stores:
            more = f" (and {len(self.failures) - 1} more ranks failed)" if len(self.failures) > 1 else ""
            raise InputError(f"{self.failures[0]}{more}")
        for table in tables:
            files = ", ".join(quote_text(str(store_file(store, table))) for store in stores)
            schema, _, short_name = table.partition(".")
            self._connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
            self._connection.execute(
                f'CREATE OR REPLACE VIEW "{schema}"."{short_name}" AS FROM read_parquet([{files}], union_by_name = true)'
            )
        if "trace.set_aside" in tables and not self._said_set_aside:
            self._said_set_aside = True
            for row in self._connection.execute("FROM trace.set_aside ORDER BY ALL").fetchall():
                self._warn(f"{row[0]}: {row[4]} {row[2]} were set aside: {row[3]}")
        if "module.coverage" in tables:
            for profile, share in self._connection.execute(_REPLAYED).fetchall():
                self._warn(
                    f"{profile}: {share:.1%} of the kernel time was replayed from graphs that were captured before profiling "
                    "began, so nothing tells its ops and modules; start profiling before the engine captures its graphs"
                )

    def _run(self, jobs: list[Job]) -> None:
        outcomes: dict[str, Outcome] = {}

        def on_done(outcome: Outcome) -> None:
            outcomes[outcome.job.rank.profile] = outcome

        run(jobs, on_done, _byte_counter(jobs, self._on_progress))
        for job in jobs:
            outcome = outcomes[job.rank.profile]
            for warning in outcome.warnings:
                self._warn(warning)
            if outcome.failure:
                self._failed.add(job.rank.profile)
                self._fail(outcome.failure)
                self.details.append(outcome.details or "")

    def _check_step(self) -> None:
        step_id = self._step_id
        if step_id is None:
            return
        self._provide(("trace.step",))
        rows = self._connection.execute("SELECT DISTINCT step_id FROM trace.step ORDER BY 1").fetchall()
        steps = [row[0] for row in rows]
        if step_id not in steps:
            known = ", ".join(map(str, steps)) if steps else "none: prof.step() was not called"
            raise InputError(f"{self.path}: there is no step {step_id}; the steps are {known}")

    def _fail(self, message: str) -> None:
        self.failures.append(message)
        warnings.warn(message, ProfAnalysisWarning, stacklevel=_level_of_the_caller())

    def _warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)
            warnings.warn(message, ProfAnalysisWarning, stacklevel=_level_of_the_caller())


_SHOWN_RANKS = 20
_REPLAYED = """
    SELECT profile, sum(kernel_duration_ns) FILTER (reason = 'graph replay') / sum(kernel_duration_ns) AS share
    FROM module.coverage
    GROUP BY profile
    HAVING share > 0
    ORDER BY profile
"""


def _require(option: str, value: object, is_right: bool, expected: str) -> None:
    if not is_right:
        raise InputError(f"{option}={value!r}: give {expected}")


def _byte_counter(jobs: list[Job], on_progress: Callable[[int, int], None] | None) -> Callable[[int], None]:
    """A function that tells how many bytes of the jobs' input files were read so far."""
    total = sum(file.stat().st_size for job in jobs for file in job.rank.inputs if file.exists())
    done, lock = 0, Lock()

    def count(size: int) -> None:
        nonlocal done
        with lock:
            done += size
            if on_progress:
                on_progress(done, total)

    return count


def _selected(found: list[Rank], rank_list: Iterable[int] | None) -> list[Rank]:
    if rank_list is None:
        return found
    wanted = set(rank_list)
    known = {rank.rank_id for rank in found if rank.rank_id is not None}
    if unknown := sorted(wanted - known):
        there = ", ".join(map(str, sorted(known))) or "none has a number"
        raise InputError(f"there is no rank {', '.join(map(str, unknown))}; the ranks are {there}")
    return [rank for rank in found if rank.rank_id in wanted]


def _level_of_the_caller() -> int:
    """The stacklevel of a warning that points at the line outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("prof_analysis"):
        frame, level = frame.f_back, level + 1
    return level
