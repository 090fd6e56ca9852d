"""The version of prof-analysis, and that of its JSON output."""

__version__ = "0.2.0"

# Of what --json prints. It grows by one when a key is removed or renamed, or when what a key holds changes in type, unit or
# meaning; new keys, commands and rows leave it as it is.
SCHEMA_VERSION = 1
