"""The part of a cache entry for other questions: tables of the engine, and the facts that their warnings need.

A file holds some columns of a table. It names the entry, so that a file from elsewhere is never taken for one of its own, and
has the remarks about the input and the guards that were known when it was made: with them, a question that reads it in place of
the profile gives the warnings that it would give without the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.common.errors import OutputError
from prof_analysis.engine.kept import TEXTS, KeptTable, is_kept, rows_to_keep
from prof_analysis.engine.planning import Build, Plan, walk
from prof_analysis.engine.table_file import Table
from prof_analysis.run.cache.store import ENGINE, SUFFIX, RankStore, about_rows, entry_of, write_rows
from prof_analysis.sources.remarks import Remark, as_json, from_json, sentences


class UnfitError(Exception):
    """Kept tables cannot answer a question; it must be answered without them."""


@dataclass(frozen=True)
class Facts:
    """Facts about a rank: the remarks about its input, and whether guards have rows, by the names of their files."""

    remarks: set[Remark] = field(default_factory=set)
    guards: dict[str, bool] = field(default_factory=dict)

    def add(self, kept: Mapping[str, Any]) -> None:
        """Add the facts that a file has."""
        self.remarks.update(from_json(kept["remarks"]))
        self.guards.update(kept["guards"])

    def as_json(self) -> dict[str, Any]:
        """Return the facts in a form that a file can hold."""
        return {"remarks": as_json(self.remarks), "guards": self.guards}


def find_kept(
    connection: duckdb.DuckDBPyConnection, store: RankStore, tables: Iterable[Table], facts: Facts
) -> dict[str, list[KeptTable]]:
    """Return the files that an entry keeps of these tables, for the options of the store, and add their facts."""
    folder = store.folder / ENGINE
    files: dict[str, list[Path]] = {}
    with suppress(OSError):
        for file in sorted(folder.iterdir()):
            if file.suffix == SUFFIX:
                files.setdefault(file.name.removesuffix(SUFFIX).rpartition(".")[0], []).append(file)
    of_table = {table.name: files.get(_stem(store, table.name), []) for table in tables if is_kept(table)}
    about = about_rows(connection, [file for found in of_table.values() for file in found])
    found: dict[str, list[KeptTable]] = {}
    for name, known in of_table.items():
        for file in known:
            one = about.get(file, {})
            if "texts" in one and (folder / one["texts"]).is_file():
                facts.add(one)
                found.setdefault(name, []).append(KeptTable(file, frozenset(one["columns"]), folder / one["texts"]))
    return found


def facts_of(connection: duckdb.DuckDBPyConnection, files: Sequence[Path], facts: Facts) -> None:
    """Add the facts of tables that answer questions."""
    for one in about_rows(connection, files).values():
        facts.add(one)


def keep(
    connection: duckdb.DuckDBPyConnection,
    store: RankStore,
    table: Table,
    columns: frozenset[str],
    texts: str,
    facts: Facts,
    scratch: Path,
) -> bool:
    """Keep columns of a built table, in place of the files with fewer of them; return whether there was room for it.

    `texts` is the name of the file with its texts.
    """
    folder = store.folder / ENGINE
    stem = _stem(store, table.name)
    name = texts if table.name == TEXTS else f"{stem}.{_digest(','.join(sorted(columns)))}{SUFFIX}"
    about = {"columns": sorted(columns), "texts": texts, **facts.as_json()}
    try:
        folder.mkdir(store.folder.stat().st_mode & 0o777, exist_ok=True)
        write_rows(connection, rows_to_keep(table, columns), folder / name, about, store.folder, scratch)
    except (OSError, OutputError):
        return False
    return True


def texts_file(connection: duckdb.DuckDBPyConnection) -> str:
    """Return the name of the file for the texts that were built: other texts have another name."""
    row = connection.execute(f"SELECT count(*), bit_xor(hash(text_id, text)) FROM {TEXTS}").fetchone()
    return f"{TEXTS}.{_digest(str(row))}{SUFFIX}"


def is_unchanged(store: RankStore) -> bool:
    """Return whether the input is still that which the entry is named after."""
    return entry_of(store.folder.parent, store.rank) == store.folder


def warnings_of(plan: Plan, tables: Mapping[str, Table], store: RankStore, facts: Facts, is_read_once: bool) -> list[str]:
    """Return the warnings of a question: the remarks about its staged tables, in the order of staging.

    Raises UnfitError where a guard is not known.
    """

    def passes(guard: str) -> bool:
        try:
            return facts.guards[store.file(guard).name]
        except KeyError:
            raise UnfitError(guard) from None

    if is_read_once:
        staged: list[Mapping[str, frozenset[str]]] = [{**plan.raw_columns, **plan.deferred_raw_columns}]
    else:
        staged = [plan.raw_columns, *(step for step in walk(plan, tables, passes) if not isinstance(step, Build))]
    return list(dict.fromkeys(sentence for columns in staged for sentence in sentences(facts.remarks, columns)))


def _stem(store: RankStore, table: str) -> str:
    return store.file(table).name.removesuffix(SUFFIX)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]
