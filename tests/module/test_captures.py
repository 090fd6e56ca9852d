"""A capture or an annotation beside a trace adds to what the trace alone says of its kernels, and takes nothing away."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from fixtures.kineto_graphs import Graph, Node, Run, model, write_annotations, write_capture
from prof_analysis import open_profile
from tests.helpers import kineto

KNOWN = """
    SELECT kernel.start_ns, kernel.name, kernel.module_by, kernel.op_name, step.step_id,
           if(parent_module = '', module, parent_module || '/' || module) AS path
    FROM module.kernel AS kernel
    LEFT JOIN kernels.step AS step USING (profile, kernel_id)
    ORDER BY kernel.start_ns, kernel.name, kernel.kernel_id
"""
GRAPH = Graph(5, model(8, beside=False))


def known(path: Path, **options: Any) -> list[dict[str, Any]]:
    """What is known of each kernel, in the order of time."""
    with open_profile(path, cache="none", **options) as profile:
        rows: list[dict[str, Any]] = profile.sql(KNOWN, arrow=True).to_pylist()
    return rows


@pytest.mark.slow
def test_an_op_that_lies_in_no_module_of_the_capture_is_in_the_module_that_replays_it(tmp_path: Path) -> None:
    run = Run([GRAPH])
    run.write_replays(tmp_path / "rank0.json", 0, [0, 0], around="Engine")
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", [GRAPH], stacks=False)
    rows = known(tmp_path)
    assert [row["op_name"] for row in rows] == [op for _, op, _, _ in run.expected()]
    assert {(row["path"], row["module_by"]) for row in rows} == {("Engine", "launch")}


@pytest.mark.slow
def test_each_kernel_falls_back_by_itself(tmp_path: Path) -> None:
    graph = Graph(5, (Node("a", "aten::a", ()), Node("b", "aten::b", (("Part", "part"),)), Node("c", None, ())))
    Run([graph]).write_replays(tmp_path / "rank0.json", 0, [0], around="Engine")
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", [graph])
    assert [(row["op_name"], row["path"], row["module_by"]) for row in known(tmp_path)] == [
        ("aten::a", "Engine", "launch"),
        ("aten::b", "Engine/Part", "capture"),
        ("cuLaunchKernel", "Engine", "launch"),
    ]
    with open_profile(tmp_path, cache="none") as profile:
        rows = profile.rows("SELECT known_by, module_by, kernel_count FROM module.replayed")
        assert [one for one in profile.warnings if "ranks of the job" not in one] == [], "nothing is missing"
    assert [tuple(row.values()) for row in rows] == [("capture", "capture", 1), ("capture", "launch", 2)]


def replay_in_op(folder: Path, captured: Graph) -> None:
    """A graph of two kernels that an op launches, in a module and a step."""
    events = [
        kineto.event("user_annotation", "ProfilerStep#3", 0, 9_000),
        kineto.module("Net_0", 100, 8_000),
        kineto.op("Graphed", 1_000, 5_000, 1, arguments={"Input Dims": [[4, 8]], "Input type": ["float"]}),
        kineto.launch(2_000, 3_000, 9, 1, name="cudaGraphLaunch"),
        *(
            kineto.kernel(
                node.kernel, 10_000 + 100 * at, 10_050 + 100 * at, 9, arguments={"graph node id": captured.node_id(at)}
            )
            for at, node in enumerate(captured.nodes)
        ),
    ]
    kineto.write_trace(folder / "rank0.json", events)


@pytest.mark.parametrize("beside", ["capture", "annotations"])
@pytest.mark.slow
def test_an_op_that_launches_a_graph_keeps_its_time_and_step(beside: str, tmp_path: Path) -> None:
    part = (("Net", "net"), ("Part", "part"))
    graph = Graph(5, (Node("a", "aten::a", part), Node("b", "aten::b", part)))
    replay_in_op(tmp_path, graph)
    alone = known(tmp_path)
    assert [(row["op_name"], row["path"], row["step_id"]) for row in alone] == [("Graphed", "Net", 3)] * 2
    if beside == "capture":
        write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", [graph], stacks=False)
    else:
        write_annotations(tmp_path / "kernel_annotations_rank0_x.json", [graph])
    with open_profile(tmp_path, cache="none") as profile:
        ops = {row["name"]: row for row in profile.rows("FROM op.by_shape")}
        rows = profile.sql(KNOWN, arrow=True).to_pylist()
    assert ops["Graphed"]["device_total_ns"] == 100
    assert [row["step_id"] for row in rows] == [3, 3]
    if beside == "capture":
        assert [(row["op_name"], row["path"], row["module_by"]) for row in rows] == [
            ("aten::a", "Net", "launch"),
            ("aten::b", "Net", "launch"),
        ]
        assert ops["Graphed"]["device_self_ns"] == 0, "the kernels are those of the ops of the capture"
    else:
        assert [(row["op_name"], row["path"], row["module_by"]) for row in rows] == [("Graphed", "Net/part", "annotation")] * 2
        assert ops["Graphed"]["device_self_ns"] == 100


@pytest.mark.slow
def test_a_graph_and_a_kernel_of_python_belong_to_the_call_in_which_they_are_launched(tmp_path: Path) -> None:
    """Compared by call, none of them is outside every call."""
    events = []
    for call in range(3):
        at = 10_000 * call
        events += [
            kineto.module("Net_0", at, at + 9_000),
            kineto.launch(at + 1_000, at + 1_100, 10 * call + 1, name="cudaGraphLaunch"),
            kineto.launch(at + 2_000, at + 2_100, 10 * call + 2, name="cuLaunchKernel"),
            kineto.op("aten::a", at + 3_000, at + 4_000, call + 1),
            kineto.launch(at + 3_100, at + 3_200, 10 * call + 3, call + 1),
            *(kineto.kernel("k", at + 5_000 + 100 * n, at + 5_050 + 100 * n, 10 * call + n) for n in (1, 2, 3)),
        ]
    kineto.write_trace(tmp_path / "rank0.json", events)
    with open_profile(tmp_path, cache="none") as profile:
        rows = profile.rows("SELECT unit_id, count(*) FROM compare.kernel_of_call GROUP BY unit_id ORDER BY unit_id")
    assert [tuple(row.values()) for row in rows] == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("name", ["vllm_prefilldecode_piecewise", "sglang_decode"])
@pytest.mark.slow
def test_a_capture_takes_nothing_from_any_kernel_of_a_real_trace(name: str, realdata: Path, tmp_path: Path) -> None:
    folder = realdata / "serving" / name
    (trace,) = folder.glob("*.json.gz")
    shutil.copy(trace, tmp_path)
    alone, with_capture = known(tmp_path), known(folder)
    assert len(alone) == len(with_capture) > 0
    for before, after in zip(alone, with_capture, strict=True):
        assert (before["start_ns"], before["name"]) == (after["start_ns"], after["name"])
        assert before["path"] is None or f"{after['path']}/".startswith(f"{before['path']}/")
        assert before["op_name"] is None or after["op_name"] is not None
        assert before["step_id"] == after["step_id"]


@pytest.mark.slow
def test_kernels_that_python_launches_have_lost_no_op(tmp_path: Path) -> None:
    """A model of Triton kernels alone: they lie in modules, and nothing is missing."""
    events = [kineto.module("Net_0", 0, 9_000), kineto.op("aten::view", 100, 200, 1)]
    for number in (1, 2, 3):
        events.append(kineto.launch(1_000 * number, 1_000 * number + 50, number, name="cuLaunchKernel"))
        events.append(kineto.kernel("gemm", 10_000 + 100 * number, 10_050 + 100 * number, number))
    kineto.write_trace(tmp_path / "rank0.json", events)
    with open_profile(tmp_path, cache="none") as profile:
        profile.module_stats()
        assert profile.rows("FROM module.lost_launch") == []
        assert profile.warnings == []
    assert {(row["path"], row["module_by"]) for row in known(tmp_path)} == {("Net", "op")}
