"""How a kernel finds its op: the recorded link, or the host's intervals where it is missing or wrong; and why it finds none."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prof_analysis import ProfAnalysisWarning, open_profile
from tests.helpers.asking import build_at_once
from tests.helpers.says import says
from tests.helpers.small_profile import Kernel, Launch, Op, Queue, Range, write_profile

Rows = list[tuple[Any, ...]]
INSIDE, OUTSIDE, UNLINKED = "inside modules", "outside modules", "linked to no op"
HOOKS = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
LINKS = "SELECT name, link, op_name, location, reason FROM module.kernel ORDER BY start_ns"
NET = Range("Net", 0, 500)


def ask(folder: Path, query: str, **options: Any) -> Rows:
    with open_profile(folder, **options) as profile:
        return [tuple(row.values()) for row in profile.sql(query, arrow=True).to_pylist()]


def kernel(name: str, start: int = 1000) -> Kernel:
    return Kernel(name, start, start + 10)


def launch(start: int, end: int, tid: int = 1, name: str = "lost", recorded_op: int | None = None) -> Launch:
    return Launch(start, end, (kernel(name, 1000 + start),), tid, recorded_op)


LINEAR = [Op("aten::linear", 100, 200), Op("aten::addmm", 120, 150)]
FOUND: Rows = [("lost", "derived", "aten::addmm", INSIDE, None)]


@pytest.mark.slow
def test_a_lost_link_is_found_through_the_task_queue(tmp_path: Path) -> None:
    """The launch lies in the run of task 8, which was put in within aten::addmm; the neighbours 7 and 9 lie elsewhere."""
    queues = [
        Queue(7, enqueue=(105, 110), dequeue=(250, 300)),
        Queue(8, enqueue=(125, 130), dequeue=(300, 340)),
        Queue(9, enqueue=(160, 165), dequeue=(340, 380)),
    ]
    write_profile(tmp_path, LINEAR, [NET], queues=queues, launches=[launch(310, 320, tid=5)])
    assert ask(tmp_path, LINKS) == FOUND


AUDIT = "SELECT * EXCLUDE (profile, rank_id) FROM module.link_audit"
ADDS = [Op("aten::add", 100, 120), Op("aten::mul", 130, 150)]


@pytest.mark.slow
def test_links_that_several_queue_threads_mixed_up_are_corrected_and_reported(tmp_path: Path) -> None:
    """The writer paired by position: the first to be taken out with the first to be put in. They are tasks 2 and 1."""
    queues = [Queue(1, (105, 106), (310, 330), dequeue_tid=6), Queue(2, (135, 136), (200, 220), dequeue_tid=5)]
    launches = [launch(205, 206, 5, "of mul", recorded_op=0), launch(315, 316, 6, "of add", recorded_op=1)]
    write_profile(tmp_path, ADDS, [NET], queues=queues, launches=launches)
    assert ask(tmp_path, LINKS) == [
        ("of mul", "corrected", "aten::mul", INSIDE, None),
        ("of add", "corrected", "aten::add", INSIDE, None),
    ]
    assert ask(tmp_path, AUDIT) == [
        (5000, 1, "aten::add", 2, "aten::mul", 1, 10),
        (5001, 2, "aten::mul", 1, "aten::add", 1, 10),
    ]


@pytest.mark.slow
def test_an_audit_judges_every_launch(tmp_path: Path) -> None:
    queues = [Queue(1, (105, 106), (200, 220)), Queue(2, (135, 136), (220, 240))]
    launches = [
        Launch(205, 206, (kernel("a", 1000), kernel("b", 1100)), 5, recorded_op=1),
        launch(225, 226, 5, "c", recorded_op=1),
    ]
    write_profile(tmp_path, ADDS, [NET], queues=queues, launches=launches)
    with open_profile(tmp_path, audit_links=True) as profile:
        build_at_once(profile, "module.kernel", "module.link_audit")
        links, audit = ([tuple(row.values()) for row in profile.sql(query, arrow=True).to_pylist()] for query in (LINKS, AUDIT))
    corrected = ("corrected", "aten::add", INSIDE, None)
    assert links == [("a", *corrected), ("b", *corrected), ("c", "recorded", "aten::mul", INSIDE, None)]
    assert audit == [(5000, 2, "aten::mul", 1, "aten::add", 2, 20)]


def innermost(ops: Iterable[Op], start: int, end: int) -> Op | None:
    around = [op for op in ops if op.start <= start and op.end >= end]
    return max(around, key=lambda op: (op.start, -op.end, int(op.name)), default=None)


@st.composite
def many_ops(draw: st.DrawFn) -> tuple[list[Op], list[Launch]]:
    """More ops than a block of the look-up holds, the names their positions; and launches on their thread."""
    random = draw(st.randoms(use_true_random=False))
    spans = [(random.randrange(2000), random.choice([0, 3, 30, 300, 2000])) for _ in range(draw(st.integers(1, 700)))]
    spans = sorted(spans) if draw(st.booleans()) else spans
    ops = [Op(str(n), start, start + length) for n, (start, length) in enumerate(spans)]
    times = [random.randrange(2000) for _ in range(30)]
    return ops, [launch(start, start + random.choice([0, 2, 20]), name=f"k{n}") for n, start in enumerate(times)]


@pytest.mark.slow
@settings(max_examples=5, deadline=None, print_blob=True)
@given(many_ops())
def test_derived_ops_and_chains_are_those_of_a_plain_search(ops_and_launches: tuple[list[Op], list[Launch]]) -> None:
    ops, launches = ops_and_launches
    with TemporaryDirectory() as folder:
        write_profile(Path(folder), ops, [Range("Net", -1, 5000)], launches=launches)
        with open_profile(folder) as profile:
            build_at_once(profile, "module.kernel", "module.statistic")
            links = {row["name"]: row["op_name"] for row in profile.rows("SELECT name, op_name FROM module.kernel")}
            chains = {row["op_name"]: row["op_chain"] for row in profile.rows("SELECT op_name, op_chain FROM module.statistic")}
    expected = {one.kernels[0].name: innermost(ops, one.start, one.end) for one in launches}
    assert links == {name: op and op.name for name, op in expected.items()}

    def chain(inner: Op) -> str:
        around = [op for op in ops if op.start <= inner.start and op.end >= inner.end]
        in_order = sorted(around, key=lambda op: (op.start, -op.end, int(op.name)))
        return " > ".join(op.name for op in in_order[: in_order.index(inner) + 1])

    # What is launched in a module outside of all ops is a row of its own.
    assert chains == {op and op.name: op and chain(op) for op in expected.values()}


@pytest.mark.filterwarnings("ignore::prof_analysis.common.errors.ProfAnalysisWarning")
def test_coverage_says_why_kernels_are_not_inside_modules(tmp_path: Path) -> None:
    in_graph = 3
    ops = [
        Op("aten::mm", 110, 120, (kernel("k"),)),
        Op("aten::copy_", 600, 610, (kernel("k"),)),
        Op(HOOKS, 700, 750, tid=2),
        Op("aten::mul", 710, 720, (kernel("k"),), tid=2),
    ]
    unlinked = [
        Kernel("no launch", 2000, 2003),
        Kernel("before the profile", 2010, 2014, launch=77),
        Kernel("replayed", 2020, 2025, model=in_graph),
        Kernel("replayed, launch not on the host", 2030, 2036, model=in_graph, launch=78),
    ]
    launches = [
        Launch(800, 810, (Kernel("bare", 2040, 2047), Kernel("bare, in a graph", 2050, 2058, model=in_graph))),
        Launch(111, 112, (Kernel("captured here", 2060, 2069, model=in_graph),)),
    ]
    write_profile(tmp_path, ops, [NET], unlinked, launches=launches)
    time = 10 + 10 + 10 + 3 + 4 + 5 + 6 + 7 + 8 + 9
    assert ask(tmp_path, "SELECT * EXCLUDE (profile, rank_id) FROM module.coverage") == [
        ("compute", INSIDE, None, 2, 19, 19 / time, None),
        ("compute", OUTSIDE, "gradient hooks", 1, 10, 10 / time, "aten::mul"),
        ("compute", OUTSIDE, "outside every module", 1, 10, 10 / time, "aten::copy_"),
        ("compute", UNLINKED, "cut at the profile edge", 1, 4, 4 / time, None),
        ("compute", UNLINKED, "graph replay", 2, 11, 11 / time, None),
        ("compute", UNLINKED, "launch outside any op", 2, 15, 15 / time, None),
        ("compute", UNLINKED, "no host launch", 1, 3, 3 / time, None),
    ]


@pytest.mark.slow
def test_graph_replay_is_said_in_one_line_with_the_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "run_ascend_pt"
    replayed = Kernel("k", 2000, 2030, model=1)
    write_profile(folder, [Op("aten::mm", 110, 120, (kernel("mm"),))], [NET], [replayed, replayed, replayed])
    with pytest.warns(ProfAnalysisWarning, match="replayed"), open_profile(folder) as profile:
        profile.coverage()
        assert profile.warnings == [
            says(
                "run_ascend_pt: ",
                "90.0% of the kernel time",
                "replayed from graphs",
                "before the engine captures",
                "(--capture)",
            )
        ]
