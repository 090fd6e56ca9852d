"""The keys of `summary` of the commands about causes.

The rows, their columns, types and units come from the heads of the files in sql/; here is only what they do not say.
"""

from collections.abc import Mapping

from docs.json_schema.parts import (
    IN_MODULE,
    MODULE,
    Schema,
    amount,
    answer,
    by_level,
    columns_of,
    count,
    fields,
    one,
    or_null,
    row,
    rows,
    text,
    texts,
)

_PARTS = (
    "elapse_ns", "transit_ns", "wait_ns", "synchronization_ns", "idle_ns", "longest_plane_wait_ns", "unknown_ns",
)  # fmt: skip
_OF_STEPS = (
    "computing_ns", "communication_ns", "communication_not_overlapped_ns", "overlapped_ns", "free_ns", "stage_ns",
    "bubble_ns", "copying_not_overlapped_ns",
)  # fmt: skip
_OF_STEP_REST = {
    name: column
    for name, column in columns_of("across.step_total").items()
    if name in ("ranks_of_profiler", "computing_of_no_step_ns", "steps_known_in_part", "kernels_of_no_step")
}

_JOB = one("how many ranks of the job are here", row("across.job"))
_NOT_JUDGED = fields(
    rule=text("the rule"),
    reason=text("the data that ranks lack"),
    ranks=count("ranks that lack it"),
    level=or_null(count("level of prof_analysis.collect that records it"), "where none does"),
)
CAUSES: Mapping[str, Schema] = {
    "advise": answer(
        job=_JOB,
        findings=rows("what to change first", row("advice.finding", command=text("command line that shows the evidence"))),
        steps_of_ranks=rows("how long the steps of each rank take, by which wins are divided", row("across.rank_step")),
        step_count=count("steps; 0 where none are recorded"),
        has_steps={"type": "boolean", "description": "whether steps are recorded; else the whole recording counts as one"},
        judged=texts("rules by which at least one rank can be judged"),
        not_judged=rows("rules by which ranks cannot be judged", _NOT_JUDGED),
    ),
    "step-time": answer(
        all=one("all steps together", row("across.step_total", *_OF_STEPS)),
        **_OF_STEP_REST,
        longest_steps=rows("steps", row("step.time")),
        durations=one("how long the steps took", row("across.step_duration")),
        steps_of_ranks=rows("how long the steps of each rank take together", row("across.rank_step")),
        communication=rows("communication by type and group, and how much is not covered", row("across.step_communication")),
        copies=rows("copies by direction", row("across.copy")),
    ),
    "free-time": answer(
        causes=rows("idle time by cause", row("across.free_cause")),
        longest_gaps=rows("gaps", row("free.longest_gap")),
        unknown_causes=rows("causes that this recording cannot show", row("across.free_unknown_cause")),
    ),
    "pipeline": answer(stages=rows("each rank as a stage", row("across.pipeline_rank"))),
    "communication-time": answer(
        job=_JOB,
        all=one("all operators", row("across.communication_time")),
        longest_groups=rows(
            "operators by type and group",
            row("across.communication_group_time", "op_count", *_PARTS, "bandwidth_gb_s", "type", "group_name"),
        ),
        unknown=rows("what is not split, by reason", row("across.communication_unknown")),
        unpaired=rows(
            "operators that send or receive without a partner",
            fields(reason=text("why there is none"), operators=count("operators")),
        ),
    ),
    "links": answer(
        job=_JOB,
        links=rows("each kind of link", row("across.link_kind")),
        pairs=rows("pairs of ranks that lose most time beside others", row("across.link")),
    ),
    "slow-ranks": {
        "anyOf": [
            answer(
                job=_JOB,
                **columns_of("across.slow_rank_finding"),
                evidence=rows("ranks, those that waited least first", row("across.slow_rank")),
                modules=rows("modules in which a slow rank computes longer", row("across.slow_rank_module")),
            ),
            answer(
                job=_JOB,
                causes=rows(
                    "with --by collective: all waiting in collectives by cause",
                    fields(
                        cause=columns_of("across.collective")["cause"],
                        collectives=count("collectives"),
                        all_waited_ns=amount("what all ranks waited", "ns"),
                    ),
                ),
                worst=rows("with --by collective: the collectives in which ranks waited most", row("across.collective")),
            ),
        ]
    },
    "experts": answer(
        groups=rows("groups of ranks", row("across.expert_total")),
        most_loaded_ranks=rows("ranks", row("across.expert_rank")),
        costliest_calls=rows("grouped matmuls", row("across.expert_call")),
        rows_by_expert=rows("experts", row("across.expert_rows")),
        kernels=rows("kernels of experts by role and type", row("across.expert_kernel")),
    ),
    "memory": by_level(
        answer(
            "components",
            "peaks",
            "floor",
            "kept",
            devices=rows(
                "the fullest first; components, peaks, floor and kept are of the first one", row("across.memory_rank")
            ),
            rows_shown=rows("rows of the first device; with --level another row each"),
            out_of_memory=rows("attempts to allocate that failed", row("allocation.out_of_memory")),
            components=rows("who holds memory", row("allocation.component")),
            peaks=rows("the peaks", row("allocation.peak_moment")),
            floor=one(
                "least that is allocated in steps",
                fields(
                    step_count=count("steps"),
                    first_bytes=or_null(amount("least that is allocated in the first step", "bytes"), "without steps"),
                    last_bytes=or_null(amount("least that is allocated in the last step", "bytes"), "without steps"),
                ),
            ),
            kept=rows("ops whose blocks stay", row("allocation.kept")),
        ),
        "rows_shown",
        {
            "peak": row("allocation.peak", without=(), module_path=IN_MODULE),
            "module": row("allocation.module", without=("module",), module=MODULE),
            "op": row("allocation.op"),
            "block": row("allocation.block", module_path=IN_MODULE),
            "step": row("allocation.step"),
            "time": row(
                "allocation.usage",
                since_ns=amount("time since the first moment", "ns"),
                all_ns=amount("time from the first moment to the last, both included", "ns"),
            ),
            "component": row("allocation.component"),
        },
    ),
    "clock": answer(
        all=one(
            "all devices",
            fields(
                slow_count=count("devices that computed below the rated clock"),
                lost_ns=or_null(amount("what that cost at most", "ns"), "where unknown"),
                computing_lost_ns=or_null(amount("of it in kernels bound by computing", "ns"), "where unknown"),
                computing_ns=or_null(amount("computing", "ns"), "where unknown"),
                unrated_count=count("devices whose rated clock is not recorded"),
            ),
        ),
        devices=rows("devices whose lower clock cost most", row("clock.device")),
        kernel_types=rows("types of kernels that it cost most", row("across.clock_kernel_type")),
    ),
    "layer-stats": answer(
        structures=rows("the layers of each rank", row("layer.structure")),
        all=one("all compute time", row("across.layer_time")),
        heaviest_positions=rows("positions in the layers", row("layer.statistic")),
    ),
    "graph-overhead": answer(
        **columns_of("across.graph_total"),
        phases=rows("phases of the graphs", row("across.graph_phase", without=("graph_number",))),
        unknown=rows("why values are unknown", row("across.graph_unknown")),
    ),
}
