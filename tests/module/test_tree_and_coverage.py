"""module.tree and module.coverage: nothing is counted twice, and nothing disappears."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prof_analysis import open_profile
from prof_analysis.profile.profile import Profile
from tests.helpers.small_profile import Kernel, Op, Range, edit, write_profile

INSIDE, OUTSIDE, UNLINKED = "inside modules", "outside modules", "linked to no op"
NOWHERE, HOOKS, NO_LAUNCH, CUT = "outside every module", "gradient hooks", "no host launch", "cut at the profile edge"
REASONS: dict[object, set[str | None]] = {INSIDE: {None}, OUTSIDE: {None, NOWHERE, HOOKS, CUT}, UNLINKED: {None, NO_LAUNCH}}
ENGINE = "autograd::engine::evaluate_function: "
RANDOM = settings(max_examples=8, deadline=None, print_blob=True)


def rows(profile: Profile, table: str) -> list[tuple[Any, ...]]:
    found = profile.sql(f"SELECT * EXCLUDE (profile, rank_id) FROM {table}", arrow=True)
    return [tuple(row.values()) for row in found.to_pylist()]


def kernel(start: int, duration: int, kind: str = "compute") -> Kernel:
    return Kernel(f"{kind}_kernel", start, start + duration, kind)


def test_own_time_is_that_of_the_module_and_inclusive_time_that_of_all_inside(tmp_path: Path) -> None:
    ops = [
        Op("a", 110, 120, (kernel(1000, 1),)),
        Op("b", 140, 150, (kernel(1100, 10),)),
        Op("b", 170, 180, (kernel(1200, 30), kernel(1300, 60, "communication"))),
        Op("c", 310, 320, (kernel(1400, 100),)),
        Op("d", 500, 510, (kernel(1500, 300),)),
    ]
    ranges = [Range("Net", 100, 200), Range("L", 130, 190), Range("M", 135, 160), Range("M", 165, 185), Range("Net", 300, 400)]
    write_profile(tmp_path, ops, ranges, unlinked=[kernel(1600, 499)])
    with open_profile(tmp_path) as profile:
        tree, coverage = rows(profile, "module.tree"), rows(profile, "module.coverage")
    assert tree == [
        ("", "Net", 1, 2, 101, 201, 0.201, 100.5),
        ("Net", "L", 2, 1, 0, 100, 0.1, 100.0),
        ("Net/L", "M", 3, 2, 100, 100, 0.1, 50.0),
    ]
    assert coverage == [
        ("compute", INSIDE, None, 4, 141, 141 / 940, None),
        ("compute", OUTSIDE, NOWHERE, 1, 300, 300 / 940, "d"),
        ("compute", UNLINKED, NO_LAUNCH, 1, 499, 499 / 940, None),
        ("communication", INSIDE, None, 1, 60, 1.0, None),
        ("communication", OUTSIDE, None, 0, 0, 0.0, None),
        ("communication", UNLINKED, None, 0, 0, 0.0, None),
    ]


def test_the_backward_counts_the_forward_calls_that_had_one_or_enclose_one(tmp_path: Path) -> None:
    """Two calls of Net with two of L each; the second Net has no backward, and of the first only its inner modules have."""
    ops = [
        Op("mm", 120, 125, (kernel(1000, 1),)),
        Op("mm", 150, 155, (kernel(1010, 1),)),
        Op("mm", 220, 225, (kernel(1020, 1),)),
        Op("mm", 250, 255, (kernel(1030, 1),)),
        Op("MmBackward", 300, 305, (kernel(1040, 20),), tid=2, backward_of=1),
        Op("MmBackward", 310, 315, (kernel(1060, 40),), tid=2, backward_of=0),
    ]
    ranges = [
        *(Range("Net", start, start + 90) for start in (100, 200)),
        *(Range("L", start, start + 20) for start in (110, 140, 210, 240)),
    ]
    write_profile(tmp_path, ops, ranges)
    with open_profile(tmp_path) as profile:
        tree = rows(profile, "module.tree")
    assert tree == [
        ("", "Net", 1, 2, 0, 4, 4 / 64, 2.0),
        ("Net", "L", 2, 4, 4, 4, 4 / 64, 1.0),
        ("", "[Backward]Net", 1, 1, 0, 60, 60 / 64, 60.0),
        ("Net", "[Backward]L", 2, 2, 60, 60, 60 / 64, 30.0),
    ]


def test_a_backward_in_several_runs_is_one_call(tmp_path: Path) -> None:
    ops = [
        Op("a", 110, 115, (kernel(1000, 1),)),
        Op("b", 120, 125, (kernel(1010, 1),)),
        Op("c", 210, 215, (kernel(1020, 1),)),
        Op("bBackward", 300, 305, (kernel(1030, 10),), tid=2, backward_of=1),
        Op("cBackward", 310, 315, (kernel(1040, 5),), tid=2, backward_of=2),
        Op("aBackward", 320, 325, (kernel(1050, 20),), tid=2, backward_of=0),
    ]
    write_profile(tmp_path, ops, [Range("A", 100, 150), Range("C", 200, 250)])
    with open_profile(tmp_path) as profile:
        tree = rows(profile, "module.tree")
    assert tree == [
        ("", "A", 1, 1, 2, 2, 2 / 38, 2.0),
        ("", "C", 1, 1, 1, 1, 1 / 38, 1.0),
        ("", "[Backward]A", 1, 1, 30, 30, 30 / 38, 30.0),
        ("", "[Backward]C", 1, 1, 5, 5, 5 / 38, 5.0),
    ]


def test_modules_without_kernels_are_in_the_tree_with_no_time(tmp_path: Path) -> None:
    write_profile(tmp_path, [Op("mm", 500, 510, (kernel(1000, 8),))], [Range("Net", 100, 200), Range("L", 110, 120)])
    with open_profile(tmp_path) as profile:
        tree = rows(profile, "module.tree")
    assert tree == [("", "Net", 1, 1, 0, 0, 0.0, 0.0), ("Net", "L", 2, 1, 0, 0, 0.0, 0.0)]


def test_shares_of_no_time_at_all_are_unknown(tmp_path: Path) -> None:
    write_profile(tmp_path, [Op("mm", 110, 120, (kernel(1000, 0),))], [Range("Net", 100, 200)])
    with open_profile(tmp_path) as profile:
        tree, coverage = rows(profile, "module.tree"), rows(profile, "module.coverage")
    assert tree == [("", "Net", 1, 1, 0, 0, None, 0.0)]
    assert coverage == [
        ("compute", INSIDE, None, 1, 0, None, None),
        ("compute", OUTSIDE, None, 0, 0, None, None),
        ("compute", UNLINKED, None, 0, 0, None, None),
    ]


def test_a_profile_without_kernels_has_a_tree_and_no_coverage_rows(tmp_path: Path) -> None:
    write_profile(tmp_path, [Op("mm", 110, 120)], [Range("Net", 100, 200)])
    with open_profile(tmp_path) as profile:
        tree, coverage = rows(profile, "module.tree"), rows(profile, "module.coverage")
    assert tree == [("", "Net", 1, 1, 0, 0, None, 0.0)]
    assert coverage == []


def test_times_of_years_add_up_to_the_nanosecond(tmp_path: Path) -> None:
    year = 31_556_952_000_000_000
    ops = [Op("mm", 110 + n, 111 + n, (kernel(year, year + 1),)) for n in range(5)]
    write_profile(tmp_path, ops, [Range("Net", 100, 200)])
    with open_profile(tmp_path) as profile:
        tree, coverage = rows(profile, "module.tree"), rows(profile, "module.coverage")
    assert [(row[4], row[5]) for row in tree] == [(5 * (year + 1), 5 * (year + 1))]
    assert coverage[0] == ("compute", INSIDE, None, 5, 5 * (year + 1), 1.0, None)


kinds = st.sampled_from(["compute", "communication", "schedule"])
kernels = st.builds(kernel, st.integers(1000, 2000), st.integers(0, 50), kinds)
ranges_of_any_shape = st.builds(
    lambda name, start, length, tid: Range(name, start, start + length, tid),
    st.sampled_from("ABC"),
    st.integers(0, 100),
    st.integers(0, 60),
    st.integers(1, 2),
)


op_names = st.sampled_from(["a", "b", f"{ENGINE}X", f"{ENGINE}torch::autograd::AccumulateGrad"])


@st.composite
def ops_with_backward(draw: st.DrawFn) -> list[Op]:
    """Ops by start, as the writer numbers them; some are the backward of one before them."""
    starts = sorted(draw(st.lists(st.integers(0, 150), max_size=14)))
    ops: list[Op] = []
    for position, start in enumerate(starts):
        free = [n for n in range(position) if ops[n].backward_of is None and n not in {op.backward_of for op in ops}]
        forward = draw(st.sampled_from([None, *free]))
        launched = tuple(draw(st.lists(kernels, max_size=2)))
        ops.append(Op(draw(op_names), start, start + draw(st.integers(0, 12)), launched, draw(st.integers(1, 2)), forward))
    return ops


@RANDOM
@given(ops_with_backward(), st.lists(ranges_of_any_shape, max_size=10), st.lists(kernels, max_size=3))
def test_all_kernel_time_is_somewhere_once(ops: list[Op], ranges: list[Range], unlinked: list[Kernel]) -> None:
    with TemporaryDirectory() as folder:
        write_profile(Path(folder), ops, ranges, unlinked)
        with open_profile(folder) as profile:
            profile.sql("SELECT 1 FROM module.tree, module.coverage, module.statistic")  # builds all three in one go
            tree, coverage = rows(profile, "module.tree"), rows(profile, "module.coverage")
            statistic = rows(profile, "module.statistic")
            # Of calls of few classes in any order, some look as if the calls around them were cut.
            unplaced = rows(profile, "module.unplaced_interval")
            modules = {row[0] for row in rows(profile, "module.interval") if row[4] == "module"}
            unplaced_calls = len(modules & {row[0] for row in unplaced})

    launched = [one for op in ops for one in op.kernels]
    time_by_kind: Counter[str] = Counter()
    count_by_kind: Counter[str] = Counter()
    for one in launched + unlinked:
        time_by_kind[one.kind] += one.end - one.start
        count_by_kind[one.kind] += 1
    for kind, total in time_by_kind.items():
        places = [row for row in coverage if row[0] == kind]
        assert list(dict.fromkeys(row[1] for row in places)) == [INSIDE, OUTSIDE, UNLINKED]
        assert len({row[1:3] for row in places}) == len(places)
        for _, place, reason, kernel_count, *_ in places:
            assert reason in REASONS[place]
            assert (reason is None) == (place == INSIDE or kernel_count == 0)
        assert sum(row[3] for row in places) == count_by_kind[kind]
        assert sum(row[4] for row in places) == total
        assert [row[5] for row in places] == [row[4] / total if total else None for row in places]
    assert {row[0] for row in coverage} == count_by_kind.keys()
    assert sum(row[4] for row in coverage if row[1] == UNLINKED) == sum(one.end - one.start for one in unlinked)

    inside = sum(row[4] for row in coverage if row[1] == INSIDE)
    all_time = sum(time_by_kind.values())
    assert sum(row[4] for row in tree) == inside
    assert sum(row[5] for row in tree if row[2] == 1) == inside
    assert sum(row[4] for row in statistic) == inside
    assert all(row[5] == row[4] / row[6] for row in statistic)

    is_backward = [row[1].startswith("[Backward]") for row in tree]
    paths = [f"{row[0]}/{row[1].removeprefix('[Backward]')}".removeprefix("/") for row in tree]
    for row, path, backward in zip(tree, paths, is_backward, strict=True):
        children = [child for child, other in zip(tree, is_backward, strict=True) if child[0] == path and other == backward]
        assert row[5] == row[4] + sum(child[5] for child in children)
        assert row[2] == path.count("/") + 1
        assert row[6:] == (row[5] / all_time if all_time else None, row[5] / row[3])
    forward_calls = sum(row[3] for row, backward in zip(tree, is_backward, strict=True) if not backward)
    assert forward_calls <= len(ranges)
    if not any(op.backward_of is not None for op in ops):
        assert forward_calls + unplaced_calls == len(ranges)
        assert not any(is_backward)


def test_a_chosen_step_has_only_the_kernels_and_calls_of_that_step(tmp_path: Path) -> None:
    ops = [
        Op("mm", 110, 120, (kernel(1000, 1),)),
        Op("mm", 210, 220, (kernel(2000, 20), kernel(2100, 5, "communication"))),
        Op("mm", 290, 295, (kernel(2200, 300),)),
    ]
    path = write_profile(tmp_path, ops, [Range("Net", 100, 150), Range("Net", 200, 250)], unlinked=[kernel(2300, 4000)])
    edit(path, "INSERT INTO STEP_TIME VALUES (7, 100, 200), (8, 200, 300)")
    with open_profile(tmp_path, step_id=8) as profile:
        tree, coverage = rows(profile, "module.tree"), rows(profile, "module.coverage")
    assert tree == [("", "Net", 1, 1, 25, 25, 25 / 325, 25.0)]
    assert coverage == [
        ("compute", INSIDE, None, 1, 20, 20 / 320, None),
        ("compute", OUTSIDE, NOWHERE, 1, 300, 300 / 320, "mm"),
        ("compute", UNLINKED, None, 0, 0, 0.0, None),
        ("communication", INSIDE, None, 1, 5, 1.0, None),
        ("communication", OUTSIDE, None, 0, 0, 0.0, None),
        ("communication", UNLINKED, None, 0, 0, 0.0, None),
    ]


def test_a_module_whose_forward_runs_again_in_a_backward_is_one_call_there(tmp_path: Path) -> None:
    ops = [
        Op("checkpoint", 110, 120, (Kernel("k", 1000, 1001),)),
        Op("CheckpointBackward", 200, 300, (Kernel("k", 1100, 1103),), tid=2, backward_of=0),
        Op("mm", 220, 230, (Kernel("k", 1200, 1210),), tid=2),
        Op("MmBackward", 260, 270, (Kernel("k", 1300, 1320),), tid=2, backward_of=2),
    ]
    write_profile(tmp_path, ops, [Range("Net", 100, 150), Range("L", 210, 250, tid=2)])
    with open_profile(tmp_path) as profile:
        tree = profile.table("module.tree").drop(columns=["profile", "rank_id"])
    assert [tuple(row) for row in tree.itertuples(index=False)] == [
        ("", "Net", 1, 1, 1, 1, 1 / 34, 1.0),
        ("", "[Backward]Net", 1, 1, 3, 33, 33 / 34, 33.0),
        ("Net", "[Backward]L", 2, 1, 30, 30, 30 / 34, 30.0),
    ]
