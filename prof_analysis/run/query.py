"""Answers a query of a user: builds the tables that it names and runs it, or says what is wrong and what was meant."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import duckdb

from prof_analysis.common.errors import QueryError, reason_of, remedy_of
from prof_analysis.engine.grains import grain_of
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.parsing import Query, read_query
from prof_analysis.engine.tables import unknown_table
from prof_analysis.run.given_tables import given_tables
from prof_analysis.run.session import Session

Answer = TypeVar("Answer")


def answer(
    session: Session,
    query: str,
    fetch: Callable[[duckdb.DuckDBPyRelation], Answer],
    paths: Iterable[Path] = (),
    shown: Callable[[str], str] | None = None,
) -> Answer:
    """Build the tables that a query names, run it, and return the result of a function of its rows.

    `paths` are those of the profile: they lead to tables that msprof-analyze has written, in which `shown` replaces secrets.
    Raises QueryError when the query cannot be read or run.
    """
    with session.turn():
        grains = ("rank", "job", "runs") if len(session.runs) > 1 else ("rank", "job")
        given = given_tables(session.connection, query, paths, shown)
        ours = [name for name in session.tables if grain_of(name) in grains]
        known = [*ours, *given]

        def meaning(name: str) -> str:
            return given[name] if name in given else session.tables[name].summary

        asked = read_query(query, session.connection, known, meaning, session.allow_files)
        for name in sorted((asked.tables | asked.described) - given.keys()):
            if name not in session.tables:
                raise QueryError(unknown_table(name, known))
            if grain_of(name) == "log":
                raise QueryError(f"{name} is made from logs, not from profiles: run `prof-analysis stage-durations LOG`")
        session.provide(tuple(sorted(asked.tables - given.keys())))
        if asked.reads_catalog:
            session.list_all(session.tables[name] for name in ours)
        create_macros(session.connection, query)
        try:
            return fetch(session.as_users_see(query, session.connection.sql(asked.text)))
        except duckdb.Error as error:
            raise QueryError(_said(error, asked, known)) from error


def _said(error: duckdb.Error, asked: Query, known: Iterable[str]) -> str:
    """Return DuckDB's message in one line, with its hints, and with our tables that may be meant."""
    if match := re.search(r"Table with name (\w+) does not exist", str(error)):
        return unknown_table(match[1], known)
    reason = reason_of(error)
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        reason = " ".join(re.split(r"\n\nLINE |\n\tCandidate functions", str(error))[0].split())
        if re.search(r"not found in FROM clause|does not have a column", reason):
            reason += "".join(f"; DESCRIBE {name} lists its columns" for name in sorted(asked.tables))
    return f"the query failed: {reason}{remedy_of(error)}"
