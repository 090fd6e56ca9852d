"""Fixtures of the tests of the command."""

from pathlib import Path

import pytest

from tests.helpers.cli import OPS, RANGES, STEPS
from tests.helpers.small_profile import write_profile


@pytest.fixture
def ranks(tmp_path: Path) -> Path:
    """A folder of two equal ranks: 3 us in Net/Layer, 1 us in Net, 6 us outside modules."""
    for rank in (0, 1):
        write_profile(tmp_path / "ranks" / f"{rank}_ascend_pt", OPS, RANGES, steps=STEPS, rank=rank)
    return tmp_path / "ranks"
