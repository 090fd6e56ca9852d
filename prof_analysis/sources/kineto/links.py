"""Links work on the device to the calls that launched it where a trace has no correlations.

Some writers on ROCm record `External id` alone: of a call the number of its own flow (ac2g), which its kernel has too. In all
other traces that is the number of the op around the call.
"""

from collections.abc import Mapping

import duckdb

from prof_analysis.engine.statements import run
from prof_analysis.sources.readers.event_tables import stored

_CALLS = "raw.runtime_call"
_LINKED = ("raw.device_work", _CALLS)


def with_external_ids(wanted: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return the wanted columns, and the numbers that link_by_external_ids() may take for correlations."""
    return {
        name: columns | {"external_id"} if name in _LINKED and "correlation" in columns else columns
        for name, columns in wanted.items()
    }


def link_by_external_ids(connection: duckdb.DuckDBPyConnection, wanted: Mapping[str, frozenset[str]]) -> None:
    """Take external ids for correlations where no event has a correlation, and no two calls have one external id.

    Calls of one op share its number, and so do their kernels: which call launched which kernel is then not known.
    """
    tables = [name for name in _LINKED if "external_id" in wanted.get(name, ())]
    # In order: most traces have correlations, and to look for equal ids of their calls would take them longest.
    conditions = [(name, "count(correlation) = 0") for name in tables]
    if _CALLS in tables:
        conditions.append((_CALLS, "count(DISTINCT external_id) = count(external_id)"))
    for name, condition in conditions:
        ((holds,),) = run(connection, f"SELECT {condition} FROM {stored(name)}").fetchall()
        if not holds:
            return
    for name in tables:
        run(connection, f"UPDATE {stored(name)} SET correlation = external_id")
