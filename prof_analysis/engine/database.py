"""Opens DuckDB: every connection has the same settings and sees no Python variable of the caller."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from prof_analysis.common.answer_options import USUAL, Variables
from prof_analysis.common.errors import InputError
from prof_analysis.engine.macros import INSTANCE, create_macros, share_macros
from prof_analysis.engine.quotes import quote, quote_text
from prof_analysis.engine.statements import run

# The variables that the SQL reads with getvariable(), by default: the options, the rank, whether a snapshot beside it tells of
# its memory in its place, the salt of the ids of texts, the kind of device of all ranks, NULL where they differ, the moment to
# which the times of a file are relative, the only process of a file and the names of its domains, and the bounds of times on
# host and device, NULL where they are open.
_DEFAULTS: Variables = {
    **USUAL.variables(),
    "device_id": None,
    "first_device_id": None,
    "profile": "",
    "rank_id": None,
    "memory_is_beside": False,
    "text_salt": 0,
    "device_kind": None,
    "base_time_ns": 0,
    "only_pid": None,
    "nvtx_domains": None,
    "nvtx_schemas": None,
    "host_from_ns": None,
    "host_to_ns": None,
    "host_longest_ns": None,
    "device_from_ns": None,
    "device_to_ns": None,
    "device_longest_ns": None,
}


# DuckDB would load code from the network when a query names an address.
_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def connect(
    variables: Variables | None = None,
    threads: int | None = None,
    temp_directory: Path | None = None,
    buffer_bytes: int | None = None,
    *,
    macros: bool = True,
) -> duckdb.DuckDBPyConnection:
    """Open an in-memory database in which the SQL of this project runs, with all its macros or without.

    `variables` has those that differ from the defaults. Data beyond `buffer_bytes` is spilled to `temp_directory`.
    """
    connection = _opened(threads, temp_directory, buffer_bytes)
    if macros:
        create_macros(connection)
    _prepare(connection, variables)
    return connection


def _opened(threads: int | None, temp_directory: Path | None, buffer_bytes: int | None) -> duckdb.DuckDBPyConnection:
    """Open an instance with these limits."""
    config = {"threads": threads, "memory_limit": None if buffer_bytes is None else f"{buffer_bytes}B", **_OFFLINE}
    connection = duckdb.connect(config={name: value for name, value in config.items() if value is not None})
    # Return the memory of dropped tables to the system: at a million kernels 60 MB less are resident.
    run(connection, "SET allocator_bulk_deallocation_flush_threshold = '16MB'")
    if temp_directory is not None:
        connection.execute("SET temp_directory = $path", {"path": str(temp_directory)})
    return connection


@dataclass
class _Instance:
    """An instance of DuckDB, the names of its macros, and the limit of its buffers."""

    connection: duckdb.DuckDBPyConnection
    macros: set[str]
    buffer_bytes: int | None


# Instances that nobody uses now, by their number of threads.
_idle: dict[int | None, list[_Instance]] = {}
# An instance does not outlive a fork: its threads are not there, and to close it would wait for them.
_of_parents: list[dict[int | None, list[_Instance]]] = []
LENT = "lent"


@contextmanager
def lent(
    variables: Variables | None = None,
    threads: int | None = None,
    temp_directory: Path | None = None,
    buffer_bytes: int | None = None,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Lend an empty database as connect() opens it, in an instance that is kept with its macros for the next.

    The database has the name LENT. To open and to close an instance takes 20 ms, as long as ten small tables.
    """
    # Nothing is asked of the connection of an instance, only of its cursors: to prepare it would take 5 ms.
    instance = _idle_with(threads, temp_directory, buffer_bytes) or _Instance(
        _opened(threads, temp_directory, buffer_bytes), set(), buffer_bytes
    )
    is_free = False
    try:
        with instance.connection.cursor() as connection:
            run(connection, f"ATTACH ':memory:' AS {LENT}")
            use(connection, LENT)
            share_macros(connection, instance.macros)
            _prepare(connection, variables)
            yield connection
            with suppress(duckdb.Error):  # Another thread still uses it.
                run(connection, f"USE memory; DETACH {LENT}")
                is_free = True
    finally:
        if is_free:
            _idle.setdefault(threads, []).append(instance)
        else:
            instance.connection.close()


def use(connection: duckdb.DuckDBPyConnection, database: str) -> None:
    """Let names mean what is in a database, and macros those of the instance."""
    run(connection, f"SET search_path = '{database}.main,{INSTANCE}'")


def _idle_with(threads: int | None, temp_directory: Path | None, buffer_bytes: int | None) -> _Instance | None:
    """Return an idle instance with these limits; None where there is none that takes them."""
    try:
        instance = _idle[threads].pop()
    except (KeyError, IndexError):
        return None
    connection = instance.connection
    try:
        if instance.buffer_bytes != buffer_bytes:
            run(connection, "RESET memory_limit")
            if buffer_bytes is not None:
                connection.execute(f"SET memory_limit = '{buffer_bytes}B'")
            instance.buffer_bytes = buffer_bytes
        connection.execute("SET temp_directory = $path", {"path": str(temp_directory or "")})
    except duckdb.Error:  # One that has spilled keeps its folder.
        connection.close()
        return None
    return instance


# What DuckDB's optimizer does for queries of many rows. Of few rows it takes a tenth of the time of `advise`. What is not here,
# such as to put conditions into joins, is worth it always.
_FOR_MANY_ROWS = {
    "aggregate_function_rewriter", "aggregate_reuse", "build_side_probe_side", "column_lifetime", "common_aggregate",
    "common_subexpressions", "common_subplan", "compressed_materialization", "cte_filter_pusher",
    "distinct_aggregate_rewrite", "duplicate_groups", "empty_result_pullup", "grouping_sets", "in_clause", "join_elimination",
    "join_filter_pushdown", "late_materialization", "limit_pushdown", "outer_join_simplification",
    "partial_aggregate_pushdown", "partitioned_execution", "projection_placement", "projection_pullup",
    "redundant_order_keys", "regex_range", "remote_pushdown", "reorder_filter", "row_group_pruner", "sampling_pushdown",
    "scalar_fn_pushdown", "self_join_aggregate", "statistics_propagation", "top_n_window_elimination", "type_pushdown",
    "window_rewriter", "window_self_join",
}  # fmt: skip


@contextmanager
def planned_for_few_rows(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Plan the queries of all connections to this instance without what pays for many rows only."""
    if not _disabled:
        _disabled.extend(sorted(_FOR_MANY_ROWS & set(optimizers(connection))))
    with without_optimizers(connection, _disabled):
        yield


_disabled: list[str] = []


@contextmanager
def without_optimizers(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> Iterator[None]:
    """Plan the queries of all connections to this instance without these optimizers, which this version of DuckDB must have."""
    run(connection, f"SET disabled_optimizers = '{','.join(names)}'")
    try:
        yield
    finally:
        with suppress(duckdb.ConnectionException):  # Closed meanwhile, so that the work ends.
            run(connection, "RESET disabled_optimizers")


@contextmanager
def keeping_order(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let joins give the rows in the order of their left side.

    DuckDB may join the other way round only to save time, and of a join of more than 122,880 rows its threads give parts in any
    order.
    """
    ((threads,),) = run(connection, "SELECT current_setting('threads')").fetchall()
    with without_optimizers(connection, ("join_order", "build_side_probe_side")):
        run(connection, "SET threads = 1")
        try:
            yield
        finally:
            with suppress(duckdb.ConnectionException):
                run(connection, f"SET threads = {threads}")


def optimizers(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the optimizers that DuckDB has."""
    return [name for (name,) in run(connection, "SELECT name FROM duckdb_optimizers()").fetchall()]


def _leave_to_the_parent() -> None:
    _of_parents.append(dict(_idle))
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_the_parent)


def _prepare(connection: duckdb.DuckDBPyConnection, variables: Variables | None = None) -> None:
    """Set on a connection or a cursor the settings and variables that it does not inherit."""
    # DuckDB makes an ASOF join of few rows a nested loop; but behind filters it takes a million rows for few.
    run(connection, "SET asof_loop_join_threshold = 0")
    run(connection, "SET TimeZone = 'UTC'")
    run(connection, "SET python_enable_replacements = false")
    # In Jupyter without ipywidgets the bar is off, and DuckDB refuses this setting.
    if run(connection, "SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        connection.execute("SET enable_progress_bar = false")
    # A variable that is not set is NULL.
    set_variables(connection, {name: one for name, one in {**_DEFAULTS, **(variables or {})}.items() if one is not None})


def set_variables(connection: duckdb.DuckDBPyConnection, variables: Variables) -> None:
    """Set variables that the SQL reads with getvariable()."""
    for name, value in variables.items():
        cast = "::VARCHAR[]" if value == [] else ""
        run(connection, f"SET VARIABLE {quote(name)} = $value{cast}", {"value": value})


def cursor_of(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Open a second connection to the same database, for another thread, with the settings and variables of the first.

    Names of tables mean the same in both.
    """
    values = ", ".join(f"getvariable({quote_text(name)})" for name in _DEFAULTS)
    ((search_path, *row),) = connection.execute(f"SELECT current_setting('search_path'), {values}").fetchall()
    cursor = connection.cursor()
    _prepare(cursor, dict(zip(_DEFAULTS, row, strict=True)))
    run(cursor, f"SET search_path = {quote_text(search_path)}")
    return cursor


def parquet_rows(files: Iterable[Path]) -> str:
    """Return the SQL after FROM that reads exactly these Parquet files, and exactly the columns in them."""
    names = ", ".join(quote_path(file) for file in files)
    return f"read_parquet([{names}], union_by_name = true, hive_partitioning = false)"


def quote_path(path: Path) -> str:
    """Quote the path of a file for DuckDB to read, where `run[1]` would be a pattern. A file to write takes quote_text().

    Raises InputError for a path that cannot be quoted: one with a backslash and a character of patterns.
    """
    text = str(path)
    has_signs = any(sign in text for sign in "[*?")
    if has_signs and os.sep != "\\" and "\\" in text:
        raise InputError(f"{path}: a path with a backslash and one of [ * ? cannot be read; rename the folder", path=path)
    return quote_text(re.sub(r"[\[*?]", r"[\g<0>]", text) if has_signs else text)
