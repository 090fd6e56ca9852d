"""What collect recorded is read back: calls of modules, with the times that a clock around the same calls measured."""

import json
from collections import Counter
from pathlib import Path

import pytest

from prof_analysis import open_profile

FOLDER = Path(__file__).parents[2] / "fixtures" / "collected"


def test_modules_of_a_recording_on_the_cpu_have_their_calls_and_times() -> None:
    measured: list[tuple[str, int]] = [(name, ns) for name, ns in json.loads((FOLDER / "transformer.truth.json").read_text())]
    with open_profile(FOLDER / "transformer.pt.trace.json.gz") as profile:
        found = profile.mstx_stats()
    modules = found[found["domain"] == "Module"].set_index("message")
    assert modules["event_count"].to_dict() == Counter(name for name, _ in measured)
    for name in ("Sequential", "TransformerEncoder", "TransformerEncoderLayer"):  # A mark takes some us itself.
        total = sum(ns for one, ns in measured if one == name)
        assert modules["host_total_ns"][name] == pytest.approx(total, rel=0.05), name
