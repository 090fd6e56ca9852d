"""Chooses the rows and cells of a profiler database that a raw table takes, by the tables and columns of this database."""

from collections.abc import Mapping

from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.tables import ROW_ID
from prof_analysis.sources.ascend_db.tables import FORMER_NAMES, NAMED_ROWS, ONCE_EACH, OP_ROWS, PYTHON_ROWS, TABLES
from prof_analysis.sources.readers.sqlite_cell import Cell
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query
from prof_analysis.sources.readers.sqlite_ranges import rows_by_id

_LOOKS = 500
_ROWS_OF_LOOK = 10


def rows_of(file: SqliteFile, name: str, beside: str = "false") -> str | None:
    """Return the SQLite text after FROM, up to a condition in WHERE, that gives the rows of a raw table; None where none are.

    With the ops come rows that meet the condition `beside`. Rows come in the order of the file, whatever columns are read: an
    index made by another tool would change the ROW_IDs.
    """
    table = TABLES[name][0]
    if table not in file.tables:
        return None
    in_file = f"{quote(table)} NOT INDEXED"
    columns = {column.lower() for column in file.tables[table]}
    if name == OP_ROWS:
        # Before 2024-08 there is no column type, but only ops have a sequence number (-1 for none).
        has_sequence = "sequenceNumber IS NOT NULL" if "sequencenumber" in columns else "0"
        is_op = f"type IN (50001, 50004) OR (type IS NULL AND {has_sequence})" if "type" in columns else has_sequence
        return f"{in_file} WHERE ({is_op} OR {beside})"
    if name == PYTHON_ROWS:
        # Calls that are neither ops nor of the task queue, which has connection ids.
        neither = "sequenceNumber IS NULL AND connectionId IS NULL" if {"sequencenumber", "connectionid"} <= columns else "0"
        return f"{in_file} WHERE {f'coalesce(type = 50003, {neither})' if 'type' in columns else neither}"
    if name not in NAMED_ROWS:
        return f"{in_file} WHERE true"
    named_so = ids_named(name)
    has_names = "name" in columns and {"id", "value"} <= file.tables.get("STRING_IDS", {}).keys()
    if not has_names or not query(file, f"{named_so} LIMIT 1"):
        return None
    rows = f"{in_file} WHERE name IN ({named_so})"
    return f"(SELECT DISTINCT globalTid FROM {rows}) WHERE true" if name == ONCE_EACH and "globaltid" in columns else rows


def ids_named(name: str) -> str:
    """Return the SQLite query of the ids of the names that a raw table of some rows of PYTORCH_API takes."""
    named_so = " OR ".join(f"value GLOB {quote_text(pattern)}" for pattern in NAMED_ROWS[name])
    return f"SELECT id FROM STRING_IDS WHERE {named_so}"


def few_of(file: SqliteFile, table: str) -> str:
    """Return the SQLite condition that a row is one of a few from everywhere in a table; with a key, no row is.

    All rows are few where there are no more than that.
    """
    rows = rows_by_id(file, table)
    if 0 < rows <= _LOOKS * _ROWS_OF_LOOK:
        return "true"
    starts = range(1, rows + 1, max(rows // _LOOKS, 1))
    return f"rowid IN ({', '.join(str(start + n) for start in starts for n in range(_ROWS_OF_LOOK))})" if starts else "false"


def cells_of(file: SqliteFile, table: str, types: Mapping[str, str]) -> list[Cell]:
    """Return the columns that the file has, by their names in it."""
    declared = {name.lower(): type_ for name, type_ in file.tables[table].items()}  # SQLite ignores case.
    cells = []
    for column, type_ in types.items():
        file_column = (column if column.lower() in declared else FORMER_NAMES.get(column, "")).lower()
        if file_column in declared and column != ROW_ID:
            cells.append(Cell(column, type_, file_column, declared[file_column]))
    if table == "PYTORCH_API" and types.keys() & _SWAPPED.keys() and _has_shapes_under_types(file):
        cells = [Cell(c.column, c.type, _SWAPPED.get(c.column, c.file_column), c.declared_type) for c in cells]
    return cells


_SWAPPED = {"inputDtypes": "inputShapes", "inputShapes": "inputDtypes"}


def _has_shapes_under_types(file: SqliteFile) -> bool:
    """Return whether the two columns are swapped, as in schema 1.0.0, by content: types are words, shapes have no letters."""
    columns = file.tables["PYTORCH_API"].keys()
    if not _SWAPPED.keys() <= columns or "value" not in file.tables.get("STRING_IDS", {}):
        return False
    has_letters = {
        column: query(
            file,
            f"SELECT 1 FROM STRING_IDS WHERE value GLOB '*[a-zA-Z]*' AND id IN"
            f" (SELECT {column} FROM PYTORCH_API WHERE {column} IS NOT NULL LIMIT 1000) LIMIT 1",
        )
        for column in _SWAPPED
    }
    return not has_letters["inputDtypes"] and bool(has_letters["inputShapes"])
