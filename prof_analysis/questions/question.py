"""A question: a method that returns the rows of a documented table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import cleandoc
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from prof_analysis.engine.tables import documented_tables

if TYPE_CHECKING:
    import pandas
    import pyarrow

    Frame: TypeAlias = pandas.DataFrame | pyarrow.Table

Method = TypeVar("Method", bound=Callable[..., Any])
Yes = Literal[True]
No = Literal[False]


def gives(*tables: str) -> Callable[[Method], Method]:
    """Add the columns of tables, as their heads document them, to the docstring of the method that returns them."""

    def with_columns(method: Method) -> Method:
        method.__doc__ = "\n\n".join([cleandoc(method.__doc__ or ""), *map(_columns_of, tables)])
        return method

    return with_columns


def _columns_of(name: str) -> str:
    table = documented_tables()[name]
    front = "" if table.grain == "job" else ", after profile and rank_id"
    lines = [f"{column.shown_name} ({column.shown_type}): {column.meaning}" for column in table.columns]
    return "\n".join([f"Columns of table {name}{front}:", *map(_wrapped, lines)])


def _wrapped(line: str) -> str:
    """Return a line of a docstring, wrapped where it is long; to look at all words of the short ones takes longer."""
    return fill(line, 100, initial_indent="    ", subsequent_indent="        ") if len(line) > 96 else f"    {line}"


class Answers(ABC):
    """The source of the tables of the answers."""

    @abstractmethod
    def _answer(self, analysis: str, table: str, arrow: bool, also: str | None = None) -> Frame:
        """Return a table of an analysis; warn of ranks that cannot answer it or, if given, the analysis `also`."""

    @abstractmethod
    def _table(self, name: str, arrow: bool) -> Frame:
        """Return a table."""
