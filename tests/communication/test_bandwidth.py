"""Bytes and bandwidths of collectives on GPUs, by the definitions of nccl-tests."""

from pathlib import Path
from typing import Any

from prof_analysis import open_profile
from prof_analysis.analyses.answer import ShownTable
from prof_analysis.analyses.answers.communication_stats import communication_stats
from tests.helpers.frames import arrow_of
from tests.helpers.kineto import HEAD, kernel, write_trace

GENERIC = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"
GROUPS = [
    {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 8, "ranks": list(range(8))},
    {"pg_name": "1", "pg_desc": "TENSOR_MODEL_PARALLEL_GROUP", "pg_size": 2, "ranks": "[0, 1]"},
    {"pg_name": "2", "pg_desc": "mesh_pp", "pg_size": 32, "ranks": "[0, 1, 2, ...]"},
]


def collective(name: str, start: int, inputs: int, outputs: int, dtype: str, group: str, size: int, us: int) -> str:
    """A kernel of a collective with what PyTorch records of it."""
    arguments: dict[str, Any] = {
        "Collective name": name, "In msg nelems": inputs, "Out msg nelems": outputs, "Group size": size, "dtype": dtype,
        "Process Group Name": group,
    }  # fmt: skip
    return kernel(GENERIC, start, start + us * 1000, 0, arguments=arguments)


TRACE = [
    # Two of 8 MB and 2 MB in 100 us and 60 us: 10 MB / 160 us, of which each rank sends and receives 2 * 7 / 8.
    collective("allreduce", 0, 4_000_000, 4_000_000, "BFloat16", "0", 8, 100),
    collective("allreduce_coalesced", 200_000, 500_000, 500_000, "Float", "0", 8, 60),
    # The bytes are those of all ranks together, on the side that has them.
    collective("_allgather_base", 300_000, 1000, 2000, "Half", "1", 2, 2),
    collective("reduce_scatter_tensor_coalesced", 310_000, 2000, 1000, "Half", "1", 2, 2),
    collective("all_to_allv", 320_000, 4000, 4000, "Float8_e4m3fn", "1", 2, 4),
    collective("_broadcast_oop", 330_000, 10, 10, "Long", "2", 32, 1),
    collective("recv", 340_000, 10, 10, "Long", "2", 32, 1),
    # Neither a type nor a number that no memory holds gives bytes.
    collective("reduce", 350_000, 10, 10, "Quaternion", "0", 8, 1),
    collective("gather", 360_000, 2**62, 2**62, "Long", "0", 8, 1),
    kernel("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 370_000, 371_000, 0),
]
COLUMNS = (
    "type",
    "group_name",
    "group_label",
    "group_size",
    "op_count",
    "total_ns",
    "size_bytes",
    "algorithm_gb_s",
    "bus_gb_s",
)
EXPECTED = [
    ("allreduce", "0", "default_pg", 8, 2, 160_000, 10_000_000, 62.5, 109.375),
    ("alltoallv", "1", "tp", 2, 1, 4_000, 4_000, 1.0, 0.5),
    ("allgather", "1", "tp", 2, 1, 2_000, 4_000, 2.0, 1.0),
    ("reducescatter", "1", "tp", 2, 1, 2_000, 4_000, 2.0, 1.0),
    ("allgather", None, None, None, 1, 1_000, None, None, None),
    ("broadcast", "2", None, 32, 1, 1_000, 80, 0.08, 0.08),
    ("gather", "0", "default_pg", 8, 1, 1_000, None, None, None),
    ("receive", "2", None, 32, 1, 1_000, 80, 0.08, 0.08),
    ("reduce", "0", "default_pg", 8, 1, 1_000, None, None, None),
]


def test_bandwidths_follow_from_bytes_group_and_time(tmp_path: Path) -> None:
    job = {"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 8, "pg_config": GROUPS}}
    write_trace(tmp_path / "trace.json", TRACE, HEAD, job)
    with open_profile(tmp_path) as profile:
        of_ranks = arrow_of(profile.communication_stats()).to_pylist()
        of_all = arrow_of(profile.communication_stats(across_ranks=True)).to_pylist()
        received = profile.sql("SELECT direction FROM trace.kernel WHERE direction IS NOT NULL")["direction"].tolist()
        positions = profile.table("trace.parallel_group", arrow=True).to_pylist()
        _, (heaviest, *_) = communication_stats(profile, 1)
    # What only some profiles record has columns where a row that is shown has it.
    assert isinstance(heaviest, ShownTable)
    assert [column.header for column in heaviest.columns] == [
        *("type", "group", "for", "total", "share of communication", "operators", "bytes", "GB/s", "bus GB/s", "ranks"),
        *("mean", "median", "p95", "min", "max"),
    ]
    order = lambda row: (-row[5], row[0], row[1] or "~")  # noqa: E731
    for found in (of_ranks, of_all):
        assert sorted((tuple(row[column] for column in COLUMNS) for row in found), key=order) == sorted(EXPECTED, key=order)
    assert received == ["receive"]
    assert [(one["group_name"], one["own_position"], one["global_rank"]) for one in positions] == [
        *(("0", 1, rank) for rank in range(8)),
        ("1", 1, 0),
        ("1", 1, 1),
    ]
