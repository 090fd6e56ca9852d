"""Reads what the payloads of NVTX events are made of: those of the library of collectives, as bytes that schemas describe.

The format is that of nvToolsExtPayload.h; in front of a payload, Nsight Systems writes its domain, schema and size.
"""

import duckdb

from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.sources.nsys.raw_tables import PAYLOAD_NUMBERS, PAYLOADS
from prof_analysis.sources.nsys.tables import ENTRIES, RANGES, SCHEMAS
from prof_analysis.sources.readers.sqlite_file import SqliteFile, query

# Type of an entry -> its bytes: of int, uint32_t, uint64_t, size_t and the like.
_BYTES = {**dict.fromkeys((5, 6, 15, 16), 4), **dict.fromkeys((7, 8, 9, 10, 17, 18, 22), 8)}
_COLUMNS = {
    ENTRIES: frozenset(("domainId", "schemaId", "idx", "type", "name", "offset")),
    SCHEMAS: frozenset(("domainId", "schemaId", "payloadSize")),
}
_LONGEST_PAYLOAD = 4096


def payload_columns(file: SqliteFile) -> set[str]:
    """Return the columns of NVTX events that hold payloads: to copy them takes much longer than a look."""
    columns = sorted(PAYLOADS & file.tables[RANGES].keys())
    if not columns:
        return set()
    (row,) = query(file, f"SELECT {', '.join(f'max({quote(column)} IS NOT NULL)' for column in columns)} FROM {RANGES}")
    return {column for column, is_filled in zip(columns, row, strict=True) if is_filled}


def set_schemas(connection: duckdb.DuckDBPyConnection, file: SqliteFile) -> bool:
    """Set the variable that payload_of_nvtx() reads: where numbers lie in payloads, by schema. Returns whether any does."""
    schemas: dict[str, list[dict[str, object]]] = {}
    for (domain, schema, name), place in _places(file).items():
        if place is not None:
            begin, width, size = place
            one = {"name": name, "begin": begin, "width": width, "payload_bytes": size}
            schemas.setdefault(f"{domain}/{schema}", []).append(one)
    if schemas:
        value = {"keys": list(schemas), "entries": list(schemas.values())}
        connection.execute("SET VARIABLE nvtx_schemas = map($keys, $entries)", value)
    return bool(schemas)


def _places(file: SqliteFile) -> dict[tuple[int, int, str], tuple[int, int, int] | None]:
    """Return the first byte of each number of a schema, its bytes, and those of the payload; None where processes differ."""
    if not all(columns <= file.tables.get(table, {}).keys() for table, columns in _COLUMNS.items()):
        return {}
    entry = ", ".join(map(quote, sorted(_COLUMNS[ENTRIES])))
    names = ", ".join(map(quote_text, PAYLOAD_NUMBERS))
    rows = query(
        file,
        f"""
        SELECT domainId, schemaId, name, type, coalesce("offset", CASE idx WHEN 0 THEN 0 END), payloadSize
        FROM (SELECT DISTINCT {entry} FROM {ENTRIES} WHERE name IN ({names}))
        JOIN (SELECT DISTINCT domainId, schemaId, payloadSize FROM {SCHEMAS}) USING (domainId, schemaId)
        """,
    )
    found: dict[tuple[int, int, str], tuple[int, int, int] | None] = {}
    for domain, schema, name, kind, begin, size in rows:
        if not (isinstance(domain, int) and isinstance(schema, int) and isinstance(begin, int) and isinstance(size, int)):
            continue
        width = _BYTES.get(kind) if isinstance(kind, int) else None
        if width and 0 <= begin <= size - width and size <= _LONGEST_PAYLOAD:
            place = (begin, width, size)
            key = (domain, schema, str(name))
            found[key] = place if found.get(key, place) == place else None
    return found
