"""Replayed graphs on GPUs: every kernel has the op and module that its capture or annotation says, and no other."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fixtures.kineto_graphs import Graph, Names, Run, model, write_annotations, write_capture
from prof_analysis import InputError, ProfAnalysisWarning, open_profile

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
    with open_profile(path, no_cache=True, **options) as profile:
        rows = profile.sql(KERNELS, arrow=True).to_pylist()
    return [(row["start_ns"], row["op_name"], row["path"] and row["path"].replace("[Backward]", ""), row["is_backward"]) for row in rows]


@pytest.mark.parametrize(
    ("graphs", "names", "node_ids"),
    [
        pytest.param(TWO_STREAMS, "with the call", True, id="two streams, node ids"),
        pytest.param(TWO_STREAMS, "with the call", False, id="two streams, no node ids, as on AMD"),
        pytest.param(TWO_STREAMS, "of a warm-up", True, id="names of a warm-up, as on NVIDIA"),
        pytest.param(ONE_STREAM, "of a warm-up", False, id="names of a warm-up, one stream"),
        pytest.param((TWO_STREAMS[0],), "none", True, id="no names: by number and order"),
        pytest.param((Graph(5, model(8, backward=True)),), "with the call", True, id="backward"),
    ],
)
def test_a_capture_gives_each_kernel_its_op_and_module(
    graphs: tuple[Graph, ...], names: Names, node_ids: bool, tmp_path: Path
) -> None:
    run = Run(graphs)
    run.write_replays(tmp_path / "traces" / "rank0.json", 0, [0, len(graphs) - 1, 0], node_ids=node_ids)
    write_capture(tmp_path / "capture.json.gz", graphs, names)
    assert found(tmp_path / "traces", capture=tmp_path / "capture.json.gz") == run.expected()
