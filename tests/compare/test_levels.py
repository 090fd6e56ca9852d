"""The levels of a comparison below and beside modules: ops, kernels, communication, steps, idle time, and the whole."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import prof_analysis
from prof_analysis.profile.comparison import Comparison
from tests.compare.runs import STEP, Work, write_run
from tests.helpers.frames import arrow_of

LAYER = ("Net[0]", "Layer[0]")


def values(rows: Iterable[dict[str, Any]], *columns: str) -> list[tuple[Any, ...]]:
    """The values of some columns."""
    return [tuple(row[column] for column in columns) for row in rows]


def compared(tmp_path: Path, base: Iterable[Iterable[Work]], new: Iterable[Iterable[Work]], **options: Any) -> Comparison:
    """Compare a run that does the first work with one that does the second."""
    runs = {"base": base, "new": new}
    folders = [write_run(tmp_path / name, [tuple(step) for step in steps]) for name, steps in runs.items()]
    return prof_analysis.compare(*folders, **options)


def test_each_way_in_which_an_op_changes_has_its_word(tmp_path: Path) -> None:
    base = [
        Work("aten::mm", (1000,), "MatMulV3", "4,4;4,4"),
        Work("aten::gelu", (50,), "Gelu"),
        Work("aten::add", (30,), "Add"),
        Work("aten::sum", (70,), "ReduceSum", "8,8"),
        Work("aten::to", (40,), "Cast"),
        Work("aten::exp", (10,), "Exp"),
        Work("aten::step", (5,), "Apply", is_inside=False),
    ]
    new = [
        Work("aten::mm", (1300,), "MatMulV3", "4,4;4,4"),
        Work("aten::silu", (60,), "Silu"),
        Work("aten::add", (30, 30, 30), "Add"),
        Work("aten::sum", (90,), "ReduceSum", "8,16"),
        Work("aten::to", (45,), "TransData"),
        Work("aten::exp", (10,), "Exp"),
        Work("aten::step", (4,), "Apply", is_inside=False),
    ]
    with compared(tmp_path, [base] * 3, [new] * 2) as comparison:
        rows = arrow_of(comparison.ops()).to_pylist()
        modules = comparison.rows(
            "SELECT module, base_self_sum_ns, new_self_sum_ns FROM runs.module_comparison WHERE rule <> ''"
        )
    shown = "op_name", "module", "location", "change", "base_kernel_count", "new_kernel_count", "base_ns", "new_ns"
    inside, outside = ("Layer[0]", "inside modules"), (None, "outside every module")
    assert values(rows, *shown) == [
        ("aten::mm", *inside, "slower", 1, 1, 1000, 1300),
        ("aten::add", *inside, "more often", 1, 3, 30, 90),
        ("aten::silu", *inside, "added", 0, 1, 0, 60),
        ("aten::gelu", *inside, "removed", 1, 0, 50, 0),
        ("aten::sum", *inside, "other shapes", 1, 1, 70, 90),
        ("aten::to", *inside, "other kernels", 1, 1, 40, 45),
        ("aten::step", *outside, "faster", 1, 1, 5, 4),
        ("aten::exp", *inside, None, 1, 1, 10, 10),
    ]
    assert values(rows[4:6], "base_input_shapes", "new_input_shapes") == [('"8,8"', '"8,16"'), ('"4,4"', '"4,4"')]
    assert values(rows[5:6], "base_kernel_types", "new_kernel_types") == [("Cast", "TransData")]
    assert values(rows[:1], "difference_ns", "ratio", "difference_share", "base_sd_ns", "new_sd_ns", "is_noise", "reason") == [
        (300, 1.3, 300 / 394, 0, 0, False, None)
    ]
    of_layer = [row for row in rows if row["module"] == "Layer[0]"]
    assert modules == [
        {
            "module": "Layer[0]",
            "base_self_sum_ns": sum(row["base_sum_ns"] for row in of_layer),
            "new_self_sum_ns": sum(row["new_sum_ns"] for row in of_layer),
        },
        {"module": "Net[0]", "base_self_sum_ns": 0, "new_self_sum_ns": 0},
    ]


def test_kernels_differ_by_type_and_shape_whatever_op_launched_them(tmp_path: Path) -> None:
    base = [
        Work("aten::mul", (10, 20), "Mul", "2,2"),
        Work("aten::mul_", (30,), "Mul", "2,2"),
        Work("aten::mul", (7,), "Mul", "9"),
    ]
    new = [Work("aten::mul", (40,), "Mul", "2,2"), Work("aten::mul", (7,), "Mul", "9"), Work("aten::add", (5,), "Add", "9")]
    with compared(tmp_path, [base], [new]) as comparison:
        rows = arrow_of(comparison.kernels()).to_pylist()
    columns = (
        "type",
        "input_shapes",
        "change",
        "base_kernel_count",
        "new_kernel_count",
        "base_mean_ns",
        "new_mean_ns",
        "base_ns",
    )
    assert values(rows, *columns, "new_ns", "is_noise") == [
        ("Mul", '"2,2"', "less often", 3, 1, 20, 40, 60, 40, None),
        ("Add", '"9"', "added", 0, 1, None, 5, 0, 5, None),
        ("Mul", '"9"', None, 1, 1, 7, 7, 7, 7, None),
    ]
    assert "one step on one rank" in rows[0]["reason"]


def test_communication_differs_by_type(tmp_path: Path) -> None:
    def step(duration: int, type_: str = "hcom_allReduce_") -> list[Work]:
        return [Work("aten::mm"), Work("c10d::op", (duration,), type_, kind="communication")]

    with compared(tmp_path, [step(100), step(102)], [step(150), step(152)]) as comparison:
        (row,) = arrow_of(comparison.communication()).to_pylist()
        (idle_base,) = comparison.rows("SELECT base FROM runs.comparison_summary WHERE figure = 'exposed communication'")
    columns = "operation", "kind", "change", "base_op_count", "new_op_count", "base_ns", "new_ns", "base_transit_ns", "is_noise"
    assert values([row], *columns) == [("allreduce", "collective", "slower", 1, 1, 101, 151, None, False)]
    assert idle_base["base"] == 101


def test_steps_stand_side_by_side_and_outliers_say_why(tmp_path: Path) -> None:
    def step(duration: int, gap: int = 0) -> list[Work]:
        return [Work("aten::mm", (10,)), Work("aten::add", (duration,), gap=gap)]

    # The host collects garbage while the device waits for the second op of step 3.
    collected = [(3 * STEP + 151, 3 * STEP + 190)]
    base = write_run(tmp_path / "base", [step(500), step(100), step(101), step(100)])
    steps = [step(100), step(100), step(100, gap=2000), step(300), step(100)]
    new = write_run(tmp_path / "new", steps, collections=collected)
    with prof_analysis.compare(base, new, skip_steps=(1,)) as comparison:
        rows = arrow_of(comparison.steps()).to_pylist()
        (size,) = comparison.rows("FROM runs.comparison")
    columns = "place", "base_step_id", "new_step_id", "base_ns", "new_ns", "difference_ns", "base_outlier", "is_base_compared"
    assert values(rows, *columns) == [
        (1, 1, 1, 510, 110, -400, "first step (warm-up)", False),
        (2, 2, 2, 110, 110, 0, None, True),
        (3, 3, 3, 111, 2110, 1999, None, True),
        (4, 4, 4, 110, 310, 200, None, True),
        (5, None, 5, None, 110, None, None, None),
    ]
    assert [row["new_outlier"] for row in rows] == [None, None, "idle", "computing", None]
    assert (size["base_unit_count"], size["new_unit_count"]) == (3, 4)


def test_causes_of_idle_time_add_up_to_it(tmp_path: Path) -> None:
    base = [Work("aten::mm", (10,)), Work("aten::add", (10,), gap=100), Work("aten::add", (10,), gap=40)]
    new = [Work("aten::mm", (10,)), Work("aten::add", (10,), gap=250), Work("aten::add", (10,), gap=40)]
    with compared(tmp_path, [base] * 2, [new] * 2) as comparison:
        rows = arrow_of(comparison.idle()).to_pylist()
        (whole,) = comparison.rows("SELECT base_sum, new_sum, difference FROM runs.comparison_summary WHERE figure = 'idle'")
    assert whole == {"base_sum": 280, "new_sum": 580, "difference": 150}
    assert (sum(row["base_sum_ns"] for row in rows), sum(row["new_sum_ns"] for row in rows)) == (280, 580)
    assert sum(row["difference_ns"] for row in rows) == 150


def test_the_finding_names_what_changed_most_and_how_sure_that_is(tmp_path: Path) -> None:
    def steps(*durations: int) -> list[list[Work]]:
        return [[Work("aten::mm", (duration,), "MatMulV3"), Work("aten::add", (500,))] for duration in durations]

    with compared(tmp_path / "slower", steps(1000, 1001, 1002, 1001), steps(2000, 2001, 2003, 2002)) as comparison:
        (slower,) = arrow_of(comparison.finding()).to_pylist()
    with compared(tmp_path / "noise", steps(1000, 1100, 1050, 1020), steps(1010, 1090, 1060, 1015)) as comparison:
        (noise,) = arrow_of(comparison.finding()).to_pylist()
    with compared(tmp_path / "unknown", steps(1000), steps(1100)) as comparison:
        (unknown,) = arrow_of(comparison.finding()).to_pylist()
    with compared(tmp_path / "same", steps(1000, 1001), steps(1000, 1001)) as comparison:
        (same,) = arrow_of(comparison.finding()).to_pylist()
    assert slower["sentence"] == (
        "a step takes 2.5 us, 1.5 us in the base (+66.7 %): more than steps vary (p < 0.0001); most in computing (+1.0 us); "
        "the module that changed most: Net/Layer (+1.0 us)"
    )
    assert noise["sentence"] == "a step takes 1.5 us, 1.5 us in the base (+0.1 %): no more than steps vary"
    assert unknown["is_noise"] is None
    assert unknown["sentence"].startswith("a step takes 1.6 us, 1.5 us in the base (+6.7 %): not known whether that is noise (")
    assert same["sentence"] == "nothing changed: a step takes 1.5 us in both"


def test_equal_siblings_that_changed_alike_are_one_row(tmp_path: Path) -> None:
    from tests.helpers.small_profile import Kernel, Op, Range, write_profile

    def write(name: str, slower: dict[int, int]) -> Path:
        ops, ranges = [], []
        for step in (1, 2):
            begin = step * STEP
            ranges.append(Range("Net", begin, begin + 10_000))
            for layer in range(5):
                start = begin + 100 + 1000 * layer
                ranges += [Range("Layer", start, start + 900), Range("Linear", start + 10, start + 800)]
                at = begin + 5000 * layer
                duration = 100 + slower.get(layer, 0)
                ops.append(Op("aten::mm", start + 20, start + 30, (Kernel(f"k{step}{layer}", at, at + duration),)))
        periods = [(step, step * STEP, (step + 1) * STEP) for step in (1, 2)]
        write_profile(tmp_path / name / "r0_ascend_pt", ops, ranges, steps=periods)
        return tmp_path / name

    with prof_analysis.compare(write("base", {}), write("new", {0: 10, 1: 20, 2: 30, 4: -5})) as comparison:
        comparison.prepare()
        groups = comparison.rows("FROM runs.module_group WHERE verdict <> 'same'")
        ops = comparison.rows("FROM runs.op_group WHERE change IS NOT NULL")
    assert values(groups, "modules", "verdict", "module_count", "base_self_ns", "new_self_ns", "self_difference_ns") == [
        ("Net/Layer[0-2]/Linear", "slower", 3, 300, 360, 60),
        ("Net/Layer[4]/Linear", "faster", 1, 100, 95, -5),
    ]
    assert values(ops, "op_name", "modules", "change", "module_count", "base_ns", "new_ns") == [
        ("aten::mm", "Net/Layer[0-2]/Linear", "slower", 3, 300, 360),
        ("aten::mm", "Net/Layer[4]/Linear", "faster", 1, 100, 95),
    ]
