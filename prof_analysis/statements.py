"""SQL that comes again and again is parsed once."""

import duckdb

_parsed: dict[str, list[duckdb.Statement]] = {}


def run(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: dict[str, object] | None = None
) -> duckdb.DuckDBPyConnection:
    """Execute SQL that comes again for each rank. Of a small rank parsing it would take a sixth of the time."""
    if sql not in _parsed:
        _parsed[sql] = connection.extract_statements(sql)
    for statement in _parsed[sql]:
        connection.execute(statement, parameters)
    return connection
