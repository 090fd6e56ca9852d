"""Iterations of engines in logs (ObservabilityConfig of vLLM), which succeed the announcements of stages."""

from pathlib import Path

import pytest

from prof_analysis import ProfAnalysisWarning, stage_durations
from tests.helpers.frames import arrow_of
from tests.helpers.says import says

ITERATION = (
    "Iteration({}): {} context requests, {} context tokens, {} generation requests, {} generation tokens, "
    "iteration elapsed time: {} ms"
)
LINES = (
    "(EngineCore_DP1 pid=7) INFO 07-09 03:15:05 [core.py:359] " + ITERATION.format(15, 2, 7986, 14, 14, "1115.64"),
    "(EngineCore_DP0 pid=6) INFO " + ITERATION.format(3, 0, 0, 4, 4, "20.5") + ", GPU KV cache usage: 3.1%",
    "\x1b[32m(EngineCore_DP0 pid=6)\x1b[0m " + ITERATION.format(4, 1, 90, 0, 0, "30"),
    "(EngineCore_DP0 pid=6) " + ITERATION.format(5, 0, 0, 0, 0, "1.25") + " (dummy)",
    "(Worker pid=8) Profile execute duration [Decode]: [forward]:4.14ms",
    "Iteration over requests, without its time",
)


def test_an_iteration_has_its_requests_tokens_and_time(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(LINES), encoding="utf-8")
    rows = arrow_of(stage_durations(log, by="iteration")).to_pylist()
    assert [tuple(row.values())[2:] for row in rows] == [
        (1, 1, "EngineCore_DP1 pid=7", 15, "mixed", 2, 7986, 14, 14, 1_115_640_000),
        (2, 1, "EngineCore_DP0 pid=6", 3, "decode", 0, 0, 4, 4, 20_500_000),
        (3, 1, "EngineCore_DP0 pid=6", 4, "prefill", 1, 90, 0, 0, 30_000_000),
        (4, 1, "EngineCore_DP0 pid=6", 5, "dummy", 0, 0, 0, 0, 1_250_000),
    ]
    # Both kinds of lines are stages of their processes.
    stages = arrow_of(stage_durations(log)).to_pylist()
    assert {(row["process"], row["phase"], row["stage"], row["max_ns"]) for row in stages} == {
        ("EngineCore_DP1 pid=7", "mixed", "iteration", 1_115_640_000),
        ("EngineCore_DP0 pid=6", "decode", "iteration", 20_500_000),
        ("EngineCore_DP0 pid=6", "prefill", "iteration", 30_000_000),
        ("EngineCore_DP0 pid=6", "dummy", "iteration", 1_250_000),
        ("Worker pid=8", "Decode", "forward", 4_140_000),
    }
    (of_log,) = arrow_of(stage_durations(log, by="log")).to_pylist()
    assert (of_log["announcement_count"], of_log["other_line_count"], of_log["unread_count"]) == (5, 1, 0)


def test_a_line_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"{LINES[1]}\n{ITERATION.format(6, 'x', 0, 0, 0, 3)}\n", encoding="utf-8")
    with pytest.warns(ProfAnalysisWarning) as told:
        (row,) = arrow_of(stage_durations(log, by="all")).to_pylist()
    assert row["duration_count"] == 1
    assert str(told[0].message) == says("log", "1 of 2", "cannot be read completely")
