"""The screen of `stacks` begins with the user's code: what all stacks begin with tells no work apart."""

import json
from pathlib import Path

from prof_analysis import open_profile
from tests.helpers.cli import Command
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, Kernel, Op, write_profile

LAUNCHER = ("<string>(1): <module>", "multiprocessing/spawn.py(116): spawn_main", "main.py(1): main")


def test_places_of_the_users_that_differ_come_first(tmp_path: Path, command: Command) -> None:
    """`main` only calls `train`, which calls two places and launches a kernel itself through PyTorch."""
    ops = [
        Op("aten::mm", 100, 200, (Kernel("a", 1000, 1060),)),
        Op("aten::add", 300, 400, (Kernel("b", 2000, 2030),)),
        Op("aten::mul", 500, 600, (Kernel("c", 3000, 3010),)),
    ]
    frames = [Frame(name, 10 + at, 900 - at) for at, name in enumerate((*LAUNCHER, "main.py(5): train"))]
    frames += [Frame("net.py(7): forward", 90, 210), Frame("torch/nn/modules/linear.py(9): forward", 95, 205)]
    frames += [Frame("loss.py(3): loss", 290, 410), Frame("torch/optim/sgd.py(75): step", 490, 610)]
    write_profile(tmp_path / "0_ascend_pt", ops, frames=frames)
    shown = command("stacks", str(tmp_path), "--json")
    summary = json.loads(shown.stdout)["summary"]
    assert [(row["frame"], row["device_total_ns"]) for row in summary["heaviest"]] == [
        ("main.py(5): train", 100),
        ("net.py(7): forward", 60),
        ("loss.py(3): loss", 30),
    ]
    assert summary["frames_left_out"] == {"framework": 4, "one_frame_inside": 1}
    assert (
        says("4 frames of PyTorch and Python", "1 frame that only call", "not shown")
        in command("stacks", str(tmp_path)).stdout.splitlines()
    )
    with open_profile(tmp_path) as profile:
        assert len(profile.stacks()) == 8, "tables have all"
