"""What the trials call right, told and silent, and which warnings count."""

from typing import Any

import pytest

from benchmarks.trials.ask import Said
from benchmarks.trials.judge import Outcome, outcome_of, tells


def said(summary: dict[str, Any] | None = None, *warnings: str, code: int | None = 0, errors: str = "", **more: Any) -> Said:
    answer = {"summary": summary or {"total_ns": 1000}, "warnings": list(warnings), "failures": [], **more}
    return Said("step-time", code, answer if code is not None else None, errors, 1.0)


HEALTHY = said()
TELLING = "rank0: kernels set aside because they end before they start: 22"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (said(), Outcome.RIGHT),
        (said({"total_ns": 1000}, "anything"), Outcome.WARNED),
        (said({"total_ns": 900}, TELLING), Outcome.WARNED),
        (said({"total_ns": 900}, "this profile is odd"), Outcome.SILENT),
        (said({"total_ns": 900}), Outcome.SILENT),
        (said({}), Outcome.RIGHT),
        (said({"other_ns": 1000}), Outcome.SILENT),
        (said({"total_ns": None}), Outcome.RIGHT),
        (said(code=2, message="IN: is no database"), Outcome.ERROR),
        (said(code=None), Outcome.HANG),
        (said(code=1, errors="Traceback (most recent call last):\n  x\nKeyError: 1"), Outcome.TRACEBACK),
        (said(code=-9), Outcome.TRACEBACK),
        (said(code=1, failures=["rank0: a defect of prof-analysis, please report it"]), Outcome.TRACEBACK),
    ],
)
def test_how_a_case_ends(answer: Said, expected: Outcome) -> None:
    assert outcome_of(answer, HEALTHY)[0] is expected


def test_what_the_undamaged_profile_says_too_is_no_news() -> None:
    assert outcome_of(said({"total_ns": 900}, TELLING), said(None, TELLING))[0] is Outcome.SILENT


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        (TELLING, True),
        ("1 of 2 ranks of the job is here; not here: 1; figures over ranks are of those here", True),
        ("rank0: 12.3 % of the time of kernels lies outside", True),
        ("a/rank0_ascend_pt: no TASK (its writer was cut off), so nothing is known of kernels", True),
        ("rank0: the clock is odd", False),
        ("some rows may be wrong", False),
    ],
)
def test_a_warning_counts_if_it_names_what_is_missing(message: str, counts: bool) -> None:
    assert tells(message) is counts
