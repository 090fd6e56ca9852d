"""ModuleComparison: every figure of every row of two small runs, worked out by hand."""

from pathlib import Path

import pytest

from prof_analysis import Comparison, compare
from prof_analysis.functions.student import p_value, quantile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, write_profile
from tests.helpers.small_runs import Module, Work, module, write_run


def step(first: int, second: int, *more: Module) -> list[Work | Module]:
    """A step whose two layers take so long, and whose loss takes 2 ns."""
    layers = module("Layer", ("mm", first)), module("Layer", ("mm", second), ("add", 1))
    return [module("Net", ("embed", 3), *layers, *more), ("loss", 2)]


BASE = [step(100, 40), step(104, 40), step(108, 40)]
# The first layer has become slower, the head is new.
HEAD = module("Head", ("mm", 6))
NEW = [step(200, 40, HEAD), step(210, 40, HEAD)]
EXACT = (
    "parent_module", "module", "rule", "base_calls", "new_calls", "base_self_ns", "new_self_ns", "self_difference_ns",
    "base_total_ns", "new_total_ns", "total_difference_ns", "is_noise", "reason", "base_kernels", "new_kernels",
    "base_communication_ns", "new_communication_ns", "new_path", "base_self_sum_ns", "new_self_sum_ns", "base_total_sum_ns",
    "new_total_sum_ns", "base_units", "new_units", "unit", "match_id", "is_backward", "run",
)  # fmt: skip
FLOATS = ("total_ratio", "difference_share", "base_sd_ns", "new_sd_ns", "p_value", "difference_margin_ns")
HOST = ("base_host_ns", "new_host_ns")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:  # type: ignore[misc]
    folder = tmp_path_factory.mktemp("runs")
    with compare(write_run(folder / "a", BASE, unlinked=(7,)), write_run(folder / "b", NEW), cache="none") as comparison:
        comparison.prepare()
        yield comparison


@pytest.mark.slow
def test_every_column_of_every_module(compared: Comparison) -> None:
    rows = compared.rows("FROM runs.module_comparison")
    assert {*EXACT, *FLOATS, *HOST} == rows[0].keys()
    first, head, net, second = "Net[0]/Layer[0]", "Net[0]/Head[0]", "Net[0]", "Net[0]/Layer[1]"
    lost, outside, of_none = "linked to no op: no host launch", "outside every module", "its kernels belong to no step"
    per, of_new, of_both = (3, 2, "step"), (None, None, "new"), (0.0, 0.0)
    third = 7 / 3
    assert [tuple(row[name] for name in EXACT[:15]) for row in rows] == [
        ("Net[0]", "Layer[0]", "instance", 1, 1, 104, 205, 101, 104, 205, 101, False, None, 1, 1),
        ("Net[0]", "Head[0]", "only new", 0, 1, 0, 6, 6, 0, 6, 6, False, None, 0, 1),
        (None, lost, None, 0, 0, third, 0, -third, third, 0, -third, None, of_none, 1 / 3, 0),
        ("", "Net[0]", "instance", 1, 1, 3, 3, 0, 148, 255, 107, True, None, 1, 1),
        ("Net[0]", "Layer[1]", "instance", 1, 1, 41, 41, 0, 41, 41, 0, True, None, 2, 2),
        (None, outside, None, 0, 0, 2, 2, 0, 2, 2, 0, True, None, 1, 1),
    ]
    assert [tuple(row[name] for name in EXACT[15:]) for row in rows] == [
        (*of_both, first, 312, 410, 312, 410, *per, 2, False, "new"),
        (*of_both, head, 0, 12, 0, 12, *per, 4, False, "new"),
        (*of_both, None, 7, 0, 7, 0, *per, *of_new),
        (*of_both, net, 9, 6, 444, 510, *per, 1, False, "new"),
        (*of_both, second, 123, 82, 123, 82, *per, 3, False, "new"),
        (*of_both, None, 6, 4, 6, 4, *per, *of_new),
    ]
    freedom = (16 / 3 + 25) ** 2 / ((16 / 3) ** 2 / 2 + 25**2 / 1)
    whole = 107 - 7 / 3
    p, margin = p_value(101 / (16 / 3 + 25) ** 0.5, freedom), quantile(freedom) * (16 / 3 + 25) ** 0.5
    same = (0, 0, 1, 0)
    assert [tuple(row[name] for name in FLOATS) for row in rows] == [
        pytest.approx((205 / 104, 101 / whole, 4, 50**0.5, p, margin)),
        (None, pytest.approx(6 / whole), 0, 0, 0, 0),
        (0, pytest.approx(-7 / 3 / whole), None, None, None, None),
        (pytest.approx(255 / 148), 0, *same),
        (1, 0, *same),
        (1, 0, *same),
    ]


def test_time_of_the_host_is_that_of_the_calls_with_what_is_inside(compared: Comparison) -> None:
    """On the host an op takes 3 ns of its module, and a module 1 ns more and 1 ns of the one around it."""
    rows = compared.rows("SELECT module, base_host_ns, new_host_ns FROM runs.module_comparison ORDER BY match_id")
    host = {row["module"]: (row["base_host_ns"], row["new_host_ns"]) for row in rows}
    assert host == {
        "Net[0]": (17, 22),
        "Layer[0]": (4, 4),
        "Layer[1]": (7, 7),
        "Head[0]": (0, 4),
        "outside every module": (None, None),
        "linked to no op: no host launch": (None, None),
    }


def test_the_differences_add_up_exactly(compared: Comparison) -> None:
    (sums,) = compared.rows(
        "SELECT sum(base_self_sum_ns)::BIGINT AS base, sum(new_self_sum_ns)::BIGINT AS new FROM runs.module_comparison"
    )
    totals = {row["side"]: row["sum_ns"] for row in compared.rows("FROM runs.comparison_total")}
    kernels = compared.rows("SELECT run, sum(duration_ns)::BIGINT AS ns FROM module.kernel GROUP BY run")
    assert sums == totals == {row["run"]: row["ns"] for row in kernels} == {"base": 457, "new": 514}


@pytest.mark.slow
def test_the_same_run_twice_has_no_difference(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a", BASE, unlinked=(7,))
    with pytest.warns(UserWarning, match="is in the runs base and new"), compare(run, run, cache="none") as comparison:
        rows = comparison.rows("SELECT rule, self_difference_ns, total_difference_ns, is_noise FROM runs.module_comparison")
        assert len(rows) == 5
        for row in rows:
            assert (row["self_difference_ns"], row["total_difference_ns"]) == (0, 0)
            assert row["rule"] in ("instance", None)
            assert row["is_noise"] is not False
        frame = comparison.modules()
        assert frame.columns[0] == "run"
        assert frame.module.tolist() == arrow_of(comparison.modules())["module"].to_pylist()


@pytest.mark.slow
def test_backward_has_rows_of_its_own(tmp_path: Path) -> None:
    """Autograd runs the backward of the linear layer on its own thread: its time is that of a row marked [Backward]."""

    def write(folder: Path, backward_time: int) -> Path:
        ops = [
            Op("mm", 120, 130, (Kernel("mm", 1000, 1010),), sequence_number=5),
            Op("MmBackward0", 300, 320, (Kernel("mm_grad", 2000, 2000 + backward_time),), 2, 0, 5),
        ]
        write_profile(
            folder / "rank0_ascend_pt", ops, [Range("Net", 100, 200), Range("Linear", 110, 150)], steps=[(1, 50, 400)]
        )
        return folder

    with compare(write(tmp_path / "a", 30), write(tmp_path / "b", 50), cache="none") as comparison:
        found = comparison.rows(
            "SELECT parent_module, module, base_calls, base_self_ns, new_self_ns, base_total_ns, new_total_ns, base_host_ns, "
            "reason FROM runs.module_comparison ORDER BY match_id, is_backward"
        )
    reason = says("base and new", "one step on one rank each")
    assert [tuple(row.values()) for row in found] == [
        ("", "Net[0]", 1, 0, 0, 10, 10, 100, reason),
        ("", "[Backward]Net[0]", 1, 0, 0, 30, 50, 20, reason),
        ("Net[0]", "Linear[0]", 1, 10, 10, 10, 10, 40, reason),
        ("Net[0]", "[Backward]Linear[0]", 1, 30, 50, 30, 50, 20, reason),
    ]
