"""The grain of a table: one rank, the ranks of one run, all runs, or logs. Its folder decides it."""

from collections.abc import Mapping
from functools import cache
from typing import Literal

Grain = Literal["rank", "job", "runs", "log"]
# The folders whose tables are not about one rank.
_GRAINS: Mapping[str, Grain] = {"across": "job", "advice": "job", "runs": "runs", "verify": "job", "vllm": "log"}


@cache  # Each query asks it of all tables.
def grain_of(name: str) -> Grain:
    """Return the grain of a table, or of the tables in a folder."""
    return _GRAINS.get(name.partition(".")[0], "rank")
