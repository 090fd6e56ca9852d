"""Rules about kernels on generated runs: planted chains and slow matmuls are found, and without them the rules are silent."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.truth import Truth
from prof_analysis import open_profile
from tests.helpers.asking import build_at_once, found_by
from tests.helpers.says import says

Found = dict[str, list[dict[str, Any]]]
RULES = ("slow_matmul", "unfused_chain", "memory_bound", "no_bound")


def run(folder: Path, **switches: object) -> tuple[Truth, Found]:
    """Return the truth of a run, and what the rules find in it."""
    shape = Shape(steps=2, layers=2, world=1, communication=False, unlinked_kernels=0, **switches)  # type: ignore[arg-type]
    truth = generate(folder, shape, ranks=1, seed=3)
    with open_profile(folder) as profile:
        build_at_once(profile, "chain.cost", *(f"advice.{rule}" for rule in RULES))
        found = {rule: profile.rows(f"FROM advice.{rule}") for rule in RULES}
        found["chains"] = profile.rows("FROM chain.cost")
    return truth, found


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> tuple[Truth, Found]:
    """A run in which nothing is fused."""
    return run(tmp_path_factory.mktemp("single"), hidden=256, tokens=512, fusing="none")


def test_chains_take_the_time_of_the_kernels_that_were_planted(
    single: tuple[Truth, Found],
) -> None:
    truth, found = single
    planted: Counter[str] = Counter()
    for row in truth.kernel_owner.to_pylist():
        # All kernels of norms; of the MLP what its activation and its own op launch.
        forward = row["backward"] is False
        module = (row["module_path"] or "").rsplit("/", 1)[-1]
        if forward and module in ("Qwen2RMSNorm", "Qwen2MLP", "SiLU"):
            planted[row["module_path"].removesuffix("/SiLU")] += row["end_ns"] - row["start_ns"]
    times = {
        row["module"]: row["duration_ns"]
        for row in found["chains"]
        if row["pattern"] in ("RMSNorm", "SwiGLU") and row["module"]
    }
    assert times == planted
    counts = {row["pattern"]: 0 for row in found["chains"]}
    for row in found["chains"]:
        counts[str(row["pattern"])] += row["chain_count"]
    # Two steps of two layers: two norms a layer and one behind them.
    assert counts == {"RMSNorm": 10, "SwiGLU": 4, "rotary embedding": 4, "attention": 4, "optimizer": 2}


def test_a_win_is_no_less_than_what_one_kernel_instead_of_a_chain_saves(
    single: tuple[Truth, Found],
) -> None:
    _, found = single
    assert sorted({(row["title"], row["module"]) for row in found["unfused_chain"]}, key=str) == [
        (says(name, "not one fused op"), f"Qwen2ForCausalLM/Qwen2Model/{module}" if module else None)
        for name, module in (
            ("Attention", "Qwen2DecoderLayer/Qwen2Attention"),
            ("RMSNorm", "Qwen2DecoderLayer/Qwen2RMSNorm"),
            ("RMSNorm", "Qwen2RMSNorm"),
            ("Rotary embedding", "Qwen2DecoderLayer/Qwen2Attention"),
            ("SwiGLU", "Qwen2DecoderLayer/Qwen2MLP"),
            ("optimizer", None),
        )
    ]
    for chain in found["chains"]:
        # What a device that never waits for the host would save: all but the kernel that takes longest, at most all.
        shortest_win = chain["critical_ns"] - chain["least_ns"]
        assert chain["win_ns"] >= shortest_win > -1, chain
        assert chain["critical_ns"] > 0 or chain["late_ns"] > 0, chain


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [512, 65536])
def test_what_fused_ops_save_is_within_the_wins(tokens: int, tmp_path: Path) -> None:
    """Each kernel takes its mean time, so a run is shorter by what fusing saves: on the host, or where matmuls keep the device
    busy, on the device."""
    spans, found = {}, {}
    for fusing in ("none", "all"):
        truth, found[fusing] = run(
            tmp_path / fusing, hidden=256, tokens=tokens, mode="inference", fusing=fusing, paced=False, spread=0
        )
        rows = [row for row in truth.kernel_owner.to_pylist() if row["kind"] == "compute"]
        spans[fusing] = max(row["end_ns"] for row in rows) - min(row["start_ns"] for row in rows)
    critical_ns = sum(row["critical_ns"] for row in found["none"]["chains"])
    assert (critical_ns > 0) == (tokens > 512)
    wins = sum(row["win_ns"] for row in found["none"]["unfused_chain"])
    assert 0 < spans["none"] - spans["all"] <= wins <= sum(row["time_ns"] for row in found["none"]["unfused_chain"])
    assert found["all"]["unfused_chain"] == []


@pytest.mark.slow
def test_a_matmul_that_is_slower_than_others_is_found_with_what_it_costs(tmp_path: Path) -> None:
    """The host is ahead of the device, whose matmuls take long: what is slower there makes the run longer."""
    large = {"hidden": 1024, "tokens": 4096, "vocabulary": 4096, "mode": "inference"}
    _, plain = run(tmp_path / "plain", **large)
    assert plain["slow_matmul"] == []
    truth, found = run(tmp_path / "slow", **large, slower="Qwen2DecoderLayer[1]/Qwen2MLP[0]/Linear[0]", slower_by=300)
    slow = [
        row["end_ns"] - row["start_ns"]
        for row in truth.kernel_owner.to_pylist()
        if row["module_instance"] and row["module_instance"].endswith("Qwen2DecoderLayer[1]/Qwen2MLP[0]/Linear[0]")
    ]
    assert len(slow) == 2
    (finding,) = found["slow_matmul"]
    # They took a quarter of the time without the defect.
    assert sum(slow) * 3 // 4 <= finding["win_ns"] <= finding["time_ns"]
    assert (finding["kernel_type"], finding["kind"]) == ("MatMulV2", "upper bound")
    assert str(finding["module"]).endswith("Qwen2MLP/Linear")


@pytest.mark.slow
def test_rules_alter_no_input(tmp_path: Path) -> None:
    shape = Shape(steps=1, layers=1, world=1)
    generate(tmp_path, shape, ranks=1, seed=3)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with open_profile(tmp_path) as profile:
        found_by(profile, *RULES)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
