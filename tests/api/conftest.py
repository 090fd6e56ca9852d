"""Fixtures of the tests of the Python API."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from prof_analysis import Profile, open_profile
from tests.helpers.api import OPS, RANGES, STEPS, UNLINKED
from tests.helpers.asking import build_at_once
from tests.helpers.small_profile import edit, write_profile


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """Two equal ranks, the second without a number, open for all tests that only ask."""
    folder = tmp_path_factory.mktemp("shared")
    for name, rank in (("a", 0), ("b", None)):
        database = write_profile(folder / f"{name}_ascend_pt", OPS, RANGES, UNLINKED, STEPS, rank=rank)
        edit(database, "INSERT INTO STRING_IDS VALUES (900, '2,3;3,4'), (901, 'float;float')")
        edit(database, "UPDATE PYTORCH_API SET sequenceNumber = 5, inputShapes = 900, inputDtypes = 901 WHERE startNs = '130'")
    with open_profile(folder) as profile:
        build_at_once(
            profile, "module-stats", "module.kernel", "module.interval", "module.path", "trace.op", "trace.step",
            "kernel-stats", "op-stats", "communication-stats", "mstx-stats",
        )  # fmt: skip
        yield profile


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A folder of one rank, number 0."""
    write_profile(tmp_path / "one" / "a_ascend_pt", OPS, RANGES, UNLINKED, STEPS)
    return tmp_path / "one"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A folder of two equal ranks, numbers 0 and 3."""
    for folder, rank in (("a", 0), ("b", 3)):
        write_profile(tmp_path / "two" / f"{folder}_ascend_pt", OPS, RANGES, UNLINKED, STEPS, rank=rank)
    return tmp_path / "two"
