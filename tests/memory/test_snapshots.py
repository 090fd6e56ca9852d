"""Memory snapshots answer `memory`: what was held at the end and at the peak, and its history, to the byte."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from prof_analysis.common.errors import ProfAnalysisWarning
from tests.helpers.asking import build_levels
from tests.helpers.snapshots import BASE_US, MIB, Allocator, busy_device, snapshot, stack, write

USAGE = """
    SELECT allocated_bytes, active_bytes, reserved_bytes, requested_bytes
    FROM allocation.usage
    ORDER BY time_ns, usage_id
"""


@pytest.mark.parametrize("last", [None, 9, 1])
def test_the_history_is_what_the_allocator_held_after_each_event(last: int | None, tmp_path: Path) -> None:
    """Also where the ring begins late: it is walked back from what is held at the end."""
    device = busy_device()
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(device, last=last))) as profile:
        build_levels(profile, "memory")
        rows = profile.rows(USAGE)
        assert rows == device.totals[-1 - (last or len(device.events)) :]
        for measure in ("allocated", "active", "reserved"):
            parts = profile.rows(f"""
                SELECT max(peak_bytes) AS peak, sum(live_bytes)::BIGINT AS parts
                FROM allocation.peak
                WHERE measure = '{measure}'
            """)
            peak = max(row[f"{measure}_bytes"] for row in rows)
            assert parts == [{"peak": peak, "parts": peak}], measure
        sums = "SELECT sum(end_bytes)::BIGINT AS held, sum(live_bytes)::BIGINT AS peak FROM {}"
        for table in ("allocation.site", "allocation.stack", "allocation.native_stack", "allocation.size_class"):
            (found,) = profile.rows(sums.format(table))
            assert found["held"] == device.totals[-1]["allocated_bytes"], table
            assert found["peak"] == max(row["allocated_bytes"] for row in rows), table
        assert profile.rows("FROM allocation.segment_audit") == []


def test_call_sites_are_the_users_own_lines(tmp_path: Path) -> None:
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(busy_device()))) as profile:
        build_levels(profile, "memory")
        sites = profile.memory(by="site").set_index("site")
        native = profile.memory(by="native")["frames"].tolist()
        ops = profile.memory(by="op").set_index("op_name")
    add = sites.loc["/home/jane/model.py(20): forward"]
    assert (add["block_count"], add["end_bytes"], add["rounding_bytes"]) == (3, 3 * (MIB + 512), 3 * 511)
    assert (ops.loc["aten::add_"]["block_count"], ops.loc["aten::mm"]["block_count"]) == (3, 3)
    linear = "/usr/lib/python3.11/site-packages/torch/nn/modules/linear.py(1): forward"
    calls = ["at::_ops::mm::call(at::Tensor const&)", "at::_ops::empty_memory_format::call(mm)"]
    assert [
        "/home/jane/train.py(9): main",
        "/home/jane/model.py(30): forward",
        linear,
        *calls,
    ] in [list(frames) for frames in native if frames is not None]


def test_memory_that_is_free_beside_blocks_is_told_from_unused_segments(tmp_path: Path) -> None:
    device = Allocator()
    device.segment(0, 2 * MIB)
    device.segment(4 * MIB, 2 * MIB)
    device.segment(8 * MIB, 20 * MIB)
    device.alloc(512, 512)
    device.alloc(8 * MIB, 4 * MIB)
    device.alloc(14 * MIB, 4 * MIB)
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(device))) as profile:
        (total,) = profile.rows("FROM allocation.segment_total")
    assert (total["whole_count"], total["whole_bytes"]) == (1, 2 * MIB)
    assert total["split_count"] == 4
    assert total["split_bytes"] == 2 * MIB - 512 + 12 * MIB
    assert total["largest_free_bytes"] == 10 * MIB
    assert total["allocated_bytes"] + total["free_bytes"] == total["size_bytes"] == 24 * MIB


def test_sums_that_a_file_contradicts_are_a_warning(tmp_path: Path) -> None:
    content = snapshot(busy_device())
    content["segments"][0]["allocated_size"] += 512
    with (
        pytest.warns(ProfAnalysisWarning, match="1 segment"),
        open_profile(write(tmp_path / "snapshot.pickle", content)) as profile,
    ):
        profile.memory()


def test_what_grew_between_annotations_adds_up_to_the_history(tmp_path: Path) -> None:
    device = Allocator()
    device.segment(0, 20 * MIB)
    device.alloc(0, MIB, stack(1))
    device.time_us = BASE_US + 100
    device.alloc(2 * MIB, 2 * MIB, stack(2))
    device.alloc(4 * MIB, MIB, stack(3))
    device.free(4 * MIB)
    device.time_us = BASE_US + 200
    device.free(0)
    marks = [("START", "Optimizer.step#Adam.step", 100), ("END", "Optimizer.step#Adam.step", 150)]
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(device, marks=marks))) as profile:
        rows = profile.rows("""
            SELECT from_mark, from_name, to_mark, to_name, site, growth_bytes, allocated_bytes, released_bytes
            FROM allocation.growth
            ORDER BY start_ns, site
        """)
    name = "Optimizer.step#Adam.step"
    site = "/home/jane/model.py({}): forward"
    assert [tuple(row.values()) for row in rows] == [
        ("history", None, "start", name, site.format(1), MIB, MIB, 0),
        ("start", name, "end", name, site.format(2), 2 * MIB, 2 * MIB, 0),
        ("start", name, "end", name, site.format(3), 0, MIB, MIB),
        ("end", name, "history", None, site.format(1), -MIB, 0, MIB),
    ]


def test_a_failed_attempt_says_what_filled_the_device(tmp_path: Path) -> None:
    device = Allocator()
    device.segment(0, 20 * MIB)
    device.alloc(0, 8 * MIB, stack(1))
    device.alloc(8 * MIB, 4 * MIB, stack(2))
    device.alloc(12 * MIB, 4 * MIB, stack(2))
    device.free(12 * MIB)
    device.oom(64 * MIB, 3 * MIB, stack(7, "bmm"))
    device.free(8 * MIB)
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(device))) as profile:
        (failure,) = profile.rows("FROM allocation.out_of_memory")
        parts = profile.memory(by="failure")
    assert (failure["size_bytes"], failure["allocated_bytes"], failure["reserved_bytes"]) == (64 * MIB, 12 * MIB, 20 * MIB)
    assert (failure["left_bytes"], failure["op_name"], failure["site"]) == (
        3 * MIB,
        "aten::bmm",
        "/home/jane/model.py(7): forward",
    )
    assert parts[["site", "live_bytes", "share"]].values.tolist() == [
        ["/home/jane/model.py(1): forward", 8 * MIB, 2 / 3],
        ["/home/jane/model.py(2): forward", 4 * MIB, 1 / 3],
    ]


def test_the_flame_graph_of_the_peak_adds_up_to_it(tmp_path: Path) -> None:
    device = busy_device()
    with open_profile(write(tmp_path / "snapshot.pickle", snapshot(device))) as profile:
        (file,) = profile.export(tmp_path / "out", "collapsed", "memory")
    lines = [line.rsplit(" ", 1) for line in file.read_text().splitlines()]
    assert sum(int(size) for _, size in lines) == max(one["allocated_bytes"] for one in device.totals)
    outer = "/home/jane/train.py(9): main:/home/jane/model.py(20): forward"
    assert any(frames.replace(";", ":").startswith(outer) and frames.endswith("aten::add_") for frames, _ in lines)
