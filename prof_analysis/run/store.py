"""The store: an entry (a folder) per rank that keeps its tables as Parquet files for the next time.

The name of an entry has a digest of all that its tables depend on: the input files and the journals of databases, by path, size
and times of change, the SQL, and the code that stages. The name of a table has a digest of the options that its own SQL reads,
unless they have their defaults: so another --depth rebuilds only what depends on it. An entry is never stale; changed input has
another name. Files appear whole, so that several processes may use one store; what a killed process left, the next one removes.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import duckdb

from prof_analysis.engine.database import quote_path, quote_text
from prof_analysis.engine.statements import code_digest
from prof_analysis.engine.tables import Table
from prof_analysis.engine.variables import variables_read
from prof_analysis.errors import InputError, OutputError, reason_of, remedy_of
from prof_analysis.options import USUAL, Variables
from prof_analysis.scratch import temporary_folder
from prof_analysis.sources.rank import Rank, json_object
from prof_analysis.sources.readers.sqlite_file import sidecars_of

_ABOUT = "about.json"
_WARNINGS = "prof_analysis_warnings"
_SUFFIX = ".parquet"
_USUAL = USUAL.variables()


@dataclass(frozen=True)
class Entry:
    """An entry of the store: its rank, the names of its tables, their size, and whether the input is unchanged."""

    folder: Path
    profile: str
    inputs: tuple[str, ...]
    tables: tuple[str, ...]
    size_bytes: int
    is_current: bool


@dataclass(frozen=True)
class RankStore:
    """The folder of a rank's tables, with a file for each table and each set of values that the SQL of the table reads.

    The file of a user's own table also depends on the text of all of the user's tables.
    """

    folder: Path
    rank: Rank
    variables: Variables
    own: tuple[Table, ...] = ()

    def file(self, table: str) -> Path:
        """Return the file of a table, which has only the table's name if all values are defaults."""
        assert self.rank.source is not None
        read = sorted(variables_read(self.rank.source, table, self.own) & self.variables.keys() & _USUAL.keys())
        unusual: dict[str, object] = {name: self.variables[name] for name in read if self.variables[name] != _USUAL[name]}
        if any(table == one.name for one in self.own):
            unusual["own"] = [repr(one) for one in self.own]
        digest = f".{sha256(json.dumps(unusual, default=str).encode()).hexdigest()[:16]}" if unusual else ""
        return self.folder / f"{table}{digest}{_SUFFIX}"

    def lacking(self, tables: Iterable[str]) -> tuple[str, ...]:
        """Return the tables whose files are missing or damaged."""
        return tuple(table for table in tables if not _is_whole(self.file(table)))


def entry_folder(store: Path, rank: Rank) -> Path:
    """Return the folder of a rank, and create it if needed.

    Raises OutputError when it cannot be created.
    """
    identity = {
        "inputs": _identity(rank.inputs),
        "source": [rank.source, rank.device_id, rank.first_device_id],
        "shown": [rank.profile, rank.rank_id],
        "code": code_digest(),
    }
    digest = sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:24]
    folder = store / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', rank.profile)[-80:]}-{digest}"
    about = {"profile": rank.profile, "inputs": [str(file) for file in rank.inputs], "identity": identity["inputs"]}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / _ABOUT).exists():
            with temporary_folder(folder) as scratch:
                unfinished = scratch / _ABOUT
                unfinished.write_text(json.dumps(about, indent=1), encoding="utf-8")
                unfinished.replace(folder / _ABOUT)
    except OutputError:  # It already names the folder that cannot be made.
        raise
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be made ({reason_of(error)}); give --store a folder you may write to", path=folder
        ) from error
    return folder


def is_entry(folder: Path) -> bool:
    """Return whether a folder is that of a rank in a store, as entry_folder() made it."""
    return (folder / _ABOUT).is_file()


def entries(store: Path) -> Iterator[Entry]:
    """Yield the entries of a store, ordered by folder.

    Raises InputError when there is no such folder.
    """
    if not store.is_dir():
        raise InputError(f"{store}: there is no such folder; give the folder that --store had", path=store)
    for about_file in sorted(store.glob(f"*/{_ABOUT}")):
        about = json_object(about_file)
        files = [file for file in about_file.parent.rglob("*") if file.is_file()]
        inputs = tuple(str(file) for file in about.get("inputs", ()))
        yield Entry(
            about_file.parent,
            str(about.get("profile", "")),
            inputs,
            tuple(sorted({_table_of(file) for file in files if file.suffix == _SUFFIX and file.parent == about_file.parent})),
            sum(file.stat().st_size for file in files),
            about.get("identity") == _identity(map(Path, inputs)),
        )


def clear(store: Path) -> list[Entry]:
    """Remove the entries of a store, and nothing else below its folder; return them.

    Raises OutputError when one cannot be removed.
    """
    removed = list(entries(store))
    for entry in removed:
        try:
            rmtree(entry.folder)
        except OSError as error:
            raise OutputError(f"{entry.folder}: cannot be removed ({reason_of(error)})", path=entry.folder) from error
    return removed


def write_table(connection: duckdb.DuckDBPyConnection, rows: str, file: Path, warnings: Iterable[str], scratch: Path) -> None:
    """Write the rows of a query as a table, with its warnings. The file appears whole or not at all.

    `scratch` is a temporary folder beside the file. Raises OutputError when it cannot be written.
    """
    unfinished = scratch / file.name
    metadata = f"KV_METADATA {{{_WARNINGS}: {quote_text(json.dumps(list(warnings)))}}}"
    try:
        connection.execute(f"COPY ({rows}) TO {quote_text(str(unfinished))} (FORMAT parquet, {metadata})")
        unfinished.replace(file)
    except (duckdb.IOException, OSError) as error:
        remedy = remedy_of(error) or "; set TMPDIR to a larger disk"
        raise OutputError(
            f"{file.parent}: temporary files cannot be written ({reason_of(error)}){remedy}, or give --store a folder on one",
            path=file.parent,
        ) from error


def warnings_of(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> list[str]:
    """Return the warnings of these tables, each once, in the order of the files."""
    names = ", ".join(map(quote_path, files))
    rows = connection.execute(
        f"SELECT file_name, decode(value) FROM parquet_kv_metadata([{names}]) WHERE decode(key) = '{_WARNINGS}'"
    ).fetchall()
    of_file = dict(rows)
    return list(dict.fromkeys(warning for file in files for warning in json.loads(of_file.get(str(file), "[]"))))


def _table_of(file: Path) -> str:
    """Return the table that a file of an entry holds; the file's name is schema.table, with or without a digest."""
    return ".".join(file.name.split(".")[:2])


def _is_whole(file: Path) -> bool:
    """Return whether a Parquet file is whole: its description is at its end, so a cut or overwritten one is unreadable."""
    if not file.exists():  # The usual case, which needs no import.
        return False
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file):
            return True
    except (OSError, ValueError):
        return False


def _identity(files: Iterable[Path]) -> list[Any]:
    found: list[Any] = []
    for file in files:
        for one in (file, *(sidecars_of(file) if file.suffix == ".db" else ())):
            try:
                status = one.stat()
                found.append([str(one), status.st_size, status.st_mtime_ns, status.st_ctime_ns])
            except OSError:
                found.append([str(one), None, None, None])
    return found
