"""The rules of serving: each finds on a simulated server what the host, graphs and idle ranks cost."""

from pathlib import Path

from prof_analysis import open_profile
from tests.advice.findings import assert_it_can_be_used
from tests.helpers.asking import found_by
from tests.helpers.serving import Rank, serve, write


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
