"""Passes of a server with full and piecewise graphs, in each form: phases and times are those of the generator, and all compute
of modules is inside its modules with the recording of the capture, and never less of it than without."""

from __future__ import annotations

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.serving import Form
from tests.helpers.serving_graphs import GraphRank, Mode, serve_graphs, write_served
from tests.helpers.slow import quick
from tests.iterations.test_served import busy, computing, found, held

FORMS = [(form, mode) for form in ("db", "text", "kineto") for mode in ("full", "piecewise")]
KERNELS = """
    SELECT start_ns, if(parent_module = '', module, parent_module || '/' || module) AS path
    FROM module.kernel WHERE kind = 'compute' ORDER BY start_ns
"""


def truth(rank: GraphRank) -> dict[int, str]:
    """The module of each compute kernel that has one, by its start."""
    kernels = [kernel for one in rank.passes for kernel in one.kernels]
    return {start: module for kind, start, _, module in kernels if kind != "sum" and module}


# On Ascend a piece is told by its kernels alone. The last one is like a part of those before it, but for the module of its last
# kernel.
AMBIGUOUS = (("db", "piecewise"), ("text", "piecewise"))


def share(rank: GraphRank, found: dict[int, str | None]) -> float:
    """The share of the time of compute that lies in modules for which the answer has these modules."""
    known = truth(rank)
    times = {start: end - start for one in rank.passes for _, start, end, _ in one.kernels}
    return sum(times[start] for start, path in known.items() if found[start] == path) / sum(times[start] for start in known)


@pytest.mark.parametrize(("form", "mode"), quick(FORMS, 0, 5))
def test_passes_of_graphs_are_as_known_as_those_without(form: Form, mode: Mode, tmp_path: Path) -> None:
    rank, capture = serve_graphs(mode, 12)
    write_served(rank, capture, tmp_path / "run", form)
    with open_profile(tmp_path / "run", cache="none") as profile:
        inside = {row["start_ns"]: row["path"] for row in profile.rows(KERNELS)}
        passes = profile.rows("FROM pass.time ORDER BY start_ns")
    known = truth(rank)
    assert {start: path for start, path in known.items() if inside[start] not in (None, path)} == {}
    assert share(rank, inside) == 1 if (form, mode) not in AMBIGUOUS else share(rank, inside) > 0.95
    assert [found(row) for row in passes] == [held(one) for one in rank.passes]
    assert [(row["start_ns"], row["end_ns"]) for row in passes] == [one.span for one in rank.passes]
    assert [row["computing_ns"] for row in passes] == [computing(one) for one in rank.passes]
    assert [row["idle_ns"] for row in passes] == [one.span[1] - one.span[0] - busy(one) for one in rank.passes]

    (tmp_path / "run" / "graph_capture_profile").rename(tmp_path / "elsewhere")
    with open_profile(tmp_path / "run", cache="none") as profile:
        without = {row["start_ns"]: row["path"] for row in profile.rows(KERNELS)}
    assert all(inside[start] is not None for start, path in without.items() if path is not None)
    assert share(rank, without) < share(rank, inside)
