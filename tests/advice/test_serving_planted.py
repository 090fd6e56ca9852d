"""The rules of serving: each finds on a simulated server what the host, graphs and idle ranks cost."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.analyses.answers.advise import place_of
from prof_analysis.analyses.words import percent
from tests.advice.findings import assert_it_can_be_used
from tests.helpers.asking import found_by
from tests.helpers.serving import Form, Rank, serve, write
from tests.helpers.slow import quick

PHASES = {
    "The device idles before decode passes": "decode",
    "The device idles before passes that mix prefill and decode": "mixed",
    "The device idles before prefill passes": "prefill",
    "Decode passes fill up graphs with rows that no request needs": "decode",
    "A rank runs passes without a request": "dummy",
}


def idle_before(rank: Rank, phase: str) -> int:
    """What lies between a pass of this phase and the one before: no kernel runs there."""
    pairs = zip(rank.passes[:-1], rank.passes[1:], strict=True)
    return sum(after.span[0] - before.span[1] for before, after in pairs if after.phase == phase)


def test_gaps_padding_and_dummies_are_found_with_their_cost(tmp_path: Path) -> None:
    ranks = serve(30, graph_size=8, seed=3)
    for rank in ranks:
        write(rank, tmp_path, "kineto")
    with open_profile(tmp_path) as profile:
        rows = found_by(profile, "pass_gaps", "graph_padding", "dummy_passes")
    for row in rows:
        assert_it_can_be_used(row)
    by_rule = {(row["rule"], row["rank_id"], row["title"]): row for row in rows}
    for rank in ranks:
        phases = [one.phase for one in rank.passes]
        decode = [one for one in rank.passes if one.phase == "decode"]
        gaps = by_rule["pass_gaps", rank.number, "The device idles before decode passes"]
        assert (gaps["count"], gaps["win_ns"]) == (len(decode), idle_before(rank, "decode"))
        padding = by_rule["graph_padding", rank.number, "Decode passes fill up graphs with rows that no request needs"]
        assert f"{8 * len(decode)} requests in all and hold {sum(one.decode for one in decode)}:" in padding["evidence"]
        dummies = by_rule.get(("dummy_passes", rank.number, "A rank runs passes without a request"))
        assert (dummies is not None) is (phases.count("dummy") > 0)
        if dummies:
            assert dummies["count"] == phases.count("dummy")
            spans = [one.span for one in rank.passes if one.phase == "dummy"]
            assert dummies["time_ns"] == sum(end - start for start, end in spans)
    assert any(row["rule"] == "dummy_passes" for row in rows)


def test_small_chunks_of_prompts_are_found(tmp_path: Path) -> None:
    """Passes take 128 tokens at most: where a prompt goes on, they have as many, however many requests generate beside it."""
    (rank,) = serve(60, ranks=1, budget=128, layers=2)
    write(rank, tmp_path, "db")
    with open_profile(tmp_path) as profile:
        (row,) = found_by(profile, "small_prefill_chunks")
    assert_it_can_be_used(row)
    full = [one for one in rank.passes if one.tokens == 128]
    time_ns = sum(end - start for start, end in (one.span for one in full))
    assert (row["count"], row["time_ns"], row["win_ns"], row["token_count"]) == (len(full), time_ns, None, 128)
    assert row["time_share"] == time_ns / sum(end - start for start, end in (one.span for one in rank.passes))


@pytest.mark.parametrize("form", quick(["db", "kineto"], 0))
def test_the_choice_of_tokens_on_the_host_is_found_with_its_cost(tmp_path: Path, form: Form) -> None:
    (rank,) = serve(20, ranks=1, layers=2, sampling_ns=200_000)
    write(rank, tmp_path, form)
    with open_profile(tmp_path) as profile:
        (row,) = found_by(profile, "host_sampling")
    assert_it_can_be_used(row)
    count = len(rank.passes) - 1
    assert (row["count"], row["win_ns"], row["most_in"]) == (count, count * 200_000, "gpu_model_runner: sample")


@pytest.mark.slow
def test_a_finding_names_the_phase_in_which_it_lies(tmp_path: Path) -> None:
    """The idle time that rules of the host count adds up to that in and before the passes of each phase."""
    write(serve(30, ranks=1, graph_size=8, seed=3)[0], tmp_path, "db")
    with open_profile(tmp_path) as profile:
        found = {row["title"]: row for row in profile.rows("FROM advice.finding")}
        idle = profile.rows("SELECT phase, sum(total_ns)::BIGINT AS ns FROM free.cause_of_op GROUP BY phase")
        passes = profile.rows("SELECT phase, sum(idle_ns + idle_before_ns)::BIGINT AS ns FROM pass.time GROUP BY phase")
    assert {row["phase"]: row["ns"] for row in idle} == {row["phase"]: row["ns"] for row in passes}
    for title, phase in PHASES.items():
        assert title not in found or (found[title]["phase"], found[title]["phase_share"]) == (phase, 1)
    launches = found["The host launches kernels too slowly"]
    assert 0 < launches["phase_share"] < 1
    assert place_of(launches) == f"{percent(launches['phase_share'])} in {launches['phase']} passes"
