"""module.tree and module.coverage: nothing is counted twice, and nothing disappears."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
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
@pytest.mark.slow
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


@pytest.mark.slow
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
