"""Collecting with PyTorch itself, where it is installed (`pip install 'prof-analysis[torch]'`)."""

import copy
import json
import operator
import os
import pickle
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import collect, open_profile

torch = pytest.importorskip("torch", reason="torch is not installed; prof-analysis[torch] has it")
nn = torch.nn
FILE = Path(collect.__file__)


class Block(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.up = nn.Linear(size, 4 * size)
        self.down = nn.Linear(4 * size, size)
        self.norm = nn.LayerNorm(size)

    def forward(self, value: Any) -> Any:
        return value + self.down(torch.relu(self.up(self.norm(value))))


class Model(nn.Module):
    def __init__(self, size: int = 32, layers: int = 2) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Block(size) for _ in range(layers))
        self.head = nn.Linear(size, 1)

    def forward(self, value: Any) -> Any:
        for layer in self.layers:
            value = layer(value)
        return self.head(value)


@contextmanager
def clocked(times: dict[str, list[int]]) -> Iterator[None]:
    """Measure the calls of modules by class, in the order in which they begin, in ns."""
    inner = nn.Module.__call__

    def timed(self: Any, *args: Any, **kwargs: Any) -> Any:
        of_class = times[type(self).__name__]
        place = len(of_class)
        of_class.append(0)
        begin = time.perf_counter_ns()
        try:
            return inner(self, *args, **kwargs)
        finally:
            of_class[place] = time.perf_counter_ns() - begin

    nn.Module.__call__ = timed
    try:
        yield
    finally:
        nn.Module.__call__ = inner


NAMES = ["Model", *["Block", "LayerNorm", "Linear", "Linear"] * 2, "Linear"]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def ranges(tmp_path: Path, work: Callable[[], Any]) -> list[tuple[str, int]]:
    """The ranges of modules that were recorded while some work was done: name and duration in ns, as they began."""
    file = tmp_path / f"{time.monotonic_ns()}.pt.trace.json"
    with torch.profiler.profile() as profiler:
        work()
    profiler.export_chrome_trace(str(file))
    events = [event for event in json.loads(file.read_text())["traceEvents"] if event.get("cat") == "user_annotation"]
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    return [
        (event["name"].removeprefix("Module:"), round(event["dur"] * 1000))
        for event in events
        if event["name"].startswith("Module:")
    ]


def marked(tmp_path: Path, work: Callable[[], Any], **options: Any) -> list[str]:
    with collect.modules(**options):
        return [name for name, _ in ranges(tmp_path, work)]


def test_calls_are_ranges_and_the_class_is_as_before(tmp_path: Path) -> None:
    model, value = Model(), torch.randn(4, 32)
    before = nn.Module.__call__
    assert marked(tmp_path, lambda: model(value)) == NAMES
    assert nn.Module.__call__ is before
    assert ranges(tmp_path, lambda: model(value)) == []


def test_a_model_is_copied_and_pickled_while_marks_are_on(tmp_path: Path) -> None:
    model, value = Model(), torch.randn(4, 32)
    with collect.modules():
        copied = copy.deepcopy(model)
        read = pickle.loads(pickle.dumps(model))
    for one in (copied, read):
        assert torch.equal(one(value), model(value))
    assert marked(tmp_path, lambda: copied(value)) == NAMES


def graphs(model: Any, value: Any) -> tuple[int, int]:
    """The graphs and the graph breaks of a compiled model."""
    dynamo = torch._dynamo
    dynamo.reset()
    dynamo.utils.counters.clear()
    compiled = torch.compile(model, backend="eager")
    compiled(value)
    compiled(value)
    return dynamo.utils.counters["stats"]["unique_graphs"], sum(dynamo.utils.counters["graph_break"].values())


def test_compiled_graphs_have_no_marks_and_no_new_breaks(tmp_path: Path) -> None:
    model, value = Model(), torch.randn(4, 32)
    plain = graphs(model, value)
    with collect.modules():
        assert graphs(model, value) == plain == (1, 0)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="eager")
    compiled(value)
    made = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert "Linear" not in marked(tmp_path, lambda: compiled(value))
    compiled(value)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == made, "what was compiled before is compiled anew"


@pytest.mark.filterwarnings("ignore")
def test_traced_and_exported_graphs_have_no_marks() -> None:
    model, value = Model(), torch.randn(4, 32)
    with collect.modules():
        assert "record_function" not in str(torch.jit.trace(model, value).graph)
        assert "record_function" not in torch.export.export(model, (value,)).graph_module.code
        assert "record_function" not in torch.fx.symbolic_trace(model).code


def test_activation_checkpointing_marks_the_second_forward_in_the_backward(tmp_path: Path) -> None:
    from torch.utils.checkpoint import checkpoint

    model, value = Model(), torch.randn(4, 32, requires_grad=True)

    def train() -> None:
        checkpoint(model, value, use_reentrant=False).sum().backward()

    assert marked(tmp_path, train) == NAMES * 2


def test_a_module_that_fails_closes_its_range_and_those_around_it(tmp_path: Path) -> None:
    model = Model()

    def fail_and_go_on() -> None:
        with pytest.raises(RuntimeError):
            model(torch.randn(4, 31))
        model.head(torch.randn(4, 32))

    assert marked(tmp_path, fail_and_go_on) == ["Model", "Block", "LayerNorm", "Linear"]


def test_threads_nest_by_themselves() -> None:
    """Only the thread of the profiler is recorded; depth is counted for each."""
    opened: list[tuple[int, str]] = []
    model, value = Model(), torch.randn(4, 32)
    record = torch.autograd.profiler.record_function

    class Recorded(record):  # type: ignore[valid-type]
        def __enter__(self) -> Any:
            opened.append((threading.get_ident(), self.name))
            return super().__enter__()

    torch.autograd.profiler.record_function = Recorded
    try:
        with torch.profiler.profile(), collect.modules(depth=2):
            threads = [threading.Thread(target=model, args=(value,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        torch.autograd.profiler.record_function = record
    expected = ["Module:Model", "Module:Block", "Module:Block", "Module:Linear"]
    for ident in {ident for ident, _ in opened}:
        names = [name for one, name in opened if one == ident]
        assert names == expected * (len(names) // 4)
    assert len(opened) == 16


WRAPPED = """
import sys
import torch
from torch import nn
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.distributed.fsdp import fully_shard
from prof_analysis import collect
dist.init_process_group("gloo")
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
if sys.argv[1] == "ddp":
    model = DistributedDataParallel(model)
else:
    from torch.distributed.device_mesh import init_device_mesh
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
with collect.profiler(sys.argv[2], level=0, ranks=[1]):
    model(torch.randn(2, 8)).sum().backward()
dist.destroy_process_group()
"""


@pytest.mark.parametrize("wrapper", ["ddp", "fsdp"])
def test_wrapped_models_are_marked_on_the_chosen_rank(tmp_path: Path, wrapper: str) -> None:
    script = tmp_path / "wrapped.py"
    script.write_text(WRAPPED, encoding="utf-8")
    out = tmp_path / "out"
    words = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", str(script), wrapper, str(out)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(list(out.iterdir())) == 1
    with open_profile(out) as profile:
        found = profile.mstx_stats()
        names = set(found.loc[found["domain"] == "Module", "message"])
        assert list(found["rank_id"].unique()) == [1]
    assert names == ({"DistributedDataParallel"} if wrapper == "ddp" else set()) | {
        "Linear",
        "ReLU",
        "Sequential" if wrapper == "ddp" else "FSDPSequential",
    }


TRAINING = """
import torch
from tests.collect.test_torch import Model
model, value = Model(), torch.randn(4, 32)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(5):
    for _ in range(2):
        model(value).sum().backward()
    optimizer.step()
"""


def test_a_program_is_recorded_without_a_change_to_it(tmp_path: Path) -> None:
    words = [FILE, "--steps", "2-3", "-o", tmp_path / "out", "--names", "qualified", "--", "-c", TRAINING]
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    with open_profile(tmp_path / "out") as profile:
        found = profile.mstx_stats().set_index(["domain", "message"])["event_count"]
    assert found["Module"].to_dict() == {"Model": 4, "Block": 8, "LayerNorm": 8, "Linear": 20}
    assert found["QualifiedModule"].to_dict()["layers.1.down"] == 4


def test_times_of_modules_are_those_measured_around_them(tmp_path: Path) -> None:
    """The range of a call lasts as long as a clock around the same call says, within 5 % (median over calls).

    What a mark itself takes, in the range of an empty module, is taken off.
    """
    model, value = Model(size=128, layers=3), torch.randn(128, 128)
    measured = {name: list[int]() for name in ("Model", "Block", "LayerNorm", "Linear", "Identity")}

    def work() -> None:
        empty = nn.Identity()
        with torch.no_grad():
            for _ in range(20):
                model(value)
                empty(value)

    with clocked(measured), collect.modules():
        found = ranges(tmp_path, work)
    recorded = {name: [duration for one, duration in found if one == name] for name in measured}
    of_mark = statistics.median(map(operator.sub, recorded["Identity"], measured.pop("Identity")))
    for name, times in measured.items():
        ratios = [(range_ - of_mark) / time_ for range_, time_ in zip(recorded[name], times, strict=True)]
        assert statistics.median(ratios) == pytest.approx(1, rel=0.05), name
