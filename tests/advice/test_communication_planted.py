"""Advice about communication on generated profiles: defects at a known cost are found, and without them rules are silent."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures import recipes, recipes_of_devices
from fixtures.events import covered, events_of
from fixtures.generate import generate
from fixtures.kineto_export import export_run
from fixtures.recipes_of_communication import exposed_of
from fixtures.shape import Shape
from fixtures.step import COMPUTE
from fixtures.text_style import TextStyle
from fixtures.trace import Rank, make_rank
from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.says import says

PLAIN = Shape(world=4, layers=1, hidden=256, experts=2, expert_share=1, spread=3, task_queue=False, schedule_kernels=False)
DEFECTS = replace(PLAIN, expert_share=3, slow_link="2-3", slower_by=300, small_messages=20)
SILENT = "expert_imbalance", "slow_link", "small_messages", "slow_rank", "stage_imbalance"
RULES = *SILENT, "exposed_communication"
# The messages of the model itself have 64 KiB.
SMALL = {"small_messages.least_bytes": 1024}


def findings(folder: Path, shape: Shape, form: str = "db") -> tuple[dict[str, list[dict[str, Any]]], list[Rank]]:
    """Return what the rules find on each rank of a generated run, and its ranks as the generator has them."""
    generate(folder, shape, ranks=shape.world, style=TextStyle(exports="text" if form == "text" else "db"))
    if form == "kineto":
        export_run(folder, folder / "gpu")
        for made in folder.glob("*_ascend_pt"):
            shutil.rmtree(made)
    with open_profile(folder, thresholds=SMALL) as profile:
        build_at_once(profile, *(f"advice.{rule}" for rule in RULES))
        found = {rule: profile.rows(f"FROM advice.{rule} ORDER BY rank_id, module") for rule in RULES}
    return found, [make_rank(shape, number, 0) for number in range(shape.world)]


def check_experts(found: list[dict[str, Any]], ranks: list[Rank]) -> None:
    """Check that each module wins what the slowest rank takes beyond the mean."""
    cost = dict[tuple[int, str], int]()
    busiest = {row[0]: row[2] for row in reversed(recipes.expert_rank(ranks))}
    for group, _, _, module, *_, one, _, _, _, _, _ in recipes.expert_call(ranks):
        cost[busiest[group], module] = cost.get((busiest[group], module), 0) + one
    assert {(row["rank_id"], row["module"]): row["win_ns"] for row in found} == cost
    assert {rank for rank, _ in cost} == {1, 3}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["db", pytest.param("text", marks=pytest.mark.slow)])
def test_planted_experts_links_and_small_messages_are_found_at_their_cost(tmp_path: Path, form: str) -> None:
    found, ranks = findings(tmp_path, DEFECTS, form)
    check_experts(found["expert_imbalance"], ranks)

    (link,) = found["slow_link"]
    (lost,) = [row[-4] for row in recipes_of_devices.link(ranks) if row[-3]]
    assert link["rank_id"] == 2
    assert link["time_ns"] == pytest.approx(lost, abs=20)
    assert link["win_ns"] == pytest.approx(min(lost, sum(one.exposed for one in exposed_of(ranks[2]))), abs=20)

    # A packet of 16 bytes costs its whole time: the rate of large packets is a thousand times theirs.
    for row, rank in zip(found["small_messages"], ranks, strict=True):
        planted = [one for one in exposed_of(rank) if one.event.kernel.outputs == "8"]
        transferring = sum(one.part(one.transferring) for one in planted)
        assert len(planted) == 40
        assert 0.9 * transferring < row["win_ns"] < 1.1 * transferring < sum(one.exposed for one in planted)


@pytest.mark.slow
def test_in_a_gpu_trace_planted_experts_are_found_at_their_cost(tmp_path: Path) -> None:
    found, ranks = findings(tmp_path, DEFECTS, "kineto")
    check_experts(found["expert_imbalance"], ranks)
    alone = sum(one.exposed for rank in ranks for one in exposed_of(rank))
    assert sum(row["win_ns"] for row in found["exposed_communication"]) <= alone


@pytest.mark.slow
def test_without_defects_the_rules_are_silent(tmp_path: Path) -> None:
    found, ranks = findings(tmp_path, PLAIN)
    assert {rule: found[rule] for rule in SILENT} == {rule: [] for rule in SILENT}
    of_rank = [sum(one.exposed for one in exposed_of(rank)) for rank in ranks]
    won = [sum(row["win_ns"] for row in found["exposed_communication"] if row["rank_id"] == rank) for rank in range(len(ranks))]
    assert all(win <= alone for win, alone in zip(won, of_rank, strict=True))


@pytest.mark.slow
def test_a_late_rank_wins_what_the_others_wait_in_each_step(tmp_path: Path) -> None:
    found, ranks = findings(tmp_path, Shape(world=3, layers=1, late_rank=1, spread=3))
    (row,) = found["slow_rank"]
    assert (row["rank_id"], row["title"]) == (1, says("rank makes the others wait", "host is late"))
    late = sum(int(ranks[0].waiting.max()) for _ in range(ranks[0].shape.steps))
    assert row["win_ns"] == pytest.approx(late, rel=0.05)


@pytest.mark.slow
def test_a_long_pipeline_stage_wins_what_it_computes_beyond_the_mean(tmp_path: Path) -> None:
    shape = Shape(world=2, layers=1, stages=2, micro_batches=2, spread=3, slow_rank=1, slower_by=50)
    found, ranks = findings(tmp_path / "uneven", shape)
    (row,) = found["stage_imbalance"]
    events = [[event for event in events_of(rank) if event.kernel.kind == COMPUTE and event.step_id] for rank in ranks]
    computing = [
        sum(
            covered(((one.start, one.end) for one in rank if one.step_id == step), 0, 2**63)
            for step in {one.step_id for one in rank}
        )
        for rank in events
    ]
    assert row["rank_id"] == 1
    assert row["win_ns"] == pytest.approx(max(computing) - sum(computing) / 2, abs=5)
    assert findings(tmp_path / "even", replace(shape, slow_rank=-1))[0]["stage_imbalance"] == []
