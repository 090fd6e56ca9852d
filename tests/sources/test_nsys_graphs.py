"""Graphs in databases of Nsight Systems: kernels of replays have the ops and modules in which their nodes were captured."""

from pathlib import Path
from typing import Any

import pytest

from prof_analysis import open_profile
from tests.helpers.nsys import CALLS, KERNELS, RANGES, Row, Texts, call, copy, global_id, kernel, nvtx, write_tables

pytestmark = pytest.mark.filterwarnings("ignore::prof_analysis.ProfAnalysisWarning")
PLACES = "SELECT name, module, parent_module, op_name, module_by, reason FROM module.kernel ORDER BY start_ns"


def node(number: int, start: int, original: int | None = None, tid: int = 100) -> Row:
    """The event of the creation of a node of a graph; with an original, of its copy."""
    return {
        **{"start": start, "end": start + 1, "eventClass": 0, "globalTid": global_id(100, tid), "nameId": 1},
        **{"graphNodeId": number, "originalGraphNodeId": original},
    }


def write(file: Path, *, replayed_in: str | None = None, **more: Any) -> Path:
    """Write a capture of two modules with nodes 1 to 4, the graph with their copies 11 to 14, and two replays."""
    text = Texts()
    begin, launch, replay = text("cudaStreamBeginCapture_v10000"), text("cudaLaunchKernel"), text("cudaGraphLaunch_v10000")
    gemm, norm = text("gemm"), text("norm")
    around = [] if replayed_in is None else [nvtx(replayed_in, 4900, 6000), nvtx(replayed_in, 6900, 8000)]
    tables: dict[str, Any] = {
        RANGES: [
            nvtx("Module:Model", 900, 3000),
            nvtx("Module:Linear", 1100, 1500),
            nvtx("aten::linear, op_id = 1", 1150, 1450),
            nvtx("aten::addmm, op_id = 2", 1200, 1400),
            nvtx("Module:Norm", 1600, 1900),
            nvtx("aten::norm, op_id = 3", 1650, 1850),
            *around,
        ],
        CALLS: [
            call(begin, 1000, 1010, 1),
            call(launch, 1250, 1260, 2),
            call(launch, 1300, 1310, 3),
            call(launch, 1700, 1710, 4),
            call(launch, 2500, 2510, 5),
            call(replay, 5000, 5100, 6),
            call(replay, 7000, 7100, 7),
        ],
        "CUDA_GRAPH_NODE_EVENTS": [
            *(node(number, start) for number, start in ((1, 1251), (2, 1301), (3, 1701), (4, 2501))),
            *(node(10 + number, 3500 + number, number) for number in (1, 2, 3, 4)),
        ],
        KERNELS: [
            kernel(name, at + number, at + number + 1, correlation, graphNodeId=10 + number, graphId=9)
            for at, correlation in ((5200, 6), (7200, 7))
            for number, name in ((1, gemm), (2, gemm), (3, norm))
        ],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [
            {**copy(at, at + 1, 64, correlation, kind=8), "graphNodeId": 14} for at, correlation in ((5210, 6), (7210, 7))
        ],
    }
    return write_tables(file, {**tables, **more}, text)


def places(file: Path) -> list[tuple[Any, ...]]:
    with open_profile(file) as profile:
        return [tuple(row.values()) for row in profile.rows(PLACES)]


ONE_REPLAY = [
    ("gemm", "Linear", "Model", "aten::addmm", "capture", None),
    ("gemm", "Linear", "Model", "aten::addmm", "capture", None),
    ("norm", "Norm", "Model", "aten::norm", "capture", None),
    ("Memcpy DtoD (Device -> Device)", "Model", "", None, "capture", None),
]


@pytest.mark.parametrize("replayed_in", [None, "Module:Model"])
def test_a_replay_runs_the_ops_and_modules_in_which_its_nodes_were_captured(replayed_in: str | None, tmp_path: Path) -> None:
    file = write(tmp_path / "run.sqlite", replayed_in=replayed_in)
    # Where the host calls the model again, its module is that around the launch.
    by = "capture" if replayed_in is None else "launch"
    assert places(file) == 2 * [*ONE_REPLAY[:3], (*ONE_REPLAY[3][:4], by, None)]
    with open_profile(file) as profile:
        calls = profile.rows("SELECT name, calls FROM op.statistic WHERE name IN ('aten::addmm', 'aten::norm')")
        assert {row["name"]: row["calls"] for row in calls} == {"aten::addmm": 3, "aten::norm": 3}


def test_a_copy_of_a_copy_is_the_node_that_was_captured(tmp_path: Path) -> None:
    events = [node(1, 1251), node(2, 1301), node(3, 1701), node(4, 2501)]
    events += [node(50 + number, 3400, number) for number in (1, 2, 3, 4)]
    events += [node(10 + number, 3500, 50 + number) for number in (1, 2, 3, 4)]
    assert places(write(tmp_path / "run.sqlite", CUDA_GRAPH_NODE_EVENTS=events)) == 2 * ONE_REPLAY


@pytest.mark.parametrize(
    "events",
    [
        [node(10 + number, 1300) for number in (1, 2, 3, 4)],  # The nodes that run, without what they are copies of.
        [node(10 + number, 1300, number) for number in (1, 2, 3, 4)],  # What was captured is not in the recording.
        [node(11, 1300, 12), node(12, 1300, 11)],  # Copies of each other.
        [node(1, 10**18), node(11, 3500, 1)],  # At no possible time.
    ],
)
def test_a_node_whose_creation_is_not_known_has_no_op(events: list[Row], tmp_path: Path) -> None:
    found = places(write(tmp_path / "run.sqlite", CUDA_GRAPH_NODE_EVENTS=events))
    assert {place[1:] for place in found} == {(None, None, None, None, "graph replay")}
