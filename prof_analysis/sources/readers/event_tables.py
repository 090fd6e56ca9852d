"""Makes raw tables of the events of a trace: a source names the events and expressions of each table."""

import json
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import duckdb

from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.tables import store_view
from prof_analysis.sources.readers.trace_json import read_events

ID = "TEXT_ID"  # This type is staged as the id of a text.
TextsLock: TypeAlias = AbstractContextManager[Any] | None
# Column -> (type, the expression that gives it).
Columns: TypeAlias = Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class EventTables:
    """The raw tables that are made of the events of a trace.

    `event` and `arguments` are the parts of an event that may be read, in the form of DuckDB's from_json(). `block` has the
    columns of the events of a block, of which `tables` are made: each with the condition of its events and its columns.
    `names` are the columns in which the words for "no text" are names like others. `frequent` is the condition of the events
    that most traces have most of, and the only tables that can have them. `renamed` has the name by which an argument is read
    that differs from another one in case alone: for DuckDB both would be one.
    """

    event: Mapping[str, str]
    arguments: Mapping[str, str]
    block: Mapping[str, str]
    tables: Mapping[str, tuple[str, Columns]]
    names: tuple[str, ...]
    frequent: tuple[str, tuple[str, ...]] = ("false", ())
    renamed: Mapping[str, str] = field(default_factory=dict)

    def stage(
        self,
        connection: duckdb.DuckDBPyConnection,
        file: Path,
        wanted: Mapping[str, frozenset[str]],
        texts_lock: TextsLock,
        threads: int,
        on_bytes: Callable[[int], None],
        first_id: int = 0,
    ) -> list[str]:
        """Stage the wanted columns of the tables of a file, and texts where there is a lock for them. Returns what was lost.

        Ids of events begin at `first_id`: a file may be one of several slices.
        """
        tables = {name: columns for name, columns in wanted.items() if name in self.tables}
        if not tables:
            return []
        take = partial(self._insert_events, tables, texts_lock)
        structure = self._structure(tables)
        text = "text"
        for name, known in self.renamed.items():
            before, after = json.dumps(name), json.dumps(known)
            if after in structure:
                for sign in (":", " :"):
                    text = f"replace({text}, {quote_text(before + sign)}, {quote_text(after + sign)})"
        return read_events(connection, file, structure, self._block_of(tables, first_id), take, on_bytes, threads, text)

    def _structure(self, wanted: Mapping[str, frozenset[str]]) -> str:
        """Return the parts of an event that these columns need, and no others, since each costs time in every event."""
        conditions = [self.tables[name][0] for name in wanted]
        expressions = [self.tables[name][1][column][1] for name, columns in wanted.items() for column in columns]
        read = " ".join([*conditions, *expressions])
        arguments = {
            name: type_ for name, type_ in self.arguments.items() if f"args.{name}" in read or f'args."{name}"' in read
        }
        return json.dumps({**self.event, "args": arguments or {"name": "VARCHAR"}})

    def _block_of(self, wanted: Mapping[str, frozenset[str]], first_id: int) -> str:
        """Return the SELECT of the events of a block: the sources of these columns, and the tables that have an event."""
        read = " ".join(self.tables[name][1][column][1] for name, columns in wanted.items() for column in columns)
        kept = ["event_id", *(column for column in self.block if re.search(rf"\b{column}\b", read))]
        tables = [quote(name) for name in wanted]
        columns = ", ".join(f"{expression} AS {column}" for column, expression in self.block.items())
        conditions = ", ".join(f"{self.tables[name][0]} AS {quote(name)}" for name in wanted)
        return f"""
            SELECT {", ".join([*kept, *tables])}
            FROM (SELECT *, {conditions} FROM (SELECT event_id + {first_id} AS event_id, {columns} FROM event))
            WHERE {self._is_in_any(wanted)}
        """

    def _is_in_any(self, wanted: Collection[str]) -> str:
        """Return the condition of the events that any of these tables has.

        DuckDB tries the conditions of an OR in an order of its own, and all of them for an event that is in no table. With the
        frequent events apart, the block of a trace with Python functions takes two thirds of the time.
        """
        condition, tables = self.frequent
        of_frequent = " OR ".join(quote(name) for name in wanted if name in tables) or "false"
        of_others = " OR ".join(quote(name) for name in wanted if name not in tables) or "false"
        return f"CASE WHEN {condition} THEN {of_frequent} ELSE {of_others} END"

    def _insert_events(
        self, wanted: Mapping[str, frozenset[str]], texts_lock: TextsLock, connection: duckdb.DuckDBPyConnection
    ) -> None:
        made_of = {
            name: ({c: one for c, one in self.tables[name][1].items() if c in columns}, quote(name))
            for name, columns in wanted.items()
        }
        insert(connection, "event_block", made_of, texts_lock, self.names)


def create_raw_tables(
    connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]], documented: Mapping[str, Mapping[str, str]]
) -> None:
    """Create empty raw tables with the wanted columns, and their views; `documented` has all columns with their types."""
    for name, columns in wanted.items():
        kept = {column: type_ for column, type_ in documented[name].items() if column in columns} or {"nothing_read": "BIGINT"}
        definition = ", ".join(f"{quote(column)} {type_}" for column, type_ in kept.items())
        connection.execute(f"CREATE TABLE {stored(name)} ({definition})")
        store_view(connection, name, documented[name], columns)


# The macros that staging of events calls by itself.
CALLED = "text_id() known()"


def stored(name: str) -> str:
    """Return the quoted name of a staged table."""
    return f"stored.{quote(name)}"


def begin_anew(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop the staged tables, since two texts have the same id; the next ids are made with another salt."""
    connection.execute(
        "SET VARIABLE text_salt = getvariable('text_salt') + 1; DROP SCHEMA stored CASCADE; DROP SCHEMA raw CASCADE"
    )


def have_equal_ids(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether two texts have the same id, which is a hash."""
    equal = 'SELECT 1 FROM stored."raw.string" GROUP BY text_id HAVING count(*) > 1 LIMIT 1'
    return bool(connection.execute(equal).fetchall())


def insert(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    tables: Mapping[str, tuple[Columns, str]],
    texts_lock: TextsLock,
    names: tuple[str, ...],
) -> None:
    """Insert rows into raw tables, texts as their ids; and, with a lock, insert new texts into raw.string.

    `tables` has for each table its columns, and the condition of the rows that it takes. The lock lets one thread at a time
    look for new texts. In columns other than `names` the words for "no text" are NULL.
    """
    conditions_of: dict[str, list[str]] = {}  # of a text
    for name, (columns, condition) in tables.items():
        texts = {
            c: expression if c in names else f"known({expression})" for c, (type_, expression) in columns.items() if type_ == ID
        }
        for text in dict.fromkeys(texts.values()):
            conditions_of.setdefault(text, []).append(condition)
        values = [f"text_id({texts[c]})" if c in texts else expression for c, (_, expression) in columns.items()]
        connection.execute(f"INSERT INTO {stored(name)} SELECT {', '.join(values) or 'NULL'} FROM {rows} WHERE {condition}")
    if conditions_of and texts_lock:
        found = [
            f"SELECT DISTINCT {text} AS text FROM {rows} WHERE {' OR '.join(conditions)}"
            for text, conditions in conditions_of.items()
        ]
        with texts_lock:
            connection.execute(f"""
                INSERT INTO stored."raw.string"
                WITH found AS ({" UNION ".join(found)})
                SELECT text_id(text), text FROM found ANTI JOIN stored."raw.string" USING (text) WHERE text IS NOT NULL
            """)
