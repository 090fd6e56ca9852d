"""Which rank makes the others wait: simulated ranks of which it is known, and a real training."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import Result

from prof_analysis import open_profile
from prof_analysis.engine.functions import functions_for
from prof_analysis.engine.tables import documented_tables
from tests.helpers.asking import build_at_once
from tests.helpers.empty_database import empty_database
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.simulated import data_parallel, pipeline

EVIDENCE = [column.name for column in documented_tables()["across.slow_rank"].columns]


def finding(folder: Path) -> dict[str, Any]:
    with open_profile(folder) as profile:
        row: dict[str, Any] = arrow_of(profile.slow_ranks("finding")).to_pylist()[0]
    return row


@pytest.mark.slow
def test_a_rank_that_computes_longer_makes_the_others_wait(tmp_path: Path, command: Callable[..., Result]) -> None:
    data_parallel(tmp_path, [[100_000, 110_000, 200_000], [104_000, 90_000, 200_000]])
    with open_profile(tmp_path, cache=tmp_path / "store") as profile:
        build_at_once(profile, "slow-ranks")
        evidence = [tuple(row.values()) for row in arrow_of(profile.slow_ranks()).to_pylist()]
        groups = [tuple(row.values()) for row in arrow_of(profile.slow_ranks("group")).to_pylist()]
        (found,) = arrow_of(profile.slow_ranks("finding")).to_pylist()
        modules = [tuple(row.values()) for row in arrow_of(profile.slow_ranks("module")).to_pylist()]
        first, second = arrow_of(profile.slow_ranks("collective")).to_pylist()
        assert arrow_of(profile.slow_ranks()).column_names == EVIDENCE
    nowhere = (None,) * 4
    assert evidence == [
        ("rank0_ascend_pt", 0, *nowhere, 2, 200_010, 102_000, None, None, 98_010, None, 98_000, 0, False),
        ("rank1_ascend_pt", 1, *nowhere, 2, 200_010, 100_000, None, None, 100_010, None, 100_000, 0, False),
        ("rank2_ascend_pt", 2, *nowhere, 2, 200_010, 200_000, None, None, 10, None, 0, 2, True),
    ]
    assert groups == [
        ("rank0_ascend_pt", 0, "dp", "collective", 2, 196_020, None, 2, 196_000, 0),
        ("rank1_ascend_pt", 1, "dp", "collective", 2, 200_020, None, 2, 200_000, 0),
        ("rank2_ascend_pt", 2, "dp", "collective", 2, 20, None, 2, 0, 2),
    ]
    assert modules == [("rank2_ascend_pt", 2, "", "Net", 400_000, 202_000.0, 198_000.0)]
    # Clocks of these ranks lie a millisecond apart. In the first step nothing says when the ranks were together before.
    assert first == {
        "group_name": "dp", "name": "hcom_allReduce__dp_1_1", "type": None, "number": 1, "step_id": 6,
        "rank_count": 3, "first_profile": "rank1_ascend_pt", "first_rank_id": 1, "last_profile": "rank2_ascend_pt",
        "last_rank_id": 2, "first_elapse_ns": 110_010, "last_elapse_ns": 10, "waited_ns": 110_000, "all_waited_ns": 206_000,
        "more_since_ns": 110_000, "more_computing_ns": 110_000, "more_communication_ns": 0, "more_idle_ns": 0,
        "cause": "computing", "idle_cause": None, "reason": None,
    }  # fmt: skip
    assert (second["step_id"], second["waited_ns"], second["all_waited_ns"], second["cause"]) == (5, 100_000, 190_000, None)
    sentence = found["sentence"]
    assert sentence == says(
        "Rank 2 makes the others wait",
        "99.0 us of each step (49.5%)",
        "computing takes 200.0 us of each step",
        "against 101.0 us",
    )
    assert found == {
        "finding": "slow rank",
        "sentence": sentence,
        "pipeline_stage": None,
        "slow_ranks": "2",
        "waited_ns": 99_000,
        "share": pytest.approx(99_000 / 200_010),
        "computing_ns": 200_000,
        "computing_of_others_ns": 101_000,
    }
    result = command("slow-ranks", "-d", tmp_path, "--cache", tmp_path / "store", "--export_type", "db")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    at = lines.index(sentence)
    assert lines[at + 1 : at + 3] == [says("rank 2 computes 198.00 us longer", "in Net"), "3 ranks"]
    shown = [(line.split()[:2], line.split()[-1]) for line in result.stdout.splitlines()[1:4]]
    assert shown == [([str(rank), slow], f"rank{rank}_ascend_pt") for rank, slow in ((2, "yes"), (0, "no"), (1, "no"))]
    database = tmp_path / "cluster_analysis_output" / "cluster_analysis.db"
    with closing(sqlite3.connect(database)) as reader:
        assert reader.execute("SELECT sentence FROM SlowRankFinding").fetchall() == [(sentence,)]
        assert reader.execute("SELECT count(*) FROM SlowRank").fetchall() == [(3,)]
        assert reader.execute("SELECT count(*) FROM RankCommunication").fetchall() == [(3,)]


@pytest.mark.slow
def test_a_slow_pipeline_stage_makes_the_other_one_wait_and_balanced_ones_do_not(tmp_path: Path) -> None:
    pipeline(tmp_path / "slow", (10_000, 15_000))
    pipeline(tmp_path / "balanced", (10_000, 10_000))
    found = finding(tmp_path / "slow")
    assert (found["finding"], found["pipeline_stage"], found["slow_ranks"]) == ("slow stage", 1, "1")
    assert (found["computing_ns"], found["computing_of_others_ns"]) == (180_000, 120_000)
    assert found["sentence"] == says("Pipeline stage 1 (rank 1) makes the others wait")
    balanced = finding(tmp_path / "balanced")
    assert (balanced["finding"], balanced["slow_ranks"]) == ("none", None)
    assert balanced["sentence"] == says("No rank makes the others wait", "differs by")


@pytest.mark.slow
def test_qwen3_is_held_up_by_its_second_pipeline_stage(realdata: Path) -> None:
    with open_profile(realdata / "qwen3_0.6b_pp2dp2_910b") as profile:
        evidence = arrow_of(profile.slow_ranks()).to_pylist()
        (found,) = arrow_of(profile.slow_ranks("finding")).to_pylist()
    places = ("pipeline_stage", "dp_rank", "cp_rank", "tp_rank")
    assert [tuple(row[place] for place in places) for row in evidence] == [
        (0, 0, 0, 0),
        (0, 1, 0, 0),
        (1, 0, 0, 0),
        (1, 1, 0, 0),
    ]
    assert [row["computing_ns"] for row in evidence] == [231_290_100, 230_903_720, 400_448_260, 401_131_700]
    assert [row["p2p_elapse_ns"] for row in evidence] == [313_877_800, 322_980_560, 72_663_660, 74_986_740]
    assert [row["is_slow"] for row in evidence] == [False, False, True, True]
    assert found["sentence"] == says(
        "Pipeline stage 1 (ranks 2 and 3) makes the others wait", "161.4 ms of each step (19.9%)",
        "computing takes 400.8 ms of each step", "against 231.1 ms", "receiving take it 73.8 ms", "the others 318.4 ms",
    )  # fmt: skip


@pytest.mark.slow
def test_the_late_rank_of_a_real_pipeline_is_explained_to_the_microsecond(realdata: Path) -> None:
    with open_profile(realdata / "qwen3_0.6b_pp2dp2_910b", rank_list=[0, 2]) as profile:
        rows = arrow_of(profile.slow_ranks("collective")).to_pylist()
    known = [row for row in rows if row["cause"] is not None]
    assert [(row["name"], row["last_rank_id"], row["cause"]) for row in known][:2] == [
        ("hcom_allReduce__346_5_1", 2, "host"),
        ("hcom_allGather__612_7_1", 2, "host"),
    ]
    assert all(abs(row["more_since_ns"] - row["waited_ns"]) < 1000 for row in known[:2])


TABLES = (
    "communication.breakdown",
    "communication.call",
    "communication.job_size",
    "communication.member",
    "communication.parallel_rank",
    "step.load",
)


VIEWS = ("job", "paired_call", "type_communication", "rank_communication", "slow_rank", "slow_rank_finding")


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the rules over empty tables of ranks."""
    with empty_database(threads=1) as connection:
        connection.execute("CREATE SCHEMA communication; CREATE SCHEMA step; CREATE SCHEMA across")
        for name in TABLES:
            columns = ", ".join(f"{column.shown_name} {column.shown_type}" for column in documented_tables()[name].columns)
            connection.execute(f"CREATE TABLE {name} (profile VARCHAR, rank_id INTEGER, {columns})")
        with functions_for(connection, documented_tables()["across.paired_call"].body):
            for name in VIEWS:
                connection.execute(f"CREATE VIEW across.{name} AS {documented_tables()[f'across.{name}'].body}")
            yield connection


def judged(
    tables: duckdb.DuckDBPyConnection, ranks: list[dict[str, Any]], group: str = "g", name: str = "hcom_allReduce__1_0_1"
) -> tuple[str, str | None, str]:
    """What is found of ranks with an operator each: its `elapse`, and of the rank `computing`, `span` and `stage`."""
    for table in TABLES:
        tables.execute(f"DELETE FROM {table}")
    for number, rank in enumerate(ranks):
        kind = "p2p" if name.startswith("hcom_send") else "collective"
        of_rank: dict[str, Any] = {"profile": f"p{number}", "rank_id": number}
        rows: dict[str, dict[str, Any]] = {"communication.parallel_rank": {"pipeline_stage": rank.get("stage")}}
        if "elapse" in rank:
            rows |= {
                table: {"group_name": group, "name": name, "kind": kind, "elapse_ns": rank["elapse"]}
                for table in ("communication.breakdown", "communication.call")
            }
        if "computing" in rank:
            rows["step.load"] = {"computing_ns": rank["computing"], "span_ns": rank.get("span")}
        for table, row in rows.items():
            values = {**of_rank, **row}
            columns = ", ".join(f"${column} AS {column}" for column in values)
            tables.execute(f"INSERT INTO {table} BY NAME SELECT {columns}", values)
    finding, slow, sentence = tables.execute("SELECT finding, slow_ranks, sentence FROM across.slow_rank_finding").fetchall()[0]
    return finding, slow, sentence


def ranks(elapses: list[int], computing: list[int | None] | None = None, span: int = 1000) -> list[dict[str, Any]]:
    return [
        {"elapse": elapse, "computing": time, "span": span}
        for elapse, time in zip(elapses, computing or [1] * 99, strict=False)
    ]


def test_the_rule_finds_who_is_slow_and_nobody_where_nobody_is(tables: duckdb.DuckDBPyConnection) -> None:
    # One of 20 arrives last, by 50 of 1000; by 49 it is noise.
    assert judged(tables, ranks([60] * 7 + [10] + [60] * 12))[:2] == ("slow rank", "7")
    assert judged(tables, ranks([59] * 7 + [10] + [59] * 12))[:2] == ("none", None)
    # Noise among those who wait does not matter, nor which of the ranks are two slow ones.
    assert judged(tables, ranks([300, 330, 12, 290, 10, 310]))[:2] == ("slow rank", "2, 4")
    finding, slow, sentence = judged(tables, ranks([10, 12, 500, 10]))
    assert (finding, slow) == ("fast rank", "0, 1, 3")
    assert sentence == says("Rank 2 waits for all others", "489 ns of each step (48.9%)")
    # Not computing: then the host is late.
    assert "look at the host" in judged(tables, ranks([400, 10], [100, 101]))[2]
    assert judged(tables, ranks([400, 10], [300, 700]))[2] == says("computing takes 700 ns of each step", "against 300 ns")
    nothing_known = [{"elapse": 400}, {"elapse": 10}]
    assert "what computing takes is not known" in judged(tables, nothing_known)[2]
    # A stage is named where all of its ranks, and no others, are slow.
    stages = [{**rank, "stage": stage} for rank, stage in zip(ranks([400, 390, 10, 12]), (0, 0, 1, 1), strict=True)]
    assert judged(tables, stages)[0] == "slow stage"
    assert judged(tables, [*stages[:3], {**stages[3], "elapse": 380}])[:2] == ("slow rank", "2")
    alike = [{**rank, "stage": 0} for rank in stages]
    assert judged(tables, alike)[:2] == ("slow rank", "2, 3")


def test_without_a_common_operator_nothing_is_claimed(tables: duckdb.DuckDBPyConnection) -> None:
    assert judged(tables, [{"computing": 100}, {"computing": 900}])[0] == "unknown"
    assert judged(tables, ranks([400]))[0] == "unknown"
    # Numbers of groups are each rank's own: sends in a group 0 need not be to each other. Order tells of collectives.
    assert judged(tables, ranks([400, 10]), "0", "hcom_send__1_0_1")[0] == "unknown"
    assert judged(tables, ranks([400, 10]), "0")[0] == "slow rank"
    assert judged(tables, ranks([400, 10]), "17522688603477080586", "hcom_send__1_0_1")[0] == "slow rank"
