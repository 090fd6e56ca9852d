"""What a collective of a GPU trace does, by what the profile says of it, what the host calls it, or the name of its kernel."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.kineto import event, kernel, launch, op, write_trace

# Some versions of NCCL run every collective as this one kernel.
GENERIC = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"
QUESTION = "SELECT operation, direction FROM trace.communication JOIN trace.kernel USING (profile, kernel_id)"


def trace(folder: Path, annotation: str, name: str = GENERIC, collective: str | None = None) -> Path:
    """One collective, launched in a range of PyTorch, and one kernel that computes."""
    events = [
        op("c10d::op", 1000, 3000, 1),
        event("user_annotation", annotation, 1200, 2800),
        launch(1500, 1600, 7, 1),
        kernel(name, 4000, 9000, 7, arguments={} if collective is None else {"Collective name": collective}),
        op("aten::mm", 3100, 3300, 2),
        launch(3150, 3200, 8, 2),
        kernel("gemm", 9000, 9500, 8, stream=8),
    ]
    return write_trace(folder / "rank0.json", events)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("nccl:all_reduce", ("allreduce", None)),
        ("nccl:_all_gather_base", ("allgather", None)),
        ("nccl:_reduce_scatter_base", ("reducescatter", None)),
        ("nccl:all_to_all", ("alltoall", None)),
        ("nccl:send 0->1", ("send", "send")),
        ("nccl:recv 0<-1", ("receive", "receive")),
        ("nccl:coalesced", ("sendrecv", "both")),
        ("my own range", ("sendrecv", "both")),
    ],
)
def test_a_kernel_named_after_sends_is_what_the_host_calls_it(
    tmp_path: Path, annotation: str, expected: tuple[str, str | None]
) -> None:
    with open_profile(trace(tmp_path, annotation)) as profile:
        rows = profile.rows(QUESTION)
    assert [tuple(row.values()) for row in rows] == [expected]


@pytest.mark.slow
def test_what_the_profile_says_of_a_collective_counts_before_the_range_and_the_name(tmp_path: Path) -> None:
    with open_profile(trace(tmp_path, "nccl:all_to_all", collective="_reduce_scatter_base")) as profile:
        rows = profile.rows(QUESTION)
    assert [tuple(row.values()) for row in rows] == [("reducescatter", None)]


@pytest.mark.slow
def test_collectives_that_run_as_sends_are_no_pipeline(tmp_path: Path) -> None:
    with open_profile(trace(tmp_path, "nccl:all_reduce")) as profile:
        rows = profile.rows("SELECT rule, kernel_type, win_ns_per_step FROM advice.finding WHERE time_ns_per_step = 5000")
    assert [tuple(row.values()) for row in rows] == [("exposed_communication", "allreduce", 5000)]
