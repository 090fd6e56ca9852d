"""Runs that are not as they should be, or not alike: each gives one line, or figures that hold."""

import csv
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import prof_analysis
from prof_analysis.analyses.overview import comparison_as_html
from prof_analysis.common.errors import InputError
from prof_analysis.functions.matching import Tree, matched
from prof_analysis.profile.comparison import Comparison
from tests.compare.runs import Work, write_run
from tests.compare.test_truth import assert_closes
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

# Names that a terminal, a spreadsheet, SQL or a path would take for something else.
EVIL = [
    "=cmd|' /c calc'!A1",
    "\x1b[31mred",
    "'; DROP TABLE trace.kernel; --",
    "a/b[3]",
    "[Backward]A",
    "{x}%s\n\t|`",
    "\u202eabc",
    "",
]


def write_net(folder: Path, classes: list[str], steps: int = 3, times: int = 1, start: int = 1000) -> Path:
    """A run whose Net calls these modules in each step; the n-th runs one kernel of 100 + 10 n ns."""
    ops, ranges, numbered = [], [], []
    for step in range(steps):
        first = start
        for number, name in enumerate(classes):
            length = (100 + 10 * number) * times
            ops.append(Op("aten::mul", start + 20, start + 30, (Kernel("mul", start + 40, start + 40 + length),)))
            ranges.append(Range(name, start + 10, start + 40))
            start += 50
        ranges.append(Range("Net", first, start))
        numbered.append((step, first - 5, start + 5))
        start += 100 + sum((100 + 10 * number) * times for number in range(len(classes)))
    write_profile(folder / "rank0_ascend_pt", ops, ranges, steps=numbered)
    return folder


def test_names_are_shown_and_written_as_text(tmp_path: Path) -> None:
    base, new = write_net(tmp_path / "it's; base", EVIL), write_net(tmp_path / 'new"run', [*EVIL[1:], "new'one"])
    with prof_analysis.compare(base, new) as comparison:
        rules = {(row["module"], row["rule"]) for row in comparison.rows("FROM runs.module_comparison")}
        assert_closes(comparison)
        files = {file.stem: file for file in comparison.export(tmp_path, "csv")}
    assert rules == {
        ("Net[0]", "instance"),
        (f"{EVIL[0]}[0]", "only base"),
        ("new'one[0]", "only new"),
        *((f"{name}[0]", "instance") for name in EVIL[1:]),
    }
    for file in files.values():
        cells = [cell for row in csv.reader(file.read_text(encoding="utf-8").splitlines()) for cell in row]
        assert not [cell for cell in cells if cell[:1] in ("=", "@", "\t")], file.name


@pytest.mark.slow
def test_times_of_years_do_not_overflow(tmp_path: Path) -> None:
    base, new = write_net(tmp_path / "base", ["A", "B"]), write_net(tmp_path / "new", ["A", "B"], times=10**14, start=2**61)
    with prof_analysis.compare(base, new) as comparison:
        (first, *_) = comparison.rows("FROM runs.module_comparison")
        (idle,) = comparison.rows("SELECT base_sum, new_sum FROM runs.comparison_summary WHERE figure = 'kernel time'")
        assert_closes(comparison)
    assert (first["module"], first["base_self_sum_ns"], first["new_self_sum_ns"]) == ("B[0]", 330, 330 * 10**14)
    assert (idle["base_sum"], idle["new_sum"]) == (630, 630 * 10**14)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        pytest.param({"skip_steps": (0, 1, 2)}, "step", id="no step is left", marks=pytest.mark.slow),
        pytest.param({"rank_map": {7: 8}}, "rank", id="no such ranks", marks=pytest.mark.slow),
        pytest.param({}, "no module in common", id="another model", marks=pytest.mark.slow),
    ],
)
def test_nothing_to_compare_is_one_line(options: dict[str, object], says: str, tmp_path: Path) -> None:
    base = write_net(tmp_path / "base", ["A", "B"])
    new = base if options else write_net(tmp_path / "other", ["Net"])
    if not options:
        database = next(new.rglob("*.db"))
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE STRING_IDS SET value = 'Other' WHERE value = 'Net'")
    with pytest.raises(InputError, match=says) as raised, prof_analysis.compare(base, new, **options) as comparison:  # type: ignore[arg-type]
        comparison.modules()
    assert "\n" not in str(raised.value)


@pytest.mark.slow
def test_a_side_without_kernels_is_all_that_the_other_has(tmp_path: Path) -> None:
    base = write_net(tmp_path / "base", ["A", "B"])
    write_profile(tmp_path / "new" / "rank0_ascend_pt", [Op("aten::mul", 1000, 1100)], [Range("Net", 900, 1200)])
    with prof_analysis.compare(base, tmp_path / "new") as comparison:
        modules = comparison.rows("SELECT module, rule, base_self_sum_ns, new_self_sum_ns FROM runs.module_comparison")
        finding = comparison.rows("FROM runs.comparison_finding")
        assert_closes(comparison)
    assert [tuple(row.values()) for row in modules] == [
        ("B[0]", "only base", 330, 0),
        ("A[0]", "only base", 300, 0),
        ("Net[0]", "instance", 0, 0),
    ]
    assert len(finding) == 1


def flat(names: str, keys: list[int | None] | None = None) -> Tree:
    """One module around others of these names."""
    return Tree([-1] + [0] * len(names), ["Net", *names], [None, *(keys or [1] * len(names))])


def test_many_siblings_are_matched_by_what_runs_in_them() -> None:
    keys: list[int | None] = [number % 7 for number in range(3000)]
    base, new = flat("L" * 3000, keys), flat("L" * 3002, [9, *keys[:1500], 8, *keys[1500:]])
    pairs = {pair.base: pair.new for pair in matched(base, new, {})}
    assert pairs == {0: 0} | {number: number + 1 + (number > 1500) for number in range(1, 3001)}


@pytest.mark.parametrize(
    ("base", "new"),
    [("AABA", "ABAA"), ("ABAB", "BABA"), ("AB", "BA"), ("ABCABC", "ACBACB"), ("AAAA", "AA"), ("ABBA", "BAAB")],
)
def test_swapped_trees_give_the_same_pairs(base: str, new: str) -> None:
    forth = {(pair.base, pair.new) for pair in matched(flat(base), flat(new), {})}
    back = {(pair.new, pair.base) for pair in matched(flat(new), flat(base), {})}
    assert forth == back


def test_a_notebook_shows_runs_what_was_found_and_what_to_ask_next() -> None:
    rank = {
        "profile": "0",
        "rank_id": 0,
        "device_id": 0,
        "answers": [],
        "profiler_level": None,
        "rank_id_from": None,
        "files": [],
    }
    rows: list[Any] = [
        {**rank, "run": "base", "left_out": None, "modules_from": "mstx", "read_from": "a<b>"},
        {**rank, "run": "base", "left_out": None, "modules_from": "nn", "read_from": "a<b>"},
        {**rank, "run": "base", "left_out": "is damaged", "modules_from": "none", "read_from": "none"},
        {**rank, "run": "new", "left_out": None, "modules_from": None, "read_from": "text"},
    ]
    paths = {"base": "<i>$x$", "new": "n"}
    shown = [ElementTree.fromstring(comparison_as_html(paths, rows, found)) for found in ({}, {"new": "<b>slower"})]
    for one in shown:
        assert one.attrib == {"class": "tex2jax_ignore mathjax_ignore"}, "a $ in a name begins no formula"
        assert [[cell.text for cell in row.iter("td")] for row in one.iter("tr")][1:] == [
            ["base", "<i>$x$", "2", "mstx, nn", "a<b>"], ["new", "n", "1", "-", "text"],
        ]  # fmt: skip
    assert [[item.text for item in one.iter("li")] for one in shown] == [[], ["<b>slower"]]
    calls = [[line.partition("(")[0] for line in str(one.findtext("pre/code")).splitlines()] for one in shown]
    assert calls[0] == ["comparison.finding", "comparison.modules", "comparison.plot.modules", "comparison.idle"]
    assert calls[1] == calls[0][1:]
    two = ElementTree.fromstring(comparison_as_html(paths, rows, {"new": "slower", "third": "faster"}))
    assert [item.text for item in two.iter("li")] == ["new: slower", "third: faster"]


@pytest.mark.slow
def test_a_comparison_shows_itself_in_a_notebook(tmp_path: Path) -> None:
    """Before a question it shows the runs and works nothing out; afterwards what was found too."""
    for name in ("a<b>$x$", "new"):
        write_run(tmp_path / name, [[Work("aten::mm", (1000,))]] * 2)
    with prof_analysis.compare(tmp_path / "a<b>$x$", tmp_path / "new") as comparison:
        before = ElementTree.fromstring(comparison._repr_html_())
        (found,) = comparison.finding()["sentence"]
        after = ElementTree.fromstring(comparison._repr_html_())
    assert before.attrib == {"class": "tex2jax_ignore mathjax_ignore"}, "a $ in a name begins no formula"
    assert [[cell.text for cell in row.iter("td")] for row in after.iter("tr")][1:] == [
        ["base", str(tmp_path / "a<b>$x$"), "1", "mstx", "the profiler database"],
        ["new", str(tmp_path / "new"), "1", "mstx", "the profiler database"],
    ]
    assert [[item.text for item in one.iter("li")] for one in (before, after)] == [[], [found]]
    calls = [[line.partition("(")[0] for line in str(one.findtext("pre/code")).splitlines()] for one in (before, after)]
    assert calls[0] == ["comparison.finding", "comparison.modules", "comparison.plot.modules", "comparison.idle"]
    assert calls[1] == calls[0][1:]
    assert all(hasattr(Comparison, call.split(".")[1]) for call in calls[0])
