"""Columns of a csv by their names, whoever wrote or re-saved it: every cell in its column, every line that is lost told."""

import codecs
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from prof_analysis import InputError
from prof_analysis.engine.database import connect
from prof_analysis.sources.ascend_text import csv_columns
from prof_analysis.sources.readers.csv_file import copy_columns
from tests.helpers.says import says

Row = tuple[str | None, ...]
Read = Callable[[bytes], tuple[list[Row], list[str]]]

COLUMNS = {
    "name": ("name",),
    "start": ("start time(us)",),
    "duration": ("duration(us)",),
    "block_num": ("block num", "block dim"),
    "shapes": ("input shapes",),
}
HEADER = b"Name,Start Time(us),Duration(us),Block Num,Input Shapes\r\n"
MATMUL = b'MatMul,1736413971558972.912\t,12.5,20,"""4096,4096;4096"""\r\n'
MATMUL_ROW: Row = ("MatMul", "1736413971558972.912", "12.5", "20", '"4096,4096;4096"')
RELU = b"Relu,1736413971558999.000\t,1.02,40,4096\r\n"
RELU_ROW: Row = ("Relu", "1736413971558999.000", "1.02", "40", "4096")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    connection = connect(threads=2)
    path = tmp_path_factory.mktemp("csv") / "kernel_details.csv"

    def read_back(content: bytes) -> tuple[list[Row], list[str]]:
        path.write_bytes(content)
        connection.execute("DROP TABLE IF EXISTS cell")
        warnings = copy_columns(connection, path, COLUMNS, "cell", {"shapes": csv_columns.DETAIL_LINES["input_shapes"]})
        rows = connection.execute("FROM cell ORDER BY row_number").fetchall()
        numbers = [row[0] for row in rows]
        assert numbers == sorted(set(numbers))
        return [row[1:] for row in rows], [warning.removeprefix(f"{path}: ") for warning in warnings]

    yield read_back
    connection.close()


@pytest.mark.parametrize("begin", [b"", codecs.BOM_UTF8], ids=["no BOM", "BOM"])
@pytest.mark.parametrize("line_end", [b"\r\n", b"\n", b"\r"])
def test_line_ends_and_a_byte_order_mark(begin: bytes, line_end: bytes, read: Read) -> None:
    content = (begin + HEADER + MATMUL + RELU).replace(b"\r\n", line_end)
    assert read(content) == ([MATMUL_ROW, RELU_ROW], [])


@pytest.mark.parametrize(
    "content",
    [
        HEADER.replace(b",", b"\t") + b'MatMul\t"1736413971558972.912\t"\t12.5\t20\t"""4096,4096;4096"""\n',
        HEADER.replace(b",", b";") + b'MatMul;1736413971558972.912\t;12.5;20;"""4096,4096;4096"""\n',
        b'"Name","Start Time(us)","Duration(us)","Block Num","Input Shapes"\n"MatMul"' + MATMUL[6:],
        b" Name ,Start  Time(us),DURATION(US), block num,Input Shapes \n"
        b' MatMul , 1736413971558972.912 ,12.5, 20,"""4096,4096;4096""" \n',
        b"Block Dim,Input Shapes,New,Name,Duration(us),,Start Time(us),Name\n"
        b'20,"""4096,4096;4096""",?,MatMul,12.5,,1736413971558972.912\t,second\n',
        b"Name,Start Time(us),Duration(us),Block Num,Input Shapes,,\n" + MATMUL.strip() + b",,\n\n\n",
    ],
    ids=["tabs", "semicolons", "quoted", "spaces", "other columns", "empty columns"],
)
def test_the_same_row_however_it_was_saved(content: bytes, read: Read) -> None:
    assert read(content) == ([MATMUL_ROW], [])


def test_what_is_not_there_is_null(read: Read) -> None:
    assert read(b"Name,Start Time(us)\nMatMul,1.0\n") == ([("MatMul", "1.0", None, None, None)], [])
    assert read(HEADER + b"N/A,NULL,,\t , N/A\n") == ([(None,) * 5], [])
    assert read(HEADER) == ([], [])


def test_rows_too_short_or_too_long(read: Read) -> None:
    content = HEADER + b"MatMul,1.0\r\n" + MATMUL.strip() + b",x,y\r\n" + RELU
    assert read(content) == ([("MatMul", "1.0", None, None, None), MATMUL_ROW, RELU_ROW], [])


def test_texts_are_only_texts(read: Read) -> None:
    names = ["=cmd|' /C calc'!A0", "'; DROP TABLE cell; --", "#name", "a\\", 'say "so"', "😀", "\x00", "n" * 100_000]
    lines = ['"' + name.replace('"', '""') + '",1.0,2.0,3,4\r\n' for name in names]
    rows = [(name, "1.0", "2.0", "3", "4") for name in names]
    assert read(HEADER + "".join(lines).encode()) == (rows, [])


@pytest.mark.parametrize("bad", [b"Mat\xffMul,1.0,2,3,4\r\n", b"n" * 5_000_000 + b",1.0,2,3,4\r\n"], ids=["bytes", "size"])
def test_a_line_that_cannot_be_read_is_told_and_costs_no_other(bad: bytes, read: Read) -> None:
    assert read(HEADER + MATMUL + RELU + bad + MATMUL) == (
        [MATMUL_ROW, RELU_ROW, MATMUL_ROW],
        [says("1 line cannot be read", "left out", "line 4")],
    )


@pytest.mark.parametrize("broken", [b'"Relu,1.0,2,3,4\r\n', b'Relu,1.0,2,3,"4\r\n'])
def test_a_quote_that_is_not_closed_is_told(broken: bytes, read: Read) -> None:
    rows, warnings = read(HEADER + MATMUL + broken + RELU + RELU)
    assert rows[0] == MATMUL_ROW
    assert warnings == [says("1 row", "several lines", "quote is not closed", "export it again")]


@pytest.mark.parametrize("size", [5, 20, 32, len(RELU) - 7])
def test_a_file_that_breaks_off_gives_its_whole_lines(size: int, read: Read) -> None:
    assert read(HEADER + MATMUL + RELU[:size]) == (
        [MATMUL_ROW],
        [says("breaks off", "left out", "may be missing", "copy it again")],
    )


WHOLE = says("no line end", "last row", "it is whole", "later rows")
DOUBTFUL = says("no line end", "last row", "cell may be cut", "unknown", "later rows")


@pytest.mark.parametrize(
    ("last", "row", "warning"),
    [
        (MATMUL.strip(), MATMUL_ROW, WHOLE),
        (RELU.strip() + b"\t", RELU_ROW, WHOLE),
        (RELU.strip(), (*RELU_ROW[:-1], None), DOUBTFUL),
        (RELU.strip() + b",,", RELU_ROW, WHOLE),
        (RELU.strip().replace(b"4096", b"N/A"), (*RELU_ROW[:-1], None), WHOLE),
        (RELU.strip().replace(b"4096", b""), (*RELU_ROW[:-1], None), WHOLE),
        (MATMUL.strip().replace(b",4096;", b",\r\n4096;"), (*MATMUL_ROW[:-1], '"4096,\r\n4096;4096"'), WHOLE),
    ],
    ids=["in quotes", "with a tab", "a number", "with empty cells", "nothing known", "empty", "of two lines"],
)
def test_a_csv_without_a_last_newline_keeps_its_last_row(last: bytes, row: Row, warning: Any, read: Read) -> None:
    assert read(HEADER + MATMUL + last) == ([MATMUL_ROW, row], [warning])


def test_a_last_cell_that_another_row_has_too_is_whole(read: Read) -> None:
    assert read(HEADER + RELU + MATMUL + RELU.strip()) == ([RELU_ROW, MATMUL_ROW, RELU_ROW], [WHOLE])


def test_a_last_line_that_cannot_be_read_costs_no_other(read: Read) -> None:
    assert read(HEADER + MATMUL + b"Mat\xffMul,1.0,2,3,4") == (
        [MATMUL_ROW],
        [says("1 line cannot be read", "left out", "line 3")],
    )


def test_a_cell_of_several_lines_is_no_open_quote(read: Read) -> None:
    lines = MATMUL.replace(b"4096;4096", b"4096;\r\n4096")
    row = (*MATMUL_ROW[:-1], '"4096,4096;\r\n4096"')
    assert read(HEADER + lines + RELU + lines) == ([row, RELU_ROW, row], [])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\r\n" + HEADER, "begins with an empty line"),
        (HEADER.decode().encode("utf-16"), "is UTF-16 text"),
        (codecs.BOM_UTF16_BE + HEADER.decode().encode("utf-16-be"), "is UTF-16 text"),
        (b'"' + b"n" * 200_000 + b'",Name\n', "its first line is not a header"),
    ],
)
def test_what_is_no_csv_is_one_error(content: bytes, says: str, read: Read) -> None:
    with pytest.raises(InputError, match=rf"kernel_details\.csv: {says}"):
        read(content)


def damage(seed: int) -> bytes:
    make, content = random.Random(seed), bytearray(HEADER + (MATMUL + RELU) * 10)
    for _ in range(make.choice([1, 1, 3, 30])):
        content[make.randrange(len(content))] = make.choice([*b'",\r\n\t\x00\\', make.randrange(256)])
    return bytes(content[: make.choice([None, None, make.randrange(1, len(content))])])


def check_damaged(seed: int, read: Read) -> None:
    try:
        rows, _ = read(damage(seed))
        assert len(rows) < 60
    except InputError as error:
        assert "kernel_details.csv: " in str(error)


def test_random_bytes_never_stop_the_reader(read: Read) -> None:
    for seed in range(30):
        check_damaged(seed, read)


@pytest.mark.slow
def test_many_random_bytes(read: Read) -> None:
    for seed in range(2000):
        check_damaged(seed, read)
