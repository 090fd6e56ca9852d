"""A snapshot beside the profile of its process: blocks get the ops, modules and steps in which they were allocated, by time."""

import warnings
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.sources.runs import find_runs
from tests.helpers.asking import build_levels
from tests.helpers.kineto import HEAD, event, kernel, launch, memory, module, op, write_trace
from tests.helpers.says import says
from tests.helpers.small_profile import Op, edit, write_profile
from tests.helpers.snapshots import BASE_US, MIB, Allocator, busy_device, snapshot, stack, write

US = 1000


def trace(file: Path) -> Path:
    """Two steps, each with a call of Net, in which Linear calls an op."""
    events = []
    for number in range(2):
        at = number * 1000 * US
        events += [
            event("user_annotation", f"ProfilerStep#{number}", at, at + 900 * US),
            event("cpu_op", f"ProfilerStep#{number}", at, at + 900 * US),
            module("Net_0", at + 100 * US, at + 800 * US, number=4 * number + 1),
            module("Linear_0", at + 200 * US, at + 500 * US, number=4 * number + 2),
            op("aten::linear", at + 300 * US, at + 400 * US, number + 1),
            launch(at + 310 * US, at + 320 * US, number + 1, number + 1),
            kernel("gemm", at + 330 * US, at + 350 * US, number + 1),
        ]
    file.parent.mkdir(parents=True, exist_ok=True)
    return write_trace(file, events)


def device() -> Allocator:
    one = Allocator()
    one.segment(0, 20 * MIB)
    for number in range(2):
        at = BASE_US + number * 1000
        one.time_us = at + 350
        one.alloc((4 * number) * MIB, MIB, stack(1))
        one.alloc((4 * number + 1) * MIB, MIB, stack(2, has_native=False))
        one.time_us = at + 700
        one.alloc((4 * number + 2) * MIB, MIB, stack(3, has_native=False))
        one.time_us = at + 950
        one.alloc((4 * number + 3) * MIB, MIB, stack(4, has_native=False))
    return one


def test_blocks_have_modules_and_steps_by_time(tmp_path: Path) -> None:
    trace(tmp_path / "rank0.json")
    write(tmp_path / "rank0_snapshot.pickle", snapshot(device()))
    with open_profile(tmp_path) as profile:
        build_levels(profile, "memory", "allocation.placement")
        rows = profile.rows("""
            SELECT site, op_name, parent_module, module, step_id, count(*) AS blocks
            FROM allocation.block
            GROUP BY ALL
            ORDER BY ALL
        """)
        (placed,) = profile.rows("FROM allocation.placement")
        steps = profile.memory(by="step")
    site = "/home/jane/model.py({}): forward"
    assert [tuple(row.values()) for row in rows] == [
        *((site.format(1), "aten::linear", "Net", "Linear", step, 1) for step in (0, 1)),
        *((site.format(2), "aten::linear", "Net", "Linear", step, 1) for step in (0, 1)),
        (site.format(3), None, None, None, 0, 1),
        (site.format(3), None, None, None, 1, 1),
        (site.format(4), None, None, None, None, 2),
    ]
    assert (placed["has_ops"], placed["block_count"], placed["module_count"], placed["step_count"]) == (True, 8, 4, 6)
    assert steps["new_bytes"].tolist() == [3 * MIB, 3 * MIB]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("rank0.json", "rank0_snapshot.pickle"), {"rank0_snapshot.pickle": 2}),
        (("trace.json", "snapshot.pickle"), {"snapshot.pickle": 2}),
        (("rank0.json", "rank1_snapshot.pickle"), {"rank1_snapshot.pickle": 1}),
        (("rank0.json", "rank1.json", "rank1_snapshot.pickle"), {"rank1_snapshot.pickle": 2}),
        (("rank0.json", "rank1.json", "snapshot.pickle"), {"snapshot.pickle": 1}),
        (("other/rank0.json", "rank0_snapshot.pickle"), {"rank0_snapshot.pickle": 1}),
    ],
)
def test_the_profile_of_the_same_rank_in_the_same_folder_is_read(
    names: tuple[str, ...], expected: dict[str, int], tmp_path: Path
) -> None:
    for name in names:
        if name.endswith(".json"):
            trace(tmp_path / name)
        else:
            write(tmp_path / name, snapshot(busy_device()))
    ranks = find_runs({"": tmp_path})
    assert {one.profile: len(one.inputs) for one in ranks if one.source == "memory_snapshot"} == expected


def test_without_a_profile_the_answer_says_that_modules_and_steps_are_unknown(tmp_path: Path) -> None:
    file = write(tmp_path / "snapshot.pickle", snapshot(busy_device()))
    with open_profile(file) as profile:
        (placed,) = profile.rows("FROM allocation.placement")
    assert (placed["has_ops"], placed["module_count"], placed["step_count"]) == (False, 0, 0)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("rank0.json", "rank0_snapshot.pickle"), ()),
        (("trace.json", "snapshot.pickle"), ()),
        (("rank0.json", "rank1_snapshot.pickle"), ("rank1_snapshot.pickle: no kernels in this format",)),
    ],
)
def test_a_rank_lacks_nothing_that_another_file_of_its_process_answers(
    names: tuple[str, ...], expected: tuple[str, ...], tmp_path: Path
) -> None:
    trace(tmp_path / names[0])
    write(tmp_path / names[1], snapshot(device()))
    with open_profile(tmp_path) as profile, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert profile.kernel_stats()["profile"].unique().tolist() == [names[0]]
        memory = profile.memory(by="rank")
    said = [str(one.message) for one in caught]
    assert memory["profile"].tolist() == [names[1]]
    missing = [] if not expected else [one for one in said if one.startswith("rank0.json: no records of device memory")]
    assert [one for one in said if "this format" in one or "no records" in one] == [*expected, *missing]
    assert len(missing) == len(expected)


def test_the_peak_is_drawn_by_call_site_and_by_module(tmp_path: Path) -> None:
    trace(tmp_path / "rank0.json")
    file = write(tmp_path / "rank0_snapshot.pickle", snapshot(device()))
    sites = {f"model.py({line}): forward": 2 * MIB for line in (1, 2, 3, 4)}
    with open_profile(tmp_path) as profile:
        build_levels(profile, "memory")
        by_stack, by_module = profile.export(tmp_path / "out", "collapsed", "memory")
        bars = {by: bars_of(profile.plot.memory(by)) for by in ("module", "site", None)}
    assert "Net;Linear;aten::linear 4194304" in by_module.read_text(encoding="utf-8").split("\n")
    assert "train.py(9): main" in by_stack.read_text(encoding="utf-8")
    assert bars["module"] == bars[None] == {"Net/Linear": 4 * MIB, "(outside modules)": 4 * MIB}
    assert bars["site"] == {f"/home/jane/{site}": size for site, size in sites.items()}
    with open_profile(file) as profile:
        build_levels(profile, "memory")
        assert bars_of(profile.plot.memory()) == bars["site"]
        assert len(profile.export(tmp_path / "out", "collapsed", "memory")) == 1
    assert not by_module.exists()


def bars_of(figure: Any) -> dict[str, int]:
    """Return the bytes of the bars of a picture by name."""
    (bars,) = (trace for trace in figure.data if trace.type == "bar")
    return {row[1].replace("<br>", ""): row[0] for row in bars.customdata}


def trace_with_memory(file: Path, begin: int = 0) -> Path:
    """A trace of a GPU with 64 MiB that records memory, from a moment on, ns."""
    head = {**HEAD, "deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 64 * MIB}]}
    events = [op("aten::linear", begin + 300 * US, begin + 400 * US, 1), memory(MIB, 16, begin + 350 * US, (MIB, 2 * MIB))]
    return write_trace(file, events, head)


def test_the_memory_of_a_rank_is_told_once_where_its_trace_records_it_too(tmp_path: Path) -> None:
    files = trace_with_memory(tmp_path / "rank0.json"), write(tmp_path / "rank0_snapshot.pickle", snapshot(device()))
    for path in (tmp_path, list(files)):
        with pytest.warns(ProfAnalysisWarning) as caught, open_profile(path) as profile:
            (told,) = profile.memory(by="rank").to_dict("records")
            said = [str(one.message) for one in caught]
        assert (told["profile"], told["memory_bytes"], told["left_bytes"]) == ("rank0_snapshot.pickle", 64 * MIB, 44 * MIB)
        assert says("rank0.json", "snapshot", "give rank0.json alone") in said
    with open_profile(files[0]) as profile:
        assert profile.memory(by="rank")["peak_allocated_bytes"].tolist() == [MIB]


def test_a_snapshot_of_another_time_than_the_trace_beside_it_hides_nothing(tmp_path: Path) -> None:
    trace_with_memory(tmp_path / "rank0.json", begin=10**9)
    write(tmp_path / "rank0_snapshot.pickle", snapshot(device()))
    with pytest.warns(ProfAnalysisWarning) as caught, open_profile(tmp_path) as profile:
        assert sorted(profile.memory(by="rank")["profile"]) == ["rank0.json", "rank0_snapshot.pickle"]
    assert says("rank0_snapshot.pickle", "another time than rank0.json") in [str(one.message) for one in caught]


def test_what_the_process_holds_beside_the_allocator_stays_known(tmp_path: Path) -> None:
    """The profile numbers its devices otherwise than the process: its one device is that of the snapshot."""
    base_ns = BASE_US * 1000
    database = write_profile(tmp_path / "a_ascend_pt", [Op("aten::linear", base_ns + 300 * US, base_ns + 400 * US)])
    edit(
        database,
        f"""
        CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER);
        INSERT INTO STRING_IDS VALUES (9000, 'app');
        INSERT INTO NPU_MEM VALUES (9000, 0, {25 * MIB}, {base_ns}, 5);
        """,
    )
    write(tmp_path / "snapshot.pickle", snapshot(device()))
    with open_profile(tmp_path) as profile:
        (told,) = profile.memory(by="rank").to_dict("records")
    assert (told["device_id"], told["used_bytes"], told["used_by"]) == (0, 25 * MIB, "process")


@pytest.mark.parametrize(
    ("names", "settings", "kind"),
    [
        (("snapshot.pickle",), {"PYTORCH_NPU_ALLOC_CONF": ""}, "NPU"),
        (("snapshot.pickle",), {}, None),
        (("trace.json", "snapshot.pickle"), {}, "GPU"),
        (("trace.json", "snapshot.pickle"), {"PYTORCH_NPU_ALLOC_CONF": ""}, None),
    ],
)
def test_advice_is_for_the_kind_of_device_of_the_ranks_that_say_it(
    names: tuple[str, ...], settings: dict[str, str], kind: str | None, tmp_path: Path
) -> None:
    """Where ranks are of both kinds, or none says it, advice names the variables of both."""
    if "trace.json" in names:
        trace(tmp_path / "trace.json")
    write(tmp_path / "snapshot.pickle", {**snapshot(), "segments": _segments_without_frames(), "allocator_settings": settings})
    with open_profile(tmp_path) as profile:
        assert profile.rows("SELECT getvariable('device_kind') AS kind") == [{"kind": kind}]


def _segments_without_frames() -> list[dict[str, object]]:
    device = Allocator()
    device.segment(0)
    device.alloc(0, 512)
    return device.state()
