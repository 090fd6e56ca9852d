"""What is a module and what its name is: mstx or nn.Module rows, domains, classes or instances, all depths or a few."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from tests.helpers.small_profile import Frame, Kernel, Op, Range, write_profile

Rows = list[tuple[Any, ...]]
STATISTIC = "SELECT * EXCLUDE (profile, rank_id, avg_mfu) FROM module.statistic"
TREE = "SELECT parent_module, module, calls, kernel_duration_ns FROM module.tree"


def ask(folder: Path, query: str = STATISTIC, **options: Any) -> Rows:
    with open_profile(folder, **options) as profile:
        return [tuple(row.values()) for row in profile.sql(query, arrow=True).to_pylist()]


def op(name: str, start: int, tid: int = 1, **how: Any) -> Op:
    return Op(name, start, start + 5, (Kernel(name.upper(), 1000 + start, 1010 + start),), tid, **how)


def row(parent: str, module: str, name: str, count: int = 1) -> tuple[Any, ...]:
    return parent, module, name, name.upper(), 10 * count, 10.0, count, name


FRAMES = [
    Frame("nn.Module: Net_0", 90, 300),
    Frame("model.py(12): forward", 95, 290),
    Frame("nn.Module: Conv2d_0", 100, 120),
    Frame("nn.Module: Conv2d_13", 130, 150),
    Frame("nn.Module: Block_2_7", 160, 180),
    Frame("nn.Module: Head", 190, 210),
]
TRACED_OPS = [op("a", 105), op("a", 135), op("b", 165), op("c", 195), op("d", 250), op("e", 400)]
TRACED: Rows = [
    row("Net", "Conv2d", "a", 2),
    row("Net", "Block_2", "b"),
    row("Net", "Head", "c"),
    row("", "Net", "d"),
]
MARKED = [Range("Marked", 90, 140), Range("Other", 100, 112, domain="Custom")]


def test_rows_of_the_python_tracer_are_modules_under_their_class_where_mstx_marks_none(tmp_path: Path) -> None:
    write_profile(tmp_path, TRACED_OPS, frames=FRAMES)
    assert ask(tmp_path) == TRACED
    columns = "origin, role, is_module_candidate, domain, name, recorded_name, start_ns"
    ranges = f"SELECT {columns} FROM trace.range ORDER BY start_ns LIMIT 2"
    assert ask(tmp_path, ranges) == [
        ("nn.Module", "module", False, None, "Net", "nn.Module: Net_0", 90),
        ("nn.Module", "module", False, None, "Conv2d", "nn.Module: Conv2d_0", 100),
    ]


@pytest.mark.slow
def test_the_tracer_serves_where_mstx_has_none_of_the_domains(tmp_path: Path) -> None:
    write_profile(tmp_path, TRACED_OPS, MARKED, frames=FRAMES)
    assert ask(tmp_path, module_domains=["Unknown"]) == TRACED
    with open_profile(tmp_path, module_domains=["Unknown"], module_source="mstx") as profile, pytest.raises(InputError):
        profile.module_stats()


def test_siblings_of_one_class_are_numbered_by_instance_and_calls_of_the_root_are_one(tmp_path: Path) -> None:
    """Two steps with two layers each; a Linear in each layer, and one beside them."""
    ops: list[Op] = []
    ranges: list[Range] = []
    for start in (100, 300):
        ranges += [Range("Net", start, start + 150)]
        for layer in (start + 10, start + 60):
            ranges += [Range("Layer", layer, layer + 40), Range("Linear", layer + 5, layer + 35)]
            ops.append(op("mm", layer + 10))
        ranges += [Range("Linear", start + 110, start + 140)]
        ops.append(op("head", start + 120))
    write_profile(tmp_path, ops, ranges)
    assert ask(tmp_path, instances=True) == [
        row("Net[0]/Layer[0]", "Linear[0]", "mm", 2),
        row("Net[0]/Layer[1]", "Linear[0]", "mm", 2),
        row("Net[0]", "Linear[0]", "head", 2),
    ]
    assert ask(tmp_path, TREE, instances=True) == [
        ("", "Net[0]", 2, 60),
        ("Net[0]", "Layer[0]", 2, 20),
        ("Net[0]/Layer[0]", "Linear[0]", 2, 20),
        ("Net[0]", "Layer[1]", 2, 20),
        ("Net[0]/Layer[1]", "Linear[0]", 2, 20),
        ("Net[0]", "Linear[0]", 2, 20),
    ]
    assert ask(tmp_path) == [row("Net/Layer", "Linear", "mm", 4), row("Net", "Linear", "head", 2)]


@pytest.mark.slow
def test_what_runs_again_in_a_backward_has_the_number_of_what_it_repeats(tmp_path: Path) -> None:
    """Layers 1 and 2 of three are checkpointed; their ranges lie in the checkpoint's op, and run again in its backward."""
    ops = [
        op("mm", 110),
        Op("checkpoint", 125, 155),
        op("mm", 140),
        Op("checkpoint", 165, 195),
        op("mm", 180),
        Op("CheckpointBackward", 300, 350, tid=2, backward_of=3),
        op("mm", 320, tid=2),
        Op("CheckpointBackward", 400, 450, tid=2, backward_of=1),
        op("mm", 420, tid=2),
    ]
    ranges = [
        Range("Net", 100, 250),
        *(Range("Layer", start, start + 20) for start in (105, 130, 170)),
        *(Range("Layer", start, start + 20, tid=2) for start in (310, 410)),
    ]
    write_profile(tmp_path, ops, ranges)
    places = "SELECT parent_module, module FROM module.kernel ORDER BY start_ns"
    assert ask(tmp_path, places, instances=True) == [
        ("Net[0]", "Layer[0]"),
        ("Net[0]", "Layer[1]"),
        ("Net[0]", "Layer[2]"),
        ("Net[0]", "[Backward]Layer[2]"),
        ("Net[0]", "[Backward]Layer[1]"),
    ]
    assert ask(tmp_path, TREE, instances=True) == [
        ("", "Net[0]", 1, 30),
        ("Net[0]", "Layer[0]", 1, 10),
        ("Net[0]", "Layer[1]", 1, 10),
        ("Net[0]", "Layer[2]", 1, 10),
        ("", "[Backward]Net[0]", 1, 20),
        ("Net[0]", "[Backward]Layer[2]", 1, 10),
        ("Net[0]", "[Backward]Layer[1]", 1, 10),
    ]


@pytest.mark.parametrize(
    ("depth", "tree"),
    [
        (1, [("", "Net", 1, 30)]),
        (2, [("", "Net", 1, 30), ("Net", "Layer", 2, 20)]),
        (3, [("", "Net", 1, 30), ("Net", "Layer", 2, 20), ("Net/Layer", "Linear", 2, 20)]),
        (9, [("", "Net", 1, 30), ("Net", "Layer", 2, 20), ("Net/Layer", "Linear", 2, 20)]),
    ],
)
@pytest.mark.slow
def test_what_lies_deeper_than_the_chosen_depth_belongs_to_the_call_at_that_depth(
    tmp_path: Path, depth: int, tree: Rows
) -> None:
    ranges = [
        Range("Net", 100, 250),
        *(Range("Layer", start, start + 40) for start in (110, 160)),
        *(Range("Linear", start, start + 20) for start in (120, 170)),
    ]
    write_profile(tmp_path, [op("mm", 125), op("mm", 175), op("head", 220)], ranges)
    assert ask(tmp_path, TREE, depth=depth) == tree
    layers = {1: [("", "Net", "mm", 1), ("", "Net", "mm", 1)], 2: [("Net", "Layer", "mm", 2)]}
    expected = [*layers.get(depth, [("Net/Layer", "Linear", "mm", 2)]), ("", "Net", "head", 1)]
    assert ask(tmp_path, depth=depth) == [row(*one) for one in expected]
