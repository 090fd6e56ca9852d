"""Replayed ACL graphs on NPUs: every kernel has the op and the modules that the profile of the capture says, and no other."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fixtures.acl_graphs import Form, Node, Recording, model, pieces
from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.sources.graphs.eager import token_of
from tests.helpers.says import says
from tests.helpers.slow import quick

KERNELS = """
    SELECT start_ns, op_name, if(parent_module = '', module, parent_module || '/' || module) AS path, module_by
    FROM module.kernel WHERE starts_with(name, 'aclnn') IS NOT TRUE ORDER BY start_ns
"""
Rows = list[tuple[int, str | None, str | None, str | None]]


def found(path: Path, capture: Path | None = None) -> Rows:
    with open_profile(path, cache="none", capture=capture) as profile:
        return [tuple(row.values()) for row in profile.sql(KERNELS, arrow=True).to_pylist()]


def expected(recording: Recording) -> Rows:
    return [(start, node.op, node.path, "capture") for start, node in sorted(recording.truth, key=lambda one: one[0])]


def captured(folder: Path, form: Form, graphs: list[tuple[Node, ...]]) -> Path:
    recording = Recording()
    for nodes in graphs:
        recording.capture(nodes)
    return recording.write(folder, form)


@pytest.mark.parametrize(("form", "streams"), quick([("db", 1), ("db", 2), ("text", 1), ("text", 2)], 1, 2))
def test_the_profile_of_the_capture_gives_each_kernel_its_op_and_module(form: Form, streams: int, tmp_path: Path) -> None:
    graphs = [model(8), model(16)]
    captured(tmp_path / "run" / "graph_capture_profile" / "c_ascend_pt", form, graphs)
    recording = Recording()
    for number in (0, 1, 0, 0, 1):
        recording.replay(graphs[number], 3 + number, streams)
    recording.write(tmp_path / "run" / "r_ascend_pt", form)
    assert found(tmp_path / "run") == expected(recording)


@pytest.mark.parametrize("form", quick(["db", "text"], 0))
def test_pieces_of_a_model_are_inside_the_module_that_replays_them(form: Form, tmp_path: Path) -> None:
    """Between them attention runs without a graph, as vLLM-Ascend does it; each piece of each layer is a graph of its own."""
    nodes = model(16)
    captured(tmp_path / "capture", form, [nodes])
    recording = Recording()
    for _ in range(2):
        for number, piece in enumerate(pieces(nodes)):
            recording.replay(piece, 3 + number, launched=True, around="QwenModel")
            attention = [node for node in nodes if node.type == "FusedInferAttentionScore"]
            recording.run(attention[:1] if number < len(attention) else [])
    recording.write(tmp_path / "run" / "r_ascend_pt", form)
    assert found(tmp_path / "run", tmp_path / "capture") == expected(recording)
    without = {(path, by) for _, _, path, by in found(tmp_path / "run")}
    assert without == {("QwenModel", "launch"), ("QwenModel", "op")}


@pytest.mark.parametrize("form", quick(["db", "text"], 0))
def test_a_capture_never_takes_a_module_away(form: Form, tmp_path: Path) -> None:
    """The capture is of another model, so each kernel stays in the module around the launch of its graph."""
    captured(tmp_path / "capture", form, [tuple(node for node in model(16) if "MLP" not in node.path)])
    recording = Recording()
    recording.replay(model(16), 3, launched=True, around="Engine")
    recording.write(tmp_path / "run" / "r_ascend_pt", form)
    with pytest.warns(ProfAnalysisWarning, match=says("1 of 1 replayed graphs", "no run of the model").pattern):
        rows = found(tmp_path / "run", tmp_path / "capture")
    assert rows == found(tmp_path / "run")
    assert {path for _, _, path, _ in rows} == {"Engine"}


def test_how_much_of_the_replays_is_known_is_said(tmp_path: Path) -> None:
    graphs = [model(8), model(16, family="Other")[::-1]]
    captured(tmp_path / "capture_traces" / "c_ascend_pt", "db", graphs[:1])
    recording = Recording()
    recording.replay(graphs[0], 3)
    recording.replay(graphs[1], 4)
    recording.write(tmp_path / "r_ascend_pt", "db")
    with pytest.warns(ProfAnalysisWarning), open_profile(tmp_path, cache="none") as profile:
        known = {row["known_by"]: row["kernel_count"] for row in profile.rows("FROM module.replayed")}
        notes = profile.warnings
    of_user = sum(node.is_of_user for node in graphs[1])
    assert known == {"capture": len(graphs[0]), "nothing": len(graphs[1]) - of_user}
    assert any("% has the ops of the capture, " in note and note.endswith("% is not known") for note in notes)


def test_a_recording_that_begins_in_a_replay_is_aligned_too(tmp_path: Path) -> None:
    captured(tmp_path / "capture", "db", [model(8)])
    recording = Recording()
    for _ in range(3):
        recording.replay(model(8), 3)
    cut, recording.unlinked, recording.truth = 11, recording.unlinked[11:], recording.truth[11:]
    recording.write(tmp_path / "run" / "r_ascend_pt", "db")
    assert cut < len(model(8))
    assert found(tmp_path / "run", tmp_path / "capture") == expected(recording)


def test_types_of_real_graphs_are_those_of_real_runs_without(realdata: Path) -> None:
    """Names of binaries and of aclnn differ on vLLM-Ascend; decode has two operators that prefill has not."""
    types: dict[tuple[str, bool], set[str]] = {}
    for name in ("dsv3_vllm_a3/dsv3_dc_1tok", "dsv3_vllm_a3/dsv3_pf_4099tok", "qwen3_32b_vllm_a3/qwen3-32b_dc_16tok",
                 "qwen3_32b_vllm_a3/qwen3-32b_pf_4112tok"):  # fmt: skip
        with (realdata / f"{name}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                is_of_graph = row["Model ID"] != "4294967295"
                token = token_of(row["Name"], row["Type"], is_of_graph=is_of_graph)
                types.setdefault((name.split("_")[0], is_of_graph), set()).add(token)
    assert types["dsv3", True] - types["dsv3", False] == {"BatchMatMulV2", "TransposeBatchMatMul"}
    assert types["qwen3", True] - types["qwen3", False] == set()


@pytest.mark.parametrize("form", quick(["db", "text"], 0))
def test_a_damaged_capture_stops_no_answer(form: Form, tmp_path: Path) -> None:
    captured(tmp_path / "graph_capture_profile" / "c_ascend_pt", form, [model(8)])
    for file in (tmp_path / "graph_capture_profile").rglob("*"):
        if file.name in ("ascend_pytorch_profiler_0.db", "trace_view.json", "kernel_details.csv"):
            file.write_bytes(b"no profile")
    recording = Recording()
    recording.replay(model(8), 3, launched=True, around="Engine")
    recording.write(tmp_path / "r_ascend_pt", form)
    with pytest.warns(ProfAnalysisWarning, match=says("graph_capture_profile").pattern):
        rows = found(tmp_path)
    assert {path for _, _, path, _ in rows} == {"Engine"}
