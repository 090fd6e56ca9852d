"""Tables fit the terminal: a row is a line, names come first, and what has no room is left out and named."""

import re
from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len

from prof_analysis.answers.tree import as_tree
from prof_analysis.cli.layout import lay_out
from tests.helpers.cli import OPS, RANGES, shown_on_terminal
from tests.helpers.small_profile import Range, write_profile

HEADERS = ("module", "time", "kind", "calls")
ARE_TEXTS = (True, False, True, False)


def lines(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    return ["  ".join(line) for line in lay_out(HEADERS, ARE_TEXTS, rows, width).lines]


def test_texts_are_at_the_left_and_numbers_at_the_right() -> None:
    assert lines([("Net", "1.00 ms", "compute", "7"), ("Layer", "2 ns", "x", "1,000")], None) == [
        "module     time  kind     calls",
        "Net     1.00 ms  compute      7",
        "Layer      2 ns  x        1,000",
    ]


def test_columns_without_room_are_left_out_from_the_end_and_named() -> None:
    rows = [("Net", "1.00 ms", "compute", "7")]
    assert lay_out(HEADERS, ARE_TEXTS, rows, 31).left_out == []
    laid = lay_out(HEADERS, ARE_TEXTS, rows, 30)
    assert laid.left_out == ["calls"]
    assert laid.lines[1] == ["Net   ", "1.00 ms", "compute"]
    assert lay_out(HEADERS, ARE_TEXTS, rows, 16).left_out == ["kind", "calls"]


def test_long_texts_lose_their_middle_and_share_the_room() -> None:
    path = "DistributedDataParallel/AlexNet/Sequential/Conv2d"
    (_, row) = lines([(path, "1.00 ms", "communication", "7")], 70)
    assert row.startswith("Distr")
    assert "…" in row
    assert "Sequential/Conv2d  1.00 ms" in row
    assert cell_len(row) == 70
    assert lines([(path, "1.00 ms", "communication", "7")], None)[1].startswith(path)


def test_wide_characters_take_two_columns() -> None:
    rows = [("模块" * 20, "1 ns", "x", "1"), ("Net", "1 ns", "x", "1")]
    for width in (40, 41, 52, 53):
        assert {cell_len(line) for line in lines(rows, width)} <= {width, width - 1}


def test_modules_are_a_tree_with_each_name_once() -> None:
    rows = [
        {"module": "Net/Layer/Linear", "own": 5},
        {"module": "Net/[Backward]Layer", "own": 4},
        {"module": "Net", "own": 3},
        {"module": "Net/Layer/Norm", "own": 2},
    ]
    known = [{"module": "Net/Layer", "own": 1}]
    assert [(row["line"], row["own"]) for row in as_tree(rows, known)] == [
        ("Net", 3),
        ("  Layer", 1),
        ("    Linear", 5),
        ("    Norm", 2),
        ("[Backward]Net", None),
        ("  [Backward]Layer", 4),
    ]


def test_modules_nest_to_any_depth_in_a_tree() -> None:
    assert len(as_tree([{"module": "/".join(["Net"] * 5000)}])) == 5000


def shown_at(width: int, *words: str | Path) -> list[str]:
    """The lines of the command on a terminal of so many columns, without colours."""
    written = shown_on_terminal(words, with_stdout=True, width=width)
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in written.replace("\r\n", "\n").split("\n")]


def test_no_line_is_longer_than_the_terminal_unless_wide(tmp_path: Path) -> None:
    long_name = "Module" + "x" * 100
    write_profile(tmp_path / "a_ascend_pt", OPS, [*RANGES, Range(long_name, 126, 150)])
    words = ("module-stats", tmp_path, "-q", "-o", tmp_path / "out")
    narrow = shown_at(80, *words)
    tables = narrow[: next(n for n, line in enumerate(narrow) if line.startswith("wrote "))]
    assert max(map(len, tables)) <= 80
    assert [line for line in tables if re.search(r"^\d more columns?: .*kind \(--wide, --columns\)$", line)]
    assert not any(long_name in line for line in tables)
    wide = shown_at(80, *words, "--wide")
    assert any(long_name in line for line in wide)
    assert not any("more column" in line for line in wide)
