"""Helpers that several tests of the tables share."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.engine.building import build
from prof_analysis.engine.cases import ENDING
from prof_analysis.engine.planning import Plan
from prof_analysis.engine.tables import documented_tables, shown_select, source_tables
from tests.helpers.empty_database import empty_database
from tests.helpers.places import CHECKOUT, SAMPLE
from tests.helpers.small_profile import (
    DATABASE,
)

SAMPLE_FOLDER = "decoder_training/node0_4242_20260101000000000_ascend_pt"


SAMPLE_DATABASE = SAMPLE / SAMPLE_FOLDER / DATABASE.format(rank=0)


TABLES = sorted(name for name, table in documented_tables().items() if table.grain == "rank")


def without_cases(tables: Iterable[str]) -> list[str]:
    """Return those of some tables that have no cases: neither a page, nor a test that gives rows to rows_of().

    Cases say what a table finds where the sample has nothing for it.
    """
    tests = CHECKOUT / "tests"
    pages = (tests / "tables").rglob(f"*{ENDING}")
    with_page = {f"{schema_of(page)}.{page.name.removesuffix(ENDING)}" for page in pages}
    left = set(tables) - with_page
    texts = (file.read_text(encoding="utf-8") for file in tests.rglob("test_*.py")) if left else ()
    return sorted(left - {name for text in texts for name in re.findall(r'\brows_of\("(\w+\.\w+)"', text)})


def schema_of(page: Path) -> str:
    """Return the schema of the table whose cases a page has; below sources/ there is a folder for each source."""
    return "trace" if page.parts[-3] == "sources" else page.parent.name


def raw_columns(source: str) -> Mapping[str, Mapping[str, str]]:
    columns: Mapping[str, Mapping[str, str]] = importlib.import_module(f"prof_analysis.sources.{source}").RAW_COLUMNS
    return columns


@contextmanager
def built(
    plan: Plan,
    database: Path = SAMPLE_DATABASE,
    threads: int = 2,
    audit_links: bool = False,
    step_id: int | None = None,
    module: str | None = None,
    staged: list[set[str]] | None = None,
    kept: tuple[str, ...] | None = None,
    are_guarded: bool = True,
) -> Iterator[duckdb.DuckDBPyConnection]:
    tables = source_tables("ascend_db")
    without_guards = {} if are_guarded else {name: replace(tables[name], guard=None) for name in plan.order}
    from prof_analysis.sources import ascend_db

    device_infos = sorted(database.parent.parent.glob("PROF_*/device_*/info.json.*"))
    with empty_database({"audit_links": audit_links, "step_id": step_id, "module": module}, threads) as connection:
        sizes: list[int] = []

        def stage(columns: Mapping[str, frozenset[str]]) -> None:
            assert ascend_db.stage(connection, (database, *device_infos), columns, threads, sizes.append) == []
            if staged is not None:
                staged.append(set(columns))

        stage(plan.raw_columns)
        build(connection, "ascend_db", plan, stage, kept, loaded=without_guards)
        yield connection


def shown(connection: duckdb.DuckDBPyConnection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute(shown_select(source_tables("ascend_db")[table])).fetchall()
