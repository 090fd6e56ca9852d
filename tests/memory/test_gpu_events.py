"""Memory events of GPU traces: pairs of allocation and release by address, whatever else a trace holds."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from prof_analysis.analyses.answer import Sentences
from prof_analysis.analyses.answering import answer_of
from tests.helpers.asking import build_at_once
from tests.helpers.kineto import BASE_NS, HEAD, event, memory, module, op, write_trace
from tests.helpers.says import says

MIB = 2**20
DEVICE = {"deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 8 * MIB}]}
BLOCKS = """
    SELECT component, device_id, size_bytes, allocated_ns - {base} AS allocated, released_ns - {base} AS released, op_name,
        module, lifetime::VARCHAR AS lifetime, is_live_at_peak
    FROM allocation.block
"""


def asked(folder: Path, events: list[str], *queries: str) -> tuple[list[list[tuple[Any, ...]]], list[str]]:
    trace = write_trace(folder / "rank0.json", events, {**HEAD, **DEVICE})
    with open_profile(trace) as profile:
        build_at_once(profile, "memory", "allocation.peak_moment")
        answers = [[tuple(row.values()) for row in profile.rows(query.format(base=BASE_NS))] for query in queries]
        return answers, [warning.partition(": ")[2] for warning in profile.warnings]


def test_a_block_has_its_innermost_op_and_module_and_the_peak_what_was_there_before(tmp_path: Path) -> None:
    events = [
        module("Net_0", 1000, 9000),
        op("aten::linear", 2000, 5000, 1),
        op("aten::empty", 2100, 2200, 2),
        op("aten::mul", 6000, 7000, 3),
        memory(MIB, 16, 2150, (3 * MIB, 4 * MIB)),  # 2 MiB were allocated before.
        memory(512, 32, 2300, (3 * MIB + 512, 4 * MIB)),
        memory(-512, 32, 4900, (3 * MIB, 4 * MIB)),
        memory(1024, 32, 6500, (3 * MIB + 1024, 4 * MIB)),  # At the same address.
        memory(-1024, 32, 8000, (3 * MIB, 4 * MIB)),
        memory(-MIB, 99, 8500, (2 * MIB, 4 * MIB)),  # A block from before.
    ]
    (blocks, peak, ranks), warnings = asked(
        tmp_path,
        events,
        BLOCKS,
        "SELECT part::VARCHAR AS part, op_name, module, live_bytes FROM allocation.peak WHERE measure = 'allocated'",
        "SELECT memory_bytes, used_bytes, used_by, left_bytes, left_share, before_bytes, fragmentation_bytes"
        " FROM across.memory_rank",
    )
    assert blocks == [
        ("CUDA", 0, MIB, 2150, None, "aten::empty", "Net", "not released", True),
        ("CUDA", 0, 512, 2300, 4900, "aten::linear", "Net", "op", False),
        ("CUDA", 0, 1024, 6500, 8000, "aten::mul", "Net", "module call", True),
    ]
    assert peak == [
        ("allocated before", None, None, 2 * MIB),
        ("blocks", "aten::empty", "Net", MIB),
        ("blocks", "aten::mul", "Net", 1024),
    ]
    assert ranks == [(8 * MIB, 4 * MIB, "allocators", 4 * MIB, 0.5, 2 * MIB, MIB - 1024)]
    assert warnings == []


@pytest.mark.slow
def test_memory_of_the_host_and_of_other_devices_does_not_mix_with_that_of_a_device(tmp_path: Path) -> None:
    events = [
        op("aten::add", 1000, 9000, 1),
        memory(1000, 16, 2000, (1000, 2000)),
        memory(7000, 16, 3000, (7000, 0), device=(0, -1)),
        memory(4000, 16, 4000, (4000, 8000), device=(1, 1)),
        memory(-7000, 16, 5000, (0, 0), device=(0, -1)),
        memory(-1000, 16, 6000, (0, 2000)),
        memory(300, 48, 7000, (300, 512), device=(6, 0)),
    ]
    (blocks, peaks), _ = asked(
        tmp_path,
        events,
        BLOCKS,
        "SELECT component, device_id, measure::VARCHAR AS measure, peak_bytes FROM allocation.peak_moment ORDER BY ALL",
    )
    assert blocks == [
        ("CUDA", 0, 1000, 2000, 6000, "aten::add", None, "op", True),
        ("CUDA", 1, 4000, 4000, None, "aten::add", None, "not released", True),
        ("HIP", 0, 300, 7000, None, "aten::add", None, "not released", True),
    ]
    assert peaks == [
        ("CUDA", 0, "allocated", 1000),
        ("CUDA", 0, "reserved", 2000),
        ("CUDA", 1, "allocated", 4000),
        ("CUDA", 1, "reserved", 8000),
        ("HIP", 0, "allocated", 300),
        ("HIP", 0, "reserved", 512),
    ]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([memory(1000, 16, 2000, (1000, 2000), device=(0, -1))], ("no records of device memory", "of the CPU")),
        (
            [memory(1000, 16, 2000, (0, 0)).replace('"Total Reserved": 0, "Total Allocated": 0, ', "")],
            ("records of device memory have no totals", "PyTorch of 2021"),
        ),
        ([], ("no records of device memory", "set profile_memory=True")),
    ],
    ids=["of the CPU", "of 2021", "none"],
)
def test_ranks_promises_no_memory_where_the_command_has_none(
    tmp_path: Path, events: list[str], reason: tuple[str, ...]
) -> None:
    trace = write_trace(tmp_path / "trace.json", [op("aten::add", 1000, 9000, 1), *events])
    with open_profile(trace) as profile:
        (rank,) = profile.ranks(arrow=True).to_pylist()
        assert "memory" not in rank["answers"]
        with pytest.raises(InputError, match=says("no rank can answer", *reason).pattern):
            profile.prepare("memory")


@pytest.mark.slow
def test_damaged_events_are_counted_and_a_second_release_is_no_block(tmp_path: Path) -> None:
    good = memory(512, 16, 2000, (512, 1024))
    events = [
        op("aten::add", 1000, 9000, 1),
        good,
        memory(-512, 16, 3000, (0, 1024)),
        memory(-512, 16, 3500, (0, 1024)),  # Released again.
        memory(256, 32, 4000, (256, 1024)),
        memory(128, 32, 5000, (128, 1024)),  # The release in between is missing.
        good.replace('"Addr": 16', '"Addr": "here"').replace('"ts": 2.000', '"ts": 2.500'),
        good.replace('"Bytes": 512', '"Bytes": 0').replace('"ts": 2.000', '"ts": 2.600'),
        good.replace('"Device Type": 1', '"Device Type": null').replace('"ts": 2.000', '"ts": 2.700'),
        good.replace('"ts": 2.000', '"ts": "soon"'),
        memory(64, 64, 8000, (-5, 1024)),
        memory(2**62, 80, 8500, (64, 1024)),
        memory(-(2**63), 80, 8600, (64, 1024)),
    ]
    (blocks, sums), warnings = asked(
        tmp_path,
        events,
        BLOCKS,
        "SELECT measure::VARCHAR AS measure, min(peak_bytes) AS peak, sum(live_bytes)::BIGINT AS sum"
        " FROM allocation.peak GROUP BY ALL ORDER BY measure",
    )
    assert blocks == [
        ("CUDA", 0, 512, 2000, 3000, "aten::add", None, "op", True),
        ("CUDA", 0, 256, 4000, 5000, "aten::add", None, "op", False),
        ("CUDA", 0, 128, 5000, None, "aten::add", None, "not released", False),
        ("CUDA", 0, 64, 8000, None, "aten::add", None, "not released", False),
    ]
    assert sums == [("allocated", 512, 512), ("reserved", 1024, 1024)]
    assert warnings == [
        says("memory events set aside", "totals are not possible", 1),
        says("memory events set aside", "no address or no possible size", 4),
        says("memory events set aside", "no time", 1),
        says("memory events set aside", "no device", 1),
    ]


def test_a_trace_without_memory_events_says_how_to_record_them(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "rank0.json", [op("aten::add", 1000, 9000, 1)])
    with open_profile(trace) as profile, pytest.raises(InputError, match="set profile_memory=True"):
        profile.memory()


def test_the_screen_says_what_failed_how_full_the_device_was_what_grows_and_which_op_leaks(tmp_path: Path) -> None:
    events = []
    for step in range(3):
        start = 10_000 * step
        events += [
            event("user_annotation", f"ProfilerStep#{step + 4}", start, start + 9900),
            module("Net_0", start + 100, start + 9000),
            op("aten::cat", start + 1000, start + 2000, 2 * step),
            memory(MIB, 16 + step, start + 1500, ((step + 2) * MIB, 6 * MIB)),
            memory(512, 99, start + 1600, ((step + 2) * MIB + 512, 6 * MIB)),
            memory(-512, 99, start + 1700, ((step + 2) * MIB, 6 * MIB)),
        ]
    events += [
        failed(4 * MIB, 21_800, (4 * MIB, 6 * MIB)),
        failed(5 * MIB, 29_900, (4 * MIB, 6 * MIB)),
        failed(5 * MIB, 29_950, (4 * MIB, 6 * MIB), device=(0, -1)),  # of the host
    ]
    trace = write_trace(tmp_path / "rank3.json", events, {**HEAD, **DEVICE})
    with open_profile(trace) as profile:
        profile.prepare("memory")
        answer = answer_of(profile, "memory", 5)
    lines = [line for block in answer.blocks if isinstance(block, Sentences) for line in block.lines]
    held = ("4.00 MiB were allocated", "6.00 MiB reserved", "of 8.00 MiB", "left 2.00 MiB")
    assert lines == [
        says("out of memory (rank 3, device 0, step 6)", "4.00 MiB were tried by aten::cat", *held),
        says("out of memory (rank 3, device 0)", "5.00 MiB were tried", *held),
        says("rank 3", "at most 6.00 MiB in use", "of 8.00 MiB on the device", "2.00 MiB (25.0%) left"),
        says("CUDA, the allocator of the framework", "4.00 MiB allocated (in step 6)", "6.00 MiB reserved"),
        says("1.00 MiB (25.0%) was allocated before the recording", "2.00 MiB more was reserved", "(fragmentation)"),
        says("floor of the steps", "1.00 MiB to 3.00 MiB", "1.00 MiB a step"),
        says("leak", "1.00 MiB a step", "by aten::cat in Net", "in each of 2 steps"),
    ]


def failed(size: int, at: int, totals: tuple[int, int], device: tuple[int, int] = (1, 0)) -> str:
    """An attempt to allocate memory that failed."""
    return memory(size, 1, at, totals, device=device).replace("[memory]", "[OutOfMemory]").replace('"Addr": 1, ', "")
