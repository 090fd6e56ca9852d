"""The answer of `compare`: the finding, the figures of whole runs, and changes by module, op, kernel, step and cause."""

from __future__ import annotations

from typing import Any

from prof_analysis.analyses.answer import Answer, Block, Facts, said
from prof_analysis.analyses.asked import Compared
from prof_analysis.analyses.comparison_sentences import MOST_OF_TIME, sentences_of
from prof_analysis.analyses.comparison_tables import changes, summary_of
from prof_analysis.engine.quotes import quote_text

# The rows of a table that changed by more than noise, and rows whose noise is not known.
_CHANGED = "change IS NOT NULL AND change <> 'noise'"
# Types of kernels with their shapes that one run alone has.
_IN_ONE_RUN = "coalesce(change IN ('added', 'removed'), false)"
_OUTLIER = "(base_outlier IS NOT NULL OR new_outlier IS NOT NULL)"


def answers_of(comparison: Compared, top: int, *, efficiency: bool = False) -> dict[str, Answer]:
    """Return the answer about each run that is compared with the base, by its name; '' where one was given.

    With `efficiency` it has MFU and bounds of modules too.
    """
    comparison.prepare(efficiency=efficiency)
    found = {run: _answer(comparison, run, top, efficiency) for run in comparison.runs}
    return found if comparison.has_several else {"": next(iter(found.values()))}


def _answer(comparison: Compared, run: str, top: int, efficiency: bool) -> Answer:
    def rows(table: str, condition: str = "true", limit: int | None = top) -> list[dict[str, Any]]:
        first = "" if limit is None else f" LIMIT {limit:d}"
        return [
            {name: value for name, value in row.items() if name != "run"}
            for row in comparison.rows(f"FROM {table} WHERE run = {quote_text(run)} AND {condition}{first}")
        ]

    (size,) = rows("runs.comparison")
    (steps,) = rows("runs.step_count")
    finding = next(iter(rows("runs.comparison_finding")), None)
    # A run is compared with the base, whose ranks can lack others of its job too.
    jobs = comparison.rows(
        f"SELECT run, sentence FROM across.job WHERE sentence IS NOT NULL AND run IN ('base', {quote_text(run)}) ORDER BY run"
    )
    (kernels,) = rows("runs.kernel_share")
    # Kernels of two vendors have other names: line by line, they would be added and removed.
    is_other_device = (kernels["in_one_run_share"] or 0) > MOST_OF_TIME
    of_kernels = f"{_CHANGED} AND NOT ({_IN_ONE_RUN})" if is_other_device else _CHANGED
    facts: Facts = {
        "finding": finding,
        "size": size,
        "summary": rows("runs.comparison_summary", limit=None),
        "modules": rows("runs.module_group", "verdict NOT IN ('same', 'noise')"),
        "ops": rows("runs.op_group", _CHANGED),
        # How many kernels of no unit there are depends on when the recording began.
        "kernels": rows("runs.kernel_comparison", f"{of_kernels} AND place IS NULL"),
        "kernels_in_one_run_share": kernels["in_one_run_share"],
        "communication": rows("runs.communication_comparison", "difference_ns <> 0"),
        "jobs": jobs,
        "step_count": steps,
        "steps": rows("runs.step_comparison", "true" if max(steps["base"], steps["new"]) <= top else _OUTLIER),
        "idle": rows("runs.idle_comparison", "difference_ns <> 0"),
        "passes": rows("runs.pass_comparison"),
        "pass_work": next(iter(rows("runs.pass_work")), None),
        "locations": rows("runs.comparison_location", limit=None),
    }
    if comparison.has_memory:
        facts["memory"] = rows("runs.memory_comparison", "(live_difference_bytes <> 0 OR difference_bytes <> 0)")
    if efficiency:
        facts["efficiency"] = rows("runs.efficiency_comparison")
    if finding is None:  # Memory snapshots have no kernels.
        (facts["memory_total"],) = rows("runs.memory_total")
        first: tuple[Block, ...] = (said(facts["memory_total"]["sentence"]),)
    else:
        first = (said(finding["sentence"]), summary_of(facts["summary"]))
    blocks = (*first, *changes(facts), said(*sentences_of(facts)))
    return Answer("compare", facts, blocks, tuple(comparison.warnings), tuple(comparison.failures))
