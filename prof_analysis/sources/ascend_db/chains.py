"""Stages the Python stacks of a database: which chains have the same frames, and the frames of the first of them alone.

Each op has a chain of its own, a row for each frame: a million kernels have tens of millions of rows, and hundreds of stacks.
So the table is read in parts, and of each part only a number for each chain stays, made from its frames, and the frames of
chains that are new.
"""

from collections.abc import Callable, Mapping

import duckdb

from prof_analysis.engine.quotes import quote
from prof_analysis.engine.statements import run
from prof_analysis.sources.ascend_db.rows import cells_of, rows_of
from prof_analysis.sources.ascend_db.tables import CHAINS, FRAMES, KEYS, TABLES
from prof_analysis.sources.readers.repeated import drop_repeated
from prof_analysis.sources.readers.sqlite_cell import Cell
from prof_analysis.sources.readers.sqlite_file import SqliteFile, copy_table
from prof_analysis.sources.readers.sqlite_ranges import ranges_of

_PART = "raw.chain_part"
_COLUMNS = TABLES[FRAMES][1]

# A chain at the edge of a part may go on in the next one: then its number is not yet that of its frames, and its rows stay.
_ADD = f"""
CREATE TEMP TABLE summed AS
WITH edge AS (SELECT min(id) AS first_id, max(id) AS last_id FROM stored."{_PART}")
SELECT
    id,
    bit_xor(hash(stack, stackDepth, 1)) AS high,
    bit_xor(hash(stackDepth, stack, 1)) AS low,
    id IN (any_value(first_id), any_value(last_id)) AS is_at_edge
FROM stored."{_PART}"
CROSS JOIN edge
GROUP BY id;
INSERT INTO stored."{FRAMES}"
FROM stored."{_PART}"
WHERE id IN (
    SELECT min(id) FROM summed ANTI JOIN stored.chain_key USING (high, low) WHERE NOT is_at_edge GROUP BY high, low
    UNION ALL
    SELECT id FROM summed WHERE is_at_edge
);
INSERT INTO stored.chain_key SELECT DISTINCT high, low FROM summed WHERE NOT is_at_edge;
INSERT INTO stored.summed_chain SELECT id, high, low FROM summed;
DROP TABLE summed;
DROP TABLE stored."{_PART}";
"""

_START = f"""
CREATE OR REPLACE TABLE stored."{FRAMES}" (id BIGINT, stack BIGINT, stackDepth BIGINT);
CREATE OR REPLACE TABLE stored.chain_key (high UBIGINT, low UBIGINT);
CREATE OR REPLACE TABLE stored.summed_chain (id BIGINT, high UBIGINT, low UBIGINT);
"""

_END = f"""
CREATE TABLE stored."{CHAINS}" AS
WITH chain AS (
    SELECT id, bit_xor(high) AS high, bit_xor(low) AS low
    FROM stored.summed_chain
    GROUP BY id
)
SELECT id, min(id) OVER (PARTITION BY high, low) AS first_id
FROM chain;
DELETE FROM stored."{FRAMES}" WHERE id NOT IN (SELECT first_id FROM stored."{CHAINS}" WHERE first_id IS NOT NULL);
DROP TABLE stored.chain_key;
DROP TABLE stored.summed_chain;
"""

# Rows in the order (id, stackDepth), without a repeated one; none of NULL.
_IN_ORDER = f"""
WITH neighbour AS (
    SELECT id, stackDepth, lag(id) OVER () AS before_id, lag(stackDepth) OVER () AS before_depth
    FROM stored."{_PART}"
)
SELECT
    coalesce(bool_and(before_id IS NULL OR id > before_id OR (id = before_id AND stackDepth > before_depth)), true)
    AND count(*) = count(id)
    AND count(*) = count(stackDepth),
    min(id),
    max(id)
FROM neighbour
"""


def stage_chains(
    connection: duckdb.DuckDBPyConnection, file: SqliteFile, threads: int, on_part: Callable[[int], None]
) -> tuple[Mapping[str, int], int] | None:
    """Store the chains and the frames of the first of equal ones.

    `on_part` gets the number of parts after each of them. Returns how many values of each column are not numbers, and how many
    rows repeat earlier ones; None where the file has no chains.
    """
    table = TABLES[FRAMES][0]
    source = rows_of(file, FRAMES)
    cells = cells_of(file, table, _COLUMNS) if source else []
    if source is None or len(cells) < len(_COLUMNS):
        return None
    groups = ranges_of(file, table, threads)
    rejected: dict[str, int] = {}
    repeated = 0
    if not _stage_parts(connection, file, source, cells, groups, on_part, rejected):
        # The rows of a chain may be anywhere.
        rejected = copy_table(connection, file, source, cells, f"stored.{quote(_PART)}", groups)
        repeated = drop_repeated(connection, _PART, KEYS[FRAMES], tuple(_COLUMNS))
        run(connection, _START)
        run(connection, _ADD)
    run(connection, _END)
    return rejected, repeated


def _stage_parts(
    connection: duckdb.DuckDBPyConnection,
    file: SqliteFile,
    source: str,
    cells: list[Cell],
    groups: list[list[str]],
    on_part: Callable[[int], None],
    rejected: dict[str, int],
) -> bool:
    """Stage the chains part by part; return false where rows are not in order, which is only then needed."""
    run(connection, _START)
    last_id = None
    for group in groups:
        rows = f"{source} AND ({' OR '.join(f'({one})' for one in group)})"
        found = copy_table(connection, file, rows, cells, f"stored.{quote(_PART)}", [group])
        rejected.update({column: rejected.get(column, 0) + count for column, count in found.items()})
        ((is_in_order, lowest, highest),) = run(connection, _IN_ORDER).fetchall()
        if not is_in_order or (last_id is not None and lowest is not None and lowest < last_id):
            connection.execute(f"DROP TABLE stored.{quote(_PART)}")
            return False
        last_id = last_id if highest is None else highest
        run(connection, _ADD)
        on_part(len(groups))
    at_edges = f"SELECT 1 FROM stored.{quote(FRAMES)} GROUP BY id, stackDepth HAVING count(*) > 1 LIMIT 1"
    return not run(connection, at_edges).fetchall()
