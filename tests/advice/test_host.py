"""The rules of the host: each finds the stall that the generator planted, with its cost, and is silent without it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.stall_truth import late_idle_ns, stall_truth
from fixtures.text_style import TextStyle
from fixtures.trace import make_rank
from prof_analysis import open_profile
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Launch, Op, write_profile

HOST = (
    "synchronise", "host_copy", "data_loading", "garbage_collection", "launch_bound", "op_compilation", "allocator_stall",
    "python_between_ops", "slow_start",
)  # fmt: skip
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
# What is planted -> the rule that finds it, where, and what its evidence names.
PLANTED: dict[str, tuple[str, str | None, str | None, str]] = {
    "synchronise": ("synchronise", "Sampler", "aten::nonzero", "aclrtSynchronizeStream"),
    "copy": ("host_copy", "Sampler", "aten::item", "waits for the copy"),
    "data_loading": ("data_loading", None, None, "loads data"),
    "garbage_collection": ("garbage_collection", None, None, "collects garbage"),
    "compile": ("op_compilation", "Sampler", "aten::sort", "aclopCompileAndExecute"),
    "allocate": ("allocator_stall", None, None, "aclrtMalloc, "),
    "python": ("python_between_ops", "Sampler", None, "this module"),
}
# The host runs ahead of the device.
SHAPE = Shape(mode="inference", steps=3, layers=3, host_pace=50, communication=False, world=1, pmu=False)


def found(folder: Path) -> list[dict[str, Any]]:
    with open_profile(folder) as profile:
        return profile.rows(f"FROM advice.finding_of_rank WHERE rule IN {HOST}")


@pytest.mark.parametrize("stall", PLANTED)
def test_a_planted_stall_is_found_with_its_cost(tmp_path: Path, stall: Any) -> None:
    shape = replace(SHAPE, stall=stall)
    generate(tmp_path, shape, ranks=1)
    truth = stall_truth(make_rank(shape, 0, 0))
    rule, module, op, named = PLANTED[stall]
    (finding,) = found(tmp_path)
    assert (finding["rule"], finding["module"], finding["op"]) == (rule, module, op)
    assert finding["count"] == truth.count == shape.steps
    assert named.strip() in finding["evidence"]
    if rule == "python_between_ops":
        assert finding["kind"] == "upper bound"
        assert truth.idle_ns <= finding["win_ns"] <= truth.idle_ns * 1.01
    else:
        assert (finding["kind"], finding["win_ns"]) == ("exact cause", truth.idle_ns)


@pytest.mark.parametrize("exports", quick(["db", "text"], 1))
def test_nothing_is_found_where_the_host_runs_ahead(tmp_path: Path, exports: Any) -> None:
    generate(tmp_path, SHAPE, ranks=1, style=TextStyle(exports=exports))
    assert found(tmp_path) == []


def test_text_exports_show_the_same_stalls(tmp_path: Path) -> None:
    for stall in ("copy", "garbage_collection"):
        generate(tmp_path / stall, replace(SHAPE, stall=stall), ranks=1, style=TextStyle(exports="both"))
        profiles = [open_profile(tmp_path / stall, source=source) for source in ("db", "text")]
        rows = [profile.rows(f"FROM advice.finding_of_rank WHERE rule IN {HOST}") for profile in profiles]
        for profile in profiles:
            profile.close()
        assert rows[0] == rows[1] != []


def test_a_host_that_launches_too_slowly_is_found_with_a_bound(tmp_path: Path) -> None:
    shape = replace(SHAPE, host_pace=300)
    generate(tmp_path, shape, ranks=1)
    (finding,) = found(tmp_path)
    assert (finding["rule"], finding["module"], finding["kind"]) == ("launch_bound", None, "upper bound")
    late_ns = late_idle_ns(make_rank(shape, 0, 0))
    assert late_ns * 0.9 <= finding["win_ns"] <= late_ns


def test_a_launch_that_loads_code_and_kernels_that_start_late(tmp_path: Path) -> None:
    """The second kernel comes after a launch of 2 ms, of which the device is idle for 1.9; then 30 start 20 us late."""
    kernels = [Kernel(f"k{number}", 3_100_000 + 30_000 * number, 3_110_000 + 30_000 * number) for number in range(30)]
    launches = [
        Launch(1_000_000, 1_001_000, (Kernel("first", 1_010_000, 1_200_000),), recorded_op=0),
        Launch(1_100_000, 3_100_000, (kernels[0],), recorded_op=1),
        *(
            Launch(3_100_010 + 10 * number, 3_100_015 + 10 * number, (one,), recorded_op=2)
            for number, one in enumerate(kernels[1:])
        ),
    ]
    ops = [Op("aten::a", 990_000, 1_002_000), Op("aten::b", 1_050_000, 3_100_005), Op("aten::c", 3_100_006, 3_200_000)]
    write_profile(tmp_path / "a_ascend_pt", ops, launches=launches)
    rows = {row["rule"]: row for row in found(tmp_path)}
    assert rows.keys() == {"op_compilation", "slow_start"}
    assert {name: rows["op_compilation"][name] for name in ("module", "op", "evidence", "win_ns", "kind")} == {
        "module": None,
        "op": None,
        "evidence": "In a gap the device is idle for 1.9 ms in launches that take 1 ms or more each, 1.9 ms of it in aten::b",
        "win_ns": 1_900_000,
        "kind": "exact cause",
    }
    assert {name: rows["slow_start"][name] for name in ("count", "time_ns", "win_ns", "kind", "evidence")} == {
        "count": 29,
        "time_ns": 29 * 20_000,
        "win_ns": None,
        "kind": "hint",
        "evidence": "In 29 gaps the device is idle for 580.0 us, 20.0 us at a time, after the host had launched the next "
        "kernel",
    }


def test_long_gaps_without_a_record_may_be_collections(tmp_path: Path) -> None:
    """0.3 s in which nothing is recorded: Python, as far as is known, and a hint that it may be the garbage collector."""
    second = 1_000_000_000
    ops = [
        Op("aten::a", 1000, 2000, (Kernel("first", 3000, 4000),)),
        Op(
            "aten::b",
            3 * second // 10,
            3 * second // 10 + 1000,
            (Kernel("last", 3 * second // 10 + 2000, 3 * second // 10 + 9000),),
        ),
    ]
    for name, collections in (("unknown", []), ("recorded", [(1, 2, 1)])):
        write_profile(tmp_path / name / "a_ascend_pt", ops, collections=collections)
    hint, python = sorted(found(tmp_path / "unknown"), key=lambda row: str(row["rule"]))
    assert (hint["rule"], hint["kind"], hint["win_ns"], hint["time_ns"]) == (
        "garbage_collection", "hint", None, 3 * second // 10 - 4000,
    )  # fmt: skip
    assert (python["rule"], python["kind"], python["win_ns"]) == ("python_between_ops", "upper bound", hint["time_ns"])
    assert [row["rule"] for row in found(tmp_path / "recorded")] == ["python_between_ops"]
