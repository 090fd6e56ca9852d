"""How many ranks of the job are here: every answer over ranks says it, and by what it is known."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from prof_analysis import compare, open_profile
from tests.helpers.planes import Task, add_tasks
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, edit, write_profile

GROUP = json.dumps({"g": {"group_name": "default_group", "group_rank": 0, "global_ranks": [0, 1, 2, 3]}})
ARGUMENTS = json.dumps({"world_size": 16, "rank": 0})


def write_rank(folder: Path, rank: int, *metadata: tuple[str, str], peer: int | None = None) -> None:
    """A rank with an all-reduce; with `peer`, a transfer to this rank of the group."""
    kernel = Kernel("hcom_allReduce_", 1000, 1100, kind="communication", group="g")
    database = write_profile(folder / f"r{rank}_ascend_pt", [Op("x", 900, 950, (kernel,))], rank=rank)
    if peer is not None:
        add_tasks(database, [Task(0, "Memcpy", 1, 1000, 1100, peer, "HCCS", 64)])
    values = ", ".join(f"('{name}', '{value}')" for name, value in metadata)
    edit(
        database, "CREATE TABLE META_DATA (name TEXT, value TEXT);" + (f"INSERT INTO META_DATA VALUES {values};" * bool(values))
    )


def job(folder: Path) -> dict[str, Any]:
    with open_profile(folder) as profile:
        (row,) = profile.rows("FROM across.job")
    return row


@pytest.mark.slow
def test_answers_over_ranks_name_the_ranks_that_are_not_here(tmp_path: Path, command: Callable[..., Result]) -> None:
    for rank in (0, 2):
        write_rank(tmp_path, rank, ("parallel_group_info", GROUP), peer=1)
    here = "2 of 4 ranks of the job are here"
    for asked in ("slow-ranks", "communication-time", "links", "advise"):
        said = says(here, "recorded groups", "not here: 1, 3")
        assert said in command(asked, "-d", tmp_path).stdout.splitlines(), asked
    assert here in command("slow-ranks", "-d", tmp_path, "--by", "collective").stdout
    assert here in command("ranks", "-d", tmp_path).stdout
    assert "2 of 4 ranks of the job are not here" in command("slow-ranks", "-d", tmp_path).stdout


@pytest.mark.slow
def test_each_answer_over_ranks_warns_of_ranks_that_are_not_here(tmp_path: Path, command: Callable[..., Result]) -> None:
    for rank in (0, 2):
        write_rank(tmp_path, rank, ("parallel_group_info", GROUP))
    said = says("2 of 4 ranks", "not here: 1, 3", "figures over ranks")
    for asked in ("kernel-stats", "op-stats", "step-time", "advise"):
        assert said in command(asked, "-d", tmp_path, "-o", tmp_path / "out").stderr.splitlines(), asked
        assert said in json.loads(command(asked, "-d", tmp_path, "-o", tmp_path / "out", "--json").stdout)["warnings"], asked
    with open_profile(tmp_path, rank_list=[0]) as profile:
        assert profile.warnings == [said], "ranks that were not chosen are here"
    with open_profile(next((tmp_path / "r0_ascend_pt").rglob("*.db"))) as profile:
        assert profile.warnings == [], "who gives a file has chosen it"


def test_an_answer_of_two_of_four_ranks_says_so(tmp_path: Path, command: Callable[..., Result]) -> None:
    for rank in (0, 2):
        write_rank(tmp_path, rank, ("parallel_group_info", GROUP))
    said = "2 of 4 ranks of the job are here; not here: 1, 3"
    assert f"warning: {said}" in command("communication-stats", "-d", tmp_path).stderr
    with open_profile(tmp_path, rank_list=[0]) as profile:
        assert [warning[: len(said)] for warning in profile.warnings] == [said], "ranks that were not chosen are here"
    with open_profile(next((tmp_path / "r0_ascend_pt").rglob("*.db"))) as profile:
        assert profile.warnings == [], "who gives a file has chosen it"


def test_devices_of_one_database_are_ranks_of_their_own(tmp_path: Path) -> None:
    kernels = [Kernel("a", 1000, 1100, device=0), Kernel("b", 1000, 1200, device=1)]
    database = write_profile(tmp_path / "x_ascend_pt", unlinked=kernels, rank=0)
    edit(database, "CREATE TABLE NPU_INFO (id INTEGER, name TEXT); INSERT INTO NPU_INFO VALUES (0, 'n'), (1, 'n');")
    with open_profile(tmp_path) as profile:
        ranks = profile.ranks(arrow=True).to_pylist()
        assert profile.warnings == []
    assert [(row["profile"], row["rank_id"], row["device_id"]) for row in ranks] == [
        ("x_ascend_pt/device_0", None, 0),
        ("x_ascend_pt/device_1", None, 1),
    ]


@pytest.mark.slow
def test_commands_agree_on_what_alexnet_waits(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b_mstx") as profile:
        (whole,) = profile.rows("FROM across.communication_time")
        ranks = profile.rows("FROM across.slow_rank")
        (finding,) = profile.rows("FROM across.slow_rank_finding")
        (exposed,) = profile.rows("SELECT sum(waiting_ns)::BIGINT AS waiting_ns FROM communication.exposed")
        (waiting,) = profile.rows("SELECT evidence FROM advice.finding WHERE rule = 'waiting'")
    assert sum(row["collective_wait_ns"] for row in ranks) == whole["waiting_ns"] == 191_895_674
    assert 0.95 * whole["waiting_ns"] < exposed["waiting_ns"] <= whole["waiting_ns"], "computing covers some of it"
    for sentence in (finding["sentence"], waiting["evidence"]):
        assert "6 of at least 8 ranks of the job are not here" in sentence


@pytest.mark.slow
def test_one_of_four_real_ranks_says_so(tmp_path: Path, realdata: Path, command: Callable[..., Result]) -> None:
    name = "rank_0_ascend_pt"
    shutil.copytree(realdata / "qwen3_0.6b_pp2dp2_910b" / name, tmp_path / name)
    for asked in ("ranks", "slow-ranks", "links"):
        assert "1 of 4 ranks of the job is here" in command(asked, "-d", tmp_path).stdout


@pytest.mark.slow
def test_a_comparison_names_other_devices_first_and_two_ranks_prove_nothing(realdata: Path) -> None:
    old, new = (realdata / name / "text" / "level1" for name in ("alexnet_ddp_910a", "alexnet_ddp_910b"))
    with compare(old, new) as comparison:
        (found,) = comparison.rows("FROM runs.comparison_finding")
    assert found["sentence"] == says(
        "on another device", "24 cores at 1,800 MHz", "base on 32 cores at 1,000 MHz", "a step takes"
    )
    assert (found["p_value"], found["is_noise"]) == (None, None)
    assert found["reason"] == says("two ranks are no measure")
