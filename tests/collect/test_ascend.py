"""Collecting on Ascend: what torch_npu is called with, in which order. A stand-in records the calls."""

import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.helpers.says import says

STANDIN = Path(__file__).parent / "standin"
FILE = Path(__file__).parents[2] / "prof_analysis" / "collect.py"
NAMES = ("torch", "torch_npu")


def loaded() -> ModuleType:
    """The file by itself, as a training image has it."""
    spec = importlib.util.spec_from_file_location("collect_alone", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ascend(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """collect beside stand-ins of torch and torch_npu; `calls` are those of torch_npu."""
    hidden = {name: module for name, module in sys.modules.items() if name.split(".")[0] in NAMES}
    for name in hidden:
        del sys.modules[name]
    monkeypatch.syspath_prepend(STANDIN)
    monkeypatch.delenv("RANK", raising=False)
    import torch
    import torch_npu

    yield SimpleNamespace(collect=loaded(), torch=torch, npu=torch_npu, calls=torch_npu.calls)
    for name in [name for name in sys.modules if name.split(".")[0] in NAMES]:
        del sys.modules[name]
    sys.modules.update(hidden)


def model_of(ascend: SimpleNamespace) -> Any:
    class Linear(ascend.torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, value: int) -> int:
            if value < 0:
                raise ValueError("negative")
            return value + 1

    class Layer(ascend.torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.projection = Linear()

        def forward(self, value: int) -> int:
            return int(self.projection(value)) * 2

    class Model(ascend.torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.layers = {"0": Layer(), "1": Layer()}

        def forward(self, value: int) -> int:
            for layer in self.layers.values():
                value = layer(value)
            return value

    return Model()


def begun(calls: list[tuple[Any, ...]]) -> list[tuple[str, str]]:
    return [(call[3], call[1]) for call in calls if call[0] == "range_start"]


def test_each_call_of_a_module_is_a_range_of_the_domain_module(ascend: SimpleNamespace) -> None:
    model = model_of(ascend)
    before = ascend.torch.nn.Module.__call__
    with ascend.collect.modules():
        assert model(1) == 10
    assert ascend.torch.nn.Module.__call__ is before
    begins = [("range_start", name, None, "Module") for name in ("Model", "Layer", "Linear", "Layer", "Linear")]
    ends = [("range_end", number, "Module") for number in (3, 2, 5, 4, 1)]
    first = ascend.npu.npu._ids.__reduce__()[1][0] - 6  # ids go on from test to test
    assert ascend.calls == [
        begins[0],
        begins[1],
        begins[2],
        *[(kind, first + number, domain) for kind, number, domain in ends[:2]],
        begins[3],
        begins[4],
        *[(kind, first + number, domain) for kind, number, domain in ends[2:]],
    ]
    ascend.calls.clear()
    model(1)
    assert ascend.calls == []


def test_a_range_ends_where_forward_raises(ascend: SimpleNamespace) -> None:
    model = model_of(ascend)
    with ascend.collect.modules(), pytest.raises(ValueError, match="negative"):
        model(-1)
    kinds = [call[0] for call in ascend.calls]
    assert kinds == ["range_start"] * 3 + ["range_end"] * 3
    with ascend.collect.modules(depth=1):
        ascend.calls.clear()
        model(1)
    assert begun(ascend.calls) == [("Module", "Model")]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"classes": ["Layer"]}, ["Layer", "Layer"]),
        ({"depth": 2}, ["Model", "Layer", "Layer"]),
        ({"every": 2}, ["Model", "Layer", "Linear", "Layer", "Linear"]),
    ],
)
def test_calls_are_chosen_by_class_depth_and_number(
    ascend: SimpleNamespace, options: dict[str, Any], expected: list[str]
) -> None:
    model = model_of(ascend)
    with ascend.collect.modules(**options):
        model(1)
        if "every" in options:
            model(1)
    assert [name for _, name in begun(ascend.calls)] == expected


def test_only_a_chosen_model_is_marked_also_by_qualified_names(ascend: SimpleNamespace) -> None:
    model, other = model_of(ascend), model_of(ascend)
    with ascend.collect.modules(model, names="qualified"):
        other(1)
        model(1)
    assert begun(ascend.calls) == [
        ("QualifiedModule", "Model"),
        ("Module", "Model"),
        ("QualifiedModule", "layers.0"),
        ("Module", "Layer"),
        ("QualifiedModule", "layers.0.projection"),
        ("Module", "Linear"),
        ("QualifiedModule", "layers.1"),
        ("Module", "Layer"),
        ("QualifiedModule", "layers.1.projection"),
        ("Module", "Linear"),
    ]


def test_a_block_in_a_block_marks_nothing_twice_and_threads_nest_by_themselves(ascend: SimpleNamespace) -> None:
    model = model_of(ascend)
    before = ascend.torch.nn.Module.__call__
    with ascend.collect.modules(depth=1):
        with ascend.collect.modules():
            threads = [threading.Thread(target=model, args=(1,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        model(1)
    assert begun(ascend.calls) == [("Module", "Model")] * 9
    assert sorted(call[1] for call in ascend.calls if call[0] == "range_end") == sorted(
        range(ascend.npu.npu._ids.__reduce__()[1][0] - 9, ascend.npu.npu._ids.__reduce__()[1][0])
    )
    assert ascend.torch.nn.Module.__call__ is before


def test_what_others_put_in_place_meanwhile_stays(ascend: SimpleNamespace) -> None:
    model = model_of(ascend)
    with ascend.collect.modules():
        ours = ascend.torch.nn.Module.__call__

        def theirs(self: Any, *args: Any) -> Any:
            return ours(self, *args)

        ascend.torch.nn.Module.__call__ = theirs
    assert ascend.torch.nn.Module.__call__ is theirs
    assert model(1) == 10
    assert ascend.calls == []


def test_what_is_traced_is_not_marked(ascend: SimpleNamespace) -> None:
    ascend.torch.compiler.is_compiling = lambda: True
    with ascend.collect.modules():
        model_of(ascend)(1)
    assert ascend.calls == []


@pytest.mark.parametrize("options", [{"every": 0}, {"depth": 0}, {"names": "long"}])
def test_an_argument_out_of_range_is_named(ascend: SimpleNamespace, options: dict[str, Any]) -> None:
    with pytest.raises(ascend.collect.CollectError, match=next(iter(options))), ascend.collect.modules(**options):
        pass


def test_an_attention_is_marked_with_its_arguments(ascend: SimpleNamespace) -> None:
    original = ascend.npu.npu_fusion_attention
    functional = ascend.torch.nn.functional
    with ascend.collect.attention():
        ascend.npu.npu_fusion_attention("q", "k", "v", 8, "TND", actual_seq_qlen=(3, 7), actual_seq_kvlen=[3, 9], sparse_mode=3)
        ascend.npu.npu_fusion_attention("q", "k", "v", 8, "BSH", None, None, None, 1.0, 1.0, 16, 0, 0, None, None, None, 4)
        functional.scaled_dot_product_attention("q", "k", "v", is_causal=True)
        functional.scaled_dot_product_attention("q", "k", "v", None, 0.0)
    marks = [(json.loads(call[1]), call[2:]) for call in ascend.calls if call[0] == "mark"]
    domain = (None, "flash_attn_args")
    assert marks == [
        ({"input_layout": "TND", "sparse_mode": 3, "actual_seq_qlen": [3, 7], "actual_seq_kvlen": [3, 9]}, domain),
        ({"input_layout": "BSH", "sparse_mode": 4, "pre_tockens": 16, "next_tockens": 0}, domain),
        ({"is_causal": True}, domain),
        ({"is_causal": False}, domain),
    ]
    assert [call[0] for call in ascend.calls] == ["mark", "npu_fusion_attention"] * 2 + ["mark"] * 2
    assert ascend.npu.npu_fusion_attention is original


def test_the_profiler_has_the_switches_of_its_level(
    ascend: SimpleNamespace, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    schedule = {"wait": 1, "warmup": 1, "active": 2}
    with ascend.collect.profiler("out", level=2, schedule=schedule) as profiler:
        model_of(ascend)(1)
        profiler.step()
    kind, arguments, switches = ascend.calls[0]
    assert kind == "profile"
    assert arguments == {
        "on_trace_ready": "handler of out",
        "record_shapes": True,
        "with_stack": True,
        "profile_memory": True,
        "schedule": ("schedule", schedule),
        "activities": ["CPU", "NPU"],
    }
    assert {name: value for name, value in switches.items() if value} == {
        "profiler_level": "Level2",
        "aic_metrics": "PipeUtilization",
        "l2_cache": True,
        "data_simplification": True,
        "export_type": ["text", "db"],
        "mstx": True,
    }
    assert [call[0] for call in ascend.calls if call[0] in ("start", "step", "stop")] == ["start", "step", "stop"]
    assert begun(ascend.calls)[0] == ("Module", "Model")
    recorded = ("ops, kernels, communication and modules", "shapes, and counters", "Python stacks and memory")
    assert capsys.readouterr().err.splitlines() == [
        says("collect: rank 0 records ", *recorded),
        says("collect: wrote out", "prof-analysis module-stats -d out"),
    ]


def test_a_recording_of_the_capture_says_to_record_the_replays_beside_it(
    ascend: SimpleNamespace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ascend.collect.profiler(tmp_path / "run" / "graph_capture_profile"):
        model_of(ascend)(1)
    assert capsys.readouterr().err.splitlines()[-1] == says("collect: wrote ", f"record the replays into {tmp_path / 'run'}")


def test_other_ranks_record_nothing(ascend: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "3")
    with ascend.collect.profiler("out", ranks=[0, 1]) as profiler:
        model_of(ascend)(1)
        profiler.step()
    assert ascend.calls == []


def test_a_level_that_there_is_not_is_refused(ascend: SimpleNamespace) -> None:
    with (
        pytest.raises(ascend.collect.CollectError, match="level is 3; it can be 0, 1 or 2"),
        ascend.collect.profiler("out", level=3),
    ):
        pass


def test_an_old_torch_npu_has_the_switch_of_its_time(ascend: SimpleNamespace) -> None:
    class Old:
        def __init__(self, profiler_level: str = "", msprof_tx: bool = False, export_type: Any = None) -> None:
            self.given = {"profiler_level": profiler_level, "msprof_tx": msprof_tx, "export_type": export_type}

    ascend.npu.profiler._ExperimentalConfig = Old
    ascend.collect.recorder("out", 0)
    assert ascend.calls[-1][2] == {"profiler_level": "Level0", "msprof_tx": True, "export_type": "db"}


def test_a_configuration_of_others_gets_marks_and_databases(ascend: SimpleNamespace) -> None:
    """vLLM-Ascend asks for text without mstx; what it chose itself stays."""
    ascend.collect._add_switches()
    config = ascend.npu.profiler._ExperimentalConfig
    vllm = config("Level1", "PipeUtilization", export_type="text", mstx=False, mstx_domain_include=["mine"])
    assert isinstance(vllm, config)
    given = vllm.given
    assert (given["profiler_level"], given["aic_metrics"], given["mstx"]) == ("Level1", "PipeUtilization", True)
    assert given["export_type"] == ["text", "db"]
    assert given["mstx_domain_include"] == ["mine", "Module", "QualifiedModule", "flash_attn_args"]
    assert config(export_type=["db"]).given["export_type"] == ["db"]
