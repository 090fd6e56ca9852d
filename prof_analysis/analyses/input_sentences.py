"""What the answers about steps and idle time say of the pipeline on the host that feeds the device with data."""

from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, rank_name, several

_MOST = 3


def inputs_of(profile: Tables) -> list[dict[str, Any]]:
    """Return the pipelines of the ranks, the one whose queue was empty most often first."""
    return profile.rows("FROM step.input ORDER BY empty_share DESC NULLS LAST, profile")


def of_inputs(inputs: list[dict[str, Any]]) -> Iterator[str]:
    """Yield sentences: how often the queue before the device was empty, how long a batch takes, which op is slowest."""
    for row in inputs[:_MOST]:
        parts = []
        if row["empty_share"] is not None:
            queue = f"the queue of {row['queue_op']}" if row["queue_op"] else "the queue"
            parts.append(f"{queue} that feeds the device was empty in {percent(row['empty_share'])} of the samples")
        if row["batch_ns"] is not None:
            known = [what for what in ("pipeline", "push") if row[f"{what}_ns"] is not None]
            inside = ", ".join(f"{what} {duration(row[f'{what}_ns'])}" for what in known)
            parts.append(f"a batch takes {duration(row['batch_ns'])}" + (f" ({inside})" if inside else ""))
        if row["slowest_op"] is not None:
            parts.append(f"slowest is {row['slowest_op']}, {_slowest(row)}")
        of = f" of rank {rank_name(row)}" if len(inputs) > 1 else ""
        yield f"input pipeline{of}: {'; '.join(parts)}"
    if len(inputs) > _MOST:
        yield f"{several(len(inputs) - _MOST, 'more input pipeline')}, whose queues were empty no more often"


def _slowest(row: Mapping[str, Any]) -> str:
    if row["slowest_ns"] is not None:
        return f"{duration(row['slowest_ns'])} in {several(row['slowest_calls'], 'call')}"
    return f"each of its workers busy {percent(row['slowest_share'])}"
