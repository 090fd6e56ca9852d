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
    texts,
)


def _of_runs(table: str) -> Schema:
    """Return the schema of a row of a table over runs, for one of them."""
    return row(table, without=("run",))


_ROWS = fields(
    agree=count("rows that agree"),
    known=count("rows that differ in a known way"),
    differ=count("rows that differ in another way"),
    only_here=count("rows that msprof-analyze lacks"),
    only_there=count("rows that prof-analysis lacks"),
)

OTHERS: Mapping[str, Schema] = {
    "stage-durations": fields(
        **columns_of("vllm.total"),
        stages=rows("stages over all processes", row("vllm.across_processes")),
        stages_of_processes=rows("stages of each process", row("vllm.statistic")),
    ),
    "compare": fields(
        "memory",
        "memory_total",
        "efficiency",
        finding=or_null(one("what changed most", _of_runs("runs.comparison_finding")), "without kernels"),
        memory_total=one("without kernels, the memory at the peak", _of_runs("runs.memory_total")),
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
    "verify": fields(
        msprof_analyze=or_null(text("its version"), "where it is not known"),
        rows=one("rows of all tables that were compared", _ROWS),
        tables=rows(
            "tables that were compared",
            fields(
                recipe=text("recipe of msprof-analyze that writes it"),
                table=text("its table"),
                table_here=text("the table of ours beside it"),
                **_ROWS["properties"],
                columns=texts("columns that both have, beside those that name a row"),
                columns_only_there=texts("columns without a counterpart here"),
            ),
        ),
        differences=rows(
            "rows that differ for no known reason, as many as --top",
            fields(
                table=text("table of msprof-analyze"),
                row={"type": "object", "description": "what names the row, by column"},
                how=text("differs, only here or only there"),
                values=rows(
                    "columns that differ",
                    fields(
                        column=text("the column"),
                        here=or_null(text("value of prof-analysis"), "where it has none"),
                        there=or_null(text("value of msprof-analyze"), "where it has none"),
                    ),
                ),
            ),
        ),
        known_differences=rows(
            "known differences, as docs/differences.md explains them",
            fields(case=text("the case"), rows=count("rows that it explains"), table=text("table of msprof-analyze")),
        ),
        without_output=rows(
            "recipes that wrote nothing to compare",
            fields(recipe=text("the recipe"), reason=text("the last problem that msprof-analyze named, or the missing column")),
        ),
    ),
}
