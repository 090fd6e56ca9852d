"""Pairing: which rank is compared with which, what a figure is a mean of, and what is left out and said."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import Comparison, InputError, ProfAnalysisWarning, compare
from prof_analysis.engine.tables import documented_tables
from tests.helpers.empty_database import empty_database
from tests.helpers.says import says
from tests.helpers.small_runs import Module, Work, module, write_run

Place = tuple[int | None, ...]
Ranks = dict[int | None, Place]
NO_PLACE: Place = (None, None, None, None)


def paired(base: Ranks, new: Ranks, rank_map: list[str]) -> tuple[str, list[str | None]]:
    """How ranks are paired, and the pair of each, those of the base first; a place is stage, dp, cp and tp."""
    table = "communication.parallel_rank"
    with empty_database({"rank_map": rank_map}) as connection:
        columns = ", ".join(f"{column.name} {column.type}" for column in documented_tables()[table].columns)
        connection.execute(
            f"CREATE SCHEMA communication; CREATE TABLE {table} (run TEXT, profile TEXT, rank_id INT, {columns})"
        )
        for run, ranks in (("base", base), ("new", new)):
            for rank, place in ranks.items():
                connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?)", [run, f"{run}/{rank}", rank, *place])
        rows = connection.execute(f"SELECT paired_by, pair FROM ({documented_tables()['runs.compared_rank'].body})").fetchall()
    (paired_by,) = {row[0] for row in rows}
    return paired_by, [row[1] for row in rows]


PAIRINGS: dict[str, tuple[Ranks, Ranks, list[str], str, list[str | None]]] = {
    "places that one run does not know": (
        {0: (0, 0, None, 0), 1: (1, 0, None, 0)},
        {2: NO_PLACE, 3: NO_PLACE},
        [],
        "all ranks together",
        ["all ranks"] * 4,
    ),
    "no ids": ({None: NO_PLACE}, {None: NO_PLACE}, [], "all ranks together", ["all ranks"] * 2),
    "as the user says": (
        {0: NO_PLACE, 1: NO_PLACE},
        {0: NO_PLACE, 1: NO_PLACE},
        ["0=1"],
        "rank map",
        ["1", None, None, "1"],
    ),
}


@pytest.mark.parametrize(("base", "new", "rank_map", "by", "pairs"), PAIRINGS.values(), ids=list(PAIRINGS))
def test_ranks_have_partners(base: Ranks, new: Ranks, rank_map: list[str], by: str, pairs: list[str | None]) -> None:
    assert paired(base, new, rank_map) == (by, pairs)


def figures(comparison: Comparison) -> dict[str, tuple[float, float]]:
    rows = comparison.rows("SELECT module, base_self_ns, new_self_ns FROM runs.module_comparison ORDER BY module")
    return {row["module"]: (row["base_self_ns"], row["new_self_ns"]) for row in rows}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        pytest.param({"rank_map": {7: 0}}, says("a: ", "no rank 7", "ranks are 0").pattern, id="of the base"),
        pytest.param(
            {"rank_map": {0: 8}},
            says("b: ", "no rank 8", "ranks are 0").pattern,
            id="of the new run",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            {"skip_steps": (1, 2)},
            says("a: ", "no step is left", "leave out fewer").pattern,
            id="all steps",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_ranks_and_steps_that_are_not_there_are_an_error(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    base, new = write_run(tmp_path / "a", steps(10, 30)), write_run(tmp_path / "b", steps(10, 30))
    with compare(base, new, cache="none", **options) as comparison, pytest.raises(InputError, match=problem):
        comparison.modules()


def steps(*times: int) -> list[list[Work | Module]]:
    return [[module("Net", ("mm", time), ("mm", time)), ("loss", 1)] for time in times]


@pytest.mark.slow
def test_a_figure_is_a_mean_over_steps_calls_or_runs(tmp_path: Path) -> None:
    """The base has two steps, the new run three that begin at 7; of no step is what ran before, and what no op launched."""
    base = write_run(tmp_path / "a", steps(10, 30), unlinked=(5,), before=[("warm", 4)])
    new = write_run(tmp_path / "b", steps(20, 20, 50), first_step=7)
    per_step = {"Net[0]": (40, 60), "linked to no op: no host launch": (2.5, 0), "outside every module": (1, 1)}
    with compare(base, new, cache="none") as comparison:
        assert figures(comparison) == {**per_step, "outside every step": (2, 0)}
        sizes = comparison.rows("FROM runs.compared_run ORDER BY side")
        assert comparison.warnings == []
    assert [tuple(row.values()) for row in sizes] == [
        ("new", "base", "step", 1, 0, 2, 2, "step", 2, None),
        ("new", "new", "step", 1, 0, 3, 3, "step", 3, None),
    ]
    with pytest.warns(ProfAnalysisWarning), compare(base, new, skip_steps=iter((1, 99)), cache="none") as comparison:
        assert figures(comparison)["Net[0]"] == (60, 60)
        assert figures(comparison)["linked to no op: no host launch"] == (5, 0)
        assert comparison.warnings == [says("no run has step 99", "left out", "the steps are 1, 2, 7, 8, 9")]
    with compare(base, new, per="call", cache="none") as comparison:
        assert figures(comparison) == {**per_step, "outside every call": (2, 0)}
    with compare(base, new, per="run", cache="none") as comparison:
        assert figures(comparison) == {
            "Net[0]": (80, 180), "linked to no op: no host launch": (5, 0), "outside every module": (2 + 4, 3)
        }  # fmt: skip
        reasons = {row["reason"] for row in comparison.rows("SELECT reason FROM runs.module_comparison")}
        assert reasons == {"base and new have one rank each"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "expected", "said"),
    [
        pytest.param(
            [[module("Net", ("mm", 20), ("mm", 20)), ("loss", 1)]] * 2,
            {"Net[0]": (40, 40), "outside every module": (1, 1)},
            ("no steps", "per call of the outermost module"),
            id="modules",
        ),
        pytest.param(
            [[("mm", 8)]],
            {"Net[0]": (80, 0), "outside every module": (2, 8)},
            ("neither steps nor modules", "per run, rank by rank"),
            id="no modules",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_without_steps_figures_are_per_call_or_run_and_that_is_said(
    tmp_path: Path, other: list[list[Work | Module]], expected: dict[str, tuple[float, float]], said: tuple[str, ...]
) -> None:
    base = write_run(tmp_path / "a", steps(10, 30))
    with compare(base, write_run(tmp_path / "b", other, first_step=None), cache="none") as comparison:
        assert figures(comparison) == expected
        assert comparison.warnings == [says("new/rank0_ascend_pt: ", *said)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
def test_of_calls_the_kernel_time_is_compared_and_ranks_without_steps_are_counted(tmp_path: Path) -> None:
    """Of the step time it is not known which call has how much, and so not whether a difference is noise."""
    calls: list[list[Work | Module]] = [[module("Net", ("mm", time), ("mm", 20)), ("loss", 1)] for time in (20, 21)]
    base = write_run(tmp_path / "a", steps(20, 21))
    for rank in range(2):
        new = write_run(tmp_path / "b", calls, rank=rank, first_step=None)
    with compare(base, new, cache="none") as comparison:
        (found,) = comparison.rows("SELECT figure, part, sentence FROM runs.comparison_finding")
        (warning, *_) = comparison.warnings
    assert (found["figure"], found["part"]) == ("kernel time", None)
    assert " of kernel time" in found["sentence"]
    assert warning == says("new/rank0_ascend_pt and 1 more: ", "no steps", "per call")


@pytest.mark.slow
def test_a_sample_is_over_steps_or_ranks_or_unknown(tmp_path: Path) -> None:
    for rank, time in enumerate((10, 12, 14)):
        write_run(tmp_path / "a", steps(time), rank)
        write_run(tmp_path / "b", steps(time + 5), rank)
    one = write_run(tmp_path / "c", steps(10))
    judged = "SELECT base_sd_ns, new_sd_ns, is_noise, reason FROM runs.module_comparison WHERE module = 'Net[0]'"
    with compare(tmp_path / "a", tmp_path / "b", cache="none") as comparison:
        (row,) = comparison.rows(judged)
        assert row == {"base_sd_ns": 4.0, "new_sd_ns": 4.0, "is_noise": True, "reason": None}
        assert {row["sample_kind"] for row in comparison.rows("FROM runs.compared_run")} == {"rank"}
    with compare(one, tmp_path / "a", cache="none") as comparison:
        (row,) = comparison.rows(judged)
        assert row == {"base_sd_ns": None, "new_sd_ns": None, "is_noise": None, "reason": says("base has one step on one rank")}
