"""The documentation, and what makes tables.md of the heads in sql/."""
