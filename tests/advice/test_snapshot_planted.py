"""What fills the memory of a device, planted into a memory snapshot, which `advise` reads alone."""

from pathlib import Path

import pytest

from prof_analysis import open_profile
from tests.helpers.asking import found_by
from tests.helpers.says import says
from tests.helpers.snapshots import MIB, Allocator, snapshot, stack, write

GIB = 1024 * MIB
RULES = "inactive_split", "largest_holders", "out_of_memory"


def full(is_expandable: bool = False) -> dict[str, object]:
    """Two segments of 4 GiB, in each of which 1 GiB is free between two blocks; then 2 GiB are not to be had."""
    one = Allocator()
    for number in range(2):
        one.segment(begin := 4 * GIB * number, 4 * GIB)
        one.alloc(begin, GIB, stack(1))
        one.alloc(begin + GIB, GIB, stack(2))
        one.alloc(begin + 2 * GIB, 2 * GIB, stack(3))
        one.free(begin + GIB)
    one.oom(2 * GIB, 100 * MIB, stack(4))
    written = snapshot(one)
    for segment in written["segments"]:
        segment["is_expandable"] = is_expandable
    return written


@pytest.mark.parametrize("is_expandable", [False, True])
def test_a_snapshot_alone_says_what_filled_the_device_and_why_it_could_not_be_used(is_expandable: bool, tmp_path: Path) -> None:
    file = write(tmp_path / "snapshot.pickle", full(is_expandable))
    with open_profile(file) as profile:
        shown = profile.advise()
        found = {row["rule"]: row for row in found_by(profile, *RULES)}
    sites = [f"model.py({line}): forward" for line in (3, 1, 2)]
    assert {rule: row["evidence"] for rule, row in found.items()} == {
        "inactive_split": says("8.00 GiB reserved", "2.00 GiB (25.0%)", "2 parts", "largest has 1.00 GiB"),
        "largest_holders": says("7.00 GiB at the peak", "7.00 GiB (100.0%)", *sites),
        "out_of_memory": says("2.00 GiB", "6.00 GiB were allocated", "8.00 GiB reserved", "model.py(3): forward (4.00 GiB)"),
    }
    assert {row["kind"] for row in found.values()} == {"hint"}
    advised = [rule for rule, row in found.items() if "expandable_segments:True in" in row["what_to_do"]]
    assert sorted(advised) == ([] if is_expandable else ["inactive_split", "out_of_memory"])
    assert set(shown["rule"]) == {*RULES}


def test_ranks_that_are_snapshots_are_counted_in_the_evidence(tmp_path: Path) -> None:
    for number in range(2):
        write(tmp_path / f"rank{number}.pickle", full())
    with open_profile(tmp_path) as profile:
        shown = profile.advise()
    assert shown["evidence"].tolist() == [says("alike on both ranks")] * len(RULES)
