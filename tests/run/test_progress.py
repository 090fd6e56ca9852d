"""Progress: it moves while a rank is read and while its tables are built, never falls, and ends when all is done."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fixtures.text_export import export_text
from prof_analysis import ProfAnalysisWarning, open_profile
from prof_analysis.engine.tables import documented_tables
from prof_analysis.run import machine
from prof_analysis.run.progress import WEIGHTS
from tests.helpers.small_profile import Kernel, Op, Range, write_profile

OPS = (Op("aten::mm", 110, 120, (Kernel("mm_kernel", 1000, 1040),)),)
RANGES = (Range("Net", 100, 200),)


@pytest.fixture
def two(tmp_path: Path) -> Path:
    for rank in range(2):
        write_profile(tmp_path / "ranks" / f"{rank}_ascend_pt", OPS, RANGES, rank=rank)
    return tmp_path / "ranks"


class Bar:
    """What a bar over the work has shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[int, int]] = []

    def __call__(self, done: int, work: int) -> None:
        self.shown.append((done, work))

    @property
    def shares(self) -> list[Fraction]:
        return [Fraction(done, work) for done, work in self.shown]


def asked(path: Path, **options: Any) -> Bar:
    """Ask a question, and return what a bar has shown once it has risen to the end."""
    bar = Bar()
    with open_profile(path, on_progress=bar, **options) as profile:
        profile.module_stats()
    assert all(before < after for before, after in pairwise(bar.shares)), "it never falls"
    assert bar.shares[-1] == 1
    assert all(share < 1 for share in bar.shares[:-1]), "it ends once"
    assert all(work <= size_of(path) for _, work in bar.shown)
    return bar


def size_of(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def test_one_rank_moves_the_bar_while_it_is_read_and_while_its_tables_are_built(two: Path) -> None:
    shares = asked(two / "0_ascend_pt").shares
    assert sum(share <= Fraction(2, 5) for share in shares) > 2, "of a database, reading takes two fifths"
    assert sum(share > Fraction(2, 5) for share in shares) > 20
    assert max(after - before for before, after in pairwise([Fraction(0), *shares])) < Fraction(1, 5)


@pytest.mark.slow
def test_of_text_exports_reading_is_most_of_the_work(two: Path) -> None:
    (database,) = (two / "0_ascend_pt").rglob("*.db")
    export_text(database)
    database.unlink()
    shares = asked(two / "0_ascend_pt").shares
    assert any(Fraction(1, 2) < share < Fraction(3, 4) for share in shares)
    assert sum(share > Fraction(3, 4) for share in shares) > 20


@pytest.mark.slow
def test_ranks_in_threads_and_in_processes_move_it_alike(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = asked(two)
    monkeypatch.setattr(machine, "_WORTH_PROCESSES_BYTES", 0)
    in_processes = asked(two, workers=2)
    assert here.shown[-1] == in_processes.shown[-1] == (size_of(two), size_of(two))
    assert len(in_processes.shares) > 3, "workers say how far they are before they have ended"


@pytest.mark.slow
def test_a_chosen_step_does_not_make_it_begin_anew(tmp_path: Path) -> None:
    write_profile(tmp_path / "a_ascend_pt", OPS, RANGES, steps=((3, 50, 500),))
    asked(tmp_path, step_id=3)


@pytest.mark.slow
def test_what_is_kept_is_no_work(two: Path, tmp_path: Path) -> None:
    """Kernels are kept of one rank, so it has less to do than the other."""
    store = tmp_path / "store"
    with open_profile(two, cache=store, rank_list=[0]) as profile:
        profile.kernels()
    assert asked(two, cache=store).shown[-1][1] < size_of(two)


def test_a_rank_that_fails_leaves_no_work(two: Path) -> None:
    bar = Bar()
    with open_profile(two, on_progress=bar) as profile:
        (database,) = (two / "0_ascend_pt").rglob("*.db")
        database.write_bytes(database.read_bytes()[:8192])
        with pytest.warns(ProfAnalysisWarning):
            assert profile.module_stats()["rank_id"].tolist() == [1]
    assert bar.shares[-1] == 1


def test_tables_with_a_weight_are_tables() -> None:
    assert WEIGHTS.keys() <= documented_tables().keys()
