"""What a recording holds of a module call in part is not taken for a call of its own, and calls that cross are said."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers import kineto
from tests.helpers.chain import built
from tests.helpers.slow import quick
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

# A call of Net, from 0 to 100: an op of its own, Linear, ReLU, and in Head an op and Linear.
CALLS = (("Net", 0, 100), ("Linear", 10, 20), ("ReLU", 30, 40), ("Head", 50, 90), ("Linear", 60, 70), ("Norm", 72, 80))
OPS = ((2, 4), (12, 14), (32, 34), (52, 54), (62, 64), (74, 76), (94, 96))
Recording = tuple[list[tuple[str, int, int]], list[tuple[int, int]]]


def passes(count: int, begin: int = 0, end: int = 10_000) -> Recording:
    """What a recording from begin to end holds of several calls of Net: only what lies in it wholly."""
    spans = [(name, 200 * n + start, 200 * n + stop) for n in range(count) for name, start, stop in CALLS]
    ops = [(200 * n + start, 200 * n + stop) for n in range(count) for start, stop in OPS]
    return (
        [(name, start, stop) for name, start, stop in spans if begin <= start and stop <= end],
        [(start, stop) for start, stop in ops if begin <= start and stop <= end],
    )


def write(folder: Path, form: str, recording: Recording) -> None:
    """Write a recording; each op launches a kernel of 1 us and more, one ns longer than the one before it."""
    spans, ops = recording
    if form == "kineto":
        events = [kineto.module(f"{name}_0", 1_000 + start, 1_000 + stop) for name, start, stop in spans]
        for number, (start, stop) in enumerate(ops, 1):
            events += [
                kineto.op("aten::a", 1_000 + start, 1_000 + stop, number),
                kineto.launch(1_000 + start, 1_000 + start + 1, number, number),
                kineto.kernel("k", 50_000 + 2_000 * number, 51_000 + 2_000 * number, number),
            ]
        kineto.write_trace(folder / "rank0.json", events)
        return
    write_profile(
        folder / "0_ascend_pt",
        [
            Op("aten::a", 1_000 + start, 1_000 + stop, (Kernel("k", 50_000 + 2_000 * n, 51_000 + 2_000 * n),))
            for n, (start, stop) in enumerate(ops)
        ],
        [Range(name, 1_000 + start, 1_000 + stop) for name, start, stop in spans],
    )


def found(folder: Path) -> tuple[dict[str, int], dict[str, int], list[str]]:
    """The kernels of each module path, those of each reason outside, and the warnings of both."""
    with open_profile(folder, cache="none") as profile:
        rows = profile.rows("""
            SELECT concat_ws('/', nullif(parent_module, ''), module) AS path, reason, count(*) AS kernel_count
            FROM module.kernel GROUP BY ALL
        """)
        profile.module_stats()
        warnings = [one for one in profile.warnings if "module calls" in one]
    return (
        {row["path"]: row["kernel_count"] for row in rows if row["reason"] is None},
        {row["reason"]: row["kernel_count"] for row in rows if row["reason"] is not None},
        warnings,
    )


def of_whole_calls(count: int) -> dict[str, int]:
    one = {"Net": 2, "Net/Linear": 1, "Net/ReLU": 1, "Net/Head": 1, "Net/Head/Linear": 1, "Net/Head/Norm": 1}
    return {path: kernels * count for path, kernels in one.items()}


# Of the third call of Net that a recording holds up to a moment, or of the first one from a moment on: what is outermost then.
LEFT_BY_AN_END = {
    425: ["Linear"],
    445: ["Linear", "ReLU"],
    458: ["Linear", "ReLU"],
    471: ["Linear", "ReLU", "Linear"],
    495: ["Linear", "ReLU", "Head"],
    500: [],
}
LEFT_BY_A_BEGINNING = {1: ["Linear", "ReLU", "Head"], 15: ["ReLU", "Head"], 45: ["Head"], 65: ["Norm"], 0: []}


def unplaced(recording: Recording) -> list[str]:
    """The classes of the calls of which it is certain that they lay in one that the recording does not hold."""
    spans = sorted(recording[0], key=lambda span: (span[1], -span[2]))
    intervals = [
        {"interval_id": number, "tid": 1, "start_ns": start, "end_ns": end, "kind": "module", "name": name}
        for number, (name, start, end) in enumerate(spans, 1)
    ]
    given: dict[str, list[dict[str, object]]] = {"module.interval": intervals}
    given |= {"module.autograd_task": [], "module.unpaired_task": []}
    found = {row["interval_id"] for row in built("module.unplaced_call", given)}
    return [str(one["name"]) for one in intervals if one["interval_id"] in found]


@pytest.mark.parametrize("end", LEFT_BY_AN_END)
def test_a_call_that_ends_after_the_recording_leaves_what_it_holds_without_a_place(end: int) -> None:
    assert unplaced(passes(3, end=end)) == LEFT_BY_AN_END[end]


@pytest.mark.parametrize("begin", LEFT_BY_A_BEGINNING)
def test_a_call_that_began_before_the_recording_leaves_what_it_holds_without_a_place(begin: int) -> None:
    assert unplaced(passes(3, begin=begin)) == LEFT_BY_A_BEGINNING[begin]


@pytest.mark.parametrize(("form", "end", "cut"), quick([("kineto", 471, 4), ("mstx", 458, 3)], 1))
def test_a_call_that_ends_after_the_recording_gives_no_modules_to_what_it_holds(
    form: str, end: int, cut: int, tmp_path: Path
) -> None:
    write(tmp_path, form, passes(3, end=end))
    modules, outside, warnings = found(tmp_path)
    assert modules == of_whole_calls(2)
    # What comes before the first of the calls may lie outside of every module.
    assert outside == {"outside every module": 1, "cut at the profile edge": cut}
    assert len(warnings) == 1


@pytest.mark.slow
def test_a_call_that_began_before_the_recording_gives_no_modules_to_what_it_holds(tmp_path: Path) -> None:
    write(tmp_path, "kineto", passes(3, begin=15))
    modules, outside, warnings = found(tmp_path)
    assert modules == of_whole_calls(2)
    assert outside == {"cut at the profile edge": 4, "outside every module": 1}
    assert len(warnings) == 1


@pytest.mark.slow
def test_a_module_that_is_also_called_by_itself_is_no_part_of_a_cut_call(tmp_path: Path) -> None:
    """A loss is of the class of a layer: once at the end is no proof, and between two calls it proves the contrary."""
    spans, ops = passes(1)
    write(tmp_path / "once", "mstx", ([*spans, ("Linear", 120, 140)], [*ops, (122, 124)]))
    assert found(tmp_path / "once") == ({**of_whole_calls(1), "Linear": 1}, {}, [])
    spans, ops = passes(3)
    spans += [("Linear", 200 * n + 120, 200 * n + 140) for n in range(3)]
    write(tmp_path / "each", "mstx", (spans, sorted([*ops, *((200 * n + 122, 200 * n + 124) for n in range(3))])))
    assert found(tmp_path / "each") == ({**of_whole_calls(3), "Linear": 3}, {}, [])


def crossing(end: int) -> Iterable[Range]:
    return (Range("A", 1_000, 1_100), Range("B", 1_050, end))


@pytest.mark.slow
def test_calls_that_cross_are_said_with_the_time_that_both_hold(tmp_path: Path) -> None:
    """Of calls that both hold an op the one that began last has its kernels."""
    ops = [Op("aten::a", at, at + 5, (Kernel("k", 2 * at, 2 * at + 10),)) for at in (1_010, 1_060, 1_110)]
    write_profile(tmp_path / "crossing" / "0_ascend_pt", ops, crossing(1_150))
    modules, outside, (warning,) = found(tmp_path / "crossing")
    assert (modules, outside) == ({"A": 1, "B": 2}, {})
    assert "1 (B)" in warning
    assert "10 ns" in warning
    write_profile(tmp_path / "nested" / "0_ascend_pt", ops, crossing(1_100))
    assert found(tmp_path / "nested") == ({"A": 1, "A/B": 1}, {"outside every module": 1}, [])
    with open_profile(tmp_path / "crossing", cache="none", nesting_tolerance_ns=50) as profile:
        assert profile.rows("FROM module.crossing") == []
