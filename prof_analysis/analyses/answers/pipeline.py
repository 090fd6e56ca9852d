"""The analysis `pipeline`: how do micro-batches pass the pipeline stages?"""

from collections.abc import Iterator, Mapping
from typing import Any

from prof_analysis.analyses import schema
from prof_analysis.analyses.analysis import WHY, Analysis, Rows
from prof_analysis.analyses.answer import Block, Facts, Source, said, size_of, table_of
from prof_analysis.analyses.asked import Tables
from prof_analysis.analyses.words import duration, percent, rank_name, several
from prof_analysis.common.capabilities import any_of
from prof_analysis.common.option_docs import INPUT, MACHINE, MODULES

ANALYSIS = Analysis(
    "pipeline",
    "How do micro-batches pass the pipeline stages?\n\n"
    "Shows for each rank the forward and backward passes of micro-batches on the device, and the bubbles between "
    "them.",
    "forward and backward passes (mark them with mstx ranges named forward_step and backward_step, mark the modules, "
    "or collect with with_stack=True)",
    {"pipeline.pass": "PipelinePass", "pipeline.stage": "PipelineStage", "across.pipeline_rank": "PipelineRank"},
    section="pipeline",
    requires=(any_of("modules", "marks", "stacks"),),
    options=(INPUT, MODULES, MACHINE),
    also=("module.chosen_domain",),
    rows={
        "pass": Rows("pipeline.pass"),
        "stage": Rows("pipeline.stage", is_listed=True),
        "rank": Rows("across.pipeline_rank", is_listed=True),
    },
    place=12,
    heading=WHY,
    examples={"The passes of one step in files": "result --step-id 10 --export-type csv -o out"},
    returns="""Return the forward and backward passes of micro-batches on the device.

    With by="stage" a row is a step of a rank with its bubbles: span = passes + bubble, bubble = p2p + idle; with by="rank"
    the means of all steps of a rank.
    Raises InputError when no rank holds modules, marks or Python stacks.
    """,
    keys=lambda: schema.answer(stages=schema.rows("each rank as a stage", "across.pipeline_rank")),
)

_MARKED_BY = {
    "range": "ranges named forward and backward",
    "function": "functions of the schedule in Python stacks",
    "module": "calls of the outermost module and their backward",
}


def pipeline(profile: Tables, top: int) -> tuple[Facts, list[Block]]:
    """Return the work of each rank as a stage of the pipeline, and the part of bubbles."""
    ranks = profile.rows("FROM across.pipeline_rank")
    facts: Facts = {**size_of(profile, "pipeline.pass"), "stages": ranks}
    columns: dict[str, Source] = {
        "stage": "pipeline_stage",
        "rank": ("text", rank_name),
        "micro-batches": "micro_batch_count",
        "forward": "forward_ns",
        "backward": "backward_ns",
        "bubble": ("time", lambda row: _part(row, "bubble_ns")),
        "p2p in bubble": "p2p_ns",
        "idle in bubble": "idle_ns",
        "passes": "pass_ns",
        "span": "span_ns",
        "steps": "step_count",
        "folder": "profile",
    }
    return facts, [table_of("across.pipeline_rank", ranks[:top], columns), said(*_about(ranks))]


def _part(row: Mapping[str, Any], column: str) -> tuple[int, float | None] | None:
    """Return a time and its share of the span; None where no pass ran on the device."""
    if row[column] is None:
        return None
    return round(row[column]), row[column] / row["span_ns"] if row["span_ns"] else None


def _about(ranks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield sentences about the pipeline as a whole."""
    by = ", ".join(words for origin, words in _MARKED_BY.items() if any(row["origin"] == origin for row in ranks))
    yield f"{several(len(ranks), 'rank')}; passes are marked by {by}"
    shares = [row["bubble_share"] for row in ranks if row["bubble_share"] is not None]
    if shares:
        most = max((row for row in ranks if row["bubble_share"] is not None), key=lambda row: row["bubble_share"])
        ends = dict.fromkeys((percent(min(shares)), percent(max(shares))))
        line = f"bubbles take {' to '.join(ends)} of the time from the first pass to the last"
        if len(ends) > 1:
            line += f"; most at rank {rank_name(most)}: {duration(most['bubble_ns'])} a step"
        if most["least_share"] is not None:
            line += (
                f" (with equal passes of {several(most['stage_count'], 'stage')} it would be {percent(most['least_share'])})"
            )
        yield line
    if any(shares) and not any(row["p2p_ns"] for row in ranks):
        yield "no send or receive lies between the passes: these bubbles are not waits for other stages"
