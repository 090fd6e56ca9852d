"""Two memory snapshots are compared by call site, though they have no kernels."""

from pathlib import Path

import pytest

from prof_analysis import InputError, compare
from prof_analysis.analyses.comparison import answers_of
from tests.helpers.snapshots import MIB, Allocator, snapshot, stack, write


def run_of(folder: Path, sizes: dict[int, int]) -> Path:
    """Write a snapshot in which each line of model.py holds so many MiB."""
    device = Allocator()
    device.segment(0, 200 * MIB)
    for number, (line, size) in enumerate(sizes.items()):
        device.alloc(number * 20 * MIB, size * MIB, stack(line))
    return write(folder / "snapshot.pickle", snapshot(device))


def test_call_sites_show_what_changed(tmp_path: Path) -> None:
    base, new = run_of(tmp_path / "base", {1: 4, 2: 8}), run_of(tmp_path / "new", {1: 4, 2: 16, 3: 1})
    with compare(base, new) as comparison:
        rows = comparison.memory()
        answer = answers_of(comparison, 10)[""]
    site = "/home/jane/model.py({}): forward"
    assert rows[["site", "base_live_bytes", "new_live_bytes", "live_difference_bytes"]].values.tolist() == [
        [site.format(2), 8 * MIB, 16 * MIB, 8 * MIB],
        [site.format(3), 0, MIB, MIB],
        [site.format(1), 4 * MIB, 4 * MIB, 0],
    ]
    assert answer.facts["finding"] is None
    assert answer.facts["memory_total"]["live_difference_bytes"] == 9 * MIB
    assert [row["site"] for row in answer.facts["memory"]] == [site.format(2), site.format(3)]


def test_without_kernels_and_without_memory_there_is_nothing_to_compare(tmp_path: Path) -> None:
    file = run_of(tmp_path / "base", {1: 4})
    with pytest.raises(InputError), compare(file, tmp_path / "gone") as comparison:
        comparison.memory()
