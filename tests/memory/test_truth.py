"""Generated runs with memory, in each form, against what the generator knows of each block, of the peak and of the leak."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.kineto_export import export_kineto
from fixtures.memory import Block, Memory, memory_of
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from fixtures.trace import make_rank
from prof_analysis import Profile, open_profile
from tests.helpers.asking import build_at_once

# Two threads run the same model at once, so ops of one name are on both.
HARD: dict[str, Any] = {"forward_threads": 2, "equal_sequences": True, "recompute": True, "gradient_hooks": True}
NPU = Shape(steps=3, layers=1, world=1, memory=True, leak=10_000, pmu=False)
GPU = replace(NPU, task_queue=False, schedule_kernels=False)
Row = tuple[Any, ...]


SLOW = ("text", "kineto", "db, hard", "text, hard", "kineto, hard")
CASES = ["db", *(pytest.param(case, marks=pytest.mark.slow) for case in SLOW)]


@pytest.fixture(scope="module", params=CASES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Profile, Memory]]:
    """A form of the run, its profile, and the truth."""
    form, is_hard = request.param.removesuffix(", hard"), request.param.endswith(", hard")
    folder, shape = tmp_path_factory.mktemp(form), GPU if form == "kineto" else NPU
    shape = replace(shape, **HARD) if is_hard else shape
    generate(folder, shape, ranks=1, style=TextStyle(exports="text" if form == "text" else "db"))
    if form == "kineto":
        (database,) = folder.rglob("ascend_pytorch_profiler_0.db")
        export_kineto(database, folder / "gpu" / "rank0.json", 0, 1)
        shutil.rmtree(database.parent.parent)
    with open_profile(folder) as profile:
        build_at_once(profile, "memory", "allocation.peak_moment")
        yield form, profile, memory_of(make_rank(shape, 0, 0))


def blocks_of(form: str, memory: Memory) -> list[Block]:
    """The blocks that a form can hold: a GPU trace has only the allocator of the framework."""
    return memory.blocks if form == "kineto" else [*memory.blocks, *memory.library]


def test_each_block_has_its_op_module_and_lifetime(run: tuple[str, Profile, Memory]) -> None:
    form, profile, memory = run
    expected = [
        (
            block.allocated_ns,
            "operators" if block.stream_ptr is None else "framework",
            block.size,
            block.op_name,
            block.parent_module,
            block.module,
            _released(form, block),
            block.lifetime,
            10 + block.step,
        )
        for block in blocks_of(form, memory)
    ]
    found = profile.rows("""
        SELECT allocated_ns, role::VARCHAR AS role, size_bytes, op_name, parent_module, module, released_ns,
            lifetime::VARCHAR AS lifetime, step_id
        FROM allocation.block
    """)
    assert sorted((tuple(row.values()) for row in found), key=str) == sorted(expected, key=str)
    assert {block.lifetime for block in memory.blocks} == {"op", "module call", "step", "several steps", "not released"}


def _released(form: str, block: Block) -> int | None:
    """When a form says that the host released a block: a GPU trace has the first of the two records."""
    ends = [end for end in (block.released_ns, block.active_release_ns) if end is not None]
    return (min(ends) if form == "kineto" else block.released_ns) if ends else None


def test_the_peak_is_the_known_one_and_its_parts_add_up(run: tuple[str, Profile, Memory]) -> None:
    form, profile, memory = run
    peak = memory.peak
    moments = profile.rows("""
        SELECT measure::VARCHAR AS measure, peak_bytes, peak_ns, step_id FROM allocation.peak_moment WHERE role = 'framework'
    """)
    highest = {row["measure"]: row for row in moments}
    assert highest["allocated"] == {
        "measure": "allocated", "peak_bytes": peak.allocated, "peak_ns": peak.time_ns, "step_id": 12
    }  # fmt: skip
    assert highest["reserved"]["peak_bytes"] == max(record.reserved for record in memory.records)
    if form != "kineto":
        assert highest["active"]["peak_bytes"] == max(record.active for record in memory.records)
    sums = profile.rows("""
        SELECT role::VARCHAR AS role, component, device_id, measure::VARCHAR AS measure,
            min(peak_bytes) AS peak, sum(live_bytes)::BIGINT AS sum
        FROM allocation.peak
        GROUP BY ALL
    """)
    assert len(sums) >= 2 and [row["sum"] for row in sums] == [row["peak"] for row in sums]
    alive = [
        block for block in memory.blocks if block.allocated_ns <= peak.time_ns and (block.released_ns or 2**62) > peak.time_ns
    ]
    (parts,) = profile.rows("""
        SELECT
            sum(live_bytes) FILTER (part = 'blocks')::BIGINT AS blocks,
            sum(block_count)::BIGINT AS count,
            max(live_bytes) FILTER (part = 'allocated before') AS before
        FROM allocation.peak
        WHERE measure = 'allocated' AND role = 'framework'
    """)
    # The block from before the recording that was freed in it is not there at the peak.
    assert parts == {
        "blocks": sum(block.size for block in alive), "count": len(alive), "before": memory.before_bytes - 4096
    }  # fmt: skip


def test_a_leak_shows_as_bytes_a_step_and_its_op(run: tuple[str, Profile, Memory]) -> None:
    _, profile, _ = run
    kept = profile.rows("""
        SELECT op_name, module, block_count, kept_bytes, steps_with, step_count, bytes_per_step, is_leak
        FROM allocation.kept
    """)
    assert [tuple(row.values()) for row in kept] == [("aten::embedding", "Embedding", 2, 2 * 10_240, 2, 2, 10_240.0, True)]
    steps = profile.rows("SELECT step_id, growth_bytes, kept_bytes FROM allocation.step WHERE role = 'framework'")
    # In the last step the block of the loader stays too: its release would be in the next one.
    assert [(row["step_id"], row["kept_bytes"]) for row in steps] == [(10, 10_240), (11, 10_240), (12, 11_264)]
    assert steps[2]["growth_bytes"] == 10_240


def test_ops_and_modules_sum_up_all_blocks(run: tuple[str, Profile, Memory]) -> None:
    form, profile, memory = run
    blocks = blocks_of(form, memory)
    for table, own in {"allocation.op": "", "allocation.module": "own_"}.items():
        (sums,) = profile.rows(f"""
            SELECT sum(block_count)::BIGINT AS count, sum({own}allocated_bytes)::BIGINT AS bytes,
                max(largest_bytes) AS largest, sum({own}kept_bytes)::BIGINT AS kept
            FROM {table}
        """)
        assert sums == {
            "count": len(blocks),
            "bytes": sum(block.size for block in blocks),
            "largest": max(block.size for block in blocks),
            "kept": sum(block.size for block in blocks if block.released_ns is None),
        }
    # An outermost module has all that was allocated in it.
    (whole,) = profile.rows("""
        SELECT sum(allocated_bytes)::BIGINT AS bytes FROM allocation.module WHERE coalesce(parent_module, '') = ''
    """)
    assert whole == {"bytes": sum(block.size for block in blocks)}


@pytest.mark.slow
def test_a_chosen_step_has_its_own_peak_and_blocks(tmp_path: Path) -> None:
    generate(tmp_path, NPU, ranks=1)
    memory = memory_of(make_rank(NPU, 0, 0))
    with open_profile(tmp_path, step_id=10) as profile:
        build_at_once(profile, "memory", "allocation.peak_moment")
        (peak,) = profile.rows("SELECT peak_bytes, step_id FROM allocation.peak_moment WHERE role = 'framework' LIMIT 1")
        (sums,) = profile.rows("SELECT count(*) AS blocks, count(DISTINCT step_id) AS steps FROM allocation.block")
        (parts,) = profile.rows("""
            SELECT sum(live_bytes)::BIGINT AS sum FROM allocation.peak WHERE role = 'framework' AND measure = 'allocated'
        """)
    first = [block for block in [*memory.blocks, *memory.library] if block.step == 0]
    last_ns = max(block.allocated_ns for block in first)
    highest = max(record.allocated for record in memory.records if record.time_ns <= last_ns)
    assert peak == {"peak_bytes": highest, "step_id": 10}
    assert sums == {"blocks": len(first), "steps": 1}
    assert parts == {"sum": highest}
    assert highest < memory.peak.allocated
