"""The host in a timeline: its threads with all that they did, and an arrow from each launch to its kernel."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import InputError, ProfAnalysisWarning, Profile, open_profile
from tests.helpers import kineto
from tests.helpers.says import says
from tests.helpers.small_profile import Frame, HostCall, Kernel, Launch, Op, Queue, Range, write_profile
from tests.helpers.timelines import Timeline, events_of, ns, read

WORK = ("compute", "communication", "copy", "schedule")
HOST = ("op", "range", "call", "frame", "collection")


def timeline_of(folder: Path, out: Path, **options: object) -> Timeline:
    with open_profile(folder, cache="none", **options) as profile:  # type: ignore[arg-type]
        (file,) = profile.timeline(out)
    return read(file)


def assert_is_that_of_the_tables(profile: Profile, found: Timeline) -> None:
    """Every item is there once, at its time to the ns, and from each call that launched kernels an arrow leads to each."""
    base = found.base_ns
    expected = profile.rows(
        "SELECT kind::VARCHAR AS kind, name, start_ns, end_ns FROM trace.kernel"
        " UNION ALL SELECT 'op', name, start_ns, end_ns FROM trace.op"
        " UNION ALL SELECT 'call', name, start_ns, end_ns FROM trace.host_api"
        " UNION ALL SELECT 'range', name, start_ns, end_ns FROM trace.range"
    )
    drawn = [one for one in found.slices if one.category in (*WORK, *HOST)]
    assert Counter((one.category, one.name, one.start, one.end) for one in drawn) == Counter(
        (row["kind"], row["name"], row["start_ns"] - base, row["end_ns"] - base) for row in expected
    )
    launched = profile.rows(
        "SELECT kernel.name, kernel.start_ns, kernel.end_ns, call.start_ns AS call_ns FROM trace.kernel"
        " JOIN trace.host_api AS call ON call.launch_id = kernel.launch_id AND call.profile = kernel.profile"
        " WHERE kernel.start_ns >= call.start_ns"
    )
    assert Counter(
        (arrow[-2].start, arrow[-1].name, arrow[-1].start, arrow[-1].end) for arrow in found.arrows.values()
    ) == Counter((row["call_ns"] - base, row["name"], row["start_ns"] - base, row["end_ns"] - base) for row in launched)


def test_threads_show_what_they_did_and_arrows_lead_from_launches_to_kernels(tmp_path: Path) -> None:
    """A task queue's thread launched the kernel of the second op, so its arrow leads from the op through the call."""
    pid = 7 * 2**32
    ops = [
        Op("aten::add", 1100, 1200, (), tid=pid + 7),
        Op("aten::mul", 1300, 1400, (), tid=pid + 7),
        Op("MulBackward0", 1500, 1600, (Kernel("c", 3000, 3010),), tid=pid + 8, backward_of=1),
    ]
    launches = [
        Launch(1120, 1130, (Kernel("a", 2000, 2010),), tid=pid + 7, recorded_op=0),
        Launch(1450, 1460, (Kernel("b", 2500, 2510), Kernel("b", 2600, 2610)), tid=pid + 9, recorded_op=1),
    ]
    queues = [Queue(5, (1310, 1320), (1440, 1470), pid + 7, pid + 9)]
    write_profile(
        tmp_path,
        ops,
        [Range("Net", 1050, 1450, tid=pid + 7)],
        queues=queues,
        launches=launches,
        calls=[HostCall("aclrtSynchronizeStream", 1700, 1800, tid=pid + 7)],
        frames=[Frame("net.py(3): forward", 1000, 1480, tid=pid + 7)],
    )
    found = timeline_of(tmp_path, tmp_path / "out")
    of_host = [(one.track, one.path) for one in found.slices if one.category in HOST]
    assert of_host == [
        ("main thread 7", "Net"),
        ("main thread 7", "Net > aten::add"),
        ("main thread 7", "Net > aten::add > launch"),
        ("main thread 7", "Net > aten::mul"),
        ("task queue thread 9", "launch"),
        ("autograd thread 8", "MulBackward0"),
        ("main thread 7", "aclrtSynchronizeStream"),
    ]
    arrows = [[one.path for one in arrow] for arrow in found.arrows.values()]
    queued = ["Net > aten::mul", "launch", "b"]
    assert arrows == [["Net > aten::add > launch", "a"], queued, queued, ["MulBackward0", "c"]]
    with_python = timeline_of(tmp_path, tmp_path / "out", python_frames=True)
    outermost = next(one for one in with_python.slices if one.track == "main thread 7")
    assert (outermost.path, outermost.category) == ("net.py(3): forward", "frame")
    first, *_ = with_python.arrows.values()
    assert first[0].path == "net.py(3): forward > Net > aten::add > launch"


@pytest.mark.slow
def test_everything_of_hard_profiles_is_there_once_and_every_launch_has_its_arrow(tmp_path: Path) -> None:
    shape = Shape(forward_threads=2, recompute=True, double_backward=True, micro_batches=2, queue_threads=2, steps=2)
    generate(tmp_path, shape, ranks=1, seed=3)
    with open_profile(tmp_path, cache="none") as profile:
        (file,) = profile.timeline(tmp_path / "out")
        assert_is_that_of_the_tables(profile, read(file))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trace", "early"),
    [
        ("gpu_kineto/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 0),
        ("gpu_kineto/mi300_vllm/piecewise_graph_execution.json.gz", 0),
        ("alexnet_ddp_910b_mstx/rank0_ascend_pt", 5),
    ],
)
def test_real_traces_are_there_whole(trace: str, early: int, realdata: Path, tmp_path: Path) -> None:
    with open_profile(realdata / trace, cache="none") as profile:
        (file,) = profile.timeline(tmp_path)
        found = read(file)
        assert_is_that_of_the_tables(profile, found)
    assert sum("starts before its launch (ns)" in one.args for one in found.slices) == early


def test_a_launch_of_a_graph_has_an_arrow_to_each_of_its_kernels_and_a_kernel_before_its_launch_has_none(
    tmp_path: Path,
) -> None:
    trace = kineto.write_trace(
        tmp_path / "trace.json",
        [
            kineto.op("aten::add", 100, 200, 1),
            kineto.launch(110, 120, 1, 1),
            kineto.kernel("a", 1000, 1100, 1),
            kineto.launch(300, 320, 2, name="cudaGraphLaunch"),
            kineto.kernel("b", 1200, 1300, 2),
            kineto.kernel("c", 1300, 1400, 2),
            kineto.launch(1500, 1510, 3),
            kineto.kernel("d", 1493, 1600, 3),
        ],
    )
    found = timeline_of(trace, tmp_path / "out")
    assert [[one.path for one in arrow] for arrow in found.arrows.values()] == [
        ["aten::add > cudaLaunchKernel", "a"],
        ["cudaGraphLaunch", "b"],
        ["cudaGraphLaunch", "c"],
    ]
    assert {one.name: one.args.get("starts before its launch (ns)") for one in found.slices if one.category in WORK} == {
        "a": None,
        "b": None,
        "c": None,
        "d": 7,
    }


def test_slices_that_cross_and_marks_are_there_too(tmp_path: Path) -> None:
    """Ranges of a user may cross; the main thread has no number of its own here, so it is a thread like others."""
    ranges = [Range("a", 100, 200, domain="mine"), Range("b", 150, 250, domain="mine"), Range("m", 120, 120, event_type=0)]
    write_profile(tmp_path, [Op("aten::add", 110, 140, (Kernel("k", 1000, 1010),))], ranges)
    found = timeline_of(tmp_path, tmp_path / "out")
    assert [(one.track, one.path) for one in found.slices if one.category in HOST] == [
        ("thread 1", "a"),
        ("thread 1", "a > aten::add"),
        ("thread 1 (2)", "b"),
    ]
    assert [(track, name, at + found.base_ns) for track, name, at in found.marks] == [("thread 1", "m", 120)]


def test_times_of_host_and_device_are_of_one_clock(tmp_path: Path) -> None:
    """The clock of the device is 5 ms early, so the host moves: no kernel begins before its launch."""
    ms = 1_000_000
    ops = [
        Op("aten::add", at * ms, at * ms + 100, (Kernel("k", at * ms - 5 * ms + 10, at * ms - 5 * ms + 50),))
        for at in range(20, 60)
    ]
    write_profile(tmp_path, ops)
    found = timeline_of(tmp_path, tmp_path / "out")
    assert len(found.arrows) == 40
    assert all(launch.start <= kernel.start for launch, kernel in found.arrows.values())
    assert min(one.start for one in found.slices) >= 1000


def test_a_step_has_what_its_host_began_in_it(tmp_path: Path) -> None:
    ops = [Op(name, at, at + 10, (Kernel(name, at + 1000, at + 1010),)) for name, at in (("a", 110), ("b", 210))]
    write_profile(tmp_path, ops, steps=[(7, 100, 200), (8, 200, 300)])
    found = timeline_of(tmp_path, tmp_path / "out", step_id=8)
    assert [one.name for one in found.slices if one.category == "op"] == ["b"]
    assert [[one.name for one in arrow] for arrow in found.arrows.values()] == [["b", "b"]]


def test_a_rank_says_why_it_has_no_host_and_no_python(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", unlinked=[Kernel("k", 1000, 1010)], rank=0)
    write_profile(tmp_path / "b_ascend_pt", [Op("aten::add", 100, 140, (Kernel("k", 1000, 1010),))], rank=1)
    with open_profile(tmp_path, python_frames=True) as profile, pytest.warns(ProfAnalysisWarning):
        profile.timeline(tmp_path / "out")
    assert says("a_ascend_pt: ", "no threads of the host: ") in profile.warnings
    assert says("no calls of Python functions", "with_stack=True") in profile.warnings


def test_the_command_writes_what_the_option_of_other_commands_does(tmp_path: Path, command: Callable[..., Result]) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op("op", 20, 30, (Kernel("k", 2000, 2010),))])
    result = command("timeline", tmp_path, "-o", tmp_path / "out")
    file = tmp_path / "out" / "cluster_analysis_output" / "timeline_rank0.json.gz"
    assert (result.exit_code, result.stdout.split()) == (0, ["wrote", str(file)])
    written = file.read_bytes()
    assert command("step-time", tmp_path, "--export-type", "trace", "-o", tmp_path / "out").exit_code == 0
    assert file.read_bytes() == written


def test_a_profile_without_kernels_has_no_timeline(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op("op", 20, 30)])
    with open_profile(tmp_path) as profile, pytest.raises(InputError, match="no rank can answer this"):
        profile.timeline(tmp_path / "out")


def test_with_secrets_replaced_threads_have_other_numbers(tmp_path: Path) -> None:
    pid = 54321 * 2**32
    write_profile(tmp_path / "a_ascend_pt", [Op("op", 20, 30, (Kernel("k", 2000, 2010),), tid=pid + 54321)])
    with open_profile(tmp_path, anonymize=True, cache="none") as profile:
        (file,) = profile.timeline(tmp_path / "out")
    assert not {one.track for one in read(file).slices if "54321" in one.track}


def test_a_timeline_in_the_folder_of_a_profile_is_no_rank_of_it(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", [Op("op", 20, 30, (Kernel("k", 2000, 2010),))])
    for _ in range(2):
        with open_profile(tmp_path) as profile:
            assert [row["profile"] for row in profile.rank_rows()] == ["a_ascend_pt"]
            profile.timeline()


@pytest.mark.slow
def test_events_are_in_the_order_of_time_however_many_they_are(tmp_path: Path) -> None:
    """Threads that join more rows than a block of a file has give the blocks in any order."""
    ops = [Op("aten::add", at, at + 5) for at in range(1000, 3_001_000, 10)]
    write_profile(tmp_path, [*ops, Op("aten::mul", 3_001_000, 3_001_005, (Kernel("k", 3_002_000, 3_002_010),))])
    with open_profile(tmp_path, cache="none") as profile:
        (file,) = profile.timeline(tmp_path / "out")
    times = [ns(one["ts"]) for one in events_of(file) if one.get("cat") == "op"]
    assert len(times) == 300_001
    assert times == sorted(times)
