"""Collectives in which ranks waited: who came last, and what this rank did since the ranks were together before."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer.testing import Result

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.simulated import data_parallel
from tests.helpers.small_profile import Kernel, Op, edit, write_profile


def collectives(folder: Path, *shown: str) -> list[tuple[Any, ...]]:
    with open_profile(folder) as profile:
        return [tuple(row[name] for name in shown) for row in arrow_of(profile.slow_ranks("collective")).to_pylist()]


def test_a_rank_that_computes_longer_is_the_last_whatever_the_clocks_say(
    tmp_path: Path, command: Callable[..., Result]
) -> None:
    # Clocks of these ranks lie a millisecond apart.
    data_parallel(tmp_path, [[100, 100, 100], [100, 300, 100], [250, 100, 101], [100, 100, 100]])
    with open_profile(tmp_path) as profile:
        first, second = arrow_of(profile.slow_ranks("collective")).to_pylist()
    assert first == {
        "group_name": "dp", "name": "hcom_allReduce__dp_1_1", "type": None, "number": 1, "step_id": 6,
        "rank_count": 3, "first_profile": "rank0_ascend_pt", "first_rank_id": 0, "last_profile": "rank1_ascend_pt",
        "last_rank_id": 1, "first_elapse_ns": 210, "last_elapse_ns": 10, "waited_ns": 200, "all_waited_ns": 400,
        "more_since_ns": 200, "more_computing_ns": 200, "more_communication_ns": 0, "more_idle_ns": 0, "cause": "computing",
        "idle_cause": None, "reason": None,
    }  # fmt: skip
    assert (second["last_rank_id"], second["first_rank_id"], second["waited_ns"], second["all_waited_ns"]) == (0, 1, 150, 299)
    said = command("slow-ranks", "-d", tmp_path, "--by", "collective").stdout
    assert "computing: 699 ns waited in 2 collectives" in said


def write_rank(folder: Path, rank: int, clock: int, work: list[tuple[str, int, int]]) -> None:
    """A rank whose device does this after `clock`: compute, or a collective of a group; its host is an op per kernel."""
    ops = []
    for number, (what, start, end) in enumerate(work):
        kind = "compute" if what == "mm" else "communication"
        kernel = Kernel(f"{what}|", clock + start, clock + end, kind=kind, type=None, group=what.split("__")[-1][:2])
        asked = clock + start - 20
        ops.append(Op(f"op{number}", asked, asked + 5, (kernel,)))
    database = write_profile(folder / f"r{rank}_ascend_pt", ops, rank=rank)
    edit(database, "UPDATE STRING_IDS SET value = substr(value, 1, instr(value, '|') - 1) WHERE value LIKE '%|%_904_%';")


def test_a_rank_whose_device_had_nothing_to_do_is_late_by_its_host(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, 10_000, [("hcom_a__g1_1", 0, 100), ("mm", 100, 200), ("hcom_a__g1_2", 200, 1000)])
    write_rank(tmp_path, 1, 70_000, [("hcom_a__g1_1", 90, 100), ("mm", 100, 200), ("hcom_a__g1_2", 990, 1000)])
    shown = ("name", "last_rank_id", "waited_ns", "more_computing_ns", "more_idle_ns", "cause", "reason")
    begin = "it is the first collective of its group here: nothing says when the ranks were together before"
    assert collectives(tmp_path, *shown) == [
        ("hcom_a__g1_2", 1, 790, 0, 790, "host", None),
        ("hcom_a__g1_1", 1, 90, None, None, None, begin),
    ]
    # The op that asked for the late one began 20 ns before it, so nothing is recorded of the host before that.
    assert collectives(tmp_path, "idle_cause")[0] == ("nothing recorded",)


def test_waiting_in_another_group_is_other_communication(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, 0, [("hcom_a__g1_1", 1000, 1100), ("hcom_a__g1_2", 1100, 1500)])
    write_rank(tmp_path, 1, 0, [("hcom_a__g1_1", 1000, 1100), ("hcom_b__g2_1", 1100, 1490), ("hcom_a__g1_2", 1490, 1500)])
    shown = ("name", "waited_ns", "more_communication_ns", "cause")
    assert collectives(tmp_path, *shown) == [("hcom_a__g1_2", 390, 390, "other communication")]


def test_no_cause_is_named_where_the_ranks_were_not_together_before(tmp_path: Path) -> None:
    # By their own times, rank 1 cannot have left the first one together with rank 0.
    write_rank(tmp_path, 0, 0, [("hcom_a__g1_1", 1000, 1100), ("mm", 1100, 1200), ("hcom_a__g1_2", 1200, 1900)])
    write_rank(tmp_path, 1, 0, [("hcom_a__g1_1", 1000, 1100), ("mm", 1100, 1190), ("hcom_a__g1_2", 1190, 1200)])
    # Another one lies between on rank 3 alone, as where one profile began earlier.
    write_rank(tmp_path / "x", 2, 0, [("hcom_a__g1_1", 1000, 1100), ("hcom_a__g1_3", 1200, 1900)])
    write_rank(tmp_path / "x", 3, 0, [("hcom_a__g1_1", 1000, 1100), ("hcom_a__g1_2", 1100, 1110), ("hcom_a__g1_3", 1890, 1900)])
    shown = ("name", "more_since_ns", "cause", "reason")
    together = "the ranks did not leave the collective before it in its group together"
    other = "the collective before it in its group is another one on the two ranks"
    (found,) = collectives(tmp_path / "x", *shown)
    assert found == ("hcom_a__g1_3", None, None, other)
    for number in range(2):
        (tmp_path / f"r{number}_ascend_pt").rename(tmp_path / "x" / f"y{number}_ascend_pt")
    with open_profile(tmp_path / "x", rank_list=[0, 1]) as profile:
        (row,) = arrow_of(profile.slow_ranks("collective")).to_pylist()
    assert tuple(row[name] for name in shown) == ("hcom_a__g1_2", -10, None, together)


def test_the_late_rank_of_a_real_pipeline_is_explained_to_the_microsecond(realdata: Path) -> None:
    with open_profile(realdata / "qwen3_0.6b_pp2dp2_910b", rank_list=[0, 2]) as profile:
        rows = arrow_of(profile.slow_ranks("collective")).to_pylist()
    known = [row for row in rows if row["cause"] is not None]
    assert [(row["name"], row["last_rank_id"], row["cause"]) for row in known][:2] == [
        ("hcom_allReduce__346_5_1", 2, "host"),
        ("hcom_allGather__612_7_1", 2, "host"),
    ]
    assert all(abs(row["more_since_ns"] - row["waited_ns"]) < 1000 for row in known[:2])
