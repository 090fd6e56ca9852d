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
from tests.helpers.asking import found_by
from tests.helpers.says import says
from tests.helpers.slow import quick
from tests.helpers.small_profile import HostCall, Kernel, Launch, Op, Range, write_profile

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
    "python": ("python_between_ops", "Sampler", None, "3 parts of gaps"),
}
# The host runs ahead of the device.
SHAPE = Shape(mode="inference", steps=3, layers=3, host_pace=50, communication=False, world=1, pmu=False)


def found(folder: Path) -> list[dict[str, Any]]:
    with open_profile(folder) as profile:
        return found_by(profile, *HOST)


@pytest.mark.parametrize("stall", quick([*PLANTED], 1))
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


@pytest.mark.slow
@pytest.mark.parametrize("exports", ["db", "text"])
def test_nothing_is_found_where_the_host_runs_ahead(tmp_path: Path, exports: Any) -> None:
    generate(tmp_path, SHAPE, ranks=1, style=TextStyle(exports=exports))
    assert found(tmp_path) == []


@pytest.mark.slow
def test_text_exports_show_the_same_stalls(tmp_path: Path) -> None:
    for stall in ("copy", "garbage_collection"):
        generate(tmp_path / stall, replace(SHAPE, stall=stall), ranks=1, style=TextStyle(exports="both"))
        profiles = [open_profile(tmp_path / stall, source=source) for source in ("db", "text")]
        rows = [found_by(profile, *HOST) for profile in profiles]
        for profile in profiles:
            profile.close()
        assert rows[0] == rows[1] != []


@pytest.mark.slow
def test_a_host_that_launches_too_slowly_is_found_with_a_bound(tmp_path: Path) -> None:
    shape = replace(SHAPE, host_pace=300)
    generate(tmp_path, shape, ranks=1)
    (finding,) = found(tmp_path)
    assert (finding["rule"], finding["module"], finding["kind"]) == ("launch_bound", None, "upper bound")
    late_ns = late_idle_ns(make_rank(shape, 0, 0))
    assert late_ns * 0.9 <= finding["win_ns"] <= late_ns


@pytest.mark.slow
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
        "evidence": says("In a gap", "idle for 1.9 ms", "launches that take 1 ms or more", "1.9 ms of it in aten::b"),
        "win_ns": 1_900_000,
        "kind": "exact cause",
    }
    assert {name: rows["slow_start"][name] for name in ("count", "time_ns", "win_ns", "kind", "evidence")} == {
        "count": 29,
        "time_ns": 29 * 20_000,
        "win_ns": None,
        "kind": "hint",
        "evidence": says("In 29 gaps", "idle for 580.0 us", "20.0 us at a time", "after the host had launched"),
    }


@pytest.mark.slow
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


@pytest.mark.slow
def test_an_op_that_is_long_before_it_launches_has_its_place(tmp_path: Path) -> None:
    """The device is idle from 5 us to 1005 us, since aten::linear of Net launches only then; aten::mul costs too little."""
    ops = [
        Op("aten::add", 1000, 2000, (Kernel("first", 3000, 5000),)),
        Op("aten::linear", 4000, 1_000_000),
        Op("aten::mul", 1_000_100, 1_105_000),
    ]
    launches = [
        Launch(999_000, 999_900, (Kernel("second", 1_005_000, 40_000_000),), recorded_op=1),
        Launch(1_100_000, 1_100_900, (Kernel("third", 40_000_100, 40_001_000),), recorded_op=2),
    ]
    write_profile(tmp_path / "a_ascend_pt", ops, [Range("Net", 3500, 1_000_050)], launches=launches)
    (finding,) = found(tmp_path)
    assert {
        name: finding[name] for name in ("rule", "title", "module", "op", "count", "time_ns", "win_ns", "kind", "evidence")
    } == {
        "rule": "launch_bound",
        "title": says("op keeps the host busy"),
        "module": "Net",
        "op": "aten::linear",
        "count": 1,
        "time_ns": 999_000 - 5000,
        "win_ns": 999_000 - 5000,
        "kind": "upper bound",
        "evidence": says("In a gap", "idle for 994.0 us", "host is in this op", "994.0 us at a time"),
    }


@pytest.mark.slow
def test_data_loading_before_the_first_kernel_of_a_step_counts(tmp_path: Path) -> None:
    """The second step loads data from 20 us to 70 us, and its first kernel starts at 80 us; the first step ended at 10 us."""
    ops = [
        Op("aten::a", 1000, 2000, (Kernel("first", 3000, 10_000),)),
        Op(LOADER, 20_000, 70_000),
        Op("aten::b", 71_000, 72_000, (Kernel("second", 80_000, 90_000),)),
    ]
    write_profile(tmp_path / "a_ascend_pt", ops, steps=[(1, 500, 15_000), (2, 15_000, 95_000)])
    (finding,) = found(tmp_path)
    assert (finding["rule"], finding["count"], finding["time_ns"], finding["win_ns"]) == ("data_loading", 1, 50_000, 50_000)
    assert finding["evidence"] == says("In a gap", "idle for 50.0 us", "loads data", "50.0 us of it between")


@pytest.mark.slow
def test_what_ops_before_2025_copy_is_not_recorded_and_still_a_copy(tmp_path: Path) -> None:
    """A copy without direction, and the synchronise of the op that asked for it: 2 us of it with an idle device."""
    ops = [
        Op("aten::a", 1000, 2000, (Kernel("first", 3000, 10_000),)),
        Op("aten::to", 4000, 13_000),
        Op("aten::b", 14_000, 15_000, (Kernel("second", 20_000, 30_000),)),
    ]
    launches = [Launch(5000, 5100, (Kernel("MEMCPY_ASYNC", 10_000, 10_100, kind="copy"),), recorded_op=1)]
    calls = [HostCall("aclrtSynchronizeStream", 6000, 12_000)]
    write_profile(tmp_path / "a_ascend_pt", ops, launches=launches, calls=calls)
    (finding,) = found(tmp_path)
    assert {name: finding[name] for name in ("title", "op", "time_ns", "win_ns", "kind")} == {
        "title": says("host waits for copies"),
        "op": "aten::to",
        "time_ns": 10_000,
        "win_ns": 2000,
        "kind": "exact cause",
    }
