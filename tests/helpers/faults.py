"""Throws what nobody foresees at stages of a rank, and says what must be left of the answer."""

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prof_analysis import ProfAnalysisWarning, Profile
from tests.helpers.frames import arrow_of

# Wraps the statements of DuckDB, so that one of a rank throws what nobody foresees.
LIBRARY = """
import os, signal, weakref, duckdb

AT = {"1_ascend_pt": 'CREATE TABLE stored."raw.', "2_ascend_pt": 'CREATE TABLE module.', "3_ascend_pt": "COPY (",
      "4_ascend_pt": os.environ.get("DIES_AT", "nowhere")}
profiles = weakref.WeakKeyDictionary()
execute = duckdb.DuckDBPyConnection.execute


def execute_or_fail(connection, statement, parameters=None):
    sql = getattr(statement, "query", statement)
    if "VARIABLE \\"profile\\"" in sql:
        profiles[connection] = parameters["value"]
    profile = profiles.get(connection)
    if AT.get(profile, "nowhere") in sql:
        if profile == "4_ascend_pt":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ZeroDivisionError(f"of {profile}")
    return execute(connection, statement, parameters)


duckdb.DuckDBPyConnection.execute = execute_or_fail
"""
DEFECT = "cannot be analysed: a defect of prof-analysis, please report it with --debug (ZeroDivisionError: of {0})"


@contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Fail what takes longer than so many seconds; Windows has no alarm, so there it is not limited."""
    if sys.platform == "win32":
        yield
        return

    def fail(*_: object) -> None:
        raise TimeoutError(f"hangs for {seconds} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(profile: Profile, folder: Path, failing: int = 3) -> None:
    """Hold the answer of six ranks, of which the first few after rank 0 failed, against what is expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProfAnalysisWarning)
        times = arrow_of(profile.module_stats()).to_pylist()
    good = [rank for rank in range(6) if not 1 <= rank <= failing]
    assert [(row["rank_id"], row["total_kernel_duration_ns"]) for row in times] == [(rank, 40 + rank) for rank in good]
    assert profile.failures[:3] == [
        f"{folder / name}: {DEFECT.format(name)}" for name in ("1_ascend_pt", "2_ascend_pt", "3_ascend_pt")
    ]
    assert len(profile.failures) == failing
    assert "ZeroDivisionError" in profile.details[0]
