"""Generated runs with experts, stages, clock drops, a slow link, copies and a late rank, in each form, against their truth."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fixtures import recipes, recipes_of_communication, recipes_of_devices
from fixtures.events import Row
from fixtures.generate import generate
from fixtures.kineto_export import export_run
from fixtures.shape import Shape
from fixtures.text_style import TextStyle
from fixtures.trace import Rank, make_rank
from prof_analysis import Profile, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.frames import arrow_of
from tests.helpers.slow import quick

STAGES = Shape(world=4, layers=2, hidden=256, stages=2, micro_batches=2)
NPU = replace(STAGES, experts=3, clock_low=1200, slow_link="2-3", slower_by=300, copies=2)
GPU = replace(NPU, layers=1, task_queue=False, schedule_kernels=False)
LATE = Shape(world=3, layers=1, late_rank=1, spread=3)
TABLES = (
    "across.expert_call", "across.expert_rank", "across.expert_total", "across.expert_rows", "pipeline.pass", "pipeline.stage",
    "across.pipeline_rank", "across.p2p", "step.copy", "across.collective",
)  # fmt: skip
NOT_OF_A_GPU = "clock.device", "clock.kernel_type", "clock.span", "across.link", "across.link_packet"
PATH = "if(module IS NULL, NULL, concat_ws('/', nullif(parent_module, ''), module)) AS path"
EXPOSED = """op, type, operation, direction, group_name, group_label, op_count, elapse_ns, exposed_ns, waiting_ns,
    transferring_ns, other_ns, unknown_ns, longest_ns"""
IDS = {
    "profile", "source_profile", "destination_profile", "first_profile", "last_profile", "kernel_id", "idle_cause",
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A run in one form, and its ranks as the generator has them."""

    form: str
    profile: Profile
    ranks: list[Rank]

    def rows(self, table: str, without: set[str] = IDS) -> list[Row]:
        """Return the rows of a table without what the truth does not say."""
        return [
            tuple(value for name, value in row.items() if name not in without) for row in self.profile.rows(f"FROM {table}")
        ]

    def of_ranks(self, truth: Callable[[Rank], list[Row]]) -> list[Row]:
        return [row for rank in self.ranks for row in truth(rank)]


def run_of(folder: Path, form: str, shape: Shape) -> Iterator[Run]:
    generate(folder, shape, ranks=shape.world, style=TextStyle(exports="text" if form == "text" else "db"))
    if form == "kineto":
        export_run(folder, folder / "gpu", copies=True)
        for made in folder.glob("*_ascend_pt"):
            shutil.rmtree(made)
    with open_profile(folder) as profile:
        build_at_once(profile, *TABLES, *(() if form == "kineto" else NOT_OF_A_GPU))
        yield Run(form, profile, [make_rank(shape, number, 0) for number in range(shape.world)])


@pytest.fixture(scope="module", params=quick(["db", "text", "kineto"], 0))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield from run_of(tmp_path_factory.mktemp("planted"), request.param, GPU if request.param == "kineto" else NPU)


def without(rows: list[Row], *places: int) -> list[Row]:
    return [tuple(value for place, value in enumerate(row) if place not in places) for row in rows]


def test_experts_have_the_rows_and_cost_that_were_planted(run: Run) -> None:
    has_rows = run.form != "kineto"  # On a GPU only PyTorch's own grouped matmul has shapes.
    assert run.rows("across.expert_call") == recipes.expert_call(run.ranks, has_rows)
    if has_rows:
        assert run.rows("across.expert_rank") == recipes.expert_rank(run.ranks)
        assert run.rows("across.expert_total") == recipes.expert_total(run.ranks)
        assert run.rows("across.expert_rows") == recipes.expert_rows(run.ranks)
        assert {row[-1] for row in recipes.expert_rows(run.ranks) if row[1] == 0} == {0.0}


def test_passes_stages_and_bubbles_are_those_of_the_schedule(run: Run) -> None:
    has_stream = run.form != "kineto"
    assert run.rows("pipeline.pass", IDS | {"name"}) == recipes.pipeline_pass(run.ranks, has_stream)
    assert run.rows("pipeline.stage") == recipes.pipeline_stage(run.ranks, has_stream)
    assert run.rows("across.pipeline_rank") == recipes.pipeline_rank(run.ranks, has_stream)


def test_each_send_has_its_receive(run: Run) -> None:
    has_tasks = run.form != "kineto"  # A GPU numbers groups, and records no bytes of NCCL's kernels here.
    found, expected = run.rows("across.p2p"), recipes.p2p(run.ranks, has_tasks)
    assert (found if has_tasks else sorted(without(found, 0))) == (expected if has_tasks else sorted(without(expected, 0)))
    assert {row[14] for row in expected} == {"source", "destination"}


def test_copies_of_each_step_have_their_bytes_and_time(run: Run) -> None:
    expected = run.of_ranks(recipes_of_devices.copies)
    if run.form == "kineto":  # Copies are kernels, so no step is free while one runs.
        expected = [(*row[:7], 0, *row[8:]) for row in expected]
    assert run.rows("step.copy") == expected


def test_what_ranks_wait_for_each_other_in_each_collective(run: Run) -> None:
    found, expected = run.rows("across.collective"), recipes_of_devices.collective(run.ranks, run.form == "kineto")
    if run.form == "kineto":  # A GPU numbers groups, and types have no prefix.
        found, expected = (sorted(without(rows, 0, 2), key=str) for rows in (found, expected))
    assert found == expected


@pytest.mark.slow
def test_how_much_communication_computing_does_not_cover(run: Run) -> None:
    rows = run.profile.rows(f"SELECT rank_id, location, {PATH}, {EXPOSED} FROM communication.exposed")
    found = sorted((tuple(row.values()) for row in rows), key=str)
    expected = recipes_of_communication.exposed(run.ranks, has_split=run.form != "kineto")
    if run.form == "kineto":  # A GPU numbers groups, calls them otherwise, and types have no prefix.
        found, expected = (sorted(without(rows, 4, 6, 7, 8), key=str) for rows in (found, expected))
    assert found == expected if run.form == "db" else _is_near(found, expected)
    alone = run.profile.rows(
        "SELECT sum(communication_not_overlapped_ns)::BIGINT AS ns FROM step.time WHERE step_id IS NOT NULL"
    )
    assert alone == run.profile.rows("SELECT sum(exposed_ns)::BIGINT AS ns FROM communication.exposed")


def test_the_clock_has_its_drops_and_their_cost(run: Run) -> None:
    if run.form == "kineto":
        pytest.skip("a GPU trace has no clock")
    assert run.rows("clock.span") == run.of_ranks(recipes_of_devices.clock_span)
    types = [row for rank in run.ranks for row in recipes_of_devices.clock_kernel_type(rank, has_zeros=run.form == "text")]
    assert run.rows("clock.kernel_type") == types
    assert run.rows("clock.device") == [recipes_of_devices.clock_device(rank) for rank in run.ranks]
    assert {row[5] for row in run.of_ranks(recipes_of_devices.clock_span)} == {1800, 1200}


def test_the_slow_link_is_the_planted_one(run: Run) -> None:
    if run.form == "kineto":
        pytest.skip("a GPU trace has no transfers")
    for table, truth in ("across.link_packet", recipes_of_devices.link_packet), ("across.link", recipes_of_devices.link):
        found, expected = sorted(run.rows(table), key=_pair), sorted(truth(run.ranks), key=_pair)
        # In the trace, each task on the device lasts up to half a nanosecond longer.
        assert found == expected if run.form == "db" else _is_near(found, expected)
    slow = [row[1:3] for row in recipes_of_devices.link(run.ranks) if row[-3]]
    assert slow == [(2, 3)]


def _pair(row: Row) -> tuple[str, ...]:
    return tuple(str(value) for value in row if isinstance(value, str) or (type(value) is int and value < 10))


def _is_near(found: list[Row], expected: list[Row]) -> bool:
    def near(a: Any, b: Any) -> bool:
        is_number = isinstance(b, int | float) and not isinstance(b, bool)
        return bool(a == (pytest.approx(b, rel=1e-3, abs=20) if is_number else b))

    return len(found) == len(expected) and all(
        near(a, b) for one, other in zip(found, expected, strict=True) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.slow
def test_the_others_wait_for_a_late_rank_in_the_first_collective_of_each_step(tmp_path: Path) -> None:
    for run in run_of(tmp_path, "db", LATE):
        assert run.rows("across.collective") == (expected := recipes_of_devices.collective(run.ranks))
        worst = arrow_of(run.profile.slow_ranks("collective")).to_pylist()[:2]
    late = [int(rank.waiting.max()) for rank in run.ranks]
    assert late[1] == 0 and late[0] == late[2] > 0
    assert [(row["last_rank_id"], row["step_id"], row["cause"]) for row in worst][1] == (1, 11, "host")
    assert {(row[4], row[7]) for row in expected[:2]} == {(10, 1), (11, 1)}
    assert all(row[10] > 0.8 * late[0] for row in expected[:2])
