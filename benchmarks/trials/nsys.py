"""Damages of databases of Nsight Systems."""

import sqlite3
from pathlib import Path

from benchmarks.trials.registry import Change, damage
from tests.disturbed.databases import columns, edit

Said = str | None
KERNELS, CALLS, RANGES = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"
ALLOCATIONS, SAMPLES, NODES = "CUDA_GPU_MEMORY_USAGE_EVENTS", "GPU_METRICS", "CUDA_GRAPH_NODE_EVENTS"


def _run(folder: Path, statement: str, table: str) -> int:
    """Run a statement on the database, if it has a table; return the rows changed."""
    changed = 0

    def change(connection: sqlite3.Connection) -> None:
        nonlocal changed
        if table in dict(columns(connection)):
            before = connection.total_changes
            connection.executescript(f"BEGIN; {statement}; COMMIT")
            changed = connection.total_changes - before

    for database in sorted(folder.rglob("*.sqlite")) if folder.is_dir() else [folder]:
        edit(database, change)
    return changed


def _changes(name: str, table: str, statement: str, said: str, untold: str = "") -> None:
    """Make it a damage that a statement changed rows of a table."""

    def changed(folder: Path) -> Said:
        rows = _run(folder, statement.format(table=table), table)
        return said.format(rows=rows, table=table) if rows else None

    changed.__name__ = name
    make: Change = changed
    damage("nsys", untold=untold)(make)


_changes("no_texts", "StringIds", "DELETE FROM {table}", "{rows} texts deleted")
_changes("no_calls", CALLS, "DELETE FROM {table}", "{rows} calls deleted")
_changes("kernels_end_early", KERNELS, "UPDATE {table} SET end = start - 5 WHERE rowid % 3 = 0", "{rows} kernels end early")
_changes("kernels_far_away", KERNELS, "UPDATE {table} SET start = start + 9e17, end = end + 9e17 WHERE rowid % 7 = 0",
         "{rows} kernels are 28 years later")  # fmt: skip
_changes("kernels_twice", KERNELS, "INSERT INTO {table} SELECT * FROM {table} WHERE rowid % 2", "{rows} kernels doubled")
_changes("ranges_twice", RANGES, "INSERT INTO {table} SELECT * FROM {table} WHERE rowid % 2", "{rows} ranges doubled")
_changes("ranges_never_end", RANGES, "UPDATE {table} SET end = NULL WHERE rowid % 2", "{rows} ranges never end")
_changes(
    "texts_for_numbers", KERNELS, "UPDATE {table} SET correlationId = 'x' WHERE rowid % 2", "{rows} correlations are texts"
)
_changes("names_of_no_text", KERNELS, "UPDATE {table} SET demangledName = 987654321", "{rows} kernels name no text")
_changes(
    "sizes_of_no_memory",
    ALLOCATIONS,
    "UPDATE {table} SET bytes = -bytes WHERE rowid % 3 = 0",
    "{rows} events of memory are below 0",
)
_changes(
    "addresses_lost",
    ALLOCATIONS,
    "UPDATE {table} SET address = NULL WHERE rowid % 5 = 0",
    "{rows} events of memory lack an address",
)
_changes(
    "metrics_of_no_name",
    SAMPLES,
    "UPDATE {table} SET metricId = 987654321 WHERE rowid % 2",
    "{rows} samples name no metric",
    untold="samples of a metric without a name are of nothing that anybody asks for",
)
_changes(
    "nodes_in_a_circle",
    NODES,
    "UPDATE {table} SET originalGraphNodeId = graphNodeId",
    "{rows} nodes are copies of themselves",
    untold="as where the graph was captured before the recording: its kernels have the reason graph replay",
)
