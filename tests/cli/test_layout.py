"""Tables fit the terminal: a row is a line, names come first, what has no room is left out and named; trees and bars."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from prof_analysis.analyses.tree import as_tree
from prof_analysis.cli.layout import Column, lay_out
from prof_analysis.cli.lines import plain
from prof_analysis.cli.signs import DRAWN, Signs, signs_of
from tests.helpers.cli import OPS, RANGES, Command, shown_on_terminal
from tests.helpers.small_profile import Range, write_profile

HEADERS = ("module", "time", "kind", "calls")


def columns_of(rows: Sequence[Sequence[str]], headers: Sequence[str] = HEADERS) -> list[Column]:
    return [Column(header, [row[n] for row in rows], header in ("module", "kind")) for n, header in enumerate(headers)]


def lines(columns: Sequence[Column], width: int | None, signs: Signs | None = DRAWN) -> list[str]:
    laid = lay_out(columns, width, signs)
    return [plain(line) for line in (*laid.head, *laid.lines)]


def test_texts_are_at_the_left_and_numbers_at_the_right() -> None:
    assert lines(columns_of([("Net", "1.00 ms", "compute", "7"), ("Layer", "2 ns", "x", "1,000")]), None) == [
        "module     time  kind     calls",
        "Net     1.00 ms  compute      7",
        "Layer      2 ns  x        1,000",
    ]


def test_columns_without_room_are_left_out_from_the_end_and_named() -> None:
    columns = columns_of([("Net", "1.00 ms", "compute", "7")])
    assert lay_out(columns, 31, DRAWN).left_out == []
    assert lay_out(columns, 30, DRAWN).left_out == ["calls"]
    assert lines(columns, 30) == ["module     time  kind", "Net     1.00 ms  compute"]
    assert lay_out(columns, 16, DRAWN).left_out == ["kind", "calls"]


def test_headings_are_folded_before_a_column_is_left_out() -> None:
    columns = columns_of([("Net", "1.00 ms")], ("module", "time per step"))
    assert lines(columns, 21) == ["module  time per step", "Net           1.00 ms"]
    assert lines(columns, 20) == ["            time", "module  per step", "Net      1.00 ms"]
    assert lines(columns, None) == ["module  time per step", "Net           1.00 ms"], "in a pipe a heading is one line"


def test_names_keep_their_room_before_further_figures() -> None:
    headers = ("module", "a", "b", "c", "d", "e")
    columns = columns_of([("Attention" * 4, *(["100.00 us"] * 5))], headers)
    # 28 of the name would leave room for all of them.
    assert lay_out(columns, 83, DRAWN).left_out == ["e"]
    assert lines(columns, 83)[1].startswith("Attention" * 4)


def test_words_lose_their_end() -> None:
    assert lines([Column("finding", ["1. The host launches kernels too slowly"], True)], 24)[1] == "1. The host launches ke…"
    assert lines([Column("kernel", ["void at::native::reduce_kernel<512>"], True)], 24)[1] == "void at:…uce_kernel<512>"


def test_a_path_loses_its_beginning_and_another_text_its_middle() -> None:
    path = "DistributedDataParallel/AlexNet/Sequential/Conv2d"
    assert [lines([Column("module", [path], True)], width)[1] for width in (49, 48, 30, 18, 12, 8, 7, 6, 5)] == [
        path,
        "…stributedDataParallel/AlexNet/Sequential/Conv2d",
        "…/AlexNet/Sequential/Conv2d",
        "…Sequential/Conv2d",
        "…/Conv2d",
        "…/Conv2d",
        "…Conv2d",
        "Co…v2d",
        "Co…2d",
    ]
    assert lines([Column("op", ["aclnnMaxPool2dWithMaskBackward"], True)], 20)[1] == "aclnnMa…MaskBackward"
    assert lines([Column("module", [path], True)], None)[1] == path


def test_names_that_would_be_cut_alike_show_where_they_differ() -> None:
    kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::{}_kernel(at::TensorIteratorBase&)>(int)"
    layer = "model/layers.{}/self_attention/projection"
    column = Column("name", [kernel.format("add"), kernel.format("mul"), "short", kernel.format("add")], True)
    paths = Column("name", [layer.format(1), layer.format(20), layer.format(21)], True)
    assert lines([column], 28) == [
        "name",
        "…native::add_kernel(at::Ten…",
        "…native::mul_kernel(at::Ten…",
        "short",
        "…native::add_kernel(at::Ten…",
    ]
    assert lines([paths], 24) == [
        "name",
        "…rs.1/self_a…/projection",
        "…rs.20/self_…/projection",
        "…rs.21/self_…/projection",
    ]


def test_a_name_without_end_does_not_widen_the_other_rows_of_a_pipe() -> None:
    long = "x" * 40_000
    assert lines(columns_of([(long, "1.00 ms"), ("Net", "2 ns")], ("module", "time")), None) == [
        "module".ljust(1000) + "     time",
        f"{long}  1.00 ms",
        "Net".ljust(1000) + "     2 ns",
    ]
    under = Column("module", [long, long], True, depths=[0, 1])
    times = Column("time", ["1 ns", "2 ns"], False)
    assert lines([under, times], None, None)[1:] == [
        f"{long}  1 ns",
        f"  {long}  2 ns",
    ]


def test_wide_characters_take_two_columns() -> None:
    rows = [("模块" * 20, "1 ns", "x", "1"), ("模块/" * 20 + "模块", "1 ns", "x", "1"), ("Net", "1 ns", "x", "1")]
    for width in (40, 41, 52, 53):
        laid = lines(columns_of(rows, ("module", "time", "share", "calls")), width)
        assert {cell_len(line) for line in laid} <= {width, width - 1}


TREE = Column("module", ["Net", "Layer", "Linear", "Norm", "Head", "[Backward]Net"], True, depths=(0, 1, 2, 2, 1, 0))


def test_guide_lines_show_what_is_inside_what() -> None:
    assert lines([TREE], None)[1:] == ["Net", "├ Layer", "│ ├ Linear", "│ └ Norm", "└ Head", "[Backward]Net"]
    assert lines([TREE], None, None)[1:] == ["Net", "  Layer", "    Linear", "    Norm", "  Head", "[Backward]Net"]


def test_of_a_deep_tree_the_names_are_seen() -> None:
    deep = Column("module", [f"Module{n}" for n in range(40)], True, depths=range(40))
    laid = lines([deep], 80)
    assert laid[1:4] == ["Module0", "└ Module1", "  └ Module2"]
    assert laid[40] == f"…31 {'  ' * 7}└ Module39", "31 levels are not drawn"


def test_shares_have_bars_that_are_full_at_100_percent() -> None:
    share = Column("share", ["100.0%", "50.0%", "1.3%", "0.1%", "-"], False, shares=(1.0, 0.5, 0.0125, 0.001, None))
    assert lines([share], None)[1:] == ["100.0% ██████████", " 50.0% █████", "  1.3% ▏", "  0.1%", "     -"]
    assert lines([share], 11)[1:] == ["100.0% ████", " 50.0% ██", "  1.3%", "  0.1%", "     -"]
    assert lines([share], None, None)[1:] == ["100.0%", " 50.0%", "  1.3%", "  0.1%", "     -"], "in a pipe there are none"


@pytest.mark.parametrize(("encoding", "is_drawn"), [("utf-8", True), ("gbk", True), ("ascii", False), ("latin-1", False)])
def test_a_terminal_gets_only_signs_that_it_can_show(encoding: str, is_drawn: bool) -> None:
    signs = signs_of(encoding)
    assert (signs == DRAWN) == is_drawn
    share = Column("share", ["55.0%"], False, shares=[0.55])
    "".join([*lines([TREE], 9, signs), *lines([share], None, signs)]).encode(encoding)
    assert is_drawn or lines([share], None, signs)[1] == "55.0% ######"


def test_modules_are_a_tree_with_each_name_once() -> None:
    rows = [
        {"module": "Net/Layer/Linear", "own": 5},
        {"module": "Net/[Backward]Layer", "own": 4},
        {"module": "Net", "own": 3},
        {"module": "Net/Layer/Norm", "own": 2},
    ]
    known = [{"module": "Net/Layer", "own": 1}]
    assert [(row["line"], row["own"]) for row in as_tree(rows, known)] == [
        ((0, "Net"), 3),
        ((1, "Layer"), 1),
        ((2, "Linear"), 5),
        ((2, "Norm"), 2),
        ((0, "[Backward]Net"), None),
        ((1, "[Backward]Layer"), 4),
    ]


def test_modules_nest_to_any_depth_in_a_tree() -> None:
    assert len(as_tree([{"module": "/".join(["Net"] * 5000)}])) == 5000


def shown_at(width: int, *words: str | Path) -> list[str]:
    """The lines of the command on a terminal of so many columns, without colours."""
    written = shown_on_terminal(words, with_stdout=True, width=width)
    return [COLOUR.sub("", line) for line in written.replace("\r\n", "\n").split("\n")]


COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("environment", "has_colours", "has_signs"),
    [
        pytest.param({"TERM": "xterm"}, True, True, id="all", marks=pytest.mark.slow),
        pytest.param({"TERM": "xterm", "NO_COLOR": "1"}, False, True, id="NO_COLOR"),
        pytest.param({"TERM": "dumb"}, False, True, id="dumb", marks=pytest.mark.slow),
        pytest.param({"TERM": "xterm", "PYTHONIOENCODING": "ascii"}, True, False, id="ascii", marks=pytest.mark.slow),
    ],
)
def test_a_terminal_gets_the_colours_and_signs_that_it_can_show(
    tmp_path: Path, environment: dict[str, str], has_colours: bool, has_signs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    for name in ("FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    written = shown_on_terminal(("module-stats", tmp_path, "-q"), with_stdout=True, environment=environment)
    # NO_COLOR takes the colours, and leaves what is bold or dim.
    assert bool(re.search(r"\x1b\[3\dm", written)) == has_colours
    text = COLOUR.sub("", written)
    assert ("└ Layer" in text and "40.0% ████ " in text) == has_signs
    assert has_signs or ("  Layer" in text and "40.0% #### " in text)


@pytest.mark.parametrize("variables", [{}, {"FORCE_COLOR": "1"}])
def test_a_pipe_gets_whole_lines_without_signs(
    tmp_path: Path, command: Command, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    monkeypatch.setenv("COLUMNS", "40")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    written = command("module-stats", tmp_path).stdout
    assert bool(COLOUR.search(written)) == bool(variables)
    assert COLOUR.sub("", written).isascii()
    assert "  Layer" in written
    assert "linked to no op" in written
    assert "more column" not in written


@pytest.mark.slow
def test_no_line_is_longer_than_the_terminal_unless_wide(tmp_path: Path) -> None:
    long_name = "Module" + "x" * 100
    write_profile(tmp_path / "a_ascend_pt", OPS, [*RANGES, Range(long_name, 126, 150)])
    words = ("module-stats", tmp_path, "-q", "-o", tmp_path / "out")
    narrow = shown_at(70, *words)
    tables = narrow[: next(n for n, line in enumerate(narrow) if line.startswith("wrote "))]
    assert max(map(len, tables)) <= 70
    assert [line for line in tables if re.search(r"^\d more columns?: .*kind \(--columns all\)$", line)]
    assert not any(long_name in line for line in tables)
    wide = shown_at(80, *words, "--columns", "all")
    assert any(long_name in line for line in wide)
    assert not any("more column" in line for line in wide)
