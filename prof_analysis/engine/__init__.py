"""The engine: tables as files of SQL, planned and built in DuckDB."""
