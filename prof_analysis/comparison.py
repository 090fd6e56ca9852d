"""Comparison: what changed between a run and others, where, and whether it is more than noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from prof_analysis import frames
from prof_analysis.analyses import COMPARED, COMPARED_ON_REQUEST
from prof_analysis.errors import InputError
from prof_analysis.options import Keywords, step_numbers
from prof_analysis.profile import Profile

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from prof_analysis.questions import Frame

Yes = Literal[True]
No = Literal[False]
# The name of the run with which the others are compared; tables in runs/ know it.
BASE = "base"


class Comparison:
    """Runs compared with a base. Use it as a context manager, or call close().

    Tables have a row for each run that is compared with the base, with `run` in front: new, or with several such runs the name
    of its folder. Times are ns; each figure of the base and of the new run is a mean over units, that is steps, or what
    `unit_kind` of the table runs.compared_run says. `profile` is the Profile of all runs, for all other questions.

    Args:
        runs: the folder of each run by its name; that of the base is called base.
    """

    def __init__(self, runs: Mapping[str, str | Path], **options: Unpack[Keywords]) -> None:
        self._runs = dict(runs)
        # Modules are compared one by one: the same class has other costs in other places.
        self._options: Keywords = {**options, "by": "instance", "skip_steps": step_numbers(options.get("skip_steps", ()))}
        self.profile = Profile(self._runs, **self._options)
        self._is_prepared = False

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs that are compared with the base."""
        return tuple(run for run in self._runs if run != BASE)

    @property
    def failures(self) -> list[str]:
        """The ranks that could not be read, each with the reason."""
        return self.profile.failures

    @property
    def warnings(self) -> list[str]:
        """What to know about the figures."""
        return self.profile.warnings

    @property
    def details(self) -> list[str]:
        """The tracebacks of failures."""
        return self.profile.details

    @overload
    def modules(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def modules(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def modules(self, *, arrow: bool = False) -> Frame:
        """Return modules with their kernel time in base and new run, those whose own time changed most first."""
        return self._answer("runs.module_comparison", arrow)

    @overload
    def summary(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def summary(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def summary(self, *, arrow: bool = False) -> Frame:
        """Return the figures of whole runs: step time and its parts, kernels, launches."""
        return self._answer("runs.comparison_summary", arrow)

    @overload
    def finding(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def finding(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def finding(self, *, arrow: bool = False) -> Frame:
        """Return what changed most, in a sentence, and how sure that is."""
        return self._answer("runs.comparison_finding", arrow)

    @overload
    def ops(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def ops(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def ops(self, *, arrow: bool = False) -> Frame:
        """Return ops in modules with their kernels in base and new run, those that changed most first."""
        return self._answer("runs.op_comparison", arrow)

    @overload
    def kernels(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def kernels(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def kernels(self, *, arrow: bool = False) -> Frame:
        """Return types of kernels with their input shapes, those that changed most first."""
        return self._answer("runs.kernel_comparison", arrow)

    @overload
    def communication(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def communication(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def communication(self, *, arrow: bool = False) -> Frame:
        """Return communication by type, group role and size, what changed most first."""
        return self._answer("runs.communication_comparison", arrow)

    @overload
    def steps(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def steps(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def steps(self, *, arrow: bool = False) -> Frame:
        """Return each step of base and new run, and what makes some of them outliers."""
        return self._answer("runs.step_comparison", arrow)

    @overload
    def idle(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def idle(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def idle(self, *, arrow: bool = False) -> Frame:
        """Return the idle time of the device by cause, the cause that changed most first."""
        return self._answer("runs.idle_comparison", arrow)

    @overload
    def efficiency(self, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def efficiency(self, *, arrow: No = ...) -> pandas.DataFrame: ...
    def efficiency(self, *, arrow: bool = False) -> Frame:
        """Return MFU, efficiency and what bounds modules, where both runs have them; it is worked out on request only."""
        return self._answer("runs.efficiency_comparison", arrow)

    @overload
    def table(self, name: str, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def table(self, name: str, *, arrow: No = ...) -> pandas.DataFrame: ...
    def table(self, name: str, *, arrow: bool = False) -> Frame:
        """Return a table over all runs. Raises QueryError for an unknown name."""
        return self.sql(f"FROM {name}", arrow=arrow)  # type: ignore[call-overload]

    @overload
    def sql(self, query: str, *, arrow: Yes) -> pyarrow.Table: ...
    @overload
    def sql(self, query: str, *, arrow: No = ...) -> pandas.DataFrame: ...
    def sql(self, query: str, *, arrow: bool = False) -> Frame:
        """Run a DuckDB query on the tables over all runs, as Profile.sql() does. Raises QueryError when it cannot be run."""
        self.prepare()
        return self.profile.sql(query, arrow=arrow)  # type: ignore[call-overload]

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

    def export(self, folder: str | Path, export_type: str = "db", *, efficiency: bool = False) -> list[Path]:
        """Write all tables of the comparison below `folder`/cluster_analysis_output, and return the files.

        export_type is one of those of Profile.export(); with `efficiency`, the table of efficiency() too.
        Raises InputError when there is nothing to compare, OutputError when a file cannot be written.
        """
        self.prepare()
        tables = {**COMPARED, **COMPARED_ON_REQUEST} if efficiency else COMPARED
        return self.profile.export_tables(tables, folder, export_type)

    def prepare(self) -> None:
        """Work out all tables of the comparison, which the first question does, so that the files are read once.

        Raises InputError when the runs have nothing in common, or when no step is left.
        """
        if self._is_prepared:
            return
        tables = (*COMPARED, "runs.compared_run", "runs.module_match")
        chosen = self._options.get("per", "step")
        self.profile.provide(tables)
        first = kinds = self._kinds_of_units()
        for per in ("call", "run"):
            if chosen != "run" and len(set(kinds.values())) > 1:  # A step of one is no call of another.
                self._begin_anew(per)
                self.profile.provide(tables)
                kinds = self._kinds_of_units()
        self._check()
        unit = "run" if self._options.get("per") == "run" else next(iter(kinds.values()))
        if lacking := sorted(profile for profile, kind in first.items() if unit != chosen != kind):
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            self.profile.warn(f"{lacking[0]}{more}: {_LACKS[first[lacking[0]]]}, so figures are per {_UNITS[unit]}")
        alone = "SELECT DISTINCT profile FROM runs.compared_rank WHERE pair IS NULL ORDER BY profile"
        if profiles := [row["profile"] for row in self.profile.rows(alone)]:
            self.profile.warn(f"left out, as no rank of the other run is compared with them: {_listed(profiles)}")
        self._is_prepared = True

    def _kinds_of_units(self) -> dict[str, str]:
        """Return what the units of each rank that is compared are: step, call or run."""
        rows = self.profile.rows("SELECT DISTINCT profile, kind FROM runs.compared_unit")
        return {row["profile"]: row["kind"] for row in rows}

    def _begin_anew(self, per: Literal["call", "run"]) -> None:
        """Open the runs again with figures per call, or where that does not help, per run."""
        self.profile.close()
        self._options["per"] = per
        self.profile = Profile(self._runs, **self._options)

    def _check(self) -> None:
        self._check_rank_map()
        self._check_steps()
        sides = {(row["run"], row["side"]) for row in self.profile.rows("SELECT run, side FROM runs.compared_run")}
        for run in self.runs:
            for side, name in (("base", BASE), ("new", run)):
                if (run, side) not in sides:
                    path = Path(self._runs[name])
                    raise InputError(f"{path}: no step is left of it; leave out fewer with skip_steps", path=path)
        for row in self.profile.rows(f"SELECT run FROM runs.module_match GROUP BY run HAVING {_NOTHING_IN_COMMON}"):
            raise InputError(self._nothing_in_common(row["run"]), path=Path(self._runs[row["run"]]))

    def _check_rank_map(self) -> None:
        rows = self.profile.rows("SELECT DISTINCT run, rank_id FROM communication.parallel_rank ORDER BY rank_id")
        for base, new in (self._options.get("rank_map") or {}).items():
            for run, path in self._runs.items():
                ranks = [row["rank_id"] for row in rows if row["run"] == run]
                if (rank := base if run == BASE else new) not in ranks:
                    raise InputError(
                        f"{path}: there is no rank {rank} as rank_map says; its ranks are {_listed(ranks)}", path=Path(path)
                    )

    def _check_steps(self) -> None:
        steps = [row["step_id"] for row in self.profile.rows("SELECT DISTINCT step_id FROM compare.unit ORDER BY step_id")]
        if unknown := sorted({*self._options.get("skip_steps", ())} - {*steps}):
            self.profile.warn(f"skip_steps: no run has step {_listed(unknown)}; the steps are {_listed(steps)}")

    def _nothing_in_common(self, run: str) -> str:
        outermost = "SELECT DISTINCT run, name FROM compare.module_node WHERE parent_node_id IS NULL ORDER BY name"
        rows = self.profile.rows(outermost)
        names = [", ".join(str(row["name"]) for row in rows if row["run"] == one) for one in (BASE, run)]
        return (
            f"{self._runs[run]}: has no module in common with {self._runs[BASE]} ({names[1]} against {names[0]}); compare runs "
            "of one model, or name what corresponds with --alias FILE (csv with the columns base,new)"
        )

    def _answer(self, table: str, arrow: bool) -> Frame:
        self.prepare()
        found = self.profile.table(table, arrow=True)
        return found if arrow else frames.to_pandas(frames.arranged(found))

    def close(self) -> None:
        """Release memory and temporary files."""
        self.profile.close()

    def __enter__(self) -> Comparison:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


# Both sides have modules, and none has a partner.
_NOTHING_IN_COMMON = "list_sort(list(DISTINCT rule)) = ['only base', 'only new']"
# What a rank lacks that has such units, and what figures per unit are.
_LACKS = {"call": "has no steps", "run": "has neither steps nor modules"}
_UNITS = {"call": "call of the outermost module", "run": "run, rank by rank"}


def _listed(things: Iterable[int | str | None]) -> str:
    known = [str(one) for one in things if one is not None]
    return ", ".join(known if len(known) <= 8 else [*known[:6], "...", known[-1]]) or "not numbered"


def open_comparison(base: str | Path, others: tuple[str | Path, ...], options: Keywords) -> Comparison:
    """Open a base and the runs to compare with it: one is called new, several like their folders."""
    if not others:
        raise InputError("give two runs or more: the base, and what to compare with it")
    if len(others) == 1:
        return Comparison({BASE: base, "new": others[0]}, **options)
    runs: dict[str, str | Path] = {BASE: base}
    for path in others:
        name = first = Path(path).resolve().name or "run"
        number = 1
        while name in runs:
            number += 1
            name = f"{first} {number}"
        runs[name] = path
    return Comparison(runs, **options)
