"""Readers of kinds of files: SQLite, csv, JSON traces. They know nothing of Ascend."""
