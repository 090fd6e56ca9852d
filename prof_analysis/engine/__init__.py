"""The engine: plans and builds tables, which are files of SQL, in DuckDB."""
