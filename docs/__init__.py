"""The documentation, and what is made of the heads in sql/: pages of tables, and the schema of --json."""
