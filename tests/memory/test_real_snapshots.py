"""Real memory snapshots: sums close to the byte, and equal what PyTorch's own viewer draws, which this file computes anew."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.slow import quick

FILES = ("forward_ctx128.pickle", "fullstep_ctx256.pickle")


def of_viewer(content: dict[str, Any]) -> list[int]:
    """Return how much the viewer of PyTorch draws after each event of device 0: requested bytes, until their reuse.

    It draws what has no allocation in the history from the begin on: what is released in it, and what is held at the end.
    """
    events = content["device_traces"][0]
    alive: dict[int, int] = {}
    before = 0
    changes = []
    for event in events:
        if event["action"] == "alloc":
            alive[event["addr"]] = event["size"]
            changes.append(event["size"])
        elif event["action"] == "free_completed":
            if alive.pop(event["addr"], None) is None:
                before += event["size"]
            changes.append(-event["size"])
    blocks = [block for segment in content["segments"] for block in segment["blocks"]]
    before += sum(b["requested_size"] for b in blocks if b["state"] == "active_allocated" and b["address"] not in alive)
    drawn = [before]
    for change in changes:
        drawn.append(drawn[-1] + change)
    return drawn


@pytest.mark.parametrize("name", quick(FILES, 0))
def test_a_snapshot_closes_to_the_byte(name: str, realdata: Path) -> None:
    file = realdata / "memory_snapshot" / name
    content = pickle.loads(file.read_bytes())
    segments = content["segments"]
    blocks = [block for segment in segments for block in segment["blocks"]]
    events = content["device_traces"][0]
    tables = ("site", "stack", "native_stack", "size_class", "stream")
    with open_profile(file, cache="none") as profile:
        others = ("segment_total", "segment_audit", "peak_moment", "usage")
        build_at_once(profile, "trace.memory_event", *(f"allocation.{name}" for name in (*tables, *others)))
        (total,) = profile.rows("FROM allocation.segment_total")
        assert (total["segment_count"], total["size_bytes"]) == (len(segments), sum(one["total_size"] for one in segments))
        assert total["allocated_bytes"] == sum(one["allocated_size"] for one in segments)
        active = sum(one["active_size"] for one in segments)
        assert total["allocated_bytes"] + total["awaiting_bytes"] == active
        assert active - total["rounding_bytes"] == sum(one["requested_size"] for one in segments)
        assert total["free_bytes"] == sum(one["size"] for one in blocks if one["state"] == "inactive")
        assert profile.rows("FROM allocation.segment_audit") == []
        for table in tables:
            sum_of = "SELECT sum(end_bytes)::BIGINT AS held, sum(live_bytes)::BIGINT AS peak"
            (sums,) = profile.rows(f"{sum_of} FROM allocation.{table}")
            assert sums["held"] == total["allocated_bytes"], table
            (peak,) = profile.rows("FROM allocation.peak_moment WHERE measure = 'allocated'")
            assert sums["peak"] == peak["peak_bytes"], table
        kinds = profile.rows("SELECT kind::VARCHAR AS kind, count(*) AS n FROM trace.memory_event GROUP BY ALL")
        actions = Counter(one["action"] for one in events)
        assert {row["kind"]: row["n"] for row in kinds} == {
            "allocation": actions["alloc"],
            "release": actions["free_requested"],
            "reuse": actions["free_completed"],
            "segment": actions["segment_alloc"],
            **({"segment release": actions["segment_free"]} if actions["segment_free"] else {}),
        }
        (last,) = profile.rows("FROM allocation.usage ORDER BY time_ns DESC, usage_id DESC LIMIT 1")
        assert last["reserved_bytes"] == total["size_bytes"]
        assert last["allocated_bytes"] == total["allocated_bytes"]


@pytest.mark.parametrize("name", FILES)
def test_the_history_is_what_the_viewer_of_pytorch_draws(name: str, realdata: Path) -> None:
    file = realdata / "memory_snapshot" / name
    content = pickle.loads(file.read_bytes())
    with open_profile(file, cache="none") as profile:
        rows = profile.rows("""
            WITH change AS (
                SELECT event_id, if(kind = 'allocation', size_bytes, -size_bytes) AS bytes
                FROM trace.memory_event
                WHERE kind IN ('allocation', 'reuse')
            )
            SELECT usage.requested_bytes + coalesce(awaited.bytes, 0) AS bytes
            FROM allocation.usage
            SEMI JOIN change ON change.event_id = usage.usage_id
            LEFT JOIN LATERAL (
                SELECT sum(requested_bytes)::BIGINT AS bytes
                FROM trace.memory_block
                WHERE released_ns <= usage.time_ns AND reusable_ns > usage.time_ns
            ) AS awaited ON true
            ORDER BY usage.time_ns
        """)
    drawn = of_viewer(content)
    assert [row["bytes"] for row in rows] == drawn[1:]
    assert len(drawn) > 1000
