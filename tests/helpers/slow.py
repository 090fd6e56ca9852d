"""Which cases of a family of tests run in the quick suite."""

from collections.abc import Iterable
from typing import Any

import pytest


def quick(cases: Iterable[Any], *positions: int) -> list[Any]:
    """Mark all cases as slow but those of these positions, counted from 0."""
    return [case if position in positions else _slow(case) for position, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    if hasattr(case, "marks"):
        return pytest.param(*case.values, id=case.id, marks=pytest.mark.slow)
    return (
        pytest.param(*case, marks=pytest.mark.slow) if isinstance(case, tuple) else pytest.param(case, marks=pytest.mark.slow)
    )
