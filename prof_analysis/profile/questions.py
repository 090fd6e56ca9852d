"""The questions about profiles: a method of each analysis, which returns the rows of a documented table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cache, partial
from inspect import cleandoc, signature
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from prof_analysis.analyses import ANALYSES, Analysis
from prof_analysis.common.old_words import arguments_in_new_words
from prof_analysis.common.option_docs import one_of
from prof_analysis.engine.tables import documented_tables

if TYPE_CHECKING:
    import pandas
    import pyarrow

    Frame: TypeAlias = pandas.DataFrame | pyarrow.Table

Method = TypeVar("Method", bound=Callable[..., Any])


class Questions(ABC):
    """Each question about profiles as a method that returns a pandas.DataFrame."""

    @abstractmethod
    def _answer(self, analysis: Analysis, by: str, table: str) -> pandas.DataFrame:
        """Return a table of an analysis; warn of ranks that cannot answer it."""

    @abstractmethod
    def table(self, name: str) -> pandas.DataFrame:
        """Return a table."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Callable[..., pandas.DataFrame]: ...


class _MadeWhenAsked:
    """A method that is made when somebody asks for it: for the docstrings of all, a command would read 300 heads of tables."""

    def __init__(self, make: Callable[[], Callable[..., Any]]) -> None:
        self._made = cache(make)

    def __get__(self, profile: Questions | None, owner: type[Questions]) -> Any:
        return self._made().__get__(profile, owner)


def gives(*tables: str) -> Callable[[Method], Method]:
    """Add the columns of tables, as their heads document them, to the docstring of the method that returns them."""
    return lambda method: cast(Any, _MadeWhenAsked(lambda: _with_columns(method, tables)))


def _with_columns(method: Method, tables: Iterable[str]) -> Method:
    method.__doc__ = "\n\n".join([cleandoc(method.__doc__ or ""), *map(_columns_of, tables)])
    return method


def _columns_of(name: str) -> str:
    table = documented_tables()[name]
    front = "" if table.grain == "job" else ", after profile and rank_id"
    lines = [f"{column.shown_name} ({column.shown_type}): {column.meaning}" for column in table.columns]
    return "\n".join([f"Columns of table {name}{front}:", *map(_wrapped, lines)])


def _wrapped(line: str) -> str:
    """Return a line of a docstring, wrapped where it is long; to look at all words of the short ones takes longer."""
    return fill(line, 100, initial_indent="    ", subsequent_indent="        ") if len(line) > 96 else f"    {line}"


def _method_of(analysis: Analysis) -> Callable[..., Any]:
    """Return the method of an analysis: `by` chooses what a row is, across_ranks the table over all ranks."""
    usual = next(iter(analysis.rows))
    has_sums = any(rows.over_ranks for rows in analysis.rows.values())

    def method(self: Questions, by: str = usual, *, across_ranks: bool = False) -> Any:
        one_of("by", by, analysis.rows)
        rows = analysis.rows[by]
        return self._answer(analysis, by, rows.over_ranks if across_ranks and rows.over_ranks else rows.table)

    taken = {"self": True, "by": len(analysis.rows) > 1, "across_ranks": has_sums}
    shown = signature(method).replace(
        parameters=[one for name, one in signature(method).parameters.items() if taken[name]],
        return_annotation="pandas.DataFrame",
    )

    def question(self: Questions, *given: Any, **named: Any) -> Any:
        bound = shown.bind(self, *given, **arguments_in_new_words(analysis.name, named))
        return method(*bound.args, **bound.kwargs)

    question.__name__, question.__qualname__, question.__doc__ = analysis.name, f"Profile.{analysis.name}", analysis.returns
    vars(question)["__signature__"] = shown
    tables = [table for rows in analysis.rows.values() for table in (rows.table, rows.over_ranks) if table]
    return _with_columns(question, tables)


for _analysis in ANALYSES.values():
    setattr(Questions, _analysis.name, _MadeWhenAsked(partial(_method_of, _analysis)))
