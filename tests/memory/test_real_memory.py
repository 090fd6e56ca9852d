"""Memory of real profiles against the totals that the profiler recorded itself."""

import gzip
import json
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import build_at_once

PEAKS = """
    SELECT measure::VARCHAR AS measure, min(peak_bytes) AS peak, sum(live_bytes)::BIGINT AS sum
    FROM allocation.peak
    WHERE role = 'framework' AND rank_id IS NOT DISTINCT FROM {rank}
    GROUP BY ALL
    ORDER BY measure
"""
MIB = 2**20


@pytest.mark.parametrize(
    ("folder", "allocated", "active", "reserved"),
    [
        # In bytes: memory_record.csv has 1187.9814453125 and 1452.0 in what it calls MB, which is MiB.
        pytest.param(
            "alexnet_ddp_910b/db/level1", 1_245_688_832, 1_245_688_832, 1_522_532_352, id="database", marks=pytest.mark.slow
        ),
        pytest.param(
            "alexnet_ddp_910b/text/level1", 1_245_688_832, 1_245_688_832, 1452 * MIB, id="csv", marks=pytest.mark.slow
        ),
        pytest.param(
            "alexnet_ddp_910a/text/level1",
            int(1096.00146484375 * MIB),
            1_149_295_104,
            1228 * MIB,
            id="910A",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_the_peak_of_alexnet_is_the_recorded_one_its_parts_add_up_and_equal_ranks_are_equal(
    folder: str, allocated: int, active: int, reserved: int, realdata: Path
) -> None:
    parts = """
        SELECT component, measure, part, parent_module, module, op_name, live_bytes, block_count
        FROM allocation.peak
        WHERE role = 'framework' AND rank_id = {rank}
    """
    with open_profile(realdata / folder) as profile:
        build_at_once(profile, "memory", "allocation.block_op")
        assert profile.rows(PEAKS.format(rank=0)) == [
            {"measure": "active", "peak": active, "sum": active},
            {"measure": "allocated", "peak": allocated, "sum": allocated},
            {"measure": "reserved", "peak": reserved, "sum": reserved},
        ]
        assert profile.rows(parts.format(rank=0)) == profile.rows(parts.format(rank=1))
        (found,) = profile.rows("""
            SELECT count(*) AS blocks, count(block_op.op_id) AS with_op, count(*) FILTER (block.step_id IS NULL) AS outside
            FROM allocation.block
            LEFT JOIN allocation.block_op USING (profile, block_id)
            WHERE block.rank_id = 0
        """)
        # msprof-analyze gives aten::item of one of these ranks 124 MB, and none of the other.
        assert profile.rows("SELECT 1 FROM allocation.op WHERE op_name = 'aten::item'") == []
        assert [one for one in profile.warnings if "ranks of the job" not in one] == []
    blocks = 161 if "910a" in folder else 184
    assert found == {"blocks": blocks, "with_op": blocks, "outside": 0}


@pytest.mark.slow
def test_blocks_of_alexnet_are_of_the_modules_that_convolve_and_multiply(realdata: Path) -> None:
    with open_profile(realdata / "alexnet_ddp_910b" / "db" / "level1") as profile:
        build_at_once(profile, "memory")
        modules = profile.rows("""
            SELECT role::VARCHAR AS role, module, block_count
            FROM allocation.module
            WHERE rank_id = 0 AND block_count > 0
            ORDER BY ALL
        """)
        others = profile.rows("""
            SELECT component, at_peak_bytes FROM allocation.component WHERE role = 'part' AND rank_id = 0
        """)
    of_library = {row["module"]: row["block_count"] for row in modules if row["role"] == "operators"}
    # Each operator that the graph engine runs belongs to a convolution.
    assert of_library == {"Conv2d": 15, "[Backward]Conv2d": 42}
    assert [tuple(row.values()) for row in others] == [("HCCL", 423_690_240), ("RUNTIME", 96_702_464), ("GE", 79_691_776)]


@pytest.mark.parametrize(
    "name",
    [
        "h100/gaunernst_bert-small-uncased__1016001",
        pytest.param("mi300/normalization_layer_test", marks=pytest.mark.slow),
        pytest.param("h100/Qwen_Qwen1.5-0.5B-Chat__1016005", marks=pytest.mark.slow),
        pytest.param("mi300/Qwen_Qwen1.5-0.5B-Chat__1016005", marks=pytest.mark.slow),
    ],
)
def test_totals_of_a_gpu_trace_are_those_of_its_events_and_none_of_the_host(name: str, realdata: Path) -> None:
    trace = realdata / "gpu_kineto" / f"{name}.json.gz"
    events = [
        one["args"] for one in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"] if one.get("name") == "[memory]"
    ]
    on_device = [one for one in events if one["Device Type"] != 0]
    with open_profile(trace) as profile:
        build_at_once(profile, "memory", "trace.memory_usage")
        peaks = profile.rows(PEAKS.format(rank="NULL"))
        (usage,) = profile.rows("SELECT count(*) AS count FROM trace.memory_usage")
        (blocks,) = profile.rows("SELECT count(*) AS count, sum(size_bytes)::BIGINT AS bytes FROM allocation.block")
        assert profile.warnings == []
    highest = {key: max(one[key] for one in on_device) for key in ("Total Allocated", "Total Reserved")}
    assert [(row["measure"], row["peak"], row["sum"]) for row in peaks] == [
        ("allocated", highest["Total Allocated"], highest["Total Allocated"]),
        ("reserved", highest["Total Reserved"], highest["Total Reserved"]),
    ]
    assert usage["count"] == len(on_device) < len(events)
    allocations = [one["Bytes"] for one in on_device if one["Bytes"] > 0]
    assert blocks == {"count": len(allocations), "bytes": sum(allocations)}
