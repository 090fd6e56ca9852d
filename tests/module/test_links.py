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
from tests.helpers.slow import quick
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


def test_a_lost_link_is_found_through_the_task_queue(tmp_path: Path) -> None:
    """The launch lies in the run of task 8, which was put in within aten::addmm; the neighbours 7 and 9 lie elsewhere."""
    queues = [
        Queue(7, enqueue=(105, 110), dequeue=(250, 300)),
        Queue(8, enqueue=(125, 130), dequeue=(300, 340)),
        Queue(9, enqueue=(160, 165), dequeue=(340, 380)),
    ]
    write_profile(tmp_path, LINEAR, [NET], queues=queues, launches=[launch(310, 320, tid=5)])
    assert ask(tmp_path, LINKS) == FOUND


def test_an_outer_op_that_launches_again_after_its_inner_op_has_its_kernel(tmp_path: Path) -> None:
    queues = [Queue(8, (125, 130), (300, 340)), Queue(9, (160, 165), (340, 380))]
    launches = [launch(310, 320, 5, "addmm", recorded_op=1), launch(350, 360, 5, "add")]
    write_profile(tmp_path, LINEAR, [NET], queues=queues, launches=launches)
    assert ask(tmp_path, LINKS) == [
        ("addmm", "recorded", "aten::addmm", INSIDE, None),
        ("add", "derived", "aten::linear", INSIDE, None),
    ]
    assert ask(tmp_path, "SELECT op_name, kernel_list, op_chain FROM module.statistic") == [
        ("aten::linear", "add", "aten::linear"),
        ("aten::addmm", "addmm", "aten::linear > aten::addmm"),
    ]


@pytest.mark.parametrize(
    ("ops", "host_call", "op"),
    quick(
        [
            pytest.param(LINEAR, launch(130, 140), "aten::addmm", id="the innermost"),
            pytest.param(LINEAR, launch(170, 180), "aten::linear", id="after the inner op"),
            pytest.param(LINEAR, launch(120, 150), "aten::addmm", id="as long as the op"),
            pytest.param(LINEAR, launch(140, 151), "aten::linear", id="ends after the inner op"),
            pytest.param(LINEAR, launch(130, 140, tid=2), None, id="no op on its thread"),
            pytest.param(LINEAR, launch(190, 201), None, id="ends after every op"),
            pytest.param(
                [Op("outer", 100, 200), Op("inner", 100, 200)], launch(110, 120), "inner", id="equal ops: the later row"
            ),
            pytest.param(
                [*LINEAR, Op("other", 125, 145, tid=2)], launch(130, 140), "aten::addmm", id="closer on another thread"
            ),
            pytest.param([Op("ProfilerStep#3", 0, 500), *LINEAR], launch(300, 310), None, id="a profiler step is no op"),
            pytest.param(
                [Op("aten::mm", 0, 90), Op("ProfilerStep#3", 10, 50)], launch(20, 30), "aten::mm", id="a step in an op"
            ),
        ],
        0,
        3,
        4,
        6,
    ),
)
def test_without_a_task_queue_a_lost_launch_is_of_the_innermost_op_around_it(
    tmp_path: Path, ops: list[Op], host_call: Launch, op: str | None
) -> None:
    write_profile(tmp_path, ops, [NET], launches=[host_call])
    found = ask(tmp_path, LINKS)
    assert found == [
        ("lost", None, None, UNLINKED, "launch outside any op") if op is None else ("lost", "derived", op, INSIDE, None)
    ]


@pytest.mark.parametrize(
    ("host_call", "is_found"),
    quick(
        [
            pytest.param((300, 340), True, id="as long as the dequeue"),
            pytest.param((299, 320), False, id="starts before the dequeue"),
            pytest.param((330, 341), False, id="ends after the dequeue"),
            pytest.param((345, 350), False, id="between dequeues"),
        ],
        1,
        3,
    ),
)
def test_a_launch_that_no_task_contains_is_of_no_task(tmp_path: Path, host_call: tuple[int, int], is_found: bool) -> None:
    queues = [Queue(8, (125, 130), (300, 340)), Queue(9, (160, 165), (360, 380))]
    write_profile(tmp_path, LINEAR, [NET], queues=queues, launches=[launch(*host_call, tid=5)])
    assert ask(tmp_path, LINKS) == (FOUND if is_found else [("lost", None, None, UNLINKED, "launch outside any op")])


def test_a_task_that_was_put_in_outside_every_op_gives_its_launch_to_none(tmp_path: Path) -> None:
    write_profile(tmp_path, LINEAR, [NET], queues=[Queue(8, (210, 220), (300, 340))], launches=[launch(310, 320, tid=5)])
    assert ask(tmp_path, LINKS) == [("lost", None, None, UNLINKED, "launch outside any op")]


def test_all_kernels_of_a_lost_launch_are_found(tmp_path: Path) -> None:
    kernels = (
        kernel("matmul"),
        Kernel("hcom_allReduce_", 1100, 1150, "communication"),
        Kernel("allReduceAicpuKernel", 1200, 1207, "schedule"),
    )
    write_profile(tmp_path, LINEAR, [NET], launches=[Launch(130, 140, kernels)])
    rows = ask(tmp_path, "SELECT op_name, kernel_list, total_kernel_duration_ns, op_count, op_chain FROM module.statistic")
    assert rows == [
        ("aten::addmm", "matmul, hcom_allReduce_, allReduceAicpuKernel", 67, 1, "aten::linear > aten::addmm"),
    ]


AUDIT = "SELECT * EXCLUDE (profile, rank_id) FROM module.link_audit"
ADDS = [Op("aten::add", 100, 120), Op("aten::mul", 130, 150)]


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


def test_right_links_stay_recorded_with_several_queue_threads(tmp_path: Path) -> None:
    queues = [Queue(1, (105, 106), (310, 330), dequeue_tid=6), Queue(2, (135, 136), (200, 220), dequeue_tid=5)]
    launches = [
        launch(205, 206, 5, "of mul", recorded_op=1),
        launch(315, 316, 6, "of add", recorded_op=0),
        launch(400, 410, 5, "in no task", recorded_op=0),
    ]
    write_profile(tmp_path, ADDS, [NET], queues=queues, launches=launches)
    assert ask(tmp_path, LINKS) == [
        ("of mul", "recorded", "aten::mul", INSIDE, None),
        ("of add", "recorded", "aten::add", INSIDE, None),
        ("in no task", "recorded", "aten::add", INSIDE, None),
    ]
    assert ask(tmp_path, AUDIT) == []


def test_an_audit_judges_every_launch(tmp_path: Path) -> None:
    queues = [Queue(1, (105, 106), (200, 220)), Queue(2, (135, 136), (220, 240))]
    launches = [
        Launch(205, 206, (kernel("a", 1000), kernel("b", 1100)), 5, recorded_op=1),
        launch(225, 226, 5, "c", recorded_op=1),
    ]
    write_profile(tmp_path, ADDS, [NET], queues=queues, launches=launches)
    as_recorded = ("recorded", "aten::mul", INSIDE, None)
    assert ask(tmp_path, LINKS) == [("a", *as_recorded), ("b", *as_recorded), ("c", *as_recorded)]
    assert ask(tmp_path, AUDIT) == []
    corrected = ("corrected", "aten::add", INSIDE, None)
    assert ask(tmp_path, LINKS, audit_links=True) == [("a", *corrected), ("b", *corrected), ("c", *as_recorded)]
    assert ask(tmp_path, AUDIT, audit_links=True) == [(5000, 2, "aten::mul", 1, "aten::add", 2, 20)]


@pytest.mark.parametrize(
    ("host_call", "link"),
    quick(
        [
            pytest.param(launch(105, 106, recorded_op=1), ("corrected", "aten::add"), id="in another op"),
            pytest.param(launch(100, 120, recorded_op=0), ("recorded", "aten::add"), id="as long as the recorded op"),
            pytest.param(launch(122, 126, recorded_op=1), ("recorded", "aten::mul"), id="in no op: nothing proves another one"),
            pytest.param(launch(105, 106, tid=2, recorded_op=0), ("recorded", "aten::add"), id="on a thread without ops"),
        ],
        0,
        1,
    ),
)
def test_without_a_task_queue_a_launch_outside_its_recorded_op_is_judged(
    tmp_path: Path, host_call: Launch, link: tuple[str, str]
) -> None:
    write_profile(tmp_path, ADDS, [NET], launches=[host_call])
    assert ask(tmp_path, LINKS) == [("lost", *link, INSIDE, None)]
    assert len(ask(tmp_path, AUDIT)) == (link[0] == "corrected")


def test_an_audit_leaves_links_whose_launch_is_not_on_the_host_as_recorded(tmp_path: Path) -> None:
    write_profile(tmp_path, [Op("aten::mm", 100, 120, (kernel("mm"),))], [NET])
    assert ask(tmp_path, LINKS, audit_links=True) == [("mm", "recorded", "aten::mm", INSIDE, None)]
    assert ask(tmp_path, AUDIT, audit_links=True) == []


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

    assert chains == {op.name: chain(op) for op in expected.values() if op is not None}


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


def test_graph_replay_is_said_in_one_line_with_the_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "run_ascend_pt"
    replayed = Kernel("k", 2000, 2030, model=1)
    write_profile(folder, [Op("aten::mm", 110, 120, (kernel("mm"),))], [NET], [replayed, replayed, replayed])
    with pytest.warns(ProfAnalysisWarning, match="replayed"), open_profile(folder) as profile:
        profile.coverage()
        assert profile.warnings == [
            "run_ascend_pt: 90.0% of the kernel time was replayed from graphs that were captured before profiling began, so "
            "its ops and modules are unknown; start profiling before the engine captures its graphs, "
            "or, of GPU traces, give a recording of the capture (--capture)"
        ]


def test_the_three_heaviest_ops_of_each_kind_outside_modules_are_named(tmp_path: Path) -> None:
    durations = [("d", 40), ("a", 10), ("b", 20), ("c", 20), ("a", 15), ("e", 1)]  # a: 25 in all
    ops = [Op(name, 10 * n, 10 * n + 5, (Kernel("k", 1000, 1000 + ns),)) for n, (name, ns) in enumerate(durations)]
    ops.append(Op("f", 90, 95, (Kernel("hcom", 1000, 1900, "communication"),)))
    write_profile(tmp_path, ops, [Range("Net", 5000, 5001)])
    assert ask(tmp_path, "SELECT kind, reason, top_ops FROM module.coverage WHERE location = 'outside modules'") == [
        ("compute", "outside every module", "d, a, b"),
        ("communication", "outside every module", "f"),
    ]


def test_the_chain_of_ops_is_without_profiler_steps_and_other_threads(tmp_path: Path) -> None:
    ops = [
        Op("ProfilerStep#3", 0, 500),
        Op("aten::linear", 100, 200),
        Op("elsewhere", 105, 195, tid=2),
        Op("before", 105, 110),
        Op("aten::addmm", 120, 150, (kernel("mm"),)),
        Op("inside", 130, 140),
    ]
    write_profile(tmp_path, ops, [NET])
    assert ask(tmp_path, "SELECT op_name, op_chain FROM module.statistic") == [("aten::addmm", "aten::linear > aten::addmm")]


def test_of_merged_calls_the_chain_is_that_of_the_first(tmp_path: Path) -> None:
    ops = [
        Op("aten::matmul", 100, 120),
        Op("aten::mm", 105, 110, (kernel("mm"),)),
        Op("aten::linear", 200, 220),
        Op("aten::mm", 205, 210, (kernel("mm"),)),
    ]
    write_profile(tmp_path, ops, [Range("Net", 90, 150), Range("Net", 190, 250)])
    assert ask(tmp_path, "SELECT * EXCLUDE (profile, rank_id, avg_mfu) FROM module.statistic") == [
        ("", "Net", "aten::mm", "mm", 20, 10.0, 2, "aten::matmul > aten::mm"),
    ]
