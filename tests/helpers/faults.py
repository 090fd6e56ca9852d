"""Throws what nobody foresees at stages of a rank, and says what must be left of the answer."""

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prof_analysis import ProfAnalysisWarning, Profile
from tests.helpers.frames import arrow_of

# Wraps the connections of DuckDB, so that a statement of a rank throws what nobody foresees.
LIBRARY = """
import os, signal, duckdb

AT = {"1_ascend_pt": 'CREATE TABLE stored."raw.', "2_ascend_pt": 'CREATE TABLE stored."module.', "3_ascend_pt": "COPY (",
      "4_ascend_pt": os.environ.get("DIES_AT", "nowhere")}


class Connection:
    def __init__(self, connection):
        self.connection, self.profile = connection, None

    def execute(self, statement, parameters=None):
        sql = getattr(statement, "query", statement)
        if "VARIABLE \\"profile\\"" in sql:
            self.profile = parameters["value"]
        if AT.get(self.profile, "nowhere") in sql:
            if self.profile == "4_ascend_pt":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ZeroDivisionError(f"of {self.profile}")
        self.connection.execute(statement, parameters)
        return self

    def __getattr__(self, name):
        return getattr(self.connection, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.connection.close()


connect = duckdb.connect
duckdb.connect = lambda *words, **options: Connection(connect(*words, **options))
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
