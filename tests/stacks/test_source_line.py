"""`--source-line` of op-stats and module-stats: which line of the user's code called an op, or why none is known."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from prof_analysis import InputError, open_profile
from tests.helpers.api import rows
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, Kernel, Op, Range, write_profile

OPS = [
    Op("aten::mm", 100, 200, (Kernel("a", 1000, 1100),), sequence_number=7),
    Op("aclnnMm", 120, 150, (Kernel("b", 1100, 1110),)),  # a record of a launch: a part of the op around it
    Op("aten::mm", 300, 360, (Kernel("c", 1200, 1230),)),
    Op("aten::sub", 600, 620, (Kernel("d", 1300, 1307),)),
    Op("aten::add", 640, 650, (Kernel("e", 1310, 1312),)),
    Op("MmBackward0", 700, 800, (), tid=2, backward_of=0, sequence_number=7),
    Op("aten::mul", 710, 780, (Kernel("f", 1500, 1550),), tid=2),
]
FRAMES = [
    Frame("train.py(3): main", 50, 500),
    Frame("net.py(7): forward", 90, 250),
    Frame("torch/_ops.py(5): __call__", 95, 240),
    Frame("torch/_ops.py(5): __call__", 590, 630),
]
RANGES = [Range("Net", 90, 655), Range("Layer", 95, 250)]
LINE, MAIN = "net.py(7): forward", "train.py(3): main"
# op, line, reason, calls, kernels, own time on the device, share, own time on the host
BY_OP = [
    ("aten::mm", LINE, None, 1, 2, 110, 110 / 199, 100),
    ("aten::mul", LINE, None, 1, 1, 50, 50 / 199, 70),
    ("aten::mm", MAIN, None, 1, 1, 30, 30 / 199, 60),
    ("aten::sub", None, "no user code", 1, 1, 7, 7 / 199, 20),
    ("aten::add", None, "op without stack", 1, 1, 2, 2 / 199, 10),
    ("MmBackward0", LINE, None, 1, 0, 0, 0.0, 30),
]
# modules around, module, op, line, reason, kernels, their time
BY_MODULE = [
    ("Net", "Layer", "aten::mm", LINE, None, 1, 100),
    ("Net", "[Backward]Layer", "aten::mul", LINE, None, 1, 50),
    ("", "Net", "aten::mm", MAIN, None, 1, 30),
    ("Net", "Layer", "aclnnMm", LINE, None, 1, 10),
    ("", "Net", "aten::sub", None, "no user code", 1, 7),
    ("", "Net", "aten::add", None, "op without stack", 1, 2),
]


def write(folder: Path) -> Path:
    write_profile(folder / "a_ascend_pt", OPS, RANGES, frames=FRAMES)
    return folder


@pytest.mark.slow
def test_ops_by_line_add_up_to_all_ops_and_modules(tmp_path: Path) -> None:
    with open_profile(write(tmp_path)) as profile:
        assert [row[2:] for row in rows(arrow_of(profile.op_stats(source_line=True)))] == BY_OP
        assert rows(arrow_of(profile.op_stats(source_line=True, across_ranks=True))) == BY_OP
        assert [row[2:] for row in rows(arrow_of(profile.module_stats(source_line=True)))] == BY_MODULE
        over_ranks = rows(arrow_of(profile.module_stats(source_line=True, across_ranks=True)))
        assert over_ranks == [(*row, row[-1] / 199) for row in BY_MODULE]
    with open_profile(tmp_path, filter="SUB") as profile:
        assert [row[2:] for row in rows(arrow_of(profile.op_stats(source_line=True)))] == [BY_OP[3]]


@pytest.mark.slow
def test_the_screen_and_the_files_name_the_line(tmp_path: Path, command: Callable[..., Result]) -> None:
    result = command("op-stats", "-d", write(tmp_path), "--by", "source-line", "--export-type", "csv", "-o", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (0, "")
    assert LINE in result.stdout
    assert "(no user code)" in result.stdout
    written = (tmp_path / "out" / "cluster_analysis_output" / "op_source_line.csv").read_text().splitlines()
    assert written[1].startswith(f"a_ascend_pt,0,aten::mm,{LINE},,1,2,110,")
    result = command("module-stats", "-d", tmp_path, "--by", "source-line", "--module", "Net/Layer")
    assert (result.exit_code, result.stderr) == (0, "")
    assert MAIN not in result.stdout
    assert LINE in result.stdout


def test_without_stacks_the_switch_is_named(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES)
    result = command("module-stats", "-d", tmp_path, "--by", "source-line")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == says("no Python stacks", "collect with with_stack=True")
    with open_profile(tmp_path) as profile, pytest.raises(InputError, match="with_stack=True"):
        profile.op_stats(source_line=True)
