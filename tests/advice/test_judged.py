"""What an expert says of each finding of the real profiles: tests/advice/judged.csv, with figures of the raw files."""

from pathlib import Path

import pytest

from tests.advice.judging import BAD, GOOD, PROFILES, QUICK, faults, findings, judgements


@pytest.mark.slow
@pytest.mark.parametrize("profile", [*QUICK[:1], *(pytest.param(one, marks=pytest.mark.slow) for one in QUICK[1:])])
def test_the_findings_of_a_real_profile_are_judged_and_the_first_ones_are_good(realdata: Path, profile: str) -> None:
    assert list(faults(profile, findings(realdata / profile))) == []


@pytest.mark.slow
@pytest.mark.parametrize("profile", [profile for profile in PROFILES if profile not in QUICK])
def test_every_real_profile_has_judged_findings_and_good_ones_first(realdata: Path, profile: str) -> None:
    assert list(faults(profile, findings(realdata / profile))) == []


def test_each_judgement_is_one_of_four_and_stands_with_a_figure() -> None:
    for key, row in judgements().items():
        assert key[0] in PROFILES
        assert row["judgement"] in (*GOOD, *BAD), key
        assert any(letter.isdigit() for letter in row["figure"]), key
        assert row["how"], key


def test_a_finding_that_nobody_judged_is_named() -> None:
    row = {"rule": "no_bound", "title": "Slow", "evidence": "7 kernels", "module": None, "op": None, "kernel_type": "New"}
    (said,) = faults("glm5_1_vllm_a3", [row])
    assert "not judged: 1. ('no_bound', '-, -, New')" in said
