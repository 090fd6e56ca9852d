"""Fixtures of the tests of the command."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from prof_analysis.common.user_cache import VARIABLE
from tests.helpers.cli import files_below, write_ranks


@pytest.fixture
def own_ranks(tmp_path: Path) -> Path:
    """The ranks for a test that changes them, or that must see them read."""
    return write_ranks(tmp_path / "ranks")


@pytest.fixture(scope="session")
def unchanged_ranks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = write_ranks(tmp_path_factory.mktemp("of_all_tests") / "ranks")
    before = files_below(folder)
    yield folder
    assert files_below(folder) == before, "a test that changes the ranks takes own_ranks"


@pytest.fixture
def ranks(unchanged_ranks: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ranks, whose answers are kept."""
    monkeypatch.setenv(VARIABLE, str(kept))
    return unchanged_ranks
