"""Replayed graphs on GPUs: every kernel has the op and module that its capture or annotation says, and no other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fixtures.kineto_graphs import Graph, Names, Run, event, model, write, write_annotations, write_capture
from prof_analysis import InputError, ProfAnalysisWarning, open_profile
from tests.helpers.frames import arrow_of
from tests.helpers.says import says
from tests.helpers.slow import quick

KERNELS = """
    SELECT start_ns, op_name, if(parent_module = '', module, parent_module || '/' || module) AS path,
           coalesce(starts_with(module, '[Backward]'), false) AS is_backward
    FROM module.kernel WHERE kind <> 'schedule' ORDER BY start_ns, name
"""
Rows = list[tuple[int, str | None, str | None, bool]]
ONE_STREAM = (Graph(5, model(8, beside=False)), Graph(6, model(16, beside=False)))
TWO_STREAMS = (Graph(5, model(8)), Graph(6, model(16)))


def found(path: Path, **options: Any) -> Rows:
    """Each kernel with its op, its module path and its direction."""
    with open_profile(path, cache="none", **options) as profile:
        rows = profile.sql(KERNELS, arrow=True).to_pylist()
    return [
        (row["start_ns"], row["op_name"], row["path"] and row["path"].replace("[Backward]", ""), row["is_backward"])
        for row in rows
    ]


def sources(path: Path) -> dict[tuple[str, str | None], int]:
    """How many kernels have their op, and their module, from what."""
    with open_profile(path, cache="none") as profile:
        rows = profile.rows("SELECT known_by, module_by, kernel_count FROM module.replayed")
    return {(row["known_by"], row["module_by"]): row["kernel_count"] for row in rows}


@pytest.mark.parametrize(
    ("graphs", "names", "node_ids"),
    quick(
        [
            pytest.param(TWO_STREAMS, "with the call", True, id="two streams, node ids"),
            pytest.param(TWO_STREAMS, "with the call", False, id="two streams, no node ids, as on AMD"),
            pytest.param(
                (Graph(5, model(8), is_numbered_backwards=True),), "with the call", True, id="numbers in another order"
            ),
            pytest.param(TWO_STREAMS, "of a warm-up", True, id="names of a warm-up, as on NVIDIA"),
            pytest.param(ONE_STREAM, "of a warm-up", False, id="names of a warm-up, one stream"),
            pytest.param((TWO_STREAMS[0],), "none", True, id="no names: by number and order"),
            pytest.param((Graph(5, model(8, backward=True)),), "with the call", True, id="backward"),
        ],
        0,
        3,
        5,
    ),
)
def test_a_capture_gives_each_kernel_its_op_and_module(
    graphs: tuple[Graph, ...], names: Names, node_ids: bool, tmp_path: Path
) -> None:
    run = Run(graphs)
    run.write_replays(tmp_path / "traces" / "rank0.json", 0, [0, len(graphs) - 1, 0], node_ids=node_ids)
    write_capture(tmp_path / "capture.json.gz", graphs, names)
    assert found(tmp_path / "traces", capture=tmp_path / "capture.json.gz") == run.expected()


def flops(path: Path) -> list[tuple[int, int | None]]:
    """The start of each kernel that may multiply matrices in the forward, and its FLOPs."""
    with open_profile(path, cache="none") as profile:
        rows = profile.sql(
            """
            SELECT kernel.start_ns, kernel_flops.flops
            FROM mfu.kernel_flops JOIN trace.kernel USING (profile, rank_id, kernel_id)
            WHERE contains(kernel.name, 'gemm') ORDER BY kernel.start_ns
        """,
            arrow=True,
        )
    return [(row["start_ns"], row["flops"]) for row in rows.to_pylist()]


def test_shapes_of_captured_ops_give_the_flops_of_replayed_kernels(tmp_path: Path) -> None:
    """Once for an op inside another one with the same inputs; the trace itself has no shapes."""
    run = Run(TWO_STREAMS)
    run.write_replays(tmp_path / "rank0.json", 0, [0, 1, 0])
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", TWO_STREAMS)
    assert flops(tmp_path) == run.flops()
    with open_profile(tmp_path, cache="none", peak_tflops={"bf16": 100}) as profile:
        assert arrow_of(profile.mfu("rank")).to_pylist()[0]["flops"] == sum(one for _, one in run.flops())
        ops = arrow_of(profile.op_stats()).to_pylist()
    linear = {row["input_shapes"]: row["calls"] for row in ops if row["name"] == "aten::linear"}
    assert linear == {"8,64;64,64": 2 * 9, "16,64;64,64": 9}


@pytest.mark.parametrize("grids", [True, False])
def test_captures_for_two_batch_sizes_with_equal_kernels_are_told_apart_by_blocks_or_not_at_all(
    grids: bool, tmp_path: Path
) -> None:
    graphs = (ONE_STREAM[0], Graph(6, model(16, beside=False, kernels_of=8)))
    run = Run(graphs)
    run.write_replays(tmp_path / "rank0.json", 0, [1, 0], grids=grids)
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", graphs, "of a warm-up")
    assert found(tmp_path) == run.expected()
    expected = run.flops()
    assert flops(tmp_path) == (expected if grids else [(start, None) for start, _ in expected])


def test_a_capture_for_another_batch_size_gives_ops_but_no_flops(tmp_path: Path) -> None:
    graphs = (Graph(5, model(16, beside=False, kernels_of=8)),)
    run = Run(graphs)
    run.write_replays(tmp_path / "rank0.json", 0, [0], grids=True)
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", ONE_STREAM[:1], "of a warm-up")
    assert found(tmp_path) == run.expected()
    assert {one for _, one in flops(tmp_path)} == {None}


@pytest.mark.slow
def test_an_alignment_without_names_is_said_to_be_one(tmp_path: Path) -> None:
    Run(ONE_STREAM).write_replays(tmp_path / "rank0.json", 0, [0, 1])
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", ONE_STREAM, "none")
    with pytest.warns(ProfAnalysisWarning, match=says("2 of 2 replayed graphs", "by the number").pattern):
        found(tmp_path)


def test_calls_are_those_of_the_replays(tmp_path: Path) -> None:
    """As if each replay had run the modules: three replays of three layers are nine calls of Layer."""
    run = Run(ONE_STREAM)
    run.write_replays(tmp_path / "traces" / "rank0.json", 0, [0, 1, 0])
    write_capture(tmp_path / "traces" / "capture_traces" / "graph_capture_rank_0.1.pt.trace.json.gz", ONE_STREAM)
    with open_profile(tmp_path / "traces", cache="none") as profile:
        tree = profile.module_tree().set_index("module")
        statistic = profile.module_stats().query("op_name == 'aten::rms_norm'")
        (step,) = arrow_of(profile.step_time()).to_pylist()
        coverage = profile.coverage()
    assert tree.groupby(level=0)["calls"].sum().to_dict() == {
        **{"LlamaModel": 3, "Layer": 9, "Norm": 9, "Attention": 9, "Linear": 27, "MLP": 9, "Head": 3}
    }
    assert statistic["op_count"].tolist() == [9]
    assert step["step_id"] == 1, "a replay belongs to the step in which it was launched"
    assert coverage.query("kernel_count > 0")["location"].unique().tolist() == ["inside modules"]


@pytest.mark.slow
def test_a_capture_that_lost_launches_leaves_these_kernels_with_their_reason(tmp_path: Path) -> None:
    run, lost = Run(ONE_STREAM[:1]), (4, 12, 13)
    run.write_replays(tmp_path / "rank0.json", 0, [0, 0])
    write_capture(tmp_path / "graph_capture_profile" / "cuda_graph_capture-Runner-TP-0.json.gz", ONE_STREAM[:1], lost=lost)
    (graph,) = run.graphs
    assert found(tmp_path) == run.expected((5, n) for n in range(len(graph.nodes)) if n not in lost)
    with pytest.warns(ProfAnalysisWarning, match="replayed"), open_profile(tmp_path, cache="none") as profile:
        reasons = profile.coverage().query("reason == 'graph replay'")
        known = profile.table("module.replayed").set_index("known_by")["kernel_count"].to_dict()
        (note,) = [sentence for sentence in profile.warnings if "of the kernel time of replayed graphs" in sentence]
    assert reasons["kernel_count"].sum() == 2 * len(lost)
    assert known == {"capture": 2 * (len(graph.nodes) - len(lost)), "nothing": 2 * len(lost)}
    assert "% has the ops of the capture, " in note
    assert note.endswith("% is not known")


@pytest.mark.parametrize("names", quick(["with the call", "of a warm-up"], 0))
def test_a_capture_of_another_model_gives_nothing(names: Names, tmp_path: Path) -> None:
    run = Run(ONE_STREAM)
    run.write_replays(tmp_path / "rank0.json", 0, [0, 1])
    other = Graph(5, model(8, beside=False, family="Other"))
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", [other], names)
    assert found(tmp_path) == run.expected(())


@pytest.mark.slow
def test_without_names_only_the_same_number_of_kernels_and_copies_aligns(tmp_path: Path) -> None:
    run = Run(ONE_STREAM[:1])
    run.write_replays(tmp_path / "rank0.json", 0, [0])
    folder = tmp_path / "capture_traces"
    write_capture(folder / "a.json", [Graph(5, model(8, layers=4, beside=False))], "none")
    write_capture(folder / "b.json", ONE_STREAM[:1], "none", lost=(3,))
    assert found(tmp_path) == run.expected(())


@pytest.mark.parametrize(
    "file",
    quick(
        [
            "traces/step_1/kernel_annotations_rank1_graphs.pkl",
            "traces/kernel_annotations_rank1_graphs.pkl",
            "traces/kernel_annotations_rank1_graphs.json",
        ],
        0,
    ),
)
def test_annotations_give_modules_by_their_names_in_the_model(file: str, tmp_path: Path) -> None:
    """Each rank has those of its own number, beside its trace or one level above; layers.0 is a call of layers."""
    graphs = (Graph(5, model(8)), Graph(7, model(8, backward=True)))
    run = Run(graphs)
    run.write_replays(tmp_path / "traces" / "step_1" / "trace_0.json", 1, [0, 1, 0])
    write_annotations(tmp_path / file, graphs)
    write_annotations(tmp_path / file.replace("rank1", "rank0"), [Graph(5, model(8, family="Wrong")[::-1])])
    assert [(start, path, is_backward) for start, _, path, is_backward in found(tmp_path / "traces")] == qualified(run)
    with open_profile(tmp_path / "traces", instances=True, cache="none") as profile:
        assert profile.ranks()["modules_from"].tolist() == ["replayed graphs"]
        modules = profile.module_tree().query("not module.str.startswith('[Backward]')")
    assert modules.query("parent_module == ''")["module"].tolist() == ["layers[0]", "layers[1]", "layers[2]", "output[0]"]
    assert modules.query("parent_module == 'layers[1]'")[["module", "calls"]].to_numpy().tolist() == [
        ["norm[0]", 3], ["attention[0]", 3], ["feed_forward[0]", 3]
    ]  # fmt: skip


def qualified(run: Run, is_known: Callable[[int], bool] = lambda _: True) -> list[tuple[int, str | None, bool]]:
    """The expected kernels, with the names of modules in the model: numbers of layers are calls."""
    return [
        (
            start,
            "/".join(part for part in graph.nodes[n].qualified.split(".") if not part.isdecimal()),
            graph.nodes[n].is_backward,
        )
        if is_known(n)
        else (start, None, False)
        for (start, *_), (_, graph, n) in zip(run.expected(), run.kernels, strict=True)
    ]


def test_annotations_of_some_kernels_say_nothing_of_the_others(tmp_path: Path) -> None:
    run = Run(TWO_STREAMS)
    run.write_replays(tmp_path / "rank0.json", 0, [0, 1])
    write_annotations(tmp_path / "kernel_annotations_rank0_x.pkl", TWO_STREAMS, every=3)
    rows = found(tmp_path)
    assert [(start, path, back) for start, _, path, back in rows] == qualified(run, lambda n: n % 3 == 0)
    annotated = sum(n % 3 == 0 for _, _, n in run.kernels)
    assert sources(tmp_path) == {("annotation", "annotation"): annotated, ("nothing", None): len(rows) - annotated}


def test_annotations_that_pytorch_has_merged_into_the_trace_are_read_there(tmp_path: Path) -> None:
    run = Run((Graph(7, model(8, backward=True)),))
    run.write_replays(tmp_path / "rank0.annotated.json", 0, [0, 0], merged=True)
    assert [(start, path, back) for start, _, path, back in found(tmp_path)] == qualified(run)


def test_annotations_name_modules_and_the_capture_their_ops(tmp_path: Path) -> None:
    """SGLang records captures without stacks, which have no modules."""
    run = Run(TWO_STREAMS)
    run.write_replays(tmp_path / "rank0.json", 0, [0, 1])
    write_annotations(tmp_path / "kernel_annotations_rank0_x.json", TWO_STREAMS)
    write_capture(tmp_path / "graph_capture_profile" / "Runner_bs_8_rank0.json.gz", TWO_STREAMS, stacks=False)
    rows = found(tmp_path)
    assert [(start, path, back) for start, _, path, back in rows] == qualified(run)
    assert [row[1] for row in rows] == [row[1] for row in run.expected()]
    assert sources(tmp_path) == {("capture", "annotation"): len(rows)}


@pytest.mark.slow
def test_replayed_modules_are_inside_the_module_that_replays_them(tmp_path: Path) -> None:
    run = Run(ONE_STREAM[:1])
    run.write_replays(tmp_path / "rank0.json", 0, [0, 0], around="Engine")
    expected = run.expected()
    assert found(tmp_path) == [(start, "cudaGraphLaunch", "Engine", False) for start, *_ in expected]
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", ONE_STREAM)
    assert found(tmp_path) == [(start, op, f"Engine/{path}", back) for start, op, path, back in expected]


def test_a_damaged_annotation_file_stops_no_answer(tmp_path: Path) -> None:
    run = Run(ONE_STREAM[:1])
    run.write_replays(tmp_path / "rank0.json", 0, [0], around="Engine")
    (tmp_path / "kernel_annotations_rank0_x.pkl").write_bytes(b"no pickle")
    with pytest.warns(ProfAnalysisWarning, match=says("kernel_annotations_rank0_x.pkl", "annotations", "left out").pattern):
        rows = found(tmp_path)
    assert {path for _, _, path, _ in rows} == {"Engine"}


@pytest.mark.slow
def test_a_capture_that_nothing_can_use_is_an_error(tmp_path: Path) -> None:
    run = Run(ONE_STREAM[:1])
    run.write_replays(tmp_path / "traces" / "rank0.json", 0, [0])
    (tmp_path / "empty").mkdir()
    for capture, problem in ((tmp_path / "none.json", "that exists"), (tmp_path / "empty", "no rank can use this")):
        with pytest.raises(InputError, match=problem):
            open_profile(tmp_path / "traces", capture=capture)
    capture = run.write_replays(tmp_path / "no_capture.json", 0, [0])
    with pytest.warns(ProfAnalysisWarning, match=r"no_capture\.json: holds no capture of a graph"):
        assert found(tmp_path / "traces", capture=capture) == run.expected(())


def test_captures_are_no_ranks_where_they_lie_beside_traces(tmp_path: Path) -> None:
    Run(ONE_STREAM).write_replays(tmp_path / "rank0.json", 0, [0])
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.1.pt.trace.json", ONE_STREAM)
    write_capture(tmp_path / "cuda_graph_capture-Runner-TP-0.json.gz", ONE_STREAM)
    with open_profile(tmp_path) as profile:
        assert profile.ranks(arrow=True)["files"].to_pylist() == [["rank0.json", "graph_capture_rank_0.1.pt.trace.json"]]
    write_capture(tmp_path / "mine.json", ONE_STREAM)
    with open_profile(tmp_path, capture=tmp_path / "mine.json") as profile:
        assert profile.ranks(arrow=True)["files"].to_pylist() == [["rank0.json", "mine.json"]]
    with open_profile(tmp_path / "capture_traces") as profile:
        assert profile.ranks()["profile"].tolist() == ["graph_capture_rank_0.1.pt.trace.json"]


@pytest.mark.slow
def test_ranges_of_record_function_in_a_capture_are_modules_where_their_domain_is_chosen(tmp_path: Path) -> None:
    run = Run(ONE_STREAM[:1])
    run.write_replays(tmp_path / "rank0.json", 0, [0])
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", ONE_STREAM[:1], domain="Block")
    assert found(tmp_path, module_domains="Block") == run.expected()
    assert {path for _, _, path, _ in found(tmp_path)} == {None}


def test_kernels_outside_graphs_may_carry_ids_of_zero(tmp_path: Path) -> None:
    """A node's id has that of its graph in its upper half, where the graph is not named by itself."""
    known: dict[str, Any] = {"device": 0, "stream": 7}
    events = [
        event("cuda_runtime", "cudaLaunchKernel", 10, 20, 1, correlation=1),
        event("kernel", "eager", 30, 40, 7, 0, **known, **{"correlation": 1, "graph id": 0, "graph node id": 0}),
        event("kernel", "replayed", 50, 60, 7, 0, **known, **{"correlation": 9, "graph node id": (6 << 32) + 1}),
    ]
    write(tmp_path / "rank0.json", events, 0)
    with open_profile(tmp_path) as profile:
        rows = profile.sql(
            "SELECT name, model_id, reason FROM module.kernel JOIN trace.kernel USING (kernel_id, name)", arrow=True
        )
        kernels = [tuple(row.values()) for row in rows.to_pylist()]
    assert sorted(kernels) == [("eager", None, "launch outside any op"), ("replayed", 6, "graph replay")]


@pytest.mark.slow
def test_ops_of_replays_are_in_op_stats(tmp_path: Path) -> None:
    run = Run(ONE_STREAM[:1])
    run.write_replays(tmp_path / "rank0.json", 0, [0, 0])
    write_capture(tmp_path / "capture_traces" / "graph_capture_rank_0.json", ONE_STREAM[:1])
    with open_profile(tmp_path) as profile:
        ops = {row["name"]: row for row in arrow_of(profile.op_stats()).to_pylist()}
    linear = ops["aten::linear"]
    assert (linear["calls"], linear["kernel_count"], linear["host_self_ns"]) == (18, 18, 0)
    assert "cuLaunchKernel" not in ops


def test_a_capture_in_the_trace_itself_is_used(tmp_path: Path) -> None:
    run = Run(ONE_STREAM[:1])
    trace = json.loads(run.write_replays(tmp_path / "rank0.json", 0, [0, 0]).read_text())
    capture = json.loads(write_capture(tmp_path / "capture.json", ONE_STREAM[:1]).read_text())
    (tmp_path / "capture.json").unlink()
    for one in capture["traceEvents"]:  # The engine captures before it replays, and no two launches have one number.
        one["ts"] += 1_000_000
        if "correlation" in one["args"]:
            one["args"]["correlation"] += 10_000
    trace["traceEvents"] += capture["traceEvents"]
    (tmp_path / "rank0.json").write_text(json.dumps(trace))
    assert found(tmp_path) == run.expected()
