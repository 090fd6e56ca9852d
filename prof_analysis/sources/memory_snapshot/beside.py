"""Stages the ops, modules and steps of the profile beside a snapshot: its trace tables are raw tables of the snapshot."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from prof_analysis.common.answer_options import USUAL
from prof_analysis.engine.building import build
from prof_analysis.engine.database import connect
from prof_analysis.engine.planning import make_plan
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.tables import documented_tables, shown_select, source_tables, store_view
from prof_analysis.sources.readers.event_tables import stored
from prof_analysis.sources.remarks import Remark

# What places a block: the ops, the ranges and calls that are modules, the queue through which ops reach the device, steps. And
# what a snapshot does not know: the memory of the device, and what else than its allocator holds it.
_TABLES = ("op", "range", "step", "module_begin", "forward_backward", "queue", "device_memory", "memory_usage")
COLUMNS: Mapping[str, Mapping[str, str]] = {
    f"raw.beside_{name}": {
        column.shown_name: "VARCHAR" if column.shown_type.startswith("ENUM") else column.shown_type
        for column in documented_tables()[f"trace.{name}"].columns
    }
    for name in _TABLES
}


def stage_beside(
    connection: duckdb.DuckDBPyConnection,
    files: Sequence[Path],
    wanted: Mapping[str, frozenset[str]],
    threads: int,
    on_bytes: Callable[[int], None],
) -> list[Remark]:
    """Stage the wanted columns of the tables of the profile in these files, empty without files. Returns its remarks."""
    if not files:
        for name, columns in wanted.items():
            _store(connection, name, columns, f"SELECT {_columns(name, columns, 'NULL')} WHERE false")
        return []
    from prof_analysis.sources import SOURCES

    source = next(one for one in SOURCES.values() if one.takes(files[0]))
    tables = [name.replace("raw.beside_", "trace.") for name in wanted]
    plan = make_plan(source.NAME, source.RAW_COLUMNS, tables)
    remarks: list[Remark] = []
    with closing(_another(connection, threads)) as other:

        def stage(columns: Mapping[str, frozenset[str]]) -> None:
            remarks.extend(source.stage(other, files, columns, threads, on_bytes))

        if staged := {**plan.raw_columns, **(plan.deferred_raw_columns if source.IS_READ_ONCE else {})}:
            stage(staged)
        build(other, source.NAME, plan, (lambda _: None) if source.IS_READ_ONCE else stage, kept=tables)
        known = source_tables(source.NAME, (), frozenset(source.RAW_COLUMNS))
        for name, columns in wanted.items():
            rows = other.sql(shown_select(known[name.replace("raw.beside_", "trace.")])).to_arrow_table()
            connection.register("_rows", rows)
            try:
                _store(connection, name, columns, f"SELECT {_columns(name, columns)} FROM _rows")
            finally:
                connection.unregister("_rows")
    return [Remark(one.place, tuple(wanted), one.sentence, None, False, one.many, one.count) for one in remarks]


def _another(connection: duckdb.DuckDBPyConnection, threads: int) -> duckdb.DuckDBPyConnection:
    """Open a database with the options and limits of this one."""
    names = list(USUAL.variables())
    ((memory, folder, *values),) = connection.execute(
        "SELECT current_setting('memory_limit'), current_setting('temp_directory'), "
        + ", ".join(f"getvariable('{name}')" for name in names)
    ).fetchall()
    other = connect(dict(zip(names, values, strict=True)), threads, Path(folder) if folder else None, macros=False)
    other.execute("SET memory_limit = $value", {"value": memory})
    return other


def _columns(name: str, columns: frozenset[str], value: str | None = None) -> str:
    kept = [(column, type_) for column, type_ in COLUMNS[name].items() if column in columns]
    return (
        ", ".join(f"{value or quote(column)}::{type_} AS {quote(column)}" for column, type_ in kept) or "NULL AS nothing_read"
    )


def _store(connection: duckdb.DuckDBPyConnection, name: str, columns: frozenset[str], query: str) -> None:
    connection.execute(f"CREATE TABLE {stored(name)} AS {query}")
    store_view(connection, name, COLUMNS[name], columns)
