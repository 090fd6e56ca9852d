"""A rank that comes late since its host is longer in an op, such as the data loader: found with the time that goes with it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from tests.helpers.says import says

SHAPE = Shape(world=3, layers=1, late_rank=1, spread=3)


def asked(folder: Path, query: str) -> list[dict[str, Any]]:
    with open_profile(folder) as profile:
        return profile.rows(query)


@pytest.mark.slow
@pytest.mark.parametrize("exports", ["db", pytest.param("text", marks=pytest.mark.slow)])
def test_a_late_loader_of_one_rank_wins_what_steps_are_shorter_without_it(tmp_path: Path, exports: Any) -> None:
    for name, late_rank in (("late", 1), ("even", -1)):
        shape = replace(SHAPE, late_rank=late_rank)
        generate(tmp_path / name, shape, ranks=3, style=TextStyle(exports=exports))
    (found,) = asked(tmp_path / "late", "FROM advice.late_host")
    assert (found["rank_id"], found["title"]) == (1, says("rank makes the others wait", "loads data longer"))
    assert found["op"].startswith("enumerate(DataLoader)")
    assert asked(tmp_path / "even", "FROM advice.late_host") == []
    time = "SELECT sum(stage_ns)::BIGINT AS ns FROM step.time WHERE rank_id <> 1"
    late, even = (asked(tmp_path / name, time)[0]["ns"] / 2 for name in ("late", "even"))
    assert found["win_ns"] == pytest.approx(late - even, rel=0.03)
    # The rank that is late and the op that makes it late count the same time.
    rows = asked(tmp_path / "late", "FROM advice.finding WHERE rule IN ('slow_rank', 'late_host')")
    assert [row["rule"] for row in rows if row["shared_with"] is not None] == [rows[1]["rule"]]
    assert rows[1]["shared_with"] == rows[0]["finding_id"]


@pytest.mark.slow
def test_a_loader_for_which_no_rank_waits_is_not_what_makes_a_rank_late(tmp_path: Path) -> None:
    """All ranks load as long."""
    shape = replace(SHAPE, late_rank=-1, stall="data_loading", stall_ns=300_000)
    generate(tmp_path, shape, ranks=3)
    assert asked(tmp_path, "FROM advice.late_host") == []
    assert asked(tmp_path, "FROM advice.data_loading") != []
