"""Simulated runs against each other: exactly the planted changes come out, with their nanoseconds, and all sums close."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import prof_analysis
from fixtures.cost import planted_cost
from fixtures.shape import Shape
from prof_analysis.profile.comparison import Comparison
from tests.helpers.compared import FORMS, PLAIN, Run, found_pairs, true_pairs, write_run

Write = Callable[..., Run]
LAYER = "Qwen2ForCausalLM[0]/Qwen2Model[0]/Qwen2DecoderLayer"
# Tables whose rows divide all kernel time, with how a row names what it counts.
DIVIDED = ("runs.module_comparison", "runs.op_comparison", "runs.kernel_comparison")


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Simulate a run, each once for all tests."""
    known: dict[Any, Run] = {}

    def written(shape: Shape = PLAIN, ranks: int = 1, seed: int = 1, forms: tuple[str, ...] = ("db",)) -> Run:
        key = (shape, ranks, seed, forms)
        if key not in known:
            known[key] = write_run(tmp_path_factory.mktemp("run"), shape, ranks, seed, forms)
        return known[key]

    return written


def assert_closes(comparison: Comparison) -> None:
    """Sums of integers: modules, ops and kernels divide all kernel time, ops that of their module, causes all idle time."""
    totals = {(row["run"], row["side"]): row["sum_ns"] for row in comparison.rows("FROM runs.comparison_total")}
    modules = "SELECT run, sum(base_self_sum_ns) AS base, sum(new_self_sum_ns) AS new FROM runs.module_comparison GROUP BY run"
    for row in comparison.rows(modules):
        assert (row["base"], row["new"]) == (totals[row["run"], "base"], totals[row["run"], "new"])
    for table in DIVIDED[1:]:
        for row in comparison.rows(f"SELECT run, sum(base_sum_ns) AS base, sum(new_sum_ns) AS new FROM {table} GROUP BY run"):
            assert (row["base"], row["new"]) == (totals[row["run"], "base"], totals[row["run"], "new"]), table
    open_modules = comparison.rows("""
        WITH op AS (
            SELECT run, match_id, is_backward, sum(base_sum_ns) AS base, sum(new_sum_ns) AS new
            FROM runs.op_comparison
            WHERE match_id IS NOT NULL
            GROUP BY ALL
        )
        FROM runs.module_comparison AS module
        FULL JOIN op USING (run, match_id, is_backward)
        WHERE (module.rule IS NOT NULL OR op.run IS NOT NULL)
            AND (coalesce(base, 0), coalesce(new, 0)) <> (base_self_sum_ns, new_self_sum_ns) IS NOT false
    """)
    assert open_modules == []
    assert (
        comparison.rows("""
        WITH cause AS (SELECT run, sum(base_sum_ns) AS base, sum(new_sum_ns) AS new FROM runs.idle_comparison GROUP BY run)
        SELECT cause.*, whole.base_sum, whole.new_sum
        FROM cause
        JOIN runs.comparison_summary AS whole USING (run)
        WHERE figure = 'idle' AND (cause.base, cause.new) <> (base_sum, new_sum)
    """)
        == []
    )
    for row in comparison.rows("FROM runs.module_comparison WHERE rule IS NOT NULL AND base_units = new_units"):
        planted = (row["new_self_sum_ns"] - row["base_self_sum_ns"]) / row["base_units"]
        assert row["self_difference_ns"] == pytest.approx(planted, abs=1e-3)


def assert_nothing_differs(comparison: Comparison, run: str) -> None:
    """Each row of each table has the same figures on both sides."""
    for table, figures in {
        "runs.module_comparison": ("calls", "self_ns", "total_ns", "kernels", "communication_ns"),
        "runs.op_comparison": ("kernel_count", "ns"),
        "runs.idle_comparison": ("gap_count", "ns"),
    }.items():
        differs = " OR ".join(f"base_{figure} IS DISTINCT FROM new_{figure}" for figure in figures)
        assert (
            comparison.rows(
                f"FROM {table} WHERE run = '{run}' AND ({differs} OR coalesce(is_noise, reason IS NOT NULL) = false)"
            )
            == []
        ), table
    assert comparison.rows(f"FROM runs.module_comparison WHERE run = '{run}' AND rule <> 'instance'") == []
    # A GPU trace has no types of kernels.
    assert comparison.rows(f"FROM runs.op_comparison WHERE run = '{run}' AND change <> 'other kernels'") == []
    assert comparison.rows(f"FROM runs.communication_comparison WHERE run = '{run}' AND difference_ns <> 0") == []
    assert comparison.rows(f"FROM runs.step_comparison WHERE run = '{run}' AND difference_ns <> 0") == []
    of_time = "unit = 'ns' AND difference <> 0"
    assert comparison.rows(f"FROM runs.comparison_summary WHERE run = '{run}' AND ({of_time} OR is_noise = false)") == []


@pytest.mark.slow
@pytest.mark.parametrize("base", FORMS)
def test_one_run_in_all_forms_has_no_difference(base: str, write: Write) -> None:
    run = write(forms=FORMS)
    with prof_analysis.compare(*(run.folder / form for form in (base, *FORMS))) as comparison:
        assert comparison.runs == FORMS
        for form in FORMS:
            assert found_pairs(comparison, form) == true_pairs(run, run)
            assert_nothing_differs(comparison, form)
        assert_closes(comparison)


def changed(comparison: Comparison) -> dict[tuple[str, bool], int]:
    """The modules with another kernel time, and the difference over all units."""
    return {place: new - base for place, (base, new) in found_pairs(comparison).items() if base != new}


def planted(run: Run, seed: int = 1) -> dict[tuple[str, bool], int]:
    """The same as the generator planted it."""
    found: dict[tuple[str, bool], int] = {}
    for row in planted_cost(run.owner, run.shape, seed).to_pylist():
        place = (row["module_instance"], row["backward"])
        found[place] = found.get(place, 0) + row["new_ns"] - row["base_ns"]
    return found


def test_only_the_slower_module_comes_out(write: Write) -> None:
    base, new = write(), write(replace(PLAIN, slower="Qwen2DecoderLayer[1]/Qwen2MLP[0]/SiLU[0]"))
    with prof_analysis.compare(base.folder / "db", new.folder / "db") as comparison:
        (first, second, *_) = comparison.rows("FROM runs.module_comparison")
        ops = comparison.rows(
            "SELECT op_name, change, new_sum_ns - base_sum_ns AS ns FROM runs.op_comparison WHERE difference_ns <> 0"
        )
        kernels = comparison.rows(
            "SELECT type, new_sum_ns - base_sum_ns AS ns FROM runs.kernel_comparison WHERE difference_ns <> 0"
        )
        assert found_pairs(comparison) == true_pairs(base, new)
        assert_closes(comparison)
    (cost,) = planted(new).values()
    assert cost == pytest.approx(0.3 * base.self_ns()[f"{LAYER}[1]/Qwen2MLP[0]/SiLU[0]", False], rel=1e-3)
    assert (first["parent_module"], first["module"], first["rule"]) == (f"{LAYER}[1]/Qwen2MLP[0]", "SiLU[0]", "instance")
    assert first["self_difference_ns"] == first["total_difference_ns"] == cost / 4
    assert first["difference_share"] == 1
    assert second["self_difference_ns"] == 0
    assert ops == [{"op_name": "aclnnSilu", "change": ops[0]["change"], "ns": cost}]
    assert kernels == [{"type": "Swish", "ns": cost}]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "alias"),
    [
        pytest.param({"fused": True, "slower": "SiLU[0]"}, None, id="an op is fused, another one slower"),
        pytest.param(
            {"renamed": "Qwen2MLP=AscendMLP", "slower": "SiLU[0]"},
            {"Qwen2MLP": "AscendMLP"},
            id="another name",
            marks=pytest.mark.slow,
        ),
        pytest.param({"extra_layer": 0, "slower": "SiLU[0]"}, None, id="a layer in front", marks=pytest.mark.slow),
    ],
)
def test_exactly_what_was_planted_comes_out(change: dict[str, Any], alias: dict[str, str] | None, write: Write) -> None:
    base, new = write(), write(replace(PLAIN, **change))
    with prof_analysis.compare(base.folder / "db", new.folder / "db", alias=alias) as comparison:
        assert found_pairs(comparison) == true_pairs(base, new)
        assert changed(comparison) == planted(new)
        assert_closes(comparison)


@pytest.mark.slow
def test_a_layer_more_in_the_middle_shifts_nothing(write: Write) -> None:
    """All layers but the first are alike, so any of them may be the new one."""
    shape = replace(PLAIN, spread=0, layers=4)
    base, new = write(shape), write(replace(shape, extra_layer=2))
    with prof_analysis.compare(base.folder / "db", new.folder / "db") as comparison:
        only_new = comparison.rows("SELECT DISTINCT new_path FROM runs.module_comparison WHERE rule = 'only new' ORDER BY ALL")
        others = comparison.rows(
            "FROM runs.module_comparison WHERE rule IS DISTINCT FROM 'only new' AND base_self_sum_ns <> new_self_sum_ns"
        )
        assert sum(changed(comparison).values()) == sum(planted(new).values())
        assert_closes(comparison)
    paths = [row["new_path"] for row in only_new]
    assert paths == sorted(path for path, _ in true_pairs(new, new) if path.startswith(paths[0])) or len(paths) == 13
    assert all(path.startswith(paths[0]) for path in paths)
    assert paths[0] in [f"{LAYER}[{number}]" for number in range(1, 5)]
    assert others == []


@pytest.mark.slow
def test_more_steps_are_no_difference(write: Write) -> None:
    shape = replace(PLAIN, spread=0)
    base, new = write(shape), write(replace(shape, steps=6), ranks=3)
    with prof_analysis.compare(base.folder / "db", new.folder / "db", rank_map={0: 0}) as comparison:
        assert comparison.rows("FROM runs.module_comparison WHERE self_difference_ns <> 0 OR rule <> 'instance'") == []
        assert comparison.rows("FROM runs.op_comparison WHERE difference_ns <> 0") == []
        assert comparison.rows("FROM runs.idle_comparison WHERE is_noise = false") == []
        assert found_pairs(comparison) == {place: (ns, 6 * ns // 4) for place, ns in base.self_ns().items()}
        assert_closes(comparison)


@pytest.mark.slow
def test_other_numbers_of_ranks_are_compared_together(write: Write) -> None:
    base, new = write(ranks=4), write(replace(PLAIN, steps=6), ranks=2)
    with prof_analysis.compare(base.folder / "db", new.folder / "db") as comparison:
        assert found_pairs(comparison) == true_pairs(base, new)
        assert_closes(comparison)


@pytest.mark.slow
def test_a_slow_rank_comes_out_as_its_share_of_each_figure(write: Write) -> None:
    base, new = write(ranks=2), write(replace(PLAIN, slow_rank=1), ranks=2)
    with prof_analysis.compare(base.folder / "db", new.folder / "db") as comparison:
        found = found_pairs(comparison)
        (total,) = comparison.rows("SELECT sum(self_difference_ns) AS ns FROM runs.module_comparison")
        assert_closes(comparison)
    assert found == true_pairs(base, new)
    assert total["ns"] == pytest.approx(sum(new - base for base, new in found.values()) / 8)


@pytest.mark.slow
def test_swapped_runs_have_the_differences_with_the_other_sign(write: Write) -> None:
    base, new = write(), write(replace(PLAIN, repeat=1, steps=3, fused=True, extra_layer=0))
    answers = []
    for runs in ((base, new), (new, base)):
        with prof_analysis.compare(*(run.folder / "db" for run in runs)) as comparison:
            answers.append(comparison.rows("FROM runs.module_comparison"))
    forth, back = (
        {(_paths(row, side), row["is_backward"]): row for row in rows} for rows, side in zip(answers, (0, 1), strict=True)
    )
    assert forth.keys() == back.keys()
    for key, row in forth.items():
        other = back[key]
        assert row["self_difference_ns"] == -other["self_difference_ns"], key
        assert row["total_difference_ns"] == -other["total_difference_ns"], key
        assert (row["base_sd_ns"], row["new_sd_ns"], row["is_noise"]) == (
            other["new_sd_ns"],
            other["base_sd_ns"],
            other["is_noise"],
        )


def _paths(row: dict[str, Any], swapped: int) -> tuple[str | None, str | None]:
    """Both paths of a row, that of the first run first."""
    plain = row["module"].replace("[Backward]", "")
    base = None if row["rule"] == "only new" else "/".join(filter(None, (row["parent_module"], plain)))
    pair = (base, row["new_path"] if row["rule"] else plain)
    return pair[::-1] if swapped else pair


@pytest.mark.slow
def test_noise_alone_is_called_noise_and_three_deviations_are_not(write: Write) -> None:
    shape = replace(PLAIN, steps=10, layers=40, spread=3, mode="inference")
    base, again = write(shape), write(replace(shape, repeat=1))
    slower = write(replace(shape, repeat=1, slower="Qwen2DecoderLayer[7]/Qwen2MLP[0]/SiLU[0]", slower_by=6))
    with prof_analysis.compare(base.folder / "db", again.folder / "db") as comparison:
        rows = [row for table in DIVIDED[:2] for row in comparison.rows(f"SELECT is_noise, reason FROM {table}")]
    assert len(rows) >= 1000
    assert [row for row in rows if row["is_noise"] is None and not row["reason"]] == []
    assert sum(row["is_noise"] is False for row in rows) <= 0.05 * len(rows)
    with prof_analysis.compare(base.folder / "db", slower.folder / "db") as comparison:
        (found,) = comparison.rows("FROM runs.module_comparison WHERE NOT is_noise")
        assert comparison.rows("SELECT op_name FROM runs.op_comparison WHERE NOT is_noise") == [{"op_name": "aclnnSilu"}]
    assert found["parent_module"].endswith("Qwen2DecoderLayer[7]/Qwen2MLP[0]")
    assert 2.5 < found["self_difference_ns"] / found["base_sd_ns"] < 5
