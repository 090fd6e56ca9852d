"""Reading SQLite: every cell is exact or counted as unknown, the file is never changed, and a bad file is one clear error."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from prof_analysis.common.errors import InputError
from prof_analysis.sources.readers.sqlite_cell import Cell
from prof_analysis.sources.readers.sqlite_file import copy_table, open_sqlite, query
from prof_analysis.sources.readers.sqlite_ranges import ranges_of
from tests.helpers.empty_database import empty_database
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import edit
from tests.helpers.tables import SAMPLE_DATABASE

NOW = 1_700_000_000_000_000_123  # a time in ns: float64 knows only every 256th


def read(path: Path, **types: str) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    """Read columns of table T as these types: the rows, and how many values were not of the type."""
    with open_sqlite(path, {"T"}) as file, empty_database() as connection:
        cells = [Cell(name, type_, name, file.tables["T"][name]) for name, type_ in types.items()]
        rejected = copy_table(connection, file, "T WHERE true", cells, "target")
        return connection.execute("FROM target").fetchall(), rejected


def write(path: Path, declaration: str, *rows: tuple[object, ...]) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE T ({declaration})")
        if rows:
            database.executemany(f"INSERT INTO T VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return path


def digest(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


@pytest.mark.parametrize("declared", quick(["INTEGER", "TEXT", "NUMERIC", "BIGINT", ""], 1, 2, 4))
def test_times_are_exact_however_they_are_declared(tmp_path: Path, declared: str) -> None:
    path = write(tmp_path / "a.db", f"n {declared}", (NOW,), (NOW + 1,), (0,), (2**63 - 1,))
    assert read(path, n="BIGINT") == ([(NOW,), (NOW + 1,), (0,), (2**63 - 1,)], {})


def test_numbers_as_text_are_exact(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n TEXT", (str(NOW),), (str(NOW + 1),), ("7",), ("-7",), ("0",), (str(2**63 - 1),))
    assert read(path, n="BIGINT") == ([(NOW,), (NOW + 1,), (7,), (-7,), (0,), (2**63 - 1,)], {})


ODD_TEXTS = ["12.5", f"{NOW}.9", "0x10", "1_000", "1e3", "+7", " 12 ", "007", "abc", "", str(2**63)]


def test_texts_that_are_no_plain_numbers_are_unknown_and_counted(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(len(ODD_TEXTS))]
    others = ["3"] * len(names)
    path = write(tmp_path / "a.db", ", ".join(f"{name} TEXT" for name in names), tuple(ODD_TEXTS), tuple(others))
    rows = [(None,) * len(names), (3,) * len(names)]
    assert read(path, **dict.fromkeys(names, "BIGINT")) == (rows, dict.fromkeys(names, 1))


@pytest.mark.slow
@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.parametrize("other", ["3", None])
def test_a_text_that_is_no_plain_number_is_unknown_and_counted(tmp_path: Path, text: str, other: str | None) -> None:
    path = write(tmp_path / "a.db", "n TEXT", (text,), (other,))
    assert read(path, n="BIGINT") == ([(None,), (other and int(other),)], {"n": 1})


def test_one_blob_among_numbers_as_text_costs_only_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n TEXT, other INTEGER", (1, 10), (b"12", 20), (NOW, 40))
    assert read(path, n="BIGINT", other="BIGINT") == ([(1, 10), (None, 20), (NOW, 40)], {"n": 1})


def test_what_is_no_text_is_unknown_and_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "id INTEGER, t", (1, "one"), (2, 2), (3, b"three"), (4, 4.5), (5, None), (6, "six"))
    expected = [(1, "one"), (2, None), (3, None), (4, None), (5, None), (6, "six")]
    assert read(path, id="BIGINT", t="VARCHAR") == (expected, {"t": 3})


@pytest.mark.parametrize("first", ["ascii", "最后"])
def test_a_text_cut_inside_a_character_is_mended_wherever_it_stands(tmp_path: Path, first: str) -> None:
    path = write(tmp_path / "a.db", "id INTEGER, t TEXT", (1, first))
    edit(path, "INSERT INTO T VALUES (2, CAST(x'E8AEADE7' AS TEXT)), (3, CAST(x'61FF62' AS TEXT))")
    assert read(path, id="BIGINT", t="VARCHAR") == ([(1, first), (2, "训\ufffd"), (3, "a\ufffdb")], {})


def test_a_table_of_an_unknown_kind_beside_those_that_are_read_is_no_matter(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER", (1,))
    virtual = "CREATE VIRTUAL TABLE vt USING nomodule(x)"
    edit(path, f"PRAGMA writable_schema=ON; INSERT INTO sqlite_master VALUES ('table', 'vt', 'vt', 0, '{virtual}')")
    assert read(path, n="BIGINT") == ([(1,)], {})


def test_nothing_is_null_and_not_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER, m TEXT, t TEXT", (None, None, None), (1, "2", "x"), (None, None, None))
    expected = [(None, None, None), (1, 2, "x"), (None, None, None)]
    assert read(path, n="BIGINT", m="BIGINT", t="VARCHAR") == (expected, {})


@pytest.mark.parametrize("declared", quick(["INTEGER", "TEXT", ""], 0))
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("abc", id="text"),
        pytest.param("12abc", id="text that begins with a number"),
        pytest.param("99999999999999999999", id="text beyond 64 bits"),
        pytest.param("9223372036854775808", id="text just beyond 64 bits"),
    ],
)
def test_what_is_no_number_is_unknown_and_counted(tmp_path: Path, declared: str, odd: object) -> None:
    path = write(tmp_path / "a.db", f"n {declared}, other INTEGER", (1, 10), (odd, 20), (None, 30), (NOW, 40))
    expected = [(1, 10), (None, 20), (None, 30), (NOW, 40)]
    assert read(path, n="BIGINT", other="BIGINT") == (expected, {"n": 1})


@pytest.mark.parametrize("declared", ["INTEGER", ""])
def test_bytes_where_a_number_belongs_are_unknown_and_counted(tmp_path: Path, declared: str) -> None:
    path = write(tmp_path / "a.db", f"n {declared}, other INTEGER", (1, 10), (b"12", 20), (NOW, 40))
    assert read(path, n="BIGINT", other="BIGINT") == ([(1, 10), (None, 20), (NOW, 40)], {"n": 1})


@pytest.mark.parametrize("declared", quick(["REAL", "NUMERIC", "INTEGER", ""], 0, 1, 3))
def test_a_real_counts_when_it_is_surely_an_integer(tmp_path: Path, declared: str) -> None:
    """In a REAL column only: elsewhere SQLite itself makes an integer of an integral real."""
    path = write(tmp_path / "a.db", f"n {declared}", (5.0,), (-7.0,), (5.5,), (float("inf"),), (float(2**53 - 1),))
    assert read(path, n="BIGINT") == ([(5,), (-7,), (None,), (None,), (2**53 - 1,)], {"n": 2})


def test_a_real_beyond_what_it_can_hold_exactly_is_unknown(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n REAL", (float(2**53),), (float(NOW),), (3.0,))
    assert read(path, n="BIGINT") == ([(None,), (None,), (3,)], {"n": 2})


def test_bytes_that_are_not_utf8_are_replaced_and_the_rest_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "id INTEGER, t TEXT", (1, "good"))
    edit(path, "INSERT INTO T VALUES (2, CAST(x'61FF62' AS TEXT)), (3, '最后')")
    assert read(path, id="BIGINT", t="VARCHAR") == ([(1, "good"), (2, "a\ufffdb"), (3, "最后")], {})


def test_an_odd_cell_far_behind_the_first_batch_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER", *[(n,) for n in range(70_000)], ("odd",))
    rows, rejected = read(path, n="BIGINT")
    assert rows == [*((n,) for n in range(70_000)), (None,)]
    assert rejected == {"n": 1}


@pytest.mark.parametrize("at_once", quick([8, 3, 1], 1))
@pytest.mark.parametrize("odd", quick([NOW, "odd", "12", 4.5, b"12", None], 0, 1, 2))
def test_ranges_of_rows_come_in_the_order_of_the_file(tmp_path: Path, odd: object, at_once: int) -> None:
    """Six rows with ids up to 4,000,000: ranges without rows, one with NULL alone, and an odd cell in the last one."""
    path = write(tmp_path / "a.db", "n INTEGER, m TEXT")
    times = [str(NOW + n) for n in range(6)]
    rows = [
        (-5, 50, times[0]),
        (1, 10, times[1]),
        (1_000_000, None, None),
        (2_000_001, 20, times[3]),
        (3_999_999, 30, times[4]),
    ]
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany("INSERT INTO T (rowid, n, m) VALUES (?, ?, ?)", [*rows, (4_000_000, odd, times[5])])
    cells = [Cell("n", "BIGINT", "n", "INTEGER"), Cell("m", "BIGINT", "m", "TEXT")]
    with open_sqlite(path, {"T"}) as file, empty_database(threads=2) as connection:
        ranges = ranges_of(file, "T", at_once)
        assert [len(group) for group in ranges] == {8: [8], 3: [3, 3, 2], 1: [1] * 8}[at_once]
        rejected = copy_table(connection, file, "T WHERE true", cells, "target", ranges)
        found = connection.execute("SELECT rowid, n, m FROM target").fetchall()
    read_as = odd if isinstance(odd, int) else 12 if odd == "12" else None
    expected = [*((n, m and int(m)) for _, n, m in rows), (read_as, NOW + 5)]
    assert [row[1:] for row in found] == expected
    assert rejected == ({"n": 1} if odd not in (NOW, "12", None) else {})
    if odd == NOW:  # Nothing was read anew, and the rows have the numbers that they have without ranges.
        assert [row[0] for row in found] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "declaration", ["n INTEGER PRIMARY KEY)", "n INTEGER, rowid TEXT)", "n TEXT PRIMARY KEY) WITHOUT ROWID"]
)
def test_a_table_whose_row_ids_are_no_numbers_of_rows_is_one_range(tmp_path: Path, declaration: str) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE T ({declaration}")
        database.execute("INSERT INTO T (n) VALUES (4000000)")
    with open_sqlite(path, {"T"}) as file:
        assert ranges_of(file, "T", 2) == [["true"]]


def test_a_table_without_rows_keeps_its_types(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER, m TEXT, t TEXT")
    with open_sqlite(path, {"T"}) as file, empty_database() as connection:
        cells = [Cell("n", "BIGINT", "n", "INTEGER"), Cell("m", "BIGINT", "m", "TEXT"), Cell("t", "VARCHAR", "t", "TEXT")]
        assert copy_table(connection, file, "T WHERE true", cells, "target") == {}
        described = connection.execute("DESCRIBE target").fetchall()
    assert [row[:2] for row in described] == [("n", "BIGINT"), ("m", "BIGINT"), ("t", "VARCHAR")]


def test_column_names_of_any_kind_can_be_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", '"a ""b"" %" INTEGER, "select" INTEGER', (1, 2))
    assert read(path, **{'a "b" %': "BIGINT", "select": "BIGINT"}) == ([(1, 2)], {})


@pytest.mark.parametrize(
    "name", quick(['it\'s #1?x=y&100%25 "b" 空 格;.db', "it's.db", 'a "b".db', "100% 50%25.db", "a#b.db", "空 格.db"], 0)
)
def test_a_path_of_any_kind_can_be_read(tmp_path: Path, name: str) -> None:
    folder = tmp_path / f"in {name}"
    folder.mkdir()
    path = write(folder / name, "n INTEGER", (NOW,))
    assert read(path, n="BIGINT") == ([(NOW,)], {})
    assert [file.name for file in folder.iterdir()] == [name]


@pytest.mark.parametrize(
    "made",
    ["CREATE VIRTUAL TABLE T USING fts5(n)", "CREATE VIEW T AS SELECT 1 AS n", "create\nvirtual table T using rtree(n, a, b)"],
)
def test_a_table_that_would_run_what_its_author_wrote_is_not_read(tmp_path: Path, made: str) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(made)
        database.execute("CREATE TABLE other (n INTEGER)")
    with open_sqlite(path, {"T", "other"}) as file:
        assert file.tables.keys() == {"other"}


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_a_database_in_another_encoding_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"PRAGMA encoding = '{encoding}'")
        database.execute("CREATE TABLE T (n TEXT)")
    with pytest.raises(InputError, match=f"holds its texts in {encoding}.*UTF-8"), open_sqlite(path, {"T"}):
        pass


def test_rows_in_a_write_ahead_log_are_read_and_no_file_is_touched(tmp_path: Path) -> None:
    path = write(tmp_path / "it's #1.db", "n INTEGER", (1,))
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("PRAGMA wal_autocheckpoint = 0")
        writer.execute("INSERT INTO T VALUES (2)")
        writer.commit()
        before = digest(tmp_path)
        assert f"{path.name}-wal" in before
        assert read(path, n="BIGINT") == ([(1,), (2,)], {})
        assert digest(tmp_path) == before


def test_a_transaction_that_was_cut_off_is_rolled_back_in_a_copy(tmp_path: Path) -> None:
    """What a writer that was killed leaves: half its rows in the file, and a journal that takes them back."""
    working = tmp_path / "working"
    working.mkdir()
    path = write(working / "a.db", "n INTEGER", *[(n,) for n in range(1000)])
    killed = tmp_path / "killed"
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.execute("UPDATE T SET n = -1")
        shutil.copytree(working, killed)
        writer.rollback()
    before = digest(killed)
    assert sorted(before) == ["a.db", "a.db-journal"]
    assert read(killed / "a.db", n="BIGINT") == ([(n,) for n in range(1000)], {})
    assert digest(killed) == before


def test_a_file_that_changes_while_it_is_read_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER", (1,))
    with pytest.raises(InputError) as raised, open_sqlite(path, {"T"}):
        edit(path, "INSERT INTO T VALUES (2)")
    assert str(raised.value) == says(path, "changed while it was read", "wait")


def test_a_file_that_vanishes_while_it_is_read_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER", (1,))
    with pytest.raises(InputError) as raised, open_sqlite(path, {"T"}):
        path.unlink()
    assert str(raised.value) == says(f"{path}: ", "cannot be read", "No such file or directory")


@pytest.mark.parametrize("kept", [50, 1000, 4096, 5000, 40_000])
def test_a_truncated_file_is_one_error_that_names_it(tmp_path: Path, kept: int) -> None:
    path = write(tmp_path / "a.db", "n INTEGER, t TEXT", *[(n, "text " * 4) for n in range(3000)])
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(InputError) as raised:
        read(path, n="BIGINT", t="VARCHAR")
    assert str(raised.value).startswith(f"{path}: not a readable SQLite database (")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("lost", [1, 100, 1023, 1024, 1025, 100_000])
def test_a_database_without_its_last_bytes_is_cut_off(tmp_path: Path, lost: int) -> None:
    """SQLite reads what is missing of the last page as zeros: rows there would be lost, or wrong."""
    path = tmp_path / "a.db"
    path.write_bytes(SAMPLE_DATABASE.read_bytes()[:-lost])
    with pytest.raises(InputError) as raised, open_sqlite(path, None):
        pass
    why = f"it is cut off: its last {lost:,} bytes are missing" if lost < 1024 else "database disk image is malformed"
    assert str(raised.value) == (f"{path}: not a readable SQLite database ({why}); copy it again, or parse the profile again")


@pytest.mark.parametrize("page", [512, 65536])
def test_the_smallest_and_the_largest_page_are_known(tmp_path: Path, page: int) -> None:
    path = tmp_path / "a.db"
    edit(path, f"PRAGMA page_size = {page}; CREATE TABLE T (n INTEGER); INSERT INTO T VALUES (7)")
    assert read(path, n="BIGINT") == ([(7,)], {})
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match="cut off: its last 1 bytes"):
        read(path, n="BIGINT")


@pytest.mark.parametrize(("place", "old"), [(28, b"\0\0\0\0"), (92, b"\0\0\0\0")])
def test_the_number_of_pages_of_an_old_writer_is_not_believed(tmp_path: Path, place: int, old: bytes) -> None:
    """It left 0 pages, or those of a newer writer before it: whole pages are all that can be checked."""
    path = write(tmp_path / "a.db", "n INTEGER", *[(n,) for n in range(3000)])
    content = bytearray(path.read_bytes())
    content[place : place + 4] = old
    if place == 92:
        content[28:32] = (1000).to_bytes(4, "big")
    path.write_bytes(content)
    assert read(path, n="BIGINT") == ([(n,) for n in range(3000)], {})
    path.write_bytes(content[:-10])
    with pytest.raises(InputError, match="cut off: its last 10 bytes"):
        read(path, n="BIGINT")


def test_bytes_behind_the_last_page_cut_nothing_off(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER", (7,))
    with path.open("ab") as file:
        file.write(b"\0" * 100)
    assert read(path, n="BIGINT") == ([(7,)], {})


@pytest.mark.parametrize("content", [b"startNs,endNs\n1,2\n", b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 4080])
def test_a_file_of_another_kind_is_one_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised, open_sqlite(path, {"T"}):
        pass
    assert str(raised.value).startswith(f"{path}: not a readable SQLite database (")


def test_a_file_that_is_not_there_is_one_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised, open_sqlite(tmp_path / "a.db", {"T"}):
        pass
    assert str(raised.value) == says(f"{tmp_path / 'a.db'}: ", "cannot be read", "No such file or directory")


def test_views_are_no_tables(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "n INTEGER", (1,))
    edit(path, "CREATE VIEW TASK AS SELECT * FROM T; CREATE VIEW broken AS SELECT * FROM nowhere")
    with open_sqlite(path, {"T"}) as file:
        assert file.tables == {"T": {"n": "INTEGER"}}


def test_a_small_query_reads_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", "t TEXT")
    edit(path, "INSERT INTO T VALUES (CAST(x'FF' AS TEXT))")
    with open_sqlite(path, {"T"}) as file:
        assert query(file, "SELECT t FROM T") == [("\ufffd",)]
