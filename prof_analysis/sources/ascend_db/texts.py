"""Gives equal texts of a profiler database the same id, and texts that mean no value no id."""

from collections.abc import Iterator, Mapping

import duckdb

from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import run
from prof_analysis.sources.ascend_db.tables import NAMES, TABLES, TEXT_REFERENCES

# The id that is written where there is no text.
_NO_TEXT = 4294967295


def number_texts(connection: duckdb.DuckDBPyConnection) -> None:
    """Find one id for equal texts, since the writers of the CANN part and of the framework part number texts separately.

    Shapes of ops are made one line each first, as those of kernels are.
    """
    create_macros(connection, "in_one_line(")
    run(connection, 'UPDATE stored."raw.string_ids" SET value = in_one_line(value) WHERE value <> in_one_line(value)')
    run(
        connection,
        """
        CREATE TABLE stored.other_id AS
        WITH one_text AS (SELECT id, min(value) AS value FROM stored."raw.string_ids" GROUP BY id)
        SELECT id, min(id) OVER (PARTITION BY value) AS text_id, value IN ('', 'N/A', 'NULL') AS is_no_value
        FROM one_text
        QUALIFY id > text_id OR is_no_value
    """,
    )


def lost_texts(connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str, int]]:
    """Yield the names in raw tables that are ids of no text: the table, the column and the number of rows."""
    named = [
        (name, column)
        for name, columns in wanted.items()
        for column in sorted(NAMES & columns)
        if TABLES[name][1].get(column) == "BIGINT"
    ]
    counts = [
        f"SELECT {place} AS place, count(*) AS row_count FROM {name}"
        f' WHERE {column} BETWEEN 0 AND {_NO_TEXT - 1} AND {column} NOT IN (SELECT id FROM stored."raw.string_ids")'
        for place, (name, column) in enumerate(named)
    ]
    if counts:
        rows = run(connection, f"FROM ({' UNION ALL '.join(counts)}) WHERE row_count > 0 ORDER BY place").fetchall()
        yield from ((*named[place], count) for place, count in rows)


def merge_texts(connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]]) -> None:
    """Replace references by the ids of number_texts(), if it ran. A text that means no value becomes NULL, except in names."""
    # To look for the table in duckdb_tables() takes longer than all else here: it fills DuckDB's own catalog.
    run(connection, "CREATE TABLE IF NOT EXISTS stored.other_id (id BIGINT, text_id BIGINT, is_no_value BOOLEAN)")
    if not run(connection, "SELECT 1 FROM stored.other_id LIMIT 1").fetchall():
        return
    for name, columns in wanted.items():
        references = {column for column, type_ in TABLES[name][1].items() if type_ == "BIGINT"} & TEXT_REFERENCES & columns
        if not references:
            continue
        stored = {row[0] for row in run(connection, f"DESCRIBE stored.{quote(name)}").fetchall()}
        for column in sorted(references & stored):
            text_id = "text_id" if column in NAMES else "if(is_no_value, NULL, text_id)"
            run(
                connection,
                f"UPDATE stored.{quote(name)} SET {column} = {text_id} FROM stored.other_id WHERE {column} = other_id.id",
            )
