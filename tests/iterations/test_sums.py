"""However kernels lie, passes and what lies between them add up to the recording, and so do the parts of each."""

from random import Random
from typing import Any

import pytest

from prof_analysis.engine.rows_of import rows_of


@pytest.mark.parametrize("seed", range(12))
def test_the_time_of_passes_and_between_them_is_the_recording(seed: int) -> None:
    random = Random(seed)
    kernels: list[dict[str, Any]] = []
    at = 0
    for kernel_id in range(1, 30):
        at += random.randrange(0, 12)
        kind = random.choice(["compute", "compute", "communication", "copy"])
        kernels.append({"kernel_id": kernel_id, "kind": kind, "start_ns": at, "end_ns": at + random.randrange(0, 25)})
    # Each kernel is of the pass of its place, of the one before, or of none.
    passes = [{"kernel_id": one["kernel_id"], "pass_id": one["kernel_id"] // 7 + random.randrange(2)} for one in kernels]
    in_passes = [one for one in passes if one["pass_id"] and random.random() < 0.8]
    turns: list[dict[str, Any]] = rows_of(
        "pass.turn", {"pass.kernel": in_passes, "trace.kernel": kernels, "step.kernel_step": kernels}
    )
    first, last = min(one["start_ns"] for one in kernels), max(one["end_ns"] for one in kernels)
    assert turns[0]["start_ns"] == first
    assert [turn["start_ns"] for turn in turns[1:]] == [turn["end_ns"] for turn in turns[:-1]]
    assert turns[-1]["end_ns"] == last
    times: list[dict[str, Any]] = rows_of(
        "pass.turn_time", {"pass.kernel": in_passes, "pass.turn": turns, "step.kernel_step": kernels}
    )
    assert sum(row["duration_ns"] for row in times) == last - first
    for row in times:
        running = [
            {one["kind"] for one in kernels if one["start_ns"] <= moment < one["end_ns"]}
            for moment in range(row["start_ns"], row["end_ns"])
        ]
        assert row["computing_ns"] == sum("compute" in kinds for kinds in running)
        assert row["communication_ns"] == sum("communication" in kinds for kinds in running)
        assert row["communication_not_overlapped_ns"] == sum(
            "communication" in kinds and "compute" not in kinds for kinds in running
        )
        assert row["copying_not_overlapped_ns"] == sum(kinds == {"copy"} for kinds in running)
        assert row["idle_ns"] == sum(not kinds for kinds in running)
