"""Fixtures of the tests of the tables."""

import pytest


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["guards shut", "guards open"])
def audit_links(request: pytest.FixtureRequest) -> bool:
    """With all links audited, every launch is doubtful, and the tables behind that guard are built."""
    return bool(request.param)
