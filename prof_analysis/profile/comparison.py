"""Comparison: the changes between a run and others, their places, and whether they are more than noise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack

from prof_analysis.analyses import COMPARED, COMPARED_ON_REQUEST, COMPARED_WHERE_RECORDED, overview
from prof_analysis.common import frames
from prof_analysis.common.answer_options import Per, step_numbers
from prof_analysis.common.errors import InputError
from prof_analysis.common.old_words import options_in_new_words
from prof_analysis.common.option_docs import check_path
from prof_analysis.common.options import Keywords
from prof_analysis.common.visible import visible
from prof_analysis.exports import IN_WORKBOOK, WORKBOOK
from prof_analysis.profile import comparable
from prof_analysis.profile.profile import Profile
from prof_analysis.run.secrets import name_of_run
from prof_analysis.sources.rank import readable

if TYPE_CHECKING:
    import pandas

    from prof_analysis.pictures.figures.plots import ComparisonPlots


class Comparison:
    """Runs compared with a base. Use it as a context manager, or call close().

    Tables have a row for each run that is compared with the base, with `run` in front: new, or with several such runs the name
    of its folder. Times are ns; each figure of the base and of the new run is a mean over units, that is steps, or what
    `unit_kind` of the table runs.compared_run says. `profile` is the Profile of all runs, for all other questions;
    `has_several` is whether several runs were given beside the base.

    Args:
        runs: the folder of each run by its name; that of the base is called base.
    """

    def __init__(self, runs: Mapping[str, str | Path], **options: Unpack[Keywords]) -> None:
        self._runs = dict(runs)
        if options.get("anonymize"):
            self._runs = {name_of_run(run, number): path for number, (run, path) in enumerate(runs.items(), 1)}
        # Modules are compared one by one: the same class has other costs in other places.
        chosen = options_in_new_words(options)
        steps = step_numbers(chosen.get("skip_steps", ()))
        self._options: Keywords = {**chosen, "instances": True, "skip_steps": steps}
        self.profile = Profile(self._runs, **self._options)
        self._per: Per = self._options.get("per", "step")
        self._is_prepared = False
        self._wanted: tuple[str, ...] = ()
        self.has_several = len(self._runs) > 2

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs that are compared with the base."""
        return tuple(run for run in self._runs if run != comparable.BASE)

    @property
    def failures(self) -> list[str]:
        """The ranks that could not be read, each with the reason."""
        return self.profile.failures

    @property
    def warnings(self) -> list[str]:
        """The sentences to know before using the figures."""
        return self.profile.warnings

    @property
    def details(self) -> list[str]:
        """The tracebacks of failures."""
        return self.profile.details

    @property
    def plot(self) -> ComparisonPlots:
        """The pictures: plot.modules(), a plotly figure."""
        from prof_analysis.pictures.figures.plots import ComparisonPlots

        return ComparisonPlots(self)

    def modules(self) -> pandas.DataFrame:
        """Return modules with their kernel time in base and new run, those whose own time changed most first."""
        return self._answer("runs.module_comparison")

    def summary(self) -> pandas.DataFrame:
        """Return the figures of whole runs: step time and its parts, kernels, launches."""
        return self._answer("runs.comparison_summary")

    def finding(self) -> pandas.DataFrame:
        """Return the largest change, in a sentence, and how sure it is."""
        return self._answer("runs.comparison_finding")

    def ops(self) -> pandas.DataFrame:
        """Return ops in modules with their kernels in base and new run, those that changed most first."""
        return self._answer("runs.op_comparison")

    def kernels(self) -> pandas.DataFrame:
        """Return types of kernels with their input shapes, those that changed most first."""
        return self._answer("runs.kernel_comparison")

    def communication(self) -> pandas.DataFrame:
        """Return communication by type, group role and size, the largest change first."""
        return self._answer("runs.communication_comparison")

    def steps(self) -> pandas.DataFrame:
        """Return each step of base and new run, and why some of them are outliers."""
        return self._answer("runs.step_comparison")

    def idle(self) -> pandas.DataFrame:
        """Return the idle time of the device by cause, the cause that changed most first."""
        return self._answer("runs.idle_comparison")

    def passes(self) -> pandas.DataFrame:
        """Return passes of a server by phase and number of requests, with medians in base and new run, in ns.

        A run without passes has none there; table runs.pass_work says whether both runs served the same work.
        """
        return self._answer("runs.pass_comparison")

    def efficiency(self) -> pandas.DataFrame:
        """Return MFU, efficiency and what bounds modules, if both runs have them; it is computed on request only."""
        return self._answer("runs.efficiency_comparison")

    def memory(self) -> pandas.DataFrame:
        """Return the memory of the device by op and module, allocated and alive at the peak, the largest change first.

        Raises InputError where not both runs recorded it.
        """
        if not self.has_memory:
            raise InputError("not both runs have records of device memory; collect with profile_memory=True")
        return self._answer("runs.memory_comparison")

    @property
    def has_memory(self) -> bool:
        """Whether the base and a run that is compared with it have records of device memory."""
        return comparable.has_memory(self.profile)

    def table(self, name: str) -> pandas.DataFrame:
        """Return a table over all runs. Raises QueryError for an unknown name."""
        return self.sql(f"FROM {name}")

    def sql(self, query: str) -> pandas.DataFrame:
        """Run a DuckDB query on the tables over all runs, as Profile.sql() does. Raises QueryError when it cannot be run."""
        self.prepare()
        return self.profile.sql(query)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Run a query as sql() does, and return its rows as dictionaries by column."""
        self.prepare()
        return self.profile.rows(query)

    def suggest_aliases(self, file: str | Path) -> int:
        """Write likely aliases to a csv file with the columns base and new, and return how many there are.

        They are classes without a partner in matched modules, with like names, the same ops or like modules inside. None is
        applied before `alias` names the file. Raises OutputError when the file cannot be written.
        """
        self.profile.write_csv("FROM runs.suggested_alias", file)
        return len(self.profile.rows("FROM runs.suggested_alias"))

    def has_common_modules(self) -> bool:
        """Return whether any run has a module in common with the base; where modules have other names, `alias` says which."""
        return not comparable.without_common_modules(self.profile, self._shown_runs).keys() >= {*self.runs}

    def export(self, folder: str | Path, export_type: str = "db", *, efficiency: bool = False) -> list[Path]:
        """Write all tables of the comparison below `folder`/cluster_analysis_output, and return the files.

        export_type is one of those of Profile.export(); with `efficiency`, the table of efficiency() too.
        Raises InputError when there is nothing to compare, OutputError when a file cannot be written.
        """
        self.prepare(efficiency=efficiency)
        tables = {**self._tables, **COMPARED_ON_REQUEST} if efficiency else self._tables
        from prof_analysis.analyses.comparison import answers_of

        answers = answers_of(self, IN_WORKBOOK, efficiency=efficiency) if export_type in WORKBOOK else None
        return self.profile.export_tables(tables, folder, export_type, answers)

    def report(self, file: str | Path, *, efficiency: bool = False) -> Path:
        """Write the changes into one HTML file with pictures, which opens offline in any browser, and return the file.

        In a folder it is report.html. With `efficiency` it shows MFU and what bounds modules too.
        Raises InputError when there is nothing to compare, OutputError when the file cannot be written.
        """
        from prof_analysis.pictures.report.comparison import report

        check_path("file", file)
        return report(self, Path(file), efficiency)

    def prepare(self, *, efficiency: bool = False) -> None:
        """Work out all tables of the comparison, which the first question does, so that the files are read once.

        With `efficiency`, the table of efficiency() too, which is else worked out when it is asked for.
        Of several runs, those that cannot be compared are left out with a warning. Raises InputError when none can: they have
        no module in common with the base, no kernels, or no step is left.
        """
        if self._is_prepared:
            return
        self._wanted = (*COMPARED_ON_REQUEST,) if efficiency else ()
        self._provide()
        shown = self._shown_runs
        comparable.check_rank_map(self.profile, shown, self._options.get("rank_map") or {})
        reasons = comparable.reasons_against(self.profile, shown)
        if reasons.keys() >= {*self.runs}:
            run, reason = next(iter(reasons.items()))
            raise InputError(reason, path=Path(self._runs[run]))
        if reasons:
            self._begin_anew({run: path for run, path in self._runs.items() if run not in reasons}, self._per)
            self._provide()
        for reason in reasons.values():
            self.profile.warn(f"left out: {reason}")
        for sentence in comparable.warnings_of(self.profile, self._options.get("skip_steps", ())):
            self.profile.warn(sentence)
        self._is_prepared = True

    @property
    def _shown_runs(self) -> dict[str, str]:
        """The paths of the runs as messages have them."""
        shown = self._options.get("anonymize")
        return {run: self.profile.anonymous(str(Path.cwd() / path)) if shown else str(path) for run, path in self._runs.items()}

    @property
    def _tables(self) -> dict[str, str]:
        return {**COMPARED, **(COMPARED_WHERE_RECORDED if self.has_memory else {})}

    def _provide(self) -> None:
        """Build all tables, with figures per unit that all ranks have."""
        tables = (*self._tables, *self._wanted, *_OF_THE_ANSWER)
        self.profile.provide(tables)
        first = kinds = comparable.kinds_of_units(self.profile)
        for per in ("call", "run"):
            if self._per != "run" and len(set(kinds.values())) > 1:  # A step of one is no call of another.
                self._begin_anew(self._runs, per)
                self.profile.provide(tables)
                kinds = comparable.kinds_of_units(self.profile)
        unit = "run" if self._options.get("per") == "run" else next(iter(kinds.values()), None)
        if lacking := sorted(profile for profile, kind in first.items() if unit != self._per != kind):
            more, verb = (f" and {len(lacking) - 1} more", "have") if len(lacking) > 1 else ("", "has")
            lacks = _LACKS[first[lacking[0]]]
            self.profile.warn(f"{lacking[0]}{more}: {verb} {lacks}, so figures are per {_UNITS[str(unit)]}")

    def _begin_anew(self, runs: dict[str, str | Path], per: Per) -> None:
        """Open runs again, with figures per another unit or without some of them."""
        self.profile.close()
        self._runs = runs
        self._options["per"] = per
        self.profile = Profile(self._runs, **self._options)

    def _answer(self, table: str) -> pandas.DataFrame:
        self.prepare()
        return frames.to_pandas(frames.arranged(self.profile.table(table, arrow=True)))

    def __repr__(self) -> str:
        return visible(f"Comparison({', '.join(f'{run}={str(path)!r}' for run, path in self._runs.items())})")

    def _repr_html_(self) -> str:
        """Show the runs, and the finding if a question was asked before: showing computes nothing."""
        found = self.profile.rows("SELECT run, sentence FROM runs.comparison_finding") if self._is_prepared else []
        paths = {run: readable(Path(path)) for run, path in self._runs.items()}
        ranks = self.profile.rank_rows()
        return overview.comparison_as_html(paths, ranks, {row["run"]: row["sentence"] for row in found})

    def close(self) -> None:
        """Release memory and temporary files."""
        self.profile.close()

    def __enter__(self) -> Comparison:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


# What the answer and checks read beside the tables that are written.
_OF_THE_ANSWER = ("across.job", "runs.compared_run", "runs.kernel_share", "runs.step_count", "runs.without_partner")
# What a rank lacks that has such units, and what figures per unit are.
_LACKS = {"call": "no steps", "run": "neither steps nor modules"}
_UNITS = {"call": "call of the outermost module", "run": "run, rank by rank"}


def open_comparison(base: str | Path, others: tuple[str | Path, ...], options: Keywords) -> Comparison:
    """Open a base and the runs to compare with it: one is called new, several like their folders."""
    if not others:
        raise InputError("give two runs or more: the base, and what to compare with it")
    if len(others) == 1:
        return Comparison({comparable.BASE: base, "new": others[0]}, **options)
    runs: dict[str, str | Path] = {comparable.BASE: base}
    for path in others:
        name = first = Path(path).resolve().name or "run"
        number = 1
        while name in runs:
            number += 1
            name = f"{first} {number}"
        runs[name] = path
    return Comparison(runs, **options)
