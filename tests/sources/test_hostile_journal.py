"""A journal beside a database can name another file, which SQLite deletes once it has applied the journal."""

import shutil
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import Result

from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

Command = Callable[..., Result]


def write_journal(database: Path, names: Path) -> None:
    """Leave the journal of a writer that was killed beside a database, and the name of another file at its end."""
    other = database.with_name("copy.db")
    shutil.copy(database, other)
    with closing(sqlite3.connect(other, isolation_level=None)) as writer:
        writer.execute("CREATE TABLE IF NOT EXISTS filler (x)")
        writer.execute("INSERT INTO filler SELECT zeroblob(3000) FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8))")
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.execute("UPDATE filler SET x = randomblob(3000)")
        shutil.copy(other, database)
        journal = other.with_name("copy.db-journal").read_bytes()
    other.unlink()
    (page_size,) = struct.unpack(">I", journal[24:28])
    name = str(names).encode()
    ending = struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
    lock_page = struct.pack(">I", 0x40000000 // page_size + 1)
    database.with_name(f"{database.name}-journal").write_bytes(journal + lock_page + name + ending)


def simple(folder: Path) -> Path:
    ops = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)
    write_profile(folder / "0_ascend_pt", ops, (Range("Net", 100, 200),), rank=0)
    (database,) = folder.rglob("*.db")
    return database


def test_a_journal_that_names_a_file_deletes_it_in_sqlite(tmp_path: Path) -> None:
    """What the other tests are about; where this fails, SQLite has been mended."""
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "a.db")) as made:
        made.execute("CREATE TABLE a (x)")
    write_journal(tmp_path / "a.db", mine)
    with closing(sqlite3.connect(tmp_path / "a.db")) as reader:
        reader.execute("SELECT * FROM a").fetchall()
    assert not mine.exists()


def test_a_profile_with_such_a_journal_is_refused_and_the_file_stays(tmp_path: Path, command: Command) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    database = simple(tmp_path / "profile")
    write_journal(database, mine)
    result = command("module-stats", tmp_path / "profile")
    assert result.exit_code == 2
    named = says(database, "journal names another file", "delete", f"remove {database.name}-journal")
    assert named in result.stderr.splitlines()
    assert mine.read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_an_export_beside_such_a_journal_is_refused_and_the_file_stays(tmp_path: Path, command: Command) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("mine", encoding="utf-8")
    simple(tmp_path / "profile")
    assert command("module-stats", tmp_path / "profile", "--export-type", "db").exit_code == 0
    written = tmp_path / "profile" / "cluster_analysis_output" / "cluster_analysis.db"
    write_journal(written, mine)
    result = command("module-stats", tmp_path / "profile", "--export-type", "db")
    assert result.exit_code == 3
    assert says(written, "journal names another file", "delete") in result.stderr.splitlines()
    assert mine.read_text(encoding="utf-8") == "mine"
