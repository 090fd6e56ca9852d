"""The store: an entry (a folder) per rank that keeps its tables as Parquet files for the next time.

The name of an entry has a digest of all that its tables depend on: the input files and the journals of databases, by path, size
and times of change, the SQL, and the code that stages. The name of a table has a digest of the options that its own SQL reads,
unless they have their defaults: so another --depth rebuilds only what depends on it. An entry is never stale; changed input has
another name. Files appear whole, so that several processes may use one store; what a killed process left, the next one removes.
Beside the tables, in a form for users, it keeps the warnings of each question, and in engine/ tables for other questions.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from prof_analysis.common.answer_options import USUAL, Variables
from prof_analysis.common.errors import OutputError, reason_of, remedy_of
from prof_analysis.common.input_files import SETTINGS_BYTES, opened, whole
from prof_analysis.common.scratch import temporary_folder
from prof_analysis.engine.code import code_digest
from prof_analysis.engine.database import quote_path
from prof_analysis.engine.statements import run
from prof_analysis.engine.table_file import Table
from prof_analysis.engine.variables import variables_read
from prof_analysis.sources.beside import is_told_beside
from prof_analysis.sources.rank import Rank
from prof_analysis.sources.readers.sqlite_file import sidecars_of

ABOUT = "about.json"
SUFFIX = ".parquet"
# The folder in an entry for tables of the engine.
ENGINE = "engine"
_ABOUT_ROWS = "prof_analysis"
# In the note of a table of a rank: how many rows it has.
ROW_COUNT = "row_count"
_USUAL = USUAL.variables()
# To look for dictionaries in columns of ids and times takes a third of the writing, and finds none.
_FORMAT = "FORMAT parquet, PARQUET_VERSION v2, COMPRESSION lz4, DICTIONARY_SIZE_LIMIT 1000, WRITE_BLOOM_FILTER false"


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
        return self.folder / f"{table}{digest}{SUFFIX}"

    def lacking(self, tables: Iterable[str]) -> tuple[str, ...]:
        """Return the tables whose files are missing or damaged."""
        return tuple(table for table in tables if not _is_whole(self.file(table)))

    def warnings(self, tables: Sequence[str]) -> list[str] | None:
        """Return the warnings of the question that these tables answer; None where it was not asked yet."""
        try:
            found = json.loads(whole(self._question(tables), SETTINGS_BYTES))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else None

    def keep_warnings(self, tables: Sequence[str], warnings: Sequence[str], scratch: Path) -> None:
        """Keep the warnings of the question that these tables answer. `scratch` is a temporary folder beside the tables."""
        file = self._question(tables)
        unfinished = scratch / file.name
        unfinished.write_text(json.dumps(warnings), encoding="utf-8")
        publish(unfinished, file)

    def _question(self, tables: Sequence[str]) -> Path:
        """Return the file for the warnings of the question that these tables answer."""
        names = json.dumps([self.file(table).name for table in tables])
        return self.folder / f"warnings.{sha256(names.encode()).hexdigest()[:16]}.json"


def entry_of(store: Path, rank: Rank) -> Path:
    """Return the folder of a rank in a store: another one where the input has changed."""
    identity = {
        "inputs": identity_of(rank.inputs),
        "source": [rank.source, rank.device_id, rank.first_device_id],
        "shown": [rank.profile, rank.rank_id, is_told_beside(rank)],
        "code": code_digest(),
    }
    digest = sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:24]
    return store / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', rank.profile)[-80:]}-{digest}"


def entry_folder(store: Path, rank: Rank, mode: int = 0o777) -> Path:
    """Return the folder of a rank, and create it if needed.

    Raises OutputError when it cannot be created.
    """
    folder = entry_of(store, rank)
    about = {"profile": rank.profile, "inputs": [str(file) for file in rank.inputs], "identity": identity_of(rank.inputs)}
    try:
        store.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode, exist_ok=True)
        if is_entry(folder):
            os.utime(folder / ABOUT)  # The time of its last use.
        else:
            with temporary_folder(folder) as scratch:
                unfinished = scratch / ABOUT
                unfinished.write_text(json.dumps(about, indent=1), encoding="utf-8")
                publish(unfinished, folder / ABOUT)
    except OutputError:  # It already names the folder that cannot be made.
        raise
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be made ({reason_of(error)}); give --cache a folder you may write to", path=folder
        ) from error
    return folder


def is_entry(folder: Path) -> bool:
    """Return whether a folder is that of a rank in a store, as entry_folder() made it."""
    return (folder / ABOUT).is_file()


def write_rows(
    connection: duckdb.DuckDBPyConnection, rows: str, file: Path, about: Mapping[str, Any], folder: Path, scratch: Path
) -> None:
    """Write the rows of a query into a Parquet file, with `about` as a note. The file appears whole or not at all.

    `folder` is the entry, `scratch` a temporary folder in it. Raises OutputError when the file cannot be written.
    """
    unfinished = scratch / file.name
    name = f"{folder.name}/{file.relative_to(folder).as_posix()}"
    note = json.dumps({**about, "name": name})
    try:
        # The same text for each rank: to parse it takes a twelfth of the time for a small table.
        copy = f"COPY ({rows}) TO $path ({_FORMAT}, KV_METADATA {{{_ABOUT_ROWS}: $note}})"
        run(connection, copy, {"path": str(unfinished), "note": note})
        publish(unfinished, file)
    except (duckdb.IOException, OSError) as error:
        remedy = remedy_of(error) or "; set TMPDIR to a larger disk"
        raise OutputError(
            f"{file.parent}: temporary files cannot be written ({reason_of(error)}){remedy}, or give --cache a folder on one",
            path=file.parent,
        ) from error


def about_rows(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """Return the note that write_rows() was given for each of these files.

    Files that it did not write, or not for this entry, are left out, and damaged ones.
    """
    if not files:
        return {}
    names = ", ".join(map(quote_path, files))
    try:
        found = connection.execute(
            f"SELECT file_name, decode(value) FROM parquet_kv_metadata([{names}]) WHERE decode(key) = '{_ABOUT_ROWS}'"
        ).fetchall()
    except duckdb.Error:  # One that is damaged or gone hides the others.
        return (
            {} if len(files) == 1 else {file: about for one in files for file, about in about_rows(connection, [one]).items()}
        )
    about = {Path(file): json.loads(text) for file, text in found}
    return {file: one for file, one in about.items() if file.as_posix().endswith(f"/{one.get('name')}")}


def publish(unfinished: Path, file: Path) -> None:
    """Give a whole file its name; nobody may read it who may not read its folder."""
    unfinished.chmod(unfinished.stat().st_mode & file.parent.stat().st_mode)
    unfinished.replace(file)


def _is_whole(file: Path) -> bool:
    """Return whether a Parquet file ends as one: a cut or overwritten one does not. Reading shows damage inside."""
    try:
        with opened(file) as content:
            size = content.seek(0, os.SEEK_END)
            content.seek(max(0, size - 8))
            length, mark = int.from_bytes(content.read(4), "little"), content.read()
            return mark == b"PAR1" and 12 <= length + 12 <= size
    except OSError:
        return False


def identity_of(files: Iterable[Path]) -> list[Any]:
    """Return the paths, sizes and times of change of files and of the journals beside databases."""
    found: list[Any] = []
    for file in files:
        for one in (file, *(sidecars_of(file) if file.suffix == ".db" else ())):
            try:
                status = one.stat()
                found.append([str(one), status.st_size, status.st_mtime_ns, status.st_ctime_ns])
            except OSError:
                found.append([str(one), None, None, None])
    return found


def digest_of(ranks: Iterable[Rank]) -> str:
    """Return a digest of ranks and their input files that stays where their folder is moved or its attributes change."""
    identity = [
        [rank.run, rank.profile, rank.rank_id, rank.source, rank.device_id, rank.first_device_id]
        + [[Path(path).name, size, changed] for path, size, changed, _ in identity_of(rank.inputs)]
        for rank in ranks
    ]
    return sha256(json.dumps(identity).encode()).hexdigest()[:24]
