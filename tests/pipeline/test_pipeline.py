"""Forward and backward passes of micro-batches on the device, from whatever marks them, and the bubbles between."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from fixtures.text_export import export_text
from fixtures.text_style import TextStyle
from prof_analysis import open_profile
from prof_analysis.common.errors import InputError
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

STAGES = {"group_name_7": {"group_name": "pp", "global_ranks": [0, 1]}}
PASS = ("kind", "origin", "micro_batch", "number_from", "start_ns", "end_ns", "kernel_count", "computing_ns")


def passes(folder: Path, *shown: str, **options: Any) -> list[tuple[Any, ...]]:
    with open_profile(folder, **options) as profile:
        return [tuple(row[name] for name in shown or PASS) for row in arrow_of(profile.pipeline()).to_pylist()]


def write_stage(folder: Path, rank: int, ranges: list[Range], p2p: list[tuple[str, int, int]]) -> Path:
    """A stage of two, whose passes are ranges with a stream, and the sends and receives between stages."""
    operators = [Kernel(f"hcom_{what}_", start, end, kind="communication", group="pp") for what, start, end in p2p]
    database = write_profile(folder / f"r{rank}_ascend_pt", ranges=ranges, unlinked=operators, rank=rank)
    groups = {name: {**group, "group_rank": rank} for name, group in STAGES.items()}
    sizes = {"tensor_model_parallel_size": 1, "data_parallel_size": 1, "pipeline_model_parallel_size": 2, "rank": rank}
    rows = {"parallel_group_info": groups, "distributed_args": sizes}
    values = "".join(f"INSERT INTO META_DATA VALUES ('{name}', '{json.dumps(value)}');" for name, value in rows.items())
    (folder / f"r{rank}_ascend_pt" / "profiler_metadata.json").write_text(json.dumps(rows), encoding="utf-8")
    edit(database, f"CREATE TABLE META_DATA (name TEXT, value TEXT); {values}")
    return database


def marked(name: str, host: int, device: tuple[int, int]) -> Range:
    return Range(name, host, host + 9, domain="default", event_type=2, device=device)


def write_pipeline(folder: Path) -> None:
    """Two micro-batches over two stages: on the device a forward takes 100 ns, a backward 200."""
    forward, backward = "{'name': 'forward_step'}", "{'name': 'backward_step'}"
    write_stage(
        folder,
        0,
        [
            marked(forward, 10, (1000, 1100)),
            marked(forward, 20, (1100, 1200)),
            marked(backward, 30, (1400, 1600)),
            marked(backward, 40, (1600, 1800)),
        ],
        [("send", 1100, 1110), ("receive", 1210, 1400)],
    )
    # The receive before the first pass is of it; the second send goes on after the last pass.
    write_stage(
        folder,
        1,
        [
            marked(forward, 10, (1110, 1210)),
            marked(backward, 20, (1210, 1410)),
            marked(forward, 30, (1420, 1520)),
            marked(backward, 40, (1520, 1720)),
        ],
        [("receive", 1000, 1110), ("send", 1700, 1730)],
    )


def test_stages_with_their_passes_and_bubbles_from_ranges_with_a_stream(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_pipeline(tmp_path)
    with open_profile(tmp_path) as profile:
        found = arrow_of(profile.pipeline()).to_pylist()
        stages = arrow_of(profile.pipeline("stage")).to_pylist()
        (first, second) = arrow_of(profile.pipeline("rank")).to_pylist()
    assert found[0] == {
        "profile": "r0_ascend_pt", "rank_id": 0, "pipeline_stage": 0, "kind": "forward", "name": "forward_step",
        "origin": "range", "micro_batch": 0, "number_from": "order", "step_id": None, "host_start_ns": 10, "host_end_ns": 19,
        "start_ns": 1000, "end_ns": 1100, "duration_ns": 100, "kernel_count": 0, "computing_ns": 0,
    }  # fmt: skip
    of_second = [(row["kind"], row["micro_batch"], row["start_ns"]) for row in found if row["pipeline_stage"] == 1]
    assert of_second == [("forward", 0, 1110), ("backward", 0, 1210), ("forward", 1, 1420), ("backward", 1, 1520)]
    same = {"step_id": None, "micro_batch_count": 2, "forward_count": 2, "backward_count": 2, "forward_ns": 100,
            "backward_ns": 200, "pass_ns": 600}  # fmt: skip
    assert stages == [
        {"profile": "r0_ascend_pt", "rank_id": 0, "pipeline_stage": 0, **same, "span_ns": 800, "bubble_ns": 200, "p2p_ns": 190,
         "idle_ns": 10, "bubble_share": 0.25},
        {"profile": "r1_ascend_pt", "rank_id": 1, "pipeline_stage": 1, **same, "span_ns": 730, "bubble_ns": 130, "p2p_ns": 120,
         "idle_ns": 10, "bubble_share": 130 / 730},
    ]  # fmt: skip
    assert first == {
        "profile": "r0_ascend_pt", "rank_id": 0, "pipeline_stage": 0, "stage_count": 2, "step_count": 1, "origin": "range",
        "micro_batch_count": 2.0, "forward_ns": 100.0, "backward_ns": 200.0, "span_ns": 800.0, "pass_ns": 600.0,
        "bubble_ns": 200.0, "p2p_ns": 190.0, "idle_ns": 10.0, "bubble_share": 0.25, "least_share": 1 / 3,
    }  # fmt: skip
    assert (second["rank_id"], second["bubble_ns"]) == (1, 130.0)
    said = command("pipeline", "-d", tmp_path).stdout
    assert "bubbles take 17.8% to 25.0%" in said
    assert "most at rank 0: 200 ns a step (" in said
    assert " of 2 stages it would be 33.3%)" in said


@pytest.mark.slow
def test_text_exports_have_the_same_passes(tmp_path: Path) -> None:
    write_pipeline(tmp_path)
    for rank in range(2):
        export_text(next((tmp_path / f"r{rank}_ascend_pt").rglob("ascend_pytorch*.db")), TextStyle())
    shown = ("profile", "pipeline_stage", "kind", "name", "micro_batch", "start_ns", "end_ns")
    assert passes(tmp_path, *shown, source="text") == passes(tmp_path, *shown, source="db")


@pytest.mark.slow
def test_calls_of_the_model_and_their_backward_are_passes_of_its_micro_batches(tmp_path: Path) -> None:
    generate(tmp_path, Shape(steps=2, layers=1, micro_batches=3), ranks=1, seed=1)
    with open_profile(tmp_path) as profile:
        found = profile.rows(
            "SELECT step_id, kind, micro_batch, number_from, kernel_count > 10 AS has_kernels FROM pipeline.pass"
        )
        (left,) = profile.rows(
            "SELECT count(*) AS kernels FROM module.kernel AS placed JOIN trace.kernel AS kernel USING (profile, kernel_id)"
            " WHERE kernel.kind = 'compute' AND placed.location = 'inside modules'"
        )
        (inside,) = profile.rows("SELECT sum(kernel_count) AS kernels FROM pipeline.pass")
    expected = [(step, kind, number) for step in (10, 11) for number in range(3) for kind in ("forward", "backward")]
    assert [tuple(row.values()) for row in found] == [(*one, "module", True) for one in expected]
    assert inside["kernels"] >= left["kernels"]


def test_where_nothing_marks_passes_the_command_says_what_to_do(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "marks_ascend_pt", ranges=[Range("load", 100, 200, domain="mine")])
    remedy = says("mark them with mstx ranges", "forward_step and backward_step")
    assert remedy in command("pipeline", "-d", tmp_path).stderr.splitlines()
    write_profile(tmp_path / "none_ascend_pt", [Op("a", 100, 110, (Kernel("a", 1000, 1100),))])
    with open_profile(tmp_path / "none_ascend_pt") as profile, pytest.raises(InputError, match="no module ranges; mark the"):
        profile.pipeline()
