"""Passes of a simulated server, of which everything is known, in the three forms that profilers write."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.serving import Form, Pass, Rank, covered, serve, write
from tests.helpers.slow import quick

FORMS: list[Form] = ["db", "text", "kineto"]
PASSES = 24
ALL_PASSES = 200


def asked(ranks: list[Rank], folder: Path, form: Form, *, marks: bool = True) -> list[list[dict[str, Any]]]:
    """Write what the ranks recorded and return the passes that are found on each."""
    names = [write(rank, folder, form, marks=marks).name for rank in ranks]
    with open_profile(folder) as profile:
        rows = arrow_of(profile.iterations()).to_pylist()
        stretches = profile.rows("FROM pass.turn_time")
        # Passes and what lies between them are the recording, to the ns.
        for rank, name in zip(ranks, names, strict=True):
            moments = [moment for one in rank.passes for _, start, end, _ in one.kernels for moment in (start, end)]
            whole = max(moments) - min(moments)
            assert sum(row["duration_ns"] for row in stretches if row["profile"] == name) == whole
            assert sum(row["cycle_ns"] for row in rows if row["profile"] == name) <= whole
    return [[row for row in rows if row["profile"] == name] for name in names]


def held(one: Pass) -> tuple[Any, ...]:
    requests = (None, None) if one.phase == "draft" else (one.prefill, one.decode)
    return one.phase, *requests, one.tokens


def found(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["phase"], row["prefill_request_count"], row["decode_request_count"], row["token_count"]


def computing(one: Pass) -> int:
    return covered([(start, end) for kind, start, end, _ in one.kernels if kind != "sum"])


def busy(one: Pass) -> int:
    return covered([(start, end) for _, start, end, _ in one.kernels])


def check(ranks: list[Rank], rows: list[list[dict[str, Any]]], *, times: bool) -> None:
    for rank, of_rank in zip(ranks, rows, strict=True):
        assert [found(row) for row in of_rank] == [held(one) for one in rank.passes]
        if not times:
            continue
        assert [(row["start_ns"], row["end_ns"]) for row in of_rank] == [one.span for one in rank.passes]
        assert [row["computing_ns"] for row in of_rank] == [computing(one) for one in rank.passes]
        assert [row["communication_not_overlapped_ns"] for row in of_rank] == [
            busy(one) - computing(one) for one in rank.passes
        ]
        assert [row["idle_ns"] for row in of_rank] == [one.span[1] - one.span[0] - busy(one) for one in rank.passes]
        ends = [rank.passes[0].span[0], *(one.span[1] for one in rank.passes[:-1])]
        gaps = [one.span[0] - end for one, end in zip(rank.passes, ends, strict=True)]
        assert [row["gap_before_ns"] for row in of_rank] == gaps


@pytest.mark.parametrize("form", quick(FORMS, 2))
@pytest.mark.parametrize("drafts", quick([0, 2], 1))
def test_annotated_passes_have_their_phase_tokens_and_times(tmp_path: Path, form: Form, drafts: int) -> None:
    ranks = serve(PASSES, drafts=drafts)
    rows = asked(ranks, tmp_path, form)
    check(ranks, rows, times=True)
    assert {one.phase for rank in ranks for one in rank.passes} >= {"decode", "mixed", "dummy", "draft" if drafts else "decode"}
    for rank, of_rank in zip(ranks, rows, strict=True):
        assert {row["found_by"] for row in of_rank} == {"annotation"}
        assert [row["host_ns"] for row in of_rank] == [one.host[1] - one.host[0] for one in rank.passes]
        contexts = [None if one.phase == "draft" else one.keys for one in rank.passes]
        assert [row["key_count"] for row in of_rank] == contexts
        # Between two passes of the model the host schedules for 10 us.
        scheduled = {row["scheduling_ns"] for row in of_rank[1:] if row["phase"] != "draft"}
        assert scheduled == {10_000}


@pytest.mark.parametrize("form", quick(FORMS, 0))
@pytest.mark.parametrize("drafts", quick([0, 2], 0))
def test_hidden_passes_have_their_phase_and_tokens_by_shapes(tmp_path: Path, form: Form, drafts: int) -> None:
    ranks = serve(PASSES, drafts=drafts)
    rows = asked(ranks, tmp_path, form, marks=False)
    # Nothing separates a draft model from the choice of tokens before it but the order of kernels.
    check(ranks, rows, times=not drafts)
    assert {row["found_by"] for of_rank in rows for row in of_rank} == {"tokens"}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("drafts", "marks"), [(0, True), (2, True), (0, False), (2, False)])
def test_passes_of_a_long_recording(tmp_path: Path, form: Form, drafts: int, marks: bool) -> None:
    ranks = serve(ALL_PASSES, drafts=drafts, seed=3)
    check(ranks, asked(ranks, tmp_path, form, marks=marks), times=marks or not drafts)


def test_without_annotations_and_shapes_a_phase_is_that_of_attention_or_unknown(tmp_path: Path) -> None:
    """On GPUs the names of attention tell; an operator that serves both does not, and says why."""
    (rank, _) = serve(PASSES)
    for form in ("kineto", "db"):
        result = write(rank, tmp_path / form, form, marks=False, shapes=False)
        with open_profile(result) as profile:
            rows = arrow_of(profile.iterations()).to_pylist()
        assert len(rows) == len(rank.passes)
        if form == "kineto":
            assert [row["phase"] for row in rows] == [one.phase for one in rank.passes]
        else:
            assert {row["phase"] for row in rows} <= {None, "dummy"}
            assert all("shapes do not tell" in row["reason"] for row in rows if row["phase"] is None)
