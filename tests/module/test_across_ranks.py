"""Modules compared over ranks: a slow rank shows, and what a rank lacks is no time of 0."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import open_profile
from prof_analysis.engine.rows_of import rows_of
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

NET, LAYER, HEAD = Range("Net", 100, 200), Range("Layer", 110, 150), Range("Head", 160, 180)
SCHEMA = [
    ("parent_module", "string"), ("module", "string"), ("rank_count", "int64"), ("lacking_rank_count", "int64"),
    *(
        (f"{own}{column}", type_)
        for own in ("own_", "")
        for column, type_ in (
            ("mean_ns", "double"), ("stddev_ns", "double"), ("min_ns", "int64"), ("min_profile", "string"),
            ("min_rank_id", "int32"), ("max_ns", "int64"), ("max_profile", "string"), ("max_rank_id", "int32"),
            ("max_to_mean", "double"),
        )
    ),
]  # fmt: skip


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Layer takes 10, 10 and 40 ns; Net itself 5, 6 and 7; Head runs on the last rank only, which has no number, in 8 ns."""
    for number, (layer_ns, net_ns) in enumerate([(10, 5), (10, 6), (40, 7)]):
        ops = [
            Op("aten::mm", 120, 130, (Kernel("mm", 1000, 1000 + layer_ns),)),
            Op("aten::add", 155, 158, (Kernel("add", 2000, 2000 + net_ns),)),
            Op("aten::sum", 165, 170, (Kernel("sum", 3000, 3008),) if number == 2 else ()),
        ]
        ranges = [NET, LAYER, HEAD] if number == 2 else [NET, LAYER]
        write_profile(tmp_path / f"{number}_ascend_pt", ops, ranges, rank=None if number == 2 else number)
    return tmp_path


def rank(number: int) -> tuple[str, int | None]:
    return f"{number}_ascend_pt", None if number == 2 else number


LAYER_TIMES = (20.0, sqrt(200), 10, *rank(0), 40, *rank(2), 2.0)
EXPECTED = [
    ("Net", "Layer", 3, 0, *LAYER_TIMES, *LAYER_TIMES),
    ("", "Net", 3, 0, 6.0, sqrt(2 / 3), 5, *rank(0), 7, *rank(2), 7 / 6, 86 / 3, sqrt(3122) / 3, 15, *rank(0), 55,
     *rank(2), 55 * 3 / 86),
    ("Net", "Head", 1, 2, *((8.0, 0.0, 8, *rank(2), 8, *rank(2), 1.0) * 2)),
]  # fmt: skip


def test_every_column(three: Path) -> None:
    with open_profile(three) as profile:
        table = profile.table("across.module", arrow=True)
    assert [(field.name, str(field.type)) for field in table.schema] == SCHEMA
    found = [tuple(row.values()) for row in table.to_pylist()]
    assert found == [tuple(pytest.approx(cell) if isinstance(cell, float) else cell for cell in row) for row in EXPECTED]


def test_long_times_differ_by_the_nanosecond() -> None:
    """Squares of such times have no place in a float."""
    hours = 10 * 3600 * 10**9
    times = [
        {"profile": str(rank), "rank_id": rank, "parent_module": "", "module": "Net", "kernel_duration_ns": hours + 2 * rank}
        for rank in range(2)
    ]
    (row,) = rows_of("across.module", {"module.tree": times})
    assert (row["stddev_ns"], row["min_ns"], row["max_ns"]) == (1.0, hours, hours + 2)


@pytest.mark.slow
def test_it_is_exported_where_there_are_several_ranks(three: Path, tmp_path: Path) -> None:
    with open_profile(three) as profile:
        (database,) = profile.export(tmp_path / "several")
        files = profile.export(tmp_path / "several", "csv")
    with closing(sqlite3.connect(database)) as reader:
        rows = reader.execute("SELECT module, rank_count, own_max_ns, own_max_rank_id FROM ModuleAcrossRanks").fetchall()
    assert rows == [("Layer", 3, 40, None), ("Net", 3, 7, None), ("Head", 1, 8, None)]
    assert files[-1].name == "module_across_ranks.csv"
    with open_profile(three, rank_list=[0]) as profile:
        (database,) = profile.export(tmp_path / "one")
    with closing(sqlite3.connect(database)) as reader:
        assert reader.execute("SELECT name FROM sqlite_master WHERE name = 'ModuleAcrossRanks'").fetchall() == []


@pytest.mark.slow
def test_the_command_shows_the_slow_rank(three: Path, tmp_path: Path, command: Callable[..., Result]) -> None:
    words = ("module-stats", "-d", three, "-o", tmp_path / "out", "--by", "rank")
    printed = command(*words).stdout.splitlines()
    assert printed[1].split() == ["Net/Layer", "14", "ns", "20", "ns", "2.00", "40", "ns", "10", "ns", "3", "2_ascend_pt", "0"]
    assert "own kernel time of 3 modules; 3 ranks" in printed
    summary: dict[str, Any] = json.loads(command(*words, "--json", "--top", "1").stdout)["summary"]
    assert (summary["ranks"], summary["modules"]) == (3, 3)
    assert [row["module"] for row in summary["most_different_modules"]] == ["Layer"]
