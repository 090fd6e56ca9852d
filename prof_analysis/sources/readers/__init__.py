"""Readers of kinds of files: SQLite, CSV, JSON traces. They know nothing about Ascend."""
