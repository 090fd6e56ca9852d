"""Memory that leaks, that is reserved and never used, or that is almost full, planted into generated runs of each form."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.generate import generate
from fixtures.kineto_export import export_kineto
from fixtures.memory import Memory, memory_of
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from fixtures.trace import make_rank
from prof_analysis import Profile, open_profile
from tests.helpers.asking import found_by
from tests.helpers.says import says
from tests.helpers.small_profile import edit

MIB = 2**20
LEAK = 3 * MIB
PLANTED = Shape(steps=3, layers=1, world=1, memory=True, leak=LEAK, fragments=2048, pmu=False)
RULES = "memory_limit", "memory_fragmentation", "memory_growth", "out_of_memory"
COLUMNS = "rule", "title", "module", "op", "kernel_type", "rank_id", "evidence", "count", "win_ns", "kind", "time_ns"


def run_of(folder: Path, form: str, shape: Shape, memory_bytes: int = 85018279936) -> None:
    shape = replace(shape, task_queue=False, schedule_kernels=False) if form == "kineto" else shape
    generate(folder, shape, ranks=1, style=TextStyle(exports="text" if form == "text" else "db"))
    if form == "kineto":
        (database,) = folder.rglob("ascend_pytorch_profiler_0.db")
        export_kineto(database, folder / "gpu" / "rank0.json", 0, 1, memory_bytes=memory_bytes)
        shutil.rmtree(database.parent.parent)


def findings(profile: Profile) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in COLUMNS) for row in found_by(profile, *RULES)]


@pytest.fixture(scope="module", params=["db", *(pytest.param(one, marks=pytest.mark.slow) for one in ("text", "kineto"))])
def planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Profile, Memory]]:
    folder = tmp_path_factory.mktemp(request.param)
    run_of(folder, request.param, PLANTED)
    shape = replace(PLANTED, task_queue=False, schedule_kernels=False) if request.param == "kineto" else PLANTED
    with open_profile(folder) as profile:
        yield request.param, profile, memory_of(make_rank(shape, 0, 0))


def gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"


def test_a_leak_and_memory_that_serves_no_block_are_found_with_their_bytes(planted: tuple[str, Profile, Memory]) -> None:
    form, profile, memory = planted
    reserved = max(record.reserved for record in memory.records)
    # A GPU trace does not record what is active.
    held = max(record.allocated if form == "kineto" else record.active for record in memory.records)
    left = 85018279936 - reserved
    beside = [f"{gib(left)} left"] if form == "kineto" else []
    lasts = [gib(left), f"{left // LEAK} more steps"] if form == "kineto" else []
    assert findings(profile) == [
        (
            "memory_fragmentation", says("Reserved memory", "in use"), None, None, None, 0,
            says(f"{gib(reserved)} reserved", f"{held / MIB:.1f} MiB are in use", "serve no block",
                 f"{gib(reserved - held)} ({(reserved - held) / reserved * 100:.1f}%)", *beside),
            None, None, "hint", None,
        ),
        (
            "memory_growth", says("memory grows"), "Qwen2ForCausalLM/Qwen2Model/Embedding", "aten::embedding",
            None, 0,
            says("2 blocks", "in 2 steps", "never released", "6.0 MiB", "3.0 MiB in each step", *lasts),
            2, None, "hint", None,
        ),
    ]  # fmt: skip
    assert [" left" in row[6] for row in findings(profile)] == [form == "kineto"] * 2


def holder(memory: Memory) -> tuple[str, str, int, int]:
    """Return the module and the op that hold most when most is allocated, their bytes and blocks."""
    at = memory.peak.time_ns
    held: dict[tuple[str, str], list[int]] = {}
    for block in memory.blocks:
        ends = [end for end in (block.released_ns, block.active_release_ns) if end is not None]
        if block.allocated_ns <= at and (not ends or min(ends) > at):
            path = "/".join(filter(None, (block.parent_module, block.module)))
            held.setdefault((path, block.op_name), []).append(block.size)
    (module, op), sizes = max(held.items(), key=lambda item: sum(item[1]))
    return module, op, sum(sizes), len(sizes)


@pytest.mark.slow
def test_a_device_that_is_almost_full_is_found_with_what_holds_most(tmp_path: Path) -> None:
    shape = replace(PLANTED, fragments=0, leak=0, vocabulary=4096, task_queue=False, schedule_kernels=False)
    memory = memory_of(make_rank(shape, 0, 0))
    used = max(record.reserved for record in memory.records)
    whole = used * 20 // 19
    run_of(tmp_path, "kineto", shape, memory_bytes=whole)
    with open_profile(tmp_path) as profile:
        found = findings(profile)
    module, op, held, blocks = holder(memory)
    shown_left = f"{(whole - used) / 1024:.1f} KiB"
    assert found == [(
        "memory_limit", says("memory is almost full"), module, op, None, 0,
        says(f"{used / MIB:.1f} MiB of {whole / MIB:.1f} MiB", f"{shown_left} (5.0%) are left",
             f"{op} in {module} holds most", f"{held / MIB:.1f} MiB",
             f"{memory.before_bytes / MIB:.1f} MiB were allocated before"),
        blocks, None, "hint", None,
    )]  # fmt: skip


@pytest.mark.slow
def test_a_run_without_a_defect_has_no_finding_unless_the_user_gives_a_small_device(tmp_path: Path) -> None:
    run_of(tmp_path, "db", replace(PLANTED, fragments=0, leak=0))
    with open_profile(tmp_path, thresholds={"memory_limit.memory_gib": 64}) as profile:
        assert findings(profile) == []
        (used,) = profile.rows("SELECT used_bytes FROM across.memory_rank")[0].values()
    with open_profile(tmp_path, thresholds={"memory_limit.memory_gib": used / 2**30 * 1.05}) as profile:
        assert [row[0] for row in findings(profile)] == ["memory_limit"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "is_advised"), [("max_split_size_mb:32", True), ("max_split_size_mb:32, expandable_segments: True", False)]
)
def test_a_setting_of_the_allocator_that_is_in_force_is_not_advised(tmp_path: Path, value: str, is_advised: bool) -> None:
    run_of(tmp_path, "db", PLANTED)
    (database,) = tmp_path.rglob("ascend_pytorch_profiler_0.db")
    edit(database, "CREATE TABLE IF NOT EXISTS META_DATA (name TEXT, value TEXT)")
    edit(database, f"""INSERT INTO META_DATA VALUES ('ENV_VARIABLES', '{{"PYTORCH_NPU_ALLOC_CONF": "{value}"}}')""")
    with open_profile(tmp_path) as profile:
        (found,) = profile.rows("SELECT what_to_do FROM advice.memory_fragmentation")
    assert found["what_to_do"].startswith("Set expandable_segments:True") is is_advised
    assert "keep shapes equal" in found["what_to_do"].lower()
