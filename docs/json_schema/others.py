"""The keys of `summary` of the commands that do not analyse one profile.

The rows, their columns, types and units come from the heads of the files in sql/; here is only what they do not say.
"""

from collections.abc import Mapping

from prof_analysis.analyses.schema import (
    Schema,
    columns_of,
    count,
    fields,
    one,
    or_null,
    row,
    rows,
    share,
    text,
)


def _of_runs(table: str) -> Schema:
    """Return the schema of a row of a table over runs, for one of them."""
    return row(table, without=("run",))


OTHERS: Mapping[str, Schema] = {
    "stage-durations": fields(
        **columns_of("vllm.total"),
        stages=rows("stages over all processes", row("vllm.across_processes")),
        stages_of_processes=rows("stages of each process", row("vllm.statistic")),
    ),
    "compare": fields(
        "memory",
        "efficiency",
        finding=one("what changed most", _of_runs("runs.comparison_finding")),
        size=one("how much was compared, and what noise is", _of_runs("runs.comparison")),
        summary=rows("figures of the whole runs", _of_runs("runs.comparison_summary")),
        modules=rows("modules that changed", _of_runs("runs.module_group")),
        ops=rows("ops that changed", _of_runs("runs.op_group")),
        kernels=rows("types and shapes of kernels that changed", _of_runs("runs.kernel_comparison")),
        kernels_in_one_run_share=or_null(
            share("part of the kernel time of both runs whose types and shapes one run alone has"), "without kernels"
        ),
        communication=rows("communication that changed", _of_runs("runs.communication_comparison")),
        jobs=rows(
            "runs that lack ranks of their job",
            fields(run=text("base, or the run"), sentence=text("how many of how many ranks are here")),
        ),
        step_count=one(
            "steps of the two runs",
            fields(
                base=count("steps of the base"),
                new=count("steps of the new run"),
                base_outliers=count("of those of the base, outliers"),
                new_outliers=count("of those of the new run, outliers"),
            ),
        ),
        steps=rows("steps; where there are more than --top, the outliers", _of_runs("runs.step_comparison")),
        idle=rows("idle time by cause", _of_runs("runs.idle_comparison")),
        passes=rows("passes of a server by phase and number of requests", _of_runs("runs.pass_comparison")),
        pass_work=or_null(
            one("whether both runs served the same work", _of_runs("runs.pass_work")), "without passes of a server"
        ),
        locations=rows("kernel time inside and outside modules", _of_runs("runs.comparison_location")),
        memory=rows("where both runs recorded it: memory that changed", _of_runs("runs.memory_comparison")),
        efficiency=rows("with --efficiency: MFU and bounds of modules", _of_runs("runs.efficiency_comparison")),
    ),
}
