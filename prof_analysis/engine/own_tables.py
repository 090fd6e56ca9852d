"""Reads the tables of a user: a folder like sql/, DIR/<schema>/<table>.sql, under the same rules as our tables."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb

from prof_analysis.common.errors import InputError, QueryError, reason_of
from prof_analysis.engine.database import connect
from prof_analysis.engine.gathering import is_gathered
from prof_analysis.engine.heads import A_HEAD, read_head
from prof_analysis.engine.macros import create_macros
from prof_analysis.engine.parsing import ALLOW, reads_files, referenced_tables
from prof_analysis.engine.quotes import quote
from prof_analysis.engine.sentences import without_condition
from prof_analysis.engine.table_file import TEXT_ID, WARNING, Table, read_table
from prof_analysis.engine.tables import all_tables, create_schemas, documented_tables, in_building_order

_NAME = re.compile(r"[a-z][a-z0-9_]*")
# Schemas of the engine, of sources and of logs.
_RESERVED = {
    "raw", "trace", "stored", "sources", "macros", "vllm", "main", "temp", "system", "memory", "lent", "recurring",
    "information_schema", "pg_catalog",
}  # fmt: skip
# Grain of a table -> the grains of the tables that it may read.
_MADE_OF = {"rank": ("rank",), "job": ("rank", "job"), "runs": ("rank", "job", "runs")}
# Grain of a reader -> the columns in front of those of a table of ranks that it reads.
_IN_FRONT = {"rank": (), "job": ("profile VARCHAR", "rank_id INTEGER"), "runs": ("profile VARCHAR", "rank_id INTEGER")}
_IN_GRAIN = {
    "rank": "of each rank",
    "job": "over ranks (across/, advice/)",
    "runs": "over runs (runs/)",
    "log": "of logs (vllm/)",
}


def read_own_tables(folder: Path, allow_files: bool = False) -> tuple[Table, ...]:
    """Read the tables in a folder, in building order; they may read files of this machine where that is allowed.

    Raises InputError, which names the file, for one that cannot be a table next to ours.
    """
    with _naming(folder):
        return _read_own_tables(folder, allow_files)


def _read_own_tables(folder: Path, allow_files: bool) -> tuple[Table, ...]:
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give one that holds <schema>/<table>.sql")
    # What editors and notebooks leave beside a file is hidden.
    found = [file for file in folder.rglob("*.sql") if not any(part.startswith(".") for part in file.relative_to(folder).parts)]
    files = sorted(file for file in found if not file.name.endswith(WARNING))
    for file in sorted(found):
        table_file = file.with_name(f"{file.name.removesuffix(WARNING)}.sql")
        if file.name.endswith(WARNING) and table_file not in files:
            raise InputError(f"{file}: there is no table {table_file} that it could warn of; rename one of them", path=file)
    if not files:
        raise InputError(f"{folder}: holds no table; a table is a file <schema>/<table>.sql in it")
    tables: dict[str, Table] = {}
    file_of: dict[str, Path] = {}
    for file in files:
        with _naming(file):
            table = _read(file, folder)
        tables[table.name], file_of[table.name] = table, file
    known = all_tables(tuple(tables.values()))
    for name, table in tables.items():
        with _naming(file_of[name]):
            _check_needs(file_of[name], table, known)
            _check_files(file_of[name], table, allow_files)
            _check_gathered(file_of[name], known[name])
    try:
        order = tuple(name for name in in_building_order(known, tables) if name in tables)
    except ValueError as error:
        raise InputError(f"{folder}: {error}; a table can only read tables that are made before it") from error
    for name in order:
        with _naming(file_of[name]):
            _check_columns(file_of[name], tables[name], known)
            if tables[name].said:
                _check_columns(file_of[name], known[name], known)
                _check_queries(file_of[name], known)
        if tables[name].warning is not None:
            with _naming(beside := file_of[name].with_suffix(WARNING)):
                _check_warning(beside, tables[name])
    return tuple(tables[name] for name in order)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors have the path that their text names."""
    try:
        yield
    except InputError as error:
        error.path = error.path or path
        raise


def _read(file: Path, folder: Path) -> Table:
    if file.parent.parent != folder:
        raise InputError(f"{file}: a table is a file <schema>/<table>.sql in {folder}; move it into a folder of its schema")
    schema, name = file.parent.name, f"{file.parent.name}.{file.stem}"
    if not _NAME.fullmatch(schema) or not _NAME.fullmatch(file.stem):
        raise InputError(
            f"{file}: a schema and a table have names of small letters, digits and _; rename the file or its folder"
        )
    if schema in _RESERVED:
        raise InputError(f"{file}: the schema {schema} is the engine's own; give the folder another name")
    if name in documented_tables():
        raise InputError(f"{file}: there is already a table {name}, which other tables read; give the file another name")
    try:
        table = read_table(file)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({reason_of(error)})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: is not UTF-8 text; save it as UTF-8") from error
    except ValueError as error:
        raise InputError(str(error)) from error
    if not table.columns or not table.summary:
        raise InputError(f"{file}: its head documents no column; {A_HEAD}")
    # Its SELECT goes between parentheses: without a semicolon, and a comment at its end must not swallow the closing one.
    warning = table.warning and f"{table.warning.rstrip(';')}\n"
    table = replace(table, body=f"{table.body.rstrip().rstrip(';')}\n", warning=warning)
    try:
        referenced_tables(table.body)
        referenced_tables(f"FROM ({table.body})")
        referenced_tables(f"FROM {name}")
    except QueryError as error:
        raise InputError(f"{file}: {error}; below its head a file is one SELECT, and its name is not a word of SQL") from error
    return table


def _check_needs(file: Path, table: Table, known: Mapping[str, Table]) -> None:
    for need in sorted(table.read):
        if need not in known:
            raise InputError(f"{file}: reads {need}, which does not exist; `prof-analysis tables` lists what there is")
        if known[need].grain not in _MADE_OF[table.grain]:
            raise InputError(
                f"{file}: is {_IN_GRAIN[table.grain]} and reads {need}, which is {_IN_GRAIN[known[need].grain]}; a table "
                "reads tables of each rank, one in across/ or advice/ also tables over ranks, one in runs/ also those over runs"
            )
    names = [column.shown_name for column in table.columns]
    in_front = {"rank": {"run", "profile", "rank_id"}, "job": {"run"}}.get(table.grain, set())
    if taken := sorted(in_front & set(names)):
        raise InputError(f"{file}: has a column {taken[0]}, which every such table gets in front; leave it out")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{file}: its head documents the column {twice[0]} twice; rename one of them")
    if table.grain != "rank" and any(column.type == TEXT_ID for column in table.columns):
        raise InputError(f"{file}: a table over ranks sees texts, not their ids; declare VARCHAR in place of {TEXT_ID}")


def _check_files(file: Path, table: Table, allow_files: bool) -> None:
    if not reads_files(table.body):
        return
    if table.grain == "rank":
        raise InputError(
            f"{file}: reads a file, and the kept table of a rank would not follow its changes; read the file in a "
            "table over ranks (across/), or in the query"
        )
    if not allow_files:
        raise InputError(f"{file}: reads files of this machine; {ALLOW}")


def _check_gathered(file: Path, table: Table) -> None:
    """Check that a table in a folder whose tables are gathered is one of those that are."""
    folder = file.parent.name
    ours = documented_tables()
    for gathering in (ours[name] for name in ours if name.startswith(f"{folder}.")):
        if gathering.gathers == folder and not is_gathered(table, gathering):
            raise InputError(
                f"{file}: is no rule, and {gathering.name} gathers the tables of this folder; write @title, @evidence, @kind "
                "and @remedy into its head, or move it into another folder"
            )


def _check_columns(file: Path, table: Table, known: Mapping[str, Table]) -> None:
    """Check that the head has the columns that the SELECT gives, on empty tables."""
    with connect(threads=1, macros=False) as connection:
        create_macros(connection, table.body)
        create_schemas(connection, table.needs)
        for need in table.needs:
            connection.execute(f"CREATE TABLE {need} ({', '.join(_columns_of(known[need], table))})")
        try:
            found = [row[:2] for row in connection.execute(f"DESCRIBE FROM ({table.body})").fetchall()]
            wanted = [(column.name, _spelled(connection, column.stored_type)) for column in table.columns]
        except duckdb.Error as error:
            raise InputError(
                f"{file}: its SELECT cannot be run ({reason_of(error)}); `prof-analysis tables NAME` documents columns"
            ) from error
    if found != wanted:
        raise InputError(
            f"{file}: its head says {_spelled_out(wanted)}, its SELECT gives {_spelled_out(found)}; make them the same"
        )


def _check_queries(file: Path, known: Mapping[str, Table]) -> None:
    """Check that the queries of a rule, which show its evidence, read tables that there are."""
    for directive in read_head(file, file.read_text(encoding="utf-8-sig")).all("query"):
        try:
            read = referenced_tables(without_condition(directive.value))
        except QueryError as error:
            raise InputError(str(directive.error(f"{error}; write one SELECT"))) from error
        if missing := sorted(read - known.keys()):
            raise InputError(str(directive.error(f"there is no table {missing[0]}; `prof-analysis tables` lists all")))


def _check_warning(file: Path, table: Table) -> None:
    """Check a warning on an empty table."""
    assert table.warning is not None
    try:
        if others := sorted(referenced_tables(table.warning) - {table.name}):
            raise InputError(f"{file}: reads {others[0]}; a warning can only read its own table, {table.name}")
        if reads_files(table.warning):
            raise InputError(f"{file}: reads a file; a warning can only read its own table, {table.name}")
        with connect(threads=1, macros=False) as connection:
            create_macros(connection, table.warning)
            create_schemas(connection, [table.name])
            in_front = ("profile VARCHAR", "rank_id INTEGER") if table.grain == "rank" else ()
            shown = (f"{quote(column.shown_name)} {column.shown_type}" for column in table.columns)
            connection.execute(f"CREATE TABLE {table.name} ({', '.join((*in_front, *shown))})")
            found = [row[:2] for row in connection.execute(f"DESCRIBE FROM ({table.warning})").fetchall()]
    except (QueryError, duckdb.Error) as error:
        raise InputError(f"{file}: cannot be run ({reason_of(error)}); it is one SELECT on {table.name}") from error
    if [name for name, _ in found] != ["profile", "severity", "sentence"] or found[-1][1] != "VARCHAR":
        raise InputError(f"{file}: gives {_spelled_out(found)}; give the texts profile, severity and sentence")


def _columns_of(need: Table, reader: Table) -> Iterable[str]:
    """Yield the columns of a table as its reader sees them: inside a rank with ids of texts, elsewhere as users see them."""
    if reader.grain == "runs" and need.grain != "runs":
        yield "run VARCHAR"
    if need.grain == "rank":
        yield from _IN_FRONT[reader.grain]
    for column in need.columns:
        is_inside = reader.grain == "rank"
        name, type_ = (column.name, column.stored_type) if is_inside else (column.shown_name, column.shown_type)
        yield f"{quote(name)} {type_}"


def _spelled(connection: duckdb.DuckDBPyConnection, type_: str) -> str:
    """Return the type in the spelling of DuckDB."""
    row = connection.execute(f"SELECT typeof(NULL::{type_})").fetchone()
    return str(row[0]) if row else type_


def _spelled_out(columns: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {type_}" for name, type_ in columns)
