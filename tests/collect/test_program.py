"""A program that collects without a change to it: marks, steps and switches are put in when its Python starts."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.says import says

STANDIN = Path(__file__).parent / "standin"
FILE = Path(__file__).parents[2] / "prof_analysis" / "collect.py"

TRAINING = """
import importlib.util, json, sys
assert importlib.util.find_spec("torch") is not None
import torch, torch.optim
class Model(torch.nn.Module):
    def forward(self, value):
        return value
model, optimizer = Model(), torch.optim.Optimizer()
for step in range(4):
    for part in range(2):
        model(step)
    optimizer.step()
import torch.profiler, torch.autograd
open(sys.argv[1], "w").write(json.dumps([torch.profiler.calls, torch.autograd.ranges]))
"""


def run(tmp_path: Path, *words: str, program: str = TRAINING, **variables: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    standin = tmp_path / "path"
    if not standin.exists():
        standin.mkdir()
        (standin / "torch").symlink_to(STANDIN / "torch")
    return subprocess.run(
        [sys.executable, FILE, *words, "--", str(script), str(tmp_path / "said.json")],
        env={**os.environ, "PYTHONPATH": str(standin), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )


def test_steps_of_the_optimizer_are_recorded(tmp_path: Path) -> None:
    done = run(tmp_path, "--steps", "1-2", "-o", str(tmp_path / "out"), "--level", "0")
    assert done.returncode == 0, done.stderr
    calls, ranges = ast.literal_eval((tmp_path / "said.json").read_text().replace("false", "False"))
    given = {
        "on_trace_ready": f"handler of {tmp_path / 'out'}",
        "record_shapes": False,
        "with_stack": False,
        "profile_memory": False,
    }
    assert calls == [["profile", given], ["start"], ["step"], ["stop"]]
    assert ranges == [["begin", "Module:Model"], ["end", "Module:Model"]] * 8
    assert done.stderr.splitlines() == [
        says(
            "collect: rank 0 records steps 1 to 2: ops, kernels, communication and modules", "level 1 adds shapes, and counters"
        ),
        says(f"collect: wrote {tmp_path / 'out'}", f"prof-analysis mstx-stats -d {tmp_path / 'out'}"),
    ]


def test_calls_of_the_model_are_steps_where_nothing_is_trained(tmp_path: Path) -> None:
    serving = TRAINING.replace("    optimizer.step()\n", "").replace("def forward", "training = False\n    def forward")
    done = run(tmp_path, "--steps", "3-4", "--ranks", "5", program=serving, RANK="5")
    assert done.returncode == 0, done.stderr
    calls, _ = ast.literal_eval((tmp_path / "said.json").read_text().replace("false", "False").replace("true", "True"))
    assert [call[0] for call in calls] == ["profile", "start", "step", "stop"]
    assert "rank 5 records steps 3 to 4" in done.stderr


@pytest.mark.parametrize("words", [("--steps", "9"), ("--steps", "1", "--ranks", "7")])
def test_a_run_that_records_nothing_fails(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, *words)
    assert done.returncode == 1
    assert done.stderr == says("collect: nothing was recorded", "steps", "--ranks")


def test_without_steps_modules_are_marked_for_the_profiler_of_the_program_also_in_its_children(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(TRAINING, encoding="utf-8")
    parent = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, 'child.py', sys.argv[1]]).returncode)"
    done = run(tmp_path, "--every", "4", program=parent)
    assert (done.returncode, done.stderr) == (0, "")
    calls, ranges = ast.literal_eval((tmp_path / "said.json").read_text())
    assert (calls, ranges) == ([], [["begin", "Module:Model"], ["end", "Module:Model"]] * 2)


SERVING = """
import json, sys
import torch
import torch_npu
class Model(torch.nn.Module):
    def forward(self, value):
        return torch_npu.npu_fusion_attention("q", "k", "v", 8, "BSH")
own = torch_npu.profiler
config = own._ExperimentalConfig(profiler_level="Level1", export_type="text", mstx=False)
with own.profile(activities=[], experimental_config=config):
    Model()(1)
open(sys.argv[1], "w").write(json.dumps(torch_npu.calls))
"""


def test_on_ascend_the_profiler_of_the_program_gets_marks_and_databases(tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    for name in ("torch", "torch_npu"):
        (tmp_path / "path" / name).symlink_to(STANDIN / name)
    done = run(tmp_path, program=SERVING)
    assert (done.returncode, done.stderr) == (0, "")
    (kind, _, switches), *calls = json.loads((tmp_path / "said.json").read_text())
    assert (kind, switches["mstx"], switches["export_type"]) == ("profile", True, ["text", "db"])
    assert calls == [
        ["start"],
        ["range_start", "Model", None, "Module"],
        ["mark", '{"input_layout":"BSH","sparse_mode":0}', None, "flash_attn_args"],
        ["npu_fusion_attention", "BSH", 0],
        ["range_end", 1, "Module"],
        ["stop"],
    ]


def test_the_exit_code_and_the_own_sitecustomize_of_a_program_stay(tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text("print('mine')")
    (tmp_path / "path" / "torch").symlink_to(STANDIN / "torch")
    done = run(tmp_path, program="import sys; sys.exit(7)")
    # Once by the Python that begins the program, once by that of the program.
    assert (done.returncode, done.stdout, done.stderr) == (7, "mine\nmine\n", "")


@pytest.mark.parametrize("words", [(), ("--steps", "2-1"), ("--ranks", "a"), ("--every", "0")])
def test_a_wrong_option_is_refused(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, FILE, *words, *(["--", "x.py"] if words else [])], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_file_reads_as_python_3_9_and_imports_only_the_standard_library() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


FAULTS = {
    "profile": "torch.profiler.profile.__init__ = fail",
    "start": "torch.profiler.profile.start = fail",
    "step": "torch.profiler.profile.step = fail",
    "stop": "torch.profiler.profile.stop = fail",
    "nothing written": "torch.profiler.profile.stop = lambda self: None",
}
PLANTED = """
import torch, torch.optim, torch.profiler
def fail(*args, **given):
    raise OSError(28, "No space left on device")
"""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_profiler_that_fails_ends_no_training(tmp_path: Path, fault: str) -> None:
    done = run(tmp_path, "--steps", "1-2", "-o", str(tmp_path / "out"), program=PLANTED + FAULTS[fault] + TRAINING)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "said.json").exists(), "the program went on to its end"
    (line,) = [line for line in done.stderr.splitlines() if "records steps" not in line]
    if fault == "nothing written":
        assert line == f"collect: the profiler wrote nothing into {tmp_path / 'out'}"
    else:
        what = "start" if fault == "profile" else fault
        assert line == says("rank 0", f"failed in {what}", "(OSError: [Errno 28] No space left on device)")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_profiler_that_fails_ends_no_block(tmp_path: Path, fault: str) -> None:
    block = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("collect", sys.argv[2])
collect = importlib.util.module_from_spec(spec)
spec.loader.exec_module(collect)
with collect.profiler(sys.argv[1]) as profiler:
    for step in range(3):
        torch.nn.Module()
        profiler.step()
print("went on")
"""
    script = tmp_path / "program.py"
    script.write_text(PLANTED + FAULTS[fault] + block, encoding="utf-8")
    (tmp_path / "torch").symlink_to(STANDIN / "torch")
    done = subprocess.run(
        [sys.executable, script, str(tmp_path / "out"), FILE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "went on\n"), done.stderr
    assert len([line for line in done.stderr.splitlines() if " records " not in line]) == 1
    assert "wrote " not in done.stderr.replace("wrote nothing", "")


@pytest.mark.parametrize(
    ("end", "code"), [("sys.exit(7)", 7), ("raise ValueError('mine')", 1), ("raise KeyboardInterrupt", -2)]
)
def test_the_program_ends_as_it_would_without_collecting(tmp_path: Path, end: str, code: int) -> None:
    done = run(tmp_path, "--steps", "1-9", "-o", str(tmp_path / "out"), program=TRAINING + end + "\n")
    assert done.returncode == (code if code >= 0 else 128 - code)
    assert ("mine" in done.stderr) == ("mine" in end)


def test_a_rank_whose_profiler_fails_leaves_the_others_their_recording(tmp_path: Path) -> None:
    planted = "import os\n" + PLANTED + "if os.environ['RANK'] == '1': torch.profiler.profile.step = fail" + TRAINING
    ranks = f"""
import os, subprocess, sys
if "RANK" not in os.environ:
    codes = [subprocess.Popen([sys.executable, *sys.argv], env={{**os.environ, "RANK": str(rank)}}).wait() for rank in (0, 1)]
    sys.exit(max(codes))
{planted}
"""
    done = run(tmp_path, "--steps", "1-2", "-o", str(tmp_path / "out"), program=ranks)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert says("rank 1", "failed in step") in lines
    assert says(f"wrote {tmp_path / 'out'}", "prof-analysis") in lines
