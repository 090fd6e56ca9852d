"""The rows of the picture of one step: the step, its rank, and the events in it, short ones together."""

from collections.abc import Sequence
from typing import Any

from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import count, duration, rank_name
from prof_analysis.common.errors import InputError
from prof_analysis.engine.quotes import quote_text
from prof_analysis.pictures.figures.style import label
from prof_analysis.pictures.figures.tree import Row

Rows = list[dict[str, Any]]
_CALLS = "FROM timeline.{usual}drawn_call WHERE {of_step} ORDER BY lane, depth, since_ns"
_KERNELS = """
    SELECT * REPLACE (kind::VARCHAR AS kind)
    FROM timeline.{usual}drawn_kernel
    WHERE {of_step}
    ORDER BY since_ns, until_ns
"""
_GAPS = "FROM timeline.{usual}drawn_gap WHERE {of_step} ORDER BY since_ns"


def step_of(steps: Sequence[Row], step: int | None, rank: int | str | None) -> Row:
    """Return the row of a step of a rank; by default of the first rank, and the step whose length is in the middle.

    Raises InputError when there is none.
    """
    ranks = {row["profile"]: row for row in steps}
    if rank is None:
        profile = next(
            iter(sorted(ranks, key=lambda one: (ranks[one]["rank_id"] is None, ranks[one]["rank_id"] or 0, one))), None
        )
    else:
        profile = next((one for one, row in ranks.items() if rank in (one, row["rank_id"])), None)
    if profile is None:
        whose = "rank" if rank is None else f"rank {rank}"
        raise InputError(f"no {whose} with kernels; ranks() shows the ranks, and the data that they lack")
    of_rank = sorted(
        (row for row in steps if row["profile"] == profile), key=lambda row: (row["end_ns"] - row["start_ns"], row["start_ns"])
    )
    if step is None:
        return of_rank[(len(of_rank) - 1) // 2]
    found = next((row for row in of_rank if row["step_id"] == step), None)
    if found is None:
        known = sorted(row["step_id"] for row in of_rank if row["step_id"] is not None)
        there = f"the steps are {known[0]} to {known[-1]}" if known else "the profile has no steps"
        raise InputError(f"there is no step {step} in rank {rank_name(of_rank[0])}; {there}")
    return found


def timeline_rows(profile: Tables, step: Row, usual: str) -> tuple[Rows, Rows, Rows, int, str]:
    """Return module calls, kernels and gaps of a step, its length, and a line about it.

    `usual` is "usual_" where the step is that of timeline.usual_step, so that tables of this step suffice; else "".
    """
    begin, length = step["start_ns"], step["end_ns"] - step["start_ns"]
    of_rank = f"profile = {quote_text(step['profile'])}"
    of_step = of_rank if step["step_id"] is None else f"{of_rank} AND step_id = {step['step_id']:d}"
    calls, kernels, gaps = (profile.rows(query.format(of_step=of_step, usual=usual)) for query in (_CALLS, _KERNELS, _GAPS))
    stacks = profile.rows(
        f"""
        SELECT start_ns - {begin:d} AS since_ns, python_stack
        FROM free.longest_gap
        WHERE {of_rank} AND python_stack IS NOT NULL
        """
    )
    stack_of = {row["since_ns"]: row["python_stack"] for row in stacks}
    for row in gaps:
        row["python_stack"] = stack_of.get(row["since_ns"]) if row["row_count"] == 1 else None
    what = "whole profile" if step["step_id"] is None else f"step {step['step_id']}"
    stream = f"modules on stream {calls[0]['stream_id']}" if calls and calls[0]["stream_id"] is not None else ""
    kernel_count = sum(row["row_count"] for row in kernels)
    note = f"rank {label(rank_name(step))}, {what}: {duration(length)}, {count(kernel_count)} kernels"
    return calls, kernels, gaps, length, "; ".join(filter(None, (note, stream)))
